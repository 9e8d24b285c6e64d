"""The laboratory's parts without a browser: lines of play and their clicks, who may see the pages, and searches."""

import asyncio
import os
import random
import re
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install nicegui")

from hypothesis import given
from hypothesis import strategies as st

from arena import agents, games
from arena.games.core.game import CHANCE
from arena.games.core.interface.rules import IllegalMove
from arena.games.core.shared import cache
from arena.games.core.shared.errors import UserError
from arena.lab import consent, searches
from arena.lab.access import Guard, token_of
from arena.lab.line import Line
from arena.lab.moves_view import _rows, graph_of, paired
from arena.lab.saving import suffixes, text_of
from arena.lab.searcher import for_first
from arena.lab.searches import Search
from arena.lab.shown import in_words
from arena.lab.variations import Variations, blunders, by_side
from arena.results.files.exchange import from_jsonl
from tests.typed import call

SMALL = {"amazons": "amazons(rows=6, columns=6)", "mnk": "mnk(rows=5, columns=5, k=4)", "hex": "hex(size=5)"}


@pytest.mark.parametrize("name", games.names())
def test_every_move_is_made_by_clicks_or_by_a_button(name):
    """The squares of a move, clicked one after the other, leave that move, and others only where they name the same."""
    line, chance = Line(SMALL.get(name, name), seed=1), random.Random(name)
    plies = 0
    while not line.is_over and plies < 12:
        plies += 1
        if line.side == CHANCE:
            line.throw()
            continue
        for move in chance.sample(sorted(line.ways), min(20, len(line.ways))):
            for way in line.ways[move] or [[]]:
                line.picked = []
                found = [line.pick(min(places)) for places in way]
                left = line.complete() or line.unclicked
                assert move in left and found[-1:] in ([], [""], [move])
                assert all(way in line.ways[other] for other in left if way)
        line.play(chance.choice(sorted(line.ways)))
    again = Line(str(line.game), " ".join(line.words))
    assert again.names == line.names and (again.state == line.state).all()


def test_a_click_beside_the_moves_begins_anew():
    line = Line("breakthrough(rows=6, columns=6)")
    first = sorted(line.next_places())
    line.pick(first[0])
    assert line.picked == [first[0]] and line.next_places().isdisjoint(first)
    assert line.pick(first[1]) == ""
    assert line.picked == [first[1]]
    assert line.pick(min(line.next_places())) in line.ways
    line.picked = []
    line.pick((0, 0))
    assert line.picked == [] and sorted(line.next_places()) == first


def test_a_click_changes_the_step_begun_and_keeps_the_steps_before():
    line = Line("backgammon", "31")
    at = {line.game.point_name(line.state, place): place for place in line.next_places()}
    assert set(at) == {"24", "13", "8", "6"}
    for point in (24, 21, 6):
        assert line.pick(line.game.middle(point, 0)) == ""
    line.pick(at["8"])
    assert line.picked == [line.game.middle(point, 0) for point in (24, 21, 8)]
    assert line.pick(line.game.middle(7, 0)) == "24/21,8/7"


def test_backgammon_needs_no_button_but_pass():
    """In a hundred positions every play has ways to click it, each of which ends at that play alone."""
    chance, seen, longest = random.Random(1), 0, 0
    for seed in range(3):
        line = Line("backgammon(horizon=70)", seed=seed)
        while not line.is_over:
            if line.side == CHANCE:
                line.throw()
                continue
            names = sorted(line.ways)
            assert line.unclicked in ([], ["pass"]) and (line.unclicked == [] or names == ["pass"])
            for move in chance.sample(names, min(4, len(names))):
                for way in chance.sample(line.ways[move], min(4, len(line.ways[move]))):
                    line.picked = []
                    assert [line.pick(*places) for places in way] == [""] * (len(way) - 1) + [move]
                    longest = max(longest, len(way))
            seen += 1
            line.play(chance.choice(names))
    assert seen > 100 and longest == 8


def test_a_move_is_picked_though_others_go_on():
    line = Line("leftmove")
    line.ways = {"short": [[{(1, 1)}]], "long": [[{(1, 1)}, {(2, 2)}], [{(3, 3)}]]}
    assert line.pick((1, 1)) == "" and line.complete() == ["short"] and line.next_places() == {(2, 2)}
    assert line.pick((2, 2)) == "long"
    assert line.pick((3, 3)) == "long" and line.picked == [(3, 3)]


def test_moves_are_taken_back_and_a_position_is_set_up():
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert str(Line("chess", fen).game) == str(games.make("chess").from_pgn_tags({"FEN": fen}))
    assert Line("go(size=5)", "c3 b2").names == ["c3", "b2"]
    line = Line("chess", games.make("chess").from_pgn_tags({"FEN": fen}).position_word() + " e5")
    assert line.names == ["e5"] and line.side == 0
    line.play("Nf3")
    line.back_to(1)
    assert line.names == ["e5"] and "Nf3" in line.ways
    with pytest.raises(IllegalMove, match="'e9' is not a legal move"):
        line.play("e9")
    line.resign(0)
    assert line.is_over and line.result == "the second player wins" and line.ways == {}


@pytest.mark.parametrize("name", ["chess", "go(size=5)", "leftmove", "backgammon"])
def test_a_game_is_saved_in_every_form_it_has(name):
    line = Line(name, seed=3)
    for _ in range(6):
        line.throw() if line.side == CHANCE else line.play(sorted(line.ways)[0])
    record = line.record(("Ada", "uct"))
    for suffix in suffixes(line.game):
        assert line.names[-1].split(",")[0].encode() in text_of(line.game, record, suffix) or suffix == "sgf"
    assert from_jsonl(text_of(line.game, record, "jsonl").decode())[0].moves.split() == line.names


# -- Who may see the pages ---------------------------------------------------------------------------------------------

HERE = "127.0.0.1:8400"


def asked(headers, query="", kind="http"):
    """(whether the page was reached, what was sent) for a request."""
    reached, sent = [], []

    async def inner(scope, receive, send):
        reached.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "query_string": query.encode(), "headers": [(k.encode(), v.encode()) for k, v in headers]}
    scope["raw_path"] = b"/play"
    asyncio.run(Guard(inner, {HERE, "localhost:8400"}, "secret")(scope, receive, send))
    return bool(reached), sent


def test_the_address_with_the_token_opens_the_pages_and_its_cookie_keeps_them_open():
    reached, sent = asked([("host", HERE)], "game=hex(size%3D5)&moves=&token=secret")
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert not reached and sent[0]["status"] == 303  # the same address without the token
    assert headers["location"] == f"http://{HERE}/play?game=hex%28size%3D5%29&moves="
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "8400=secret" in cookie
    own = ("cookie", f"other=1; {cookie.partition(';')[0]}")
    assert asked([("host", HERE), own])[0] and asked([("host", "localhost:8400"), own], kind="websocket")[0]
    assert asked([("host", HERE), own, ("origin", f"http://{HERE}"), ("sec-fetch-site", "same-origin")])[0]
    assert asked([("host", HERE), own, ("sec-fetch-site", "none")])[0]
    for headers in (
        *([("host", HERE), own, ("sec-fetch-site", other)] for other in ("same-site", "cross-site", "", "None")),
        [("host", "evil.example:8400"), own],
        [("host", HERE), own, ("origin", "http://evil.example")],
        [("host", HERE), own, ("origin", "http://127.0.0.1:8401")],
        [("host", HERE), own, ("origin", "null")],
        [own],
    ):
        for kind in ("http", "websocket"):
            for query in ("", "token=secret"):
                reached, sent = asked(headers, query, kind)
                assert not reached and b"set-cookie" not in dict(sent[0].get("headers", []))


def test_a_folder_keeps_its_token_where_no_other_user_can_read_it(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    first = token_of(tmp_path / "runs")
    (file,) = tmp_path.glob("lab-*.token")
    assert token_of(tmp_path / "runs") == first == file.read_text() and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token_of(tmp_path / "others") != first != token_of(tmp_path / "runs", anew=True)
    for harm in (
        lambda: file.chmod(0o644),
        lambda: file.write_text("x"),
        lambda: (file.unlink(), file.symlink_to("a")),
    ):
        before = token_of(tmp_path / "runs")
        harm()
        assert before != token_of(tmp_path / "runs") == token_of(tmp_path / "runs")
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert token_of(tmp_path / "runs") != token_of(tmp_path / "runs")


def test_no_page_may_frame_ours_or_learn_where_we_are():
    """On every answer, also on a refusal."""
    for headers in ([("host", HERE), ("cookie", "arena_lab127_0_0_1_8400=secret")], [("host", HERE)]):
        _, sent = asked(headers)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        assert "frame-ancestors 'none'" in found["content-security-policy"] and found["x-frame-options"] == "DENY"
        assert f"connect-src 'self' ws://{HERE} ws://localhost:8400;" in found["content-security-policy"]
        assert found["referrer-policy"] == "no-referrer"


# -- What is asked before it runs --------------------------------------------------------------------------------------

PROGRAM, FILE = "external(command='./engine --fast')", "tsptw(file='/home/me/cities')"


def nested(text, times):
    """A spec in a spec, every other time with each letter by its number, which reads as the same."""
    for number in range(times):
        hidden = "".join(f"\\x{ord(letter):02x}" for letter in text)
        text = f"other(agent='{hidden}')" if number % 2 else f"other(agent={text!r})"
    return text


@given(st.integers(0, 4), st.sampled_from([PROGRAM, FILE, "alphabeta(evaluation='file:/home/me/cities')"]))
def test_what_a_text_reaches_is_found_however_deep(times, text):
    words = ["the program ./engine --fast" if text == PROGRAM else "the file /home/me/cities"]
    text = nested(text, times)
    for where in (text, [text], {"agents": [{"name": "a", "agent": text}]}):
        assert list(consent.reached(where)) == words


@pytest.mark.parametrize("name", agents.names())
def test_our_own_agents_ask_nothing(name):
    assert list(consent.reached([name, f"{name}(seconds=1)"])) == []


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("external(command={'a', 'b'}, nodes=[1, 2)", "what external(command={'a', 'b'}, nodes=[1, 2) names"),
        ("uct(agent='\\x65xternal'", "what uct(agent='\\x65xternal' names"),
        ("\uff45xternal(command='x'", "what \uff45xternal(command='x' names"),
        ("\uff45xternal(command='x')", "the program x"),
        ("external('x')", "the program x"),
        ("external('x', environment='A=b', nodes=3)", "the program x, environment='A=b', nodes=3"),
        ("uct(methods=\"puct(prior='file:a') + gumbel()\")", "what puct(prior='file:a') + gumbel() names"),
        ({"plugins": ["mine"], "game": "hex"}, "the code of the plug-in mine"),
        ({"plugins": "mine"}, "the code of the plug-in mine"),
        ("uct(a=" * 60 + "1" + ")" * 60, None),
    ],
)
def test_what_cannot_be_read_is_asked_for(value, asked):
    assert list(consent.reached(value)) == ([asked] if asked else [])


@pytest.mark.parametrize("query", ["", "token=", "token=secre", "token=wrong&token=", "token=s%C3%A9cret"])
def test_without_the_token_there_is_nothing_to_see(query):
    reached, sent = asked([("host", HERE)], query)
    assert not reached and sent[0]["status"] == 403 and b"ends in a token" in sent[1]["body"]
    reached, sent = asked([("host", HERE), ("cookie", "arena_lab=secret")], query, "websocket")
    assert not reached and sent == [{"type": "websocket.close", "code": 1008}]


# -- Searches ----------------------------------------------------------------------------------------------------------


def heard(search, until, seconds=60.0):
    """What a search says until that holds."""
    answers, end = [], time.monotonic() + seconds
    while not until(answers) and time.monotonic() < end:
        answers += search.hear()
        time.sleep(0.01)
    assert until(answers), (answers[-1:], search.state)
    return answers


@pytest.fixture
def search():
    made = []

    def make(*words):
        made.append(Search(*words))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_search_thinks_tells_and_decides(search):
    one = search("uct(playouts=20000)", "tictactoe")
    assert "starting uct" in one.state
    one.go(["2b", "1a"], 5)
    found = heard(one, lambda answers: not one.busy)[-1]
    assert found[0] == "decided" and found[1].position == ("2b", "1a") and found[1].playouts == 20000
    assert {one.move for one in found[1].candidates} == {"1b", "1c", "2a", "2c", "3a", "3b", "3c"}
    one.go(["2b", "1a"], 5)
    assert heard(one, lambda answers: not one.busy)[-1][1][:4] == found[1][:4]


def test_every_value_is_the_first_players(search):
    """Of a position that the player to move wins: a search by either side, its candidates, evaluations, the record."""
    for moves, sign in ((["1a", "1c", "2a", "2c"], 1), (["1a", "1c", "3b", "2c", "2a"], -1)):
        one = search("uct(playouts=3000)", "tictactoe")
        one.go(moves, 5)
        found = heard(one, lambda answers, one=one: not one.busy)[-1][1]
        assert sign * found.value > 0.9 and sign * found.candidates[0].value > 0.9 and found.players == 2
        assert "value for the first player" in in_words(found)
        line = Line("tictactoe", " ".join(moves))
        side = line.side
        line.decide(found)
        assert line.record(("a", "b")).decisions[-1].value > 0.9  # for who made it, as all records have it
        assert for_first(for_first(0.5, side), side) == 0.5 == sign * for_first(0.5, side)


def test_a_search_without_an_end_is_stopped_at_once(search):
    one = search("uct", "breakthrough(rows=6, columns=6)")
    one.go([], 1, endless=True)
    heard(one, lambda answers: len(answers) > 3)
    one.stop()
    begun = time.monotonic()
    assert heard(one, lambda answers: not one.busy)[-1][0] == "decided" and time.monotonic() - begun < 1.0


def test_a_search_that_goes_on_elsewhere_stays_busy(search):
    one = search("uct", "breakthrough(rows=6, columns=6)")
    one.go([], 1, endless=True)
    heard(one, lambda answers: len(answers) > 1)
    one.go(["2a3a"], 1, endless=True)
    answers = heard(one, lambda answers: len(answers) > 4 and answers[-1][1].position == ("2a3a",))
    assert [kind for kind, *_ in answers].count("decided") == 1 and one.busy
    one.stop()
    assert heard(one, lambda answers: not one.busy)[-1][1].position == ("2a3a",)


def test_whatever_goes_wrong_is_an_answer(search):
    """Also what no agent should raise: a tree of so many iterations that they are no number."""
    one = search("uct", "tictactoe")
    one.tree([], "many")
    kind, text = heard(one, lambda answers: not one.busy)[-1]
    assert kind == "error" and text
    one.tree([], 5)
    assert heard(one, lambda answers: not one.busy)[-1][0] == "tree"


def test_a_search_that_dies_costs_its_panel_alone(search):
    one, other = search("uct(playouts=50)", "tictactoe"), search("uct(playouts=50)", "tictactoe")
    heard(one, lambda answers: one.ready)
    os.kill(one.process.pid, signal.SIGKILL)
    heard(one, lambda answers: one.fault != "")
    assert one.state == "the search has died (exit code -9)" and not one.busy
    other.go([], 1)
    assert heard(other, lambda answers: not other.busy)[-1][0] == "decided"


def test_a_search_that_hangs_is_ended(search, monkeypatch):
    monkeypatch.setattr(searches, "SLOW_STOP", 0.3)
    one = search("uct", "breakthrough(rows=6, columns=6)")
    one.go([], 1, endless=True)
    heard(one, lambda answers: len(answers) > 1)
    os.kill(one.process.pid, signal.SIGSTOP)
    one.stop()
    heard(one, lambda answers: one.fault != "", 10)
    assert "did not stop within" in one.state and not one.process.is_alive()


def test_what_cannot_be_searched_is_said(search, monkeypatch):
    for agent, fault in (
        ("uct(playouts=0)", "playouts = 0 is out of range"),
        ("beam_nrpa(playouts=10)", "for one player"),
    ):
        one = search(agent, "tictactoe")
        heard(one, lambda answers, one=one: one.fault != "")
        assert fault in one.fault
    one = search("uct(playouts=10)", "tictactoe")
    one.go(["9z"], 1)
    assert "'9z' is not a legal move" in heard(one, lambda answers: not one.busy)[-1][1]
    monkeypatch.setattr(searches, "MOST", 1)
    with pytest.raises(UserError, match="1 searches run already"):
        search("uct", "tictactoe")


def test_a_search_shows_its_tree(search):
    one = search("alphabeta(depth=2)", "tictactoe")
    one.tree(["2b", "1a"], 40)
    kind, drawn = heard(one, lambda answers: not one.busy)[-1]
    assert kind == "tree" and drawn.root.children and "nodes" in drawn.remark
    assert (drawn.agent, drawn.position) == ("alphabeta(depth=2)", ("2b", "1a"))


def test_a_solver_gives_the_exact_value(search):
    one = search("dfpn", "tictactoe")
    one.solve(["2b", "1b"])
    kind, solved = heard(one, lambda answers: not one.busy)[-1]
    assert kind == "solved" and solved.value == 1 and len(solved.best) > 2 and solved.unsolved == ""
    one = search("uct(playouts=10)", "tictactoe")
    one.solve([])
    assert "uct" in heard(one, lambda answers: not one.busy)[-1][1]


def test_the_graph_has_both_sides_values_as_the_first_player_sees_them():
    assert graph_of(by_side([None, None], [0, 1]), [0, 1, 2], 0) == ""
    drawn = graph_of(by_side([1.0, -1.0, None, -0.5], [0, 1, 0, 1]), [0, 7, 8, 9, 10], 2)
    circles = [(kind.split('"')[0], float(rest.split('"')[0])) for kind, _, rest in
               (part.partition('cy="') for part in drawn.split('<circle class="')[1:])]  # fmt: skip
    heights = [float(part.split('y1="')[1].split('"')[0]) for part in drawn.split("<line ")[1:4]]  # of +1, 0, -1
    assert circles == [("first", heights[0]), ("second", heights[2]), ("second", (heights[1] + heights[2]) / 2)]
    assert re.findall(r'data-move="(\d+)"', drawn) == ["0", "7", "8", "9", "10"]
    assert re.findall(r">([-+]?\d)</text>", drawn) == ["+1", "0", "-1", "0", "1", "2", "3", "4"]


WORDS = st.lists(st.sampled_from("abc"), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_what_was_tried_is_kept_and_each_move_leads_where_it_was_made(lines, data):
    tried = Variations()
    for line in lines:
        tried.go(line, [0, 1] * 3)
        assert tried.moves(tried.here) == line and tried.moves(tried.whole()[-1])[: len(line)] == line
    prefixes = {tuple(line[:n]) for line in lines for n in range(len(line) + 1)}
    assert sorted(tuple(tried.moves(number)) for number in range(len(tried.names))) == sorted(prefixes)
    main, longest = [tried.names[one] for one in tried.main(0)], next((line for line in lines if line), [])
    assert main[: len(longest)] == longest
    shown = "".join(_rows(tried, set(), 2))
    assert sorted(map(int, re.findall(r'data-move="(\d+)"', shown))) == list(range(1, len(tried.names)))
    assert shown.count("aria-current") == bool(tried.here)


def test_moves_are_numbered_by_pairs():
    dice = [(1, -1), (2, 0), (3, -1), (4, 1), (5, -1), (6, 0), (7, -1)]
    assert paired(dice, 2) == [([1, 2], [3, 4]), ([5, 6], []), ([7], [])]
    assert paired([(1, 0), (2, 0), (3, 1), (4, 1), (5, 0)], 2) == [([1, 2], [3, 4]), ([5], [])]
    assert paired([(1, 1), (2, 0)], 2) == [([], [1]), ([2], [])]
    assert paired([(1, 0), (2, 0)], 1) == [([1], []), ([2], [])]


def test_a_blunder_is_the_move_after_which_its_movers_value_fell():
    sides = [0, 1, 0, 1]
    assert blunders({"uct": {0: 0.5, 1: 0.4, 2: 0.9, 3: 0.2}}, sides) == {1, 2}
    assert blunders({"first": {0: 0.5, 2: -0.1}, "second": {1: 0.3, 3: 0.65}}, sides) == {0}
    assert blunders({"uct": {0: 0.9, 3: -0.9}}, sides) == set()  # who knows which of three


def test_mistakes_of_the_command_are_told_before_a_page_is_served():
    for words, fault in ((("--game", "hexx"), "unknown game 'hexx'"), (("--agent", "utc"), "unknown agent 'utc'")):
        done = call("lab", "--no-browser", *words)
        assert done.exit_code == 2 and fault in done.output
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = call("lab", "--no-browser", "--port", taken.getsockname()[1])
    assert done.exit_code == 2 and "--port 0 takes a free one" in done.output


def test_without_the_package_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = call("lab")
    assert done.exit_code == 2 and 'pip install "search-arena[web]"' in " ".join(done.output.split())


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_server_ends_without_a_word(name, tmp_path):
    """And leaves no process, though one reads runs for it."""
    command = [sys.executable, "-m", "arena", "lab", str(tmp_path), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "/runs?token=" in process.stdout.readline()
        time.sleep(1.0)
        process.send_signal(getattr(signal, name))
        assert process.communicate(timeout=60)[1] == "" and process.returncode == 0
