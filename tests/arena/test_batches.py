"""Short games that travel together: what is played and who pays is as if each travelled alone."""

from collections import Counter
from functools import partial

import pytest

from arena.config import loading
from arena.formats.schedule import Schedule
from arena.play import watch
from arena.play.watch import Watch
from arena.results.database.record import Reason
from arena.workers import waiting
from arena.workers import worker as worker_module
from arena.workers.batches import MOST, Lengths
from arena.workers.messages import Play, frame_of
from arena.workers.waiting import Job, Queue
from arena.workers.worker_main import OrderHandler
from tests.arena.conftest import essence, values
from tests.arena.fixtures import every_fixture, round_robin
from tests.results.sample import make_game

LONG = "test_nim(heap=40)"  # in which everybody decides more often than before play
AN_AGE = 1e6  # seconds: a batch is then as long as it can be


class Channel:
    """What a worker would send, as it can be sent."""

    def __init__(self):
        self.sent = []

    def send(self, message):
        frame_of(message)
        self.sent.append(message)


def batches_of(made):
    """The lengths of the batches that a supervisor hands out, as it does so."""
    lengths, assign = [], made.supervisor._assign
    made.supervisor._assign = lambda jobs: lengths.append(len(jobs)) or assign(jobs)
    return lengths


def played(bench, keys, **more):
    """The records without times, and the lengths of the batches that the games came in."""
    made = bench(keys, **more)
    lengths = batches_of(made)
    return {id: essence(record) for id, record in made.run().items()}, lengths


@pytest.mark.parametrize(
    "how", ["raise", *(pytest.param(how, marks=pytest.mark.slow) for how in ("never", "exit", "kill", "deaf"))]
)
def test_a_batch_is_played_and_judged_as_single_games_are(bench, monkeypatch, how):
    """Some games of a batch end or harm their process: they alone are lost or void, for the same reason."""
    games = 300 if how in ("never", "raise") else 60
    bad = f"test_odd(how={how!r}, at=4, odds={0.05 if how in ('kill', 'deaf') else 0.1})"
    keys = values("random", ("bad", bad), game=LONG, games=games, hosts=0)
    found, lengths = played(bench, keys, workers=1)
    assert len(found) == games and max(lengths) > 5
    two, _ = played(bench, keys, workers=2)
    monkeypatch.setattr(waiting, "ORDER_SECONDS", 0.0)
    single, lengths = played(bench, keys, workers=2)
    assert set(lengths) == {1} and found == two == single
    reasons = Counter(fields["reason"] for fields, *_ in found.values())
    harm = {"raise": Reason.EXCEPTION, "exit": Reason.CRASH, "kill": Reason.CRASH, "deaf": Reason.CRASH}
    assert set(reasons) == {Reason.PLAYED_OUT, harm.get(how, Reason.PLAYED_OUT)}


@pytest.mark.slow
def test_a_game_that_hangs_costs_no_other_of_its_batch(bench, monkeypatch):
    monkeypatch.setattr(waiting, "ORDER_SECONDS", AN_AGE)
    limit = worker_module.TICK + worker_module.STOP + 0.5
    keys = values("random", ("bad", "test_odd(how='hang', at=4, odds=0.02)"), game=LONG, games=100, game_seconds=limit)
    made = bench(keys, workers=1)
    lengths = batches_of(made)
    records = made.run()
    hung = [record for record in records.values() if record.reason != Reason.PLAYED_OUT]
    assert max(lengths) > 20 and len(records) == 100 and 1 <= len(hung) <= 6
    for record in hung:
        assert record.reason == Reason.TIME and record.outcome == float(record.second == "bad")
        assert limit <= record.seconds < limit + 60 and "was not over after" in record.detail


def test_a_stop_request_finishes_the_game_and_not_its_batch(bench, monkeypatch):
    monkeypatch.setattr(waiting, "ORDER_SECONDS", AN_AGE)
    monkeypatch.setattr(worker_module, "ORDER_SECONDS", AN_AGE)
    made = bench(
        values(("a", "test_odd(pause=0.001)"), "random", games=4000),
        workers=1,
        on_result=lambda record: len(made.records) == 50 and made.supervisor.request_stop(),
    )
    lengths = batches_of(made)
    records = made.run()
    assert max(lengths) > 200 and 50 <= len(records) < max(lengths)
    assert {record.reason for record in made.records} == {Reason.PLAYED_OUT}


def test_who_harms_in_a_later_game_of_a_batch_is_noted(bench, monkeypatch):
    monkeypatch.setattr(waiting, "ORDER_SECONDS", AN_AGE)
    keys = values("random", ("b", "random"), ("bad", "test_odd(how='exit')"), format="matches")
    keys |= {"matches": [["random", "b", 0, 10], ["random", "bad", 0, 10]]}
    made = bench({key: value for key, value in keys.items() if key != "games"}, workers=1)
    lengths = batches_of(made)
    reasons = Counter(record.reason for record in made.run().values())
    assert max(lengths) > 4 and "out of turn" not in made.log()
    assert reasons == {Reason.PLAYED_OUT: 20, Reason.DIED: 2, Reason.EXCLUDED: 18}


def test_what_is_shown_is_the_game_of_the_batch_that_is_played(bench, monkeypatch):
    monkeypatch.setattr(waiting, "ORDER_SECONDS", AN_AGE)
    monkeypatch.setattr(worker_module, "ORDER_SECONDS", AN_AGE)
    made = bench(values(("a", "test_odd(pause=0.01)"), "random", game=LONG, games=20), workers=1)
    seen = []
    made.supervisor.on_tick = lambda: seen.extend((game, len(made.records)) for game in made.supervisor.in_play())
    made.run()
    numbers = [game.fixture.number for game, _ in seen]
    assert len(numbers) >= 3 and numbers == sorted(set(numbers))
    for game, stored in seen:
        assert stored <= game.fixture.number and 0 <= game.seconds < 60 and 0 <= game.plies <= 40


# -- A worker -----------------------------------------------------------------------------------------------------


def new_handler(keys):
    """A worker's handler without a supervisor, what it sends, its memory and the games of its run."""
    config, channel, memory = loading.from_values(keys), Channel(), watch.new_memory()
    return OrderHandler(config, channel, Watch(memory)), channel, memory, every_fixture(Schedule(config.values))


def test_a_worker_gives_back_what_it_has_no_time_for():
    handler, channel, _, fixtures = new_handler(values("random", ("b", "random"), games=6))
    handler.play(Play(fixtures, -1.0))
    handler.play(Play(fixtures[1:], 60.0))
    assert [(len(message.records), message.over) for message in channel.sent] == [(1, True), (5, True)]
    assert [record.id for message in channel.sent for record in message.records] == [one.id for one in fixtures]


def test_a_worker_that_is_halted_plays_one_game():
    handler, channel, memory, fixtures = new_handler(values("random", ("b", "random"), games=6))
    watch.words_of(memory)[watch.HALT] = 1.0
    handler.play(Play(fixtures, 60.0))
    assert [[record.id for record in message.records] for message in channel.sent] == [[fixtures[0].id]]


def test_a_worker_sends_what_it_has_from_time_to_time():
    agents = ("a", "test_odd(pause=0.01)"), ("b", "random")
    handler, channel, _, fixtures = new_handler(values(*agents, game=LONG, games=4, hosts=0))
    handler.play(Play(fixtures, 60.0))
    assert [(len(message.records), message.over) for message in channel.sent] == [(1, False)] * 3 + [(1, True)]


def test_a_record_that_cannot_be_sent_is_void_and_those_beside_it_are_not():
    keys = values("random", ("b", "random"), game=None, instances=["test_nim", "test_unspeakable_nim"], games=2)
    handler, channel, _, fixtures = new_handler(keys)
    handler.play(Play(fixtures, 60.0))
    reasons = [(record.condition, record.reason) for message in channel.sent for record in message.records]
    assert Counter(reasons) == {(0, Reason.PLAYED_OUT): 2, (1, Reason.RULES): 2}
    assert [message.over for message in channel.sent] == [False, False, False, True]


# -- The queue ----------------------------------------------------------------------------------------------------


def queue(games, seconds, limit=2, cores=lambda fixture: 1):
    """A queue of games of two agents, whose games took so long so far (None: there was none)."""
    fixtures, lengths = round_robin(2, games), Lengths()
    if seconds is not None:
        lengths.add(fixtures[0], make_game(seconds=seconds))
    return Queue(partial(next, iter(fixtures), None), cores, limit, lengths)


@pytest.mark.parametrize("seconds, length", [(None, 1), (10.0, 1), (0.06, 1), (0.02, 4), (0.0, MOST)])
def test_a_batch_has_a_tenth_of_a_second(seconds, length):
    one = queue(10_000, seconds)
    batches = [one.take(1) for _ in range(3)]
    assert [len(batch) for batch in batches] == [length] * 3
    assert [job.fixture.number for batch in batches for job in batch] == list(range(3 * length))


def test_the_last_games_are_shared():
    one = queue(100, 0.0)
    lengths = [len(batch) for batch in iter(lambda: one.take(1), [])]
    assert lengths[:4] == [25, 19, 14, 11] and sum(lengths) == 100 and lengths[-2:] == [1, 1]


def test_games_that_failed_or_are_suspected_or_need_more_cores_travel_alone():
    one = queue(40, 0.0, cores=lambda fixture: 2 if fixture.number == 4 else 1)
    assert [len(one.take(2)) for _ in range(3)] == [4, 1, 9]
    fixture = round_robin(2, 2)[0]
    one.put_back([Job(fixture, 1, suspected=True), Job(fixture, 1, probes=1)])
    assert [len(one.take(2)) for _ in range(3)] == [1, 1, 7]
