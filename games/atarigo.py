"""AtariGo, the capture game: stones are placed as in Go, and the first to capture wins.

No passes and no suicide; a player without a legal move loses.  Black begins on an empty board.  Points are named as in
Go: columns from a, without i, rows from 1 at the bottom.  Cazenave, "Playout policy adaptation with move features",
2016, uses it on 8x8.
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.families.groups import PlacingGame
from arena.games.core.numbers import wide


@dataclass(frozen=True)
class AtariGo(PlacingGame):
    """state: uint64, the sets of black and of white stones, and 1 if the game is over; see `PlacingGame`.

    Captured stones stay in the last state.
    """

    size: int = 8

    name = "atarigo"
    rules = (
        "X begins, and the first to take a chain of stones, by filling its last liberty, wins. A move is the point of "
        "a new stone, `c3`. There are no passes and no suicide, and a player without a legal move loses."
    )
    sizes = "size 2 to 13"
    status = "counted"

    # -- For strength ------------------------------------------------------------------------------------------

    def foreseen(self, state):
        """A player who can capture wins; else one who cannot parry all captures, or only in vain, loses."""
        side = self.player(state)
        own, other = self.stones(state, side), self.stones(state, 1 - side)
        empty = self.empty(own, other)
        if not wide.is_empty(self.liberties_of(other, empty)[0]):
            return 1, True
        threats, more = self.liberties_of(own, empty)
        if wide.is_empty(threats):
            return 0, True
        parries = wide.common(threats, self.breathing(empty, more))
        if wide.size_of(threats) > 1 or wide.is_empty(parries):
            return -2, True
        threats, _ = self.liberties_of(wide.union(own, parries), wide.without(empty, parries))
        return (0 if wide.is_empty(threats) else -2), True

    def sound_moves(self, state, moves):
        """Parries of a threatened capture only, unless the player can capture first."""
        side = self.player(state)
        own, other = self.stones(state, side), self.stones(state, 1 - side)
        empty = self.empty(own, other)
        threats, legal = self.liberties_of(own, empty)[0], self.legal_points(own, other)
        if wide.size_of(threats) == 1 and wide.is_empty(self.liberties_of(other, empty)[0]):
            parries = wide.common(threats, legal)
            legal = legal if wide.is_empty(parries) else parries
        return wide.list_cells(legal, moves, self.words)

    def evaluate(self, state):
        """The least liberties of a black chain less those of a white one, over the sum; 4 without stones, as in the
        open."""
        black, white = self.stones(state, 0), self.stones(state, 1)
        empty = self.empty(black, white)
        black, white = self.least_liberties(black, empty), self.least_liberties(white, empty)
        return (black - white) / (black + white)

    def least_liberties(self, own, empty):
        """Of a chain; 4 if there is none."""
        least = 4 if wide.is_empty(own) else 4 * self.area
        while not wide.is_empty(own):
            chain = self.whole_chain(wide.lowest(own), own)
            own = wide.without(own, chain)
            least = min(least, np.int64(wide.size_of(wide.common(self.beside(chain), empty))))
        return least
