"""Names the method of a user's class that does not return, and ends it: for what runs in the process of a command.

A thread looks at its starter's stack and counts looks, not time, which goes on while a process is stopped, nor looks at
Numba's compiler.
"""

import ctypes
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from arena.games.core.shared.errors import UserError

LOOK = 0.5  # seconds
TOLD, MOST = 5.0, 60.0  # seconds of one call after which it is named, and ended
PENDING = 1000  # steps of Python until another thread's error is raised
OURS = ("builtins", "arena.games.core.", "arena.agents.core.")


class Overdue(UserError, RuntimeError):
    """A method was ended because it did not return."""


class _Ended(BaseException):
    """Raised in the method, which may catch every Exception."""


@contextmanager
def limited(*made: object) -> Iterator[None]:
    """A context: a method of these objects' modules that does not return is named, then ended by Overdue.

    Compiled code cannot be ended; it is named again and again.
    """
    modules = {base.__module__ for one in made for base in type(one).__mro__ if not base.__module__.startswith(OURS)}
    watch = _Watch(threading.get_ident(), modules)
    thread = threading.Thread(target=watch.look, daemon=True)
    try:
        thread.start()
        try:
            yield
        finally:
            watch.leave()
    except _Ended:
        raise Overdue(f"{watch.named} has been ended after {MOST:g} s: it does not return") from None


class _Watch:
    """Looks at a thread's stack until `leave` is called."""

    def __init__(self, ident: int, modules: Collection[str]):
        self.ident, self.modules, self.named = ident, modules, ""
        self._ages: dict[FrameType, int] = {}  # looks at each call under way, innermost first
        self._before = set(_stack(sys._current_frames()[ident]))  # calls not to be limited
        self._lock, self._over = threading.Lock(), threading.Event()

    def look(self) -> None:
        while not self._over.wait(LOOK):
            self._note(sys._current_frames().get(self.ident))
            oldest = next((frame for frame, age in self._ages.items() if age * LOOK >= TOLD), None)
            if oldest is None:
                continue
            seconds = self._ages[oldest] * LOOK
            if seconds % MOST == TOLD:
                print(f"arena: {_name(oldest)} has been running for {seconds:g} s", file=sys.stderr)
            if seconds >= MOST:
                self._end(_name(oldest))

    def leave(self) -> None:
        """Look no more; raises what is still to be raised, since to take it back leaves Python 3.11 slow."""
        try:
            with self._lock:
                self._over.set()
            with suppress(_Ended):
                for _ in range(PENDING if self.named else 0):
                    pass
        finally:
            self._over.set()
            self._ages, self._before = {}, set()

    def _end(self, name: str) -> None:
        """Have the thread raise _Ended when it next runs Python."""
        with self._lock:
            if not self._over.is_set():
                self.named = name
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(_Ended))

    def _note(self, frame: FrameType | None) -> None:
        calls = [(each, each.f_globals.get("__name__") or "") for each in _stack(frame) if each not in self._before]
        if not any(module.startswith("numba.") for _, module in calls):
            self._ages = {each: self._ages.get(each, 0) + 1 for each, module in calls if module in self.modules}


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _name(frame: FrameType) -> str:
    """`legal_moves of Take (take.py, line 12)`"""
    *_, owner, name = ["", *frame.f_code.co_qualname.rpartition("<locals>.")[2].split(".")]
    return f"{name}{owner and ' of '}{owner} ({Path(frame.f_code.co_filename).name}, line {frame.f_lineno})"
