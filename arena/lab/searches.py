"""Processes that search for panels of pages: started, asked, heard, and killed with the page.

Each panel has one.  A search that dies or hangs costs its panel alone, and never the page.
"""

import time
from collections import deque
from contextlib import suppress
from typing import Any

from arena.agents.core.pool import CONTEXT
from arena.config.sizes import in_bytes
from arena.games.core.shared.errors import UserError
from arena.lab import searcher

MEMORY = in_bytes("4GB")  # addresses of a process
MOST = 32  # at a time
SLOW_STOP = 3.0  # seconds after which a search that was told to stop is killed


class Spares:
    """Processes that have loaded all but an agent and a game, for the next searches: these begin a second earlier."""

    def __init__(self) -> None:
        self.kept = 0
        self.waiting = list[tuple[Any, Any]]()  # with our end of its pipe

    def take(self) -> tuple[Any, Any]:
        """One of them, or where there is none a new process."""
        while self.waiting:
            if (taken := self.waiting.pop())[0].is_alive():
                return taken
        return self._started()

    def keep(self, number: int) -> None:
        """Have so many from now on."""
        self.kept = number
        self.renew()

    def renew(self) -> None:
        """Have as many as are kept, unless a search is starting, which they would slow down."""
        if all(search.ready for search in Search.running):
            while len(self.waiting) < self.kept:
                self.waiting.append(self._started())

    def close(self) -> None:
        """Have none any more."""
        self.kept = 0
        for process, _ in self.waiting:
            process.kill()

    @staticmethod
    def _started() -> tuple[Any, Any]:
        ours, theirs = CONTEXT.Pipe()
        process = CONTEXT.Process(target=searcher.main, args=(theirs, MEMORY), name="search", daemon=True)
        process.start()
        theirs.close()
        return process, ours


SPARES = Spares()


class Search:
    """A process with one agent on one game.  `hear` gives what it has said; `state` says in words what it does."""

    running: set["Search"] = set()  # of all pages

    def __init__(self, agent: str, game: str):
        if len(Search.running) >= MOST:
            raise UserError(f"{MOST} searches run already: close a page, or stop one")
        self.agent, self.game = agent, game
        self.begun = time.monotonic()
        self.ready = False
        self.asked = 0  # orders without their answer: one that ends another's search waits for both
        self.fault = ""
        self.best: float | None = None  # score found, in a game for one player
        self.stopping: float | None = None  # since when
        self._waiting: deque[tuple] = deque()  # orders, until it is ready
        self.process, self._pipe = SPARES.take()
        with suppress(OSError):  # it has died meanwhile, as `hear` finds
            self._pipe.send((agent, game))
        Search.running.add(self)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self.asked > 0

    @property
    def state(self) -> str:
        """What it does, in words; "" if nothing."""
        if self.fault:
            return self.fault
        if not self.ready:
            return f"starting {self.agent} for {self.game}, {time.monotonic() - self.begun:.0f} s"
        best = f", the best score so far {self.best:g}" if self.best is not None else ""
        return f"thinking{best}" if self.busy else ""

    def go(self, moves: list[str], seed: int, endless: bool = False) -> None:
        """Search the position after these moves, until it decides, or with `endless` until it is stopped."""
        self._order("go", list(moves), seed, endless)

    def tree(self, moves: list[str], iterations: int | None) -> None:
        """Ask for the tree that the agent searches from there."""
        self._order("tree", list(moves), iterations)

    def solve(self, moves: list[str]) -> None:
        """Ask for the exact value there."""
        self._order("solve", list(moves))

    def stop(self) -> None:
        """Let the search decide now."""
        if self.busy and self.stopping is None:
            self.stopping = time.monotonic()
            self._order("stop")

    def _order(self, kind: str, *rest: Any) -> None:
        self.asked += kind != "stop"
        self._waiting.append((kind, *rest))
        if self.ready:
            self._send()

    def _send(self) -> None:
        while self._waiting:
            with suppress(OSError):  # it has died, as `hear` finds
                self._pipe.send(self._waiting[0])
            self._waiting.popleft()

    def hear(self) -> list[tuple]:
        """The answers since the last call; a dead or stuck process becomes a fault."""
        answers = []
        try:
            while not self.fault and self._pipe.poll():
                answers.append(self._taken(self._pipe.recv()))
        except (EOFError, OSError):
            self.process.join(1.0)
            self.fault = f"the search has died (exit code {self.process.exitcode})"
        if self.stopping is not None and time.monotonic() - self.stopping > SLOW_STOP:
            self.fault = f"the search did not stop within {SLOW_STOP:.0f} s, and was ended"
        if self.fault:
            self.close()
        return [answer for answer in answers if answer]

    def _taken(self, answer: tuple) -> tuple | None:
        kind, *rest = answer
        if kind == "ready":
            self.ready = True
            self._send()
            SPARES.renew()
            return None
        if kind not in ("thought", "best"):
            self.asked, self.stopping = self.asked - 1, None
        if kind == "best":
            self.best = rest[0]
            return None
        if kind == "error" and not self.ready:
            self.fault = rest[0]
            return None
        return answer

    def close(self) -> None:
        """End the process at once."""
        self.asked = 0
        Search.running.discard(self)
        self.process.kill()
        self.process.join()
        self._pipe.close()
