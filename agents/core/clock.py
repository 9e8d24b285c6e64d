"""Chess clocks: seconds for a whole game, plus an increment for each move made.

A player may spend its *share* of the time left on a decision: left / 25 + increment, or left / moves + increment where
a new period of time comes after so many moves; less what a move takes besides its search, the overhead, which would
drain a clock that lives on its increment.  The share spares the last 0.05 seconds, or tenth of the time left if that is
less, since searches end some milliseconds late; it is at least 0.001 s.

This module imports neither NumPy nor Numba, so that configurations are checked quickly.
"""

import re
from typing import NamedTuple

PART = 25  # of the time left, for a decision
RESERVE = 0.05  # seconds that no decision may take, or RESERVED of the time left if less
RESERVED = 0.1
OVERHEAD = 0.02  # seconds of a move besides its search: pipes, processes, the end of the last chunk
LEAST = 0.001  # seconds
MOST = 1_000_000.0  # seconds of a base or an increment
FORM = 'a clock is text such as "10+0.1": seconds for the whole game and seconds added for each move'
_NUMBER = r"(?:\d+\.?\d*|\.\d+)"
_CONTROL = re.compile(rf"({_NUMBER})(?:\+({_NUMBER}))?")


class Clock(NamedTuple):
    """A player's clock before a decision."""

    left: float  # seconds; at the start of a game the base
    increment: float = 0.0  # seconds added after each move
    opponent: float | None = None  # seconds on the opponent's clock, if it has one
    moves: int | None = None  # to the next period of time, if there are periods
    overhead: float = OVERHEAD  # seconds of a move besides its search

    @classmethod
    def read(cls, text: str) -> "Clock":
        """The clock at the start of a game, from text such as `10+0.1`; ValueError for any other text."""
        found = _CONTROL.fullmatch(text.strip())
        if found is None:
            raise ValueError("is no time control")
        base, increment = float(found[1]), float(found[2] or 0)
        if not LEAST <= base <= MOST or increment > MOST:
            raise ValueError(f"is out of range: a base is at least {LEAST} s, and both are at most {MOST:,.0f}")
        return cls(base, increment)

    def share(self) -> float:
        """The seconds that the decision may take."""
        reserve = min(RESERVE, RESERVED * self.left) + self.overhead
        parts = PART if self.moves is None else max(1, min(PART, self.moves))
        return max(LEAST, min(self.left / parts + self.increment - self.overhead, self.left - reserve))

    def __str__(self):
        return "+".join(f"{seconds:.6f}".rstrip("0").rstrip(".") for seconds in (self.left, self.increment))
