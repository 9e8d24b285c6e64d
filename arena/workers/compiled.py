"""Records which agents have had all their kernels for a run's games compiled.

It lies beside the kernels, stamped by the sources (`games.core.shared.index`), lest a process starts to find nothing
to do.  If kernels were removed, workers compile them.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence

import numba
from llvmlite.binding import get_host_cpu_name

from arena.agents.core.agent import Agent
from arena.config.config import Seat
from arena.games.core.game import Game
from arena.games.core.jit import code_digest
from arena.games.core.jit.parts import processor_features
from arena.games.core.shared import index

NAME, MOST = "compiled", 10_000  # the file; its most seats, the latest


def left(seats: Sequence[Seat], games: Sequence[Game]) -> list[int]:
    """The places of the seats with something to compile for these games, by this Numba for this processor; those that
    run the same kernels once."""
    known = index.load(NAME) or {}
    first: dict[str, int] = {}
    for place, key in enumerate(_keys(seats, games)):
        first.setdefault(key, place)
    return [place for key, place in first.items() if key not in known]


def note_compiled(seats: Iterable[Seat], games: Sequence[Game]) -> None:
    """Record that these seats are compiled for these games; outside programs, which may change, are left out."""
    keys = _keys([seat for seat in seats if type(seat.agent).identity is Agent.identity], games)
    if keys:
        known = {**(index.load(NAME) or {}), **dict.fromkeys(keys, True)}
        index.keep(NAME, dict(list(known.items())[-MOST:]))


def _keys(seats, games) -> list[str]:
    """Digests of what determines the kernels; the stamp covers searches that a parameter names."""
    kinds = {type(seat.agent) for seat in seats}
    code = {kind: code_digest(kind, *map(type, games)) for kind in kinds}
    settings = sorted(item for item in os.environ.items() if item[0].startswith(("NUMBA_", "ARENA_SPECIALIZE")))
    machine = (numba.__version__, get_host_cpu_name(), sorted(processor_features()), settings)
    rest = repr(([str(game) for game in games], machine))
    texts = [repr((str(seat.agent), sorted(seat.budget.given()), code[type(seat.agent)])) for seat in seats]
    return [hashlib.sha256((text + rest).encode()).hexdigest()[:24] for text in texts]
