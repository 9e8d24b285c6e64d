"""Records which agents have had all their kernels for a run's games compiled.

It lies beside the kernels, stamped by the sources (`games.core.index`), lest a process starts to find nothing to do.
If kernels were removed, workers compile them.
"""

import hashlib
import os
from collections.abc import Iterable

import numba
from llvmlite.binding import get_host_cpu_name

from arena.agents.core.agent import Agent
from arena.config.config import Seat
from arena.games.core import index
from arena.games.core.game import Game
from arena.games.core.jit import code_digest
from arena.games.core.jit.parts import processor_features

NAME, MOST = "compiled", 10_000  # the file; its most seats, the latest


def is_compiled(seat: Seat, games: Iterable[Game]) -> bool:
    """Whether everything that a seat runs on these games has been compiled by this Numba for this processor."""
    return _key(seat, games) in (index.load(NAME) or {})


def note_compiled(seats: Iterable[Seat], games: Iterable[Game]) -> None:
    """Record that these seats are compiled for these games; outside programs, which may change, are left out."""
    games = list(games)
    keys = [_key(seat, games) for seat in seats if type(seat.agent).identity is Agent.identity]
    if keys:
        known = {**(index.load(NAME) or {}), **dict.fromkeys(keys, True)}
        index.keep(NAME, dict(list(known.items())[-MOST:]))


def _key(seat, games) -> str:
    """A digest of what determines the kernels; the stamp covers searches that a parameter names."""
    code = code_digest(type(seat.agent), *map(type, games))
    settings = sorted(item for item in os.environ.items() if item[0].startswith(("NUMBA_", "ARENA_SPECIALIZE")))
    machine = (numba.__version__, get_host_cpu_name(), sorted(processor_features()), settings)
    kinds = sorted(seat.budget.given())
    text = repr((str(seat.agent), kinds, [str(game) for game in games], code, machine))
    return hashlib.sha256(text.encode()).hexdigest()[:24]
