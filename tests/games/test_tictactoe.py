"""Tic-tac-toe's known figures: every game and position, with and without symmetry."""

from collections import Counter

import numpy as np
import pytest

from arena import games

GAME = games.make("tictactoe")


def canonical_key(state):
    image = np.zeros_like(state)
    keys = []
    for symmetry in range(GAME.symmetries):
        GAME.transform(state, symmetry, image)
        keys.append(int(GAME.key(image)))
    return min(keys)


@pytest.fixture(scope="module")
def positions():
    """Every position by its key, in the order in which play first reaches them."""
    found, waiting = {}, [GAME.initial()]
    while waiting:
        state = waiting.pop()
        if int(GAME.key(state)) not in found:
            found[int(GAME.key(state))] = state
            waiting += [GAME.after(state, move) for move in GAME.moves(state)]
    return found


def test_positions(positions):
    assert len(positions) == 5478
    assert len({canonical_key(state) for state in positions.values()}) == 765


def test_games_by_result_and_length(positions):
    """Games that end in each position, counted from the leaves' numbers of ways to get there."""
    ways = Counter({int(GAME.key(GAME.initial())): 1})
    results, lengths = Counter(), Counter()
    for state in sorted(positions.values(), key=lambda state: sum(int(word).bit_count() for word in state)):
        count = ways[int(GAME.key(state))]
        if GAME.is_over(state):
            results[float(GAME.score(state))] += count
            lengths[sum(int(word).bit_count() for word in state)] += count
        for move in GAME.moves(state):
            ways[int(GAME.key(GAME.after(state, move)))] += count
    assert results == {1.0: 131_184, -1.0: 77_904, 0.0: 46_080}
    assert lengths == {5: 1440, 6: 5328, 7: 47_952, 8: 72_576, 9: 127_872}


@pytest.mark.slow
def test_games_merging_symmetric_children_at_every_ply():
    def count(state):
        if GAME.is_over(state):
            return 1
        return sum(count(child) for child in {canonical_key(c): c for c in children(state)}.values())

    def children(state):
        return [GAME.after(state, move) for move in GAME.moves(state)]

    assert count(GAME.initial()) == 26_830


def test_evaluation_counts_open_lines():
    centre = GAME.read_line("2b")[1]
    assert GAME.evaluate(centre) * 9 == pytest.approx(8 - 4)  # all lines are open for X; O has lost the four through it
    assert GAME.evaluate(GAME.initial()) == 0


@pytest.mark.plain
def test_random_play_has_the_exact_probabilities(kernels):
    playouts = 10_000 if kernels == "plain" else 1_000_000
    summary = games.playouts(GAME, playouts, seed=20)
    for count, probability in ((summary.wins, 0.584921), (summary.losses, 0.288095), (summary.draws, 0.126984)):
        error = (probability * (1 - probability) / playouts) ** 0.5
        assert abs(count / playouts - probability) < 4 * error


def test_render():
    assert GAME.render(GAME.read_line("2b 3c 1a")[1]) == "3 . . O\n2 . X .\n1 X . .\n  a b c"
