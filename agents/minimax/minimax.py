"""Minimax: the value of every position to a depth, with an evaluation function at the greatest depth (Shannon,
"Programming a computer for playing chess", 1950; for games played to their end von Neumann, 1928).

MAX takes the greatest value of its moves, MIN the least; the search has each player take the greatest of its own.
There is no pruning; a transposition table and the game's symmetries can avoid searching a position twice.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.minimax.deepening import DepthFirstMinimax


@dataclass(frozen=True)
class Minimax(DepthFirstMinimax):
    """Plain minimax; see DepthFirstMinimax for the parameters."""

    name: ClassVar[str] = "minimax"
