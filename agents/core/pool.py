"""Pools of processes that search for this one.  A pool is kept for its next user, and replaces killed processes.

Each process calls `begin(number, *arguments)` once, which returns a function that yields the answers to a piece of
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
from multiprocessing import resource_tracker
from typing import Any, NamedTuple, Self

from arena.games.core.shared.errors import UserError

# no fork server: a process that was forked from the server's parent could not use it
CONTEXT = multiprocessing.get_context("spawn")
RESTARTS = 20
KEPT = 4  # free pools of a kind, for the game played last: each has processes and memory
FREE: dict[tuple, list[Any]] = {}  # free pools by process and class, the one used last at the end


class WorkerError(UserError, RuntimeError):
    """A worker cannot do its work; the message says why."""


class Member(NamedTuple):
    """A process, and our end of its pipe."""

    process: Any  # of CONTEXT
    pipe: Any


class Pool:
    """Processes that do the same kind of work.

    name: of the search, for messages
    restarts: how often a killed process is replaced before its work counts as the cause; an answer resets the count
    """

    game: Any
    options: tuple

    def __init__(self, name: str, workers: int, begin: Callable, *arguments, restarts: int = RESTARTS):
        self.name, self.workers, self.restarts = name, workers, restarts
        self.arguments, self.team = (name, begin, *arguments), list[Member]()
        self.close()

    @classmethod
    def take(cls, user, game, *arguments) -> Self:
        """A free or a new pool of these arguments, for `user` alone while that object exists."""
        kind = os.getpid(), cls  # not those of the process that this one was forked from
        pool = cls.picked(kind, game, arguments) or cls(game, *arguments)
        pool.game, pool.options = game, arguments
        weakref.finalize(user, pool.give_back, kind).atexit = False
        return pool

    @classmethod
    def picked(cls, kind: tuple, game, options: tuple) -> Self | None:
        """A free pool of these arguments, if any; those for other games, and too many, are closed."""
        free = FREE.pop(kind, [])  # all at once: any thread may give a pool back at any time
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
        """Start what does not run, and wait until all are ready."""
        with self.ended_by_errors():
            for number in range(len(self.team), self.workers):
                self.team.append(self.start(number))
            while self.starting:
                self.wait()

    def start(self, number: int) -> Member:
        self.starting.add(number)
        ours, theirs = CONTEXT.Pipe()
        arguments = theirs, number, *self.arguments
        process = CONTEXT.Process(target=serve, args=arguments, name=f"{self.name} {number}", daemon=True)
        resource_tracker.ensure_running()  # whose start would let the signal through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the process ignores it
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        return Member(process, ours)

    def give(self, number: int, work) -> None:
        """Give a process work, which stays in `given[number]` until the user takes it out, after the last answer."""
        self.given[number].append(work)
        self.send(number, work)

    def send(self, number: int, message) -> None:
        """Send a message; after a death only work in `given` is sent again."""
        with suppress(OSError):  # it has died
            self.team[number].pipe.send(message)

    def wait(self, seconds: float | None = None) -> list[tuple[int, Any]]:
        """Wait until something happens, or that long; returns the new answers, each with the number of its process.

        WorkerError if work failed, or a process died and replacing it would not help.
        """
        answers = []
        heard = pipes.wait([end for one in self.team for end in (one.pipe, one.process.sentinel)], seconds)
        for number, one in enumerate(self.team):
            with suppress(EOFError, OSError):  # it has died
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
        """Replace a dead process, and give its work again; WorkerError if that would not help."""
        end([self.team[number]])
        self.deaths[number] += 1
        code, deaths = self.team[number].process.exitcode, self.deaths[number]
        if code >= 0 or deaths > self.restarts:  # an error ended it, or its work ends every process
            times = f" {deaths} times in a row" if deaths > 1 else ""
            raise WorkerError(f"a process of the {self.name} died{times} (exit code {code})")
        self.team[number] = self.start(number)
        for work in self.given[number]:
            self.send(number, work)

    @contextmanager
    def ended_by_errors(self):
        """If an error or Ctrl-C ends the block, close the pool: its pipes may hold answers."""
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
        self.deaths = [0] * self.workers  # of each since its last answer


def end(team: list[Member]) -> None:
    """Kill processes, and wait until they are gone."""
    for one in team:
        one.process.kill()
    for one in team:
        one.process.join()
        one.pipe.close()


def serve(pipe, number: int, name: str, begin: Callable, *arguments) -> None:
    """Run in a process: do pieces of work until the pipe is closed; a message ends a piece after its next answer."""
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
    assert parent is not None
    pipes.wait([parent.sentinel])
    os._exit(1)
