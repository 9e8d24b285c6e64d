"""The laboratory in a browser: every game played to its end by clicks, searches watched, mistakes told."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from arena import games
from tests.arena.browser import SIZES, chromium, faults_of, opened, until

pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install nicegui")
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("lab")]
SMALL = {
    "amazons": "amazons(rows=6, columns=6)",
    "atarigo": "atarigo(size=5)",
    "ataxx": "ataxx(size=4)",
    "breakthrough": "breakthrough(rows=5, columns=5)",
    "clobber": "clobber(rows=4, columns=4)",
    "connect4": "connect4(rows=4, columns=5)",
    "domineering": "domineering(rows=4, columns=4)",
    "go": "go(size=3)",
    "hex": "hex(size=4)",
    "kalah": "kalah(houses=3, seeds=2)",
    "knightthrough": "knightthrough(rows=5, columns=5)",
    "leftmove": "leftmove(depth=5)",
    "mnk": "mnk(rows=4, columns=4, k=4)",
    "misere_breakthrough": "misere_breakthrough(rows=5, columns=5)",
    "misere_domineering": "misere_domineering(rows=4, columns=4)",
    "misere_knightthrough": "misere_knightthrough(rows=5, columns=5)",
    "misere_nogo": "misere_nogo(size=4)",
    "nogo": "nogo(size=4)",
    "othello": "othello(size=4)",
    "pentalath": "pentalath(size=3)",
    "samegame": "samegame(rows=4, columns=4)",
    "y": "y(size=4)",
}
CLICKS = 80  # of a game, at most: some random ones would not end
STATUS, SPOTS = "[role=status]", ".spot"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def forked(process):
    """The ids of the processes that read or search for a laboratory; one that waits for a search is not as nice yet."""
    found = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    started = {one for one in found if b"multiprocessing-fork" in Path(f"/proc/{one}/cmdline").read_bytes()}
    return {one for one in started if os.getpriority(os.PRIO_PROCESS, one) > 0}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a laboratory, its token, its process, and the one beside it that reads runs."""
    command = [sys.executable, "-m", "arena", "lab", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path_factory.mktemp("lab")) as process:
        found = re.search(r"(http://127.0.0.1:\d+)/play\?token=(\S+)", process.stdout.readline())
        try:
            until(lambda: forked(process.pid), 30.0)
            yield found[1], found[2], process.pid, forked(process.pid)
        finally:
            process.kill() if found is None else process.terminate()


def address(lab, path, **query):
    base, token, *_ = lab
    words = "&".join(f"{name}={quote(str(value))}" for name, value in (*query.items(), ("token", token)))
    return f"{base}{path}?{words}"


def begin(page):
    """Let the agents begin: an address alone begins no search."""
    page.get_by_role("button", name="Begin").click()


def status(page):
    return page.locator(STATUS).inner_text()


# whether the address has every move that the page lists: it is written after them
SETTLED = """() => new URLSearchParams(location.search).get("moves")?.split(" ").length
    === document.querySelectorAll("[data-move]").length"""


def settled(page):
    """The page's address once it has every move; Playwright's own copy of it may be older."""
    page.wait_for_function(SETTLED)
    return page.evaluate("location.href")


# clicks squares and buttons at random until the game is over; the number of clicks
PLAYED = """async ([most, seed]) => {
    const look = () => document.querySelector("[role=status]").innerText, start = Date.now();
    const shown = () => look() + document.querySelector(".arena-lab-board").innerHTML.length
        + document.querySelector(".arena-lab-moves").innerText + document.querySelectorAll(".picked").length;
    const rest = () => new Promise(done => setTimeout(done, 5));
    let clicks = 0;
    while (!look().startsWith("Over") && clicks < most && Date.now() - start < 60000) {
        const spots = document.querySelectorAll(".spot");
        const buttons = document.querySelectorAll(".arena-lab-moves button");
        const all = spots.length ? spots : buttons;
        if (!look().startsWith("Your move") || !all.length) { await rest(); continue; }
        seed = (seed * 48271) % 2147483647;
        const before = shown(), begun = Date.now();
        all[seed % all.length].dispatchEvent(new MouseEvent("click", {bubbles: true}));
        clicks += 1;
        while (shown() === before && Date.now() - begun < 1000) { await rest(); }
    }
    return clicks;
}"""


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_played_by_clicks(browser, lab, name):
    """To its end, or for many clicks; the address afterwards has the moves, and opens the same position."""
    query = {"game": SMALL.get(name, name), "agent": "random", "seed": 1, "side": "first"}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        page.wait_for_selector(STATUS)
        clicks = page.evaluate(PLAYED, [CLICKS, 1 + len(name)])
        assert clicks > 0 and (status(page).startswith("Over") or clicks == CLICKS), (clicks, status(page))
        url = settled(page)
        shown = status(page)
        if shown.startswith("Over"):
            page.goto(url)
            page.wait_for_selector(STATUS)
            assert status(page) == shown
        assert problems == []


def test_a_watched_search_shows_its_candidates_and_a_click_is_answered_meanwhile(browser, lab):
    query = {"game": "othello", "agent": "uct(seconds=30)", "side": "second", "seed": 1}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        begin(page)
        until(lambda: page.locator("tbody tr").count() > 2)
        first = page.locator("tbody").inner_text()
        until(lambda: page.locator("tbody").inner_text() != first)
        begun = time.monotonic()
        page.get_by_role("button", name="Flip").click()
        until(lambda: page.locator(".arena-lab-board.turned").count() == 1, 1.0)
        assert time.monotonic() - begun < 1.0
        page.get_by_role("button", name="Move now").click()
        until(lambda: status(page).startswith("Your move"), 5)
        page.get_by_role("button", name="Take back").click()
        assert "no move to take back" in page.locator(".q-notification").inner_text() and problems == []


@pytest.mark.parametrize("path", ["/play", "/analyse"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_the_pages(browser, lab, path, size, scheme):
    """On phone and desktop, light and dark: no error, nothing wider than the screen, nothing that axe-core finds."""
    with opened(browser, address(lab, path, game="othello", moves="d3"), size, scheme) as (page, problems):
        if path == "/play":
            begin(page)
        page.wait_for_selector(SPOTS)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert faults_of(page) == {} and problems == []


def test_two_agents_play_each_other_and_wait_when_they_are_paused(browser, lab):
    query = {"game": "connect4(rows=4, columns=5)", "agent": "uct(playouts=500)", "other": "random", "side": "none"}
    with opened(browser, address(lab, "/play", **query, seed=1)) as (page, problems):
        begin(page)
        until(lambda: status(page).startswith("Over"))
        assert page.locator("circle.first").count() > 3 and "other=random" in page.evaluate("location.href")
    query |= {"game": "hex(size=9)", "agent": "uct(seconds=0.2)", "other": ""}
    with opened(browser, address(lab, "/play", **query, seed=1)) as (page, _):
        begin(page)
        until(lambda: "moves=" in page.evaluate("location.href"))
        page.get_by_role("button", name="Pause").click()
        until(lambda: status(page) == "Paused.")
        time.sleep(0.5)
        url = page.evaluate("location.href")
        time.sleep(0.5)
        assert page.evaluate("location.href") == url
        page.get_by_role("button", name="Move now").click()
        until(lambda: page.evaluate("location.href") != url)
        time.sleep(0.5)
        assert page.evaluate("location.href").count("+") == url.count("+") + 1
        assert status(page) == "Paused." and problems == []


def test_the_best_score_so_far_is_shown(browser, lab):
    query = {"game": "samegame(rows=8, columns=8)", "agent": "nrpa(seconds=20)", "side": "none"}
    with opened(browser, address(lab, "/play", **query)) as (page, _):
        begin(page)
        until(lambda: "the best score so far" in page.locator("main").inner_text())


def test_the_dice_are_played_by_clicks_and_drags(browser, lab):
    """One checker moves twice by clicks, each picked once; then from the bar by a drag, and on by a click."""
    query = {"game": "backgammon", "agent": "random", "side": "both", "seed": 1}
    with opened(browser, address(lab, "/play", **query, moves="31")) as (page, problems):
        page.wait_for_selector(SPOTS)
        assert "(first, black)" in status(page) and page.locator(".arena-lab-moves button").count() == 0
        for number, (point, more) in enumerate((("13", "10"), ("10", "8"), ("10", "9")), 1):
            page.locator(f".spot[aria-label='{point}']").click(position={"x": 20, "y": 12})  # not at its middle
            page.wait_for_selector(f".spot[aria-label='{more}']")
            time.sleep(0.2)
            assert page.locator(".picked").count() == number
        page.locator(".spot[aria-label='9']").click()
        until(lambda: "moves=31+13/10,10/9" in page.evaluate("decodeURIComponent(location.href)"))
        assert problems == []
    hit = "31 13/10,10/9 62 24/18,18/16*"
    with opened(browser, address(lab, "/play", **query, moves=f"{hit} 63")) as (page, problems):
        bar, entry = (page.locator(f".spot[aria-label='{name}']") for name in ("bar", "22"))
        start = bar.bounding_box()
        page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        page.mouse.down()
        entry.wait_for()
        end = entry.bounding_box()
        page.mouse.move(end["x"] + end["width"] / 2, end["y"] + 20, steps=4)
        page.mouse.up()
        until(lambda: page.locator(".picked").count() == 2)
        assert faults_of(page) == {} and problems == []


def test_a_piece_is_dragged_or_clicked(browser, lab):
    query = {"game": "breakthrough(rows=5, columns=5)", "agent": "random", "side": "both", "seed": 1}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        page.wait_for_selector(SPOTS)
        spot, step = page.locator("[aria-label=b2]").bounding_box(), page.locator("[aria-label=c2]").bounding_box()
        x, y, width = spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2, step["x"] - spot["x"]
        page.mouse.move(x, y)
        page.mouse.down()
        page.wait_for_selector("[aria-label=b3]")
        page.mouse.move(x, y - width, steps=4)
        page.mouse.up()
        until(lambda: "moves=2b3b" in page.evaluate("location.href"))
        page.locator("[aria-label=b4]").click()
        page.locator("[aria-label=a3]").click()
        until(lambda: "moves=2b3b+4b3a" in page.evaluate("location.href"))
        assert problems == []


def test_the_keyboard_is_enough(browser, lab):
    query = {"game": "tictactoe", "agent": "random", "seed": 1}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        page.wait_for_selector(SPOTS)
        page.locator(SPOTS).first.focus()
        page.keyboard.press("Enter")
        until(lambda: page.locator(SPOTS).count() == 7)
        typed = page.get_by_label("a move, typed")
        typed.fill("9z")
        typed.press("Enter")
        page.wait_for_selector(".q-notification")
        assert "'9z' is not a legal move" in page.locator(".q-notification").first.inner_text() and problems == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"game": "hexx"}, "unknown game 'hexx'"),
        ({"game": "hex(size=99)"}, "size = 99"),
        ({"game": "hex", "moves": "z9"}, "not a legal move"),
        ({"game": "hex", "agent": "nobody", "side": "second"}, "unknown agent 'nobody'"),
    ],
)
def test_mistakes_in_an_address_are_sentences(browser, lab, query, told):
    with opened(browser, address(lab, "/play", **query)) as (page, _):
        page.wait_for_selector(STATUS)
        if "side" in query:
            begin(page)
        until(lambda: told in page.locator("body").inner_text())


def test_what_an_address_has_wrong_costs_no_more_than_that(browser, lab):
    """A move that is none keeps the game and the moves before it; a page that is none says where there are some."""
    for path in ("/play", "/analyse"):
        with opened(browser, address(lab, path, game="tictactoe", moves="2b 1a 1a 3c")) as (page, _):
            until(lambda: "'1a' is not a legal move" in page.locator("body").inner_text())
            until(lambda: "game=tictactoe&moves=2b+1a" in page.evaluate("location.href"))
    with opened(browser, address(lab, "/nowhere")) as (page, _):
        assert page.get_by_role("link", name="Analyse").count() == 1
        assert "There is no such page" in page.locator("body").inner_text()


def test_an_agent_that_does_not_play_the_game_is_refused_before_it_begins(browser, lab):
    with opened(browser, address(lab, "/play", game="pig", agent="alphabeta", side="second")) as (page, _):
        page.get_by_text("New game").click()
        start = page.get_by_role("button", name="Start")
        start.wait_for()
        begin(page)
        until(lambda: "alphabeta plays games" in page.locator("body").inner_text())
        assert page.get_by_role("button", name="Begin").is_visible()
        start.press("Enter")  # where the sentence may lie above it
        until(lambda: page.locator(".q-notification__badge").count() == 1)  # the same again


def test_who_resigns_is_asked(browser, lab):
    with opened(browser, address(lab, "/play", game="tictactoe", side="both"), "phone") as (page, problems):
        resign = page.get_by_role("button", name="Resign", exact=True)
        for answer, said in (("No", "Your move"), ("Resign", "Over: the second player wins")):
            until(lambda: "Your move" in status(page))
            resign.click()
            page.get_by_role("dialog").get_by_role("button", name=answer).click()
            until(lambda said=said: status(page).startswith(said))
        heights = [box["height"] for one in page.get_by_role("button").all() if (box := one.bounding_box())]
        assert min(heights) >= 32 and problems == []
        assert all(one.bounding_box()["height"] >= 44 for one in page.locator(".q-btn").all() if one.is_visible())


def test_analysis(browser, lab):
    """Two searches at once, a step along the expected line, back and forward, and a tree opened."""
    with opened(browser, address(lab, "/analyse", game="tictactoe", moves="2b 1a")) as (page, problems):
        page.wait_for_selector(STATUS)
        page.get_by_label("agent", exact=True).first.fill("uct(playouts=2000)")
        page.get_by_label("agent", exact=True).first.press("Enter")
        page.get_by_role("button", name="Search", exact=True).first.click()
        until(lambda: page.locator("tbody tr").count() > 3)
        rings = {kind: page.locator(f".arena-lab-board .{kind}") for kind in ("search-a", "search-b")}
        until(lambda: rings["search-a"].count() > 0)
        page.get_by_role("button", name="Search", exact=True).last.click()
        until(
            lambda: (
                page.locator(".arena-lab-board .search-a").count()
                and page.locator(".arena-lab-board .search-b").count() == 1
            )
        )
        page.get_by_role("button", name="Remove").last.click()
        until(
            lambda: (
                page.locator(".arena-lab-board .search-a").count()
                and not page.locator(".arena-lab-board .search-b").count()
            )
        )
        page.get_by_role("button", name="Tree").first.click()
        until(lambda: page.locator("[data-node]").count() > 3)
        assert "After 2 plies, the first player" in status(page)
        page.get_by_role("button", name="Back").click()
        until(lambda: "After 1 plies" in status(page))
        page.get_by_role("button", name="Forward").click()
        until(lambda: "After 2 plies" in status(page))
        page.locator("[data-node='1']").click()
        until(lambda: "After 3 plies" in status(page))
        assert page.locator("[data-node][aria-current]").get_attribute("data-node") == "1"
        until(lambda: page.locator("[data-node='1,0']").count() == 1)  # it has opened
        page.locator("[data-node='1']").press("Enter")
        until(lambda: page.locator("[data-node='1,0']").count() == 0)
        assert problems == []


def test_moves_and_values_lead_to_their_positions(browser, lab):
    """A move taken back stays as a variation; a click on a move, or on the graph, goes there."""
    with opened(browser, address(lab, "/analyse", game="breakthrough(rows=5, columns=5)", moves="2b3b 4a3a 2c3c")) as (
        page,
        problems,
    ):
        moves = page.locator(".arena-lab-line")
        until(lambda: moves.inner_text().split() == ["1.", "2b3b", "4a3a", "2.", "2c3c"])
        page.get_by_role("button", name="4a3a", exact=True).first.click()
        until(lambda: "After 2 plies" in status(page))
        for square in ("d2", "d3"):
            page.locator(f".spot[aria-label='{square}']").click()
        until(lambda: moves.inner_text().split() == ["1.", "2b3b", "4a3a", "2.", "2c3c", "ply", "3:2d3d"])
        page.get_by_role("button", name="Search", exact=True).first.click()
        values = page.locator(".arena-lab-graph .search-a[r]")
        until(lambda: values.count() == 1 and page.locator(".arena-lab-bar i").is_visible())
        page.locator(".arena-lab-graph rect").nth(1).click()
        until(lambda: "After 1 plies" in status(page))
        until(lambda: values.count() == 2)
        page.get_by_role("button", name="Last", exact=True).click()
        until(lambda: "After 3 plies" in status(page) and "2d3d" in page.evaluate("location.href"))
        assert problems == [] and faults_of(page) == {}


def children(lab):
    """The processes that search for the pages."""
    return list(forked(lab[2]) - lab[3])


def test_a_search_that_dies_costs_no_game(browser, lab):
    """The page says so and waits; another one goes on from there."""
    until(lambda: children(lab) == [], 3.0)
    query = {"game": "othello", "agent": "uct(seconds=60)", "side": "second", "seed": 1}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        begin(page)
        until(lambda: page.locator("tbody tr").count() > 2)
        os.kill(children(lab)[0], signal.SIGKILL)
        until(lambda: status(page) == "Paused.", 5.0)
        assert "the search has died (exit code -9)" in page.locator(".q-notification").inner_text()
        page.get_by_role("button", name="Pause").click()
        until(lambda: len(children(lab)) == 1 and "thinking" in page.locator("main").inner_text())
        page.reload()
        begin(page)
        until(lambda: "thinking" in page.locator("main").inner_text() and len(children(lab)) == 1)
        assert problems == []


def test_a_page_that_is_closed_ends_its_search(browser, lab):
    until(lambda: children(lab) == [], 3.0)
    query = {"game": "othello", "agent": "uct(seconds=60)", "side": "second"}
    with opened(browser, address(lab, "/play", **query)) as (page, _):
        begin(page)
        until(lambda: page.locator("tbody tr").count() > 2)
        assert len(children(lab)) == 1
    until(lambda: children(lab) == [], 3.0)


# what another page may do with an address: each as a person would be led to it, none with a click on our page
WAYS = {
    "link": "document.body.innerHTML = `<a id=x href='${to}'>x</a>`; document.getElementById('x').click()",
    "iframe": "document.body.innerHTML = `<iframe src='${to}'></iframe>`",
    "form": "document.body.innerHTML = `<form id=x method=post action='${to}'></form>`; "
    "document.getElementById('x').submit()",
    "image": "new Image().src = to",
    "fetch": "fetch(to, {mode: 'no-cors', credentials: 'include'})",
    "window": "window.open(to)",
}


@pytest.fixture(scope="module")
def elsewhere():
    """The address of an empty page on another port of this machine."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title><body>elsewhere</body>")

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("way", WAYS)
def test_a_page_elsewhere_runs_and_reads_nothing(browser, lab, elsewhere, tmp_path, way):
    """Though the person has the pages open, so that the browser has their cookie; with and without what asks first."""
    until(lambda: children(lab) == [], 3.0)
    ran = tmp_path / "ran"
    queries = ({"agent": f"external(command='touch {ran}')", "side": "second"}, {"agent": "uct", "side": "none"})
    with opened(browser, address(lab, "/analyse")) as (own, _):  # which starts no search
        for query in queries:
            page, answers = own.context.new_page(), []
            page.context.on("response", lambda one, to=answers: to.append((one.url, one.status)))
            page.context.on("requestfailed", lambda one, to=answers: to.append((one.url, 403)))  # nothing was read
            page.goto(elsewhere)
            to = address(lab, "/play", game="tictactoe", **query).partition("&token")[0]
            page.evaluate(f"to => {{ {WAYS[way]} }}", to)
            wait = own.wait_for_timeout  # which lets answers be heard
            until(lambda to=answers, wait=wait: wait(20) or any(lab[0] in url for url, _ in to), 10.0)
            assert all(status == 403 for url, status in answers if lab[0] in url)
            wait(1000)
            frames = [frame for other in own.context.pages if other is not own for frame in other.frames]
            assert not any(frame.locator(".arena-lab-board").count() for frame in frames)
        assert not ran.exists() and children(lab) == []


def test_a_program_begins_with_a_question(browser, lab, tmp_path):
    """Opened by its own address, as by a link in a mail: nothing runs before a click, and no program before two."""
    until(lambda: children(lab) == [], 3.0)
    ran = tmp_path / "ran"
    query = {"game": "tictactoe", "side": "second", "agent": f"external(command='touch {ran}')"}
    with opened(browser, address(lab, "/play", **query)) as (page, problems):
        page.wait_for_selector(STATUS)
        time.sleep(1.0)
        assert children(lab) == [] and "token" not in page.url
        begin(page)
        page.get_by_text(f"the program touch {ran}").wait_for()
        page.get_by_role("button", name="No", exact=True).click()
        time.sleep(0.5)
        assert children(lab) == [] and not ran.exists()
        begin(page)
        page.get_by_role("button", name="Go on").click()
        until(ran.exists)
        assert problems == []


def test_a_file_that_an_address_names_is_read_after_a_question(browser, lab, tmp_path):
    os.mkfifo(pipe := tmp_path / "cities")
    with opened(browser, address(lab, "/play", game=f"tsptw(file='{pipe}')")) as (page, problems):
        page.get_by_role("button", name="Look at it").click()
        page.get_by_text(f"the file {pipe}").wait_for()
        page.get_by_role("button", name="No", exact=True).click()
        assert page.locator(STATUS).count() == 0 and problems == []


def test_what_a_search_has_found_is_shown_at_its_position_alone(browser, lab):
    """Nodes of a tree lead there whatever was clicked before; elsewhere there is no tree, and no late answer."""
    where = address(lab, "/analyse", game="tictactoe", moves="2b")
    with opened(browser, where) as (page, problems):
        moves = page.get_by_label("moves, or a position and moves")
        page.get_by_role("button", name="Tree", exact=True).first.click()
        until(lambda: page.get_by_text("Tree of uct after 2b").count() == 1)
        nodes = {number: page.locator(f"[data-node='{number}']") for number in range(3)}
        for number in (1, 2, 1):
            name = nodes[number].get_attribute("aria-label").partition(",")[0]
            nodes[number].click()
            until(lambda name=name: re.fullmatch(rf"2b( \d\w)? ?{name}|2b {name}", moves.input_value()))
        assert len(moves.input_value().split()) == 2
        page.locator(SPOTS).first.click()
        until(lambda: len(moves.input_value().split()) == 3)
        page.get_by_role("button", name="First").click()
        until(lambda: moves.input_value() == "")
        until(
            lambda: (
                not page.locator(".arena-lab-tree").is_visible() and not page.get_by_text("Tree of uct").is_visible()
            )
        )
        page.get_by_role("button", name="Solve").last.click()
        page.locator(SPOTS).first.click()
        until(lambda: "thinking" not in page.locator("main").inner_text())
        assert "exact" not in page.locator("main").inner_text() and problems == []
        page.get_by_role("button", name="Solve").first.click()
        until(lambda: "uct does not solve" in page.locator(".q-card").first.inner_text())


def test_a_page_goes_on_when_the_laboratory_is_started_again(browser, tmp_path):
    """On the same port, with its token; with another, the page says what to do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def begun(*more):
        command = [sys.executable, "-m", "arena", "lab", "--no-browser", "--port", port, *more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
        return process, re.search(r"(http://127.0.0.1:\d+/play\?token=\S+)", process.stdout.readline())[1]

    def ended(process):
        process.terminate()
        process.wait()

    process, where = begun()
    try:
        with opened(browser, f"{where}&game=tictactoe") as (page, _):
            until(lambda: page.locator(STATUS).count() == 1)
            ended(process)
            until(lambda: "start it again" in page.evaluate("getComputedStyle(popup, '::after').content"))
            process, again = begun()
            assert again == where
            until(lambda: page.locator("#popup[aria-hidden=true]").count() and page.locator(STATUS).count() == 1)
            page.goto(where.partition("?")[0])  # a bookmark
            until(lambda: page.locator(STATUS).count() == 1)
            ended(process)
            process, other = begun("--new-token")
            assert other != where
            until(lambda: page.locator("#popup[aria-hidden=false]").count() == 1)
            page.reload()
            until(lambda: "open the address that it printed" in page.locator("body").inner_text())
    finally:
        ended(process)
