"""What is known to be compiled: agents whose kernels for a run's games were all compiled or loaded before.

It is kept beside the kernels, stamped by the sources (`games.core.index`), so that no process is started to find out
that there is nothing to do.  Where it is wrong, since somebody has removed kernels, workers compile them.
"""

import hashlib
import os
from collections.abc import Iterable

import numba
from llvmlite.binding import get_host_cpu_name

from agents.core.agent import Agent
from arena.config.config import Seat
from games.core import index
from games.core.game import Game
from games.core.jit import KERNEL_PACKAGES, digest_of, import_closure
from games.core.jit.parts import processor_features

NAME, MOST = "compiled", 10_000  # of the file, and seats in it: those that were noted last


def is_compiled(seat: Seat, games: Iterable[Game]) -> bool:
    """Whether all that a seat runs on these games has been compiled by this Numba for this processor."""
    return _key(seat, games) in (index.load(NAME) or {})


def note_compiled(seats: Iterable[Seat], games: Iterable[Game]) -> None:
    """Note that all that these seats run on these games is compiled; not of outside programs, which may change."""
    games = list(games)
    keys = [_key(seat, games) for seat in seats if type(seat.agent).identity is Agent.identity]
    if keys:
        known = {**(index.load(NAME) or {}), **dict.fromkeys(keys, True)}
        index.keep(NAME, dict(list(known.items())[-MOST:]))


def _key(seat, games) -> str:
    """A digest of what decides which kernels are run, but for the sources of games and agents that the stamp covers."""
    modules = sorted({type(made).__module__ for made in (seat.agent, *games)})
    others = [digest_of(import_closure(name)) for name in modules if name.partition(".")[0] not in KERNEL_PACKAGES]
    settings = sorted(item for item in os.environ.items() if item[0].startswith(("NUMBA_", "ARENA_SPECIALIZE")))
    machine = (numba.__version__, get_host_cpu_name(), sorted(processor_features()), settings)
    kinds = sorted(seat.budget.given())
    told = repr((str(seat.agent), kinds, [str(game) for game in games], modules, others, machine))
    return hashlib.sha256(told.encode()).hexdigest()[:24]
