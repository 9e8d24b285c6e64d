"""The supervisor: no game is lost, whatever becomes of the workers."""

import inspect
import logging
import multiprocessing
import os
import random
import re
import signal
import threading
import time
from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest
from numba.core import event

from arena.agents import Budget
from arena.config import loading
from arena.play import watch
from arena.results.database.record import Reason
from arena.workers import compiled, hosted, hosting, waiting, worker_main
from arena.workers import worker as worker_module
from arena.workers.batches import Lengths
from arena.workers.crew import Crew
from arena.workers.logs import RunLog
from arena.workers.starting import WorkerStartError
from arena.workers.verdicts import another_try
from arena.workers.waiting import Failure, Queue
from arena.workers.warmer import Warmer
from arena.workers.worker import STOP, TICK, SlowCall
from tests.arena import oddities
from tests.arena.conftest import essence, values
from tests.arena.fixtures import round_robin

LONG = "test_nim(heap=40)"  # in which everybody decides more often than before play


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    """No agent is known to be compiled, whatever was played before."""
    monkeypatch.setattr(compiled, "left", lambda seats, games: list(range(len(seats))))


def workers_left():
    """The processes of workers that are alive; those of parallel searches, which other tests keep, are none."""
    return [process for process in multiprocessing.active_children() if process.name.startswith("worker-")]


def die(*_):
    """Instead of what a process does."""
    os._exit(3)


def test_every_game_is_played_once(bench):
    made = bench(values("random", ("b", "random"), ("c", "random"), games=20))
    records = made.run()
    assert set(records) == {fixture.id for fixture in made.fixtures} and len(made.records) == 60
    assert workers_left() == []


def test_the_records_do_not_depend_on_the_workers(bench):
    odd = [(how, f"test_odd(how={how!r}, odds=0.3)") for how in ("raise", "range")]
    keys = values("random", *odd, games=12)
    one, two = ({id: essence(r) for id, r in bench(keys, workers=n).run().items()} for n in (1, 2))
    assert one == two
    assert {fields["reason"] for fields, *_ in one.values()} == {
        Reason.PLAYED_OUT,
        Reason.EXCEPTION,
        Reason.ILLEGAL_MOVE,
    }


def test_an_agent_that_ends_its_process_loses_its_games(bench):
    records = bench(values("random", ("b", "random"), ("bad", "test_odd(how='exit', at=4)"), game=LONG, games=4)).run()
    assert len(records) == 12
    for record in records.values():
        if "bad" in (record.first, record.second):
            assert record.reason == Reason.DIED
            assert re.fullmatch(r"bad at ply \d: its process ended with exit code 3", record.detail)
            assert (record.outcome, record.score) == (float(record.second == "bad"), None) and record.moves
        else:
            assert record.reason == Reason.PLAYED_OUT


def test_an_agent_that_ends_its_process_before_play_is_soon_asked_no_more(bench):
    made = bench(values("random", ("bad", "test_odd(how='exit')"), games=8), workers=1)
    records = made.run().values()
    assert [record.reason for record in records] == 2 * [Reason.DIED] + 6 * [Reason.EXCLUDED]
    assert all(record.outcome == float(record.second == "bad") for record in records)
    assert made.log().count("ended with exit code 3") == 2


@pytest.mark.parametrize("how", oddities.STOPS)
def test_an_agent_that_stops_its_process_loses_its_games(bench, how, monkeypatch):
    monkeypatch.setattr(hosting, "STOPPED_SECONDS", 1.0)
    bad = ("in play", f"test_odd(how={how!r}, at=4)"), ("before play", f"test_odd(how={how!r})")
    records = bench(values("random", *bad, game=LONG, games=4)).run().values()
    for name, spec in bad:
        mine = [record for record in records if {record.first, record.second} == {"random", name}]
        assert [record.outcome for record in mine] == [float(record.second == name) for record in mine]
        assert "its process was stopped for 1 s" in mine[0].detail
        due = 4 * [Reason.TIME] if name == "in play" else 2 * [Reason.EXCLUDED] + 2 * [Reason.TIME]
        assert sorted(record.reason for record in mine) == due, spec


def test_an_agent_whose_process_is_killed_every_time_has_lost(bench):
    made = bench(values("random", ("bad", "test_odd(how='kill', at=4)"), game=LONG, games=2))
    for record in made.run().values():
        assert record.reason == Reason.DIED and "its process was killed by SIGKILL" in record.detail
        assert made.log().count(f"game {record.id} is played again: its process was killed by SIGKILL") == 7


def test_a_game_in_which_a_process_is_killed_once_is_played(bench, tmp_path):
    for hosts, told in ((8, "is played again: its process was killed"), (0, "on worker-")):
        once = tmp_path / f"once{hosts}"
        made = bench(values("random", ("bad", f"test_odd(how='kill', once={str(once)!r})"), games=4, hosts=hosts))
        records = made.run()
        assert [record.reason for record in records.values()] == [Reason.PLAYED_OUT] * 4
        assert once.exists() and told in made.log()


@pytest.mark.parametrize("how, fate, tries", [
    ("exit", "the worker ended with exit code 3, while code of bad ran", 2),
    ("kill", "the worker was killed by SIGKILL", 8),
])  # fmt: skip
def test_a_game_that_ends_its_workers_is_void(bench, how, fate, tries):
    """Of an agent that plays in the worker since somebody trusts it."""
    agents = "random", ("b", "random"), ("bad", f"test_odd(how={how!r}, at=4)")
    records = bench(values(*agents, game=LONG, games=2, hosts=0)).run().values()
    bad = [record for record in records if "bad" in (record.first, record.second)]
    fates = "; played again: ".join(tries * [fate])
    assert [(record.reason, record.detail, record.outcome) for record in bad] == 4 * [(Reason.CRASH, fates, None)]
    assert {record.reason for record in records if record not in bad} == {Reason.PLAYED_OUT}


def test_an_agent_that_hangs_before_play_loses_its_games(bench):
    """Also where it may take as long as a game, and the rules are then tried without it."""
    keys = values("random", ("bad", "test_odd(how='hang')"), games=6, game_seconds=1.0)
    records = bench(keys, workers=1).run().values()
    assert {record.outcome == float(record.second == "bad") for record in records} == {True}
    assert Counter(record.reason for record in records) == {Reason.TIME: 2, Reason.EXCLUDED: 4}


@pytest.mark.slow
def test_an_agent_that_hangs_loses_its_games(bench):
    """The limit is longer than a stop of the machine that goes unnoticed, which would make others lose, too."""
    limit = TICK + STOP + 0.5
    start = time.monotonic()
    agents = "random", ("b", "random"), ("bad", "test_odd(how='hang', at=4)")
    records = bench(values(*agents, game=LONG, games=2, game_seconds=limit)).run()
    assert time.monotonic() - start < 300
    hung = [record for record in records.values() if record.reason == Reason.TIME]
    assert len(hung) == 4 and len(records) == 6
    assert all(f"was not over after {limit:g} s" in record.detail for record in hung)
    assert all(record.outcome == float(record.second == "bad") for record in hung)


def test_rules_that_fail_make_a_game_void(bench):
    made = bench(values("random", ("b", "random"), game="test_faulty_nim(heap=40, fault='raises')", games=4))
    records = made.run()
    assert all(r.reason == Reason.RULES and r.detail.startswith("the rules failed: play of") for r in records.values())
    assert len(records) == 4 and "ZeroDivisionError: these rules are broken" in made.log()


def test_records_of_workers_reach_the_log(bench):
    made = bench(values("random", ("odd", "test_odd(how='log')"), ("bad", "test_odd(how='raise')"), games=2))
    made.run()
    assert "INFO worker-1 a.plugin: odd: a record of the plugin, formatted" in made.log()
    assert "ValueError: on purpose" in made.log()
    assert not logging.getLogger("arena").handlers


@pytest.mark.slow
def test_fifty_killed_workers_cost_no_game(bench):
    made = bench(values(("a", "test_odd(pause=0.004)"), ("b", "test_odd(how='chatter', pause=0.004)"), games=240))
    killed, hurt, ended = [], Counter(), threading.Event()

    def kill_busy_workers():  # none for the same game so often that its agents would be held to account
        chance = random.Random(1)
        while len(killed) < 50 and not ended.wait(chance.uniform(0.005, 0.05)):
            busy = made.supervisor.playing().items()
            for pid, game in [(pid, game) for pid, game in busy if pid not in killed and hurt[game] < 3][:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue  # it has just ended by itself
                killed.append(pid)
                hurt[game] += 1
                logging.getLogger("arena").info("kill number %d.", len(killed))

    killer = threading.Thread(target=kill_busy_workers)
    killer.start()
    start = time.monotonic()
    try:
        records = made.run()
    finally:
        ended.set()
        killer.join()
    assert len(killed) == 50 and time.monotonic() - start < 180
    assert set(records) == {fixture.id for fixture in made.fixtures} and len(made.records) == 240
    assert {record.reason for record in made.records} == {Reason.PLAYED_OUT}
    text = made.log()
    assert all(f" kill number {n}." in text for n in range(1, 51))
    assert workers_left() == []


def test_a_first_stop_request_finishes_the_games_that_run(bench):
    made = bench(
        values(("a", "test_odd(pause=0.02)"), "random", games=40),
        on_result=lambda record: len(made.records) == 1 and made.supervisor.request_stop(),
    )
    stops, given, assign = [], {}, made.supervisor._assign
    made.supervisor.on_stop = stops.append
    made.supervisor._assign = lambda jobs: (
        given.update({job.fixture.id: made.supervisor._stops for job in jobs}) or assign(jobs)
    )
    records = made.run()
    assert set(given.values()) == {0} and set(records) <= set(given) and stops[0] is False
    assert 1 <= len(records) <= 4, "two that end at once, and the two that the workers have begun by then"
    assert {record.reason for record in made.records} == {Reason.PLAYED_OUT}


def test_a_second_stop_request_kills_the_workers(bench):
    made = bench(values(("a", "test_odd(how='hang', at=2)"), "random", games=40))
    stops, asked = [], []

    def on_stop(now):
        stops.append(now)
        if not now:
            threading.Timer(0.3, made.supervisor.request_stop).start()

    def stop_once():
        if not asked and made.supervisor.playing():
            asked.append(made.supervisor.request_stop())

    made.supervisor.on_stop, made.supervisor.on_tick = on_stop, stop_once
    start = time.monotonic()
    made.run()
    assert stops == [False, True] and time.monotonic() - start < 300
    assert not workers_left() and Reason.CRASH not in {r.reason for r in made.records}


def test_an_error_of_the_receiver_ends_the_run(bench):
    def refuse(record):
        raise OSError("no room")

    made = bench(values(("a", "test_odd(pause=0.01)"), "random", games=40), on_result=refuse)
    with pytest.raises(OSError, match="no room"):
        made.run()
    assert len(made.records) == 1 and workers_left() == []


def test_workers_that_cannot_start_end_the_run(bench):
    made = bench(values("random", ("b", "random")))
    made.supervisor.config.values["instances"] = ["test_nim(heap='high')"]  # what no checked configuration has
    with pytest.raises(WorkerStartError, match="3 workers in a row could not start; the last: test_nim"):
        made.run()


def test_workers_that_die_at_their_start_end_the_run(bench, monkeypatch):
    monkeypatch.setattr(worker_main, "main", _die_at_once)
    monkeypatch.setattr(worker_module, "START_SECONDS", 20.0)
    with pytest.raises(WorkerStartError, match="the worker ended with exit code 7"):
        bench(values("random", ("b", "random"))).run()


def _die_at_once(*arguments):
    os._exit(7)


def test_cores_are_counted(bench, tmp_path):
    folder = tmp_path / "cores"
    folder.mkdir()
    wide, narrow = (f"test_wide(folder={str(folder)!r}, cores={n})" for n in (2, 1))
    made = bench(values(("wide", wide), ("one", narrow), ("other", narrow), games=12))
    assert len(made.run()) == 36
    seen = {line.split("taken: ")[1] for line in made.log().splitlines() if "taken: " in line}
    # a game with the wide agent has both cores to itself, though its other agent takes one
    assert seen <= {"1.", "2.", "1+1."} and {"2.", "1+1."} <= seen


def take_all(wide, limit, games=40, last_for=3):
    """The order in which a queue gives games out on `limit` cores when each lasts `last_for` rounds; `wide` numbers."""
    queue = Queue(
        partial(next, iter(round_robin(2, games, 0)), None),
        lambda fixture: wide.get(fixture.number, 1),
        limit,
        Lengths(),
    )
    running, order = [], []
    while len(order) < games:
        while jobs := queue.take(limit - sum(cores for cores, _ in running)):
            (job,) = jobs
            running.append((job.cores, last_for + job.fixture.number % 2))
            order.append(job.fixture.number)
            assert sum(cores for cores, _ in running) <= limit
        running = [(cores, left - 1) for cores, left in running if left > 1]
    return order


def test_how_often_a_game_is_played_again():
    """Twice in all, if nobody knows why its worker died; eight times, if workers are killed from outside."""
    unknown, killed = Failure("died", Reason.DIED, None), Failure("killed", Reason.DIED, None, outside=True)
    assert [another_try([unknown] * times) for times in (1, 2)] == [True, False]
    assert [another_try([killed] * times) for times in (7, 8)] == [True, False]


def test_games_of_one_core_keep_the_schedules_order():
    assert take_all({}, 4) == list(range(40))


def test_a_wide_game_is_not_starved():
    order = take_all({3: 4}, 4, games=200)
    assert sorted(order) == list(range(200)) and order.index(3) <= 3 + waiting.OVERTAKING * 4


def test_a_game_that_needs_more_cores_than_there_are_runs_alone():
    assert sorted(take_all({5: 64, 6: 3}, 2)) == list(range(40))


@pytest.mark.slow
def test_the_time_to_load_kernels_is_for_each_game(tmp_path):
    """Of an agent that needs more than it for all games together, but less for each."""
    heaps = [f"test_nim(heap={heap})" for heap in range(5, 11)]
    keys = values(("slow", "test_odd(pause=0.5)"), "random", game=None, instances=heaps, game_seconds=7.0)
    told = []
    with RunLog(tmp_path / "log.txt") as run_log, Crew() as crew:
        tell = told.append, lambda *result: told.append(result), told.append
        assert not Warmer(crew, loading.from_values(keys), run_log, 2, *tell).run().total()
    assert {entry for entry in told if entry in ("slow", "random")} == {"slow", "random"} and len(told) == 4
    (seconds, failure), *_ = (entry[1:] for entry in told if entry[0] == "slow")
    assert failure == "" and seconds > 7.0


LOOPS = """
import random
from dataclasses import dataclass
from typing import ClassVar

from arena.agents import Agent, Player


class Loops(Player):
    def decide(self, state, rng):
        return self.search()

    def search(self):
        while True:
            random.random()


@dataclass(frozen=True)
class Looping(Agent):
    name: ClassVar[str] = "looping"
    budgets: ClassVar[tuple] = ()

    def new_player(self, game, budget):
        return Loops()
"""


@pytest.mark.slow
def test_a_loop_in_a_first_decision_ends_with_a_moves_time_and_names_its_line(tmp_path, monkeypatch):
    (tmp_path / "looping_of_test.py").write_text(LOOPS)
    monkeypatch.syspath_prepend(tmp_path)
    keys = values("looping", "random", game="tictactoe", plugins=["looping_of_test"], move_seconds=6.0)
    told, begun = [], time.monotonic()
    with RunLog(tmp_path / "log.txt") as run_log, Crew() as crew:
        tell = (lambda name: None), (lambda *result: told.append(result)), told.append
        assert Warmer(crew, loading.from_values(keys), run_log, 1, *tell).run().total() == 1
    assert time.monotonic() - begun < 60.0
    slow, _, hung = (entry for entry in told if "looping" in str(entry))
    assert slow == "looping takes more than 5 s for a first decision: decide (looping_of_test.py, line 11)"
    assert re.search(r"was not over after \d+ s, in decide \(looping_of_test.py, line 11\)$", hung)


@pytest.mark.parametrize("compiling, thinking, told", [(0.5, 0.0, False), (0.0, 0.5, True), (0.5, 0.5, True)])
def test_compiling_is_not_slow(monkeypatch, capfd, compiling, thinking, told):
    """What a first decision takes besides is."""
    monkeypatch.setattr(hosted, "SLOW_SECONDS", 0.2)
    shown = watch.Watch()
    shown.notice_compilations()

    def warm(games, seat, faults, before):
        before()
        with event.trigger_event("numba:compile"):
            time.sleep(compiling)
        time.sleep(thinking)
        return 0.0, ""

    monkeypatch.setattr(worker_main, "warm", warm)
    config = SimpleNamespace(values={"move_seconds": 30.0, "game_seconds": 60.0, "time_margin": 1.0})
    worker_main._first_moves(config, shown, None, SimpleNamespace(budget=Budget(), agent=None), 0)
    assert ("Timeout" in capfd.readouterr().err) == told and shown.on_compiling is None


def test_a_first_decision_has_a_moves_time():
    limit = worker_main._first_limit
    given = {"move_seconds": 30.0, "game_seconds": 3600.0, "time_margin": 1.0}
    assert limit(given, Budget()) == 30.0 == limit(given, Budget(playouts=5))
    assert limit(given | {"move_seconds": 0.5}, Budget()) == limit(given, Budget(seconds=1.0)) == 10.0
    assert limit(given, Budget(seconds=20.0)) == 26.0 and limit(given | {"game_seconds": 3.0}, Budget()) == 3.0


def test_the_line_is_that_of_the_thread_that_decides():
    """The outermost of the user's calls; the frames of other threads, and inner calls of libraries, are not named."""
    ours, call = inspect.getfile(worker_main), SlowCall()
    for line in [
        "Timeout (0:00:05)!",
        "Thread 0x1 (most recent call first):",
        '  File "/usr/lib/python3/selectors.py", line 415 in select',
        f'  File "{ours}", line 125 in watching',
        "Thread 0x2 (most recent call first):",
        '  File "/usr/lib/python3/random.py", line 3 in random',
        '  File "/home/a b/bob.py", line 17 in search',
        '  File "/home/a b/bob.py", line 12 in decide',
        f'  File "{ours}", line 213 in choose',
        f'  File "{ours}", line 70 in play_first_moves',
    ]:
        assert call.where == ""
        call.read(line)
    assert call.where == "decide (bob.py, line 12)"


@pytest.mark.slow
def test_a_process_for_kernels_that_was_stopped_is_not_late(tmp_path):
    """As Ctrl-Z stops it; the stop is longer than all that an agent's first decisions may take."""
    limit = TICK + STOP + 0.5
    keys = values(("slow", "test_odd(pause=0.1)"), "random", game_seconds=limit)
    told = []

    def stop(name):
        if name == "slow":
            process = next(child.process for child in warmer._children if child.agent == 0)
            os.kill(process.pid, signal.SIGSTOP)
            threading.Timer(limit + 1.5, os.kill, (process.pid, signal.SIGCONT)).start()

    with RunLog(tmp_path / "log.txt") as run_log, Crew() as crew:
        tell = stop, lambda *result: told.append(result), told.append
        warmer = Warmer(crew, loading.from_values(keys), run_log, 1, *tell)
        assert not warmer.run().total()
    assert sorted((name, failure) for name, _, failure in told) == [("random", ""), ("slow", "")]


def test_a_process_for_kernels_that_dies_before_it_is_asked_harms_nobody(tmp_path, monkeypatch):
    assign, told = Warmer._assign, []

    def after_a_death(self, child):
        child.process.kill()
        child.process.join()
        return assign(self, child)

    monkeypatch.setattr(Warmer, "_assign", after_a_death)
    with RunLog(tmp_path / "log.txt") as run_log, Crew() as crew:
        tell = (lambda name: None), (lambda *result: told.append(result)), told.append
        config = loading.from_values(values("random", ("b", "random")))
        assert not Warmer(crew, config, run_log, 1, *tell).run().total()
    fate = "the worker was killed by SIGKILL"
    assert told[0][0] == "random" and told[0][2] == ""
    assert told[1:] == [("b", 0.0, f"none: {fate}"), f"the kernels of b are not compiled before play: {fate}"]


def test_agents_are_told_of_before_their_process_for_kernels_has_failed_at_its_start(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_main, "main", die)
    told = []
    with RunLog(tmp_path / "log.txt") as run_log, Crew() as crew:
        tell = (lambda name: told.append(("begun", name))), (lambda *result: told.append(result)), lambda text: None
        Warmer(crew, loading.from_values(values("random", ("b", "random"))), run_log, 1, *tell).run()
    failure = 0.0, "none: the worker ended with exit code 3"
    assert told == [("begun", "random"), ("random", *failure), ("begun", "b"), ("b", *failure)]


def test_an_idle_worker_plays_for_the_next_configuration(bench):
    """And its games are those of a new one."""
    first, second = (values("random", ("b", agent), games=4) for agent in ("random", "test_odd(how='raise')"))
    expected = {key: essence(record) for key, record in bench(second).run().items()}
    with Crew() as kept:
        bench(first, crew=kept).run()
        pids = {process.pid for process in workers_left()}
        for _ in range(2):
            assert {key: essence(record) for key, record in bench(second, crew=kept).run().items()} == expected
            assert {process.pid for process in workers_left()} == pids and len(pids) == 2
    assert workers_left() == []


def test_an_idle_worker_that_cannot_serve_is_replaced(bench):
    """Since it has died, has other memory, or is told more than fits into an order."""
    made = bench(values("random", ("b", "random")))
    tight = loading.from_values(values("random", ("b", "random"), memory="4GB"))
    long = loading.from_values(values(*((f"a{number}", "random") for number in range(2000))))
    with made.run_log, Crew() as kept:
        first = kept.hire(made.supervisor.config, made.run_log)
        kept.keep(first)
        assert kept.hire(made.supervisor.config, made.run_log) is first
        first.process.kill()
        first.process.join()
        kept.keep(first)
        for config in (made.supervisor.config, tight, long):
            left = workers_left()
            kept.keep(worker := kept.hire(config, made.run_log))
            assert worker.process not in left and workers_left() == [worker.process]
    assert workers_left() == []


def test_a_stop_request_ends_the_compilation_and_its_processes(tmp_path):
    keys, begun = values("random", ("b", "random"), ("c", "test_odd(how='raise')")), []

    def stop(name):
        begun.append(name)
        warmer.request_stop()

    with RunLog(tmp_path / "log.txt", print) as run_log, Crew() as crew:
        config = loading.from_values(keys)
        warmer = Warmer(crew, config, run_log, 1, stop, lambda *told: None, print)
        assert not warmer.run() and warmer.stopped
    assert len(begun) == 1 and workers_left() == []
