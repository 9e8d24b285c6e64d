"""What the simulations of a search teach a policy whose weights are logits: nothing, means of rewards, or adaptation.

A way of learning is told of each simulation: of the moves in the tree, then of each move of the playout before it is
made, and of the result.  MAST counts the mean reward of each move code (mast.py beside this file has the formula).
PPA also draws the moves of playouts, by the softmax of the weights, and makes those of the winner likelier at the cost
of the other legal moves (ppa.py beside it); after a draw it learns nothing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.core.policy import Coding, Learner, Settings, adapt, draw_move, forget, new_learner, write_move
from agents.montecarlo.averages import LINE, add_move, begin_line, learn_line, new_averages
from agents.montecarlo.method import NONE
from games.core.jit import Compilable, inlined
from games.core.playout import copy_state

MOST_CODES = 1 << 22  # of a policy whose codes are their own numbers; each takes 24 bytes


@dataclass(frozen=True)
class Way(Compilable):
    """Base of the ways to learn: nothing."""

    draws: ClassVar[bool] = False  # whether it draws the moves of playouts
    private: ClassVar[tuple[str, ...]] = ()  # as of a method
    policy: ClassVar[tuple[str, ...]] = ()  # as of a method

    def misfit(self, game) -> str | None:
        """Why it cannot learn in a game; None if it can."""
        return None

    def new_memory(self, game, settings: Settings) -> Any:
        """A NamedTuple of the arrays that it keeps in one game."""
        return ()

    def forget(self, memory: Any) -> None:
        """Before the search of each move."""

    # -- In kernels

    def begin(self, game, memory, tree, walk):
        """A walk has come to its leaf."""

    def draw(self, game, memory, state, rng):
        """The next move of a playout, or NONE."""
        return NONE

    def add(self, game, memory, state, move):
        """A playout is about to make a move, whoever has chosen it."""

    def learn(self, memory, result):
        """The simulation has ended with the first player's result, -1 to 1."""


@dataclass(frozen=True)
class Averaging(Way):
    """MAST.  Its memory: Averages, which are kept from move to move."""

    private: ClassVar[tuple[str, ...]] = LINE

    def new_memory(self, game, settings):
        return new_averages(game, 1 << 17)

    def begin(self, game, memory, tree, walk):
        begin_line(game, memory, tree, walk)

    def add(self, game, memory, state, move):
        add_move(game, memory, state, move)

    def learn(self, memory, result):
        learn_line(memory, result, 1)


class Adapted(NamedTuple):
    """A policy with one line, that of the simulation at hand."""

    learner: Learner
    drawn: np.ndarray  # bool[1], whether the policy has drawn the next move, which then stands in the line


@dataclass(frozen=True)
class Adapting(Way):
    """PPA.  Its memory: Adapted; each search begins with a new policy."""

    draws: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = ("drawn", "learner.lines", "learner.state", "learner.moves")
    policy: ClassVar[tuple[str, ...]] = ("learner.policy",)
    coding: ClassVar[Coding] = Coding()

    def misfit(self, game):
        if game.code_limit > MOST_CODES:
            return f"a policy has room for {MOST_CODES} move codes, and the code_limit of the game is {game.code_limit}"
        return None

    def new_memory(self, game, settings):
        return Adapted(new_learner(game, self.coding, settings, policies=1, lines=1), np.zeros(1, np.bool_))

    def forget(self, memory):
        forget(memory.learner)

    def begin(self, game, memory, tree, walk):
        follow_path(game, self.coding, memory.learner, 0, tree, walk)

    def draw(self, game, memory, state, rng):
        lines = memory.learner.lines
        ply = lines.length[0]
        lines.players[0, ply] = game.player(state)
        move = draw_move(game, self.coding, memory.learner, 0, 0, ply, state, rng)
        lines.moves[0, ply], memory.drawn[0] = move, True
        return move

    def add(self, game, memory, state, move):
        lines = memory.learner.lines
        if not memory.drawn[0]:
            write_move(game, self.coding, memory.learner, 0, lines.length[0], state, move)
        memory.drawn[0] = False
        lines.length[0] += 1

    def learn(self, memory, result):
        if result != 0.0:
            adapt(self.coding, memory.learner, 0, 0, 0 if result > 0.0 else 1)


WAYS: dict[str, Way] = {"mast": Averaging(), "ppa": Adapting()}
UNTAUGHT = Way()


@inlined
def follow_path(game, coding, learner, line, tree, walk):
    """Make a line that of the moves in the tree, beside the numbers of those that were legal."""
    plies = walk.length[0] - 1
    copy_state(game, walk.root, learner.state)
    for ply in range(plies):
        move = tree.move[walk.path[ply + 1]]
        write_move(game, coding, learner, line, ply, learner.state, move)
        game.play(learner.state, move)
    learner.lines.length[line] = plies


@inlined
def weight_of(adapted, code):
    """The weight of a move code."""
    return adapted.learner.policy.weights[0, code]
