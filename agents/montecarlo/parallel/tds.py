"""Transposition-driven df-UCT: what the processes of `agents/parallel/distributed.py` do, where the idea is told.

A process takes jobs from its queue.  A job is a search on its way, at one of the nodes of its path, its frames:

    down    search on from the node: choose a child and move to its home, or play out if it is a leaf
    up      count at the node and the chosen child what was found below; then choose anew here, if all nodes above
            would still choose as they did and there are simulations left, else go up to the node above
"""

from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_load, atomic_store
from agents.core.tree import LEAF, ROOT, Tree, clear, new_tree, shuffled_moves, write_children
from agents.montecarlo.parallel.shared import (
    BEGUN,
    DONE,
    best_child_shared,
    decision_from_shared,
    result_word,
    reward_sum,
)
from games.core.jit import helper, kernel
from games.core.playout import copy_state, reward_of
from games.core.random import mix

EMPTY = 0  # of Shard.index: row 0 of a tree is no position's node
DOWN, UP = range(2)  # Desk.mode
PENDING, CHOSEN, OTHER = range(
    3
)  # of a frame: results found since, what was known of the chosen child, of the best other
RESERVED, RETIRED, LIMIT = range(3)  # of Desk.counts
TAKEN, MADE = range(2)  # of Desk.own
APART = 16  # words from one process's counts to the next: two cache lines


class Desk(NamedTuple):
    """Memory that all processes share: the jobs, and the queues by which they are sent.

    A frame of a job is a node on its way, from the root: frame i is i plies below it.
    """

    states: np.ndarray  # dtype[jobs, frames, state_size]
    depth: np.ndarray  # int64[jobs], the frame that the job is at
    mode: np.ndarray  # int64[jobs], DOWN or UP
    homes: np.ndarray  # int64[jobs, frames], the process that keeps the frame's node
    nodes: np.ndarray  # int64[jobs, frames], the node in its home's tree; the chosen child is one below in `children`
    children: np.ndarray  # int64[jobs, frames]
    visits: np.ndarray  # int64[jobs, frames, 3], by PENDING, CHOSEN, OTHER
    reward: np.ndarray  # float64[jobs, frames, 3], of the player who moves at the frame
    queues: np.ndarray  # int64[processes, jobs], numbers of jobs plus 1; 0 is an empty place
    sent: np.ndarray  # int64[processes, APART], how many jobs were sent to each
    own: np.ndarray  # int64[processes, APART], how many it has TAKEN, and how many playouts it has MADE
    counts: np.ndarray  # int64[3], simulations reserved, jobs that have ended, and how many simulations there are to be


class Shard(NamedTuple):
    """What one process keeps: nodes by key, and their children."""

    keys: np.ndarray  # uint64[size], size a power of two
    index: np.ndarray  # int32[size], EMPTY or the node
    places: np.ndarray  # int64[max_nodes], which places of these two are taken
    taken: np.ndarray  # int64[1], how many
    tree: Tree  # a node's own row counts for the node, its children's rows for the moves


def shapes(game, agent) -> dict[str, tuple]:
    """Field of Desk -> (shape, dtype)."""
    jobs, frames, processes = agent.jobs * agent.workers, game.max_plies + 1, agent.workers
    frame = (jobs, frames)
    return {
        "states": ((*frame, game.state_size), game.dtype),
        "depth": ((jobs,), np.int64),
        "mode": ((jobs,), np.int64),
        "homes": (frame, np.int64),
        "nodes": (frame, np.int64),
        "children": (frame, np.int64),
        "visits": ((*frame, 3), np.int64),
        "reward": ((*frame, 3), np.float64),
        "queues": ((processes, jobs), np.int64),
        "sent": ((processes, APART), np.int64),
        "own": ((processes, APART), np.int64),
        "counts": ((3,), np.int64),
    }


def new_shard(game, max_nodes: int) -> Shard:
    """An empty part of the tree."""
    size = 1 << max_nodes.bit_length()
    return Shard(
        np.zeros(size, np.uint64),
        np.zeros(size, np.int32),
        np.zeros(max_nodes, np.int64),
        np.zeros(1, np.int64),
        new_tree(max(max_nodes, 2 + game.max_moves)),
    )


def forget(shard: Shard) -> None:
    """Make it empty again; as long as it takes for what was in it, not for what there is room for."""
    shard.index[shard.places[: shard.taken[0]]] = EMPTY
    shard.taken[0] = 0
    clear(shard.tree)


def set_out(game, desk: Desk, state: np.ndarray, limit: int) -> None:
    """Put all jobs at the root, for `limit` simulations; the processes are not to be at work."""
    home = home_of(game, state, len(desk.queues))
    desk.counts[:] = 0, 0, limit
    desk.queues[:], desk.sent[:], desk.own[:], desk.depth[:], desk.mode[:] = 0, 0, 0, 0, DOWN
    desk.states[:, 0] = state
    desk.homes[:, 0] = home
    desk.queues[home] = np.arange(len(desk.mode)) + 1
    desk.sent[home, 0] = len(desk.mode)


def decision_at_root(game, shard: Shard, desk: Desk, state: np.ndarray):
    """What the root's home says: one move deep, since the nodes below lie with other processes."""
    tree, root = shard.tree, int(shard.index[place_of(game, shard, state)])
    for column in (tree.first_child, tree.children, tree.shared):
        column[ROOT] = column[root]
    made = desk.own[:, MADE]
    return decision_from_shared(game, tree, state, int(made.sum()), int(made.max()))


@kernel
def home_of(game, state, processes):
    """The process that keeps a position."""
    return np.int64(mix(game.key(state)) % np.uint64(processes))


@kernel
def place_of(game, shard, state):
    """Where a position's node is in the table, or is to be put."""
    key = game.key(state)
    mask = np.uint64(len(shard.keys) - 1)
    place = key & mask
    while shard.index[place] != EMPTY and shard.keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def serve_kernel(game, shard, desk, options, me, rng, steps):
    """Take up to `steps` jobs from the queue of process `me`, and do what each wants; returns how many there were."""
    moves, state = np.empty(game.max_moves, np.int32), desk.states[0, 0].copy()
    for step in range(steps):
        place = desk.own[me, TAKEN] % desk.queues.shape[1]
        job = atomic_load(desk.queues, (me, place)) - 1
        if job < 0:
            return step
        atomic_store(desk.queues, (me, place), np.int64(0))
        desk.own[me, TAKEN] += 1
        work(game, shard, desk, options, me, job, moves, state, rng)
    return steps


@helper
def work(game, shard, desk, options, me, job, moves, state, rng):
    """Move a job on, as long as it stays in this process."""
    while True:
        depth = desk.depth[job]
        if desk.homes[job, depth] != me:
            send(desk, desk.homes[job, depth], job)
            return
        if desk.mode[job] == UP:
            count_results(shard.tree, desk, job, depth)
            if depth > 0 and not stays(desk, options, job, depth):
                desk.depth[job] -= 1
                continue
        # a simulation begins here; at the root only if there is one left, elsewhere it was reserved before
        if (depth == 0 or desk.mode[job] == UP) and not reserve(desk):
            if depth == 0:
                atomic_add(desk.counts, RETIRED, np.int64(1))
                return
            desk.mode[job], desk.depth[job] = UP, depth - 1
            continue
        search_down(game, shard, desk, options, job, depth, moves, state, rng)


@helper
def send(desk, process, job):
    """Put a job at the end of a queue; there is always room, for a queue has as many places as there are jobs."""
    place = atomic_add(desk.sent, (process, 0), np.int64(1)) % desk.queues.shape[1]
    atomic_store(desk.queues, (process, place), np.int64(job + 1))


@helper
def reserve(desk):
    """Whether there is one more simulation to be made."""
    return atomic_add(desk.counts, RESERVED, np.int64(1)) < atomic_load(desk.counts, LIMIT)


@helper
def search_down(game, shard, desk, options, job, depth, moves, state, rng):
    """From the job's node: to the child of the largest bound, or to a playout, whose result goes up."""
    here = desk.states[job, depth]
    node = -1 if game.is_over(here) else node_here(game, shard, here, moves, depth == 0, rng)
    if node < 0:
        copy_state(game, here, state)
        score, _ = game.random_playout(state, moves, rng)
        desk.own[desk.homes[job, depth], MADE] += 1
        for frame in range(depth):
            desk.visits[job, frame, PENDING] += 1
            first = game.player(desk.states[job, frame]) == 0
            desk.reward[job, frame, PENDING] += reward_of(score) if first else 1.0 - reward_of(score)
        desk.mode[job], desk.depth[job] = UP, depth - 1
        return
    tree = shard.tree
    tree.shared[node, BEGUN] += 1
    child = best_child_shared(tree, node, options)
    note_frame(tree, desk, job, depth, node, child, options)
    tree.shared[child, BEGUN] += 1
    copy_state(game, here, desk.states[job, depth + 1])
    game.play(desk.states[job, depth + 1], tree.move[child])
    desk.homes[job, depth + 1] = home_of(game, desk.states[job, depth + 1], len(desk.queues))
    desk.mode[job], desk.depth[job] = DOWN, depth + 1


@helper
def node_here(game, shard, here, moves, root, rng):
    """The position's node, with its children; -1 if it is a leaf: on its first visit, or for want of room."""
    tree, place = shard.tree, place_of(game, shard, here)
    full = tree.size[0] + game.max_moves + 1 > len(tree.visits)
    if shard.index[place] == EMPTY:
        if full:
            return -1
        moves[0] = -1
        new_rows(tree, moves, 1)
        shard.keys[place], shard.index[place] = game.key(here), tree.size[0] - 1
        shard.places[shard.taken[0]] = place
        shard.taken[0] += 1
        if not root:
            return -1
    node = shard.index[place]
    if tree.children[node] == LEAF:
        if full:
            return -1
        count = shuffled_moves(game, here, moves, rng)
        tree.first_child[node] = new_rows(tree, moves, count)
        tree.children[node] = count
    return node


@helper
def new_rows(tree, moves, count):
    """New rows for moves[:count]; the number of the first."""
    first = tree.size[0]
    write_children(tree, first, moves, count)
    tree.shared[first : first + count] = 0
    tree.size[0] = first + count
    return first


@helper
def note_frame(tree, desk, job, depth, node, child, options):
    """Write down the choice at a node: what is known of the child, and of the best of the others."""
    desk.nodes[job, depth], desk.children[job, depth] = node, child
    desk.visits[job, depth, PENDING], desk.reward[job, depth, PENDING] = 0, 0.0
    desk.visits[job, depth, CHOSEN] = tree.shared[child, BEGUN]
    desk.reward[job, depth, CHOSEN] = reward_sum(tree.shared[child, DONE])
    desk.visits[job, depth, OTHER], desk.reward[job, depth, OTHER] = -1, 0.0  # where there is no other
    best = -1.0
    first = tree.first_child[node]
    for other in range(first, first + tree.children[node]):
        visits, reward = tree.shared[other, BEGUN], reward_sum(tree.shared[other, DONE])
        value = bound(visits, reward, tree.shared[node, BEGUN], options)
        if other != child and value > best:
            best = value
            desk.visits[job, depth, OTHER], desk.reward[job, depth, OTHER] = visits, reward


@helper
def bound(visits, reward, all_visits, options):
    """UCB1, where visits in flight are losses; that of a child that nobody has visited is above all others."""
    if visits == 0:
        return np.inf
    return reward / visits + options.exploration * np.sqrt(np.log(max(all_visits, 1)) / visits)


@helper
def stays(desk, options, job, depth):
    """Whether no node above frame `depth` would choose another child, after all that was found since."""
    for frame in range(depth):
        pending, other = desk.visits[job, frame, PENDING], desk.visits[job, frame, OTHER]
        visits = desk.visits[job, frame, CHOSEN] + pending
        reward = desk.reward[job, frame, CHOSEN] + desk.reward[job, frame, PENDING]
        # the node's own visits are those of its children, of which the frame knows two: the sum of these serves both
        total = visits + max(other, 0)
        chosen = bound(visits, reward, total, options)
        if other >= 0 and bound(other, desk.reward[job, frame, OTHER], total, options) > chosen:
            return False
    return True


@helper
def count_results(tree, desk, job, depth):
    """Count at a frame's node and child what the job has found below; one visit of each was counted on the way down."""
    found, reward = desk.visits[job, depth, PENDING], desk.reward[job, depth, PENDING]
    for row in (desk.nodes[job, depth], desk.children[job, depth]):
        tree.shared[row, BEGUN] += found - 1
        tree.shared[row, DONE] += result_word(found, reward)
