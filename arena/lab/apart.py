"""Work that would let all pages wait: done in processes beside them, a piece at a time in each."""

import asyncio
import importlib
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, ParamSpec, TypeVar

from arena.agents.core.pool import CONTEXT, die_with_the_parent
from arena.config.trust import changed
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import limit_memory
from arena.lab.searches import MEMORY

P = ParamSpec("P")
T = TypeVar("T")
MOST_SHOWN = 4_000_000  # bytes that a page is made of
START = 120.0  # seconds for a process to begin, on a machine that games keep busy
NICE = 10  # games and searches come first


class Failed(UserError):
    """Work that was not done; the message says why."""


class Apart:
    """Processes that are started when they are needed, and anew when they have died or their work was given up.

    Pages take turns: a piece of work has its seconds from when its turn begins; a page that is closed gives its up.
    Work on a run goes to the process that has read it last, if that is free.
    """

    def __init__(self, seconds: float, processes: int = 1):
        self._beside = [Beside(seconds) for _ in range(processes)]
        self._turns = asyncio.Semaphore(processes)

    @property
    def is_busy(self) -> bool:
        """Whether who asks now has to wait for others."""
        return self._turns.locked()

    async def do(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """What `function`, one of a module, returns there; Failed with its error in words."""
        about = arguments[0] if arguments else None
        async with self._turns:
            free = [each for each in self._beside if not each.at_work]
            one = next((each for each in free if each.last == about), free[0])
            return await one.do(about, function, arguments, options)

    def close(self) -> None:
        """End the processes, and wait until they have ended."""
        for each in self._beside:
            each.close(wait=True)


class Beside:
    """One of these processes."""

    def __init__(self, seconds: float):
        self.seconds = seconds  # of one piece of work
        self.at_work, self.last = False, object()  # what it has worked on
        self._pool: ProcessPoolExecutor | None = None

    async def do(self, about: Any, *work: Any) -> Any:
        """`Apart.do`, here."""
        self.at_work, self.last = True, about
        try:
            done, answer = await self._done(*work)
            if done is None:  # a plug-in has been edited since that process imported it
                self.close()
                done, answer = await self._done(*work)
        finally:
            self.at_work = False
        if not done:
            raise Failed(str(answer))
        return answer

    async def _done(self, *work: Any) -> tuple[bool | None, Any]:
        """What `_answered` says in the process, which ends with work that is not done."""
        try:
            if self._pool is None:  # to start it, and to load what the work needs, is no work
                self._pool = ProcessPoolExecutor(1, CONTEXT, _begin)
                await self._within(START, self._pool.submit(_load, work[0].__module__))
            return await self._within(self.seconds, self._pool.submit(_answered, *work))
        except BrokenProcessPool:
            self.close()
            raise Failed("the process that reads runs has died, perhaps for want of memory: ask again") from None
        except BaseException:  # it was given up, or the page is closed
            self.close()
            raise

    @staticmethod
    async def _within(seconds: float, answer: Future[T]) -> T:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), seconds)
        except TimeoutError:
            raise Failed(f"this took more than {seconds:.0f} s, and was given up") from None

    def close(self, wait: bool = False) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):
                process.kill()
            pool.shutdown(wait, cancel_futures=True)


READING = Apart(300.0, 2)  # of runs: tables, figures, histories; a large one lets no other wait
CHECKING = Apart(20.0)  # of configurations, whose plug-ins run


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this process
    threading.Thread(target=die_with_the_parent, daemon=True).start()
    os.nice(NICE)
    limit_memory(MEMORY or None)


def _load(module: str) -> None:
    importlib.import_module(module)


def _answered(function: Callable, arguments: tuple, options: dict) -> tuple:
    """(True, result) or (False, the error in words): not every error can be sent.  None for True: begin anew."""
    if changed():
        return None, ""
    try:
        found = function(*arguments, **options)
        if not isinstance(found, bytes) and (size := len(pickle.dumps(found))) > MOST_SHOWN:  # bytes are files to save
            return False, f"this has {size / 1e6:.0f} MB, and a page shows {MOST_SHOWN / 1e6:.0f} at most"
        return True, found
    except (UserError, ValueError, OSError, ModuleNotFoundError) as error:
        return False, str(error)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"
