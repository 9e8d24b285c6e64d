"""Pipeline parallelisation, 3PMCTS (Mirsoleimani, van den Herik, Plaat & Vermaseren, "Pipeline pattern for parallel
MCTS", 2018).

A simulation is a token that passes the stages select, expand, play out and back up.  Each stage but the playout takes
one token at a time; several tokens are played out at once.  The number of tokens bounds how many simulations are in
flight, and so how much a search differs from a serial one, whatever the number of workers.

On threads, every thread looks for a token that it can take one stage further.  Simulated, select, expand and back up
have one server each that takes `stage_time` playouts a token, and the playouts have a server for each worker.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store, sched_yield
from agents.core.chunks import run_chunks
from agents.core.tree import LEAF, clear
from agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, PLIES
from agents.montecarlo.parallel.shared import ONE, back_up_shared, decision_from_shared, enter, has_children, step_down
from agents.montecarlo.parallel.tree import TreeParallel, TreePlayer, prepare_kernel
from games.core.jit import helper, kernel
from games.core.playout import copy_state, reward_of

# what a token waits for; WORKING while a thread has it
SELECT, EXPAND, PLAY_OUT, BACK_UP, WORKING = range(5)
STAGES = 4
BEGUN, ENDED, LIMIT = range(3)  # of Line.counts
ENDLESS = 1 << 62


@dataclass(frozen=True)
class Pipeline(TreeParallel):
    """One tree, searched by a pipeline.

    tokens: simulations in flight at most; 0 for twice the workers
    stage_time: what a stage other than the playout takes of a playout's time, where it is simulated
    """

    tokens: int = 0
    stage_time: float = 0.1

    name = "pipeline"

    def __post_init__(self):
        super().__post_init__()
        if not 0 <= self.tokens <= 4096:
            raise ValueError(f"tokens = {self.tokens} is out of range: it can be 1 to 4096, or 0 for twice the workers")
        if not 0 <= self.stage_time < float("inf"):
            raise ValueError(f"stage_time = {self.stage_time} is out of range: it can be 0 or more")

    def new_player(self, game, budget):
        return PipelinePlayer(self, game, budget)


class Line(NamedTuple):
    """The tokens, and who may work on them; row i of the first six is token i."""

    stage: np.ndarray  # int32[tokens], SELECT to BACK_UP, or WORKING
    states: np.ndarray  # dtype[tokens, state_size]
    paths: np.ndarray  # int32[tokens, max_plies + 1]
    movers: np.ndarray  # int64[tokens, max_plies + 1]
    lengths: np.ndarray  # int64[tokens]
    rewards: np.ndarray  # float64[tokens]
    rngs: np.ndarray  # uint64[tokens, APART], see Scheme.streams
    busy: np.ndarray  # int32[STAGES], 1 while a thread is in a stage that takes one token at a time
    counts: np.ndarray  # int64[3], simulations begun, ended, and to be begun in all
    made: np.ndarray  # int64[workers], playouts that each made


def new_line(game, state, rngs: np.ndarray, workers: int, limit: int) -> Line:
    """A token for each generator, which wait to be selected, for `limit` simulations in all."""
    tokens = len(rngs)
    return Line(
        np.zeros(tokens, np.int32),
        np.zeros((tokens, len(state)), state.dtype),
        np.zeros((tokens, game.max_plies + 1), np.int32),
        np.zeros((tokens, game.max_plies + 1), np.int64),
        np.zeros(tokens, np.int64),
        np.zeros(tokens),
        rngs,
        np.zeros(STAGES, np.int32),
        np.array([0, 0, limit]),
        np.zeros(workers, np.int64),
    )


class PipelinePlayer(TreePlayer):
    """The tree of one game, made anew for each move."""

    def decide(self, state, rng):
        clear(self.tree)
        prepare_kernel(self.game, self.tree, state, rng)
        agent, total = self.agent, self.agent.total_playouts(self.budget)
        tokens = agent.tokens or 2 * agent.workers
        limit = ENDLESS if total is None else total
        line = new_line(self.game, state, self.streams(rng, tokens), agent.workers, limit)
        if agent.simulated:
            clock = PLAYOUT_TIMES[agent.playout_time]
            time = simulated_kernel(self.game, self.tree, state, line, self.options, clock, agent.stage_time)
        else:
            time = None
            self.on_threads(lambda i: self.work(state, line, i))
        rng[0] = line.rngs[0, 0]
        return decision_from_shared(self.game, self.tree, state, int(line.counts[ENDED]), int(line.made.max()), time)

    def work(self, state, line, worker) -> None:
        """What one thread does: until all simulations have ended, or no more are begun because the time is over."""

        def run(steps):
            return thread_kernel(self.game, self.tree, state, line, self.options, worker, steps)

        run_chunks(run, None, self.budget.seconds)
        close_kernel(self.game, line)
        run_chunks(run, None, None)


@helper
def do_stage(game, tree, root, line, token, stage, moves, options):
    """Take a token through one stage; returns the plies of the playout, 0 for other stages."""
    state, path, movers, rng = line.states[token], line.paths[token], line.movers[token], line.rngs[token]
    plies, length = 0, line.lengths[token]
    if stage == SELECT:
        copy_state(game, root, state)
        length = enter(tree, path)
        while not game.is_over(state) and atomic_load(tree.children, path[length - 1]) > LEAF:
            length = step_down(game, tree, state, path, movers, length, options, rng)
    elif stage == EXPAND:
        while not game.is_over(state) and has_children(game, tree, path[length - 1], state, moves, rng):
            length = step_down(game, tree, state, path, movers, length, options, rng)
    elif stage == PLAY_OUT:
        score, plies = game.random_playout(state, moves, rng)
        line.rewards[token] = reward_of(score)
    else:
        back_up_shared(tree, path, movers, length, line.rewards[token], 1, options.lock)
    line.lengths[token] = length
    return plies


@kernel
def thread_kernel(game, tree, root, line, options, worker, steps):
    """Take tokens through stages, `steps` times at most; 0 when all simulations have ended."""
    moves, tokens, token = np.empty(game.max_moves, np.int32), len(line.stage), 0
    for step in range(steps):
        if atomic_load(line.counts, ENDED) >= atomic_load(line.counts, LIMIT):
            return step
        found = False
        for _ in range(tokens):
            token = (token + 1) % tokens
            stage = atomic_load(line.stage, token)
            if stage != WORKING and take(line, token, stage):
                found = True
                do_stage(game, tree, root, line, token, stage, moves, options)
                line.made[worker] += stage == PLAY_OUT
                if stage == BACK_UP:
                    atomic_add(line.counts, ENDED, np.int64(1))
                if stage != PLAY_OUT:
                    atomic_store(line.busy, stage, np.int32(0))
                atomic_store(line.stage, token, np.int32((stage + 1) % STAGES))
                break
        if not found:
            sched_yield()
    return steps


@helper
def take(line, token, stage):
    """Try to get hold of a token and of the stage it waits for."""
    if stage == SELECT and line.counts[BEGUN] >= line.counts[LIMIT]:
        return False
    if stage != PLAY_OUT and not atomic_compare_exchange(line.busy, stage, np.int32(0), ONE):
        return False
    if atomic_compare_exchange(line.stage, token, np.int32(stage), np.int32(WORKING)):
        # select has one thread at a time, so that what is read here is still true
        if stage != SELECT:
            return True
        if line.counts[BEGUN] < atomic_load(line.counts, LIMIT):
            line.counts[BEGUN] += 1  # not to be written by who is in another stage, not even unchanged
            return True
        atomic_store(line.stage, token, np.int32(stage))
    if stage != PLAY_OUT:
        atomic_store(line.busy, stage, np.int32(0))
    return False


@kernel
def close_kernel(game, line):
    """Let no more simulations begin; those that have begun are to end."""
    while not atomic_compare_exchange(line.busy, SELECT, np.int32(0), ONE):
        sched_yield()
    line.counts[LIMIT] = line.counts[BEGUN]
    atomic_store(line.busy, SELECT, np.int32(0))


@kernel
def simulated_kernel(game, tree, root, line, options, clock, stage_time):
    """The same in virtual time: again and again the step that can begin first, of those that tokens wait for.

    Returns the time that it took.
    """
    moves, tokens = np.empty(game.max_moves, np.int32), len(line.stage)
    ready, free, servers = np.zeros(tokens), np.zeros(STAGES), np.zeros(len(line.made))
    now = 0.0
    while line.counts[ENDED] < line.counts[LIMIT]:
        free[PLAY_OUT] = servers.min()
        token, now = -1, np.inf
        for other in range(tokens):
            start = max(ready[other], free[line.stage[other]])
            if start < now and (line.stage[other] != SELECT or line.counts[BEGUN] < line.counts[LIMIT]):
                token, now = other, start
        stage = line.stage[token]
        plies = do_stage(game, tree, root, line, token, stage, moves, options)
        if stage == PLAY_OUT:
            ready[token] = now + (max(plies, 1) if clock == PLIES else 1)
            server = servers.argmin()
            servers[server] = ready[token]
            line.made[server] += 1
        else:
            ready[token] = free[stage] = now + stage_time
        line.counts[BEGUN] += stage == SELECT
        line.counts[ENDED] += stage == BACK_UP
        line.stage[token] = (stage + 1) % STAGES
    return now
