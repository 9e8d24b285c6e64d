"""PN2: proof-number search that evaluates each leaf by a second proof-number search (Allis, "Searching for solutions in
games and artificial intelligence", 1994; Breuker, Uiterwijk & van den Herik, "The PN2-search algorithm", 2001).

Only the children of the second search's root are kept, as the leaf's: this saves memory and costs time.  With N1 nodes
in the first tree, the second may have

    N2 = N1 / (1 + exp((a - N1) / b))

so that it is small while the first tree is small, and never outgrows it.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from arena.agents.proof.bestfirst import (
    LEAF,
    ROOT,
    best_first,
    give_children,
    has_room,
    is_open,
    make_move,
    most_proving,
    restart_tree,
    tree_bytes,
    update,
    write_row,
)
from arena.agents.proof.numbers import NODES
from arena.agents.proof.pns import PNS, TreeProof
from arena.agents.proof.transpositions import is_graph, joined
from arena.games.core.jit import helper, kernel
from arena.games.core.numbers.elementary import exp


class Growth(NamedTuple):
    """The size of the second tree, by the first's."""

    a: float
    b: float


@dataclass(frozen=True)
class PN2(PNS):
    """Proof-number search with a second search at each leaf.

    max_nodes: of each of the two trees
    a, b: the first tree's size at which the second may have half of it, and how fast that share grows
    """

    a: float = 20_000.0
    b: float = 10_000.0

    name: ClassVar[str] = "pn2"

    def __post_init__(self):
        super().__post_init__()
        if self.b <= 0:
            raise ValueError(f"b = {self.b} is out of range: it can be more than 0")

    def new_search(self, game, memory, state, task, counts):
        return SecondLevelProof(self, game, state, task, counts)


class SecondLevelProof(TreeProof):
    """The two trees and the search in them."""

    def __init__(self, agent, game, state, task, counts):
        super().__init__(agent, game, state, task, counts)
        self.second = self.search._replace(tree=agent.new_tree())
        self.growth, self.largest = Growth(agent.a, agent.b), 1

    def run(self, nodes):
        before = int(self.counts[NODES])
        self.largest = max(self.largest, pn2_kernel(self.game, self.search, self.second, self.growth, before + nodes))
        return int(self.counts[NODES]) - before

    def bytes(self):
        return super().bytes() + tree_bytes(self.second.tree, self.largest)


@kernel
def pn2_kernel(game, search, below, growth, until):
    """Grow the tree until its root is settled, about `until` positions have been visited in all, or there is no room.

    below: the search of the second level, on the same line
    The next call continues an unfinished second search, since the way down to its leaf is the same.  Returns the
    largest size of the second tree.
    """
    tree, counts, second = search.tree, search.counts, below.tree
    largest = 1
    node, ply = most_proving(game, search, ROOT, 0)
    while is_open(tree, ROOT) and counts[NODES] < until and tree.size[0] + game.max_moves <= len(tree.proof):
        limit = second_limit(tree, growth)
        best_first(game, below, ply, min(limit, second.size[0] + until - counts[NODES]))
        largest = max(largest, second.size[0])
        if second.children[ROOT] == LEAF:
            break
        if not is_open(second, ROOT) or second.size[0] >= limit or not has_room(game, below):
            adopt(game, search, node, ply, second, second.first_child[ROOT], second.children[ROOT])
            restart_tree(second)
            node, ply = update(search, node, ply)
            node, ply = most_proving(game, search, node, ply)
    return largest


@helper
def second_limit(tree, growth):
    """The second tree's limit of nodes: at most the first's size, but always room for the leaf's children."""
    size = tree.size[0]
    return max(2, int(size / (1.0 + exp(min((growth.a - size) / growth.b, 700.0)))))


@helper
def adopt(game, search, node, ply, second, begin, count):
    """Give the leaf at `ply` as children `count` moves of `second`, from `begin` on, with their numbers.

    second: a tree, or other columns `move`, `proof` and `disproof`
    In a graph, a child whose position is already there takes its numbers, unless the second search has settled it.
    """
    tree, line, first = search.tree, search.line, search.tree.size[0]
    for i in range(count):
        child, row = begin + i, first + i
        write_row(tree, row, node, second.move[child])
        tree.proof[row], tree.disproof[row] = second.proof[child], second.disproof[child]
        if is_graph(tree.positions) and is_open(second, child):
            make_move(game, search, ply, second.move[child])
            known = joined(game, search.task, tree.positions, row, line.states[ply + 1], ply + 1)
            tree.proof[row], tree.disproof[row] = tree.proof[known], tree.disproof[known]
    give_children(tree, node, count, game.player(line.states[ply]) == 0)
