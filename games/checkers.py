"""Checkers on 8x8, or English draughts: men that jump over those of the other player, and become kings.

Men step and jump ahead along diagonals, kings also back.  A player who can take must, and a piece that has jumped goes
on if it can, but a man that becomes a king stops.  A player who cannot move loses.  `quiet` moves in a row of kings
without a capture are a draw (World Checkers/Draughts Federation: players may draw after 40 each).  Black, the first
player, is below.  Each jump of a chain is a move, so that there are at most 64 * 64.

    squares   8  . 32  . 31  . 30  . 29     a square of the board has the number 8 * row + column, rows from below, and
              7 28  . 27  . 26  . 25  .     a move is 64 * origin + target.  Squares are named as players number them,
              :                             from the corner at the right of Black's side, a move 11-15, a jump 15x22;
              1  4  .  3  .  2  .  1  .     moves as a program might write them (a3b4) are read too.
                 a  b  c  d  e  f  g  h
"""

import re
from dataclasses import dataclass

import numpy as np

from arena.games.core.boards.board import draw
from arena.games.core.boards.drawing import Look, board_drawing
from arena.games.core.game import Game, IllegalMove
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below

DARK = WORD(0xAA55AA55AA55AA55)
NOT_A, NOT_H = WORD(0xFEFEFEFEFEFEFEFE), WORD(0x7F7F7F7F7F7F7F7F)
ROW_1, ROW_8 = WORD(0xFF), WORD(0xFF << 56)
MEN = 12  # of each player
KINGS, TURN = 2, 3  # of a state
JUMPER, QUIET = WORD(1), WORD(8)  # first bits in the turn
STEPS = (9, 7, -7, -9)  # ahead for Black, right and left, then back
KING = 1.5  # men


@dataclass(frozen=True)
class Checkers(Game):
    """state: uint64[4] = Black's pieces, White's, which of them are kings, the turn.

    The turn: whose it is, from bit 1 a square and 1 if its piece must jump on, else 0, and from bit 8 the quiet moves.

    quiet: moves of kings without a capture, after which the game is a draw
    """

    quiet: int = 80

    name = "checkers"
    rules = (
        "A player who cannot move loses. Men move diagonally ahead, b up and w down, kings also back, and must jump "
        "enemies if they can. Dark squares are numbered from 1 at the lower right: a move is `11-15`, and each single "
        "jump like `15x24`."
    )
    board_look = Look("checkered", {"b": "black disc", "w": "white disc", "B": "black king", "W": "white king"})
    term_weights = {"men": 1.0, "kings": KING}
    summed = "material"
    sizes = "8x8, quiet 1 to 1000"
    state_size = 4
    quick_keys = True
    move_limit = 64 * 64
    max_moves = 4 * MEN
    ranges = {"quiet": (1, 1000)}

    @property
    def max_plies(self):
        """Captures, and at most seven moves of each man, restart the count."""
        return (2 * MEN * (1 + 7) + 1) * self.quiet

    def start(self, state):
        state[0], state[1] = DARK & WORD(0xFFFFFF), DARK & WORD(0xFFFFFF << 40)
        state[KINGS] = state[TURN] = 0

    def player(self, state):
        return np.int64(state[TURN] & ONE)

    def legal_moves(self, state, moves):
        found, length = self.moves_by_direction(state)
        count = 0
        for direction in range(4):
            count = list_bits(found[direction], moves, count, 65, -64 * length * STEPS[direction])
        return count

    def play(self, state, move):
        side, origin, target = state[TURN] & ONE, ONE << WORD(move >> 6), ONE << WORD(move & 63)
        king, jump = state[KINGS] & origin != ZERO, self.is_jump(move)
        state[side] ^= origin | target
        if king:
            state[KINGS] ^= origin | target
        if jump:
            taken = ONE << WORD((move >> 6) + (move & 63) >> 1)
            state[ONE - side] &= ~taken
            state[KINGS] &= ~taken
        crowned = not king and target & (ROW_1 | ROW_8) != ZERO
        if crowned:
            state[KINGS] |= target
        quiet = state[TURN] >> QUIET
        state[TURN] = side | WORD((move & 63) + 1) << JUMPER
        found = self.sets(state, True)
        if not jump or crowned or found[0] | found[1] | found[2] | found[3] == ZERO:
            state[TURN] = ONE - side
        if king and not jump:
            state[TURN] |= quiet + ONE << QUIET

    def is_over(self, state):
        return self.quiet_moves(state) >= self.quiet or self.is_stuck(state)

    def score(self, state):
        """A player who cannot move has lost, even with the last quiet move."""
        if not self.is_stuck(state):
            return 0.0
        return -1.0 if self.player(state) == 0 else 1.0

    def move_name(self, state, move):
        numbers = [4 * (square // 8) + (7 - square % 8) // 2 + 1 for square in (move >> 6, move & 63)]
        return f"{numbers[0]}{'x' if self.is_jump(move) else '-'}{numbers[1]}"

    def render(self, state):
        """Black's men b and kings B, White's w and W."""

        def symbol(row, column):
            square = WORD(8 * row + column)
            letter = "b" if state[0] >> square & ONE else ("w" if state[1] >> square & ONE else ".")
            return letter.upper() if state[KINGS] >> square & ONE else letter

        return draw(reversed(range(8)), 8, symbol)

    def quiet_moves(self, state):
        return np.int64(state[TURN] >> QUIET)

    def shifted(self, pieces, direction):
        """One square along a diagonal, `STEPS`."""
        if direction == 0:
            return (pieces & NOT_H) << WORD(9)
        if direction == 1:
            return (pieces & NOT_A) << WORD(7)
        if direction == 2:
            return (pieces & NOT_H) >> WORD(7)
        return (pieces & NOT_A) >> WORD(9)

    def targets(self, movers, other, empty, direction, jumps):
        beside = self.shifted(movers, direction)
        return self.shifted(beside & other, direction) & empty if jumps else beside & empty

    def movers(self, state, direction):
        side = state[TURN] & ONE
        own, jumper = state[side], state[TURN] >> JUMPER & WORD(127)
        if jumper != ZERO:
            own = ONE << (jumper - ONE)
        return own if (direction < 2) == (side == ZERO) else own & state[KINGS]

    def sets(self, state, jumps):
        other, empty = state[ONE - (state[TURN] & ONE)], ~(state[0] | state[1])
        return (
            self.targets(self.movers(state, 0), other, empty, 0, jumps),
            self.targets(self.movers(state, 1), other, empty, 1, jumps),
            self.targets(self.movers(state, 2), other, empty, 2, jumps),
            self.targets(self.movers(state, 3), other, empty, 3, jumps),
        )

    def moves_by_direction(self, state):
        """The legal targets in the four directions, and the distance: 1 or 2."""
        found = self.sets(state, True)
        if found[0] | found[1] | found[2] | found[3] != ZERO:
            return found, 2
        return self.sets(state, False), 1

    def is_jump(self, move):
        return abs((move >> 9) - (move >> 3 & 7)) == 2

    def is_stuck(self, state):
        found = self.moves_by_direction(state)[0]
        return found[0] | found[1] | found[2] | found[3] == ZERO

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_move(self, state, moves, rng):
        found, length = self.moves_by_direction(state)
        n0, n1, n2 = popcount(found[0]), popcount(found[1]), popcount(found[2])
        choice, direction = random_below(rng, n0 + n1 + n2 + popcount(found[3])), 0
        if choice >= n0:
            choice, direction = choice - n0, 1
            if choice >= n1:
                choice, direction = choice - n1, 2
                if choice >= n2:
                    choice, direction = choice - n2, 3
        target = trailing_zeros(nth_bit(found[direction], choice))
        return 64 * (target - length * STEPS[direction]) + target

    # -- For strength ------------------------------------------------------------------------------------------

    def worth(self, state, side, advance):
        """Men 1 and `advance` for each row moved, kings 3/2."""
        men, kings = state[side] & ~state[KINGS], state[side] & state[KINGS]
        value = popcount(men) + KING * popcount(kings)
        if advance != 0.0:
            for row in range(8):
                ahead = row if side == 0 else 7 - row
                value += advance * ahead * popcount(men >> WORD(8 * row) & ROW_1)
        return value

    def evaluate(self, state):
        """Men 1 and 1/20 for each row moved, kings 3/2: the difference over the sum and 1."""
        black, white = self.worth(state, 0, 0.05), self.worth(state, 1, 0.05)
        return (black - white) / (black + white + 1.0)

    def evaluate_material(self, state):
        """Men 1, kings 3/2: the difference over the sum and 1."""
        black, white = self.worth(state, 0, 0.0), self.worth(state, 1, 0.0)
        return (black - white) / (black + white + 1.0)

    def counts(self, state, side):
        return popcount(state[side] & ~state[KINGS]), popcount(state[side] & state[KINGS])

    def crowns(self, state, move):
        return state[KINGS] >> WORD(move >> 6) & ONE == ZERO and (ROW_1 | ROW_8) >> WORD(move & 63) & ONE != ZERO

    def is_unstable(self, state, move):
        return self.is_jump(move) or self.crowns(state, move)

    def move_order(self, state, move):
        """New kings, then kings taken; either all moves jump or none."""
        taken = WORD((move >> 6) + (move & 63) >> 1)
        king = self.is_jump(move) and state[KINGS] >> taken & ONE != ZERO
        return (2 if self.crowns(state, move) else 0) + (1 if king else 0)

    def feature_code(self, state, move):
        return self.move_code(state, move) << 1 | np.int64(state[KINGS] >> WORD(move >> 6) & ONE)

    # -- For people --------------------------------------------------------------------------------------------

    def parse_move(self, state, text):
        """The legal move of that name, or by columns and rows of both squares."""
        word = text.strip()
        if re.fullmatch("([a-h][1-8]){2}", word):
            origin, target = (ord(word[i]) - 97 + 8 * (int(word[i + 1]) - 1) for i in (0, 2))
            if 64 * origin + target in self.moves(state):
                return 64 * origin + target
        return super().parse_move(state, text)

    def read_word(self, state, word):
        """All jumps of a piece may be one word, `6x13x22` or, if only one way leads there, `6x22`."""
        squares = re.findall(r"\d+", word)
        if "x" not in word.lower() or (len(squares) == 2 and "x".join(squares) in self._jumps(state)):
            return super().read_word(state, word.lower())
        ways, ends = [([], state)], []
        while ways:
            line, after = ways.pop()
            at = [self.move_name(after, line[-1]).partition("x")[2]] if line else squares[:1]
            for name, move in self._jumps(after).items():
                if name.split("x")[:1] == at:
                    longer, then = [*line, move], self.after(after, move)
                    goes_on = not self.is_over(then) and self.player(then) == self.player(state)
                    (ways if goes_on else ends).append((longer, then))
        fitting = [(line, after) for line, after in ends if self._passes(state, line, squares)]
        if len({after.tobytes() for _, after in fitting}) != 1:
            raise IllegalMove(
                f"{word!r} is {'one of several ways' if fitting else 'not a legal capture'} of {self} here"
            )
        return fitting[0][0]

    def _jumps(self, state):
        return {self.move_name(state, move): move for move in self.moves(state) if self.is_jump(move)}

    def _passes(self, state, line, squares):
        """Whether jumps end on the last of the squares, and visit the others in their order."""
        reached = [self.move_name(state, move).partition("x")[2] for move in line]
        left = iter(reached)
        return reached[-1] == squares[-1] and all(square in left for square in squares[1:])

    def from_pgn_tags(self, tags):
        kind = tags.get("GameType", "21").partition(",")[0].strip()
        if kind != "21" or "FEN" in tags:
            what = (
                "begins from a position (FEN)"
                if kind == "21"
                else f"is of another game: GameType is {kind}, and not 21"
            )
            raise ValueError(what)
        return self

    def move_squares(self, state, move):
        return named_squares(self.move_name(state, move))

    def drawing(self, state, moves):
        marked = named_squares(moves[-1]) if moves else ""
        return board_drawing(self.drawn_board(state), [marked], self.board_look)


def named_squares(name: str) -> str:
    """The squares of a move by column and row: `9x14` as `a3c4`."""
    places = (divmod(int(number) - 1, 4) for number in re.findall(r"\d+", name))
    return "".join(f"{'gecahfdb'[place + row % 2 * 4]}{row + 1}" for row, place in places)
