"""Winning strategies for certificates (games/core/checks/certificate.py), found by null windows."""

import numpy as np

from arena.agents.core.agent import Unsuited
from arena.agents.minimax.exact import ALONE, exact_kernel
from arena.agents.minimax.solver import ExactSolver
from arena.games.core.checks.certificate import Certificate, is_in_sight, slot_of
from arena.games.core.jit import kernel
from arena.games.core.play.lookahead import new_lookahead
from arena.games.core.play.playout import copy_state

FIRST_ROOM = 1 << 14  # positions
HORIZON = 3  # plies


@kernel
def strategy_kernel(game, rule, search, states, slots, moves, cursor, ahead):
    """Continue the strategy; returns whether it is whole, rather than the arrays full.

    states, slots: see verify_kernel; moves: int32[positions], to be filled
    cursor: int64[4] = positions done, positions met, moves found, the winner
    """
    room, after = search.moves[-1], states[len(states) - 1]
    while cursor[0] < cursor[1]:
        if cursor[1] + game.max_moves >= len(states):
            return False
        state = states[cursor[0]]
        count = game.legal_moves(state, room)
        if game.player(state) == cursor[3]:
            copy_state(game, state, search.states[0])
            counts = search.counts[0]
            counts.left, counts.weak, counts.move, counts.low, counts.high = game.plies_left(state), 0, -1, 0, 1
            exact_kernel(game, rule, search, 1 << 62)
            room[0], count = counts.move, 1
            moves[cursor[2]] = counts.move
            cursor[2] += 1
        for i in range(count):
            game.play_into(state, np.int64(room[i]), after)
            if not game.is_over(after):
                slot = slot_of(game, states, slots, after)
                if slots[slot] == 0 and not is_in_sight(game, ahead, after, cursor[3]):
                    copy_state(game, after, states[cursor[1]])
                    cursor[1] += 1
                    slots[slot] = cursor[1]
        cursor[0] += 1
    return True


@kernel
def fill_kernel(game, states, slots, count):
    """Put the first `count` states into an empty hash table."""
    for i in range(count):
        slots[slot_of(game, states, slots, states[i])] = i + 1


def hash_table(game, states, count) -> np.ndarray:
    """Slots with the first `count` states, and room for all."""
    slots = np.zeros(1 << (len(states) + len(states) // 4).bit_length(), np.int32)
    fill_kernel(game, states, slots, count)
    return slots


def check_certifies(solver) -> None:
    """Unsuited if the solver makes no certificates."""
    if not isinstance(solver, ExactSolver):
        raise Unsuited("certificates are made by alphabeta, without deepening or a policy in order: --agent alphabeta")


def certificate(solver, line: str, horizon: int = HORIZON) -> Certificate:
    """The certificate of the winner after a line of moves.  Unsuited if it is a draw, or the solver makes none.

    Wins within `horizon` plies are left out: each two plies more make the strategy smaller, but slower to follow.
    """
    check_certifies(solver)
    game = solver.game
    _, root = game.read_line(line)
    value = solver.value(root)
    if value == 0:
        raise Unsuited("the position is a draw: there is no winner to certify")
    winner = int(game.player(root)) if value > 0 else 1 - int(game.player(root))
    states, moves = np.zeros((FIRST_ROOM, game.state_size), game.dtype), np.zeros(FIRST_ROOM, np.int32)
    states[0], cursor = root, np.array([0, 1, 0, winner], np.int64)
    search, slots, ahead = solver.alone(), hash_table(game, states, cursor[1]), new_lookahead(game, horizon)
    while not strategy_kernel(game, ALONE, search, states, slots, moves, cursor, ahead):
        del slots  # before the next table: large strategies fill the memory, so arrays grow in place
        room = len(states) + len(states) // 4
        states.resize((room, game.state_size), refcheck=False)
        moves.resize(room, refcheck=False)
        slots = hash_table(game, states, cursor[1])
    return Certificate(str(game), line, winner, int(cursor[1]), moves[: cursor[2]].copy(), horizon)
