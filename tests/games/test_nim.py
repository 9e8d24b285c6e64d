"""Nim, matches and Grundy's game: who wins, by theory and by exhaustive search."""

import numpy as np
import pytest

from arena import games
from arena.games.nim import grundy_values
from tests.games.exact import exact_value


def all_states(game):
    """Every position that play can reach."""
    waiting, found = [game.initial()], {}
    while waiting:
        state = waiting.pop()
        if state.tobytes() not in found:
            found[state.tobytes()] = state
            waiting += [game.after(state, move) for move in game.moves(state)]
    return list(found.values())


def mover_wins(game, state, known):
    return exact_value(game, state, known) == (1 if game.player(state) == 0 else -1)


@pytest.mark.parametrize(
    "spec",
    [
        "nim",
        "nim(heaps=[2, 3, 3, 1])",
        "matches(count=30, take=4)",
        "matches(count=3, take=9)",
        "grundy(heaps=[14])",
        "grundy(heaps=[8, 5, 5, 3])",
    ],
)
def test_the_nim_value_tells_the_winner(spec):
    """And is the least value that no move leads to."""
    game, known = games.make(spec), {}
    for state in all_states(game):
        reached = {game.nim_value(game.after(state, move)) for move in game.moves(state)}
        assert game.nim_value(state) == next(value for value in range(99) if value not in reached)
        assert mover_wins(game, state, known) == (game.nim_value(state) != 0)


def test_misere_nim():
    """Bouton: as in normal play while a heap is above 1; then an odd number of heaps loses."""
    game, known = games.make("nim(heaps=[3, 2, 4, 1], misere=true)"), {}
    for state in all_states(game):
        value = game.nim_value(state)
        assert mover_wins(game, state, known) == (value != 0 if max(state[1:]) > 1 else value == 0)


@pytest.mark.parametrize("take", [2, 3, 5])
def test_matches(take):
    for count in range(1, 20):
        normal, misere = (games.make(f"matches({count}, {take}, {end})") for end in ("false", "true"))
        assert mover_wins(normal, normal.initial(), {}) == (count % (take + 1) != 0)
        assert mover_wins(misere, misere.initial(), {}) == (count % (take + 1) != 1)


def test_nim_values():
    """Grundy's are OEIS A002188; Nim's, of heaps 1, 3, 5, 7, is 0."""
    assert grundy_values(20) == (0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0)
    game = games.make("nim")
    assert game.nim_value(game.initial()) == 0
    assert game.nim_value(game.read_line("4-7")[1]) == 7
    game = games.make("grundy(heaps=[5, 5, 3])")
    assert game.nim_value(game.initial()) == 1


def naive_nim(heaps):
    return {
        f"{i + 1}-{take}": [*heaps[:i], n - take, *heaps[i + 1 :]]
        for i, n in enumerate(heaps)
        for take in range(1, n + 1)
    }


def naive_grundy(heaps):
    return {
        f"{n}={n - part}+{part}": sorted([*heaps[:i], *heaps[i + 1 :], part, n - part], reverse=True)
        for i, n in enumerate(heaps)
        for part in range(1, n)
        if part < n - part
    }


def sizes(state):
    """The heaps of Grundy's game, the largest first."""
    return np.repeat(np.arange(1, len(state)), state[1:])[::-1].tolist()


@pytest.mark.parametrize(
    ("spec", "moves_of", "read"),
    [
        ("nim(heaps=[4, 1, 6, 2, 2])", naive_nim, lambda state: state[1:].tolist()),
        ("grundy(heaps=[13, 9, 8])", naive_grundy, sizes),
    ],
)
def test_play_is_that_of_a_list_of_heaps(spec, moves_of, read):
    game, random = games.make(spec), np.random.default_rng(2)
    for _ in range(30):
        state, heaps, ply = game.initial(), list(game.heaps), 0
        while not game.is_over(state):
            assert read(state) == heaps and game.player(state) == ply % 2
            moves = moves_of(heaps)
            assert set(moves) == {game.move_name(state, move) for move in game.moves(state)}
            name = str(random.choice(list(moves)))
            state, heaps, ply = game.after(state, game.parse_move(state, name)), moves[name], ply + 1
        assert not moves_of(heaps) and game.score(state) == (1 if ply % 2 == 1 else -1)


def test_names_and_drawings():
    game = games.make("nim")
    assert game.render(game.read_line("3-2 4-7")[1]) == "1: | 1\n2: ||| 3\n3: ||| 3\n4:  0"
    with pytest.raises(games.IllegalMove, match="'1-2' is not a legal move"):
        game.parse_move(game.initial(), "1-2")
    game = games.make("matches(count=5)")
    assert game.render(game.read_line("3")[1]) == "1: || 2"
    game = games.make("grundy")
    assert [game.move_name(game.initial(), move) for move in game.moves(game.initial())] == ["7=6+1", "7=5+2", "7=4+3"]
    assert game.render(game.read_line("7=4+3 4=3+1")[1]) == "3 3 1"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nim(heaps=[])", "number of heaps = 0 is out of range: it can be 1 to 64"),
        ("nim(heaps=[3, 0])", r"heaps\[1\] = 0 is out of range: it can be 1 to 1000"),
        ("nim(heaps=3)", "heaps = 3 should be list of int"),
        ("matches(count=0)", "count = 0 is out of range"),
        ("matches(take=0)", "take = 0 is out of range"),
        ("grundy(heaps=[2, 1])", r"heaps = \(2, 1\) leaves no move"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
