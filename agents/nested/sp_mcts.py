"""SP-MCTS, single-player Monte-Carlo tree search (M. Schadd, M. Winands, H. van den Herik, G. Chaslot & J. Uiterwijk,
"Single-player Monte-Carlo tree search", CG 2008; Knowledge-Based Systems 34, 2012).

    bound = m + exploration sqrt(ln N / n) + sqrt(v + deviation / n)

n and N are the visits of the child and of its node, m and v the mean and the variance of the child's scores, scaled so
that the scores of this search go from 0 to 1: the paper's are those of SameGame.  The last term is large where scores
differ much, or are few.  The best sequence found is played.  After `size` playouts the search begins again with an
empty tree, the paper's randomized restarts.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.core.tree_arrays import ROOT, Tree, capacity, clear, new_tree
from arena.agents.montecarlo.search import Search, expand, search_kernel
from arena.agents.montecarlo.ucb1 import FIRST, UCB1
from arena.agents.nested.incumbent import DONE, LIMIT, LOGGED, Incumbent, note_best
from arena.agents.nested.nested_agent import Sequences
from arena.agents.nested.nmcs import PLAYOUTS
from arena.games.core.jit import Compilable


class Numbers(NamedTuple):
    """Search.options."""

    exploration: float
    deviation: float


class Scores(NamedTuple):
    """Search.memory."""

    squares: np.ndarray  # float64[nodes], sums of the squares of the scores
    span: np.ndarray  # float64[2], the least and the largest score of the search
    line: np.ndarray  # int32[1, max_plies], the moves of the current simulation
    incumbent: Incumbent


class Trees(NamedTuple):
    """One worker's search."""

    tree: Tree
    squares: np.ndarray
    span: np.ndarray
    line: np.ndarray


@dataclass(frozen=True)
class OnePlayer(UCB1):
    """The steps of a simulation."""

    moves: Compilable = PLAYOUTS["random"]

    compiled_parts: ClassVar[tuple[str, ...]] = ("chain", "moves")
    by_vectors = False

    def grow(self, game, search, walk, node, rng):
        expand(game, search.tree, node, walk.state, walk.moves, rng)
        first = search.tree.first_child[node]
        search.memory.squares[first : first + search.tree.children[node]] = 0.0

    def bound(self, game, search, walk, child, scale):
        tree, memory, visits = search.tree, search.memory, search.tree.visits[child]
        if visits == 0:
            return FIRST
        least, width = memory.span[0], memory.span[1] - memory.span[0]
        width = width if width > 0.0 else 1.0
        mean = tree.value[child] / visits
        variance = max(0.0, memory.squares[child] / visits - mean * mean) / (width * width)
        return (mean - least) / width + sqrt(scale / visits) + sqrt(variance + search.options.deviation / visits)

    def play_out(self, game, search, walk, rng):
        """The score, as a result whose reward it is."""
        memory, state, ply = search.memory, walk.state, walk.length[0] - 1
        for i in range(ply):
            memory.line[0, i] = search.tree.move[walk.path[i + 1]]
        while not game.is_over(state):
            memory.line[0, ply] = self.moves.step(game, state, walk.moves, rng)
            ply += 1
        score = game.score(state)
        memory.span[0], memory.span[1] = min(memory.span[0], score), max(memory.span[1], score)
        for i in range(walk.length[0]):
            memory.squares[walk.path[i]] += score * score
        memory.incumbent.playouts[DONE] += 1
        note_best(memory.incumbent, memory.line, 0, ply, score)
        return 2.0 * score - 1.0


@dataclass(frozen=True)
class SPMCTS(Sequences):
    """Single-player Monte-Carlo tree search.

    size: playouts of a search, after which it begins again with an empty tree
    exploration: the constant of the bound, for scores from 0 to 1
    deviation: what is added to the sum of squared deviations of a child's scores
    playout: how playouts draw moves, "random" or "tabu"
    max_nodes: a tree of this size is expanded no further
    """

    size: int = 10_000
    exploration: float = 0.03
    deviation: float = 0.01
    playout: str = "random"
    max_nodes: int = 1 << 22

    name: ClassVar[str] = "sp_mcts"
    room: ClassVar[str] = "size, max_nodes or workers"
    needs: ClassVar[Needs] = Needs(players=(1,), chance=False)
    ranges: ClassVar[dict] = {
        "size": (1, 10**9),
        "exploration": (0,),
        "deviation": (0,),
        "max_nodes": (1000, 2**31 - 1),
    }
    choices: ClassVar[dict] = {"playout": PLAYOUTS}

    def own_needs(self):
        return replace(self.needs, tabu_playouts=self.playout == "tabu")

    def nodes(self, game) -> int:
        return capacity(game, self.max_nodes, self.size)

    def bytes_needed(self, game):
        return 41 * self.nodes(game) + 4 * game.max_plies

    def new_search(self, game):
        nodes = self.nodes(game)
        return Trees(new_tree(nodes), np.zeros(nodes), np.zeros(2), np.zeros((1, game.max_plies), np.int32))

    def begin(self, search, game, state):
        clear(search.tree)
        search.squares[ROOT] = 0.0
        search.span[:] = np.inf, -np.inf

    def run(self, search, game, state, incumbent, rng):
        tree, rule = search.tree, OnePlayer(moves=PLAYOUTS[self.playout])
        data = Search(tree, Scores(*search[1:], incumbent), Numbers(self.exploration, self.deviation))
        while incumbent.searches[DONE] < incumbent.searches[LIMIT]:
            left = incumbent.playouts[LIMIT] - incumbent.playouts[DONE]
            count = min(left, LOGGED - incumbent.logged[0], self.size - tree.visits[ROOT])
            if count == 0:
                break
            search_kernel(game, rule, data, state, int(count), rng)
            if tree.visits[ROOT] >= self.size:
                incumbent.searches[DONE] += 1
                self.begin(search, game, state)
        return search
