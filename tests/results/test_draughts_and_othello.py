"""PDN of draughts and the Thor database of Othello: read move by move, to results that the rules agree with."""

import random
import struct

import pytest

from arena import games, results
from arena.games.core.game import IllegalMove
from arena.results.files.exchange import ExchangeError
from arena.results.files.legality import Wanted, judge_of
from arena.results.files.pgn_reader import from_pgn
from arena.results.files.thor import from_thor
from tests.typed import call

HEAD = '[Black "Ann"]\n[White "Ben"]\n[Result "{}"]\n\n'


def from_pdn(text, **options):
    return from_pgn(text, judge_of(Wanted.by_spec("checkers")), first="Black", **options)


def random_game(game, seed):
    """(words as records have them, names of all moves, final state): the jumps of a piece are one word."""
    rng, state, words, names = random.Random(seed), game.initial(), [], []
    while not game.is_over(state):
        before, move = int(game.player(state)), rng.choice(list(game.moves(state)))
        name = game.move_name(state, move)
        goes_on = bool(names) and before == names[-1][0] and "x" in name
        words = [*words[:-1], f"{words[-1]}x{name.partition('x')[2]}"] if goes_on else [*words, name]
        names.append((before, name))
        game.play(state, move)
    return words, [name for _, name in names], state


@pytest.mark.parametrize("seed", range(8))
def test_jumps_in_one_word(seed):
    """In full, and by the first and the last square alone, where one way leads there."""
    game = games.make("checkers")
    words, names, state = random_game(game, seed)
    result = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[int(game.score(state))]
    numbered = " ".join(f"{ply // 2 + 1}. {word}" if ply % 2 == 0 else word for ply, word in enumerate(words))
    (record,) = from_pdn(HEAD.format(result) + f"{numbered} {result}\n")
    assert record.moves.split() == names and (record.first, record.second) == ("Ann", "Ben")
    assert record.outcome == {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}[result] and len(names) > len(words)
    short, state = [], game.initial()
    for word in words:
        squares = word.split("x")
        for spelled in (f"{squares[0]}x{squares[-1]}", word):
            try:
                moves = game.read_word(state, spelled) if "x" in word else [game.parse_move(state, word)]
                break
            except IllegalMove as error:
                assert "can be jumped in several ways" in str(error)
        for move in moves:
            short.append(game.move_name(state, move))
            game.play(state, move)
    assert len(short) == len(names)


@pytest.mark.parametrize("said, outcome", [("2-0", 1.0), ("1-1", 0.5), ("0-2", 0.0), ("1-0", 1.0), ("0-1", 0.0)])
def test_results_of_draughts(said, outcome):
    (record,) = from_pdn(HEAD.format(said) + f"1. 11-15 22-17 2. 15-19 24x15 3. 10x19 {said}")
    assert record.outcome == outcome and record.moves == "11-15 22-17 15-19 24x15 10x19"


@pytest.mark.parametrize("text, message", [
    ('[GameType "20"]\n1. 32-28', "is of another game: GameType is 20, and not 21"),
    ('[FEN "B:W18,24:B1,4"]\n1. 1-6', "begins from a position"),
    ("1. 11-15 22-18 2. 15x29", "move 3: '15x29' is not a legal capture"),
    ("", "has no moves, and no GameType"), ("1. 11-20", "move 1: '11-20' is not a legal move"),
])  # fmt: skip
def test_what_is_no_game_of_checkers(text, message):
    left_out = []
    assert from_pdn(HEAD.format("1-0").strip() + f"\n{text} 1-0", left_out=left_out) == [] and message in left_out[0]


def thor(lines, year=2001, size=8, kind=0):
    """A file with games of (players, Black's discs, squares)."""
    head = struct.pack("<4BIHHBBBx", 20, 2, 1, 31, len(lines), 0, year, size, kind, 24)
    rows = (struct.pack("<HHHBB60s", 0, *pair, discs, discs, bytes(squares)) for pair, discs, squares in lines)
    return head + b"".join(rows)


def names(*players, length=20):
    return bytes(16) + b"".join(name.encode("cp1252").ljust(length, b"\0") for name in players)


def played(seed):
    """((players, discs, squares), names of all moves) of a random game of Othello."""
    game, rng, words = games.make("othello"), random.Random(seed), []
    state = game.initial()
    while not game.is_over(state):
        move = rng.choice(list(game.moves(state)))
        words.append(game.move_name(state, move))
        game.play(state, move)
    score = int(game.score(state))
    empty = 64 - int(state[0]).bit_count() - int(state[1]).bit_count()
    discs = (64 + score + (score > 0) * empty - (score < 0) * empty) // 2
    squares = [10 * int(word[1]) + " abcdefgh".index(word[0]) for word in words if word != "pass"]
    return ((seed % 3, 3 + seed % 2), discs, squares), words


def test_games_of_thor(tmp_path):
    """Passes are found; names stand in files beside; the result is the rules'."""
    found = [played(seed) for seed in range(40)]
    assert sum("pass" in words for _, words in found) > 3
    (tmp_path / "WTH_2001.wtb").write_bytes(thor([row for row, _ in found]))
    (tmp_path / "WTHOR.JOU").write_bytes(names("Ann", "Bén", "Cid", "Dan", "Eve"))
    (tmp_path / "WTHOR.TRN").write_bytes(names("Open", length=26))
    assert call("import", tmp_path / "WTH_2001.wtb", "--out", tmp_path / "run").exit_code == 0
    run = results.load(tmp_path / "run")
    assert run.games["moves"].tolist() == [" ".join(words) for _, words in found]
    assert set(run.games["first"]) == {"Ann", "Bén", "Cid"} and set(run.games["second"]) == {"Dan", "Eve"}
    assert run.conditions[0].instance == "othello" and '[Event "Open"]' in run.games["detail"][0]
    discs = [row[1] for row, _ in found]
    assert run.games["outcome"].tolist() == [0.5 if count == 32 else float(count > 32) for count in discs]


@pytest.mark.parametrize("data, message", [
    (b"", "is no file of Thor"), (thor([])[:-1], "shorter than a header"), (thor([played(1)[0]])[:-1], "or damaged"),
    (thor([], size=10), "holds games on 10x10"), (thor([], kind=1), "holds problems for one"),
])  # fmt: skip
def test_what_is_no_file_of_thor(data, message):
    with pytest.raises(ExchangeError, match=message):
        from_thor(data, judge_of(Wanted.by_spec("othello")))


def test_the_score_of_a_game_of_thor_is_the_difference_in_discs():
    rows = [row for row, _ in map(played, range(3))]
    records = from_thor(thor(rows), judge_of(Wanted.by_spec("othello")))
    assert [record.score for record in records] == [discs - (64 - discs) for _, discs, _ in rows]
    assert any(record.score for record in records)


def test_games_of_thor_that_cannot_be():
    (pair, discs, squares), _ = played(2)
    lines = [(pair, discs, [11]), (pair, discs, [99]), (pair, 64 - discs, squares)]
    left_out, notes = [], []
    (record,) = from_thor(thor(lines), judge_of(Wanted.by_spec("othello")), left_out, notes)
    assert ["game 1: move 1: 'a1' is not a legal" in left_out[0], "game 2: 99 is no square" in left_out[1]] == [
        True
    ] * 2
    assert (record.first, record.outcome) == (f"player {pair[0]}", float(discs > 32)) and "by the rules" in notes[0]
