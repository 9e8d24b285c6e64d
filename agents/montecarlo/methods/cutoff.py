"""Early cut-off: a playout ends after a few moves, with the game's evaluation (R. Lorentz, "Amazons discover
Monte-Carlo", CG 2008; M. Winands & Y. Bjornsson, "Evaluation function based Monte-Carlo LOA", ACG 2009).

An evaluation e, -1 to 1 for the first player, counts as the result e; with `sharp`, as in the two papers, as a win or a
loss by its sign, and 0 as a draw.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method import Method


@dataclass(frozen=True)
class Cutoff(Method):
    """plies: of a playout before it ends
    sharp: whether only the sign of the evaluation counts
    """

    plies: int = 4
    sharp: bool = False

    name: ClassVar[str] = "cutoff"
    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("end playouts early",)
    data_fields: ClassVar[tuple[str, ...]] = ("plies",)
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = ()
    lockless: ClassVar[bool] = True
    ranges: ClassVar[dict] = {"plies": (0,)}

    def stops(self, game, search, walk, plies):
        return plies >= search.options.plies

    def estimate(self, game, search, walk):
        value = game.evaluate(walk.state)
        if self.sharp:
            return 1.0 if value > 0.0 else (-1.0 if value < 0.0 else 0.0)
        return value
