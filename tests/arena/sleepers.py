"""Measures how many workers of a cluster one parent can feed, by workers that only sleep.

    python -m tests.arena.sleepers --slots 1000 --seconds 1 --games 20000

Stations are the only thing that is not as on a real cluster: four processes of Dask's workers have a thread for each
slot, in which a game is a pause, and its record one of 40 decisions.  The parent stores all games.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from arena.cluster import tasks
from arena.cluster.describing import describe_station
from arena.cluster.station_messages import Described, Over, Prepared, StationAnswer
from arena.config.config import Config
from arena.play.match import identity, seats_of
from arena.results.database.record import GameRecord, MoveRecord, Reason

PROCESSES = 4
DECISIONS = 40
SLEEP = "SLEEPERS_SECONDS"
TICKS = os.sysconf("SC_CLK_TCK")


class Sleeper:
    """What a `Post` is to the tasks, without a station."""

    ended = halted = False

    def __init__(self, values, cores):
        self.config, self.seconds = Config.restored(json.loads(values)), float(os.environ[SLEEP])
        sides = (MoveRecord(ply=i, side=i % 2, move="a1-b2", value=0.1, seconds=0.02) for i in range(DECISIONS))
        self.decisions = tuple(sides)

    def describe(self, wanted):
        return StationAnswer([Described(describe_station(self.config))])

    def prepare(self, wanted):
        return StationAnswer([Prepared()])

    def play(self, fixtures, wanted):
        return StationAnswer([Over(self.game(fixture)) for fixture in fixtures])

    def game(self, fixture):
        time.sleep(self.seconds)
        known = identity(fixture, [seat.name for seat in seats_of(self.config, fixture)])
        ended = {"outcome": 1.0, "score": 1.0, "reason": Reason.PLAYED_OUT, "detail": "", "opening_moves": ""}
        moves = " ".join(one.move for one in self.decisions)
        record = GameRecord(**known, **ended, moves=moves, plies=DECISIONS, seconds=self.seconds)
        return replace(record, decisions=self.decisions)

    def halt(self):
        pass

    close = halt


def dask_setup(worker):
    """Called by Dask's worker, which this module is preloaded into."""
    tasks.starter = Sleeper


def start(stack, folder, slots, seconds):
    """A scheduler and its sleepers; the scheduler's process id."""
    file, quiet = str(folder / "scheduler.json"), subprocess.DEVNULL
    base = [sys.executable, "-m"]
    commands = [[*base, "distributed.cli.dask_scheduler", "--scheduler-file", file, "--port", "0", "--no-dashboard"]]
    for i in range(PROCESSES):
        options = ["--nthreads", str(slots // PROCESSES), "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        more = ["--preload", "tests.arena.sleepers", "--local-directory", str(folder / str(i))]
        commands.append([*base, "distributed.cli.dask_worker", "--scheduler-file", file, *options, *more])
    environment = os.environ | {SLEEP: str(seconds), "PYTHONPATH": os.getcwd()}
    started = [subprocess.Popen(one, stdout=quiet, stderr=quiet, env=environment) for one in commands]
    for one in started:
        stack.callback(one.kill)
    return started


def cpu(pid):
    """Seconds of processor time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, kind, default in (("slots", int, 1000), ("seconds", float, 1.0), ("games", int, 20_000)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    asked = parser.parse_args()
    import arena

    keys = {
        "game": "tictactoe",
        "games": asked.games,
        "agents": [{"agent": "random"}, {"name": "b", "agent": "random"}],
    }

    class Clock(arena.Events):
        """The times when a third and five sixths of the games are over: between, all workers are there and wanted."""

        over, times = 0, ()

        def finished(self, record):
            self.over += 1
            if self.over in (asked.games // 3, asked.games * 5 // 6):
                now = time.monotonic(), time.process_time(), *(cpu(one.pid) for one in processes)
                self.times = (*self.times, now)

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        processes, clock = start(stack, folder, asked.slots, asked.seconds), Clock()
        file = folder / "scheduler.json"
        while not file.exists() or os.path.getsize(file) == 0:
            time.sleep(0.2)
        arena.run(keys, folder / "run", cluster=str(file), events=clock)
    wall, own, scheduler, *workers = (after - before for before, after in zip(*clock.times))
    games = asked.games * 5 // 6 - asked.games // 3
    busy = games * asked.seconds / (asked.slots * wall)
    print(f"{games} games of {asked.seconds:g} s on {asked.slots} slots in {wall:.1f} s: {busy:.1%} busy")
    print(
        f"processor time: parent {own:.1f} s ({own / wall:.0%} of a core, {1e3 * own / games:.2f} ms a game), ", end=""
    )
    print(f"scheduler {scheduler:.1f} s ({1e3 * scheduler / games:.2f} ms a game), workers {sum(workers):.1f} s")


if __name__ == "__main__":
    main()
