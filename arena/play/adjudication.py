"""Games that are broken off because the players' values leave no doubt, as managers of engine tournaments do it.

resign    a player has lost that took its position for lost, by its own value, in so many of its moves in a row.  With
          `both`, its opponent must have taken it for won in as many of its own.
draw      a game is drawn if both players took the position for even in so many of their moves in a row, and so many
          plies have been played

A value is that of a decision: the expected result for the player who moves, -1 to 1.  A decision without one ends the
row, so that who gives no values never resigns and agrees to no draw.  These are the rules of cutechess-cli and
fastchess, whose scores are centipawns.
"""

from collections.abc import Mapping
from typing import NamedTuple

from results.record import Reason


class Adjudication(NamedTuple):
    """What is adjudicated in a run: the tables `resign` and `draw` of its configuration, None where one is off."""

    resign: Mapping | None = None
    draw: Mapping | None = None


class Ending(NamedTuple):
    """How a game ends before its rules end it."""

    outcome: float  # the first player's
    reason: str
    detail: str


class Adjudicator:
    """Counts the decisions of one game that speak for an end."""

    def __init__(self, rules: Adjudication, names: tuple[str, ...]):
        self.rules, self.names = rules, names
        self._lost, self._won, self._even = ([0, 0] for _ in range(3))  # how many of each side's last decisions were so

    def note(self, side: int, value: float | None) -> None:
        """A side has decided on a move, and takes the position before it for so much."""
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
        """How the game ends after so many plies; None if it goes on."""
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
