"""Records as text: what is written reads back, foreign files are read as they come, bad ones are told by line."""

import io
import re
import time
import tracemalloc
from contextlib import suppress
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.results.database.record import MoveRecord, Reason
from arena.results.files.csv_reader import from_csv
from arena.results.files.exchange import ExchangeError, from_jsonl, joined, players, to_jsonl
from arena.results.files.pgn import _wrapped, time_control, to_pgn
from arena.results.files.pgn_reader import from_pgn
from arena.results.files.sgf import from_sgf
from arena.results.printable import one_line
from arena.results.shown.export import render
from tests.results.sample import make_game

CHESS = """[Event "Hastings"]
[White "Steinitz, W \\"the first\\""]
[Black "von Bardeleben"]
[Result "1-0"]

1. e4 e5 2. Nf3 {a comment
[%clk 0:01]} Nc6 (2... d6 3. d4 (3. Bc4)) 3. Bc4 $1 Bc5 ; to the end of the line
4.c3 Nf6 1-0

[White "A"]
[Black "B"]
[Result "1/2-1/2"]
[Round "3.1"]

1/2-1/2
[White "B"]
[Black "A"]
[Result "0-1"]
[Round "3.2"]
1... e5 0-1

[White "A"]
[Black "B"]
[Result "*"]

*
"""


def test_json_lines_read_back_equal(games):
    text = "".join(map(to_jsonl, games))
    assert from_jsonl(text) == games and text.count("\n") == len(games)


def test_pgn_reads_back_players_results_moves_and_pairs(games):
    played = [game for game in games if game.outcome is not None]
    back = from_pgn("".join(to_pgn(game, "tictactoe") for game in games))
    for one, other in zip(played, back, strict=True):
        assert (one.first, one.second, one.outcome) == (other.first, other.second, other.outcome)
        assert f"{one.opening_moves} {one.moves}" == other.moves and other.reason == Reason.IMPORTED
    for one, other in ((played, back), (back, played)):
        pairs, others = ([(*sorted((g.first, g.second)), g.opening) for g in games] for games in (one, other))
        assert len(set(zip(pairs, others))) == len(set(pairs))


def test_long_games_are_wrapped():
    text = to_pgn(make_game(moves=" ".join(["12a13b"] * 100)), "x")
    assert max(map(len, text.splitlines())) <= 80 and text.count("12a13b") == 100
    assert len(from_pgn(text)[0].moves.split()) == 101


def test_pgn_has_value_depth_and_time_of_each_move():
    decisions = (MoveRecord(1, 1, "b2", -0.25, depth=3, seconds=0.25), MoveRecord(2, 0, "c3", seconds=1234.0))
    game = make_game(decisions=decisions, moves="b2 c3", plies=3, reason=Reason.TIME)
    text = to_pgn(game, "tictactoe", "2026-11-21", ("0.1/move", "-"))
    assert text.endswith("\n\n1. a1 {opening} 1... b2 {-0.250/3 0.25s} 2. c3 {1.23e+03s} 1-0\n\n")
    tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', text, re.MULTILINE))
    assert tags["Date"] == "2026.11.21" and tags["Termination"] == "time forfeit" and tags["PlyCount"] == "3"
    assert '[Termination "abandoned"]' in to_pgn(make_game(reason=Reason.DIED), "tictactoe")
    assert (tags["TimeControl"], tags["WhiteTimeControl"], tags["BlackTimeControl"]) == ("?", "0.1/move", "-")
    assert from_pgn(text)[0].moves == "a1 b2 c3"


def test_a_line_of_pgn_has_80_characters_at_most():
    assert _wrapped(["a" * 39, "b" * 40, "c"]) == [f"{'a' * 39} {'b' * 40}", "c"]
    assert _wrapped(["a" * 40, "b" * 40, "c"]) == ["a" * 40, f"{'b' * 40} c"]


@pytest.mark.parametrize("left, shown", [
    (9.654, "0:00:09.65"), (9.656, "0:00:09.66"), (59.996, "0:01:00.00"), (3600.0, "1:00:00.00"), (-0.2, "0:00:00.00"),
])  # fmt: skip
def test_a_clock_of_pgn_is_rounded_to_hundredths(left, shown):
    game = make_game(decisions=(MoveRecord(1, 1, "b2", seconds=0.25, clock=left),))
    assert f"[%clk {shown}]" in to_pgn(game, "x").replace("\n", " ")


@pytest.mark.parametrize("field", ["id", "first"])
def test_names_have_200_characters_at_most(field):
    game = make_game(**{field: "n" * 200})
    assert from_jsonl(to_jsonl(game)) == [game]
    with pytest.raises(ExchangeError, match="has 201 characters; it can have 1 to 200"):
        from_jsonl(to_jsonl(make_game(**{field: "n" * 201})))


def test_openings_of_joined_files_are_others():
    files = [[make_game("a", 0, opening=0), make_game("b", 1, opening=1)], [], [make_game("a", 0, opening=0)]]
    found = joined(files)
    assert [(game.id, game.number, game.opening) for game in found] == [
        ("000001", 0, 0), ("000002", 1, 1), ("000003", 2, 2),
    ]  # fmt: skip


def test_pgn_of_backgammon_is_read_back():
    """What a play says of several checkers is no variation."""
    moves = "33 24/21*(2),13/10(2) 61 bar/24,8/2* 44 6/off(4)"
    assert from_pgn(to_pgn(make_game(opening_moves="31 8/5,6/5", moves=moves), "x"))[0].moves == f"31 8/5,6/5 {moves}"
    (game,) = from_pgn(to_pgn(make_game(opening_moves="", moves="8/5(2)(61 13/7 (2) 8/5(2)) 6/1"), "x"))
    assert game.moves == "8/5(2) 6/1"


def test_time_controls():
    assert time_control("uct(seconds=0.1)", {"playouts": 5}) == "0.1/move"
    assert time_control("uct(playouts=10)", {"seconds": 0.5}) == "-" == time_control("uct", {"depth": 3})
    assert time_control("uct", {"seconds": 0.5}) == "0.5/move"


def test_python_chess_reads_our_pgn():
    """Chess has no rules here; a record of its moves is read with headers, moves and comments."""
    pgn = pytest.importorskip("chess.pgn", reason="python-chess is not installed")
    decisions = tuple(MoveRecord(ply, ply % 2, "", 0.1 * ply, depth=ply, seconds=0.5) for ply in range(2, 5))
    game = make_game(opening_moves="e4 e5", moves="Nf3 Nc6 Bb5", plies=5, decisions=decisions)
    read = pgn.read_game(io.StringIO(to_pgn(game, "chess", "2026-11-21", ("0.1/move", "0.1/move"))))
    assert read.errors == [] and read.headers["White"] == "ann" and read.headers["Date"] == "2026.11.21"
    assert [node.san() for node in read.mainline()] == ["e4", "e5", "Nf3", "Nc6", "Bb5"]
    assert [node.comment for node in read.mainline()][1:4] == ["opening", "+0.200/2 0.5s", "+0.300/3 0.5s"]
    assert read.headers["TimeControl"] == "0.1/move" and read.headers["Termination"] == "normal"


def test_pgn_of_chess():
    first, second, third = from_pgn(CHESS)
    assert first.first == 'Steinitz, W "the first"' and first.outcome == 1.0
    assert first.moves == "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6" and first.plies == 8
    assert second.opening == third.opening != first.opening
    assert (second.outcome, second.moves, third.outcome, third.moves) == (0.5, "", 0.0, "e5")
    assert players([second, third]) == ["A", "B"]


def test_csv_of_many_kinds():
    text = "Date,White,Black,Result\nx,A,B,1-0\nx,B,A,1/2-1/2\nx,A,C,*\nx,C,B,0-1\n"
    records = from_csv(text)
    results = [(record.first, record.second, record.outcome) for record in records]
    assert results == [("A", "B", 1.0), ("B", "A", 0.5), ("C", "B", 0.0)]
    assert len({record.opening for record in records}) == 3
    paired = from_csv("first,second,outcome,opening\nA,B,1,x\nB,A,0.5,x\nA,B,0,y\n")
    assert [record.opening for record in paired] == [0, 0, 1]
    assert [record.outcome for record in paired] == [1.0, 0.5, 0.0]


def test_our_own_tables_are_read(folder, games):
    from arena import results
    from arena.results.shown.export import render

    records = from_csv(render(results.load(folder).table("games"), "csv"))
    assert [record.outcome for record in records] == [game.outcome for game in games if game.outcome is not None]
    assert records[0].moves == games[0].moves and records[0].opening == records[1].opening


@pytest.mark.parametrize("read, text, message", [
    (from_csv, "", "line 1: the heading holds nothing"),
    (from_csv, "a,b\n1,2\n", "line 1: the heading holds a, b; it must hold first, second and outcome"),
    (from_csv, "first,second,outcome\nA,B,1\nA,B,well\n", "line 3: the result 'well' is not one of 1-0"),
    (from_csv, "first,second,outcome\nA,A,1\n", "line 2: the players 'A' and 'A' must be two"),
    (from_csv, "first,second,outcome\nA\n", "line 2: has 1 cells, and the heading 3"),
    (from_csv, "first,second,outcome\nA,,1\n", "line 2: the players 'A' and ''"),
    (from_csv, "first,second,outcome\nA,B,1,x\n", "line 2: has 4 cells, and the heading 3"),
    (from_csv, "first,second,outcome,Outcome\nA,B,1,0\n", "line 1: the heading holds outcome twice"),
    (from_csv, "first,second,outcome\nA,B\x1b[2J,1\n", "line 2: 'B\\x1b[2J' has characters that cannot be printed"),
    (from_csv, "first,second,outcome\nA," + 201 * "B" + ",1\n", "has 201 characters; it can have 1 to 200"),
    (from_csv, "first,second,outcome\n" + "".join(f"A,{i},1\n" for i in range(3000)), "line 2001: there are more"),
    (from_pgn, CHESS + "\n(1. e4", "the variation does not end"),
    (from_pgn, CHESS + "\n{1. e4", "the comment does not end"),
    (from_pgn, CHESS + "\n1. e4)", ") ends what has not begun"),
    (from_pgn, CHESS.replace("Nf3", "N\x1b[31mf3"), "line 1: 'e4 e5 N\\x1b[31mf3"),
    (from_csv, 'first,second,outcome\n"' + "x" * 200_000 + '",B,1\n', "is not CSV"),
    (from_pgn, "hello", "line 1: is not PGN"),
    (from_pgn, '\n[White "A"]\n[Result "1-0"]\n\n1. e4', "line 2: this game has no tag Black"),
    (from_pgn, '[White "A"]\n[Black "B"]\n[Result "2-0"]\n', "the result '2-0'"),
    (from_jsonl, "{\n", "line 1: is not a game: it: Invalid JSON"),
    (from_jsonl, "\n{}", "line 2: is not a game: id: "),
])  # fmt: skip
def test_bad_files_are_told_by_line(read, text, message):
    with pytest.raises(ExchangeError) as told:
        read(text)
    assert message in str(told.value)


@pytest.mark.parametrize("changes", [dict(outcome=0.7), dict(seed=2**64), dict(second="ann")])
def test_games_that_cannot_be(changes):
    with pytest.raises(ExchangeError, match="one of them cannot be"):
        from_jsonl(to_jsonl(replace(make_game(), **changes)))


@pytest.mark.parametrize("changes, message", [
    (dict(number=1 << 64), "number = 18446744073709551616: is no whole number from 0 to 2**63 - 1"),
    (dict(opening=-1), "opening = -1: is no whole number from 0"),
    (dict(reason="magic"), "reason = 'magic': is not one of"),
    (dict(first="\x1b]0;x\x07"), "first = '\\x1b]0;x\\x07': has characters that cannot be printed"),
    (dict(id=""), "id = '': has 0 characters; it can have 1 to 200"),
    (dict(decisions=(MoveRecord(ply=1, side=2, move="b2", seconds=0.0),)), "side = 2: is neither 0 nor 1"),
    (dict(moves="1a\r2b"), "moves = '1a\\r2b': has characters that cannot be printed"),
])  # fmt: skip
def test_values_that_no_store_should_hold(changes, message):
    with pytest.raises(ExchangeError) as told:
        from_jsonl(to_jsonl(replace(make_game(), **changes)))
    assert f"line 1: {message}" in str(told.value)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite(number):
    with pytest.raises(ExchangeError, match=r"line 1: seconds = (nan|-?inf): is no finite number"):
        from_jsonl(to_jsonl(replace(make_game(), seconds=1.25)).replace(": 1.25", f": {number}"))


def test_a_game_twice():
    with pytest.raises(ExchangeError, match="line 3: the game 0-0-a is there already, in line 1"):
        from_jsonl(to_jsonl(make_game(id="0-0-a")) + "\n" + to_jsonl(make_game(id="0-0-a")))


def test_separators_of_unicode_are_no_ends_of_lines():
    game = replace(make_game(), detail="one\u2028two\u2029three\x85four\x0bfive")
    assert from_jsonl(to_jsonl(game)) == [game]
    assert from_jsonl(to_jsonl(game).replace("\n", "\r\n")) == [game]


def test_a_comment_may_look_like_tags_and_a_variation_may_hold_comments():
    text = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. a {begin\n[White "C"]\n(} b (2. c {)} d ; )\n) 2. e 1-0\n'
    (game,) = from_pgn(text)
    assert (game.first, game.moves) == ("A", "a b e")


@pytest.mark.parametrize("inner", ["(", "{", "( {)} ", "1.", "1. e4 ", "$1 ", "; x\n", '[White "', "\\", "%\n"])
def test_reading_takes_time_in_proportion(inner):
    """Ten times the text takes some ten times as long: far from the hundred of what grows as the square."""

    def seconds(times):
        begin = time.process_time()
        with suppress(ExchangeError):
            from_pgn('[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n' + inner * times + ")" * times)
        return time.process_time() - begin

    few = min(seconds(5_000) for _ in range(3))
    assert any(seconds(50_000) < 40 * few + 0.1 for _ in range(3))


def test_formulas_are_guarded_and_read_back():
    names = ["=1+1", "+x", "-y", "@z", "'=w", "'plain", "4"]
    frame = pd.DataFrame({"first": names, "second": "B", "outcome": -1.0, "=heading": 5})
    frame["outcome"] = 1.0
    text = render(frame, "csv")
    assert text.splitlines()[:2] == ["first,second,outcome,'=heading", "'=1+1,B,1.0,5"]
    assert [game.first for game in from_csv(text)] == names
    assert render(frame, "csv", raw=True).splitlines()[1] == "=1+1,B,1.0,5"


LONG = [
    (from_sgf, "(;GM[1]SZ[9]RE[B+1]PB[a]PW[b]C[{}];B[aa])"), (from_sgf, "(;GM[1]SZ[9]RE[{}]PB[a]PW[b];B[aa])"),
    (from_sgf, "(;GM[1]SZ[9]RE[B+1]PB[{}]PW[b];B[aa])"), (from_sgf, "(;GM[1]SZ[{}]PB[a]PW[b];B[aa])"),
    (from_pgn, '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {{{}}} 1-0\n'),
    (from_pgn, '[White "{}"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 1-0\n'),
    (from_pgn, '[White "a"]\n[Black "b"]\n[Result "{}"]\n\n1. e4 1-0\n'),
    (from_csv, "first,second,outcome\n{},b,1\n"), (from_csv, "first,{},outcome\na,b,1\n"),
]  # fmt: skip
TEXTS = st.sampled_from(["[", "\\\\", "\\]", '\\"', "x", "x ", "\n", "\u00e9", ";", "AB[aa]", "1"])


@settings(max_examples=50)
@given(st.sampled_from(LONG), TEXTS)
def test_long_text_takes_memory_in_proportion_and_is_shortened_in_messages(form, part):
    reader, told = form[0], list[str]()
    text = form[1].format(part * (100_000 // len(part)))
    with suppress(ExchangeError):  # what it imports at first is no memory of the text
        reader(form[1].format("x"), left_out=[])
    tracemalloc.start()
    try:
        reader(text, left_out=told)
    except ExchangeError as error:
        told.append(str(error))
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 20 * len(text) + (1 << 20)
    assert all(len(line) < 2100 and "\n" not in line for line in told)


@settings(max_examples=50)
@given(st.text(max_size=20), st.integers(1, 2000))
def test_any_message_becomes_one_short_line(text, times):
    found = one_line(text * times)
    assert len(found) < 2010 and len(found.splitlines()) <= 1 and max(map(len, found.split()), default=0) <= 223
    assert one_line("a short one, 'x'") == "a short one, 'x'"
