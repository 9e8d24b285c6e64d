"""A non-deterministic problem: an agent acts, and the world answers with one of several outcomes (Russell & Norvig,
"Artificial Intelligence: a modern approach", section 4.3).  States and actions are hashable values of any kind.
"""

from collections.abc import Hashable, Iterable

import numpy as np


class Problem:
    """The interface of a problem for AND-OR search, in plain Python."""

    def initial(self) -> Hashable:
        """The state to begin in."""
        raise NotImplementedError

    def is_goal(self, state) -> bool:
        """Whether nothing is left to do."""
        raise NotImplementedError

    def actions(self, state) -> Iterable:
        """The agent's actions, in the order to try them; none in a dead end."""
        raise NotImplementedError

    def outcomes(self, state, action) -> Iterable[Hashable]:
        """The states that may follow, one at least; the agent sees which one does."""
        raise NotImplementedError


class FirstPlayer(Problem):
    """The problem of winning a game for two as the first player: the other may answer with any move.

    A state is a position in which the first player is to move, or the game is over, as bytes.  ValueError if `state`,
    where the problem begins if it is not the initial position, is neither.
    """

    def __init__(self, game, state=None):
        self.game, self.start = game, game.initial() if state is None else state
        if game.players != 2 or (not game.is_over(self.start) and game.player(self.start) != 0):
            raise ValueError(
                f"{game} is not for two players, or does not begin here with a move of the first:\n"
                f"{game.render(self.start)}"
            )

    def initial(self):
        return self.start.tobytes()

    def is_goal(self, state):
        return self.game.is_over(self.array(state)) and self.game.score(self.array(state)) > 0

    def actions(self, state):
        return self.game.moves(self.array(state))

    def outcomes(self, state, action):
        return list(dict.fromkeys(self.answers(self.game.after(self.array(state), action))))

    def answers(self, state) -> list[bytes]:
        """The positions at which the first player is to move again, or the game is over."""
        if self.game.is_over(state) or self.game.player(state) == 0:
            return [state.tobytes()]
        return [end for move in self.game.moves(state) for end in self.answers(self.game.after(state, move))]

    def array(self, state):
        return np.frombuffer(state, self.game.dtype).copy()
