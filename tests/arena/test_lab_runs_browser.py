"""The pages of runs in a browser: found, sorted, looked into, watched and stopped; killed in every order."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import arena
from arena import results
from arena.results.database.store import Store, busy
from tests.arena.browser import SIZES, chromium, faults_of, opened, until
from tests.arena.stored import CONFIG, store_run, store_runs_alone
from tests.arena.test_study_kinds import TUNE, cut

pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install nicegui")
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("lab")]
LONG = [
    "--game",
    "connect4",
    "--agent",
    "uct(playouts=5000)",
    "--agent",
    "random",
    "--games",
    "400000",
    "--workers",
    "1",
]


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@contextmanager
def lab(folder):
    """A laboratory of a folder: its process, and its address with a place for a path."""
    command = [sys.executable, "-m", "arena", "lab", str(folder), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            base, token = re.search(r"(http://127.0.0.1:\d+)/.*token=(\S+)", process.stdout.readline()).groups()
            yield process, lambda path: f"{base}{path}{'&' if '?' in path else '?'}token={token}"
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs between two players, alone, and by a name that is HTML; and a file that is none."""
    place = tmp_path_factory.mktemp("runs")
    store_run(place / "versus")
    store_run(place / "turned", {**CONFIG, "agents": CONFIG["agents"][::-1], "seed": 9})
    store_runs_alone(place / "deep" / "alone")
    strange = [{"agent": "random", "name": "<b>bold</b>"}, {"agent": "flat(playouts=2)", "name": "'\"&"}]
    store_run(place / "<i>name</i>", {**CONFIG, "agents": strange})
    (place / "bad").mkdir()
    (place / "bad" / "tournament.sqlite").write_bytes(b"no database" * 100)
    return place


@pytest.fixture(scope="module")
def shown(folder):
    with lab(folder) as (_, address):
        yield address


def text(page):
    return page.locator("main").inner_text()


PATHS = {
    "/runs": "are|runs, the last",
    "/runs/versus": "standings",
    "/runs/deep/alone?figure=curves": "scores",
    "/runs/versus/games": "1 to 18 of 18",
    "/runs/versus/games/1v2-0001?ply=5": "After 5 of",
    "/beside?run=versus&run=turned": "95 % intervals",
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_the_pages(browser, shown, path, size, scheme):
    """On phone and desktop, light and dark: no error, nothing wider than the screen, nothing that axe-core finds."""
    with opened(browser, shown(path), size, scheme) as (page, problems):
        until(lambda: re.search(PATHS[path], text(page)))
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert faults_of(page) == {} and problems == []


def test_runs_are_searched_sorted_and_compared(browser, shown):
    with opened(browser, shown("/runs")) as (page, problems):
        rows = page.locator("tbody tr")
        until(lambda: rows.count() == 4 and "bad cannot be read" in text(page))
        assert "<i>name</i>" in text(page) and page.locator("main i b").count() == 0
        page.get_by_label("search").fill("samegame")
        until(lambda: rows.count() == 1)
        page.get_by_label("search").fill("")
        until(lambda: rows.count() == 4)
        page.get_by_role("columnheader", name="games played").click()
        until(lambda: rows.first.inner_text().split("\t")[-3] == "6")
        for name in ("versus", "turned"):
            page.get_by_role("row", name=name).get_by_role("checkbox").click()
        page.get_by_role("button", name="Side by side").click()
        page.wait_for_url("**/beside**")
        until(lambda: page.locator(".q-table").first.locator("tbody tr").count() == 3)
        until(lambda: "seed" in text(page))
        assert "turned - versus" in text(page) or "versus - turned" in text(page)
        until(lambda: page.locator("main img").count() == 1)  # the curves of both
        page.get_by_role("link", name="Back to Runs").click()
        page.wait_for_url("**/runs")
        page.get_by_role("link", name="<i>name</i>").click()
        until(lambda: "<b>bold</b>" in text(page))
        assert page.locator("main b").count() == 0 and problems == []


def test_a_run_is_tagged_renamed_and_deleted(browser, tmp_path):
    for name in ("first", "second"):
        store_run(tmp_path / name, CONFIG | {"games": 2, "opening_plies": 0})
    with lab(tmp_path) as (_, address), opened(browser, address("/runs/first")) as (page, problems):
        page.get_by_text("Tags and note").click()
        page.get_by_label("tags, separated by commas").fill("good, <b>x</b>")
        page.get_by_label("note", exact=True).fill("why")
        page.get_by_label("note", exact=True).press("Tab")
        notes = tmp_path / "first" / "notes.json"
        until(lambda: notes.exists() and "why" in notes.read_text())
        assert faults_of(page) == {}
        page.get_by_role("link", name="Runs").click()
        rows = page.locator("tbody tr")
        until(lambda: rows.count() == 2)
        page.get_by_label("search").fill("<B>x")
        until(lambda: rows.count() == 1 and "good, <b>x</b>" in text(page))
        page.get_by_role("checkbox", name="choose first").click()
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("new name").fill("third")
        assert faults_of(page, ["aria-dialog-name", "label", "button-name"]) == {}
        page.locator(".q-dialog").get_by_role("button", name="Rename").click()
        until(lambda: page.get_by_role("link", name="third").count() == 1 and (tmp_path / "third").exists())
        page.get_by_label("search").fill("")
        until(lambda: rows.count() == 2 and not page.get_by_role("button", name="Delete").is_visible())
        page.get_by_role("checkbox", name="choose second").click()
        for answer in ("No", "Delete"):
            assert rows.count() == 2
            page.get_by_role("button", name="Delete").click()
            page.locator(".q-dialog").get_by_role("button", name=answer).click()
            until(lambda: page.locator(".q-dialog").count() == 0)
        until(lambda: rows.count() == 1)
        assert [path.name for path in tmp_path.iterdir()] == ["third"] and problems == []


def test_the_elo_of_the_standings_is_in_sight_on_a_phone(browser, tmp_path):
    """Whatever names the agents have."""
    names = ("alphabeta(depth=4, evaluation='lines(weights=[1, 2, 3])', time=0.5)", "x" * 60)
    store_run(tmp_path / "run", {**CONFIG, "agents": [{"agent": "random", "name": name} for name in names]})
    with lab(tmp_path) as (_, address), opened(browser, address("/runs/run"), "phone") as (page, problems):
        head = page.get_by_role("columnheader", name="Elo")
        until(lambda: head.count() == 1)
        box = head.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= SIZES["phone"][0] and problems == []


def test_of_many_agents_one_has_its_curves_beside(browser, tmp_path):
    """The leader of the first run, until another is chosen; what cannot be compared is a sentence."""
    config = CONFIG | {"agents": [{"agent": "random", "name": name} for name in "abcdefg"], "games": 2}
    first = results.load(store_run(tmp_path / "one", config)).order
    store_run(tmp_path / "two", config | {"seed": 9})
    store_runs_alone(tmp_path / "alone")
    path = "/beside?run=one&run=alone&run=two"
    with lab(tmp_path) as (_, address), opened(browser, address(path)) as (page, problems):
        agent, drawn = page.get_by_label("agent", exact=True), page.locator("main img")
        until(lambda: drawn.count() == 1 and agent.input_value() == first[0])
        assert "alone has games for one player" in text(page) and faults_of(page) == {}
        before = drawn.get_attribute("src")
        agent.click()
        page.get_by_role("option", name=first[-1], exact=True).click()
        until(lambda: drawn.get_attribute("src") != before)
        assert problems == []


def test_a_cell_opens_its_games_and_a_game_the_analysis(browser, shown):
    with opened(browser, shown("/runs/versus?table=crosstable")) as (page, problems):
        page.get_by_role("row", name="strong").locator("a").first.click()
        page.wait_for_url("**/games?agent=strong&against=*")
        until(lambda: "1 to 6 of 6 games" in text(page))
        page.get_by_label("plies, least").fill("15")
        until(lambda: "least=15" in page.evaluate("location.href"))
        page.locator("tbody a").first.click()
        page.wait_for_url("**/games/*v*")
        until(lambda: page.locator(".arena-lab-board svg").count() == 1)
        page.keyboard.press("ArrowRight")
        until(lambda: "After 1 of" in text(page) and "ply=1" in page.evaluate("location.href"))
        page.get_by_role("button", name="Last").click()
        until(lambda: "After 1 of" not in text(page))
        page.get_by_role("button", name="Back", exact=True).click()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save pgn").click()
        assert "[White" in Path(saved.value.path()).read_text()
        page.get_by_role("button", name="Analyse from here").click()
        page.wait_for_url("**/analyse?**")
        until(lambda: "player to move" in text(page) or "Over" in text(page))
        assert problems == []


def test_tables_and_figures_are_saved(browser, shown):
    with opened(browser, shown("/runs/versus")) as (page, problems):
        until(lambda: page.locator("main img").count() == 1)
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download").first.click()
        assert Path(saved.value.path()).read_text().startswith("rank,agent,elo")
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download").last.click()
        assert Path(saved.value.path()).read_bytes().startswith(b"%PDF") and saved.value.suggested_filename.endswith(
            ".pdf"
        )
        page.get_by_label("width").fill("3 parsecs")
        page.keyboard.press("Enter")
        until(lambda: "parsecs" in page.locator(".q-notification").first.inner_text())
        assert problems == []


@pytest.mark.parametrize("path, words", [
    ("/runs/none", "there is no run none"), ("/runs/../etc", "There is no such page"),
    ("/runs/bad", "SQLite"), ("/runs/versus/games/none", "no game 'none'"),
    ("/runs/versus/games?result=x", "result 'x' is not one of"), ("/runs/versus/games?least=x", "no whole number"),
    ("/runs/versus/games?order=x", "order 'x'"), ("/beside?run=versus&run=none", "there is no run none"),
    ("/beside?run=versus&run=deep/alone", "for one player"),
])  # fmt: skip
def test_mistakes_in_an_address_are_sentences(browser, shown, path, words):
    with opened(browser, shown(path)) as (page, _):
        until(lambda: re.search(words, page.locator("body").inner_text()))


@contextmanager
def played(place):
    """A run that is played in a process of its own, some games of which are stored."""
    with subprocess.Popen(
        [sys.executable, "-m", "arena", "run", *LONG, "--out", str(place)], stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            until(lambda: (place / "tournament.sqlite").exists() and games_of(place), 180)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def games_of(place):
    with Store.open(place) as store:
        return store.select("SELECT COUNT(*) FROM games")[0][0]


def stored_on(page):
    found = re.search(r"([\d,]+) of 400,000 games", text(page))
    return int(found[1].replace(",", "")) if found else 0


def test_a_run_of_another_terminal_is_watched_paused_and_resumed(browser, tmp_path):
    """Killed are the page, then the server, then the run: each time all games that were stored are there."""
    with played(tmp_path / "run") as process, lab(tmp_path) as (server, address):
        with opened(browser, address("/runs/run")) as (page, problems):
            until(lambda: stored_on(page) > 0 and "running" in text(page))
            before = stored_on(page)
            until(lambda: stored_on(page) > before)
            until(lambda: re.search(r"uct.*: \d+ plies", text(page)) and "left" in text(page))
            page.get_by_role("button", name="Pause").click()
            assert process.wait(60) == 130
            until(lambda: "stopped" in text(page) and stored_on(page) == games_of(tmp_path / "run"))
            page.get_by_role("button", name="Resume").click()
            kept = games_of(tmp_path / "run")
            until(lambda: stored_on(page) > kept, 120)
            assert problems == []
        kept = games_of(tmp_path / "run")
        until(lambda: games_of(tmp_path / "run") > kept)  # the page is closed
        server.kill()
        kept = games_of(tmp_path / "run")
        until(lambda: games_of(tmp_path / "run") > kept)
    with lab(tmp_path) as (_, address), opened(browser, address("/runs/run")) as (page, _):
        until(lambda: "running" in text(page))
        page.get_by_role("button", name="Stop now").click()
        until(lambda: not busy(tmp_path / "run"))
        until(lambda: "stopped" in text(page))
        assert len(results.load(tmp_path / "run")) == games_of(tmp_path / "run") == stored_on(page)


def test_more_games_are_played(browser, tmp_path):
    place = store_run(tmp_path / "run", {**CONFIG, "agents": CONFIG["agents"][1:], "games": 4})
    with lab(place) as (_, address), opened(browser, address("/runs/run")) as (page, problems):
        until(lambda: "4 of 4 games, finished" in text(page))
        page.get_by_label("games", exact=True).fill("8")
        page.get_by_role("button", name="Play so many").click()
        until(lambda: "8 of 8 games, finished" in text(page), 120)
        buttons = {
            name: page.get_by_role("button", name=name) for name in ("Pause", "Stop now", "Resume", "Play so many")
        }
        until(lambda: [name for name, one in buttons.items() if one.is_visible()] == ["Play so many"])
        assert len(results.load(place)) == 8 and problems == []


def test_a_tuning_goes_on_and_has_no_other_number_of_games(browser, tmp_path):
    """By the button that goes on with any run: to its end, not to that of the games that were asked for."""
    place = tmp_path / "tuned"
    arena.tune(**TUNE, out=place, workers=1)
    whole = games_of(place)
    cut(place)
    first = games_of(place)
    with lab(tmp_path) as (_, address), opened(browser, address("/runs/tuned")) as (page, problems):
        until(lambda: f"{first} games, stopped" in text(page))
        assert not page.get_by_role("button", name="Play so many").is_visible()
        page.get_by_role("button", name="Resume").click()
        until(lambda: f"{whole} of {whole} games, finished" in text(page), 180)
        assert games_of(place) == whole and problems == []


def test_a_tournament_without_a_terminal(browser, tmp_path):
    """Fields change the text and the text the fields; mistakes are told while one types; it is started and ends."""
    with lab(tmp_path) as (_, address), opened(browser, address("/new")) as (page, problems):
        said = page.get_by_role("status")
        until(lambda: "200 games" in said.first.inner_text())
        assert not page.get_by_label("opening plies").is_visible()
        toml, count = page.get_by_label("configuration (TOML)"), page.get_by_label("games", exact=True)
        count.fill("3")
        count.press("Tab")
        until(lambda: "games = 3" in toml.input_value())
        until(lambda: "an even number" in text(page) and page.get_by_role("button", name="Start").is_disabled())
        toml.fill('game = "tictactoe"\ngames = 8\nagents = ["random"]\n')
        until(lambda: count.input_value() == "8" and page.get_by_label("game", exact=True).input_value() == "tictactoe")
        page.get_by_text("choose one of the agents").click()
        field = page.get_by_label("agent", exact=True)
        field.fill("flat(playouts=2)")
        field.press("Tab")
        page.get_by_role("button", name="Add").click()
        until(lambda: '"flat(playouts=2)"' in toml.input_value())
        until(lambda: "tictactoe: 2 agents, 8 games for each pair: 8 games" in text(page))
        assert faults_of(page) == {}
        page.get_by_role("button", name="How long?").click()
        until(lambda: "s or less" in text(page), 120)
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/runs/tictactoe-1*", timeout=120_000)
        until(lambda: "8 of 8 games, finished" in text(page), 120)
        assert len(results.load(tmp_path / "tictactoe-1")) == 8 and (tmp_path / "tictactoe-1.toml").exists()
        assert problems == []


def test_a_study_is_started_too(browser, tmp_path):
    with lab(tmp_path) as (_, address), opened(browser, address("/new")) as (page, problems):
        until(lambda: "200 games" in text(page))
        page.get_by_label("purpose").click()
        page.get_by_role("option", name="parallel schemes").click()
        until(lambda: "schemes and numbers of workers" in text(page))
        small = 'game = "tictactoe"\ngames = 2\nplayouts = 4\nworkers = [2]\nschemes = ["root"]\n'
        page.get_by_label("configuration (TOML)").fill(small)
        until(lambda: "1 schemes" in text(page))
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/runs/tictactoe-1*", timeout=120_000)
        until(lambda: "finished" in text(page), 180)  # without a reload
        until(lambda: "root" in text(page) and page.locator("main img").count() == 1)
        assert "starting" not in text(page)
        assert problems == []


def test_a_tuning_is_started_once_its_fields_are_right(browser, tmp_path):
    """What is wrong stands beside its field, also of one that is folded, and goes when that is mended."""
    with lab(tmp_path) as (_, address), opened(browser, address("/new"), "phone", "dark") as (page, problems):
        until(lambda: "200 games" in text(page))
        page.get_by_label("purpose").click()
        page.get_by_role("option", name="a tuning").click()
        until(lambda: "2,000 games to search, then at most 1,000 to confirm" in text(page))
        small = 'game = "tictactoe"\nagent = "uct(playouts=4)"\ngames = 32\npairs = 2\nat_once = 4\nsampler = "sobol"\n'
        more = "seed = -1.5\n[parameters]\nexploration = [3.0, 0.1]\n[confirm]\ngames = 8\n"
        page.get_by_label("configuration (TOML)").fill(small + more)

        def wrong(label):
            return page.locator(".q-field", has=page.get_by_label(label)).get_by_role("alert")

        ranges, seed = page.get_by_label("ranges, one a line"), page.get_by_label("seed")
        until(lambda: seed.is_visible() and "seed = -1.5" in wrong("seed").inner_text())
        assert page.get_by_role("button", name="Start").is_disabled()
        seed.fill("1")
        seed.press("Tab")
        until(lambda: "low is less than high" in wrong("ranges, one a line").inner_text())
        assert wrong("seed").count() == 0 and faults_of(page) == {}
        ranges.fill("exploration = { low = 0.1, high = 3.0 }")
        ranges.press("Tab")
        until(
            lambda: "exploration of uct(playouts=4): 32 games" in text(page) and page.get_by_role("alert").count() == 0
        )
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/runs/tictactoe-1*", timeout=120_000)
        until(lambda: "finished" in text(page) and page.locator("tbody tr").count() > 2, 180)
        assert page.get_by_role("combobox", name="table").input_value() == "trials" and problems == []
