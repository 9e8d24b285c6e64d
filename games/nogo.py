"""NoGo (Anti-Atari-Go): stones are placed as in Go, and nobody may capture.

Nor may a move leave its own chain without a liberty.  A player without a legal move loses; in the misere game, wins.
Black begins on an empty board.  Points are named as in Go: columns from a, without i, rows from 1 at the bottom.
Cazenave, "Playout policy adaptation with move features", 2016, uses it on 8x8.
"""

from dataclasses import dataclass

from arena.games.core.families.groups import PlacingGame
from arena.games.core.game import check_rectangle
from arena.games.core.numbers import wide


@dataclass(frozen=True)
class NoGo(PlacingGame):
    """state: uint64, the sets of black and of white stones, and 1 if the game is over; see `PlacingGame`.

    rows, columns: of a rectangular board, instead of a square of `size`; 0 for none
    """

    size: int = 8
    rows: int = 0
    columns: int = 0

    name = "nogo"
    rules = (
        "A player without a legal move loses; X begins. A move is the point of a new stone, `c3`. It may not capture, "
        "nor leave its own chain without a liberty."
    )
    sizes = "size 2 to 13, or rows and columns 1 to 13 and not both 1"
    status = "counted"
    may_capture = False
    symmetries = PlacingGame.symmetries
    ranges = {"size": (2, 13)}

    def __post_init__(self):
        super().__post_init__()
        check_rectangle(self.rows, self.columns, 1, 13)
        if self.rows * self.columns == 1:
            raise ValueError("rows = columns = 1: the board needs 2 points or more")

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Mobility: possible moves of either player; the difference over the sum and 1; in the misere game negated."""
        first, second = self.stones(state, 0), self.stones(state, 1)
        black = wide.size_of(self.legal_points(first, second))
        white = wide.size_of(self.legal_points(second, first))
        value = (black - white) / (black + white + 1.0)
        return value if self.last_mover_wins else -value


class MisereNoGo(NoGo):
    """NoGo in which a player without a legal move wins; its state is the same."""

    name = "misere_nogo"
    rules = (
        "A player without a legal move wins; X begins. A move is the point of a new stone, `c3`. It may not capture, "
        "nor leave its own chain without a liberty."
    )
    last_mover_wins = False
    symmetries = NoGo.symmetries
