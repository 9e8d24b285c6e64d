"""AtariGo, the capture game: stones are placed as in Go, and the first to capture wins.

No passes and no suicide; a player without a legal move loses.  Black begins on an empty board.  Points are named as in
Go: columns from a, without i, rows from 1 at the bottom.  Cazenave, "Playout policy adaptation with move features",
2016, uses it on 8x8.
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.bits import ONE, WORD
from arena.games.core.groups import BLACK, BOTH, EMPTY, PlacingGame


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

    def allowed(self, board, point, colour):
        return self.breathes(board, point, colour) or self.captures(board, point, colour)

    # -- For strength ------------------------------------------------------------------------------------------

    def foreseen(self, state):
        """A player who can capture wins; else one who cannot parry all captures, or only in vain, loses."""
        board = np.empty(self.room, np.uint16)
        empties, own = self.lay_out(state, board), BLACK + WORD(self.player(state))
        if self.count_captures(board, empties, own)[0] > 0:
            return 1, True
        threats, point = self.count_captures(board, empties, BOTH - own)
        if threats == 0:
            return 0, True
        self.press(board, point)
        if threats > 1 or not self.breathes(board, point, own):
            return -2, True
        self.put(board, point, own)
        return (-2 if self.count_captures(board, empties, BOTH - own)[0] > 0 else 0), True

    def count_captures(self, board, empties, colour):
        """(the number of listed points, still empty, where a stone of `colour` captures; one of them)."""
        count, found = 0, WORD(0)
        for i in range(empties):
            point = WORD(board[self.empties + WORD(i)])
            if board[point] == EMPTY:
                self.press(board, point)
                if self.captures(board, point, colour):
                    count, found = count + 1, point
                self.release(board, point)
        return count, found

    def sound_moves(self, state, moves):
        """Parries of a threatened capture only, unless the player can capture first."""
        board = np.empty(self.room, np.uint16)
        empties, own = self.lay_out(state, board), BLACK + WORD(self.player(state))
        threats, point = self.count_captures(board, empties, BOTH - own)
        if threats == 1 and self.count_captures(board, empties, own)[0] == 0 and self.is_legal(board, point, own):
            moves[0] = self.move_at(point)
            return 1
        return self.legal_moves(state, moves)

    def evaluate(self, state):
        """The least liberties of a black chain less those of a white one, over the sum; 4 without stones, as in the
        open."""
        board = np.empty(self.room, np.uint16)
        self.count_liberties(board, self.lay_out(state, board))
        black = white = unknown = 4 * self.area
        for move in range(self.area):
            point = self.point(move)
            if board[point] != EMPTY and board[self.chain + point] == point:
                liberties = np.int64(board[self.spare + point])
                if board[point] == BLACK:
                    black = min(black, liberties)
                else:
                    white = min(white, liberties)
        black, white = 4 if black == unknown else black, 4 if white == unknown else white
        return (black - white) / (black + white)

    def count_liberties(self, board, empties):
        """Write each chain's liberties, a point once, behind self.spare."""
        for i in range(self.region):
            board[self.spare + WORD(i)] = board[self.seen + WORD(i)] = 0
        for i in range(empties):
            point = WORD(board[self.empties + WORD(i)])
            for neighbour in self.around(point):
                chain = WORD(board[self.chain + neighbour])
                if board[self.seen + chain] != point:
                    board[self.seen + chain] = point
                    board[self.spare + chain] += ONE
