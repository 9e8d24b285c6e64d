"""Plays the games of a schedule on a cluster, and loses none of them."""

import json
import logging
import queue
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from arena.cluster import tasks
from arena.cluster.describing import describe_station, misfits, refused, version_differences
from arena.cluster.host import Host, Needs, Phase
from arena.cluster.link import ASK, NOT_THERE, QUESTION, ClusterError, Link
from arena.cluster.station_messages import Described, Harm, Loaded, LogLine, Over, Refusal, Trouble, answer_of, packed
from arena.play.match import seats_of
from arena.results.database.record import Reason
from arena.workers.batches import most, target
from arena.workers.engine import Engine
from arena.workers.messages import fault_of
from arena.workers.waiting import Failure, Job
from arena.workers.worker import TICK, InPlay

log = logging.getLogger("arena.cluster")

VOIDS = (Reason.RULES, Reason.CRASH, Reason.HANG)  # of a station, which has workers of its own
MOST_FAILED = 3  # tasks in a row that raise: the worker is refused
WINDOW = 64  # waiting games searched for a playable one


@dataclass
class Flight:
    """A task under way; `jobs` are the games of a batch."""

    task: Callable
    host: Host
    jobs: list[Job] = field(default_factory=list)


@dataclass(kw_only=True)
class ClusterEngine(Engine):
    """Plays games on the workers of a cluster.

    left: gives the number of games wanted and not stored; on_machine: called with each worker's description
    """

    link: Link
    left: Callable[[], int]
    on_machine: Callable[[dict], None]

    def __post_init__(self):
        super().__post_init__()
        self._values, self._ours = json.dumps(self.config.resolved()), describe_station(self.config)
        self._numbers = {name: number for number, (name, _) in enumerate(self.config.agents)}
        self._hosts: dict[str, Host] = {}
        self._roomy: OrderedDict[Host, None] = OrderedDict()  # hosts that may have room, in turn
        self._flights: dict[str, Flight] = {}
        self._window: deque[Job] = deque()  # waiting games
        self._needs, self._slots = Needs(1, frozenset()), 1  # slots: of all workers
        self._warmed = lambda name, seconds, failure: None
        self._looked = time.monotonic()

    # -- What the run calls ---------------------------------------------------------------------------------------

    def prepare(self, warming: Callable[[str], None], warmed: Callable[[str, float, str], None]) -> None:
        """Return once a worker is ready, or a stop is requested; ClusterError if all workers are refused.

        `warming` and `warmed` are called once for each agent, after its kernels are compiled.
        """
        noted = set[str]()

        def note(name, seconds, failure):
            if name not in noted:
                noted.add(name)
                warming(name)
                warmed(name, seconds, failure)

        self._warmed = note
        self.link.watch()
        while not self._stops and not any(host.phase is Phase.PLAYING for host in self._hosts.values()):
            self._take_arrived()

    def run(self) -> None:
        """Play all games, or those that a stop request allows; ClusterError if the scheduler is gone."""
        try:
            self._hand_out()
            while self._busy() and self._stops < 2:
                self._take_arrived()
                self._notice_stop()
                # workers get games before the last ones are stored, then those that results ask for
                self._hand_out()
                self._deliver()
                self._hand_out()
                if time.monotonic() - self._looked >= TICK:
                    self._looked = time.monotonic()
                    self.on_tick()
            self._notice_stop()
        finally:
            self.link.close()
        self._deliver()

    def _wake(self):
        self.link.arrived.put(("", None))

    def in_play(self) -> list[InPlay]:
        """None: only a worker knows which game of its batch it plays."""
        return []

    # -- What arrives ---------------------------------------------------------------------------------------------

    def _busy(self):
        if self._records or any(flight.jobs for flight in self._flights.values()):
            return True
        return not self._stops and next(self._waiting(), None) is not None

    def _take_arrived(self):
        try:
            news = [self.link.arrived.get(timeout=TICK)]
        except queue.Empty:
            return
        while not self.link.arrived.empty():
            news.append(self.link.arrived.get())
        for key, result in news:
            if key is None:
                self._note_workers(result)
            elif key in self._flights:
                self._settle(key, result)

    def _note_workers(self, slots):
        if isinstance(slots, Exception):
            log.error("the scheduler does not answer: %r", slots)
            raise ClusterError(f"the scheduler of cluster {self.link.where} is gone; resume the run to play the rest")
        if not slots:
            self.verdicts.tell(f"cluster {self.link.where} has no workers: the run waits for them")
        for address in self._hosts.keys() - slots.keys():
            self._lose(self._hosts.pop(address))
        for address, cores in slots.items():
            if address not in self._hosts and not self._stops:
                host = self._hosts[address] = Host(address, max(1, cores))
                self._fly(Flight(ASK, host), QUESTION)
        self._note_needs()

    def _lose(self, host):
        log.error("worker %s is gone", host.address)
        host.phase = Phase.REFUSED
        if self._recall(host, f"worker {host.address} was lost"):
            self.verdicts.tell(f"worker {host.address} is gone, or silent: its games are played again")

    def _recall(self, host, fate) -> bool:
        """Give up all tasks of a worker, and play its games again; whether there were any."""
        flights = [(key, flight) for key, flight in self._flights.items() if flight.host is host]
        some = any(flight.jobs for _, flight in flights)
        for key, flight in flights:
            del self._flights[key]
            self.link.drop(key)
            self._play_again(flight.jobs, fate)
        return some

    def _settle(self, key, result):
        flight = self._flights.pop(key)
        self.link.drop(key)
        flight.host.under_way -= 1
        if isinstance(result, Exception):
            return self._fail(flight, f"{type(result).__name__}: {result}")
        flight.host.failed = 0
        if flight.task is ASK:
            return self._fly(Flight(tasks.join, flight.host), self.link.run, self._values)
        try:
            if flight.task is tasks.join:
                result, flight.host.resources = result[0], dict(result[1])
            answer = answer_of(result)
        except (TypeError, ValueError, LookupError, RecursionError, msgspec.DecodeError) as error:
            why = f"it sent {result!r:.80}, which is no answer: {error}"
            self._play_again(flight.jobs, f"worker {flight.host.address}: {why}")
            return self._refuse(flight.host, why)
        for message in answer.messages:
            self._hear(flight, message)
        if flight.host.phase is Phase.REFUSED:  # by what it said
            return self._play_again(flight.jobs, f"worker {flight.host.address} is refused")
        if flight.task is tasks.play:
            return self._after_batch(flight, answer)
        if answer.lost:
            return self._refuse(flight.host, answer.lost)
        if flight.task is tasks.join:
            return self._fly(Flight(tasks.prepare, flight.host), self.link.run)
        return self._admit(flight.host)

    def _fail(self, flight, text):
        if flight.task is ASK:
            return self._refuse(flight.host, f"it {NOT_THERE}: {text}")
        if flight.task is not tasks.play:
            return self._refuse(flight.host, text)
        log.error("a batch on worker %s failed: %s", flight.host.address, text)
        self._play_again(flight.jobs, f"a task failed: {text:.200}")
        flight.host.failed += 1
        if flight.host.failed >= MOST_FAILED:
            return self._refuse(flight.host, f"{MOST_FAILED} tasks in a row failed there, the last by {text:.200}")
        self._roomy[flight.host] = None

    def _hear(self, flight, message):
        host = flight.host
        if isinstance(message, Over):
            self._take(flight, message.record)
        elif isinstance(message, LogLine):
            self.run_log.of_worker(f"{host.address} {message.process}", message.name, message.level, message.text)
        elif isinstance(message, Trouble):
            self.verdicts.tell(message.text)
        elif isinstance(message, Harm):
            self._learn(flight, message)
        elif isinstance(message, Loaded):
            log.info(
                "worker %s: kernels of %s: %.1f s %s", host.address, message.agent, message.seconds, message.failure
            )
            self._warmed(message.agent, message.seconds, message.failure)
        elif isinstance(message, Described):
            self._compare(host, message.machine)
        elif isinstance(message, Refusal):
            self._refuse(host, message.text)

    def _learn(self, flight, harm):
        """Harm before play, which all stations meet, counts once."""
        spoilt = harm.spoilt
        if flight.task is tasks.prepare:
            spoilt = {agent: number for agent, number in spoilt.items() if not self.verdicts.spoilt[agent]}
        self.verdicts.learn(spoilt, harm.broken)

    def _take(self, flight, record):
        job = next((job for job in flight.jobs if job.fixture.id == record.id), None)
        if job is None:
            return
        flight.jobs.remove(job)
        if fault := fault_of(self.config, job.fixture, record, VOIDS):
            log.error("worker %s sent a record of %s that cannot be: %s", flight.host.address, record.id, fault)
            self._play_again([job], f"its record could not be: {fault}", outside=False)
            return
        self._lengths.add(job.fixture, record)
        self._records.append(record)

    def _after_batch(self, flight, answer):
        self._roomy[flight.host] = None
        if answer.halted:
            flight.jobs.clear()  # played when the run is resumed
        elif flight.jobs:
            log.error("worker %s: %s", flight.host.address, answer.lost or "games came back unplayed")
            self._play_again(flight.jobs, answer.lost or "it came back unplayed")

    def _play_again(self, jobs, fate, outside=True):
        """Play the games of a failed worker again, or give them up."""
        failure = Failure(fate, Reason.CRASH, None, outside=outside)
        for job in jobs:
            result = self.verdicts.after(job, failure)
            if isinstance(result, Job):
                self._window.appendleft(result)
            else:
                self._records.append(result)
        jobs.clear()

    def _notice_stop(self):
        if self._stops > self._stops_seen:
            super()._notice_stop()
            self.link.halt()

    # -- Workers --------------------------------------------------------------------------------------------------

    def _compare(self, host, machine):
        about = ", ".join(f"{key} {machine.get(key)}" for key in ("host", "cpu", "python", "numba", "project"))
        log.info("worker %s, %d slots: %s, sources %s", host.address, host.slots, about, machine.get("source_digest"))
        if why := refused(self._ours, machine):
            self._refuse(host, why)
            return
        if versions := version_differences(self._ours, machine):
            self.verdicts.tell(f"workers have other versions: {versions}")
        for name, why in misfits(self._ours, machine):
            self.verdicts.tell(f"worker {host.address} plays no games of {name}: {why}")
            host.unfit.add(self._numbers[name])
        self.on_machine(machine)

    def _refuse(self, host, why):
        """Ask a worker for nothing more; others play its games."""
        host.phase = Phase.REFUSED
        self._recall(host, f"worker {host.address} is refused")
        self.verdicts.tell(f"worker {host.address} is refused: {why}")
        if all(one.phase is Phase.REFUSED for one in self._hosts.values()):
            raise ClusterError(f"all workers of cluster {self.link.where} are refused; the last, {host.address}: {why}")

    def _admit(self, host):
        host.phase = Phase.PLAYING
        self._roomy[host] = None
        self._note_needs()

    def _note_needs(self):
        playing = [host for host in self._hosts.values() if host.phase is Phase.PLAYING]
        widest = max((host.slots for host in playing), default=1)
        self._needs = Needs(widest, frozenset().union(*(host.resources for host in playing)))
        self._slots = sum(host.slots for host in playing)

    # -- Games ----------------------------------------------------------------------------------------------------

    def _hand_out(self):
        left = self.left() - len(self._records) - sum(len(flight.jobs) for flight in self._flights.values())
        without = list[Host]()  # hosts that can play none of the waiting games
        while self._roomy and not self._stops:
            host, _ = self._roomy.popitem(last=False)
            if not host.has_room:
                continue
            if jobs := self._batch(host, left):
                left -= len(jobs)
                asked = host.asks(jobs[0], self._names(jobs[0]))
                batch = packed([job.fixture for job in jobs])
                self._fly(Flight(tasks.play, host, jobs), self.link.run, batch, resources=asked)
                self._roomy[host] = None
            else:
                without.append(host)
                if not self._window:
                    break
        self._roomy.update(dict.fromkeys(without))

    def _batch(self, host, left) -> list[Job]:
        jobs, seconds = list[Job](), 0.0
        wanted, limit = target(self._slots), most(left, self._slots)
        while len(jobs) < limit and (job := self._next_for(host)):
            length = self._lengths.of(job.fixture)
            alone = length is None or job.failures or host.asks(job, self._names(job))
            if jobs and (alone or seconds + length > wanted):
                self._window.appendleft(job)
                break
            jobs.append(job)
            seconds += length or 0.0
            if alone:
                break
        return jobs

    def _next_for(self, host) -> Job | None:
        for place, job in enumerate(self._waiting()):
            if host.fits(job, self._names(job), self._needs):
                del self._window[place]
                return job
        return None

    def _waiting(self) -> Iterator[Job]:
        """Read from the schedule only as far as needed."""
        yield from islice(list(self._window), WINDOW)
        while len(self._window) < WINDOW and (fixture := self.following()):
            if record := self.verdicts.without_play(fixture):
                self._records.append(record)
                continue
            self._window.append(Job(fixture, self._cores_of(fixture)))
            yield self._window[-1]

    def _names(self, job):
        return [seat.name for seat in seats_of(self.config, job.fixture)]

    def _fly(self, flight, *arguments, resources=None):
        key = self.link.submit(flight.task, flight.host.address, *arguments, resources=resources)
        self._flights[key] = flight
        flight.host.under_way += 1
