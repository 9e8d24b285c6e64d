"""Decides about games whose worker died or hung, and about agents and games that do it repeatedly.

Agents of others play in processes of their own (`arena.workers.hosting`), so a worker holds our agents and the rules.
If it ends, nobody is accused: the game is played again, and void if that ends another.  An agent whose code runs long
after its time has lost.  Kernels of an agent hold the game's rules, so a fresh process first probes these alone.
"""

import logging
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
# signals that faulty code causes in its own process
OWN_SIGNALS = {
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
}
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
            failure = replace(failure, agent=None, certain=False)
        if not (failure.certain or failure.outside):
            failure = replace(failure, fate=f"{failure.fate}, while {self._runs(job.fixture, failure.agent)}")
        job = replace(job, failures=(*job.failures, failure))
        if not failure.certain and another_try(job.failures):
            return job
        is_known = failure.agent is None or failure.outside or job.fixture.condition in self._sound
        return self._settled(job) if is_known else replace(job, probes=1)

    def probed(self, job: Job, fault: str) -> GameRecord:
        """The game's record after a probe of the rules; `fault`: what is wrong with them, or ""."""
        if fault:
            return self._void(job, fault)
        self._sound.add(job.fixture.condition)
        return self._settled(job)

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

    def _settled(self, job):
        failure = job.failures[-1]
        if not failure.certain:
            reason = Reason.HANG if failure.reason == Reason.TIME else Reason.CRASH
            return void_record(self.config, job.fixture, reason, _fates(job), failure.seconds)
        self.spoilt[failure.agent] += failure.warming
        when = "before" if failure.warming else "in"
        text = f"{self._name(failure.agent)}, whose code ran {when} play: {_fates(job)}"
        return forfeit_record(self.config, job.fixture, failure.agent, failure.reason, text, failure.seconds)

    def _runs(self, fixture, agent):
        if agent is None:
            return f"no agent's code ran: perhaps the rules of {self._game(fixture)}"
        return f"code of {self._name(agent)} ran"

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
    return Failure(fate_of(exitcode), Reason.DIED, agent, outside=not own, warming=warming)


def another_try(failures: Sequence[Failure]) -> bool:
    """Whether to play again if nobody is known to be guilty."""
    return len(failures) < (TRIES_KILLED if all(failure.outside for failure in failures) else TRIES)
