"""How fast games and agents are, on one core, and one number that changes only when what they do changes."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import agents
import games
from agents.core.agent import registry
from games.core.random import stream

PLAYOUTS, NODES, DEPTH = 10_000, 100_000, 2  # budgets of one search
REPEATS = 5  # measurements, of which the median counts


@dataclass(frozen=True)
class Rate:
    """How often something was done in a second."""

    wall: float
    cpu: float  # in a second of this thread's processor time
    compile_seconds: float  # of the first call, before the measurements

    @classmethod
    def of(cls, work: Callable[[int], int], seconds: float) -> "Rate":
        """The rate of `work(n)`, which does something n times and returns how many units that were."""
        start = time.perf_counter()
        work(1)
        compiling = time.perf_counter() - start
        count = 1
        while True:  # as many times as take a fifth of the seconds
            start = time.perf_counter()
            work(count)
            took = time.perf_counter() - start
            if took >= seconds / REPEATS / 2:
                break
            count *= 2 if took > seconds / REPEATS / 16 else 8
        wall, cpu = [], []
        for _ in range(REPEATS):
            start, cpu_start = time.perf_counter(), time.thread_time()
            units = work(count)
            wall.append(units / (time.perf_counter() - start))
            cpu.append(units / max(time.thread_time() - cpu_start, 1e-9))
        return cls(statistics.median(wall), statistics.median(cpu), compiling)


def bench_game(spec: str, seconds: float) -> dict:
    """Random playouts from the initial position."""
    game, plies, count = games.make(spec), 0, 0

    def work(n):
        nonlocal plies, count
        summary = games.playouts(game, n, seed=1)
        plies, count = plies + summary.plies, count + n
        return n

    rate = Rate.of(work, seconds)
    return {
        "game": str(game),
        "playouts_per_second": rate.wall,
        "ns_per_ply": 1e9 / (rate.wall * plies / count),
        "cpu_playouts_per_second": rate.cpu,
        "compile_seconds": rate.compile_seconds,
    }


def search_agents() -> list[str]:
    """Every agent that has a budget and searches on one core, with the budget that the bench gives it."""
    budgets = {"playouts": PLAYOUTS, "nodes": NODES, "depth": DEPTH}
    found = []
    for name, cls in registry.classes().items():
        kinds = [kind for kind in budgets if kind in cls.budgets]
        spec = f"{name}({kinds[0]}={budgets[kinds[0]]})" if kinds else name
        if kinds and agents.make(spec).cores == 1:
            found.append(spec)
    return found


def bench_agent(game_spec: str, agent_spec: str, seconds: float) -> dict | None:
    """Searches of the initial position by one player, of seeds 1, 2, ...; None if the agent cannot play the game."""
    game, agent = games.make(game_spec), agents.make(agent_spec)
    if agent.refuses(game):
        return None
    player, state = agent.player(game), game.initial()
    unit = "playouts" if "playouts" in agent.budgets else "nodes"

    def search(seed):
        # for one player, a player plays what it has found before it searches anew
        searcher = player if game.players == 2 else agent.player(game)
        return getattr(searcher.choose(state, stream(seed)), unit) or 0

    def work(n):
        return sum(search(seed + 1) for seed in range(n))

    rate = Rate.of(work, seconds)
    return {
        "game": str(game),
        "agent": str(agent),
        "unit": unit,
        "per_second": rate.wall,
        "cpu_per_second": rate.cpu,
        "compile_seconds": rate.compile_seconds,
    }


def signature(game_specs: Iterable[str], agent_specs: Iterable[str]) -> int:
    """The sum of the plies of 1,000 playouts of each game, and of the nodes, the best move's visits and the playouts at
    improvements of one search of each agent, all of seed 1."""
    total = 0
    for game_spec in game_specs:
        game = games.make(game_spec)
        total += games.playouts(game, 1000, seed=1).plies
        for agent_spec in agent_specs:
            agent = agents.make(agent_spec)
            if not agent.refuses(game):
                total += _work_of(agent.choose(game, game.initial(), seed=1))
    return int(total)


def _work_of(decision):
    """Nodes, how often the chosen move was visited, and when a search for one player has found better sequences."""
    table = decision.statistics
    visits = 0 if table is None else int(table.playouts[table.moves == decision.move].sum())
    return (decision.nodes or 0) + visits + sum(one.playouts for one in decision.improvements)


def bench(game_specs, agent_specs, seconds: float, step: Callable[[str], None] = lambda text: None) -> dict:
    """Every game and, on every game, every agent: what `arena bench --json` prints.  `step` is told what comes next."""
    report = {"games": [], "agents": []}
    for game_spec in game_specs:
        step(game_spec)
        report["games"].append(bench_game(game_spec, seconds))
        for agent_spec in agent_specs:
            step(f"{agent_spec} on {game_spec}")
            row = bench_agent(game_spec, agent_spec, seconds)
            if row:
                report["agents"].append(row)
    report["signature"] = signature(game_specs, agent_specs)
    return report
