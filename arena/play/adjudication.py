"""Ends games early when the players' values leave no doubt, by the rules of cutechess-cli and fastchess.

resign    a player loses after valuing its position as lost in `moves` consecutive moves of its own.  With `both`, its
          opponent must have valued it as won in as many of its own
draw      a game is drawn after both players valued the position as even in `moves` consecutive moves each, and after
          `after` plies

A value is that of a decision: the expected result for the player who moves, -1 to 1 (theirs are centipawns).  A
decision without a value breaks the series, so an agent that gives none never resigns and agrees to no draw.
"""

from collections.abc import Mapping
from typing import NamedTuple

from arena.results.database.record import Reason


class Adjudication(NamedTuple):
    """The tables `resign` and `draw` of a configuration; None where off."""

    resign: Mapping | None = None
    draw: Mapping | None = None


class Ending(NamedTuple):
    """An end of a game before its rules end it."""

    outcome: float  # the first player's
    reason: str
    detail: str


class Adjudicator:
    """Counts a game's decisions that speak for an end."""

    def __init__(self, rules: Adjudication, names: tuple[str, ...]):
        self.rules, self.names = rules, names
        self._lost, self._won, self._even = ([0, 0] for _ in range(3))  # by side: length of the current series

    def note(self, side: int, value: float | None) -> None:
        """Note a side's decision and its value of the position before it."""
        resign, draw = self.rules
        if resign is None and draw is None:
            return
        lost = won = even = False
        if value is not None and resign is not None:
            lost, won = value <= -resign["value"], value >= resign["value"]
        if value is not None and draw is not None:
            even = abs(value) <= draw["value"]
        for counts, holds in ((self._lost, lost), (self._won, won), (self._even, even)):
            counts[side] = counts[side] + 1 if holds else 0

    def ending(self, plies: int) -> Ending | None:
        """How the game ends after `plies` plies; None if it goes on."""
        return self._resigned() or self._drawn(plies)

    def _resigned(self) -> Ending | None:
        if not (resign := self.rules.resign):
            return None
        for side in (0, 1):
            agrees = not resign["both"] or self._won[1 - side] >= resign["moves"]
            if self._lost[side] >= resign["moves"] and agrees:
                detail = f"{self.names[side]} had values of -{resign['value']:g} or less in {_moves(resign)}"
                return Ending(float(side), Reason.ADJUDICATED_WIN, detail)
        return None

    def _drawn(self, plies) -> Ending | None:
        draw = self.rules.draw
        if not draw or plies < draw["after"] or min(self._even) < draw["moves"]:
            return None
        detail = f"both had values within {draw['value']:g} of 0 in {_moves(draw)}"
        return Ending(0.5, Reason.ADJUDICATED_DRAW, detail)


def _moves(table) -> str:
    return f"{table['moves']} move{'s' if table['moves'] > 1 else ''}"
