"""Games and positions for tests of searches."""

import pytest

from arena.games.core.random import random_below, stream

# What every search is tried on: its kernels take some seconds to compile for each.  test_matrix.py has all games.
GAMES = [
    "tictactoe",
    "breakthrough(rows=5, columns=4)",
    pytest.param("connect4(rows=4, columns=5)", marks=pytest.mark.slow),
]


def random_position(game, seed, plies):
    """The position after that many random moves, or fewer where the game would be over."""
    rng, state = stream(seed), game.initial()
    for _ in range(plies):
        moves = game.moves(state)
        after = game.after(state, moves[int(random_below(rng, len(moves)))])
        if game.is_over(after):
            break
        state = after
    return state


def random_line(game, seed):
    """The positions of a random game but the last, which is over."""
    rng, state, states = stream(seed), game.initial(), []
    while not game.is_over(state):
        states.append(state)
        moves = game.moves(state)
        state = game.after(state, moves[int(random_below(rng, len(moves)))])
    return states


def small_positions(searcher, count, nodes=1000):
    """From random games, the first position that `searcher`, a player of minimax, searches to the end in `nodes`."""
    seed = 0
    while count > 0:
        for state in random_line(searcher.game, seed)[-9:]:
            search = searcher.begin(state, stream(seed))
            search.run(nodes)
            if search.finished:
                yield state
                count -= 1
                break
        seed += 1


def after_names(game, state, moves):
    """The position after moves given by number, each checked by name."""
    for move in moves:
        state = game.after(state, game.parse_move(state, game.move_name(state, move)))
    return state
