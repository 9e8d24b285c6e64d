"""A worker as the supervisor sees it: its process, messages, prints and games, and whether it is overdue."""

import inspect
import logging
import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import arena.agents
import arena.games
from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.games.core.shared.system import is_stopped, kill_group
from arena.play import watch
from arena.play.referee import GRACE
from arena.play.warming import play_first_moves
from arena.results.database.record import Reason
from arena.workers.batches import ORDER_SECONDS
from arena.workers.child import PRINTED, Child
from arena.workers.logs import WorkersLog
from arena.workers.messages import Hosting, Junk, Logged, Message, Play, Probe, Serve, messages
from arena.workers.waiting import Failure, Job
from arena.workers.watchdog import Watchdog

log = logging.getLogger("arena.workers.supervisor")

TICK = 0.5  # seconds between looks at clocks
STOP = 2.0  # seconds beyond TICK between looks that mean a stop of this process
START_SECONDS = 300.0  # a worker not ready by then counts as dead
STOPPED_SECONDS = 15.0  # then others play the games of a stopped process
HALF_SECONDS = 30.0  # for the rest of a message
PROBE_SECONDS = 60.0  # for the kernels of a game without an agent
PROBE_LOADING = 10.0  # of these, for loading them
BACKSTOP = 4  # times a game's limits: then a worker is killed whatever it says
MOST_PLIES = 1_000_000_000  # shown of a game
OURS = tuple(str(Path(inspect.getfile(part)).parent) for part in (arena, arena.agents, arena.games))
FRAME = re.compile(r'  File "(.*)", line (\d+) in (\S+)')  # of a stack that `faulthandler` writes


class InPlay(NamedTuple):
    """A game being played."""

    fixture: Fixture
    plies: int  # 0 while the kernels of its agents are loaded
    seconds: float  # without those in which it was stopped
    best: float = math.nan  # score that a search has found so far, in a game for one player


class Worker(Child):
    """A process with a memory that says what it does, and the games that it plays, of a configuration.

    sources: of the configuration, as the process must have them, too
    """

    def __init__(
        self, name: str, target: Callable, config: Config, sources: str, run_log: WorkersLog, watchdog: Watchdog
    ):
        self.watchdog = watchdog
        memory = watch.new_memory()
        self.words = watch.words_of(memory)
        super().__init__(name, target, (memory, config.resolved(), sources), messages, self._note_print)
        watchdog.watch(self.pid)
        self.ready = False
        self._hosts = set[int]()  # processes of agents
        self._begin(config, run_log)

    def _begin(self, config: Config, run_log: WorkersLog) -> None:
        self.config, self.run_log = config, run_log
        self.slow = SlowCall()
        self.jobs: deque[Job] = deque()  # games without a record: in play, or waiting until it is ready
        self.agent: int | None = None  # whose kernels it compiles, or is to compile
        self.has_compiled = False
        self.sent = 0  # games in its last order
        self.complaint = ""
        self.begun = time.monotonic()  # when it was started, then sent its last order
        self.paused = 0.0  # seconds since then in which it, or this process, was stopped
        self.half_since: float | None = None  # since when a message is incomplete

    def serve(self, config: Config, sources: str, run_log: WorkersLog) -> bool:
        """Let this idle worker be one for a configuration from now on; False if it cannot, or has ended."""
        if self.dead() or config.values["memory"] != self.config.values["memory"]:
            return False
        if config is not self.config:
            watch.clear(self.words)
            self.ready = False
            try:
                self.end.send(Serve(config.resolved(), sources))
            except OSError:  # or it is longer than an order can be
                return False
        self._begin(config, run_log)
        return True

    @property
    def name(self) -> str:
        """Its name in the log."""
        return self.process.name

    def watched(self) -> list:
        """The connections to wait for."""
        return [self.end, self.process.sentinel, *([] if self.printed.closed else [self.printed])]

    def send(self) -> None:
        """Let it begin its games, if any and if it is ready."""
        if not (self.jobs and self.ready):
            return
        self.begun, self.paused, self.sent = time.monotonic(), 0.0, len(self.jobs)
        self.words[watch.GAME], self.slow = 0.0, SlowCall()
        fixtures = [job.fixture for job in self.jobs]
        with suppress(OSError):  # it has just died, as its sentinel shows
            order = Probe(fixtures[0].condition) if self.jobs[0].probes else None
            self.end.send(order or Play(fixtures, ORDER_SECONDS))

    def halt(self) -> None:
        """Let it begin no further game."""
        self.words[watch.HALT] = 1.0

    # -- What it says ---------------------------------------------------------------------------------------------

    def hear(self, limit: int | None = None) -> tuple[list[Message], bool]:
        """Messages for the supervisor, and whether more may come; Junk if one is none."""
        try:
            messages, open_ = self.end.receive() if limit is None else self.end.receive(limit)
        except Junk as junk:
            self._noted(junk.before)
            raise
        if not self.end.half:
            self.half_since = None
        elif self.half_since is None or messages:
            self.half_since = time.monotonic()
        return self._noted(messages), open_

    def hear_out(self) -> bool:
        """Take what an idle worker has printed and logged; whether more may come."""
        self.printed.read()
        try:
            return self.hear()[1]
        except Junk:
            return False

    def _noted(self, messages: Sequence[Message]) -> list[Message]:
        """Writes log records, notes processes of agents, and returns the others."""
        others: list[Message] = []
        for message in messages:
            if isinstance(message, Logged):
                if message.name == PRINTED:  # by a host
                    self.slow.read(message.text.partition(": ")[2])
                self.run_log.of_worker(self.name, message.name, message.level, message.text)
            elif isinstance(message, Hosting):
                self._note_host(message.process)
            else:
                others.append(message)
        return others

    def _note_host(self, process: int) -> None:
        if process > 0:
            self._hosts.add(process)
            self.watchdog.watch(process)
        elif -process in self._hosts:
            self._hosts.remove(-process)
            self.watchdog.forget(-process)

    def _note_print(self, text: str) -> None:
        self.slow.read(text)
        self.run_log.of_worker(self.name, PRINTED, logging.INFO, text)

    # -- What it does ---------------------------------------------------------------------------------------------

    def doing(self) -> watch.Doing:
        """What it is doing, or was doing when it died."""
        return watch.read(self.words, len(self.config.agents))

    @property
    def job(self) -> Job | None:
        """The game that it plays; None if it has none."""
        return self.jobs[self.place] if self.jobs else None

    @property
    def place(self) -> int:
        """How many of `jobs` it has played without sending their records."""
        place = self.words[watch.GAME] - (self.sent - len(self.jobs))
        # an agent may have written nonsense there
        return int(place) if place in range(len(self.jobs)) else 0

    def game_begun(self) -> float:
        """When it began its game."""
        return max(self.begun, min(self.doing().game_since, time.monotonic()))

    def in_play(self) -> InPlay | None:
        """The game that it plays, unless it probes the rules."""
        job = self.job
        if not self.ready or job is None or job.probes:
            return None
        doing, seconds = self.doing(), time.monotonic() - self.game_begun() - self.paused
        # an agent may have written nonsense there
        plies = int(doing.plies) if doing.game_since >= self.begun and 0 <= doing.plies < MOST_PLIES else 0
        return InPlay(job.fixture, plies, max(0.0, seconds), doing.best if doing.game_since >= self.begun else math.nan)

    def fate(self) -> Failure:
        """The failure of a dead worker."""
        doing = self.doing()
        return self.death(doing.agent, not doing.playing)

    def useless(self, why: str) -> Failure:
        """The failure of a worker that cannot go on because of what it sent, or did not."""
        doing = self.doing()
        return Failure(why, Reason.DIED, doing.agent, warming=not doing.playing)

    def note_stop(self, seconds: float) -> bool:
        """Whether it is stopped; if so, the last seconds do not count."""
        stopped = is_stopped(self.pid)
        if stopped:
            self.paused += seconds
        return stopped

    def overdue(self, now: float, busy: bool) -> Failure | None:
        """The failure if something takes too long; busy: whether it has something to do."""
        if self.paused > STOPPED_SECONDS and self.note_stop(0.0):
            doing, fate = self.doing(), f"it was stopped for {self.paused:.0f} s"
            return Failure(fate, Reason.TIME, doing.agent, outside=True, warming=not doing.playing)
        if self.half_since is not None and now - self.half_since > HALF_SECONDS:
            return self.useless("it sent half a message")
        if not self.ready:
            return self.useless("it did not answer") if now - self.begun > START_SECONDS else None
        return self._overdue_game(now) if busy else None

    def _overdue_game(self, now) -> Failure | None:
        """The failure of a game that takes too long; compiling has a limit of its own."""
        game_seconds, compile_seconds = (self.config.values[key] for key in ("game_seconds", "compile_seconds"))
        doing = self.doing()
        late = partial(Failure, reason=Reason.TIME, warming=not doing.playing)
        compiling = now - doing.compiling if doing.compiling else 0.0
        agent = doing.agent if doing.since >= self.begun else None
        if agent is not None:
            if compiling + doing.compiled - self.paused > compile_seconds:
                fate = f"its kernels were not compiled after compile_seconds = {compile_seconds:g}"
                return late(fate, agent=agent, certain=True)
            limit = min(doing.limit, game_seconds)
            if now - doing.since - compiling - doing.compiled - self.paused > limit:
                what = "its move was" if doing.playing else "its first decisions were"
                where = f", in {self.slow.where}" if self.slow.where and not doing.playing else ""
                return late(f"{what} not over after {limit:g} s{where}", agent=agent, certain=True)
        # before play each of two agents has as long
        limit = game_seconds if doing.playing else 2 * game_seconds + GRACE
        if self.jobs and self.jobs[0].probes:
            limit = min(PROBE_SECONDS, max(PROBE_LOADING, game_seconds))
        elapsed = now - max(doing.game_since, self.begun) - self.paused
        over = elapsed - compiling - doing.compiled_game > limit
        if over or now - self.begun - self.paused > BACKSTOP * (limit + compile_seconds):
            # to blame if one call of it took most of that time
            agent = agent if now - doing.since > elapsed / 2 else None
            return late(f"not over after {limit:g} s", agent=agent, certain=agent is not None)
        return None

    # -- Its end --------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill its process and its hosts, with their groups."""
        super().kill()
        for host in self._hosts:
            kill_group(host)

    def close(self) -> None:
        """Wait for the end of a killed process, and drop unread messages."""
        self.process.join()
        self.kill()  # hosts of which it told last
        for group in (self.pid, *self._hosts):
            self.watchdog.forget(group)
        super().close()


class SlowCall:
    """Finds the line of a user's class that runs, in the stacks that `faulthandler` writes, innermost first."""

    def __init__(self):
        self.where = ""  # decide (loop.py, line 7)
        self._user = ""  # in the stack of one thread, the last of the frames before ours
        self._over = False  # what follows in that stack called ours

    def read(self, text: str) -> None:
        """Take the next line that the process has printed."""
        if text.startswith(("Timeout (", "Thread ")):
            self._user, self._over = "", False
        elif self._over:
            return
        elif (frame := FRAME.match(text)) and not frame[1].startswith(OURS):
            self._user = f"{frame[3]} ({Path(frame[1]).name}, line {frame[2]})"
        elif frame and frame[3] in (play_first_moves.__name__, "answer"):  # here, or in a host
            self.where, self._over = self._user, True


class Looks:
    """Times the looks at workers; seconds in which they or this process were stopped do not count."""

    def __init__(self):
        self.last = time.monotonic()

    def due(self, workers: Iterable[Worker]) -> bool:
        """Whether a look is due; notes stops, too."""
        now = time.monotonic()
        passed = now - self.last
        if passed < TICK:
            return False
        self.last = now
        for worker in workers:
            if passed > TICK + STOP:  # this process was stopped, the workers perhaps too
                worker.paused += passed
            else:
                worker.note_stop(passed)
        return True
