"""Whole runs, many of them in processes of their own: stopped, killed, resumed, short of space."""

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import arena
from arena.config.config import ConfigError
from arena.results.database.store import Store, StoreBusy, StoreError, StoreExists
from arena.runner.desk import Room
from arena.runner.running import _signals
from arena.workers import compiled, logs
from arena.workers.starting import WorkerStartError
from arena.workers.supervisor import Supervisor
from tests.arena.conftest import PLUGIN, values

ROOT = Path(arena.__file__).parents[1]
SLOW = values(
    ("a", "test_odd(pause=0.003)"), ("b", "test_odd(how='raise', odds=0.3, pause=0.003)"), ("c", "random"), games=40
)
LONG = "test_nim(heap=40)"  # in which everybody decides more often than before play
# of starting processes: commands use the fork server
METHODS = [pytest.param("fork", marks=pytest.mark.slow), "forkserver", pytest.param("spawn", marks=pytest.mark.slow)]
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def games(folder):
    """Everything that is stored, times left out, in the schedule's order."""
    with Store.open(folder) as store:
        records = store.select(
            "SELECT id, number, condition, opening, seed, first, second, outcome, score, reason, detail, "
            "opening_moves, moves, plies FROM games ORDER BY number"
        )
        decisions = store.select(
            "SELECT id, ply, side, move, value, playouts, nodes, depth FROM moves JOIN games USING (game) "
            "ORDER BY number, ply"
        )
    return records, decisions


class Runner:
    """A run in a process, a session and a process group of its own."""

    def __init__(self, folder, keys, method="fork", *options):
        config = folder / "t.toml"
        config.write_text(toml(keys))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.arena.runner", str(config), str(folder / "run"), method, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        )

    def wait_for(self, word, times=1):
        while times:
            line = self.process.stdout.readline()
            assert line, f"the run ended with code {self.process.wait()} before it said {word!r}"
            times -= line.startswith(word)

    def end(self, seconds=300):
        """Its exit code and the rest of its output; if it is held up, it goes on.  A game that hangs takes longer."""
        output, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, output

    def left(self):
        """The processes of its session that are alive."""
        alive = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == self.process.pid and state != "Z":
                alive.append(int(stat.parent.name))
        return alive

    def wait_until_none_is_left(self, seconds=60):
        until = time.monotonic() + seconds
        while self.left() and time.monotonic() < until:
            time.sleep(0.02)
        assert self.left() == []


def toml(keys):
    """JSON's strings, numbers and lists are TOML's too."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if key != "agents"]
    for entry in keys["agents"]:
        lines += ["[[agents]]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The games of SLOW as one worker plays them."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    arena.run(SLOW, folder, workers=1)
    sys.modules.pop(PLUGIN)
    return games(folder)


@pytest.fixture
def nothing_known(monkeypatch):
    """No agent is known to be compiled, whatever was played before."""
    monkeypatch.setattr(compiled, "left", lambda seats, games: list(range(len(seats))))


def test_a_run_returns_its_results(tmp_path, nothing_known):
    class Watcher(arena.Events):
        told = []

        def __getattribute__(self, name):
            told = object.__getattribute__(self, "told")
            return lambda *arguments: told.append((name, *arguments))

    keys = values("random", ("b", "random"), game="tictactoe", games=6, seed=4)
    tournament = arena.run(keys, tmp_path / "run", workers=2, events=Watcher())
    assert len(tournament.games) == 6
    told = [event for event in Watcher.told if event[0] != "playing"]  # which is told of from time to time
    names = [event[0] for event in told]
    begin = ["opened", "planned", "warming", "warmed", "warming", "warmed", "started"]
    assert names == [*begin, *["finished"] * 6, "ended"]
    assert told[6] == ("started", 6, 0) and len(told[1][1]) == 6
    with Store.open(tmp_path / "run") as store:
        assert store.agents == [{"name": "random", "spec": "random"}, {"name": "b", "spec": "random"}]
        assert store.meta["config"] == arena.config.loading.from_values(keys).resolved()
        assert store.meta["machine"].keys() >= {"cpu", "cores", "memory_bytes", "python", "numba", "source_digest"}
    assert "6 of 6 games stored" in (tmp_path / "run" / "log.txt").read_text()


@pytest.mark.parametrize("method", METHODS)
def test_start_methods_and_workers_make_no_difference(tmp_path, undisturbed, method):
    code, output = Runner(tmp_path, SLOW, method).end()
    assert (code, output.splitlines()[-1]) == (0, "120 games")
    assert games(tmp_path / "run") == undisturbed
    assert "ValueError: on purpose" in (tmp_path / "run" / "log.txt").read_text()


def test_who_watches_is_told_of_the_end_of_a_run_that_cannot_begin(tmp_path, monkeypatch):
    told = []

    class Watcher(arena.Events):
        def opened(self, resolved, folder):
            told.append("opened")

        def ended(self):
            told.append("ended")

    def fail(self, warming, warmed):
        raise WorkerStartError("no process can be started")

    monkeypatch.setattr(Supervisor, "prepare", fail)
    with pytest.raises(WorkerStartError):
        arena.run(values("random", ("b", "random")), tmp_path / "run", workers=1, events=Watcher())
    assert told == ["opened", "ended"]


def test_an_existing_run_is_refused_without_resume(tmp_path):
    keys = values("random", ("b", "random"))
    arena.run(keys, tmp_path, workers=1)
    before = games(tmp_path)
    with pytest.raises(StoreExists):
        arena.run(keys, tmp_path, workers=1)
    assert games(tmp_path) == before


def test_a_run_can_be_made_longer(tmp_path):
    keys = values("random", ("b", "random"), games=4)
    arena.run(keys, tmp_path / "one", workers=1)
    assert len(arena.run(keys | {"games": 8}, tmp_path / "one", workers=1, resume=True).games) == 8
    arena.run(keys | {"games": 8}, tmp_path / "other", workers=1)
    assert games(tmp_path / "one") == games(tmp_path / "other")


def test_another_configuration_cannot_be_resumed(tmp_path):
    keys = values("random", ("b", "random"))
    arena.run(keys, tmp_path, workers=1)
    with pytest.raises(ConfigError, match="seed = 5, but the run was started with 0"):
        arena.run(keys | {"seed": 5}, tmp_path, workers=1, resume=True)
    assert len(arena.run(keys, tmp_path, workers=1, resume=True).games) == 2  # the store was let go


def test_no_workers_are_an_error(tmp_path):
    with pytest.raises(ValueError, match="workers = 0 is out of range"):
        arena.run(values("random", ("b", "random")), tmp_path, workers=0)
    assert not list(tmp_path.iterdir())


def test_a_run_outside_the_main_thread(tmp_path):
    lengths = []
    keys = values("random", ("b", "random"))
    thread = threading.Thread(target=lambda: lengths.append(len(arena.run(keys, tmp_path, workers=1).games)))
    thread.start()
    thread.join(300)
    assert lengths == [2]


def played(out):
    tournament = arena.run(values("random", ("b", "random"), games=2), out, workers=2)
    return len(tournament.games), multiprocessing.current_process().daemon


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_run_in_a_process_of_a_pool(tmp_path, method):
    """Such processes are daemonic, which Python does not let have children."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(played, [tmp_path / "1", tmp_path / "2"]) == [(2, True)] * 2


def test_runs_of_several_threads_take_turns(tmp_path):
    """Their workers would keep each other's descriptors open, and the runs wait for each other for ever."""
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(played, tmp_path / str(i)) for i in range(4)]
        assert [run.result(timeout=100) for run in runs] == [(2, False)] * 4


def test_signal_handlers_are_put_back(tmp_path):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    arena.run(values("random", ("b", "random")), tmp_path, workers=1)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.slow
@linux
@pytest.mark.parametrize("method", ["fork", "forkserver"])
def test_a_killed_run_leaves_no_process_and_is_resumed(tmp_path, undisturbed, method):
    chance = random.Random(7)
    for _ in range(3):
        run = Runner(tmp_path, SLOW, method, "--resume", "--hold", "35")
        run.wait_for("finished", times=chance.randint(1, 25))
        time.sleep(chance.uniform(0, 0.05))
        run.process.kill()
        run.process.wait()
        run.wait_until_none_is_left()
    stored = len(games(tmp_path / "run")[0])
    assert 3 <= stored < 120
    code, output = Runner(tmp_path, SLOW, method, "--resume").end()
    assert code == 0 and output.count("finished") == 120 - stored
    assert games(tmp_path / "run") == undisturbed


@pytest.mark.slow
@linux
@pytest.mark.parametrize("format, games_of_all", [("swiss", 3 * 2 * 8), ("knockout", None), ("sprt", None)])
def test_a_killed_run_whose_results_decide_what_is_played(tmp_path, format, games_of_all):
    keys = SLOW | {"format": format, "games": 8, "agents": [*SLOW["agents"], {"agent": "random", "name": "d"}]}
    keys |= {"rounds": 3} if format == "swiss" else {"games": 60} if format == "sprt" else {}
    arena.run(keys, tmp_path / "whole", workers=1)
    sys.modules.pop(PLUGIN)
    whole, chance = games(tmp_path / "whole"), random.Random(format)
    for _ in range(2):
        run = Runner(tmp_path, keys, "fork", "--resume", "--hold", str(2 * len(whole[0]) // 5))
        run.wait_for("finished", times=chance.randint(1, len(whole[0]) // 3))
        run.process.kill()
        run.process.wait()
        run.wait_until_none_is_left()
    code, output = Runner(tmp_path, keys, "fork", "--resume").end()
    assert (code, output.splitlines()[-1]) == (0, f"{len(whole[0])} games")
    assert games(tmp_path / "run") == whole and games_of_all in (None, len(whole[0]))


@linux
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_once_finishes_the_games_that_run(tmp_path, undisturbed, method):
    run = Runner(tmp_path, SLOW, method, "--hold", "60")
    run.wait_for("finished", times=4)
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does, to every process of the group
    code, output = run.end()
    assert code == 3 and "Traceback" not in output
    run.wait_until_none_is_left()
    stored = games(tmp_path / "run")[0]
    assert f"stopped with {len(stored)} of 120 games stored" in output
    assert set(stored) <= set(undisturbed[0])


@pytest.mark.slow
@linux
def test_ctrl_c_twice_stops_now(tmp_path):
    run = Runner(
        tmp_path, values("random", ("b", "random"), ("slow", "test_odd(how='hang', at=4)"), game=LONG, games=40)
    )
    run.wait_for("finished", times=2)
    os.killpg(run.process.pid, signal.SIGINT)
    run.wait_for("stopping later")  # a second signal before the first is noticed would be one with it
    time.sleep(0.5)
    assert run.process.poll() is None  # a game that hangs is not over
    os.killpg(run.process.pid, signal.SIGINT)
    code, output = run.end()
    assert code == 3 and "Traceback" not in output
    run.wait_until_none_is_left()
    assert {row[9] for row in games(tmp_path / "run")[0]} == {"played out"}


@pytest.mark.parametrize("total", [2, 2000])
def test_ctrl_c_while_the_display_is_taken_down_changes_nothing(tmp_path, monkeypatch, total):
    """Nor does it while the log is closed: the run has ended, or says how far it is."""

    class Watcher(arena.Events):
        told = []

        def finished(self, record):
            if total > 2:
                signal.raise_signal(signal.SIGINT)

        def ended(self):
            signal.raise_signal(signal.SIGINT)
            self.told.append("ended")

    def close(handler, close=logs.Handler.close):
        signal.raise_signal(signal.SIGINT)
        close(handler)

    monkeypatch.setattr(logs.Handler, "close", close)
    before, keys = signal.getsignal(signal.SIGINT), values("random", ("b", "random"), games=total)
    if total == 2:
        assert len(arena.run(keys, tmp_path, workers=1, events=Watcher()).games) == 2
    else:
        with pytest.raises(arena.Interrupted):
            arena.run(keys, tmp_path, workers=1, events=Watcher())
    assert Watcher.told == ["ended"] and signal.getsignal(signal.SIGINT) == before


def test_a_signal_that_comes_before_the_engine_is_kept_for_it():
    class Engine:
        def __init__(self):
            self.asked = []

        def request_stop(self, now=False):
            self.asked.append(now)

    before, engine = signal.getsignal(signal.SIGINT), Engine()
    with _signals() as direct:
        signal.raise_signal(signal.SIGINT)  # raises nothing
        signal.raise_signal(signal.SIGTERM)
        direct(engine)
        signal.raise_signal(signal.SIGTERM)
    assert engine.asked == [False, True, True] and signal.getsignal(signal.SIGINT) == before


@pytest.mark.slow
@linux
def test_sigterm_stops_now(tmp_path):
    run = Runner(
        tmp_path, values("random", ("b", "random"), ("slow", "test_odd(how='hang', at=4)"), game=LONG, games=40)
    )
    run.wait_for("finished", times=2)
    run.process.terminate()
    code, _ = run.end()
    assert code == 3
    run.wait_until_none_is_left()


def test_a_run_has_the_room_that_it_was_given_to_the_byte(tmp_path):
    room = Room(tmp_path, "1MB")
    (tmp_path / "a").write_bytes(bytes(1 << 19))
    (tmp_path / "b").write_bytes(bytes(1 << 19))
    assert not room.exceeded() and room.fault == ""
    (tmp_path / "b").write_bytes(bytes((1 << 19) + 1))
    assert room.exceeded() and room.fault.endswith("take 1.0 MB, and disk = '1MB'")
    assert not room.exceeded()  # once is enough


@pytest.mark.slow
@linux
def test_a_full_disk_keeps_what_was_stored(tmp_path):
    keys = values("random", ("b", "random"), game="tictactoe", games=4000)
    run = Runner(tmp_path, keys, "fork", "--limit", "1000000")
    code, output = run.end()
    run.wait_until_none_is_left()
    assert code == 4 and "the games stored before are kept" in output and "Traceback" not in output
    assert len(games(tmp_path / "run")[0]) == output.count("finished") > 40  # a game is 20 kB of the journal


@pytest.mark.slow
def test_a_second_run_on_the_same_folder_is_refused(tmp_path):
    keys = values("random", ("slow", "test_odd(pause=0.05)"), games=40)
    run = Runner(tmp_path, keys, "fork", "--hold", "5")
    run.wait_for("finished")
    with pytest.raises(StoreBusy):
        arena.run(keys, tmp_path / "run", resume=True)
    run.process.terminate()
    assert run.end()[0] == 3


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot make the folder"):
        arena.run(values("random", ("b", "random")), tmp_path / "file" / "run", workers=1)


def test_a_longer_run_is_remembered(tmp_path):
    keys = values("random", "test_odd", games=2)
    arena.run(keys, tmp_path / "run", workers=1)
    arena.run(keys | {"games": 6}, tmp_path / "run", workers=1, resume=True)
    with Store.open(tmp_path / "run") as store:
        assert store.meta["config"]["games"] == 6 and len(store.ids()) == 6
    with pytest.raises(ConfigError, match="games = 4, but the run was started with 6"):
        arena.run(keys | {"games": 4}, tmp_path / "run", workers=1, resume=True)


def failing(tmp_path, agent, games):
    keys = {"game": "tictactoe", "plugins": [PLUGIN], "agents": [agent, "random"], "games": games}
    return arena.run(keys, tmp_path / "run", workers=1)


def test_an_agent_that_raises_in_every_game_ends_the_run(tmp_path):
    """What it raised is told; the same exception in some games, or in a short run's, ends nothing."""
    with pytest.raises(arena.Interrupted) as stopped:
        failing(tmp_path, "test_odd(how='raise')", 60)
    said = " raised ValueError in each of its first 8 games, the last time: on purpose (oddities.py, line "
    assert said in stopped.value.why
    assert 8 <= stopped.value.stored < 60
    assert len(failing(tmp_path / "short", "test_odd(how='raise')", 8).games) == 8
    some = failing(tmp_path / "some", "test_odd(how='raise', odds=0.7)", 60)
    later = failing(tmp_path / "later", "test_odd(how='raise', at=2)", 4)
    assert len(some.games) == 60 and len(some.raised()) == len(later.unmoved()) == 0
    for lost, games in (some.unmoved(), some.games), (later.raised(), later.games):
        assert lost["games"].tolist() == [games["reason"].eq("exception").sum()]
        assert re.search(r"ValueError: on purpose \(oddities.py, line \d+\)$", lost["detail"][0])
