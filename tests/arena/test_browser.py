"""The report in a browser: it steps, needs no mouse, and can be read by everybody."""

import pytest

from arena import results
from arena.report import write_report
from arena.report.replay import sample
from tests.arena.browser import SIZES, chromium, faults_of, opened
from tests.arena.stored import store_run, store_runs_alone

pytestmark = pytest.mark.browser
STUDY = {
    "instances": ["tictactoe", "hex(size=5)", "domineering(rows=4, columns=5)"],
    "budgets": [{"playouts": 10}, {"playouts": 20}],
    "games": 4,
    "opening_plies": 2,
    "agents": [{"agent": "uct", "name": "strong"}, {"agent": "flat", "name": "weak"}],
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of runs: between two players, alone, and a study."""
    folder = tmp_path_factory.mktemp("browser")
    store_run(folder / "versus")
    store_run(folder / "study", STUDY)
    store_runs_alone(folder / "deep" / "alone")
    return folder


@pytest.mark.parametrize("name", ["versus", "study", "deep/alone"])
def test_everybody_can_read_them(browser, folder, name):
    """On phone and desktop, in light and dark: no error, nothing wider than the screen, nothing that axe-core finds."""
    address = write_report(folder / name).as_uri()
    for size in SIZES:
        for scheme in ("light", "dark"):
            with opened(browser, address, size, scheme) as (page, problems):
                page.click("#next")
                page.click("#end")
                for closed in page.locator("details").all():
                    closed.evaluate("element => { element.open = true; }")
                # only colours are different in dark
                assert faults_of(page, ["color-contrast"] if scheme == "dark" else []) == {}, (size, scheme)
                assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
                assert problems == [], (size, scheme)


def board(page):
    """The elements on the board."""
    return page.locator("#board").inner_html()


def drawn(data, game, ply, page):
    """The same elements as the browser writes them, from what the page holds."""
    markup = "".join(data["shapes"][number] for number in data["games"][game]["boards"][ply][2:])
    return page.evaluate(
        "text => { const board = document.getElementById('board').cloneNode(); board.innerHTML = text;"
        " return board.innerHTML; }", markup
    )  # fmt: skip


def test_games_are_stepped_through(browser, folder):
    """By buttons, keys, the list of moves, and the picture of values."""
    path, data = write_report(folder / "versus"), sample(results.load(folder / "versus"))
    first, other = data["games"][0], data["games"][3]
    with opened(browser, path.as_uri()) as (page, problems):
        assert board(page) == drawn(data, 0, 0, page) and page.locator("#pick option").count() == 18
        page.click("#next")
        assert board(page) == drawn(data, 0, 1, page) and page.locator("#board .ring").count() == 1
        page.focus("#board")
        page.keyboard.press("ArrowRight")
        assert board(page) == drawn(data, 0, 2, page)
        assert page.locator("[aria-current]").inner_text() == first["moves"][1]
        page.keyboard.press("ArrowLeft")
        assert board(page) == drawn(data, 0, 1, page)
        page.click("#end")
        assert board(page) == drawn(data, 0, -1, page) and "played out" in page.inner_text("#said")
        page.focus("#board")
        page.keyboard.press("Home")
        assert board(page) == drawn(data, 0, 0, page)
        page.locator("#moves button").nth(2).click()
        assert board(page) == drawn(data, 0, 3, page)
        assert page.inner_text("#thought").split() == ["value", "0", "playouts", "12", "depth", "3", "seconds", "0.01"]
        page.select_option("#pick", "3")
        page.click("#end")
        assert board(page) == drawn(data, 3, -1, page)
        box = page.locator("#values").bounding_box()
        page.mouse.click(box["x"] + box["width"] * (40 + 372 * 0.5) / 420, box["y"] + box["height"] / 2)
        assert page.input_value("#ply") == str(round(len(other["moves"]) / 2 + 1e-9))
        assert problems == []


def test_candidates_stand_beside_the_board(browser, folder):
    """Those of the decision that led to the position, with the move that was played marked; nobody's of others."""
    path, data = write_report(folder / "versus"), sample(results.load(folder / "versus"))
    game = data["games"][0]
    ply = next(ply for ply, thought in enumerate(game["thoughts"]) if thought and thought["side"] == 0)
    with opened(browser, path.as_uri()) as (page, problems):
        table = page.locator("#candidates")
        assert not table.is_visible()
        page.locator("#moves button").nth(ply).click()
        cells = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
        assert [[text.strip() for text in row] for row in cells] == [
            ["<i>", "20", "-0.250", "50.0 %"],
            [f"{game['moves'][ply]} ✓", "10", "–", "25.0 %"],
        ]
        long, short = (bar.bounding_box()["width"] for bar in table.locator("i").all())
        assert long == pytest.approx(2 * short, rel=0.02) and short > 10
        page.locator("#moves button").nth(ply + 1).click()
        assert not table.is_visible() and problems == []


def test_the_picture_of_values(browser, folder):
    """A mark a decision, at its value for the first player."""
    path, data = write_report(folder / "versus"), sample(results.load(folder / "versus"))
    thoughts = [thought for thought in data["games"][0]["thoughts"] if thought]
    with opened(browser, path.as_uri()) as (page, _):
        heights = {
            side: page.locator(f"#values .side{side} {tag}").evaluate_all(
                f"all => all.map(one => +one.getAttribute('{y}'))"
            )
            for side, tag, y in ((0, "circle", "cy"), (1, "rect", "y"))
        }
        assert [len(heights[side]) for side in (0, 1)] == [
            sum(thought["side"] == side for thought in thoughts) for side in (0, 1)
        ]
        assert set(heights[0]) == {10 + 116 * 0.5}  # 0 in the middle; 0.1 for the second player is -0.1 for the first
        assert all(height > heights[0][0] for height in heights[1])


def test_the_keyboard_is_enough(browser, folder):
    """To a move of a game, with keys alone; what has the focus can be seen."""
    with opened(browser, write_report(folder / "versus").as_uri()) as (page, problems):
        reached = list(press_tab_until(page, "#board", 60))
        assert reached
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("End")
        assert page.is_disabled("#next") and not page.is_disabled("#back")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the first button: to the beginning
        assert page.is_disabled("#back")
        assert problems == []


def press_tab_until(page, selector, most):
    """Press Tab until an element that fits has the focus, and give its address, or an empty text."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            yield page.evaluate("document.activeElement.getAttribute('href') || ''")
            return
    raise AssertionError(f"the keyboard does not reach {selector}")
