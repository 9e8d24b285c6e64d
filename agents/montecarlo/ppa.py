"""PPA, playout policy adaptation: `uct` with the method `ppa`, whose playouts adapt to the winner's moves."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method_search import Preset
from arena.agents.montecarlo.methods import ppa


@dataclass(frozen=True)
class PPA(ppa.PPAParameters, Preset):
    """UCT with playouts that are adapted to the winner's moves."""

    name: ClassVar[str] = "ppa"
    method: ClassVar = ppa.PPA
