"""UCT: Monte-Carlo tree search with the UCB1 rule (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006).

The child with the largest  value + K sqrt(ln N / n)  is selected, unvisited children first; N and n are the visits of
the node and of the child, value the child's mean reward for the player who moves at the node.  With
`first_play_urgency` u an unvisited child has the bound u instead (Gelly & Wang, "Exploration exploitation in Go",
2006), so that a good child may be visited again before all have been.  For games for two players.

With `lanes` a leaf is played out so many times at once, and all results are backed up: leaf parallelisation (Cazenave &
Jouandeau, "A parallel Monte-Carlo tree search algorithm", 2008, "at the leaves"), on one core.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.selection import largest_bound, log_of, prefetch
from agents.core.tree import UNPROVEN, last_node, proven_result
from agents.montecarlo.search import Rule, TreeSearch
from games.core.game import check_choice
from games.core.jit import helper
from games.core.lane_playout import play_side_by_side
from games.core.lanes import LaneStream, Width, lane_stream
from games.core.playout import copy_state, reward_of

LANES = (1, 2, 4, 8, 16, 32, 64)


class UCBOptions(NamedTuple):
    """The numbers of UCB1."""

    exploration: float
    urgency: float  # the bound of unvisited children, where the rule has `urgency`


@dataclass(frozen=True)
class UCB1(Rule):
    """urgency: whether unvisited children have a bound of their own, rather than coming first."""

    urgency: bool = False

    def best_child(self, game, search, walk):
        """The first unvisited child, or the one with the largest bound.

        Single precision, and the bound as q/n + sqrt((K^2 ln N)/n), make a search of Connect 4 a fifth faster.
        """
        tree, options, node = search.tree, search.options, last_node(walk)
        first, count = tree.first_child[node], tree.children[node]
        scale = np.float32(options.exploration * options.exploration * log_of(tree.visits[node]))
        if self.solver or self.urgency:
            return self.best_of_each(game, search, walk, scale)
        for column in (tree.move, tree.first_child, tree.children):  # what is read next, of one of the children
            prefetch(column, first)
        return largest_bound(tree.visits, tree.value, first, count, scale)

    def best_of_each(self, game, search, walk, scale):
        """The same, where proven or unvisited children have bounds of their own."""
        tree, node = search.tree, last_node(walk)
        first = tree.first_child[node]
        best, best_bound = first, np.float32(-2.0)
        for child in range(first, first + tree.children[node]):
            visits = tree.visits[child]
            if self.solver and tree.proven[child] != UNPROVEN:
                bound = np.float32(certain_bound(tree, child, game.player(walk.state)))
            elif visits > 0:
                share = np.float32(1.0) / np.float32(visits)
                bound = np.float32(tree.value[child]) * share + sqrt(scale * share)
            elif self.urgency:
                bound = np.float32(search.options.urgency)
            else:
                return child
            if bound > best_bound:
                best, best_bound = child, bound
        return best


@dataclass(frozen=True)
class ManyPlayouts(UCB1):
    """Several playouts of each leaf, one by one.  Search.memory: (dtype[state_size],)."""

    lanes: int = 1

    @property
    def playouts(self):
        return self.lanes

    def play_out(self, game, search, walk, rng):
        state, reward = search.memory[0], 0.0
        for _ in range(self.lanes):
            copy_state(game, walk.state, state)
            score, _ = game.random_playout(state, walk.moves, rng)
            reward += reward_of(score)
        return 2.0 * reward / self.lanes - 1.0

    def reward(self, score):
        """Exact, since the number of playouts is a power of two."""
        return self.lanes * (score + 1.0) / 2.0


@dataclass(frozen=True)
class SideBySide(ManyPlayouts):
    """Several playouts of each leaf at once.  Search.memory: the LaneStream that they draw from."""

    def play_out(self, game, search, walk, rng):
        if game.is_over(walk.state):
            return 2.0 * reward_of(game.score(walk.state)) - 1.0
        reward, _ = play_side_by_side(game, walk.state, search.memory)
        return 2.0 * reward / self.lanes - 1.0


@helper
def certain_bound(tree, child, player):
    """The bound of a proven child: above all others if it is won for `player`, who moves to it, below all if lost."""
    result = proven_result(tree.proven[child]) * (1.0 if player == 0 else -1.0)
    return 1000.0 if result > 0.0 else (-1.0 if result < 0.0 else 0.5)


def check_exploration(exploration: float) -> None:
    """ValueError unless the constant K is 0 or more."""
    if not exploration >= 0:
        raise ValueError(f"exploration = {exploration} is out of range: it can be 0 or more")


@dataclass(frozen=True)
class UCT(TreeSearch):
    """Monte-Carlo tree search with UCB1.

    exploration: the constant K of the bound, for rewards from 0 to 1
    first_play_urgency: the bound of unvisited children; none: they come first
    lanes: playouts of each leaf, side by side where the game has lanes
    """

    exploration: float = 0.4
    first_play_urgency: float | None = None
    lanes: int = 1

    name: ClassVar[str] = "uct"

    def __post_init__(self):
        super().__post_init__()
        check_exploration(self.exploration)
        check_choice("lanes", self.lanes, LANES)

    def search_rule(self, game):
        urgency = self.first_play_urgency is not None
        if self.lanes == 1:
            return UCB1(self.solver, urgency)
        return (SideBySide if game.lanes else ManyPlayouts)(self.solver, urgency, self.lanes)

    def new_memory(self, game):
        if self.lanes == 1:
            return ()
        if not game.lanes:
            return (np.zeros(game.state_size, game.dtype),)
        width = Width(self.lanes, game.lane_bits)
        return LaneStream(width, np.zeros(2 * width.words, np.uint64))

    def seed(self, memory, rng):
        if isinstance(memory, LaneStream):
            memory.state[:] = lane_stream(memory.width, rng).state

    def options(self):
        return UCBOptions(self.exploration, self.first_play_urgency or 0.0)
