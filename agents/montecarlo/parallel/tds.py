"""Transposition-driven df-UCT: the work of the processes of agents/montecarlo/parallel/distributed.py.

A process takes jobs from its queue.  A job is a search under way, at one of the nodes of its path, its frames:

    down    search on from the node: choose a child and move to its home, or play out if it is a leaf
    up      count the findings from below at the node and the chosen child; then choose again here, if all nodes above
            would still choose as they did and there are simulations left, else go up to the node above
"""

from typing import NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load, atomic_store
from arena.agents.core.probing import find_slot
from arena.agents.core.selection import log_of
from arena.agents.core.tree_arrays import LEAF, ROOT, shuffled_moves, write_children
from arena.agents.montecarlo.parallel.shared import (
    BEGUN,
    DONE,
    SharedOptions,
    SharedTree,
    Work,
    best_child_shared,
    clear_shared,
    decision_from_shared,
    new_shared_tree,
    result_word,
    reward_sum,
)
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import copy_state, reward_of
from arena.games.core.random import mix

EMPTY = 0  # of Shard.rows: row 0 of a tree is no position's node
DOWN, UP = range(2)  # of Jobs.mode
RESERVED, RETIRED, LIMIT = range(3)  # of Jobs.counts
TAKEN, MADE = range(2)  # of Jobs.own
APART = 16  # words from one process's counts to the next: two cache lines


class Jobs(NamedTuple):
    """Memory shared by all processes: the jobs, and the queues that deliver them.

    Frame i of a job is the node of its path i plies below the root.  Rewards are those of the player to move there.
    """

    states: np.ndarray  # dtype[jobs, frames, state_size]
    depth: np.ndarray  # int64[jobs], the job's frame
    mode: np.ndarray  # int64[jobs], DOWN or UP
    homes: np.ndarray  # int64[jobs, frames], the process with the frame's node
    nodes: np.ndarray  # int64[jobs, frames], rows of their homes' trees
    children: np.ndarray  # int64[jobs, frames], the chosen children, rows of the same tree
    found_visits: np.ndarray  # int64[jobs, frames], simulations since the choice, uncounted at the node
    found_reward: np.ndarray  # float64[jobs, frames]
    chosen_visits: np.ndarray  # int64[jobs, frames], of the chosen child when chosen
    chosen_reward: np.ndarray  # float64[jobs, frames]
    other_visits: np.ndarray  # int64[jobs, frames], of the best other child then; -1 if there is none
    other_reward: np.ndarray  # float64[jobs, frames]
    queues: np.ndarray  # int64[processes, jobs], numbers of jobs plus 1; 0 is an empty place
    sent: np.ndarray  # int64[processes, APART], jobs sent to each
    own: np.ndarray  # int64[processes, APART], jobs TAKEN and playouts MADE
    counts: np.ndarray  # int64[3], simulations RESERVED, jobs RETIRED, and the LIMIT of simulations


class Shard(NamedTuple):
    """One process's part of the tree: nodes by key, and their children."""

    keys: np.ndarray  # uint64[size], size a power of two
    rows: np.ndarray  # int32[size], EMPTY or the node
    places: np.ndarray  # int64[max_nodes], places taken in these two
    taken: np.ndarray  # int64[1], how many
    tree: SharedTree  # a node's own row counts for the node, its children's rows for the moves


class Process(NamedTuple):
    """The data of one process."""

    number: int
    jobs: Jobs
    shard: Shard
    options: SharedOptions
    state: np.ndarray  # dtype[state_size], scratch
    moves: np.ndarray  # int32[max_moves], scratch


def shapes(game, agent) -> dict[str, tuple]:
    """Field of Jobs -> (shape, dtype)."""
    jobs, processes = agent.jobs * agent.workers, agent.workers
    frame = (jobs, game.max_plies + 1)
    integers = ("homes", "nodes", "children", "found_visits", "chosen_visits", "other_visits")
    return {
        "states": ((*frame, game.state_size), game.dtype),
        "depth": ((jobs,), np.int64),
        "mode": ((jobs,), np.int64),
        **dict.fromkeys(integers, (frame, np.int64)),
        **dict.fromkeys(("found_reward", "chosen_reward", "other_reward"), (frame, np.float64)),
        "queues": ((processes, jobs), np.int64),
        "sent": ((processes, APART), np.int64),
        "own": ((processes, APART), np.int64),
        "counts": ((3,), np.int64),
    }


def new_process(game, agent, jobs: Jobs, number: int, max_nodes: int) -> Process:
    """A process with an empty part of the tree."""
    size = 1 << max_nodes.bit_length()
    shard = Shard(
        np.zeros(size, np.uint64),
        np.zeros(size, np.int32),
        np.zeros(max_nodes, np.int64),
        np.zeros(1, np.int64),
        new_shared_tree(max(max_nodes, 2 + game.max_moves)),
    )
    state, moves = np.zeros(game.state_size, game.dtype), np.zeros(game.max_moves, np.int32)
    return Process(number, jobs, shard, agent.options(), state, moves)


def forget(shard: Shard) -> None:
    """Empty it, in time that grows with its contents, not with its capacity."""
    shard.rows[shard.places[: shard.taken[0]]] = EMPTY
    shard.taken[0] = 0
    clear_shared(shard.tree)


def set_out(game, jobs: Jobs, state: np.ndarray, limit: int) -> None:
    """Put all jobs at the root, for `limit` simulations; the processes must be idle."""
    home = home_of(game, state, len(jobs.queues))
    jobs.counts[:] = 0, 0, limit
    jobs.queues[:], jobs.sent[:], jobs.own[:], jobs.depth[:], jobs.mode[:] = 0, 0, 0, 0, DOWN
    jobs.states[:, 0] = state
    jobs.homes[:, 0] = home
    jobs.queues[home] = np.arange(len(jobs.mode)) + 1
    jobs.sent[home, 0] = len(jobs.mode)


def decision_at_root(game, process: Process, state: np.ndarray):
    """The decision of the root's home, one move deep, since deeper nodes are in other processes."""
    shard, made = process.shard, process.jobs.own[:, MADE]
    tree, root = shard.tree, int(shard.rows[place_of(game, shard, state)])
    for column in (tree.nodes.first_child, tree.nodes.children, tree.counts):
        column[ROOT] = column[root]
    return decision_from_shared(tree, Work(int(made.sum()), int(made.max())), int(game.player(state)))


@kernel
def home_of(game, state, processes):
    """The process with the node of a position."""
    return np.int64(mix(game.key(state)) % np.uint64(processes))


@kernel
def place_of(game, shard, state):
    """The place of a position's node in the table, or the place where it belongs."""
    key = game.key(state)
    return find_slot(shard.keys, shard.rows, EMPTY, key, key)


@kernel
def serve_kernel(game, process, rng, steps):
    """Serve up to `steps` jobs from a process's queue; returns how many there were."""
    jobs, me = process.jobs, process.number
    for step in range(steps):
        place = jobs.own[me, TAKEN] % jobs.queues.shape[1]
        job = atomic_load(jobs.queues, (me, place)) - 1
        if job < 0:
            return step
        atomic_store(jobs.queues, (me, place), np.int64(0))
        jobs.own[me, TAKEN] += 1
        work(game, process, job, rng)
    return steps


@helper
def work(game, process, job, rng):
    """Advance a job as long as it stays in this process."""
    jobs = process.jobs
    while True:
        depth = jobs.depth[job]
        if jobs.homes[job, depth] != process.number:
            send(jobs, jobs.homes[job, depth], job)
            return
        if jobs.mode[job] == UP:
            count_results(process, job)
            if depth > 0 and not stays(process, job):
                jobs.depth[job] -= 1
                continue
        # a simulation begins here if one is left; on the way down it was reserved at the root
        if (depth == 0 or jobs.mode[job] == UP) and not reserve(jobs):
            if depth == 0:
                atomic_add(jobs.counts, RETIRED, np.int64(1))
                return
            jobs.mode[job], jobs.depth[job] = UP, depth - 1
            continue
        search_down(game, process, job, rng)


@helper
def send(jobs, process, job):
    """Put a job at the end of a queue, which has as many places as there are jobs."""
    place = atomic_add(jobs.sent, (process, 0), np.int64(1)) % jobs.queues.shape[1]
    atomic_store(jobs.queues, (process, place), np.int64(job + 1))


@helper
def reserve(jobs):
    """Reserve a simulation, if one is left; returns whether it was."""
    return atomic_add(jobs.counts, RESERVED, np.int64(1)) < atomic_load(jobs.counts, LIMIT)


@helper
def search_down(game, process, job, rng):
    """Go from the job's node to the child of the largest bound, or play out and send the result up."""
    jobs, tree, depth = process.jobs, process.shard.tree, process.jobs.depth[job]
    here = jobs.states[job, depth]
    node = -1 if game.is_over(here) else node_here(game, process, here, depth == 0, rng)
    if node < 0:
        play_out(game, process, job, rng)
        return
    tree.counts[node, BEGUN] += 1
    child = best_child_shared(tree, node, process.options)
    note_frame(process, job, node, child)
    tree.counts[child, BEGUN] += 1
    below = jobs.states[job, depth + 1]
    game.play_into(here, tree.nodes.move[child], below)
    jobs.homes[job, depth + 1] = home_of(game, below, len(jobs.queues))
    jobs.mode[job], jobs.depth[job] = DOWN, depth + 1


@helper
def play_out(game, process, job, rng):
    """Play out from the job's node, and add the result to every frame above."""
    jobs, depth = process.jobs, process.jobs.depth[job]
    copy_state(game, jobs.states[job, depth], process.state)
    score, _ = game.random_playout(process.state, process.moves, rng)
    jobs.own[process.number, MADE] += 1
    for frame in range(depth):
        jobs.found_visits[job, frame] += 1
        first = game.player(jobs.states[job, frame]) == 0
        jobs.found_reward[job, frame] += reward_of(score) if first else 1.0 - reward_of(score)
    jobs.mode[job], jobs.depth[job] = UP, depth - 1


@helper
def node_here(game, process, here, root, rng):
    """The position's node, with its children; -1 for a leaf: on its first visit, or if the tree is full."""
    shard, nodes, moves = process.shard, process.shard.tree.nodes, process.moves
    place = place_of(game, shard, here)
    full = nodes.size[0] + game.max_moves + 1 > len(nodes.visits)
    if shard.rows[place] == EMPTY:
        if full:
            return -1
        moves[0] = -1
        new_rows(shard.tree, moves, 1)
        shard.keys[place], shard.rows[place] = game.key(here), nodes.size[0] - 1
        shard.places[shard.taken[0]] = place
        shard.taken[0] += 1
        if not root:
            return -1
    node = shard.rows[place]
    if nodes.children[node] == LEAF:
        if full:
            return -1
        count = shuffled_moves(game, here, moves, rng)
        nodes.first_child[node] = new_rows(shard.tree, moves, count)
        nodes.children[node] = count
    return node


@helper
def new_rows(tree, moves, count):
    """Make new rows for moves[:count]; returns the first."""
    first = tree.nodes.size[0]
    write_children(tree.nodes, first, moves, count)
    tree.counts[first : first + count] = 0
    tree.nodes.size[0] = first + count
    return first


@helper
def note_frame(process, job, node, child):
    """Record the statistics of the chosen child and of the best other one."""
    jobs, counts, depth = process.jobs, process.shard.tree.counts, process.jobs.depth[job]
    jobs.nodes[job, depth], jobs.children[job, depth] = node, child
    jobs.found_visits[job, depth], jobs.found_reward[job, depth] = 0, 0.0
    jobs.chosen_visits[job, depth] = counts[child, BEGUN]
    jobs.chosen_reward[job, depth] = reward_sum(counts[child, DONE])
    jobs.other_visits[job, depth], jobs.other_reward[job, depth] = -1, 0.0
    best = -1.0
    first = process.shard.tree.nodes.first_child[node]
    for other in range(first, first + process.shard.tree.nodes.children[node]):
        visits, reward = counts[other, BEGUN], reward_sum(counts[other, DONE])
        value = bound(visits, reward, counts[node, BEGUN], process.options)
        if other != child and value > best:
            best = value
            jobs.other_visits[job, depth], jobs.other_reward[job, depth] = visits, reward


@helper
def bound(visits, reward, all_visits, options):
    """UCB1, with visits in flight as losses; infinite for an unvisited child."""
    if visits == 0:
        return np.inf
    return reward / visits + options.exploration * np.sqrt(log_of(all_visits) / visits)


@helper
def stays(process, job):
    """Whether every node above the job's would still choose the same child after all later findings."""
    jobs, options = process.jobs, process.options
    for frame in range(jobs.depth[job]):
        found, other = jobs.found_visits[job, frame], jobs.other_visits[job, frame]
        visits = jobs.chosen_visits[job, frame] + found
        reward = jobs.chosen_reward[job, frame] + jobs.found_reward[job, frame]
        # the node's own visits are those of its children: the sum of the two known to the frame serves both
        total = visits + max(other, 0)
        chosen = bound(visits, reward, total, options)
        if other >= 0 and bound(other, jobs.other_reward[job, frame], total, options) > chosen:
            return False
    return True


@helper
def count_results(process, job):
    """Add the job's findings to its node and chosen child; the way down has counted one visit of each."""
    jobs, counts, depth = process.jobs, process.shard.tree.counts, process.jobs.depth[job]
    found, reward = jobs.found_visits[job, depth], jobs.found_reward[job, depth]
    for row in (jobs.nodes[job, depth], jobs.children[job, depth]):
        counts[row, BEGUN] += found - 1
        counts[row, DONE] += result_word(found, reward)
