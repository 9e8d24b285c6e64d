"""RPPNS: randomized parallel proof-number search (Saito, Winands & van den Herik, "Randomized parallel proof-number
search", 2010), as RP-PN2: each leaf is evaluated by a search of the worker's own.

All workers share the first tree.  The first one descends to the most-proving leaf; each of the others chooses at random
among the children whose number is at most `distance` above the least, so that they need not be told of each other.  The
tree is locked while a worker descends, and while it adds what it has found; the second search, where the time goes, runs
at the same time as the others'.  Where two have searched the same leaf, the second result is of no use.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.core.locks import acquire, release
from agents.core.threads import Threaded, Threads
from agents.proof.bestfirst import (
    LEAF,
    NODE_BYTES,
    ROOT,
    best_child,
    best_first,
    is_open,
    new_line,
    new_proof_tree,
    restart_tree,
    update,
)
from agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts
from agents.proof.pn2 import PN2, SecondLevelProof, adopt, second_limit
from games.core.game import check_range
from games.core.jit import helper, kernel
from games.core.playout import copy_state
from games.core.random import random_below, stream

LONGEST = 20_000  # nodes of a second search: a worker does not look at the clock before it is over


@dataclass(frozen=True)
class RPPNS(Threaded, PN2):
    """Proof-number search by threads on one tree, of which all but the first choose at random among good children.

    max_nodes: of each tree; every worker has one beside the shared one
    distance: how far above the least number a child's may be
    """

    workers: int = 2
    distance: int = 1

    name: ClassVar[str] = "rppns"

    def __post_init__(self):
        super().__post_init__()
        check_range("distance", self.distance, 0, 1 << 29)

    def new_search(self, game, memory, state, task, counts):
        return RandomizedProof(self, game, state, task, counts)


class RandomizedProof(SecondLevelProof):
    """The shared tree, and what each worker has of its own."""

    def __init__(self, agent, game, state, task, counts):
        super().__init__(agent, game, state, task, counts)
        workers = range(agent.workers)
        room = min(agent.max_nodes, LONGEST + game.max_moves + 1)
        self.threads, self.lock = Threads(agent.workers), np.zeros(1, np.int32)
        self.lines, self.seconds = [new_line(game) for _ in workers], [new_proof_tree(room) for _ in workers]
        self.own_counts = [new_counts(int(counts[LIMIT]) // agent.workers) for _ in workers]
        self.rngs = [stream(0, "rppns", i) for i in workers]
        for line in self.lines:
            line.states[0] = state

    def run(self, nodes):
        before = int(self.counts[NODES])
        share = max(1, nodes // self.agent.workers)

        def work(i):
            distance = np.int64(-1 if i == 0 else self.agent.distance)
            counts = self.own_counts[i]
            own = self.seconds[i], self.lines[i], self.rngs[i], counts
            return rppns_kernel(
                self.game, self.tree, self.lock, own, self.task, self.growth, distance, counts[NODES] + share
            )

        largest = self.threads.run(work)
        self.largest = max(self.largest, sum(largest))
        for kind in (NODES, DRAWS):
            self.counts[kind] = sum(counts[kind] for counts in self.own_counts)
        return int(self.counts[NODES]) - before

    def bytes(self):
        return NODE_BYTES * (int(self.tree.size[0]) + self.largest)


@kernel
def rppns_kernel(game, tree, lock, own, task, growth, distance, until):
    """Search as one worker, until the root is settled, about `until` positions have been visited or there is no room.

    own: what the worker has of its own, (second tree, line, rng, counts); distance: -1 for who follows the best child.
    Returns the largest size that the second tree had.
    """
    second, line, rng, counts = own
    largest, going = 1, True
    while going:
        acquire(lock, 0)
        going = is_open(tree, ROOT) and counts[NODES] < until and tree.size[0] + game.max_moves <= len(tree.proof)
        limit = min(second_limit(tree, growth), LONGEST)
        node, ply = ROOT, 0
        if going:
            node, ply = random_descent(game, tree, line, distance, rng)
        release(lock, 0)
        if going:
            restart_tree(second)
            best_first(game, second, line, ply, task, counts, limit)
            largest = max(largest, second.size[0])
            going = second.children[ROOT] != LEAF
            acquire(lock, 0)
            if going and tree.children[node] == LEAF and tree.size[0] + game.max_moves <= len(tree.proof):
                adopt(tree, node, second)
                update(game, tree, line, node, ply)
            release(lock, 0)
    return largest


@helper
def random_descent(game, tree, line, distance, rng):
    """Descend from the root to a leaf; (leaf, ply).  line.states follows."""
    node, ply = ROOT, 0
    while tree.children[node] != LEAF:
        state, after = line.states[ply], line.states[ply + 1]
        or_node = game.player(state) == 0
        node = good_child(tree, best_child(tree, node, or_node), node, or_node, distance, rng)
        copy_state(game, state, after)
        game.play(after, tree.move[node])
        ply += 1
    return node, ply


@helper
def good_child(tree, best, node, or_node, distance, rng):
    """A child drawn from those that are open and within the distance of the best one; the best itself if it is -1."""
    numbers = tree.proof if or_node else tree.disproof
    first, chosen, found = tree.first_child[node], best, 0
    for child in range(first, first + tree.children[node]):
        if distance >= 0 and is_open(tree, child) and numbers[child] <= numbers[best] + distance:
            found += 1
            if random_below(rng, found) == 0:  # so each of those found so far is chosen with the same probability
                chosen = child
    return chosen
