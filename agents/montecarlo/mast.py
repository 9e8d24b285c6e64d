"""MAST, move-average sampling technique: `uct` with the method `mast`, whose playouts prefer moves that did well."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method_search import Preset
from arena.agents.montecarlo.methods import mast


@dataclass(frozen=True)
class MAST(mast.MASTParameters, Preset):
    """UCT with playouts that prefer moves of a good mean reward."""

    name: ClassVar[str] = "mast"
    method: ClassVar = mast.MAST
