"""Bad agents, bad games, killed and stopped processes: each pays for itself alone, and nothing is left.

The long form, `pytest -m slow`, injects every kind and a thousand signals; the short form is part of every run.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import arena
from arena.config import loading
from arena.config.config import ConfigError
from arena.results.database.record import Reason
from arena.results.database.store import FILE_NAME, RESCUED_NAME, StoreLost
from arena.workers.worker import STOP, TICK
from tests.arena.conftest import registries, values  # noqa: F401 - a fixture
from tests.arena.test_tournament import ROOT, Runner, games, toml
from tests.faults import harm

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
pytestmark = linux

GOOD = ("good", "random"), ("other", "random")


def keys(*agents, game="test_count(heap=40)", games=2, **more):
    entries = [{"name": name, "agent": spec} for name, spec in agents]
    made = {"game": game, "games": games, "plugins": ["tests.faults.hostile"], "agents": entries, **more}
    return {key: value for key, value in made.items() if value is not None}


# -- Bad agents ---------------------------------------------------------------------------------------------------


def bad(*kinds, at=4):
    """A gauntlet of agents of these kinds and one that does no harm, against another such."""
    specs = [(how, f"test_hostile(how={how!r}, at={at})") for how in kinds]
    limits = {"game_seconds": 30, "move_seconds": 3.0, "memory": "3GB"}
    return keys(*GOOD, *specs, format="gauntlet", base="good", **limits)


def expected(how):
    """The reasons that a game may end for."""
    if how in harm.DIED:
        return {Reason.DIED}
    if how in harm.SPOILT:
        return {Reason.PLAYED_OUT, Reason.EXCEPTION, Reason.DIED}
    if how in harm.SLOW:
        return {Reason.TIME}
    if how in harm.LONG:  # unless it takes longer than its move may
        return {Reason.EXCEPTION, Reason.TIME, Reason.DIED}
    if how in harm.ILLEGAL:
        return {Reason.ILLEGAL_MOVE}
    return {Reason.PLAYED_OUT} if how in harm.HARMLESS else {Reason.EXCEPTION}


def sleepers():
    """Processes that agents have started, and that are left."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] * (harm.SLEEP.encode() in path.read_bytes())
        except OSError:
            continue
    return found


def moves(records, *names):
    """The moves of the games between these."""
    return [(row[0], row[7], row[11], row[12]) for row in records if {row[5], row[6]} <= {*names}]


def check_bad_agents(folder, kinds, method):
    run = Runner(folder, bad(*kinds), method)
    code, output = run.end(seconds=100 + 20 * len(kinds))
    assert code == 0 and "Traceback" not in output, output
    run.wait_until_none_is_left()
    assert sleepers() == []
    records = games(folder / "run")[0]
    assert len(records) == 2 * (1 + len(kinds))
    wrong = []
    for row in records:
        first, second, outcome, reason, detail = row[5], row[6], row[7], row[9], row[10]
        how = next((name for name in (first, second) if name in kinds), None)
        fair = reason in (expected(how) if how else {Reason.PLAYED_OUT})
        if reason in Reason.FORFEITS:
            fair &= outcome == float(second == how) and detail != "" and "its process has ended" not in detail
        wrong += [] if fair else [row]
    assert wrong == []
    return collections.Counter(row[9] for row in records), (folder / "run" / "log.txt").read_text()


@pytest.mark.parametrize("method", ["fork", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_bad_agents_pay_for_themselves(tmp_path, method):
    kinds = ["segmentation fault", "BaseException", "junk", "close all", "statistics of junk", "write to 1"]
    kinds += ["patch a game", "patch NumPy"]
    _, text = check_bad_agents(tmp_path, kinds, method)
    assert '{"not": "json of the run"}' in text and "to the errors" in text


@pytest.mark.slow
@pytest.mark.parametrize("method", ["forkserver", "fork"])
def test_every_kind_of_bad_agent_pays_for_itself(tmp_path, method):
    counts, _ = check_bad_agents(tmp_path, list(harm.HARM), method)
    print(len(harm.HARM), "kinds of bad agents:", dict(counts))
    (tmp_path / "still").mkdir()
    code, output = Runner(tmp_path / "still", keys(*GOOD), method).end(100)
    assert code == 0, output
    disturbed, still = (moves(games(folder / "run")[0], "good", "other") for folder in (tmp_path, tmp_path / "still"))
    assert disturbed == still and len(still) == 2


@pytest.mark.slow
def test_agents_that_harm_before_play_lose_and_are_asked_no_more(tmp_path):
    run = Runner(tmp_path, bad("os._exit(3)", "segmentation fault", "spin", "abort", at=1) | {"games": 6}, "forkserver")
    code, output = run.end(seconds=400)
    assert code == 0, output
    reasons = collections.Counter(row[9] for row in games(tmp_path / "run")[0])
    # the first failure is that of the process that compiles for all
    assert reasons[Reason.EXCLUDED] >= 4 * 4 and reasons[Reason.PLAYED_OUT] == 6, reasons
    assert output.count("it is asked no more, and loses the rest of its games") == 4


@pytest.mark.slow
def test_an_agent_that_takes_all_memory_loses_and_nothing_else_dies(tmp_path):
    plan = keys(*GOOD, ("greedy", "test_hostile(how='no memory')"), memory="2GB", games=4)
    code, output = Runner(tmp_path, plan, "forkserver").end(seconds=200)
    assert code == 0, output
    for row in games(tmp_path / "run")[0]:
        greedy = "greedy" in row[5:7]
        assert row[9] == (Reason.EXCEPTION if greedy else Reason.PLAYED_OUT), row
        assert not greedy or ("Memory" in row[10] and row[7] == float(row[6] == "greedy")), row
    assert "killed" not in (tmp_path / "run" / "log.txt").read_text()


@pytest.mark.parametrize("method", ["forkserver", pytest.param("spawn", marks=pytest.mark.slow)])
def test_junk_to_every_descriptor_reaches_no_process_of_the_run(tmp_path, method):
    code, output = Runner(tmp_path, bad("junk"), method).end(seconds=100)
    assert code == 0 and "Traceback" not in output and "resource_tracker" not in output, output


# -- Bad games ----------------------------------------------------------------------------------------------------


def run_games(folder, names, method):
    """The records of a run of these games, and its output."""
    agents = ("flat", "flat(playouts=5)"), ("random", "random")
    limits = {"opening_plies": 0, "game_seconds": 12, "move_seconds": 6}
    folder.mkdir()
    run = Runner(folder, keys(*agents, game=None, instances=list(names), **limits), method)
    code, output = run.end(seconds=100 + 60 * len(names))
    assert code == 0, output
    return games(folder / "run")[0], output


def unfair(records):
    """The records of games that are not void, or do not say why."""
    return [row for row in records if row[9] not in Reason.VOIDS or row[7] is not None or not row[10]]


@pytest.mark.slow
def test_a_bad_game_makes_no_agent_lose(tmp_path):
    records, output = run_games(tmp_path / "bad", ["test_playout_raises"], "fork")
    assert unfair(records) == [] and "no playout today" in records[0][10]
    assert "trouble the rules of test_playout_raises failed, and its games are void" in output


@pytest.mark.slow
def test_every_kind_of_bad_game_makes_no_agent_lose(tmp_path):
    records, _ = run_games(tmp_path / "bad", ["test_count", *harm.BAD_GAMES], "forkserver")
    sound, others = ([row for row in records if (row[2] == 0) is is_sound] for is_sound in (True, False))
    assert unfair(others) == [] and len(others) == 2 * len(harm.BAD_GAMES)
    for name in harm.REFUSED_GAMES:
        with pytest.raises(ConfigError, match=f"game = '{name}': "):
            loading.from_values(keys(("flat", "flat(playouts=5)"), ("random", "random"), game=name))
    print(len(harm.BAD_GAMES), "kinds of bad games:", dict(collections.Counter(row[9] for row in others)))
    still, _ = run_games(tmp_path / "sound", ["test_count", "test_count(heap=9)"], "forkserver")
    assert sound == [row for row in still if row[2] == 0] and len(sound) == 2


@pytest.mark.slow
def test_a_run_with_a_bad_game_ends_with_the_code_of_void_games(tmp_path):
    codes = {}
    for game, words in {"test_plain": "the rules of test_plain", "test_start_raises": "no start today"}.items():
        config = tmp_path / "t.toml"
        config.write_text(toml(keys(("flat", "flat(playouts=2)"), ("random", "random"), game=game)))
        command = [sys.executable, "-m", "arena", "run", str(config), "--out", str(tmp_path / game)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=ROOT)
        codes[game] = done.returncode
        assert words in " ".join(done.stderr.split()), done.stderr
    assert codes == {"test_plain": 1, "test_start_raises": 2}  # which is refused before play


# -- The place of the run -----------------------------------------------------------------------------------------


def test_a_store_that_is_deleted_during_a_long_game_ends_the_run_within_seconds(tmp_path):
    plan = values("random", ("slow", "test_odd(how='hang', at=4)"), game="test_nim(heap=40)")
    found = []

    def delete():
        (tmp_path / "run" / FILE_NAME).unlink()
        found.append(time.monotonic())

    class Watcher(arena.Events):
        def started(self, total, done):
            threading.Timer(0.5, delete).start()

    with pytest.raises(StoreLost, match=f"was deleted while.*{RESCUED_NAME}"):
        arena.run(plan, tmp_path / "run", workers=1, events=Watcher())
    assert time.monotonic() - found[0] < 60  # the game hangs for longer


def test_a_run_keeps_to_its_disk(tmp_path):
    plan = values(("a", "random"), ("b", "random"), game="tictactoe", games=100_000, disk="1MB")
    with pytest.raises(arena.Interrupted, match=r"take \d+\.\d MB, and disk = '1MB': stopped with \d+ of 100000"):
        arena.run(plan, tmp_path / "run", workers=2)
    stored = len(games(tmp_path / "run")[0])
    with pytest.raises(arena.Interrupted) as stopped:
        arena.run(plan, tmp_path / "run", workers=2, resume=True)
    assert stopped.value.stored >= stored > 40  # by the first look: a game is 20 kB of the journal


@pytest.mark.slow
def test_modules_in_the_current_folder_are_not_imported(tmp_path):
    for name in ("pandas", "games", "agents", "multiprocessing", "socket", "selectors"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "arena"  # as an installed one: its own folder is where Python looks first
    script.write_text('from arena.cli import main\n\nif __name__ == "__main__":\n    main()\n')
    agents = ["--agent", "random", "--agent", "flat(playouts=2)"]
    command = [sys.executable, str(script), "run", "--game", "tictactoe", *agents, "--games", "2", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()


# -- Signals ------------------------------------------------------------------------------------------------------

KINDS = {"worker SIGKILL": 40, "worker SIGTERM": 12, "worker SIGINT": 8, "worker SIGSTOP": 25, "all SIGSTOP": 8}
KINDS |= {"run SIGKILL": 3, "run SIGINT": 2, "run SIGTERM": 2}
PLAN = values(
    *(("a", "test_odd(pause=0.001)"), ("b", "random"), ("c", "test_odd(how='raise', odds=0.1)")),
    game="test_nim(heap=12)",
)


def disturb(folder, wanted, seconds, games_each):
    """Signals to the run, its workers and helpers at random moments, with resumes: how many of each were sent."""
    chance, sent, plan = random.Random(1), collections.Counter(), PLAN | {"games": games_each}
    until, methods = time.monotonic() + seconds, ["fork", "fork", "forkserver"]
    while sent.total() < wanted and time.monotonic() < until:
        run = Runner(folder, plan, methods[sent.total() % 3], "--resume")
        drain = threading.Thread(target=run.process.stdout.read)
        drain.start()
        while sent.total() < wanted and run.process.poll() is None:
            time.sleep(chance.uniform(0.02, 0.12))
            if others := [pid for pid in run.left() if pid != run.process.pid]:
                kind = chance.choices(list(KINDS), KINDS.values())[0]
                send(run, kind, chance.choice(others), others, chance)
                sent[kind] += 1
                if kind.startswith("run "):
                    break
        run.process.wait(300 if sent.total() < wanted else 1200)  # after the last signal it plays all that is left
        drain.join()
        run.wait_until_none_is_left()
    code, output = Runner(folder, plan, "fork", "--resume").end(seconds=1200)
    assert code == 0, output
    return sent, plan


def send(run, kind, victim, others, chance):
    whom, name = kind.split()
    number = getattr(signal, name)
    pids = {"worker": [victim], "run": [run.process.pid], "all": [run.process.pid, *others]}[whom]
    if number == signal.SIGSTOP:
        stop_for(pids, chance.uniform(0.05, 0.3))
    else:
        kill(pids[0], number)


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def stop_for(pids, seconds):
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    for pid in pids:
        kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("wanted, seconds, games_each", [(20, 120, 1000), (1000, 3600, 30_000)])
def test_signals_at_random_moments_change_nothing(tmp_path, wanted, seconds, games_each):
    sent, plan = disturb(tmp_path, wanted, seconds, games_each)
    assert sent.total() == wanted, sent
    (tmp_path / "still").mkdir()
    code, output = Runner(tmp_path / "still", plan, "fork").end(seconds=1200)
    assert code == 0, output
    disturbed, still = (games(folder / "run") for folder in (tmp_path, tmp_path / "still"))
    differ = [one for one, other in zip(disturbed[0], still[0], strict=True) if one != other]
    print(dict(sent), sent.total(), "signals;", len(still[0]), "games;", len(differ), "differ", differ)
    assert differ == [] and disturbed == still


@pytest.mark.slow
def test_a_stopped_worker_does_not_make_an_agent_forfeit(tmp_path):
    plan = keys(("late", "test_late(seconds=0.3)"), ("b", "random"), game="test_nim(heap=12)")
    # the margin is longer than a stop of the whole machine that goes unnoticed
    plan |= {"plugins": ["tests.arena.oddities"], "time_margin": TICK + STOP + 0.5}
    run = Runner(tmp_path, plan, "fork")
    run.wait_for("started")
    time.sleep(0.7)
    for _ in range(2):
        stop_for([pid for pid in run.left() if pid != run.process.pid], plan["time_margin"] + 0.9)
    code, output = run.end()
    assert code == 0, output
    assert {row[9] for row in games(tmp_path / "run")[0]} == {Reason.PLAYED_OUT}


@pytest.mark.slow
def test_others_play_the_games_of_a_worker_that_stays_stopped(tmp_path):
    plan = keys(("late", "test_late(seconds=0.1)"), ("b", "random"), game="test_nim(heap=12)", games=20)
    run = Runner(tmp_path, plan | {"plugins": ["tests.arena.oddities"]}, "fork")
    run.wait_for("finished", times=2)
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in run.left() if pid != run.process.pid}
    worker = min(pid for pid, command in commands.items() if b"tests.arena.runner" in command)
    kill(worker, signal.SIGSTOP)
    code, output = run.end(seconds=60)
    assert code == 0, output
    assert f"process {worker}: it was stopped for" in output and "(SIGSTOP); it is ended, and others play" in output
    records = games(tmp_path / "run")[0]
    assert len(records) == 20 and {row[9] for row in records} == {Reason.PLAYED_OUT}


@pytest.mark.parametrize("method", ["forkserver", pytest.param("spawn", marks=pytest.mark.slow)])
def test_a_killed_run_leaves_no_locks(tmp_path, method):
    run = Runner(tmp_path, keys(*GOOD, games=10_000), method)
    run.wait_for("finished")
    run.process.kill()
    assert "leaked" not in run.end()[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_nothing_is_left_of_a_killed_run_though_c_code_holds_the_lock_and_agents_fork(tmp_path, method):
    plan = bad("fork and sleep", "start a process", "hold the lock") | {"game_seconds": 300, "move_seconds": 300}
    run = Runner(tmp_path, plan, method)
    run.wait_for("finished", times=5)
    time.sleep(0.5)
    run.process.kill()
    run.process.communicate()
    run.wait_until_none_is_left()
    assert sleepers() == []
