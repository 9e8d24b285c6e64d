"""Who pays when a worker dies or hangs: an agent, nobody, or the game is played again.

An agent whose code ran when its process ended by itself, or by a fault of the machine code in it, has lost.  So has
one that was not done long after its time.  A signal that anybody may send, or the system when memory is short, is
held against nobody: the game is played again, unless the same agent's code meets with it every time.
"""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results.record import Reason

TRIES = 2  # times that a game is played if it is not known whose fault it was that it failed
TRIES_KILLED = 8  # the same, where workers were killed from outside, as far as can be told
# what a process does to itself, by code that is wrong
OWN_SIGNALS = {
    getattr(signal, name)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
    if hasattr(signal, name)
}
LOST = 255  # the exit code that a process has if its fork server, which knows the true one, has died


@dataclass(frozen=True)
class Failure:
    """What became of a worker while it played a game, or loaded its agents' kernels."""

    fate: str  # in words
    reason: str  # one of Reason: how the game counts if an agent is to blame
    agent: int | None  # whose code ran
    certain: bool = False  # whether the agent did it, if one did
    outside: bool = False  # whether it may have come from outside
    warming: bool = False  # whether it was before play
    seconds: float = 0.0  # from the time that the worker was sent its game


def fate_of(exitcode: int | None) -> str:
    """What became of a dead worker."""
    if exitcode is not None and exitcode < 0:
        try:
            return f"the worker was killed by {signal.Signals(-exitcode).name}"
        except ValueError:
            return f"the worker was killed by signal {-exitcode}"
    return f"the worker ended with exit code {exitcode}"


def death(exitcode: int | None, agent: int | None, warming: bool, served: bool) -> Failure:
    """The failure of a worker that has died; `served`: it came from a fork server."""
    own = exitcode is not None and (-exitcode in OWN_SIGNALS or (exitcode >= 0 and not (served and exitcode == LOST)))
    return Failure(fate_of(exitcode), Reason.DIED, agent, certain=own, outside=not own, warming=warming)


def culprit(failures: Sequence[Failure]) -> int | None:
    """The agent that loses the game for the last of these failures; None if that is not known, or not yet."""
    last = failures[-1]
    if last.agent is None or last.certain:
        return last.agent
    same = all(failure.agent == last.agent for failure in failures)
    return last.agent if same and not another_try(failures) else None


def another_try(failures: Sequence[Failure]) -> bool:
    """Whether a game of which nobody is known to be guilty is played again."""
    return len(failures) < (TRIES_KILLED if all(failure.outside for failure in failures) else TRIES)


def void_reason(failures: Sequence[Failure]) -> str:
    """The reason of a game that is void after these failures."""
    return Reason.HANG if failures[-1].reason == Reason.TIME else Reason.CRASH


def is_stopped(pid: int) -> bool:
    """Whether a process has been stopped, by SIGSTOP for example; False where the system does not say so in /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False
