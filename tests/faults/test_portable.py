"""A system with POSIX alone, as ARENA_SYSTEM=portable has all systems answer: the same games, and runs that go on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import pytest

import arena as arena_package
from arena import agents, games, results
from arena.games.core.shared import system
from arena.results.database.store import Store
from tests.agents import badly
from tests.arena.browser import until

CONFIG = 'game = "tictactoe"\ngames = 60\nagents = ["uct(playouts=40)", "alphabeta(depth=2)", "random"]\nseed = 5\n'
PORTABLE = {system.VARIABLE: "portable"}


def arena(*words, **more):
    return subprocess.Popen([sys.executable, "-P", "-m", "arena", *map(str, words)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, **more)  # fmt: skip


def played(folder):
    with Store.open(folder) as store:
        return sorted((one.id, one.seed, one.moves, one.outcome) for one in store.records())


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The configuration, and the games as this system plays them."""
    folder = tmp_path_factory.mktemp("usual")
    (folder / "run.toml").write_text(CONFIG)
    run = arena("run", folder / "run.toml", "--out", folder / "run", "--workers", 2)
    assert run.wait() == 0, run.stdout.read()
    return folder / "run.toml", played(folder / "run")


def test_a_killed_run_ends_its_workers_and_goes_on_to_the_same_games(usual, tmp_path):
    config, games = usual
    environment = os.environ | PORTABLE
    run = arena("run", config, "--out", tmp_path / "run", "--workers", 2, env=environment)
    until(lambda: (tmp_path / "run" / "tournament.sqlite").exists() and len(stored(tmp_path / "run")) > 3)
    own = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_below(pid, run.pid)]
    run.send_signal(signal.SIGKILL)
    run.wait()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in own), 10.0)
    again = arena("run", "--out", tmp_path / "run", "--resume", env=environment)
    assert again.wait() == 0, again.stdout.read()
    assert own and played(tmp_path / "run") == games


def stored(folder):
    try:
        return played(folder)
    except Exception:  # its first lines are not written yet
        return []


def is_below(pid, ancestor):
    """Whether a process is of that one, by way of any others."""
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
        except OSError:
            return False
        if pid == ancestor:
            return True
    return False


def test_what_an_outside_program_goes_without_is_said_once(tmp_path):
    program = f"external(command='{sys.executable} {badly.__file__} notes {token_hex(8)}', nodes=5)"
    agents = f"[[agents]]\nname = 'program'\nagent = {json.dumps(program)}\n[[agents]]\nagent = 'random'\n"
    (tmp_path / "run.toml").write_text(f"game = 'tictactoe'\ngames = 2\n{agents}")
    run = arena("run", tmp_path / "run.toml", "--out", tmp_path / "run", env=os.environ | PORTABLE)
    told, _ = run.communicate()
    left = "warning: this system does not end a process that a program leaves behind, outside its process group\n"
    assert run.returncode == 0 and told.count(left) == 1 and "no limit" not in told, told


def test_the_portable_answers():
    code = (
        "import os, signal\nfrom arena.games.core.shared import system\n"
        "print(system.start_method(), system.start_method(threads=False), system.get_signal_at_parents_end(9), "
        "system.gather_orphans(), system.gathers_orphans(), system.limits_memory(), system.limit_memory(1 << 46), "
        "system.descendants(), system.children_of(1), system.is_stopped(1), "
        "list(system.with_mark('')), system.cores() == os.cpu_count(), bool(system.processor()))"
    )
    told = subprocess.run([sys.executable, "-c", code], env=os.environ | PORTABLE, capture_output=True, text=True)
    assert told.stdout == "spawn spawn False False False True True [] None False [] True True\n", told.stderr


@pytest.mark.parametrize("proc", [system.PROC, ""])
def test_a_stopped_process_is_seen_to_be_so(proc, monkeypatch):
    monkeypatch.setattr(system, "PROC", proc)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as one:
        assert not system.is_stopped(one.pid)
        one.send_signal(signal.SIGSTOP)
        until(lambda: system.is_stopped(one.pid), 10.0)
        one.kill()
    assert not system.is_stopped(one.pid)


@pytest.mark.parametrize("proc", [system.PROC, ""])
def test_processes_below_are_found(proc, monkeypatch):
    monkeypatch.setattr(system, "PROC", proc)
    nested = "import subprocess, sys; subprocess.run(['sleep', '60'])"
    with subprocess.Popen([sys.executable, "-c", nested]) as one:
        until(lambda: one.pid in system.descendants() and any(is_below(pid, one.pid) for pid in system.descendants()))
        below = [pid for pid in system.descendants() if is_below(pid, one.pid)]
        one.kill()
        os.kill(below[0], signal.SIGKILL)
    until(lambda: not {one.pid, *below} & {*system.descendants()})


def test_the_usual_answers():
    with subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], env=os.environ | {"OF": "mark"}
    ) as one:
        until(lambda: one.pid in system.descendants() and one.pid in list(system.with_mark("OF=mark")))
        assert one.pid in system.children_of(os.getpid())
        one.kill()
    assert system.children_of(one.pid) == []


def test_a_locked_file_is_seen_to_be_so(tmp_path):
    with open(tmp_path / "file", "w") as file:
        assert not system.is_locked(tmp_path / "file")
        system.lock(file.fileno())
        with open(tmp_path / "file") as other, pytest.raises(BlockingIOError):
            system.lock(other.fileno())
        assert system.is_locked(tmp_path / "file")
    assert not system.is_locked(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        system.is_locked(tmp_path / "none")


def test_nothing_else_asks_the_system():
    asking = ("/proc", "prctl", "fcntl", "import resource\n", "sched_getaffinity", "sys.platform", "all_start_methods")
    files = {
        path
        for package in (arena_package, games, agents, results)
        for path in Path(package.__file__).resolve().parent.rglob("*.py")
    }
    found = {path.name for path in files if any(word in path.read_text() for word in asking)}
    assert found == {"system.py", "determinism.py"}  # which tries each start method
