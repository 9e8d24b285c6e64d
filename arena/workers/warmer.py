"""Compiles all agents' kernels before play, once for all workers, on as many cores as the run has.

Agents known to be compiled (`arena.workers.compiled`) need no process.
"""

import itertools
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as pipes

from arena.config.config import Config, Seat
from arena.play.warming import weight
from arena.results.database.record import Reason
from arena.workers import compiled
from arena.workers.crew import Crew
from arena.workers.logs import WorkersLog
from arena.workers.messages import LONGEST, SLOW_SECONDS, Failed, Junk, Ready, Warm, Warmed
from arena.workers.starting import WorkerStartError
from arena.workers.waiting import Failure
from arena.workers.worker import TICK, Looks, SlowCall, Worker


@dataclass
class Warmer:
    """Compiles in child processes, so that an agent that ends its process harms no others.

    Those that only had to load kernels are kept to play; to compile takes memory that a process does not give back.
    workers: cores to use; before: called with each agent's name; after: called with name, seconds, and failure, if any;
    failed: called with a sentence on each agent that is slow, or ends or hangs its process
    """

    crew: Crew
    config: Config
    run_log: WorkersLog
    workers: int
    before: Callable[[str], None]
    after: Callable[[str, float, str], None]
    failed: Callable[[str], None]
    stopped: bool = field(default=False, init=False)
    _children: list[Worker] = field(default_factory=list, init=False)
    _spoilt: Counter[int] = field(default_factory=Counter, init=False)
    _slow: set[int] = field(default_factory=set, init=False)  # agents whose first decision was told to be slow

    def __post_init__(self):
        seats = self.config.conditions[0].seats
        left = compiled.left(seats, self.config.instances)
        weights = {kind: weight(kind) for kind in {type(seats[agent].agent) for agent in left}}
        # the slowest first, lest a core waits for it at the end
        self._left = sorted(left, key=lambda agent: -weights[type(seats[agent].agent)])
        self._compiled: list[Seat] = []

    def run(self) -> Counter[int]:
        """Compile; kernels that fail here fail again in the agent's games.

        Returns how often each agent has ended or hung its process.
        """
        try:
            looks = Looks()
            self._engage()
            while self._children and not self.stopped:
                ready = pipes.wait(itertools.chain.from_iterable(child.watched() for child in self._children), TICK)
                tick = looks.due(self._children)
                for child in list(self._children):
                    if failure := self._attend(child, ready, tick):
                        self._bury(child, failure)
                self._engage()
            return self._spoilt
        finally:
            compiled.note_compiled(self._compiled, self.config.instances)
            for child in list(self._children):
                self._dismiss(child)

    def request_stop(self) -> None:
        """End the children, within TICK; may be called from a signal handler."""
        self.stopped = True

    def _engage(self):
        """Give idle children agents, start children while cores are free, end those without work."""
        for child in list(self._children):
            if child.agent is None and child.ready and not self._assign(child):
                self._dismiss(child)
        while len(self._children) < self.workers and (agent := self._next()) is not None:
            child = self.crew.hire(self.config, self.run_log)
            self._children.append(child)
            child.agent = agent
            if child.ready:
                self._order(child)

    def _assign(self, child) -> bool:
        child.agent = self._next()
        if child.agent is not None:
            self._order(child)
        return child.agent is not None

    def _next(self) -> int | None:
        """An agent of a class that no other child compiles: agents of a class share kernels."""
        busy = {self._class_of(child.agent) for child in self._children if child.agent is not None}
        agent = next((agent for agent in self._left if self._class_of(agent) not in busy), None)
        if agent is not None:
            self._left.remove(agent)
        return agent

    def _class_of(self, agent):
        return type(self.config.conditions[0].seats[agent].agent)

    def _order(self, child):
        child.begun, child.paused, child.slow = time.monotonic(), 0.0, SlowCall()
        self.before(self.config.agents[child.agent][0])
        with suppress(OSError):  # it has just died, as it shows when heard
            child.end.send(Warm(child.agent))

    def _attend(self, child, ready, tick) -> Failure | None:
        if child.printed in ready:
            child.printed.read()
        try:
            open_ = self._hear(child)
            if child.slow.where and child.agent not in self._slow and child.agent is not None:
                self._slow.add(child.agent)
                slow = f"{self.config.agents[child.agent][0]} takes more than {SLOW_SECONDS:g} s for a first decision"
                self.failed(f"{slow}: {child.slow.where}")
            if open_ and not child.dead():
                return child.overdue(time.monotonic(), child.agent is not None) if tick else None
            child.ends_within(1.0)
            self._hear(child, LONGEST)
            return child.fate()
        except (Junk, OSError) as junk:
            return Failure(f"it sent {junk}", Reason.CRASH, None)

    def _hear(self, child, limit: int | None = None) -> bool:
        messages, open_ = child.hear(limit)
        for message in messages:
            if isinstance(message, Failed):
                raise WorkerStartError(f"workers could not start: {message.text}")
            if isinstance(message, Ready) and not child.ready:
                child.ready = True
                self._order(child)
            elif isinstance(message, Warmed) and message.agent == child.agent:
                self.after(self.config.agents[child.agent][0], message.seconds, message.failure)
                if not message.failure:
                    self._compiled.append(self.config.conditions[0].seats[child.agent])
                if message.harm:
                    self._spoilt[child.agent] += 1
                    reason, fate = message.harm
                    self._tell_of(child.agent, reason, fate + (f", in {child.slow.where}" if child.slow.where else ""))
                child.agent, child.has_compiled = None, message.compiled
            else:
                raise Junk(f"{message!r:.200} out of turn")
        return open_

    def _bury(self, child, failure):
        self._dismiss(child, kept=False)
        if child.agent is None:
            return
        name = self.config.agents[child.agent][0]
        own = failure.agent == child.agent and failure.certain
        self._spoilt[child.agent] += own
        if not child.ready:  # nobody has been notified yet
            self.before(name)
        self.after(name, 0.0, f"none: {failure.fate}")
        if own:
            self._tell_of(child.agent, failure.reason, failure.fate)
        else:
            self.failed(f"the kernels of {name} are not compiled before play: {failure.fate}")

    def _tell_of(self, agent: int, reason: str, fate: str) -> None:
        did = "took too long" if reason == Reason.TIME else "ended its process"
        self.failed(f"{self.config.agents[agent][0]} {did} before play: {fate}")

    def _dismiss(self, child, kept: bool = True):
        self._children.remove(child)
        if kept and child.ready and child.agent is None and not child.has_compiled:
            return self.crew.keep(child)
        child.kill()
        child.close()
