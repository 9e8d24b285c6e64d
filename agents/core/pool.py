"""Pools of processes that search for this one.  A pool is kept for its next user, and replaces killed processes.

Those of one kind are kept for the game that was played last, and at most KEPT of them: each has processes and memory.

Each process calls `begin(number, *arguments)` once.  That returns a function, which yields the answers to a piece of
work.  However this process ends, its pools end with it.
"""

import multiprocessing
import os
import signal
import threading
import weakref
from collections.abc import Callable
from contextlib import contextmanager, suppress
from multiprocessing import connection as pipes
from typing import Any, NamedTuple, Self

from arena.games.core.errors import UserError

# no fork server: a process that was forked from the server's parent could not use it
CONTEXT = multiprocessing.get_context("spawn")
RESTARTS = 20
KEPT = 4  # free pools of a kind, for several agents that play one game
FREE: dict[tuple, list[Any]] = {}  # the pools without a user, by process and class, the one used last at the end


class WorkerError(UserError, RuntimeError):
    """A worker cannot do its work; the message says why."""


class Member(NamedTuple):
    """A process, and our end of the pipe to it."""

    process: Any  # of CONTEXT
    pipe: Any


class Pool:
    """Processes that do the same kind of work.

    name: of the search, for messages
    restarts: how often a killed process is replaced before the work counts as the cause; an answer resets the count
    """

    game: Any  # with `options`, what it was taken for
    options: tuple

    def __init__(self, name: str, workers: int, begin: Callable, *arguments, restarts: int = RESTARTS):
        self.name, self.workers, self.restarts = name, workers, restarts
        self.arguments, self.team = (name, begin, *arguments), list[Member]()
        self.close()

    @classmethod
    def take(cls, user, game, *arguments) -> Self:
        """A pool of these arguments, a free one if there is one; it is for `user` alone while that object exists."""
        kind = os.getpid(), cls  # a process forked from this one must not take this one's pools
        pool = cls.picked(kind, game, arguments) or cls(game, *arguments)
        pool.game, pool.options = game, arguments
        weakref.finalize(user, pool.give_back, kind).atexit = False
        return pool

    @classmethod
    def picked(cls, kind: tuple, game, options: tuple) -> Self | None:
        """The free pool of these arguments, if there is one; free ones for other games, and too many, are closed."""
        free = FREE.pop(kind, [])  # all at once, since a pool may be given back at any time, by any thread
        same = [pool for pool in free if pool.game == game]
        found = next((pool for pool in reversed(same) if pool.options == options), None)
        kept = [pool for pool in same if pool is not found][-KEPT:]
        for pool in free:
            if pool is not found and pool not in kept:
                pool.close()
        FREE.setdefault(kind, [])[:0] = kept
        return found

    def give_back(self, kind: tuple) -> None:
        """Let another user take the pool, if its processes run and are idle."""
        if self.team and not any(self.given):
            FREE.setdefault(kind, []).append(self)

    def open(self) -> None:
        """Start the processes, unless they run, and wait until they are ready."""
        with self.ended_by_errors():
            for number in range(len(self.team), self.workers):
                self.team.append(self.start(number))
            while self.starting:
                self.wait()

    def start(self, number: int) -> Member:
        """Start process `number`."""
        self.starting.add(number)
        ours, theirs = CONTEXT.Pipe()
        arguments = theirs, number, *self.arguments
        process = CONTEXT.Process(target=serve, args=arguments, name=f"{self.name} {number}", daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # in the process, until it ignores it
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        return Member(process, ours)

    def give(self, number: int, work) -> None:
        """Give a process work.  It stays in `given[number]` until the user takes it out, after the last answer."""
        self.given[number].append(work)
        self.send(number, work)

    def send(self, number: int, message) -> None:
        """Send a process a message; only work in `given` is sent again after the process has died."""
        with suppress(OSError):  # it has died, as wait() will notice
            self.team[number].pipe.send(message)

    def wait(self, seconds: float | None = None) -> list[tuple[int, Any]]:
        """Wait up to so long until something happens; returns the new answers, each with the number of its process.

        WorkerError if work failed, or a process died and replacing it would not help.
        """
        answers = []
        heard = pipes.wait([end for one in self.team for end in (one.pipe, one.process.sentinel)], seconds)
        for number, one in enumerate(self.team):
            with suppress(EOFError, OSError):  # it has died, as its sentinel says now or at the next call
                if one.pipe in heard:
                    answer = one.pipe.recv()
                    if isinstance(answer, Exception):
                        raise answer
                    if answer is None:
                        self.starting.discard(number)
                    else:
                        self.deaths[number] = 0
                        answers.append((number, answer))
                    continue
            if one.process.sentinel in heard:
                self.replace(number)
        return answers

    def replace(self, number: int) -> None:
        """Start a process in the place of a dead one, and give it the same work; WorkerError if that would not help."""
        end([self.team[number]])
        self.deaths[number] += 1
        code, deaths = self.team[number].process.exitcode, self.deaths[number]
        if code >= 0 or deaths > self.restarts:  # no signal ended it but an error, or its work ends every process
            times = f" {deaths} times in a row" if deaths > 1 else ""
            raise WorkerError(f"a process of the {self.name} died{times} (exit code {code})")
        self.team[number] = self.start(number)
        for work in self.given[number]:
            self.send(number, work)

    @contextmanager
    def ended_by_errors(self):
        """Close the pool if an error or Ctrl-C ends the block, since the pipes may hold answers to its work."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the processes; open() starts new ones."""
        end(self.team)
        self.team, self.starting = list[Member](), set[int]()
        self.given: list[list] = [[] for _ in range(self.workers)]
        self.deaths = [0] * self.workers  # in each place since the last answer from there


def end(team: list[Member]) -> None:
    """Kill processes, and wait until they are gone."""
    for one in team:
        one.process.kill()
    for one in team:
        one.process.join()
        one.pipe.close()


def serve(pipe, number: int, name: str, begin: Callable, *arguments) -> None:
    """Run in a process: do one piece of work after another until the pipe is closed.

    A message that comes meanwhile ends a piece of work after its next answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=die_with_the_parent, daemon=True).start()
    work = begin(number, *arguments)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send(None)  # it is ready
        while True:
            given = pipe.recv()
            try:
                for answer in work(given):
                    pipe.send(answer)
                    if pipe.poll():
                        break
            except Exception as error:
                pipe.send(WorkerError(f"{type(error).__name__} in a process of the {name}: {error}"))


def die_with_the_parent() -> None:
    """End this process when its parent is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None  # since a pool has started this process
    pipes.wait([parent.sentinel])
    os._exit(1)
