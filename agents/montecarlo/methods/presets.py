"""Agents that are `uct` with one method and its parameters."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method_search import Preset
from arena.agents.montecarlo.methods import grave, mast, ppa


@dataclass(frozen=True)
class GRAVE(grave.GraveParameters, Preset):
    """Monte-Carlo tree search with AMAF values of an ancestor."""

    exploration: ClassVar[float] = 0.0  # type: ignore[misc]

    name: ClassVar[str] = "grave"
    method: ClassVar = grave.Grave


@dataclass(frozen=True)
class PPA(ppa.PPAParameters, Preset):
    """UCT with playouts that are adapted to the winner's moves."""

    name: ClassVar[str] = "ppa"
    method: ClassVar = ppa.PPA


@dataclass(frozen=True)
class MAST(mast.MASTParameters, Preset):
    """UCT with playouts that prefer moves of a good mean reward."""

    name: ClassVar[str] = "mast"
    method: ClassVar = mast.MAST
