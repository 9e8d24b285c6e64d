"""What a worker is doing, in memory that the supervisor reads: whose code runs, since when, and its time limit.

It is for dead or silent workers; writing costs less than a microsecond.  The supervisor writes only the word HALT:
begin no further game.
"""

import logging
import math
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import heap
from time import monotonic
from typing import NamedTuple, NoReturn

from arena.games.core.shared.system import sharing

PLAYING, AGENT, SINCE, LIMIT, GAME_SINCE, COMPILING, COMPILED, COMPILED_GAME, PLIES, BEST, GAME, HALT, WORDS = range(13)
NOBODY = -1.0
EXIT = 70  # the exit code of a process that ends since it cannot go on


class Doing(NamedTuple):
    """A worker's activity; times are those of time.monotonic()."""

    playing: bool  # False while the agents' kernels are loaded or compiled
    agent: int | None  # whose code runs, if any
    since: float
    limit: float  # its seconds
    game_since: float
    compiling: float  # since when a kernel is being compiled, or 0
    compiled: float  # seconds of compiling since `since`
    compiled_game: float  # the same since `game_since`
    plies: float  # of the game so far
    best: float  # score found so far, in a game for one player; or NaN


def new_memory() -> heap.Arena:
    """Memory to share with one worker, in a file of its own: an agent that writes to whatever is open in its process
    reaches no other's.  UserError if the system has none.
    """
    with sharing():
        memory = heap.Arena(mmap.PAGESIZE)
    clear(words_of(memory))
    return memory


def clear(words: "memoryview[float]") -> None:
    """Note that a worker has done nothing yet."""
    words[:WORDS] = memoryview(bytearray(8 * WORDS)).cast("d")
    words[AGENT] = NOBODY


def words_of(memory: heap.Arena) -> "memoryview[float]":
    """The words of a worker's memory: float64[...], of which WORDS are used."""
    return memoryview(memory.buffer).cast("B").cast("d")


def read(words: Sequence[float], agents: int) -> Doing:
    """The worker's activity; numbers beyond `agents` are nobody, since agents' code may write here too."""
    number = words[AGENT]
    agent = int(number) if number in range(agents) else None
    return Doing(words[PLAYING] == 1.0, agent, *words[SINCE:GAME])


class Watch:
    """Notes what a worker does in shared memory; without it in its own, for games without a supervisor."""

    def __init__(self, memory: heap.Arena | None = None):
        self._words = memoryview(bytearray(8 * WORDS)).cast("d") if memory is None else words_of(memory)
        self._depth = 0  # of compilations
        self.on_compiling: Callable[[bool], None] | None = None  # called with True when it begins, False when it ends
        self.has_compiled = False
        self.forgives = False  # whether a game may be played again, since nobody may be to blame for what ended it
        self._limit = 0.0  # of the code that runs

    def take(self, game: int) -> None:
        """Note the number of the next game in the current order."""
        self._words[GAME] = game

    def halted(self) -> bool:
        """Whether the supervisor wants no further game to begin."""
        return self._words[HALT] != 0.0

    def begin(self, playing: bool) -> None:
        """A game begins, or the loading of its agents' kernels."""
        words = self._words
        words[AGENT], words[COMPILED], words[COMPILED_GAME], words[PLIES] = NOBODY, 0.0, 0.0, 0.0
        words[BEST] = math.nan
        words[GAME_SINCE] = monotonic()
        words[PLAYING] = float(playing)

    def enter(self, agent: int, limit: float) -> None:
        """An agent's code begins."""
        words = self._words  # one by one for speed: a game has hundreds of calls
        words[SINCE] = monotonic()
        words[LIMIT] = self._limit = limit
        words[COMPILED] = 0.0
        words[AGENT] = agent

    def leave(self) -> None:
        """The agent's code has returned."""
        self._words[AGENT] = NOBODY

    def end_process(self) -> NoReturn:
        """End the process, by nobody's doing: the supervisor starts another."""
        self.leave()
        logging.shutdown()
        os._exit(EXIT)

    def note_plies(self, plies: int) -> None:
        """Note the plies of the game so far."""
        self._words[PLIES] = plies

    def note_best(self, score: float) -> None:
        """Note the best score that the search has found so far."""
        self._words[BEST] = score

    @contextmanager
    def left_to_host(self) -> Iterator[float]:
        """A context in which the seconds of the code that runs, which it gives, are for its own process to keep."""
        words, limit = self._words, self._limit
        words[LIMIT] = math.inf
        try:
            yield limit
        finally:
            words[SINCE], words[LIMIT] = monotonic(), limit

    @contextmanager
    def loading(self) -> Iterator[None]:
        """A context in which a process of an agent starts, which takes nobody's time, as compiling does not."""
        words, begun = self._words, monotonic()
        if words[COMPILING]:
            yield
            return
        words[COMPILING] = begun
        try:
            yield
        finally:
            words[COMPILING] = 0.0
            words[COMPILED] += monotonic() - begun
            words[COMPILED_GAME] += monotonic() - begun

    def note_compiling(self, since: float, seconds: float) -> None:
        """Note what the process of an agent compiles, since when; or, with since = 0, how long it has, in all."""
        words = self._words
        words[COMPILING] = since
        if not since:
            words[COMPILED] += seconds
            words[COMPILED_GAME] += seconds
            self.has_compiled |= seconds > 0

    def compiled(self) -> float:
        """Seconds of compiling since `enter`."""
        return self._words[COMPILED]

    @contextmanager
    def of(self, agent: int, limit: float) -> Iterator[None]:
        """A context in which an agent's code runs."""
        self.enter(agent, limit)
        try:
            yield
        finally:
            self.leave()

    def notice_compilations(self) -> None:
        """Note from now on when Numba compiles a kernel in this process."""
        from numba.core import event

        watch = self

        class Listener(event.Listener):
            def on_start(self, event):
                watch._depth += 1  # one kernel's compilation starts those of the kernels it calls
                if watch._depth == 1:
                    watch._words[COMPILING] = monotonic()
                    if watch.on_compiling:
                        watch.on_compiling(True)

            def on_end(self, event):
                watch._depth -= 1
                if watch._depth == 0:
                    seconds = monotonic() - watch._words[COMPILING]
                    watch.has_compiled, watch._words[COMPILING] = True, 0.0
                    watch._words[COMPILED] += seconds
                    watch._words[COMPILED_GAME] += seconds
                    if watch.on_compiling:
                        watch.on_compiling(False)

        event.register("numba:compile", Listener())
