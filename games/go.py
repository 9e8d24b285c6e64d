"""Go with area scoring: stones and the empty points that reach only them, White's komi added.

Rules of John Tromp and Bill Taylor (positional superko), but suicide is illegal, and a game of max_plies moves, 3 for
each point, is scored as it stands.  Points are named as in Go: columns from a, without i, rows from 1 at the bottom.
Random playouts do not fill own eyes, and know only the simple ko.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import ClassVar

import numpy as np

from arena.games.core.boards.board import sgf_point, sgf_square
from arena.games.core.families.groups import BLACK, BORDER, BOTH, EMPTY, LETTERS, MANY, StoneGame
from arena.games.core.game import check_range
from arena.games.core.numbers.bits import ONE, WORD
from arena.games.core.random import GAMMA, mix, random_below

LOW = WORD(0xFFFF)


@dataclass(frozen=True)
class Go(StoneGame):
    """state: uint64, the sets of black and of white stones, plies, passes in a row, the point of a simple ko (or else
    `area`), and the history: for each ply the move, and above its low 16 bits, for a captured stone, the plies after
    which it was gone.

    Unlike hashes, the history serves under every symmetry.  Different orders of moves have different keys.

    komi: points added to White's score; a whole number allows draws
    """

    komi: float = 7.5

    name = "go"
    rules = (
        "More stones, with the empty points that reach only them, win; O has komi. A move is the point of a stone, "
        "`c3`, or `pass`, and takes enemy chains without liberties; columns skip i. No board may come again, and two "
        "passes end the game."
    )
    sizes = "size 2 to 19"
    uniform_playouts = False
    sgf_number = 1
    scored_by_players = True
    not_for_moves: ClassVar = {"komi": 0.0}
    playout_policy = "uniform over the points that are legal, but for the superko, and fill no eye of the player"
    ranges = {"size": (2, 19)}

    def __post_init__(self):
        super().__post_init__()
        check_range("komi", self.komi, -self.area, self.area)

    @property
    def has_draws(self):
        return self.komi == int(self.komi)

    @cached_property
    def plies_at(self):
        """The index in a state of plies, passes and ko."""
        return 2 * self.words

    @cached_property
    def history(self):
        return 2 * self.words + 3

    @property
    def state_size(self):
        return self.history + self.max_plies

    @property
    def move_limit(self):
        return self.area + 1

    max_moves = move_limit

    @property
    def max_plies(self):
        return 3 * self.area

    def start(self, state):
        state[:] = 0
        state[self.plies_at + 2] = self.area

    def player(self, state):
        return np.int64(state[self.plies_at] & ONE)

    def legal_moves(self, state, moves):
        board, colour, count = np.empty(self.room, np.uint16), BLACK + WORD(self.player(state)), 0
        empties = self.lay_out(state, board)
        positions = np.empty(self.max_plies + 1, np.uint64)
        taken = self.positions(state, positions, board)
        for i in range(empties):
            point = WORD(board[self.empties + WORD(i)])
            self.press(board, point)
            legal = self.breathes(board, point, colour) or self.captures(board, point, colour)
            if legal and taken and board[self.spare + point] != 0:
                legal = not self.repeats(state, board, point, colour, positions)
            self.release(board, point)
            if legal:
                moves[count] = self.move_at(point)
                count += 1
        moves[count] = self.area
        return count + 1

    def play(self, state, move):
        plies, colour = np.int64(state[self.plies_at]), BLACK + WORD(self.player(state))
        state[self.plies_at] += ONE
        state[self.plies_at + 1] += ONE
        state[self.plies_at + 2] = self.area
        state[self.history + plies] = move
        if move != self.area:
            board, point = np.empty(self.room, np.uint16), self.point(move)
            empties = self.lay_out(state, board)
            self.press(board, point)
            after = self.place(board, point, colour, empties)
            state[self.plies_at + 1] = 0
            if self.makes_ko(board, point, after - empties):
                state[self.plies_at + 2] = self.move_at(board[self.empties + empties])
            self.put_stone(state, move, colour)
            if after != empties:
                self.take_back(state, board, plies)

    def is_over(self, state):
        return state[self.plies_at + 1] == 2 or state[self.plies_at] == self.max_plies

    def score(self, state):
        board = np.empty(self.room, np.uint16)
        return self.area_difference(board, self.lay_out(state, board)) - self.komi

    def positions(self, state, positions, board):
        """Write the hash of the stones after each ply into `positions`, and behind self.spare where stones were taken;
        False, without writing, if none were."""
        plies, any_taken = np.int64(state[self.plies_at]), False
        for ply in range(plies):
            any_taken |= state[self.history + ply] > LOW
        if any_taken:
            for ply in range(plies + 1):
                positions[ply] = 0
            for point in range(self.region):
                board[self.spare + WORD(point)] = 0
            for ply in range(plies):
                move, gone = np.int64(state[self.history + ply] & LOW), state[self.history + ply] >> WORD(16)
                if move != self.area:
                    word = self.stone_hash(move, BLACK + WORD(ply & 1))
                    positions[ply + 1] ^= word
                    if gone != 0:
                        positions[gone] ^= word
                        board[self.spare + self.point(move)] = 1
            for ply in range(plies):
                positions[ply + 1] ^= positions[ply]
        return any_taken

    def stone_hash(self, move, colour):
        """A position's hash is that of its stones by exclusive or (Zobrist)."""
        return mix(WORD(2 * move) + colour)

    def repeats(self, state, board, point, colour, positions):
        """True if a stone at a pressed point repeats a position; asked only where a stone was taken."""
        plies = np.int64(state[self.plies_at])
        after = positions[plies] ^ self.stone_hash(self.move_at(point), colour)
        for neighbour in self.around(point):
            chain = self.chain + neighbour
            if board[neighbour] == BOTH - colour and board[self.liberties + WORD(board[chain])] == 0:
                board[self.liberties + WORD(board[chain])] = MANY  # not to be counted twice
                stone, first = WORD(board[self.next + neighbour]), neighbour
                after ^= self.stone_hash(self.move_at(first), BOTH - colour)
                while stone != first:
                    after ^= self.stone_hash(self.move_at(stone), BOTH - colour)
                    stone = WORD(board[self.next + stone])
        for neighbour in self.around(point):
            chain = self.chain + neighbour
            if board[neighbour] == BOTH - colour and board[self.liberties + WORD(board[chain])] == MANY:
                board[self.liberties + WORD(board[chain])] = 0
        found = False
        for ply in range(plies + 1):
            found |= positions[ply] == after
        return found

    def take_back(self, state, board, plies):
        """Take off stones that are no longer on the board, after `plies` moves and one more."""
        for ply in range(plies):
            move = np.int64(state[self.history + ply])
            if move < self.area and board[self.point(move)] == EMPTY:
                state[self.history + ply] |= WORD(plies + 1) << WORD(16)
                state[(move >> 6) + (ply & 1) * self.words] &= ~(ONE << WORD(move & 63))

    def place(self, board, point, colour, empties):
        """Put a stone at a pressed point and capture; returns the number of empty points."""
        self.put(board, point, colour)
        for neighbour in self.around(point):
            if board[neighbour] == BOTH - colour and board[self.liberties + WORD(board[self.chain + neighbour])] == 0:
                empties = self.take(board, neighbour, empties)
        return empties

    def makes_ko(self, board, point, captured):
        """True if a capturing stone can be retaken at once: it took one, is alone, and has only that liberty."""
        return captured == 1 and board[self.next + point] == point and board[self.liberties + point] == 1

    def area_difference(self, board, empties):
        """Black's area less White's; empty points of `board` become a union of the colours that they reach."""
        changed = True
        while changed:
            changed = False
            for i in range(empties):
                point = WORD(board[self.empties + WORD(i)])
                reached = board[point]
                for neighbour in self.around(point):
                    reached |= board[neighbour]
                reached &= BOTH
                changed |= reached != board[point]
                board[point] = reached
        difference = 0.0
        for move in range(self.area):
            colour = board[self.point(move)]
            difference += 1.0 if colour == BLACK else (0.0 if colour == BOTH else (-1.0 if colour != EMPTY else 0.0))
        return difference

    # -- For speed ---------------------------------------------------------------------------------------------

    def is_eye(self, board, point, colour):
        """True if all neighbours of a point are `colour` or off the board, and at most one diagonal neighbour is the
        other's, at the edge none."""
        own = True
        for neighbour in self.around(point):
            own &= (board[neighbour] == colour) | (board[neighbour] == BORDER)
        return own & (self.bad_corners(board, point, colour) < 2)

    def bad_corners(self, board, point, colour):
        """Diagonal neighbours of the other player, and one more at the edge."""
        bad, beyond = 0, False
        for side in (point - self.stride, point + self.stride):
            for corner in (side - ONE, side + ONE):
                bad += board[corner] == BOTH - colour
                beyond |= board[corner] == BORDER
        return bad + beyond

    def try_point(self, board, point, colour, ko):
        """True if a playout may play at an empty point, which is then pressed."""
        if point == ko or self.is_eye(board, point, colour):
            return False
        self.press(board, point)
        sound = self.breathes(board, point, colour) or self.captures(board, point, colour)
        if not sound:
            self.release(board, point)
        return sound

    def random_playout(self, state, moves, rng):
        """Draws legal points (but for superko) until one is no own eye; else passes."""
        board, colour = np.empty(self.room, np.uint16), BLACK + WORD(self.player(state))
        empties = self.lay_out(state, board)
        passes, ko = state[self.plies_at + 1], self.point(np.int64(state[self.plies_at + 2]))
        plies, last, left = 0, self.max_plies - np.int64(state[self.plies_at]), empties
        while passes < 2 and plies < last:
            i = self.empties + (WORD(random_below(rng, left)) if left > 0 else WORD(0))
            point = WORD(board[i])
            moved = left == 0
            if moved:
                passes += ONE
                ko = WORD(0)
            elif self.try_point(board, point, colour, ko):
                moved = True
                passes = WORD(0)
                empties -= ONE
                board[i] = board[self.empties + empties]
                before = empties
                empties = self.place(board, point, colour, empties)
                ko = WORD(board[self.empties + before]) if self.makes_ko(board, point, empties - before) else WORD(0)
            else:
                left -= ONE
                board[i], board[self.empties + left] = board[self.empties + left], point
            if moved:
                plies += 1
                left, colour = empties, BOTH - colour
        return self.area_difference(board, empties) - self.komi, plies

    def key(self, state):
        word = WORD(0)
        for i in range(self.history + np.int64(state[self.plies_at])):
            word ^= mix(state[i] + WORD(i) * GAMMA)
        return word

    def transform(self, state, symmetry, target):
        self.transform_stones(state, symmetry, target)
        for i in range(self.plies_at, self.state_size):
            target[i] = state[i]
        target[self.plies_at + 2] = self.image(np.int64(state[self.plies_at + 2]), symmetry)
        for i in range(self.history, self.history + np.int64(state[self.plies_at])):
            move = self.image(np.int64(state[i] & LOW), symmetry)
            target[i] = state[i] & ~LOW | WORD(move)

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """The score s of the position as it stands, as s / (size + |s|)."""
        score = self.score(state)
        return score / (self.size + abs(score))

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.size, "KM": self.komi, "RU": "Chinese"}  # area, superko, no suicide

    def sgf_move(self, name):
        """SGF's columns include i, and rows count from above."""
        return "" if name == "pass" else sgf_point(LETTERS.index(name[0]), self.size - int(name[1:]))

    def sgf_name(self, point):
        """Before FF[4], and from some programs since, `tt` is a pass."""
        if point in ("", "tt"):
            return "pass"
        column, row = sgf_square(point, self.size, self.size)
        return f"{LETTERS[column]}{self.size - row}"

    def from_sgf(self, root):
        """Without SZ the board is 19x19; without KM the komi stays.

        Servers in China write it in hundredths, of points or of stones, which are two points: 750 and 375 are 7.5.
        """
        sized, komi = super().from_sgf({"SZ": ["19"], **root}), root.get("KM", [""])[0].strip().replace(",", ".")
        try:
            points = float(komi or self.komi)
            if points >= 100:
                points /= 100 if points % 50 == 0 else 50
            return replace(sized, komi=points)
        except ValueError:
            raise ValueError(f"has KM[{komi}], which is no komi on {sized.size}x{sized.size}") from None

    def sgf_start(self, stones, mover):
        """Stones are placed in turn; who has fewer passes between."""
        line = [stone for pair in zip_longest(stones["B"], stones["W"], fillvalue="pass") for stone in pair]
        passing = "BW"[len(line) % 2] != mover
        return line[:-1] if line and line[-1] == "pass" and mover == "W" else line + ["pass"] * passing
