"""What becomes of a game whose worker died or hung, and of agents and games that do so again and again.

An agent whose code ran when its process ended by itself, or by a fault of the machine code in it, is accused.  So is
one that was not done long after its time.  A signal that anybody may send, or the system when memory is short, is held
against nobody: the game is played again, unless the same agent's code meets with it every time.

Since the kernels of an agent hold the rules of the game, a fresh process first probes these rules without the agent: if
that fails too, the game is void, and nobody pays.
"""

import logging
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.play.match import forfeit_record, void_record
from arena.workers.waiting import Failure, Job
from results.record import GameRecord, Reason

log = logging.getLogger("arena.workers.supervisor")

ENOUGH = 2  # times that an agent, before play, or a game ends or hangs a process until it is asked no more
MOST_TOLD = 100  # different troubles of a run
TRIES = 2  # times that a game is played if it is not known whose fault it was that it failed
TRIES_KILLED = 8  # the same, where workers were killed from outside, as far as can be told
# what a process does to itself, by code that is wrong
OWN_SIGNALS = {
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
}
LOST = 255  # the exit code that a process has if its fork server, which knows the true one, has died


@dataclass
class Verdicts:
    """Judges the failures of a run's workers.

    config: whose agents and games they are; on_trouble: told a sentence on what they have done, each once.
    """

    config: Config
    on_trouble: Callable[[str], None]
    spoilt: Counter[int] = field(default_factory=Counter)  # how often each agent ended or hung its process before play
    _broken: Counter[int] = field(default_factory=Counter, init=False)  # the same of the conditions' games
    _sound: set[int] = field(default_factory=set, init=False)  # conditions whose games were probed and did not
    _told: set[str] = field(default_factory=set, init=False)

    def known(self) -> tuple[Counter[int], Counter[int]]:
        """How often each agent, and each condition's game, has ended or hung a process."""
        return Counter(self.spoilt), Counter(self._broken)

    def learn(self, spoilt: Mapping[int, int], broken: Mapping[int, int]) -> None:
        """Count what agents and games have done elsewhere, too."""
        self.spoilt.update(spoilt)
        self._broken.update(broken)

    def without_play(self, fixture: Fixture) -> GameRecord | None:
        """The record of a game that is not played, since its agents or its rules did too much harm; None if it is."""
        if self._broken[fixture.condition] >= ENOUGH:
            detail = f"{self._game(fixture)} ended or hung {ENOUGH} processes"
            self.tell(f"{detail}: it is played no more, and the rest of its games is void")
            return void_record(self.config, fixture, Reason.RULES, detail)
        for agent in fixture.seats:
            if self.spoilt[agent] >= ENOUGH:
                detail = f"{self._name(agent)} ended or hung its process {ENOUGH} times before play"
                self.tell(f"{detail}: it is asked no more, and loses the rest of its games")
                return forfeit_record(self.config, fixture, agent, Reason.EXCLUDED, detail)
        return None

    def after(self, job: Job, failure: Failure) -> Job | GameRecord:
        """What follows from the failure of the worker that had a job: another job, or the record of its game."""
        if job.probes:
            return self._after_probe(job, failure)
        if failure.agent not in job.fixture.seats:
            failure = replace(failure, agent=None)
        job = replace(job, failures=(*job.failures, failure))
        if culprit(job.failures) is not None:
            return self._forfeit(job) if job.fixture.condition in self._sound else replace(job, probes=1)
        if another_try(job.failures):
            return job
        reason, fates = void_reason(job.failures), _fates(job)
        return void_record(self.config, job.fixture, reason, fates, failure.seconds)

    def probed(self, job: Job, fault: str) -> GameRecord:
        """The record of a game whose rules were probed; `fault` is what is wrong with them, or ""."""
        if fault:
            return self._void(job, fault)
        self._sound.add(job.fixture.condition)
        return self._forfeit(job)

    def of_rules(self, record: GameRecord) -> None:
        """Tell of a game whose rules failed in play."""
        self.tell(f"the rules of {self._game(record)} failed, and its games are void: {record.detail}")

    def tell(self, text: str) -> None:
        """Tell of a trouble, if it is new."""
        if text not in self._told and len(self._told) < MOST_TOLD:
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
    """What became of a dead worker."""
    if exitcode is not None and exitcode < 0:
        try:
            return f"the worker was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"the worker was killed by signal {-exitcode}"
    return f"the worker ended with exit code {exitcode}"


def death(exitcode: int | None, agent: int | None, warming: bool, served: bool) -> Failure:
    """The failure of a worker that has died; `served`: it came from a fork server."""
    own = exitcode is not None and (-exitcode in OWN_SIGNALS or (exitcode >= 0 and not (served and exitcode == LOST)))
    return Failure(fate_of(exitcode), Reason.DIED, agent, certain=own, outside=not own, warming=warming)


def culprit(failures: Sequence[Failure]) -> int | None:
    """The agent that loses the game for the last of these failures; None if that is not known, or not yet."""
    last = failures[-1]
    if last.agent is None or last.certain:
        return last.agent
    same = all(failure.agent == last.agent for failure in failures)
    return last.agent if same and not another_try(failures) else None


def another_try(failures: Sequence[Failure]) -> bool:
    """Whether a game of which nobody is known to be guilty is played again."""
    return len(failures) < (TRIES_KILLED if all(failure.outside for failure in failures) else TRIES)


def void_reason(failures: Sequence[Failure]) -> str:
    """The reason of a game that is void after these failures."""
    return Reason.HANG if failures[-1].reason == Reason.TIME else Reason.CRASH


def is_stopped(pid: int) -> bool:
    """Whether a process has been stopped, by SIGSTOP for example; False where the system does not say so in /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False
