"""RPPNS: randomized parallel proof-number search (Saito, Winands & van den Herik, "Randomized parallel proof-number
search", 2010), as RP-PN2: each leaf is evaluated by a search of the worker's own.

All workers share the first tree.  The first descends to the most-proving leaf; each other one chooses at random among
the children whose number is at most `distance` above the least, so that workers need not know of each other.  The tree
is locked while a worker descends and while it adds its findings; the second-level searches, which take most of the
time, run in parallel.  If two workers search the same leaf, the later result is dropped.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.locks import acquire, release
from arena.agents.core.threads import Threaded, Threads
from arena.agents.proof.bestfirst import (
    LEAF,
    ROOT,
    best_child,
    best_first,
    holder,
    is_open,
    make_move,
    new_proof_tree,
    new_tree_line,
    restart_tree,
    tree_bytes,
    update,
)
from arena.agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts
from arena.agents.proof.pn2 import PN2, SecondLevelProof, adopt, second_limit
from arena.games.core.jit import helper, kernel
from arena.games.core.random import random_below, stream

LONGEST = 20_000  # nodes of a second search, during which a worker ignores the clock


class Walk(NamedTuple):
    """How a worker descends."""

    distance: np.int64  # how far a child's number may exceed the least; -1: follow the best child
    rng: np.ndarray  # uint64[1]


@dataclass(frozen=True)
class RPPNS(Threaded, PN2):
    """Proof-number search by threads on one tree; all but the first choose at random among good children.

    workers: threads
    max_nodes: of the shared tree, and of each worker's own
    distance: how far a child's number may exceed the least
    """

    workers: int = 2
    distance: int = 1

    name: ClassVar[str] = "rppns"
    ranges: ClassVar[dict] = {"distance": (0, 1 << 29)}

    def new_search(self, game, memory, state, task, counts):
        return RandomizedProof(self, game, state, task, counts)


class RandomizedProof(SecondLevelProof):
    """The shared tree, and each worker's own line and second tree."""

    def __init__(self, agent, game, state, task, counts):
        super().__init__(agent, game, state, task, counts)
        workers = range(agent.workers)
        room = min(agent.max_nodes, LONGEST + game.max_moves + 1)
        self.threads, self.lock = Threads(agent.workers), np.zeros(1, np.int32)
        limit = int(counts[LIMIT]) // agent.workers
        self.searches = [self.search._replace(line=new_tree_line(game), counts=new_counts(limit)) for _ in workers]
        self.below = [search._replace(tree=new_proof_tree(room, agent.graph)) for search in self.searches]
        self.walks = [Walk(np.int64(agent.distance if i else -1), stream(0, "rppns", i)) for i in workers]
        for search in self.searches:
            search.line.states[0] = state

    def run(self, nodes):
        before = int(self.counts[NODES])
        share = max(1, nodes // self.agent.workers)

        def work(i):
            search, until = self.searches[i], self.searches[i].counts[NODES] + share
            return rppns_kernel(self.game, search, self.below[i], self.lock, self.walks[i], self.growth, until)

        largest = self.threads.run(work, [self.lock])
        self.largest = max(self.largest, sum(largest))
        for kind in (NODES, DRAWS):
            self.counts[kind] = sum(search.counts[kind] for search in self.searches)
        return int(self.counts[NODES]) - before

    def bytes(self):
        return tree_bytes(self.tree) + tree_bytes(self.below[0].tree, self.largest)


@kernel
def rppns_kernel(game, search, below, lock, walk, growth, until):
    """Search as one worker, until the root is settled, about `until` positions have been visited or there is no room.

    search: of the shared tree, with the worker's own line and counts; below: of the second level.  Returns the largest
    size of the second tree.
    """
    tree, counts, second = search.tree, search.counts, below.tree
    largest, going = 1, True
    while going:
        acquire(lock, 0)
        going = is_open(tree, ROOT) and counts[NODES] < until and tree.size[0] + game.max_moves <= len(tree.proof)
        limit = min(second_limit(tree, growth), LONGEST)
        node, ply = ROOT, 0
        if going:
            node, ply = random_descent(game, search, walk)
        release(lock, 0)
        if going:
            restart_tree(second)
            best_first(game, below, ply, limit)
            largest = max(largest, second.size[0])
            going = second.children[ROOT] != LEAF
            acquire(lock, 0)
            if going and tree.children[node] == LEAF and tree.size[0] + game.max_moves <= len(tree.proof):
                adopt(game, search, node, ply, second, second.first_child[ROOT], second.children[ROOT])
                update(search, node, ply)
            release(lock, 0)
    return largest


@helper
def random_descent(game, search, walk):
    """Descend from the root to a leaf: (leaf, ply).  The line's states follow."""
    tree, node, ply = search.tree, ROOT, 0
    while tree.children[node] != LEAF:
        row = good_child(tree, node, game.player(search.line.states[ply]) == 0, walk)
        make_move(game, search, ply, tree.move[row])
        node, ply = holder(tree, row), ply + 1
    return node, ply


@helper
def good_child(tree, node, or_node, walk):
    """A random open child within the distance of the best one, or with the distance -1 the best one."""
    best, distance = best_child(tree, node, or_node), walk.distance
    numbers = tree.proof if or_node else tree.disproof
    first, chosen, found = tree.first_child[node], best, 0
    for child in range(first, first + tree.children[node]):
        if distance >= 0 and is_open(tree, child) and numbers[child] <= numbers[best] + distance:
            found += 1
            if random_below(walk.rng, found) == 0:  # so that all have the same probability
                chosen = child
    return chosen
