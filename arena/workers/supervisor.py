"""The supervisor plays the games of a schedule on worker processes, and loses none of them.

A fixture goes from the schedule's `next` to the Queue, whence games are put back, to a worker's `jobs`, to the desk.
Short games travel together, but a worker that dies or hangs costs one only: `arena.workers.verdicts` decides whether an
agent has lost it, it is played again, or it is void.  (concurrent.futures.ProcessPoolExecutor fails all pending futures
when one worker dies.)  Workers start by the process's start method.
"""

import itertools
import logging
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import connection as pipes
from typing import Protocol

from arena.results.database.record import Reason
from arena.workers.crew import Crew
from arena.workers.engine import Engine
from arena.workers.hosting import crowd
from arena.workers.messages import LONGEST, Failed, Harmed, Junk, Played, Probed, Ready, fault_of
from arena.workers.starting import WorkerStartError, begin_start
from arena.workers.verdicts import another_try
from arena.workers.waiting import Failure, Job, Queue
from arena.workers.warmer import Warmer
from arena.workers.worker import TICK, InPlay, Looks, Worker

log = logging.getLogger("arena.workers.supervisor")

FAILED_STARTS = 3  # workers in a row that die unready, which ends the run


class Feed(Protocol):
    """A source of games not known when play began."""

    open: bool  # whether more may come

    def fileno(self) -> int:
        """The descriptor to wait for."""

    def read(self) -> None:
        """Take what has arrived, for `following` to give."""


@dataclass(kw_only=True)
class Supervisor(Engine):
    """Plays on up to `workers` cores; while `feed` is open, idle workers wait for it."""

    crew: Crew
    workers: int
    feed: Feed | None = None

    def __post_init__(self):
        super().__post_init__()
        self._hired: list[Worker] = []
        self._failed_starts = 0
        self._warmer: Warmer | None = None
        self._queue = Queue(self.following, self._cores_of, self.workers, self._lengths)
        self._looks = Looks()
        self._wakeup, self._waker = multiprocessing.Pipe(duplex=False)

    def prepare(self, warming: Callable[[str], None], warmed: Callable[[str, float, str], None]) -> None:
        begin_start()
        if text := crowd(self.config):
            self.verdicts.tell(text)
        self._warmer = Warmer(self.crew, self.config, self.run_log, self.workers, warming, warmed, self.on_trouble)
        if not self._stops:
            self.verdicts.spoilt = self._warmer.run()

    def run(self) -> None:
        """All games, or those that a stop request allows; WorkerStartError if workers cannot start."""
        self._looks = Looks()
        try:
            self._employ()
            while (self._feeding() or any(worker.jobs for worker in self._hired)) and self._stops < 2:
                self._advance()
            self._notice_stop()
            self._dismiss()
        finally:
            self._kill_all()
            self._deliver()

    def _wake(self):
        self._waker.send_bytes(b"!")
        if self._warmer:
            self._warmer.request_stop()

    def playing(self) -> dict[int, str]:
        """The games being played: process id of the worker, id of the game."""
        return {
            worker.pid: job.fixture.id
            for worker in list(self._hired)
            if worker.ready and (job := worker.job) is not None
        }

    def in_play(self) -> list[InPlay]:
        return [game for worker in self._hired if (game := worker.in_play())]

    # -- One round: wait, hear, assign, deliver ---------------------------------------------------------------------

    def _advance(self):
        watched = [self._wakeup, *itertools.chain.from_iterable(worker.watched() for worker in self._hired)]
        if self.feed is not None and self.feed.open:
            watched.append(self.feed)
        ready = set(pipes.wait(watched, TICK))
        if self.feed is not None and self.feed in ready:
            self.feed.read()
        if self._wakeup in ready:
            self._wakeup.recv_bytes()
        tick = self._looks.due(self._hired)
        self._notice_stop()
        for worker in list(self._hired):
            if failure := self._attend(worker, ready, tick):
                self._bury(worker, failure)
        # workers get games before the last ones are stored, then those that results ask for
        self._employ()
        self._deliver()
        self._employ()
        if tick:
            self._unless_refused(self.on_tick)

    def _feeding(self) -> bool:
        return self.feed is not None and self.feed.open and not self._stops

    def _notice_stop(self):
        super()._notice_stop()
        for worker in self._hired if self._stops else ():
            if not worker.ready:
                worker.jobs.clear()  # not begun
            worker.halt()

    def _attend(self, worker, ready, tick) -> Failure | None:
        """Take what it has sent and printed; returns its failure, if any."""
        if worker.printed in ready:
            worker.printed.read()
        ended = worker.process.sentinel in ready or (tick and worker.dead())
        if ended or worker.end in ready:
            ended |= not self._hear(worker, LONGEST if ended else None)
        if ended and not worker.complaint:
            if worker.ends_within(1.0):
                return worker.fate()
            worker.complaint = "it closed its connection"
        if worker.complaint:
            return worker.useless(worker.complaint)
        failure = worker.overdue(time.monotonic(), bool(worker.jobs)) if tick else None
        if failure and failure.outside:
            process = f"{worker.name}, process {worker.pid}"
            self.verdicts.tell(f"{process}: {failure.fate} (SIGSTOP); it is ended, and others play its games")
        return failure

    def _hear(self, worker, limit: int | None = None) -> bool:
        try:
            messages, open_ = worker.hear(limit)
        except Junk as junk:
            worker.complaint = f"it sent {junk}"
            return True
        for message in messages:
            job = worker.jobs[0] if worker.ready and worker.jobs else None
            if isinstance(message, Played) and job and not job.probes and 0 < len(message.records) <= len(worker.jobs):
                self._take(worker, message)
            elif isinstance(message, Probed) and job and job.probes:
                self._records.append(self.verdicts.probed(job, message.fault))
                worker.jobs.clear()
            elif isinstance(message, Ready) and not worker.ready:
                worker.ready, self._failed_starts = True, 0
                worker.send()
            elif isinstance(message, Harmed) and any(message.agent in one.fixture.seats for one in worker.jobs):
                self.verdicts.spoilt[message.agent] += 1
            elif isinstance(message, Failed) and not worker.ready:
                worker.complaint = message.text
            else:
                worker.complaint = f"it sent {message!r:.200} out of turn"
            if worker.complaint:
                break
        return open_

    def _take(self, worker, played):
        for record in played.records:
            job = worker.jobs[0]
            if fault := fault_of(self.config, job.fixture, record):
                worker.complaint = f"it sent a record of {job.fixture.id} that cannot be: {fault}"
                return
            worker.jobs.popleft()
            if not (record.reason == Reason.TIME and worker.paused and self._try_again(job, record)):
                self._note(job, record)
        if played.over:
            self._queue.put_back(worker.jobs)
            worker.jobs.clear()

    def _note(self, job, record):
        if record.reason == Reason.RULES:
            self.verdicts.of_rules(record)
        self._lengths.add(job.fixture, record)
        self._records.append(record)

    def _try_again(self, job, record) -> bool:
        """Whether a game was over time on a worker that was stopped meanwhile."""
        failure = Failure("over time while it was stopped", Reason.TIME, None, outside=True)
        again = replace(job, failures=(*job.failures, failure))
        if not another_try(again.failures):
            return False
        log.warning("game %s is played again: %s, but the process was stopped", record.id, record.detail)
        self._queue.put_back([again])
        return True

    # -- Workers and their games ----------------------------------------------------------------------------------

    def _employ(self):
        while not self._stops:
            jobs = self._queue.take(self.workers - sum(worker.jobs[0].cores for worker in self._hired if worker.jobs))
            if not jobs:
                return
            records = [(job, self.verdicts.without_play(job.fixture)) for job in jobs]
            self._records += [record for _, record in records if record]
            if played := [job for job, record in records if not record]:
                self._assign(played)
            else:
                self._deliver()

    def _assign(self, jobs):
        worker = next((worker for worker in self._hired if worker.ready and not worker.jobs), None)
        if worker is None:
            worker = self._hire()
        worker.jobs.extend(jobs)
        worker.send()

    def _hire(self) -> Worker:
        self._hired.append(worker := self.crew.hire(self.config, self.run_log))
        return worker

    def _bury(self, worker, failure):
        worker.kill()
        if not worker.complaint:
            self._hear(worker, LONGEST)  # records already sent count
        self._hired.remove(worker)
        worker.close()
        if not worker.ready:
            self._count_failed_start(worker, failure)
        elif not worker.jobs:
            log.error("%s, which did not play: %s", worker.name, failure.fate)
        jobs = list(worker.jobs)
        if jobs and worker.ready:
            jobs = self._after_failure(worker, failure)
        if jobs and not self._stops:
            self._hire().jobs.extend(jobs)

    def _count_failed_start(self, worker, failure):
        if self._stops:
            return
        self._failed_starts += 1
        log.error("%s could not start: %s", worker.name, failure.fate)
        if self._failed_starts >= FAILED_STARTS:
            method, hint = multiprocessing.get_start_method(), ""
            if method != "fork" and not worker.complaint:
                hint = '; a script that uses it must call arena.run below `if __name__ == "__main__":`'
            raise WorkerStartError(
                f"{FAILED_STARTS} workers in a row could not start; the last: {failure.fate} "
                f"(start method {method}{hint})"
            )

    def _after_failure(self, worker, failure) -> list[Job]:
        """What another worker should play or probe at once, if anything; other games wait again."""
        jobs, place = list(worker.jobs), worker.place
        job, others, begun = jobs[place], jobs[:place] + jobs[place + 1 :], place + 1
        log.error("game %s on %s: %s", job.fixture.id, worker.name, failure.fate)
        if self._stops > 1:
            return []
        if begun > 1 and failure.reason != Reason.TIME and failure.agent not in job.fixture.seats:
            # any game begun may be at fault: each is played alone
            self._queue.put_back([replace(job, suspected=True) for job in jobs[:begun]] + jobs[begun:])
            return []
        self._queue.put_back(others)
        result = self.verdicts.after(job, replace(failure, seconds=time.monotonic() - worker.game_begun()))
        if isinstance(result, Job):
            return [result]
        self._records.append(result)
        return []

    # -- The end --------------------------------------------------------------------------------------------------

    def _dismiss(self):
        """Give idle workers back to the crew."""
        for worker in [worker for worker in self._hired if worker.ready and not worker.jobs]:
            self._hired.remove(worker)
            self.crew.keep(worker)

    def _kill_all(self):
        for worker in self._hired:
            worker.kill()
        for worker in self._hired:
            if not worker.complaint:
                self._hear(worker, LONGEST)
            worker.close()
        self._hired.clear()
