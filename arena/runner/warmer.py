"""Compiles what all agents run, before play and once for all workers."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import connection as pipes

from arena.config.config import Config
from arena.runner import worker as worker_process
from arena.runner.blame import Failure
from arena.runner.logs import RunLog
from arena.runner.messages import LONGEST, Failed, Junk, Ready, Warmed, Warming
from arena.runner.staff import TICK, Worker, WorkerStartError
from arena.runner.watchdog import Watchdog
from results.record import Reason


@dataclass
class Warmer:
    """Compiles in a child process, so that an agent that ends its process harms no other.

    before: told the name of each agent; after: told its name, the seconds, and the failure, if any;
    failed: told a sentence on each agent that ends or hangs the process.
    """

    config: Config
    run_log: RunLog
    before: Callable[[str], None]
    after: Callable[[str, float, str], None]
    failed: Callable[[str], None]
    _left: list[int] = field(default_factory=list, init=False)  # agents that are still to come
    _current: int | None = field(default=None, init=False)
    _watchdog: Watchdog = field(default_factory=Watchdog, init=False)

    def run(self) -> Counter[int]:
        """Compile; what cannot be compiled here fails again in the agent's games.

        Returns how often each agent has ended or hung the process by a fault of its own.
        """
        self._left, spoilt = list(range(len(self.config.agents))), Counter[int]()
        try:
            while self._left:
                failure = self._run_child()
                if self._left:
                    self._note(failure, spoilt)
        finally:
            self._watchdog.close()
        return spoilt

    def _note(self, failure, spoilt):
        """The child has failed: pass over the agent whose turn it was."""
        agent = self._current if self._current in self._left else self._left[0]
        self._left.remove(agent)
        spoilt[agent] += failure.certain and failure.agent == agent
        name = self.config.agents[agent][0]
        self.after(name, 0.0, f"none: {failure.fate}")
        self.failed(f"{name} ended or hung the process in which its kernels were being compiled: {failure.fate}")

    def _run_child(self) -> Failure:
        """One child, for all that are left; what became of it."""
        worker = Worker("warmer", worker_process.warm_all, self.config, self.run_log, self._watchdog, list(self._left))
        self._current, open_ = None, True
        try:
            while self._left and open_:
                ready = pipes.wait(worker.watched(), TICK)
                if worker.printed in ready:
                    worker.note_printed()
                open_ = self._hear(worker) and not worker.dead()
                if open_ and (failure := worker.overdue(time.monotonic(), True)):
                    return failure
            worker.ends_within(1.0)
            self._hear(worker, LONGEST)
            return worker.fate()
        except Junk as junk:
            return Failure(f"it sent {junk}", Reason.CRASH, None)
        finally:
            worker.kill()
            worker.close()

    def _hear(self, worker, limit: int | None = None) -> bool:
        """Take what the child says; False if it can say no more."""
        messages, open_ = worker.hear(limit)
        for message in messages:
            if isinstance(message, Failed):
                raise WorkerStartError(f"workers could not start: {message.text}")
            if isinstance(message, Ready):
                worker.ready = True
            elif isinstance(message, Warming) and message.agent in self._left:
                worker.begun, self._current = time.monotonic(), message.agent
                self.before(self.config.agents[message.agent][0])
            elif isinstance(message, Warmed) and message.agent == self._current and message.agent in self._left:
                self._left.remove(message.agent)
                self.after(self.config.agents[message.agent][0], message.seconds, message.failure)
            else:
                raise Junk(f"{message!r:.200} out of turn")
        return open_
