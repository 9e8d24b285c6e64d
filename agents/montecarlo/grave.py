"""GRAVE and RAVE: `uct` with the method `grave`, which also judges a move by simulations that played it later."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method_search import Preset
from arena.agents.montecarlo.methods import grave


@dataclass(frozen=True)
class GRAVE(grave.GraveParameters, Preset):
    """Monte-Carlo tree search with AMAF values of an ancestor."""

    exploration: ClassVar[float] = 0.0  # type: ignore[misc]

    name: ClassVar[str] = "grave"
    method: ClassVar = grave.Grave
