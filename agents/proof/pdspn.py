"""PDS-PN: PDS that evaluates each leaf by a best-first search (Winands, Uiterwijk & van den Herik, "PDS-PN: a new
proof-number search algorithm", 2002).

The first level is PDS (agents/proof/pds.py).  PNS searches a node that the table does not hold, to a number of nodes;
the table gets the numbers of its moves, and by default all others above the leaves of the tree, which is discarded.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.core.transposition_table import probe, store
from arena.agents.proof.bestfirst import LEAF, ROOT, TreeSearch, best_first, is_open, restart_tree
from arena.agents.proof.dfpn_family import worth
from arena.agents.proof.numbers import NODES, combine
from arena.agents.proof.pds import PDS, PDSRule
from arena.games.core.jit import helper


@dataclass(frozen=True)
class PDSPN(PDS):
    """PDS with a second search at each leaf.

    second: the most nodes of a second search
    keep_tree: store in the table all numbers above the leaves of the second search's tree
    """

    second: int = 1000
    keep_tree: bool = True

    name: ClassVar[str] = "pdspn"
    ranges: ClassVar[dict] = {"second": (2, 10**9)}

    def second_nodes(self):
        return self.second

    def rule(self):
        return PDSPNRule()

    def task(self, goal, endgames):
        return super().task(goal, endgames)._replace(keep_tree=self.keep_tree)


@dataclass(frozen=True)
class PDSPNRule(PDSRule):
    """A rule of PDS, with a search of a second level."""

    def look_below(self, game, search, ply):
        if not probe(search.table, search.line.key[ply])[0]:
            search_below(game, search, ply)
            if search.task.keep_tree:
                store_tree(search, ply)


@helper
def search_below(game, search, ply):
    """Take the children's numbers from a best-first search of the node at `ply`, unless these settle it already."""
    line, second, counts = search.line, search.second, search.counts
    or_node = game.player(line.states[ply]) == 0
    restart_tree(second)
    proof, disproof = combine(line.proof[ply], line.disproof[ply], 0, line.total[ply], or_node, search.task.weak)
    if proof == 0 or disproof == 0:
        return
    below = TreeSearch(second, search.scratch, search.task, counts)
    best_first(game, below, ply, len(second.proof) - game.max_moves)
    if second.size[0] == 1:
        return
    share = (counts[NODES] - line.before[ply]) // line.total[ply]
    for i in range(line.total[ply]):
        if line.proof[ply, i] == 0 or line.disproof[ply, i] == 0:
            continue
        child = second.first_child[ROOT] + i
        line.proof[ply, i], line.disproof[ply, i] = second.proof[child], second.disproof[child]
        store(search.table, line.keys[ply, i], line.proof[ply, i], line.disproof[ply, i], worth(search, ply + 1, share))


@helper
def store_tree(search, ply):
    """Store the numbers of the second tree's settled or expanded nodes, below the root's children."""
    second, table = search.second, search.table
    for row in range(1 + second.children[ROOT], second.size[0]):
        key, count = second.positions.key[row], np.int64(second.children[row])
        if key != 0 and (count != LEAF or not is_open(second, row)):
            store(table, key, second.proof[row], second.disproof[row], worth(search, ply + 2, count + 1))
