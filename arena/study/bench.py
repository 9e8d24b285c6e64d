"""The speed of games and searches on one core, and a signature that changes only when they do other work.

A report is plain values, as `arena bench --json` prints it: machine, date, games, agents, failures and signature.  A
row of games or agents has the speeds of its chunks, in units a second of processor time; its speed is their median.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from arena.games.core.errors import UserError
from arena.games.core.specialized import NEVER, SILENT, VARIABLE
from arena.study.meter import CHUNKS

PLAYOUTS, NODES, DEPTH = 10_000, 100_000, 2
METER = Path(__file__).with_name("meter.py")
SAMPLES = ("connect4", "pig", "samegame")  # for searches: without chance, with chance, for one player
SOURCES = ("arena/__init__.py",)  # if missing, the installed version would be measured


class Subject(NamedTuple):
    """What is measured, as specs: random playouts of a game or, with an agent, its searches on it."""

    game: str
    agent: str | None = None


class BenchError(UserError, ValueError):
    """A file without a report, or a folder without sources."""


class Version:
    """A version of the project in a process of its own; a context manager.

    `folder` holds its sources; None is the running version.  Kernels are compiled from scratch, in a temporary folder.
    """

    def __init__(self, folder: Path | None = None):
        self.folder = (folder or Path(__file__).parents[2]).resolve()
        missing = [name for name in SOURCES if not (self.folder / name).exists()]
        if missing:
            raise BenchError(f"{folder} does not hold the project's sources: there is no {', '.join(missing)} in it")
        self._kernels = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Version":
        return self

    def __exit__(self, *_) -> None:
        self._end()
        self._kernels.cleanup()

    def ask(self, **request) -> dict:
        """The answer of `arena.study.meter`, or a failure if its process ends."""
        self._process = process = self._process or self._start()
        assert process.stdin and process.stdout
        try:
            print(json.dumps(request), file=process.stdin, flush=True)
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        code = process.wait()
        self._end()
        return {"failure": f"the process that measures ended with exit code {code}"}

    def _start(self) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")]))
        place = self._kernels.name  # earlier versions know the second name
        return subprocess.Popen(
            [sys.executable, "-c", f"import runpy; runpy.run_path({str(METER)!r}, run_name='__main__')"],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": path, "ARENA_CACHE_DIR": place, "NUMBA_CACHE_DIR": place, SILENT: "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the parent, which ends this process
        )

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


def search_agents() -> list[str]:
    """Every agent with a budget that searches on one core, with the bench's budget."""
    from arena import agents
    from arena.agents.core.agent import Agent, registry

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
    """Every game, and every agent on it; SpecError if one does not exist."""
    from arena import agents, games

    found = [Subject(str(games.make(game)), agent) for game in game_specs for agent in (None, *agent_specs)]
    for agent in agent_specs:
        agents.make(agent)
    return found


def usual_subjects() -> list[Subject]:
    """Playouts of every game, and every search on those of SAMPLES that it can play."""
    from arena import games

    searches = [subject for subject in subjects(SAMPLES, search_agents()) if subject.agent]
    return subjects(games.names(), []) + searches


def measure(versions: Sequence, subject: Subject, seconds: float) -> list[dict | None]:
    """A row for each version, measured in turns; None if the version's agent does not play the game."""
    answers = [version.ask(game=subject.game, agent=subject.agent, seconds=seconds) for version in versions]
    chunks: list[list[dict]] = [[] for _ in versions]
    for _ in range(CHUNKS):
        for i, version in enumerate(versions):
            if "signature" in answers[i]:
                chunk = version.ask(chunk=True)
                if "failure" in chunk:
                    answers[i] = chunk
                else:
                    chunks[i].append(chunk)
    return [_row(subject, answer, taken) for answer, taken in zip(answers, chunks, strict=True)]


def _row(subject: Subject, answer: dict, chunks: list[dict]) -> dict | None:
    if "refused" in answer:
        return None
    if "failure" in answer:
        return subject._asdict() | {"failure": answer["failure"]}
    wall = statistics.median(chunk["units"] / chunk["wall"] for chunk in chunks)
    speeds = [chunk["units"] / chunk["cpu"] for chunk in chunks]
    measured = {"compile_seconds": answer["compile_seconds"], "signature": answer["signature"], "chunks": speeds}
    if subject.agent is None:
        plies = sum(chunk["plies"] for chunk in chunks) / sum(chunk["units"] for chunk in chunks)
        return {
            "game": answer["game"],
            "playouts_per_second": wall,
            "ns_per_ply": 1e9 / (wall * plies),
            "cpu_playouts_per_second": statistics.median(speeds),
            "lanes": answer.get("lanes", 0),
        } | measured
    return {
        "game": answer["game"],
        "agent": answer["agent"],
        "unit": answer["unit"],
        "per_second": wall,
        "cpu_per_second": statistics.median(speeds),
    } | measured


def report(rows: Iterable[dict | None]) -> dict[str, Any]:
    """The report of rows measured now, on this machine."""
    from arena.games.core.lanes import vector_bits
    from arena.workers.machine import describe

    found = [row for row in rows if row]
    measured = [row for row in found if "failure" not in row]
    return {
        "machine": describe() | {"vector_bits": vector_bits()},
        "specialize": os.environ.get(VARIABLE, NEVER),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "games": [row for row in measured if "agent" not in row],
        "agents": [row for row in measured if "agent" in row],
        "failures": [row for row in found if "failure" in row],
        "signature": sum(row["signature"] for row in measured),
    }


def bench(
    versions: Sequence, wanted: Sequence[Subject], seconds: float, show: Callable[[str], None]
) -> list[list[dict | None]]:
    """The rows of every version for each subject; `show` is called with a text before each measurement."""
    rows: list[list[dict | None]] = [[] for _ in versions]
    for number, subject in enumerate(wanted, 1):
        what = f"{subject.agent} on {subject.game}" if subject.agent else subject.game
        show(f"measuring {what}, {number} of {len(wanted)}")
        for found, row in zip(rows, measure(versions, subject, seconds), strict=True):
            found.append(row)
    return rows
