"""The speed of games and searches on one core.

A report is plain values, as `arena bench --json` prints it: machine, date, games, agents and failures.  A row of games
or agents has the speeds of its chunks, in units a second of processor time; its speed is their median.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from arena import agents, games
from arena.agents.core.agent import Agent, registry
from arena.agents.core.pool import Pool, WorkerError
from arena.games.core.lanes.lanes import register_bits
from arena.games.core.shared.specialized import NEVER, VARIABLE
from arena.study.meter import Subject, begin, failed
from arena.workers.machine import describe

PLAYOUTS, NODES, DEPTH = 10_000, 100_000, 2
SAMPLES = ("connect4", "pig", "samegame")  # for searches: without chance, with chance, for one player


def search_agents() -> list[str]:
    """Every agent with a budget that searches on one core, with the bench's budget."""
    classes: dict[str, type[Agent]] = registry.classes()
    budgets = {"playouts": PLAYOUTS, "nodes": NODES, "depth": DEPTH}
    found = []
    for name, cls in classes.items():
        kinds = [kind for kind in budgets if kind in cls.budgets]
        spec = f"{name}({kinds[0]}={budgets[kinds[0]]})" if kinds else name
        if kinds and agents.make(spec).cores == 1:
            found.append(spec)
    return found


def subjects(game_specs: Iterable[str], agent_specs: Sequence[str]) -> list[Subject]:
    """Every game, and every agent on each that it plays; SpecError if one does not exist."""
    made, found = [agents.make(spec) for spec in agent_specs], []
    for game in map(games.make, game_specs):
        found.append(Subject(str(game)))
        found += [Subject(str(game), str(agent)) for agent in made if not agent.refuses(game)]
    return found


def usual_subjects() -> list[Subject]:
    """Playouts of every game, and every search on those of SAMPLES that it can play."""
    searches = [subject for subject in subjects(SAMPLES, search_agents()) if subject.agent]
    return subjects(games.names(), []) + searches


def measure(wanted: Sequence[Subject], seconds: float, show: Callable[[str], None]) -> Iterator[dict]:
    """Yield the row of each subject, measured in a process; `show` is called with a text before each measurement."""
    with tempfile.TemporaryDirectory() as kernels, closing(Pool("bench", 1, begin, kernels, restarts=0)) as pool:
        for number, subject in enumerate(wanted, 1):
            what = f"{subject.agent} on {subject.game}" if subject.agent else subject.game
            show(f"measuring {what}, {number} of {len(wanted)}")
            yield _measured(pool, subject, seconds)


def _measured(pool: Pool, subject: Subject, seconds: float) -> dict:
    try:
        pool.open()
        pool.give(0, (subject, seconds))
        while not (answers := pool.wait()):
            pass
    except WorkerError as error:
        pool.close()  # the next subject opens it again
        return failed(subject, str(error))
    pool.given[0].clear()
    return answers[0][1]


def report(rows: Iterable[dict]) -> dict[str, Any]:
    """The report of rows measured now, on this machine."""
    found = list(rows)
    measured = [row for row in found if "failure" not in row]
    return {
        "machine": describe() | {"vector_bits": register_bits()},
        "specialize": os.environ.get(VARIABLE, NEVER),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "games": [row for row in measured if "agent" not in row],
        "agents": [row for row in measured if "agent" in row],
        "failures": [row for row in found if "failure" in row],
    }
