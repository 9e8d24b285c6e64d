"""PNS: best-first proof-number search (Allis, van der Meulen & van den Herik, "Proof-number search", 1994).

The whole tree is kept in memory, and grows at the leaf that contributes most to a proof or disproof of the root.  By
default it is a graph, in which a position reached by several lines is searched once.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.proof.bestfirst import (
    LEAF,
    ROOT,
    ProofTree,
    TreeSearch,
    best_first,
    new_proof_tree,
    new_tree_line,
    tree_bytes,
)
from arena.agents.proof.numbers import NODES
from arena.agents.proof.proof_agent import ProofAgent, Search
from arena.games.core.jit import kernel


@dataclass(frozen=True)
class PNS(ProofAgent):
    """Best-first proof-number search.

    max_nodes: of the tree; a search that needs more ends without a result
    graph: search a position reached by several lines once (48 to 64 bytes a node); false: a tree (28 bytes a node)
    symmetries: in a graph, let symmetric positions be one
    """

    max_nodes: int = 1 << 26
    graph: bool = True
    symmetries: bool = False

    name: ClassVar[str] = "pns"
    ranges: ClassVar[dict] = {"max_nodes": (1000, 2**31 - 1)}

    def __post_init__(self):
        super().__post_init__()
        if self.symmetries and not self.graph:
            raise ValueError("symmetries = true goes with graph = true: a tree looks up no positions")

    def task(self, goal, endgames):
        return super().task(goal, endgames)._replace(symmetries=self.symmetries)

    def new_tree(self) -> ProofTree:
        return new_proof_tree(self.max_nodes, self.graph)

    def new_search(self, game, memory, state, task, counts):
        return TreeProof(self, game, state, task, counts)


class TreeProof(Search):
    """A tree and the search in it."""

    def __init__(self, agent, game, state, task, counts):
        self.agent, self.game, self.counts = agent, game, counts
        self.tree, line = agent.new_tree(), new_tree_line(game)
        self.search = TreeSearch(self.tree, line, task, counts)
        line.states[0] = state

    def run(self, nodes):
        before = int(self.counts[NODES])
        pns_kernel(self.game, self.search, self.tree.size[0] + nodes)
        return int(self.counts[NODES]) - before

    def numbers(self):
        return int(self.tree.proof[ROOT]), int(self.tree.disproof[ROOT])

    def moves(self):
        tree = self.tree
        first = 0 if tree.children[ROOT] == LEAF else tree.first_child[ROOT]
        children = slice(first, first + tree.children[ROOT])
        return tree.move[children], tree.proof[children], tree.disproof[children]

    def bytes(self):
        return tree_bytes(self.tree)

    def full(self):
        if self.tree.size[0] + self.game.max_moves <= len(self.tree.proof):
            return ""
        return f"the tree has {self.tree.size[0]} nodes, of max_nodes = {self.agent.max_nodes}, and is not settled"


@kernel
def pns_kernel(game, search, until):
    """Grow the tree until its root is settled, it has about `until` nodes, or there is no room."""
    best_first(game, search, 0, until)
