"""Decides about games whose worker died or hung, and about agents and games that do it repeatedly.

An agent is accused if its code ran when its process ended by itself or by a fault in it, or ran long after its time.  A
signal that anybody may send, as when memory is short, accuses nobody: the game is played again, unless the same agent's
code meets it every time.  So is one whose connection got junk or was closed, by nobody known; that time the worker says
in the same connection whose code runs.  Kernels of an agent hold the game's rules, so a fresh process first probes
these alone: if that fails too, the game is void.
"""

import logging
import platform
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.play.match import forfeit_record, void_record
from arena.results.database.record import GameRecord, Reason
from arena.workers.waiting import Failure, Job

log = logging.getLogger("arena.workers.supervisor")

ENOUGH = 2  # failures of an agent before play, or of a game, that end its games
MOST_REPORTED = 100  # different troubles of a run
TRIES = 2  # times that a game is played if its fault is not known
TRIES_KILLED = 8  # the same, if workers seem to be killed from outside
TRIES_STOPPED = 3  # the same, if they are stopped while the same agent's code runs
# signals that faulty code causes in its own process
OWN_SIGNALS = {
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
}
STOPPING = {getattr(signal, name) for name in ("SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU") if hasattr(signal, name)}
# system calls kill, tkill, tgkill and pidfd_send_signal, by machine
SENDING = {"x86_64": ("62", "200", "234", "424"), "aarch64": ("129", "130", "131", "424")}
LOST = 255  # the exit code if the fork server, which knows the true one, has died


@dataclass
class Verdicts:
    """Judges the failures of a run's workers.

    config: names the agents and games; on_trouble: called once with each sentence on what they have done
    """

    config: Config
    on_trouble: Callable[[str], None]
    spoilt: Counter[int] = field(default_factory=Counter)  # by agent: processes ended or hung before play
    _broken: Counter[int] = field(default_factory=Counter, init=False)  # by condition: processes that its game ended
    _sound: set[int] = field(default_factory=set, init=False)  # conditions whose games passed a probe
    _told: set[str] = field(default_factory=set, init=False)

    def known(self) -> tuple[Counter[int], Counter[int]]:
        """How often each agent, and each game, has ended or hung a process."""
        return Counter(self.spoilt), Counter(self._broken)

    def learn(self, spoilt: Mapping[int, int], broken: Mapping[int, int]) -> None:
        """Add what agents and games have done elsewhere."""
        self.spoilt.update(spoilt)
        self._broken.update(broken)

    def without_play(self, fixture: Fixture) -> GameRecord | None:
        """The record of a game that is not played because its agents or rules did too much harm; else None."""
        if self._broken[fixture.condition] >= ENOUGH:
            detail = f"{self._game(fixture)} ended or hung {ENOUGH} processes"
            self.tell(f"{detail}: it is played no more, and the rest of its games is void")
            return void_record(self.config, fixture, Reason.RULES, detail)
        for agent in fixture.seats:
            if self.spoilt[agent] >= ENOUGH:
                detail = f"{self._name(agent)} took too long, or ended its process, {ENOUGH} times before play"
                self.tell(f"{detail}: it is asked no more, and loses the rest of its games")
                return forfeit_record(self.config, fixture, agent, Reason.EXCLUDED, detail)
        return None

    def after(self, job: Job, failure: Failure) -> Job | GameRecord:
        """What follows a failed worker: another job, or the record of the game."""
        if job.probes:
            return self._after_probe(job, failure)
        if failure.agent not in job.fixture.seats:
            failure = replace(failure, agent=None)
            if failure.certain:  # not from outside
                game = self._game(job.fixture)
                failure = replace(
                    failure, fate=f"{failure.fate}, while no agent's code ran: perhaps the rules of {game}"
                )
        job = replace(job, failures=(*job.failures, failure))
        if culprit(job.failures) is not None:
            return self._forfeit(job) if job.fixture.condition in self._sound else replace(job, probes=1)
        if another_try(job.failures):
            return job
        reason = Reason.HANG if failure.reason == Reason.TIME else Reason.CRASH
        return void_record(self.config, job.fixture, reason, _fates(job), failure.seconds)

    def probed(self, job: Job, fault: str) -> GameRecord:
        """The game's record after a probe of the rules; `fault`: what is wrong with them, or ""."""
        if fault:
            return self._void(job, fault)
        self._sound.add(job.fixture.condition)
        return self._forfeit(job)

    def of_rules(self, record: GameRecord) -> None:
        """Report a game whose rules failed in play."""
        self.tell(f"the rules of {self._game(record)} failed, and its games are void: {record.detail}")

    def tell(self, text: str) -> None:
        """Report a trouble, if it is new."""
        if text not in self._told and len(self._told) < MOST_REPORTED:
            self._told.add(text)
            self.on_trouble(text)

    def _after_probe(self, job, failure):
        if failure.outside and another_try([failure] * job.probes):
            return replace(job, probes=job.probes + 1)
        self._broken[job.fixture.condition] += 1
        return self._void(job, f"its kernels, run without an agent: {failure.fate}")

    def _void(self, job, fault):
        seconds = job.failures[-1].seconds
        record = void_record(self.config, job.fixture, Reason.RULES, f"the rules failed: {fault}", seconds)
        self.of_rules(record)
        return record

    def _forfeit(self, job):
        agent, failure = culprit(job.failures), job.failures[-1]
        self.spoilt[agent] += failure.warming
        text = f"{self._name(agent)}, whose code ran {'before' if failure.warming else 'in'} play: {_fates(job)}"
        return forfeit_record(self.config, job.fixture, agent, failure.reason, text, failure.seconds)

    def _name(self, agent):
        return self.config.agents[agent][0]

    def _game(self, game):
        return self.config.conditions[game.condition].game


def _fates(job):
    return "; played again: ".join(failure.fate for failure in job.failures)


def fate_of(exitcode: int | None) -> str:
    """How a worker died."""
    if exitcode is not None and exitcode < 0:
        try:
            return f"the worker was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"the worker was killed by signal {-exitcode}"
    return f"the worker ended with exit code {exitcode}"


def death(exitcode: int | None, agent: int | None, warming: bool, served: bool) -> Failure:
    """The failure of a dead worker; `served`: from a fork server."""
    own = exitcode is not None and (-exitcode in OWN_SIGNALS or (exitcode >= 0 and not (served and exitcode == LOST)))
    return Failure(fate_of(exitcode), Reason.DIED, agent, certain=own, outside=not own, warming=warming)


def culprit(failures: Sequence[Failure]) -> int | None:
    """Who loses the game for the last failure; None if not known, or not yet."""
    last = failures[-1]
    if last.agent is None or last.certain:
        return last.agent
    same = all(failure.agent == last.agent for failure in failures)
    stopped = len(failures) >= TRIES_STOPPED and all(one.outside and one.reason == Reason.TIME for one in failures)
    return last.agent if same and (stopped or not another_try(failures)) else None


def another_try(failures: Sequence[Failure]) -> bool:
    """Whether to play again if nobody is known to be guilty."""
    return len(failures) < (TRIES_KILLED if all(failure.outside for failure in failures) else TRIES)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped, as by SIGSTOP; False if /proc does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def stopped_itself(pid: int) -> bool:
    """Whether a thread of a stopped process was sending a signal that stops, when it was; False if /proc does not say.

    Source: proc(5), /proc/pid/syscall: the system call and its arguments.
    """
    calls = SENDING.get(platform.machine(), ())
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            call, *given = (task / "syscall").read_text().split()
            if call in calls and any(int(each, 16) in STOPPING for each in given[1:3]):
                return True
    except (OSError, ValueError):
        pass
    return False
