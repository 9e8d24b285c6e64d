"""Tree parallelisation: all workers search one tree.

`lock` is "local", one for each node in use, "global", one for everything but the playout (both Chaslot, Winands & van
den Herik, "Parallel Monte-Carlo tree search", 2008), or "free", without any (Enzenberger & Mueller, "A lock-free
multithreaded Monte-Carlo tree search algorithm", 2009).  Others see a simulation in flight by virtual losses or as in
WU-UCT: agents/montecarlo/parallel/shared.py.

Every simulation changes the nodes near the root, whose cache lines then travel between processor cores; so threads make
simulations in lots.  A thread goes down to the last busy node, counts a whole lot there and above at once, as virtual
losses, makes it below, and adds its results at once.  Lots are small in small trees, since simulations in flight are
chosen without each other's results.

With `lanes`, a simulation makes several playouts of its leaf (agents/montecarlo/leaves.py), and counts as that many
visits.  With `search`, the workers search by another agent's rule (agents/montecarlo/parallel/together.py).  Simulated
workers bring results back in the order of a virtual clock, so that W simulations are in flight.

Grain-size controlled parallel MCTS, `gscpm` (Mirsoleimani, Plaat, van den Herik & Vermaseren, "Scaling Monte Carlo tree
search on Intel Xeon Phi", 2015), splits the playouts into tasks of a grain size in a first-in-first-out queue.  Small
grains keep all workers busy to the end; large ones cost less queueing.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import Walk, begin_walk, last_node, new_walk
from arena.agents.montecarlo.leaves import LANES, new_leaf_playouts
from arena.agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, Scheme, playout_time
from arena.agents.montecarlo.parallel.shared import (
    FREE,
    GLOBAL,
    LOCAL,
    SharedOptions,
    SharedTreePlayer,
    add_results,
    back_up_shared,
    descend_busy,
    descend_on,
    descend_shared,
    lot_size,
)
from arena.agents.montecarlo.parallel.shares import Sharing, Tasks, Work
from arena.agents.montecarlo.parallel.together import Together, TogetherPlayer
from arena.agents.montecarlo.workers import new_walks, walk_of
from arena.games.core.game import check_choice
from arena.games.core.jit import helper, kernel
from arena.games.core.playout import reward_of

LOCKS = {"free": FREE, "local": LOCAL, "global": GLOBAL}
MOST_IN_LOT = 1024
IDLE = 0  # the length of a simulated worker's walk with nothing in flight


@dataclass(frozen=True)
class OnOneTree(Scheme):
    """Base of the schemes whose workers search one tree.

    lock: free, atomic additions alone, if all methods of a search allow it; local, a lock for each node; global, one
        for everything but the playout
    virtual_loss: lost visits for each simulation in flight
    wu: count it as a visit without a result instead (WU-UCT)
    """

    lock: str = "free"
    virtual_loss: float = 1.0
    wu: bool = False

    ranges: ClassVar[dict] = {"virtual_loss": (0,)}
    choices: ClassVar[dict] = {"lock": LOCKS}

    def options(self) -> SharedOptions:
        return SharedOptions(self.exploration, self.virtual_loss, self.wu, LOCKS[self.lock])


@dataclass(frozen=True)
class TreeParallel(Together, OnOneTree):
    """One tree, searched by all workers.

    lot: the most simulations that a thread makes below one busy node; 1 with locks, one worker or in virtual time
    lanes: playouts of each leaf, side by side if the game has lanes; 1 in virtual time
    """

    lot: int = 16
    lanes: int = 1

    name: ClassVar[str] = "tree"
    ranges: ClassVar[dict] = {"lot": (1, MOST_IN_LOT)}

    def __post_init__(self):
        super().__post_init__()
        check_choice("lanes", self.lanes, LANES)
        if self.lanes > 1 and self.simulated:
            raise ValueError(f"lanes = {self.lanes}: simulated workers make one playout of each leaf, so it must be 1")
        if not self.search:
            return
        if self.lock == "local":
            raise ValueError("lock = 'local' is for plain UCT: a search has none, 'free', or one, 'global'")
        if self.wu:
            raise ValueError("wu = True is for plain UCT: a search sees simulations in flight as virtual losses")
        if self.virtual_loss != int(self.virtual_loss):
            raise ValueError(f"virtual_loss = {self.virtual_loss}: visits of a search are whole numbers")
        if self.lanes > 1:
            raise ValueError(f"lanes = {self.lanes} is for plain UCT: give lanes to the search, if it has them")

    def is_serial(self):
        return super().is_serial() and self.lanes == 1

    def losses(self):
        return int(self.virtual_loss)

    def most_in_lot(self):
        return 1 if self.workers == 1 or self.simulated or self.lock != "free" else self.lot

    def options(self):
        return super().options()._replace(lot=self.most_in_lot(), each=self.lanes)

    def task_size(self, playouts: int) -> int:
        """The playouts that a simulated worker draws from one stream of random numbers."""
        return playouts

    def new_player(self, game, budget):
        return (TogetherTreePlayer if self.search else TreePlayer)(self, game, budget)


class TreePlayer(Sharing, SharedTreePlayer):
    """Plain UCT, without a lock by default."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.lanes, self.leaves = agent.lanes, [new_leaf_playouts(game, agent.lanes) for _ in range(agent.workers)]

    def prepare(self, state, rng):
        self.seed(0, rng)  # first, as uct does
        super().prepare(state, rng)

    def seed(self, worker, rng):
        self.leaves[worker].seed(rng)

    def run(self, state, worker, rng):
        return lambda n: tree_kernel(self.game, self.tree, state, n, self.options, self.leaves[worker], rng)

    def simulate(self, state, rngs):
        playouts, workers = self.agent.total_playouts(self.budget), new_virtual_workers(self.agent, self.game, state)
        grain = self.agent.task_size(playouts)
        time = simulated_tree_kernel(self.game, self.tree, workers, playouts, grain, self.options, rngs)
        return Work(playouts, int(workers.made.max()), time)


@dataclass(frozen=True)
class GSCPM(TreeParallel):
    """One tree, searched by tasks of `grain` playouts on a pool of workers.

    grain: playouts of a task
    """

    grain: int = 50

    name: ClassVar[str] = "gscpm"
    ranges: ClassVar[dict] = {"grain": (1,)}

    def task_size(self, playouts):
        return self.grain

    def new_player(self, game, budget):
        return (TogetherTaskPlayer if self.search else TaskPlayer)(self, game, budget)


class TaskPlayer(Tasks, TreePlayer):
    """Plain UCT whose simulations are handed out in tasks."""


class TogetherTreePlayer(TogetherPlayer):
    """Any search, without a lock by default, if its methods allow it."""

    def is_free(self, searcher):
        return self.agent.lock == "free" and not self.agent.simulated and not searcher.locking()


class TogetherTaskPlayer(Tasks, TogetherTreePlayer):
    """Any search whose simulations are handed out in tasks."""


class VirtualWorkers(NamedTuple):
    """Simulated workers: row i of every array is worker i's."""

    walks: Walk  # each array with one more axis, the first: see walk_of
    rewards: np.ndarray  # float64[workers], of the simulation in flight
    done_at: np.ndarray  # float64[workers], when its playout will be done
    made: np.ndarray  # int64[workers], playouts
    tasks: np.ndarray  # int64[workers], the number of the current task
    left: np.ndarray  # int64[workers], playouts of that task to come
    clock: int  # CONSTANT or PLIES: the time of a playout


def new_virtual_workers(agent, game, state) -> VirtualWorkers:
    """The simulated workers of an agent, with nothing in flight."""
    walks, clock = new_walks(game, state, agent.workers), PLAYOUT_TIMES[agent.playout_time]
    rewards, done_at = np.zeros((2, agent.workers))
    made, tasks, left = np.zeros((3, agent.workers), np.int64)
    return VirtualWorkers(walks, rewards, done_at, made, tasks, left, clock)


@kernel
def tree_kernel(game, tree, root, simulations, options, leaves, rng):
    """Run that many simulations on the shared tree, in lots if it is busy; returns their number."""
    trunk = new_walk(game, root)
    walk = new_walk(game, trunk.state)  # a simulation begins at the end of its lot's trunk
    done, each, one = 0, np.int64(options.each), np.int64(1)  # typed, so that no helper is compiled for a literal
    while done < simulations:
        lot, total = min(lot_size(tree, options), simulations - done), 0.0
        descend_busy(game, tree, trunk, lot, options)
        for _ in range(lot):
            begin_walk(game, walk)
            walk.path[0] = last_node(trunk)
            descend_on(game, tree, walk, options, rng)
            reward = leaves.way.rewards(game, walk, leaves.room, rng)
            add_results(tree, walk, one, reward, each, options.lock)
            total += reward
        add_results(tree, trunk, one - 1, total, lot * each, options.lock)
        done += lot
    return simulations


@kernel
def simulated_tree_kernel(game, tree, workers, simulations, grain, options, rngs):
    """Search by simulated workers, which take tasks of `grain` simulations; returns the virtual time."""
    now, started, tasks = 0.0, 0, 0
    for _ in range(simulations + len(workers.made)):
        worker = np.argmin(workers.done_at)
        now = workers.done_at[worker]
        bring_back(tree, workers, worker, options)
        if started == simulations:
            workers.done_at[worker] = np.inf
            if workers.walks.length.max() == IDLE:
                break
            continue
        if workers.left[worker] == 0:
            workers.tasks[worker], workers.left[worker] = tasks, grain
            tasks += 1
        started += 1
        send_out(game, tree, workers, worker, options, rngs[workers.tasks[worker]])
    return now


@helper
def bring_back(tree, workers, worker, options):
    """Back up a simulated worker's simulation in flight, if any."""
    walk = walk_of(workers.walks, worker)
    if walk.length[0] != IDLE:
        back_up_shared(tree, walk, workers.rewards[worker], options)
        walk.length[0] = IDLE


@helper
def send_out(game, tree, workers, worker, options, rng):
    """Begin a worker's simulation, whose result arrives when its playout is done."""
    walk = walk_of(workers.walks, worker)
    descend_shared(game, tree, walk, options, rng)
    score, plies = game.random_playout(walk.state, walk.moves, rng)
    workers.rewards[worker] = reward_of(score)
    workers.made[worker] += 1
    workers.left[worker] -= 1
    workers.done_at[worker] += playout_time(workers.clock, plies)
