"""End-game tables and opening books: what is in them, who plays from them, and files that cannot be used."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.solve import solve, solver_of
from arena.agents.knowledge import book, tablebase
from arena.games.core.random import stream
from arena.games.core.shared.prepared_file import PreparedFileError
from tests.agents import naive_proof as naive
from tests.agents.positions import random_line

GAME = games.make("nim(heaps=[1, 2, 3])")


def written(path, data):
    path.write_bytes(data)
    return path


def table_of(game, path, roots=None):
    """The file of all that can follow from the initial position, or from others."""
    endgames = tablebase.build(game, game.initial() if roots is None else roots)
    return endgames, written(path, tablebase.to_bytes(game, endgames, "all"))


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["nim(heaps=[1, 2, 3])", "tictactoe"])
def test_a_table_has_the_value_of_every_position(spec, tmp_path, kernels):
    game = games.make(spec)
    made, path = table_of(game, tmp_path / "t")
    endgames = tablebase.load(path, game)
    assert np.array_equal(made.keys, endgames.keys) and np.array_equal(made.values, endgames.values)
    for seed in range(6 if kernels == "compiled" else 2):
        for state in random_line(game, seed)[-7:]:
            value, plies = naive.exact(game, state)
            move, found = tablebase.best_move(game, endgames, state)
            assert found == value * plies
            assert move in naive.best_moves(game, state, value, plies)


@pytest.mark.plain
def test_how_many_positions():
    """Tic-tac-toe has 5,478, of which 958 are over; Nim 1-2-3 has 24 heaps, with either player to move."""
    assert (
        tablebase.positions(tablebase.build(games.make("tictactoe"), games.make("tictactoe").initial())) == 5478 - 958
    )
    states, waiting = set(), [GAME.initial()]
    while waiting:
        state = waiting.pop()
        if not GAME.is_over(state) and state.tobytes() not in states:
            states.add(state.tobytes())
            waiting += [GAME.after(state, move) for move in GAME.moves(state)]
    for most in ((), (len(states),)):
        assert tablebase.positions(tablebase.build(GAME, GAME.initial(), *most)) == len(states)
    with pytest.raises(tablebase.TablebaseError, match="has more than 20 positions there"):
        tablebase.build(GAME, GAME.initial(), 20)
    with pytest.raises(tablebase.TablebaseError, match="not a game for two players without chance"):
        tablebase.build(games.make("pig"), games.make("pig").initial())


@pytest.mark.slow
@pytest.mark.plain
def test_end_games_of_breakthrough(tmp_path):
    """Every placement of at most three pawns, none of which has arrived; and a search that knows their values."""
    game = games.make("breakthrough(rows=5, columns=4)")
    roots = game.endgames(3)
    assert len({state.tobytes() for state in roots}) == len(roots) and not any(map(game.is_over, roots))
    inner = 16 * 16 - 12  # one pawn each, on 16 of 20 squares each, 12 of them shared
    pairs = sum(120 - (15 if square < 16 else 0) for square in range(4, 20))  # two white pawns, and a black one
    assert len(roots) == 2 * (inner + 2 * pairs)
    _, path = table_of(game, tmp_path / "t", roots)
    state = game.initial()
    state[:] = 1 << 9, 1 << 15 | 1 << 18, 0
    value, plies = naive.exact(game, state)
    for agent in (f"dfpn(tablebase={str(path)!r})", f"pns(tablebase={str(path)!r})"):
        solver = solver_of(agents.make(agent), game)
        solution = solve(solver, state, shortest=True)
        assert (solution.value, solution.plies) == (value, plies)
    with pytest.raises(ValueError, match="pieces = 1 is out of range"):
        game.endgames(1)
    with pytest.raises(ValueError, match="does not list its end-games"):
        GAME.endgames(2)


@pytest.mark.plain
def test_players_use_the_table_as_soon_as_it_has_the_position(tmp_path):
    _, path = table_of(GAME, tmp_path / "t")
    for agent in ("uct(playouts=1, tablebase={})", "dfpn(nodes=1, tablebase={})", "alphabeta(depth=1, tablebase={})"):
        decision = agents.make(agent.format(repr(str(path)))).choose(GAME, GAME.initial(), seed=1)
        value, plies = naive.exact(GAME, GAME.initial())
        assert (decision.value, decision.depth) == (value, plies)
        assert decision.move in naive.best_moves(GAME, GAME.initial(), value, plies)


RECORDS = [("1-1 2-2 3-3", 1.0), ("1-1 2-2 3-3", 1.0), ("1-1 2-1 2-1 3-3", 0.0), ("2-2 3-3 1-1", 1.0)]


@pytest.mark.plain
def test_a_book_counts_points(tmp_path):
    made = book.build(GAME, RECORDS, 2, 1)
    path = written(tmp_path / "b", book.to_bytes(GAME, made, "four games"))
    loaded = book.load(path, GAME)
    first, other = GAME.parse_move(GAME.initial(), "1-1"), GAME.parse_move(GAME.initial(), "2-2")
    assert loaded == made and loaded[book.key_of(GAME, GAME.initial())] == {first: (3, 2.0), other: (1, 1.0)}
    after = GAME.after(GAME.initial(), first)
    assert book.best_move(GAME, loaded, after) == (GAME.parse_move(after, "2-1"), 1.0)
    assert book.best_move(GAME, loaded, GAME.read_line("1-1 2-2")[1]) is None  # beyond two plies
    often = book.build(GAME, RECORDS, 2, 3)
    assert often == {book.key_of(GAME, GAME.initial()): {first: (3, 2.0)}}
    decision = agents.make(f"uct(playouts=1, book={str(path)!r})").choose(GAME, GAME.initial(), seed=1)
    assert (decision.move, decision.value) == (other, 1.0)
    few = written(tmp_path / "few", book.to_bytes(GAME, often, "the moves of three games"))
    decision = agents.make(f"uct(playouts=1, book={str(few)!r})").choose(GAME, GAME.initial(), seed=1)
    assert (decision.move, decision.value) == (first, pytest.approx(1 / 3))  # two points of three
    player = agents.make(f"uct(playouts=5, book={str(path)!r})").player(GAME)
    assert player.choose(GAME.read_line("1-1 2-2")[1], stream(1)).playouts == 5


@pytest.mark.plain
def test_of_moves_of_equal_points_a_book_plays_the_one_made_more_often():
    state = GAME.initial()
    rare, often, bad = GAME.moves(state)[:3]
    made = {book.key_of(GAME, state): {rare: (2, 1.0), often: (4, 2.0), bad: (9, 3.0)}}
    assert book.best_move(GAME, made, state) == (often, 0.5)


@pytest.mark.plain
def test_files_that_cannot_be_used(tmp_path):
    _, path = table_of(GAME, tmp_path / "t")
    data = path.read_bytes()
    opening = written(tmp_path / "book", book.to_bytes(GAME, {1: {2: (3, 1.0)}}, "one move"))
    cases = [
        (written(tmp_path / "cut", data[:-10]), GAME, "is damaged: its checksum is wrong"),
        (written(tmp_path / "bit", data[:-1] + bytes([data[-1] ^ 1])), GAME, "is damaged: its checksum is wrong"),
        (
            written(tmp_path / "new", data.replace(b'"version": 1', b'"version": 2')),
            GAME,
            "has version 2; this program",
        ),
        (written(tmp_path / "text", b"hello\nworld"), GAME, "its first line does not say what it is"),
        (written(tmp_path / "empty", b""), GAME, "its first line does not say what it is"),
        (
            path,
            games.make("nim"),
            "is for nim(heaps=(1, 2, 3), misere=False), not for nim(heaps=(1, 3, 5, 7), misere=False)",
        ),
        (opening, GAME, "holds something else: opening book"),
        (tmp_path / "none", GAME, "cannot be read: No such file"),
        (tmp_path, GAME, "cannot be read: Is a directory"),
    ]
    for file, game, message in cases:
        with pytest.raises(PreparedFileError) as error:
            tablebase.load(file, game)
        assert message in str(error.value) and str(file) in str(error.value)
        with pytest.raises(agents.Unsuited, match=r"end-game table|cannot be read"):
            agents.make(f"dfpn(nodes=5, tablebase={str(file)!r})").player(game)
