"""Long runs in step with OpenSpiel; Lines of Action and checkers with the ends that its rules give them.

At every ply of random games the legal moves are the same; a game ends as here, or as their rules would have it.
"""

import numpy as np
import pytest

from arena import games
from arena.games.core.play.observed import random_line, view

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")


def loa_number(state, move):
    """OpenSpiel's number of a move: row and column of origin and target, and whether it takes a piece."""
    capture = int(state[1 - int(state[2] & 1)]) >> (move & 63) & 1
    return 128 * (move >> 6) + 2 * (move & 63) + capture


def loa_end(game, states):
    """Their result: a board for the second time is a draw, who joins all pieces of both has won; None to go on."""
    boards = [state[:2].tobytes() for state in states]
    if boards[-1] in boards[:-1]:
        return 0
    if not game.is_over(states[-1]):
        return None
    return game.score(states[-1]) or 1 - 2 * (len(states) % 2)


def checkers_number(state, move):
    """OpenSpiel's number of a move: row from the top, column, direction, and whether it jumps."""
    down, right = (move >> 9) - (move >> 3 & 7), (move & 7) - (move >> 6 & 7)
    direction = (0 if right < 0 else 1) if down < 0 else (2 if right > 0 else 3)
    return ((7 - (move >> 9)) * 8 + (move >> 6 & 7)) * 8 + 2 * direction + (abs(down) == 2)


def checkers_end(game, states):
    """Their result: 40 moves without a capture are a draw; None to go on."""
    pieces = [int(state[0] | state[1]).bit_count() for state in states[-41:]]
    if len(pieces) == 41 and pieces[0] == pieces[-1]:
        return 0
    return game.score(states[-1]) if game.is_over(states[-1]) else None


def number(state, move):
    return move


def end(game, states):
    return game.score(states[-1]) if game.is_over(states[-1]) else None


def kalah_number(state, move):
    return move + 1 + 7 * int(state[-1])


PEERS = {
    "loa(horizon=1000)": ("lines_of_action", loa_number, loa_end),
    "checkers": ("checkers", checkers_number, checkers_end),
    "kalah": ("mancala", kalah_number, end),
    "y(size=5)": ("y(board_size=5)", number, end),
}


def play_in_step(spec, seed):
    """A random game, whose moves are made and listed by compiled rules here."""
    game, (name, number_there, end_there) = games.make(spec), PEERS[spec]
    line, theirs = random_line(game, seed), pyspiel.load_game(name).new_initial_state()
    for ply, (state, move) in enumerate(zip(line.states, line.played.tolist())):
        legal = [number_there(state, int(m)) for m in view(game, state, 1).moves]
        assert sorted(legal) == theirs.legal_actions() and theirs.current_player() == game.player(state), theirs
        theirs.apply_action(number_there(state, move))
        expected = end_there(game, line.states[: ply + 2])
        assert theirs.is_terminal() == (expected is not None), theirs
        if expected is not None:
            assert np.sign(expected) == theirs.returns()[0]
            return
    raise AssertionError(f"a game of {spec} that has no end there")


@pytest.mark.parametrize("spec", PEERS)
def test_in_step(spec):
    for seed in range(5):
        play_in_step(spec, seed)


@pytest.mark.slow
@pytest.mark.parametrize("spec", PEERS)
def test_in_step_for_thousands_of_games(spec):
    for seed in range(20_000):
        play_in_step(spec, seed)
