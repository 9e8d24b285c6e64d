"""The supervisor: plays the games of a schedule on worker processes, and loses none of them.

A worker that dies or hangs costs its own game only: the game is played once more, by a fresh worker, and is recorded
as void if that fails too.  (concurrent.futures.ProcessPoolExecutor fails every pending future when one worker dies.)
Workers start by the process's own start method.
"""

import itertools
import logging
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import connection as pipes
from multiprocessing import forkserver

from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.runner import worker as worker_process
from arena.runner.logs import RunLog, WorkerLog
from arena.runner.match import cores_of, void_record
from games.core.errors import UserError
from results.record import GameRecord, Reason

log = logging.getLogger("arena.runner.supervisor")

START_SECONDS = 300.0  # a worker that is not ready by then counts as dead
LOAD_SECONDS = 300.0  # to load or compile the kernels of an agent, before its games' own time counts
FAILED_STARTS = 3  # this many workers in a row that die before they are ready end the run
FAREWELL_SECONDS = 5.0  # for workers to end, and for their logs to reach the file
LONGEST_WAIT = 3600.0  # of one wait; the system's own limit on timeouts is a few weeks
OVERTAKING = 8  # times the number of cores: how many games may overtake one that waits for several cores


class WorkerStartError(UserError, RuntimeError):
    """Workers die before they can play; the message says what became of the last one."""


@dataclass(frozen=True)
class _Job:
    fixture: Fixture
    cores: int  # how many of the workers' cores it occupies
    failures: tuple[str, ...] = ()  # what became of the worker, each time it failed


@dataclass(eq=False)
class _Worker:
    process: multiprocessing.Process
    pipe: pipes.Connection
    log: WorkerLog
    deadline: float  # time.monotonic() by which it must be ready, or have played its game
    job: _Job | None = None  # what it plays, or will play once it is ready
    ready: bool = False
    playing: float | None = None  # since when, time.monotonic()
    complaint: str = ""  # why it cannot start
    hung: bool = False

    def fate(self) -> str:
        """What became of a dead worker."""
        code = self.process.exitcode
        if code is not None and code < 0:
            try:
                return f"the worker was killed by {signal.Signals(-code).name}"
            except ValueError:
                return f"the worker was killed by signal {-code}"
        return f"the worker ended with exit code {code}"


def begin_start() -> None:
    """Start the fork server, where workers come from one, so that it imports what they need in the meantime."""
    if multiprocessing.get_start_method() == "forkserver":
        with _no_interrupt():
            forkserver.ensure_running()


def _start_process(process) -> None:
    """Start a process; try again if the fork server has just died and is being replaced."""
    for tries_left in (2, 1, 0):
        try:
            return process.start()
        except (ConnectionError, EOFError) as error:
            log.warning("the fork server does not answer: %r", error)
            if not tries_left:
                raise WorkerStartError(f"the fork server that starts workers does not answer: {error!r}") from error
            time.sleep(0.2)


def warm_in_a_child(config: Config, run_log: RunLog, before, after, failed) -> None:
    """Compile what all agents run, in a child process, so that an agent that ends its process harms no other.

    `before(name)` and `after(name, seconds, failure)` are called for each agent, `failed(text)` for one that ends or
    hangs the process.  What cannot be compiled here fails again in the agent's games.
    """
    names = [name for name, _ in config.agents]
    left = list(range(len(names)))
    while left:
        current: int | None = None
        seats = list(left)
        with _child(config, run_log, seats) as pipe:
            while pipes.wait([pipe], LOAD_SECONDS):
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    break
                if isinstance(message, worker_process.Failed):
                    raise WorkerStartError(f"workers could not start: {message}")
                if isinstance(message, tuple) and len(message) == 1:
                    current = message[0]
                    before(names[current])
                elif isinstance(message, tuple) and current is not None:
                    left.remove(current)
                    after(names[current], *message[1:])
        if left:  # it has died, or does not answer
            culprit = left[0] if current is None or current not in left else current
            left.remove(culprit)
            after(names[culprit], 0.0, "none: it ended or hung its process")
            failed(f"{names[culprit]} ended or hung the process in which its kernels were being compiled")


@contextmanager
def _child(config, run_log, seats):
    """The parent's end of the pipe of a process that runs worker.warm_all."""
    pipe, childs_end = multiprocessing.Pipe()
    child_log = run_log.worker("warmer")
    arguments = (childs_end, child_log.queue, config.resolved(), seats)
    process = multiprocessing.Process(target=worker_process.warm_all, name="warmer", args=arguments)
    with _no_interrupt():
        _start_process(process)
    childs_end.close()
    child_log.started()
    try:
        yield pipe
    finally:
        process.join(0 if pipe.poll() else FAREWELL_SECONDS)
        process.kill()
        process.join()
        pipe.close()
        child_log.close()
        child_log.join(FAREWELL_SECONDS)


class _Queue:
    """The waiting games, in the schedule's order, except that a game that needs more cores than are free may be
    overtaken by a bounded number of games that fit.  So cores are seldom idle, and no game waits for ever."""

    def __init__(self, following: Callable[[], Fixture | None], cores: Callable[[Fixture], int], limit: int):
        self._following = following
        self._cores = cores
        self._limit = limit  # of cores; a game that needs more takes them all, and so runs alone
        self._window: deque[_Job] = deque()  # the next few games
        self._overtaken = 0  # how many games have overtaken the first of them

    def take(self, free: int) -> _Job | None:
        """The next game for which `free` cores suffice; None if there is none."""
        if free < 1:
            return None
        for place, job in enumerate(self._seen()):
            if job.cores <= free:
                del self._window[place]
                self._overtaken = self._overtaken + 1 if place else 0
                return job
            if self._overtaken >= OVERTAKING * self._limit:
                return None
        return None

    def _seen(self):
        """The waiting games, read from the schedule only as far as needed."""
        yield from list(self._window)
        while len(self._window) < 2 * OVERTAKING * self._limit and (fixture := self._following()):
            self._window.append(_Job(fixture, min(self._cores(fixture), self._limit)))
            yield self._window[-1]


@dataclass
class Supervisor:
    """Plays games on up to `workers` cores and hands every record to `on_result`, in the order of arrival.

    following: gives the next game to play, or None if there is none before a result comes in: it is asked again after
    one; run_log: where the workers' log records go;
    on_result: called in the thread of `run`; what it raises ends the run, and is raised by `run`;
    on_stop: called there with False at the first stop request, with True when running games are given up.
    """

    config: Config
    following: Callable[[], Fixture | None]
    workers: int
    on_result: Callable[[GameRecord], None]
    run_log: RunLog
    on_stop: Callable[[bool], None] = lambda now: None
    _crew: list[_Worker] = field(default_factory=list, init=False)
    _parting: list[WorkerLog] = field(default_factory=list, init=False)
    _stops: int = field(default=0, init=False)  # requests so far: 1 no new games, 2 stop now
    _stops_seen: int = field(default=0, init=False)
    _failed_starts: int = field(default=0, init=False)
    _refused: bool = field(default=False, init=False)  # on_result has raised

    def __post_init__(self):
        self.game_seconds = self.config.values["game_seconds"]  # a game that takes longer is a hang
        self._queue = _Queue(self.following, partial(cores_of, self.config), self.workers)
        self._names = itertools.count(1)
        self._wakeup, self._waker = multiprocessing.Pipe(duplex=False)
        self._records = deque()  # arrived, and not yet handed on

    def run(self) -> None:
        """Play all games, or those that a stop request allows.

        WorkerStartError if workers cannot start.  No worker is left when it returns or raises.
        """
        try:
            self._employ()
            while self._crew and any(worker.job for worker in self._crew) and self._stops < 2:
                self._advance()
            self._notice_stop()
            self._dismiss()
        finally:
            self._kill_all()
            try:
                self._deliver()
            finally:
                self._close()

    def request_stop(self, now: bool = False) -> None:
        """The first call starts no new games and finishes those that run; the second, or `now`, kills the workers.

        May be called from a signal handler and from any thread.
        """
        if self._stops < 2:
            self._stops = 2 if now else self._stops + 1
            self._waker.send_bytes(b"!")

    def playing(self) -> dict[int, str]:
        """The process ids of the workers that play, and the ids of their games."""
        return {
            worker.process.pid: worker.job.fixture.id
            for worker in list(self._crew)
            if worker.playing is not None and worker.job is not None and worker.process.pid is not None
        }

    # -- One round: wait, hear, employ anew, deliver ----------------------------------------------------------------

    def _advance(self):
        ready = self._wait()
        if self._wakeup in ready:
            self._wakeup.recv_bytes()
        self._notice_stop()
        for worker in list(self._crew):
            dead = worker.process.sentinel in ready
            if dead or worker.pipe in ready:
                dead |= not self._hear(worker)
            if not dead and worker.job and time.monotonic() > worker.deadline:
                dead = worker.hung = True
            if dead:
                self._bury(worker)
        # workers get their next games before the last ones are stored, then those that these results ask for
        self._employ()
        self._deliver()
        self._employ()

    def _wait(self):
        watched = [self._wakeup]
        for worker in self._crew:
            watched += [worker.pipe, worker.process.sentinel]
        deadlines = [worker.deadline for worker in self._crew if worker.job]
        left = min(deadlines, default=float("inf")) - time.monotonic()
        return set(pipes.wait(watched, min(max(left, 0.0), LONGEST_WAIT)))

    def _notice_stop(self):
        if self._stops > self._stops_seen:
            self._stops_seen = self._stops
            log.warning("stop requested: %s", "stopping now" if self._stops > 1 else "games that run are finished")
            self.on_stop(self._stops > 1)
        if self._stops:
            for worker in self._crew:
                if not worker.ready:
                    worker.job = None  # not begun

    def _hear(self, worker) -> bool:
        """Take what a worker has sent; False if it can send no more."""
        try:
            while worker.pipe.poll():
                message = worker.pipe.recv()
                if isinstance(message, GameRecord):
                    self._records.append(message)
                    worker.job = worker.playing = None
                elif isinstance(message, worker_process.Failed):
                    worker.complaint = message
                elif message == worker_process.BEGUN:
                    worker.playing = time.monotonic()
                    worker.deadline = worker.playing + self.game_seconds
                else:
                    worker.ready, self._failed_starts = True, 0
                    self._send(worker)
        except (EOFError, OSError):
            return False
        return True

    def _deliver(self):
        while self._records and not self._refused:
            self._refused = True  # until it returns: once it has raised, it is not called again
            self.on_result(self._records.popleft())
            self._refused = False

    # -- Workers and their games ----------------------------------------------------------------------------------

    def _employ(self):
        """Give games to workers while cores are free."""
        while not self._stops:
            job = self._queue.take(self.workers - sum(worker.job.cores for worker in self._crew if worker.job))
            if job is None:
                return
            worker = next((worker for worker in self._crew if worker.ready and not worker.job), None)
            if worker is None:
                self._start(job)
            else:
                worker.job = job
                self._send(worker)

    def _start(self, job):
        """A fresh worker, which plays `job` once it is ready."""
        name = f"worker-{next(self._names)}"
        pipe, workers_end = multiprocessing.Pipe()
        worker_log = self.run_log.worker(name)
        process = multiprocessing.Process(
            target=worker_process.main, name=name, args=(workers_end, worker_log.queue, self.config.resolved())
        )
        with _no_interrupt():
            _start_process(process)
        workers_end.close()
        worker_log.started()
        self._crew.append(_Worker(process, pipe, worker_log, time.monotonic() + START_SECONDS, job))

    def _send(self, worker):
        """Let a ready worker begin its game."""
        if worker.job is None:
            return
        try:
            worker.pipe.send(worker.job.fixture)
        except OSError:
            return  # it has just died; its game has not begun, and goes to another worker
        worker.playing = time.monotonic()
        # until it reports that the kernels are loaded, or compiled where they cannot be kept
        worker.deadline = worker.playing + self.game_seconds + LOAD_SECONDS

    def _bury(self, worker):
        """Remove a dead or hung worker, and decide what becomes of its game."""
        worker.process.kill()
        worker.process.join()
        self._hear(worker)  # a record that it has sent counts
        self._crew.remove(worker)
        worker.pipe.close()
        worker.log.close()
        self._parting = [*(log for log in self._parting if not log.closed()), worker.log]
        if not worker.ready:
            self._count_failed_start(worker)
        job = worker.job
        if job and worker.playing is not None:
            job = self._after_failure(worker, job)
        if job and not self._stops:
            self._start(job)

    def _count_failed_start(self, worker):
        if self._stops:
            return
        self._failed_starts += 1
        fate = worker.complaint or ("it did not answer" if worker.hung else worker.fate())
        log.error("%s could not start: %s", worker.process.name, fate)
        if self._failed_starts >= FAILED_STARTS:
            method, hint = multiprocessing.get_start_method(), ""
            if method != "fork" and not worker.complaint:
                hint = '; a script that uses it must call arena.run below `if __name__ == "__main__":`'
            raise WorkerStartError(
                f"{FAILED_STARTS} workers in a row could not start; the last: {fate} (start method {method}{hint})"
            )

    def _after_failure(self, worker, job) -> _Job | None:
        """The job to be played again; None once its game is void."""
        id, seconds = job.fixture.id, time.monotonic() - worker.playing
        fate = f"not over after game_seconds = {self.game_seconds:g}" if worker.hung else worker.fate()
        log.error("game %s on %s: %s", id, worker.process.name, fate)
        job = replace(job, failures=(*job.failures, fate))
        if self._stops > 1 or len(job.failures) == 1:
            return job
        reason = Reason.HANG if worker.hung else Reason.CRASH
        self._records.append(
            void_record(self.config, job.fixture, reason, "; played again: ".join(job.failures), seconds)
        )
        return None

    # -- The end --------------------------------------------------------------------------------------------------

    def _dismiss(self):
        """Let idle workers exit on their own, so that their last log records arrive."""
        until = time.monotonic() + FAREWELL_SECONDS
        leaving = [worker for worker in self._crew if worker.ready and not worker.job]
        for worker in leaving:
            with suppress(OSError):  # it has ended already
                worker.pipe.send(None)
        for worker in leaving:
            worker.process.join(max(until - time.monotonic(), 0))

    def _kill_all(self):
        for worker in self._crew:
            worker.process.kill()
        for worker in self._crew:
            worker.process.join()
            self._hear(worker)
            worker.pipe.close()
            worker.log.close()
            self._parting.append(worker.log)
        self._crew.clear()

    def _close(self):
        until = time.monotonic() + FAREWELL_SECONDS
        for worker_log in self._parting:
            worker_log.join(max(until - time.monotonic(), 0))


@contextmanager
def _no_interrupt():
    """A process started in this context ignores Ctrl-C until it installs its own handler."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
