"""What bad agents do, and how their games then end.  Nothing here touches what is not its own process's."""

import ctypes
import gc
import mmap
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np

from arena.agents.core.agent import Decision, MoveStatistics
from arena.play.game_calls import GameError
from arena.play.referee import Forfeit
from tests.heap import Heap

KEPT: list[int] = []

SLEEP = "86399.25"  # seconds: what the processes that agents leave behind sleep, so that tests can count them
BAD_GAMES = [
    *("test_third_player", "test_no_moves", "test_many_moves", "test_negative_moves", "test_moves_raise"),
    *("test_play_raises", "test_play_divides", "test_endless", "test_over_raises", "test_score_raises"),
    *("test_score_nan", "test_score_infinite", "test_score_none", "test_score_none_at_times"),
    *("test_player_none", "test_player_negative", "test_play_recurses"),
    *("test_too_long", "test_plain", "test_playout_raises", "test_playout_hangs"),
]
REFUSED_GAMES = ["test_name_raises", "test_name_none", "test_name_surrogate"]  # when a configuration is read


def _raise(error):
    def harm(move):
        raise error

    return harm


class Untold(Exception):
    def __str__(self):
        raise ValueError("no words")


class Unsayable(Exception):
    def __str__(self):
        sys.exit(5)


class Bare(BaseException):
    pass


class Shown(Decision):
    @property
    def playouts(self):
        raise ValueError("do not count me")


def recurse(move):
    return recurse(move) + 1


def spin(move):
    while True:
        pass


def hold_the_lock(move):
    ctypes.PyDLL(None).sleep(3600)  # C code that keeps the interpreter's lock


def wait_for_nobody(move):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def scribble(data):
    def harm(move):
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, data)
            except OSError:
                continue

    return harm


def scribble_later(move):
    def write():
        time.sleep(0.01)
        scribble(b"junk" * 9)(move)

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()


def ring_later(move):
    signal.signal(signal.SIGALRM, lambda *_: 1 // 0)
    signal.setitimer(signal.ITIMER_REAL, 0.001)


def start_threads(move):
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


def say_much(move):
    many = 4_000_000
    found = MoveStatistics(np.zeros(many, np.int32), np.zeros(many, np.int64), np.zeros(many))
    return Decision(move, statistics=found)


def close_all(move):
    os.closerange(3, 64)


def fork_and_go_on(move):
    os.fork()


def fork_and_sleep(move):
    if os.fork() == 0:
        time.sleep(float(SLEEP))


def start_sleeper(move):
    subprocess.Popen(["sleep", SLEEP])


def start_sleeper_and_end(move):
    start_sleeper(move)
    os._exit(0)


def flood(move):
    for _ in range(2000):
        print("flood " * 100)


def write_to_one(move):
    os.write(1, b'{"not": "json of the run"}\n' * 100)
    print("to the errors", file=sys.stderr)


def stop_the_clocks(move):
    for memory in gc.get_objects():
        if isinstance(memory, mmap.mmap):
            memory[:] = b"\xff" * len(memory)
    time.sleep(3600)


def allocate(move):
    kept = []
    while True:
        kept.append(np.ones(1 << 24))


def stop_threads(move):
    threading.Thread(target=sys.exit).start()


def segfault_in_a_thread(move):
    thread = threading.Thread(target=ctypes.string_at, args=(0,))
    thread.start()
    thread.join()


def compile_nonsense(move):
    import numba

    numba.njit(lambda x: x.nothing())(1)


def divide(move):
    import numba

    return numba.njit(lambda x: 1 // x)(0)


def signal_self(number):
    return lambda move: (os.kill(os.getpid(), number), time.sleep(5))


# what an agent does, and how its games then end
HARM = {
    "os._exit(0)": lambda move: os._exit(0),
    "os._exit(3)": lambda move: os._exit(3),
    "sys.exit": lambda move: sys.exit(1),
    "segmentation fault": lambda move: ctypes.string_at(0),
    "segmentation fault in a thread": segfault_in_a_thread,
    "abort": lambda move: os.abort(),
    "SIGFPE": signal_self(signal.SIGFPE),
    "SIGTERM": signal_self(signal.SIGTERM),
    "SIGKILL": signal_self(signal.SIGKILL),
    "SIGALRM": lambda move: (signal.setitimer(signal.ITIMER_REAL, 0.05), time.sleep(5)),
    "ValueError": _raise(ValueError("on purpose")),
    "BaseException": _raise(Bare("on purpose")),
    "KeyboardInterrupt": _raise(KeyboardInterrupt()),
    "GeneratorExit": _raise(GeneratorExit()),
    "StopIteration": _raise(StopIteration()),
    "str fails": _raise(Untold()),
    "str exits": _raise(Unsayable()),
    "GameError": _raise(GameError("it was the game")),
    "Forfeit": _raise(Forfeit("played out", "I have won")),
    "long text": _raise(ValueError("x" * 10**7)),
    "surrogates": _raise(ValueError("\ud800")),
    "recursion": recurse,
    "no memory": allocate,
    "sleep": lambda move: time.sleep(3600),
    "spin": spin,
    "hold the lock": hold_the_lock,
    "deadlock": wait_for_nobody,
    "cannot be compiled": compile_nonsense,
    "division by zero in a kernel": divide,
    "junk": scribble(b"\xff" * 1000),
    "half a message": scribble(b"\x00\x00\x10\x00half"),
    "pickle": scribble(b"\x00\x00\x00\x18cposix\nsystem\n(S'true'\ntR."),
    "junk of a thread": scribble_later,
    "close all": close_all,
    "stop the clocks": stop_the_clocks,
    "None": lambda move: Decision(None),
    "move 99": lambda move: Decision(99),
    "move of 2**70": lambda move: Decision(2**70),
    "nan": lambda move: Decision(move, value=float("nan")),
    "2**70 playouts": lambda move: Decision(move, playouts=2**70),
    "no number": lambda move: Decision(move, nodes="many"),
    "a property that raises": lambda move: Shown(move),
    "statistics of junk": lambda move: Decision(move, statistics=[1, 2]),
    "four million statistics": say_much,
    # these spoil their process, which may cost them their games, and others nothing
    "patch random": lambda move: setattr(random, "random", None),
    "patch a game": lambda move: setattr(Heap, "play", None),
    "patch NumPy": lambda move: (setattr(np, "zeros", None), setattr(np, "array", None)),
    "no streams": lambda move: setattr(sys, "stdout", None),
    "no environment": lambda move: os.environ.clear(),
    "sixteen files": lambda move: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)),
    "a trace that raises": lambda move: sys.settrace(lambda *_: 1 // 0),
    "an alarm for later": ring_later,
    # these harm nobody, and play on
    "fork and go on": fork_and_go_on,
    "fork and sleep": fork_and_sleep,
    "start a process": start_sleeper,
    "start a process and end": start_sleeper_and_end,
    "flood": flood,
    "write to 1": write_to_one,
    "sys.exit in a thread": stop_threads,
    "change folder": lambda move: os.chdir("/"),
    "ignore SIGTERM": lambda move: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "recursion limit": lambda move: sys.setrecursionlimit(10**6),
    "threads that stay": start_threads,
    "files left open": lambda move: KEPT.extend(os.dup(1) for _ in range(200)),
    "close standard input": lambda move: os.closerange(0, 1),
}
DIED = {
    *("os._exit(0)", "os._exit(3)", "segmentation fault", "segmentation fault in a thread", "abort", "SIGFPE"),
    *("SIGTERM", "SIGKILL", "SIGALRM", "start a process and end"),
    *("junk", "pickle", "junk of a thread", "close all"),
}
LONG = {"no memory", "half a message", "four million statistics"}
SPOILT = {
    *("patch random", "patch a game", "patch NumPy", "no streams", "no environment", "sixteen files"),
    *("a trace that raises", "an alarm for later"),
}
SLOW = {"stop the clocks", "sleep", "spin", "hold the lock", "deadlock"}
ILLEGAL = {"None", "move 99", "move of 2**70"}
HARMLESS = list(HARM)[list(HARM).index("fork and go on") :]
