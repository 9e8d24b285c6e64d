"""The rule of plain UCT, which a search calls as it calls a game; agents/montecarlo/composed.py lets methods change it.

    bound = mean + K sqrt(ln N / n)

N and n are the visits of the node and of the child.  Unless a method takes part in the selection, bounds have single
precision, several at a time if no child has a bound of its own: agents/core/selection.py.
"""

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.selection import largest_bound, log_of, prefetch, root_of_log
from arena.agents.core.sides import side_to_move
from arena.agents.core.tree_arrays import UNPROVEN, proven_result, set_bound
from arena.agents.montecarlo.chain import Chain
from arena.agents.montecarlo.leaves import OneByOne, SideBySide
from arena.agents.montecarlo.method import NONE
from arena.agents.montecarlo.search import Proving, Unproving, expand
from arena.games.core.jit import Compilable
from arena.games.core.play.playout import reward_of

NO_METHODS = Chain()
FIRST = 100.0  # the bound of unvisited children, above all others
WON, LOST = 1000.0, -1e6  # bounds above all others for proven wins, below them for losses


class Numbers(NamedTuple):
    """Search.options: the numbers of UCB1 and of the methods."""

    exploration: float
    urgency: float  # the bound of unvisited children, if the rule has `urgency`
    chain: tuple = ()  # each method's numbers


@dataclass(frozen=True)
class UCB1(Compilable):
    """The steps of a simulation; its fields are constants in kernels.

    solver: whether certain results are backed up as such
    lanes: playouts of each leaf, a power of two
    urgency: whether unvisited children have a bound of their own, rather than coming first
    chain: the methods
    """

    solver: bool = False
    lanes: int = 1
    urgency: bool = False
    chain: Chain = NO_METHODS

    compiled_parts: ClassVar[tuple[str, ...]] = ("chain",)

    @property
    def prover(self) -> Unproving:
        return Proving() if self.solver else Unproving()

    @property
    def by_vectors(self) -> bool:
        """Whether the selection reads Tree.bounds."""
        return not (self.solver or self.urgency)

    @property
    def learns(self) -> bool:
        """Whether more than visits and rewards is kept of a simulation."""
        return self.solver or bool(self.chain.methods)

    def function(self, name):
        if name == "best_child":
            name = "best_by_vectors" if self.by_vectors else "best_of_each"
        return super().function(name)

    def best_child(self, game, search, walk, node):
        """Selection: the next child, uint64, of a node, the last one of the walk."""
        return self.function("best_child")(self, game, search, walk, node)

    def best_by_vectors(self, game, search, walk, node):
        """The first unvisited child, or the first with the largest bound."""
        tree = search.tree
        first = tree.first_child[node]
        for column in (tree.move, tree.first_child, tree.children, tree.visits):  # what is read next of one child
            prefetch(column, first)
        scale = np.float32(search.options.exploration) * root_of_log(tree.visits[node])
        return largest_bound(tree.bounds, first, tree.children[node], scale)

    def note(self, tree, node):
        """A node has other visits and rewards."""
        if self.by_vectors:
            set_bound(tree, node)

    def best_of_each(self, game, search, walk, node):
        """A method's choice, or the largest bound among children that take part; if these are lost, another child."""
        child = np.int64(self.chain.goes_to(game, search, walk))
        if child != NONE:
            return child
        self.chain.look(game, search, walk)
        tree, scale = search.tree, self.scale(search, node)
        first = tree.first_child[node]
        best, best_bound, spare = first, -1e9, NONE
        for child in range(first, first + tree.children[node]):
            if not self.chain.takes(game, search, walk, child):
                spare = child if tree.proven[child] == UNPROVEN else spare
                continue
            if self.solver and tree.proven[child] != UNPROVEN:
                result = proven_result(tree.proven[child]) * side_to_move(game, walk.state)
                bound = WON if result > 0.0 else (LOST if result < 0.0 else 0.5)
            else:
                bound = np.float64(self.bound(game, search, walk, child, scale))
            if bound > best_bound:
                best, best_bound = child, bound
        return spare if self.solver and best_bound <= LOST and spare != NONE else best

    def scale(self, search, node):
        exploration = search.options.exploration
        return exploration * exploration * log_of(search.tree.visits[node])

    def bound(self, game, search, walk, child, scale):
        tree, visits = search.tree, search.tree.visits[child]
        if visits == 0:
            return np.float32(search.options.urgency if self.urgency else FIRST)
        share = np.float32(1.0) / np.float32(visits)
        return np.float32(tree.value[child]) * share + np.float32(sqrt(np.float32(scale) * share))

    def grow(self, game, search, walk, node, rng):
        """Expansion: give children to a leaf, the walk's last node."""
        expand(game, search.tree, node, walk.state, walk.moves, rng)

    def play_out(self, game, search, walk, rng):
        """Play from walk.state to the end: the first player's result, -1 to 1, or the mean of several playouts."""
        score, walk.length[1] = game.random_playout(walk.state, walk.moves, rng)
        return 2.0 * reward_of(score) - 1.0


@dataclass(frozen=True)
class ManyPlayouts(UCB1):
    """Several playouts of each leaf, made in a way.  Search.memory: a Room."""

    way: OneByOne | SideBySide = field(kw_only=True)

    compiled_parts: ClassVar[tuple[str, ...]] = (*UCB1.compiled_parts, "way")

    def play_out(self, game, search, walk, rng):
        return 2.0 * self.way.rewards(game, walk, search.memory, rng) / self.lanes - 1.0
