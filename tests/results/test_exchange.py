"""Records as text: what is written reads back, foreign files are read as they come, bad ones are told by line."""

from dataclasses import replace

import pytest

from results.exchange import ExchangeError, from_csv, from_jsonl, from_pgn, players, to_jsonl, to_pgn
from results.record import Reason
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
    import results
    from results.export import render

    records = from_csv(render(results.load(folder).table("games"), "csv"))
    assert [record.outcome for record in records] == [game.outcome for game in games if game.outcome is not None]
    assert records[0].moves == games[0].moves and records[0].opening == records[1].opening


@pytest.mark.parametrize("read, text, message", [
    (from_csv, "", "line 1: the heading holds nothing"),
    (from_csv, "a,b\n1,2\n", "line 1: the heading holds a, b; it must hold first, second and outcome"),
    (from_csv, "first,second,outcome\nA,B,1\nA,B,won\n", "line 3: the result 'won' is not one of 1-0"),
    (from_csv, "first,second,outcome\nA,A,1\n", "line 2: the players 'A' and 'A' must be two"),
    (from_csv, "first,second,outcome\nA\n", "line 2: the players 'A' and ''"),
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
