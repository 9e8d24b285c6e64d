"""Backgammon in step with OpenSpiel's, where a double is two moves of up to two steps each.

Their moves are compared by what they lead to, since several of theirs may lead to one position.
"""

import numpy as np
import pytest

from arena import games
from arena.games.backgammon import DICE, DOUBLES
from arena.games.core.game import CHANCE
from arena.games.core.jit import kernel
from arena.games.core.play.playout import copy_state

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

GAME = games.make("backgammon")
THERE = pyspiel.load_game("backgammon(scoring_type=full_scoring)")
ROOM = np.zeros((GAME.max_moves, GAME.state_size), GAME.dtype)
MOVES = np.zeros(GAME.max_moves, np.int32)
BAR = 100  # the bar's number there


@kernel
def children_kernel(game, state, moves, children):
    """Write the legal moves and the positions after them; returns how many."""
    count = game.legal_moves(state, moves)
    for i in range(count):
        copy_state(game, state, children[i])
        game.play(children[i], np.int64(moves[i]))
    return count


def words_of(theirs):
    """Their position as the four words of ours."""
    words = []
    for player in (0, 1):
        points = [theirs.board(player, 24 - p if player == 0 else p - 1) for p in range(1, 25)]
        counts = [0, *points, theirs.board(player, BAR)]
        counts[0] = 15 - sum(counts)
        words += [
            sum((c >> b & 1) << p + 32 * (b & 1) for p, c in enumerate(counts) for b in (i, i + 1)) for i in (0, 2)
        ]
    return tuple(words)


def ends(theirs, player):
    """The states after all plays of a roll."""
    found = []
    for action in theirs.legal_actions():
        after = theirs.child(action)
        found += ends(after, player) if not after.is_terminal() and after.current_player() == player else [after]
    return found


def roll_there(theirs, dice):
    """Their number of a roll, with X to begin."""
    text = "".join(map(str, sorted(dice)))
    found = [a for a in theirs.legal_actions() if f"roll: {text})" in theirs.action_to_string(a)]
    return found[0]


def play_in_step(random, doubles=1.0):
    """A random game; after a double all plays are compared with that chance, and else one."""
    state, theirs = GAME.initial(), THERE.new_initial_state()
    while not GAME.is_over(state):
        assert not theirs.is_terminal()
        state = state.copy()
        if GAME.player(state) == CHANCE:
            assert theirs.is_chance_node()
            roll = int(random.integers(GAME.outcomes(state)))
            GAME.play(state, roll)
            theirs.apply_action(roll_there(theirs, DICE[roll].tolist()))
            continue
        player = int(GAME.player(state))
        assert theirs.current_player() == player
        count = children_kernel(GAME, state, MOVES, ROOM)
        ours = {tuple(words[:4]): move for words, move in zip(ROOM[:count].tolist(), MOVES.tolist())}
        assert len(ours) == count
        if GAME.roll(state) < DOUBLES or random.random() < doubles:
            after = ends(theirs, player)
            assert {words_of(end) for end in after} == set(ours), theirs
            theirs = after[random.integers(len(after))]
        else:
            while not theirs.is_terminal() and theirs.current_player() == player:
                theirs.apply_action(int(random.choice(theirs.legal_actions())))
        GAME.play(state, ours[words_of(theirs)])
    assert theirs.is_terminal() and theirs.returns()[0] == GAME.score(state)
    return int(GAME.score(state))


def test_in_step():
    random = np.random.default_rng(3)
    assert all(abs(play_in_step(random, doubles=0.3)) in (1, 2, 3) for _ in range(3))


@pytest.mark.slow
def test_in_step_for_thousands_of_games():
    random = np.random.default_rng(4)
    scores = [play_in_step(random, doubles=0.1) for _ in range(1_000)]
    assert {abs(score) for score in scores} == {1, 2, 3}
