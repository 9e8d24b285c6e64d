"""Kernels compiled for one game, where that pays: in the background, for what has run for some seconds.

A kernel for tables runs at once, and up to a quarter slower than one that is compiled for its game, at worst half as
fast.  So where a kernel has run a game for SECONDS, a child process of idle priority compiles it for that game, and the
next call after that takes it up.  Both give the same results, to the last bit, so nothing else needs to know.

The environment variable ARENA_SPECIALIZE says when: `auto` is as described; `always` compiles each kernel for its game
before it runs; `never` never does.
"""

import hashlib
import importlib
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from numba.core.typing.typeof import typeof

from arena.games.core.jit.compilable import Compilable, compiled_parameters
from arena.games.core.specialized import VARIABLE, checked, mode_of_environment

SECONDS = 5.0  # of running, after which a kernel is compiled for its game; about what compiling takes
IDLE = True  # whether it is compiled with what processor time is left over
LOOK = 1.0  # seconds of running until it is looked at again whether it is compiled

log = logging.getLogger("arena.kernels")


class Setting:
    """Which kernels run in this process and those that it starts."""

    mode = mode_of_environment()


def set_mode(mode: str) -> None:
    """Choose for this process and those that it starts; UnknownMode if there is no such mode."""
    os.environ[VARIABLE] = Setting.mode = checked(mode)


class Heat:
    """How long a kernel has run a game in this process, and what has come of it."""

    def __init__(self):
        self.seconds, self.due = 0.0, SECONDS
        self.ready: set[tuple] = set()  # the kinds of arguments with which it is compiled for the game
        self._children: dict[tuple, subprocess.Popen | None] = {}

    def look(self, kernel, game, rest, kinds) -> None:
        """After `due` seconds: take it up if it is compiled, by whatever process; else have it compiled, once."""
        self.due = self.seconds + max(LOOK, self.seconds / 8)
        child = self._children.get(kinds)
        if child is not None and child.poll() is None:
            return
        if kernel.load(signature := tuple(map(typeof, (game, *rest)))):
            self.ready.add(kinds)
            log.info("%s runs compiled for %s from here on", kernel.py_func.__qualname__, game)
        elif kinds not in self._children:
            self._children[kinds] = _begin(kernel, game, signature)


_heats: dict[tuple, Heat] = {}


def heat_of(kernel, game) -> Heat:
    """The one of a kernel and all equal games."""
    return _heats.setdefault((kernel, type(game), compiled_parameters(game)), Heat())


def _begin(kernel, game, signature) -> subprocess.Popen | None:
    """Start to compile a kernel for a signature; None where no other process could."""
    name = kernel.py_func.__qualname__
    modules = {cls.__module__ for cls in _subclasses(Compilable)} & set(sys.modules)
    if "__main__" in (type(game).__module__, kernel.py_func.__module__):
        return None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    try:
        wanted = (sorted(modules - {"__main__"}), kernel.py_func.__module__, name, pickle.dumps(signature))
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import main; main()", str(os.getpid()), str(int(IDLE))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert child.stdin is not None
        with child.stdin:
            child.stdin.write(pickle.dumps(wanted))
    except Exception as error:  # no process can be started, or types cannot be pickled: the kernel for tables goes on
        log.warning("%s cannot be compiled in the background: %r", name, error)
        return None
    log.info("%s is compiled for %s in the background", name, game)
    return child


def _subclasses(cls) -> set[type]:
    return {found for direct in cls.__subclasses__() for found in {direct, *_subclasses(direct)}}


# -- The child --------------------------------------------------------------------------------------------------------


def _watch(parent: int) -> None:
    """End with the process that wanted it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main() -> None:
    """Compile what standard input asks for.  Arguments: the process that wants it; 1 if it may take its time."""
    from filelock import FileLock, Timeout  # which takes a twentieth of a second to load

    threading.Thread(target=_watch, args=(int(sys.argv[1]),), daemon=True).start()
    idle = sys.argv[2] == "1"
    if idle:
        os.nice(19)
    if idle and hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    modules, module, name, signature = pickle.load(sys.stdin.buffer)
    for each in [*modules, module]:
        with suppress(ImportError):
            importlib.import_module(each)
    kernel = getattr(sys.modules[module], name)
    lock = Path(kernel.stats.cache_path, f"{name}.{hashlib.sha256(signature).hexdigest()[:24]}.lock")
    with suppress(Timeout), FileLock(lock, timeout=0):  # where another process compiles it, there is nothing to do
        kernel.compile(pickle.loads(signature))
        lock.unlink(missing_ok=True)
