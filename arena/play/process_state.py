"""What agents' code can change of its process and others would pay for: looked at after each call, and set back.

An alarm that an agent left on would ring in its opponent's turn, warnings that it made errors would be raised there.
So each call of an agent's code ends as it began, and who changed something is named.  What cannot be set back ends the
process as that agent's doing, which loses its game; where one of several did it, the game is played again, and all is
looked at after each call.
"""

import contextlib
import decimal
import gc
import logging
import os
import resource
import signal
import sys
import warnings
from _signal import getitimer as _getitimer  # type: ignore[import-not-found]  # without wrappers
from _signal import getsignal as _getsignal
from collections.abc import Callable, Iterable
from dataclasses import fields
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

log = logging.getLogger("arena.process_state")

SHORT = 3e-3  # seconds of a call, or between calls, below which only `glance` is worth its time
BRIEF = 3e-4  # seconds in which the files that a process may open cannot all be opened
DUE = 1e-2  # seconds of short calls after which all is looked at between two games
MOST_FILES = 64  # that a call may leave open
MOST_LOOKED_AT = 1 << 16  # descriptors
TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")  # numbers 0 to 2
SIGNALS = ("SIGALRM", "SIGVTALRM", "SIGPROF", "SIGINT", "SIGTERM", "SIGCHLD", "SIGUSR1", "SIGPIPE")
LIMITS = ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NPROC")


def raises_anywhere(names: Iterable[str]) -> bool:
    """Whether one of these parts, while it is changed, can raise an exception in any code."""
    return any(name in (*TIMERS, "sys.settrace", "sys.setprofile") or "handler of" in name for name in names)


class Word(NamedTuple):
    """A part of a process's state."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


def words(games: Iterable[Any]) -> tuple[list[Word], list[Word]]:
    """The parts that `glance` reads, in its order, and the others; of this system, and of games that agents share."""
    quick = [
        Word("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
        Word("sys.settrace", sys.gettrace, sys.settrace),
        Word("sys.setprofile", sys.getprofile, sys.setprofile),
        Word("sys.stdout", lambda: sys.stdout, lambda stream: setattr(sys, "stdout", stream)),
        Word("sys.stderr", lambda: sys.stderr, lambda stream: setattr(sys, "stderr", stream)),
        Word("sys.stdout", lambda: getattr(sys.stdout, "closed", None), _fail),
        Word("warnings.filters", lambda: tuple(warnings.filters), _set_filters),
        *map(_timer, range(len(TIMERS))),
    ]
    rest = [
        Word("warnings.showwarning", lambda: warnings.showwarning, lambda show: setattr(warnings, "showwarning", show)),
        Word("the garbage collector", gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
        Word("the current folder", os.getcwd, os.chdir),
        Word("the environment", lambda: os.environ._data.copy(), _set_environment),  # type: ignore[attr-defined]
        Word("np.seterr", np.geterr, lambda kinds: np.seterr(**kinds)),
        Word("the decimal context", _decimals, _set_decimals(decimal.getcontext().copy())),
        Word("blocked signals", lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()), _set_mask),
    ]
    numbers = [(name, getattr(signal, name)) for name in SIGNALS]
    rest += [Word(f"the handler of {name}", _handler(number), _set_handler(number)) for name, number in numbers]
    kinds = [(name, getattr(resource, name)) for name in LIMITS if hasattr(resource, name)]
    rest += [Word(name, _limit(kind), _set_limit(kind)) for name, kind in kinds]
    return quick, rest + [_parameters(game) for game in games]


def glance() -> tuple:
    """What harms others at once, in a microsecond."""
    return (
        sys.getrecursionlimit(), sys.gettrace(), sys.getprofile(), sys.stdout, sys.stderr,
        getattr(sys.stdout, "closed", None), tuple(warnings.filters),
        _getitimer(0)[0] > 0, _getitimer(1)[0] > 0, _getitimer(2)[0] > 0,
    )  # fmt: skip


class Guard:
    """Keeps the state of this process, as it is now, and of games that agents share.

    give_up: ends the process where something cannot be set back; called with those of whom one has changed it
    thorough: to look at all after every call, however short, so that it is known who has
    """

    def __init__(self, games: Iterable[Any], give_up: Callable[[set[int]], None]) -> None:
        self._quick, self._rest = words(games)
        self._give_up, self.thorough = give_up, False
        self._was, self._was_rest, self._files = glance(), self._look(self._rest), _open_files()
        self._unseen: set[int] = set()  # agents whose code has run since all was looked at
        self._short: set[int] = set()  # agents whose last call was
        self._looked = monotonic()

    def before(self, agent: int) -> tuple[set[int], list[str]]:
        """Settle before a call where that may be long, so that what the call changes is known to be its own."""
        return self.settle() if self._unseen and (self.thorough or agent not in self._short) else (set(), [])

    def set_back(self, agent: int, since: float) -> tuple[set[int], list[str]]:
        """(who, names of what changed) in a call of an agent's code that began at `since`, of time.monotonic()."""
        now = glance()
        changed = [] if now == self._was else self._restore(self._quick, self._was, now, {agent})
        self._unseen.add(agent)
        seconds = monotonic() - since
        long = self.thorough or seconds >= SHORT or (seconds >= BRIEF and self._has_few_files_left())
        (self._short.discard if long else self._short.add)(agent)
        if not changed and not long:
            return {agent}, changed
        who, others = self.settle()
        return (who if others and not changed else {agent}), [*changed, *others]

    def _has_few_files_left(self) -> bool:
        """Whether a call has left so many files open that others will soon be able to open none."""
        try:
            os.close(free := os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return True
        return free > max(self._files, default=0) + MOST_FILES

    def settle(self) -> tuple[set[int], list[str]]:
        """Look at all: (whose code has run since the last time, names of what changed)."""
        who, self._unseen, self._looked = self._unseen, set(), monotonic()
        rest = self._look(self._rest)
        changed = [] if rest == self._was_rest else self._restore(self._rest, self._was_rest, rest, who)
        if files := self._left_open():
            changed.append(f"open files ({files} more)")
        return who, changed

    def is_due(self) -> bool:
        """Whether it is time to look at all."""
        return monotonic() - self._looked >= DUE

    def _look(self, group: list[Word]) -> tuple:
        return tuple(word.read() for word in group)

    def _restore(self, group: list[Word], was: tuple, now: tuple, who: set[int]) -> list[str]:
        names = []
        for word, before, after in zip(group, was, now):
            if before != after:
                names.append(word.name)
                with contextlib.suppress(Exception):
                    word.write(before)
        if self._look(group) != was:
            log.error("%s cannot be set back: the process ends", ", ".join(names))
            self._give_up(who)
        return names

    def _left_open(self) -> int:
        """Close the files that a call left open, if they are many; how many it closed."""
        left = _open_files() - self._files
        if len(left) <= MOST_FILES:
            return 0
        for descriptor in left:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        return len(left)


def _open_files() -> set[int]:
    try:
        return {int(name) for name in os.listdir("/dev/fd")}
    except OSError:  # perhaps as too many are open for one more
        return set(filter(_is_open, range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], MOST_LOOKED_AT))))


def _is_open(descriptor: int) -> bool:
    try:
        return bool(os.fstat(descriptor))
    except OSError:
        return False


def _parameters(game: Any) -> Word:
    """The fields of a game, frozen as it is: each must stay the object that it was."""
    values = {field.name: vars(game)[field.name] for field in fields(game) if field.name in vars(game)}

    def write(_: Any) -> None:
        for name, value in values.items():
            object.__setattr__(game, name, value)

    return Word(f"the parameters of {game}", lambda: [id(vars(game).get(name)) for name in values], write)


def _timer(which: int) -> Word:
    return Word(TIMERS[which], lambda: _getitimer(which)[0] > 0, lambda _: signal.setitimer(which, 0))


def _handler(number: int) -> Callable[[], Any]:
    return lambda: _getsignal(number)


def _set_handler(number: int) -> Callable[[Any], object]:
    return lambda handler: signal.signal(number, handler)


def _set_filters(filters: tuple) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    warnings._filters_mutated()  # type: ignore[attr-defined]


def _fail(_: Any) -> None:
    """Leave what nothing can set back."""


def _set_environment(variables: dict[bytes, bytes]) -> None:
    os.environ.clear()
    os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()})


def _decimals() -> tuple:
    """The context of decimals without the flags that calculations set."""
    now = decimal.getcontext()
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, tuple(now.traps.items())


def _set_decimals(context: decimal.Context) -> Callable[[tuple], object]:
    return lambda _: decimal.setcontext(context.copy())


def _set_mask(mask: set) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _limit(kind: int) -> Callable[[], tuple[int, int]]:
    return lambda: resource.getrlimit(kind)


def _set_limit(kind: int) -> Callable[[tuple[int, int]], object]:
    return lambda limits: resource.setrlimit(kind, limits)
