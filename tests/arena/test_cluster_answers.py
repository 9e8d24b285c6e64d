"""What a run makes of the answers of a cluster's workers, false ones included: without a cluster."""

import queue
import re
import time
from dataclasses import replace

import pytest

from arena.cluster import describing
from arena.cluster.link import ClusterError, Link
from arena.cluster.station_messages import Described, Over, StationAnswer, batch_of, packed
from arena.config import loading
from arena.play.match import play_fixture, void_record
from arena.results.database.record import Reason
from arena.workers.messages import fault_of
from tests.arena.conftest import values
from tests.arena.fixtures import round_robin

pytest.importorskip("distributed", reason="playing on a cluster needs the extra `cluster`")
from arena.cluster import tasks
from arena.cluster.dask_engine import VOIDS, ClusterEngine


class FalseLink:
    """A link to two workers in this process; one answers `junk` to tasks of one kind."""

    run, where = "run", "here"

    def __init__(self, config, task, junk, workers):
        self.config, self.task, self.junk, self.workers = config, task, junk, workers
        self.arrived, self.dropped = queue.SimpleQueue(), []

    def watch(self):
        self.arrived.put((None, dict.fromkeys(self.workers, 1)))

    def submit(self, task, address, *arguments, resources=None):
        key = str(time.monotonic_ns())
        answers = {tasks.join: self.join, tasks.prepare: lambda *_: packed(StationAnswer([])), tasks.play: self.play}
        answer = answers[task](*arguments) if task in answers else None
        self.arrived.put((key, self.junk if address == "liar" and task is self.task else answer))
        return key

    def join(self, *_):
        return packed(StationAnswer([Described(describing.describe_station(self.config))])), {}

    def play(self, run, batch):
        return packed(StationAnswer([Over(play_fixture(self.config, fixture)) for fixture in batch_of(batch)]))

    def drop(self, key):
        self.dropped.append(key)

    def halt(self):
        raise AssertionError("nobody has asked for that")

    def close(self):
        self.workers = {}


def cluster_engine(task, junk, workers, told):
    config = loading.from_values(values("random", ("b", "random"), games=12))
    fixtures, results = iter(round_robin(2, 12, 1)), []
    link = FalseLink(config, task, junk, workers)
    engine = ClusterEngine(
        config=config,
        following=lambda: next(fixtures, None),
        on_results=results.extend,
        run_log=None,
        on_trouble=told.append,
        link=link,
        left=lambda: 12 - len(results),
        on_machine=lambda machine: None,
    )
    return engine, results


JUNK = [b"junk", None, 5, "", (), (b"", 5), [], packed(5), packed({"messages": 5}), packed([[]])]


@pytest.mark.parametrize("task", [tasks.join, tasks.prepare, tasks.play])
@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_a_worker_whose_answer_is_none_is_refused_and_costs_no_game(task, junk):
    told = []
    engine, results = cluster_engine(task, junk, ["liar", "honest"], told)
    engine.prepare(lambda name: None, lambda name, seconds, failure: None)
    engine.run()
    assert sorted(record.id for record in results) == sorted(fixture.id for fixture in round_robin(2, 12, 1))
    assert {record.reason for record in results} == {Reason.PLAYED_OUT}
    assert len(told) == 1 and re.match(r"worker liar is refused: it sent .*, which is no answer: ", told[0])


def test_a_worker_whose_tasks_raise_is_refused_and_costs_no_game():
    told = []
    engine, results = cluster_engine(tasks.play, RecursionError("on purpose"), ["liar", "honest"], told)
    engine.prepare(lambda name: None, lambda name, seconds, failure: None)
    engine.run()
    assert {record.reason for record in results} == {Reason.PLAYED_OUT} and len(results) == 12
    assert told == ["worker liar is refused: 3 tasks in a row failed there, the last by RecursionError: on purpose"]


def test_a_cluster_of_liars_is_refused():
    engine, results = cluster_engine(tasks.play, b"junk", ["liar"], [])
    engine.prepare(lambda name: None, lambda name, seconds, failure: None)
    with pytest.raises(ClusterError, match="all workers of cluster here are refused; the last, liar: it sent b'junk'"):
        engine.run()
    assert results == []


def test_a_worker_is_silent_for_as_many_looks_as_its_heartbeat_is_the_same():
    link = Link(None, "here")
    silent = []
    for beat in (1.0, 1.0, 1.0, 2.0, 2.0):
        link._note_beats({"a": {"last_seen": beat}})
        silent.append(link._beats["a"][1])
    assert silent == [0, 1, 2, 0, 1]
    link._note_beats({"b": {"last_seen": 5.0}})
    assert link._beats == {"b": (5.0, 0)}


def test_a_void_verdict_of_a_station_is_believed_and_one_of_a_process_is_not():
    config = loading.from_values(values("random", ("b", "random")))
    (fixture, *_) = round_robin(2, 2, 1)
    record = void_record(config, fixture, Reason.HANG, "not over after 5 s")
    assert fault_of(config, fixture, record, VOIDS) is None
    assert "its reason is 'hang'" in fault_of(config, fixture, record)
    unfinished = replace(record, reason=Reason.UNFINISHED)
    assert "its reason is" in fault_of(config, fixture, unfinished, VOIDS)
