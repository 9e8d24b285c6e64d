"""A run on a cluster whose workers are killed, and whose parent is: the same tables as on processes, nothing left.

The workers of Dask are processes here, as on a real cluster; the short form is in `tests/arena/test_cluster.py`.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import arena
from tests.arena.conftest import registries, values  # noqa: F401 - a fixture
from tests.arena.test_tournament import ROOT, games, toml

pytest.importorskip("distributed", reason="playing on a cluster needs the extra `cluster`")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")]

KEYS = values(
    ("a", "test_odd(pause=0.01)"),
    ("b", "test_odd(how='raise', odds=0.3, pause=0.01)"),
    ("exits", "test_odd(how='exit', at=4)"),
    "random",
    game="test_nim(heap=40)",
    games=40,
)
TOKEN = f"CLUSTER_FAULTS={os.getpid()}-{time.monotonic_ns()}"  # in the environment of all that these tests start
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)} | dict([TOKEN.split("=")])


@contextmanager
def dask(folder, workers):
    """A scheduler and so many workers, each with its nanny, in processes and a process group of their own."""
    file = folder / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", str(file), "--port", "0"]
    started = [_started([*command, "--no-dashboard"])]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
    started += [_started([*command, "--local-directory", str(folder / f"w{i}")]) for i in range(workers)]
    try:
        yield str(file)
    finally:
        for one in started:
            os.killpg(one.pid, signal.SIGTERM)
        for one in started:
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(one.pid, signal.SIGKILL)


def _started(command):
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, process_group=0, env=ENVIRONMENT, cwd=ROOT)


def run(folder, cluster, *options):
    """A run in a process of its own."""
    (folder / "t.toml").write_text(toml(KEYS))
    words = [str(folder / "t.toml"), "--out", str(folder / "run"), "--cluster", cluster, *options]
    command = [sys.executable, "-m", "arena", "run", *words]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=ROOT)


def stations():
    """The ids of the stations of these tests, and of what they have forked, with those of their parents."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if b"arena.cluster.station import main" not in (path / "cmdline").read_bytes():
                continue
            if TOKEN.encode() in (path / "environ").read_bytes():
                found[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def stored(folder):
    """How many games are stored."""
    try:
        return len(games(folder / "run")[0])
    except Exception:
        return 0


def wait_for(number, folder, process):
    """Wait until so many games are stored."""
    until = time.monotonic() + 240
    while stored(folder) < number:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until, f"{stored(folder)} games"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    arena.run(KEYS, folder / "run", workers=2)
    return games(folder / "run")


def check(folder, process, undisturbed):
    code, said = process.wait(300), process.stderr.read()
    assert code == 1 and "142 of 240 games were lost by forfeit (108 died, 34 exception)" in said, said
    assert "kernels of b: ValueError: on purpose (oddities.py, line" in said
    assert games(folder / "run") == undisturbed
    until = time.monotonic() + 20
    while stations() and time.monotonic() < until:
        time.sleep(0.1)
    assert stations() == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_tables_are_those_of_processes(tmp_path, undisturbed, workers):
    with dask(tmp_path, workers) as cluster:
        check(tmp_path, run(tmp_path, cluster), undisturbed)


def test_workers_that_are_killed_cost_no_game(tmp_path, undisturbed):
    """The process of a worker of Dask is killed twice, each time half way; its nanny starts another one."""
    with dask(tmp_path, 2) as cluster:
        process = run(tmp_path, cluster)
        for number in (60, 140):
            wait_for(number, tmp_path, process)
            parents = [parent for pid, parent in stations().items() if parent not in stations()]
            os.kill(random.Random(number).choice(parents), signal.SIGKILL)
        check(tmp_path, process, undisturbed)


def test_a_worker_that_is_stopped_costs_no_game(tmp_path, undisturbed):
    """With its station; it goes on when the run is over, and leaves nothing."""
    with dask(tmp_path, 2) as cluster:
        process = run(tmp_path, cluster)
        wait_for(60, tmp_path, process)
        station, parent = next((pid, parent) for pid, parent in stations().items() if parent not in stations())
        for pid in (parent, station):
            os.kill(pid, signal.SIGSTOP)
        code, said = process.wait(300), process.stderr.read()
        os.kill(parent, signal.SIGCONT)
        os.kill(station, signal.SIGCONT)
        assert code == 1 and re.search("worker tcp://.* is gone, or silent: its games are played again", said), said
        assert games(tmp_path / "run") == undisturbed
        until = time.monotonic() + 40
        while stations() and time.monotonic() < until:
            time.sleep(0.1)
        assert stations() == {}


def test_a_killed_parent_leaves_nothing_and_resumes(tmp_path, undisturbed):
    with dask(tmp_path, 2) as cluster:
        process = run(tmp_path, cluster)
        wait_for(80, tmp_path, process)
        process.kill()
        process.wait()
        until = time.monotonic() + 30
        while stations():
            assert time.monotonic() < until, "the stations go on without their parent"
            time.sleep(0.1)
        assert 80 <= stored(tmp_path) < 240
        check(tmp_path, run(tmp_path, cluster, "--resume"), undisturbed)
