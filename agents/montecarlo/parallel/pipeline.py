"""Pipeline parallelisation, 3PMCTS (Mirsoleimani, van den Herik, Plaat & Vermaseren, "Pipeline pattern for parallel
MCTS", 2018).

A simulation is a token that passes the stages select, expand, play out and back up.  Each stage but the playout takes
one token at a time.  The number of tokens bounds the simulations in flight, and so how much a search differs from a
serial one, whatever the number of workers.

Each thread looks for a token that it can take one stage further.  Simulated, each stage but the playout has one server,
which takes `stage_time` of a playout's time for a token, and playouts have a server for each worker.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store
from arena.agents.core.chunks import run_chunks
from arena.agents.core.locks import wait
from arena.agents.core.tree_arrays import LEAF, Walk, last_node
from arena.agents.montecarlo.parallel.leaf import Meets
from arena.agents.montecarlo.parallel.one_tree import OnOneTree
from arena.agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, playout_time
from arena.agents.montecarlo.parallel.shared import (
    LOCKS,
    ONE,
    SharedOptions,
    SharedTreePlayer,
    Work,
    back_up_shared,
    enter,
    has_children,
    step_down,
)
from arena.agents.montecarlo.workers import new_walks, walk_of
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import reward_of

# what a token waits for; WORKING while a thread has it
SELECT, EXPAND, PLAY_OUT, BACK_UP, WORKING = range(5)
STAGES = 4
STARTED, ENDED, LIMIT = range(3)  # of Tokens.counts
ENDLESS = 1 << 62


@dataclass(frozen=True)
class Pipeline(OnOneTree):
    """One tree, searched by a pipeline.

    tokens: simulations in flight at most; 0 for twice the workers
    stage_time: what a simulated stage other than the playout takes of a playout's time
    """

    tokens: int = 0
    stage_time: float = 0.1

    name: ClassVar[str] = "pipeline"
    without: ClassVar[dict[str, str]] = {"search": ", since its stages change one tree at once, as only plain UCT can"}

    def __post_init__(self):
        super().__post_init__()
        if not 0 <= self.tokens <= 4096:
            raise ValueError(f"tokens = {self.tokens} is out of range: it can be 1 to 4096, or 0 for twice the workers")
        if not 0 <= self.stage_time < float("inf"):
            raise ValueError(f"stage_time = {self.stage_time} is out of range: it can be 0 or more")

    def options(self) -> SharedOptions:
        return SharedOptions(self.exploration, self.virtual_loss, self.wu, LOCKS[self.lock])

    def is_serial(self):
        return super().is_serial() and self.tokens == 1

    def new_player(self, game, budget):
        return PipelinePlayer(self, game, budget)


class Tokens(NamedTuple):
    """Simulations in flight and the threads at work; row i of the first four fields is token i."""

    stage: np.ndarray  # int32[tokens], SELECT to BACK_UP, or WORKING
    walks: Walk  # see walk_of
    rewards: np.ndarray  # float64[tokens]
    rngs: np.ndarray  # uint64[tokens, APART], see ThreadedPlayer.streams
    busy: np.ndarray  # int32[STAGES], 1 while a thread is in a one-token stage
    counts: np.ndarray  # int64[3], simulations STARTED, ENDED, and the LIMIT to start
    made: np.ndarray  # int64[workers], playouts of each
    lost: np.ndarray  # int32[1], LOST if a thread has failed


class PipelinePlayer(Meets, SharedTreePlayer):
    """Every token has its own stream of random numbers."""

    def streams(self, rng, count=None):
        return super().streams(rng, self.agent.tokens or 2 * self.agent.workers)

    def new_tokens(self, state, rngs) -> Tokens:
        total, count = self.agent.total_playouts(self.budget), len(rngs)
        return Tokens(
            np.zeros(count, np.int32),
            new_walks(self.game, state, count),
            np.zeros(count),
            rngs,
            np.zeros(STAGES, np.int32),
            np.array([0, 0, ENDLESS if total is None else total]),
            np.zeros(self.agent.workers, np.int64),
            self.lost,
        )

    def search(self, state, rngs):
        tokens = self.new_tokens(state, rngs)
        self.on_threads(lambda i: self.work(tokens, i))
        return Work(int(tokens.counts[ENDED]), int(tokens.made.max()))

    def work(self, tokens, worker) -> None:
        """One thread's part, until all simulations have ended, or no more begin because the time is over."""

        def run(steps):
            return pipeline_kernel(self.game, self.tree, tokens, self.options, worker, steps)

        run_chunks(self.threads.unless_lost(run), None, self.budget.seconds)
        close_kernel(self.game, tokens)
        run_chunks(run, None, None)

    def simulate(self, state, rngs):
        tokens, clock = self.new_tokens(state, rngs), PLAYOUT_TIMES[self.agent.playout_time]
        time = simulated_pipeline_kernel(self.game, self.tree, tokens, self.options, clock, self.agent.stage_time)
        return Work(int(tokens.counts[ENDED]), int(tokens.made.max()), time)


@helper
def do_stage(game, tree, tokens, token, stage, options):
    """Take a token through one stage; returns the plies of the playout, 0 for other stages."""
    walk, rng, plies = walk_of(tokens.walks, token), tokens.rngs[token], 0
    if stage == SELECT:
        enter(game, tree, walk, options)
        while not game.is_over(walk.state) and atomic_load(tree.nodes.children, last_node(walk)) > LEAF:
            step_down(game, tree, walk, options, rng)
    elif stage == EXPAND:
        while not game.is_over(walk.state) and has_children(game, tree, walk, options, rng):
            step_down(game, tree, walk, options, rng)
    elif stage == PLAY_OUT:
        score, plies = game.random_playout(walk.state, walk.moves, rng)
        tokens.rewards[token] = reward_of(score)
    else:
        back_up_shared(tree, walk, tokens.rewards[token], options)
    return plies


@kernel
def pipeline_kernel(game, tree, tokens, options, worker, steps):
    """Take tokens through stages, `steps` times at most; 0 when all simulations have ended."""
    token = 0
    for step in range(steps):
        if atomic_load(tokens.counts, ENDED) >= atomic_load(tokens.counts, LIMIT):
            return step
        found = False
        for _ in range(len(tokens.stage)):
            token = (token + 1) % len(tokens.stage)
            stage = atomic_load(tokens.stage, token)
            if stage != WORKING and take(tokens, token, stage):
                found = True
                do_stage(game, tree, tokens, token, stage, options)
                tokens.made[worker] += stage == PLAY_OUT
                if stage == BACK_UP:
                    atomic_add(tokens.counts, ENDED, np.int64(1))
                if stage != PLAY_OUT:
                    atomic_store(tokens.busy, stage, np.int32(0))
                atomic_store(tokens.stage, token, np.int32((stage + 1) % STAGES))
                break
        if not found:
            wait(tokens.lost, 0)
    return steps


@helper
def take(tokens, token, stage):
    """Try to take a token, and the stage it waits for."""
    counts = tokens.counts
    if stage == SELECT and counts[STARTED] >= counts[LIMIT]:
        return False
    if stage != PLAY_OUT and not atomic_compare_exchange(tokens.busy, stage, np.int32(0), ONE):
        return False
    if atomic_compare_exchange(tokens.stage, token, np.int32(stage), np.int32(WORKING)):
        if stage != SELECT:
            return True
        if counts[STARTED] < atomic_load(counts, LIMIT):
            counts[STARTED] += 1  # only SELECT may write this, even unchanged: one thread at a time is there
            return True
        atomic_store(tokens.stage, token, np.int32(stage))
    if stage != PLAY_OUT:
        atomic_store(tokens.busy, stage, np.int32(0))
    return False


@kernel
def close_kernel(game, tokens):
    """Start no more simulations, and let those that have been started end."""
    while not atomic_compare_exchange(tokens.busy, SELECT, np.int32(0), ONE):
        wait(tokens.lost, 0)
    tokens.counts[LIMIT] = tokens.counts[STARTED]
    atomic_store(tokens.busy, SELECT, np.int32(0))


@kernel
def simulated_pipeline_kernel(game, tree, tokens, options, clock, stage_time):
    """Run the pipeline in virtual time, whose length it returns: the step that can begin first comes next."""
    ready, free, servers = np.zeros(len(tokens.stage)), np.zeros(STAGES), np.zeros(len(tokens.made))
    counts, now = tokens.counts, 0.0
    while counts[ENDED] < counts[LIMIT]:
        free[PLAY_OUT] = servers.min()
        token, now = -1, np.inf
        for other in range(len(ready)):
            start = max(ready[other], free[tokens.stage[other]])
            if start < now and (tokens.stage[other] != SELECT or counts[STARTED] < counts[LIMIT]):
                token, now = other, start
        stage = tokens.stage[token]
        plies = do_stage(game, tree, tokens, token, stage, options)
        if stage == PLAY_OUT:
            ready[token] = now + playout_time(clock, plies)
            server = servers.argmin()
            servers[server] = ready[token]
            tokens.made[server] += 1
        else:
            ready[token] = free[stage] = now + stage_time
        counts[STARTED] += stage == SELECT
        counts[ENDED] += stage == BACK_UP
        tokens.stage[token] = (stage + 1) % STAGES
    return now
