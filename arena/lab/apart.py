"""Work that would let all pages wait: done in a process beside them, one piece after the other."""

import asyncio
import os
import resource
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from arena.agents.core.pool import CONTEXT, die_with_the_parent
from arena.config.trust import changed
from arena.games.core.errors import UserError
from arena.lab.searches import MEMORY

P = ParamSpec("P")
T = TypeVar("T")
NICE = 10  # games and searches come first


class Failed(UserError):
    """Work that was not done; the message says why."""


class Apart:
    """A process that is started when it is needed, and anew when it has died or taken too long."""

    def __init__(self, seconds: float):
        self.seconds = seconds  # of one piece of work
        self._pool: ProcessPoolExecutor | None = None

    async def do(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """What `function`, one of a module, returns there; Failed with its error in words."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, CONTEXT, _begin)
        pool = self._pool
        try:
            work: Future[tuple[bool | None, T | str]] = pool.submit(_answered, function, arguments, options)
            done, answer = await asyncio.wait_for(asyncio.wrap_future(work), self.seconds)
        except BrokenProcessPool:
            self._end(pool)
            raise Failed("the process that reads runs has died, perhaps for want of memory: ask again") from None
        except TimeoutError:
            self._end(pool)
            raise Failed(f"this took more than {self.seconds:.0f} s, and was given up") from None
        if done is None:  # a plug-in has been edited since that process imported it
            self._end(pool)
            return await self.do(function, *arguments, **options)
        if not done:
            raise Failed(str(answer))
        return answer  # type: ignore[return-value]  # the function's own

    def _end(self, pool: ProcessPoolExecutor) -> None:
        for process in list((pool._processes or {}).values()):
            process.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        if self._pool is pool:
            self._pool = None

    def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            self._end(self._pool)


READING = Apart(300.0)  # of runs: tables, figures, histories
CHECKING = Apart(20.0)  # of configurations, whose plug-ins run


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    threading.Thread(target=die_with_the_parent, daemon=True).start()
    os.nice(NICE)
    if MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _answered(function: Callable, arguments: tuple, options: dict) -> tuple:
    """(True, result) or (False, the error in words): not every error can be sent.  None for True: begin anew."""
    if changed():
        return None, ""
    try:
        return True, function(*arguments, **options)
    except (UserError, ValueError, OSError, ModuleNotFoundError) as error:
        return False, str(error)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
