"""The rules of chess on sets of squares: moves, checks, ends, and draws that need no claim.

The state is seen by the player to move, who moves up: every move turns the board upside down.  A move has White's view.

`OWN` has the men of the player to move; three planes have the number of the man on each square.  Sliders reach squares
by obstruction difference (`games.core.numbers.bits.reach`, an idea of Michael Hoffmann's).
"""

import numpy as np

from arena.games.core.game import Game
from arena.games.core.numbers.bits import ONE, TWO, WORD, nth_bit, popcount, reach, reversed_bytes, trailing_zeros
from arena.games.core.random import GAMMA, mix, random_below

OWN = 0  # men of the player to move
LOW, MIDDLE, HIGH = 1, 2, 3  # bits 0, 1 and 2 of the number of the man on each square
CASTLING = 4  # rooks with which a player may still castle
PASSANT = 5  # the square to take on en passant, and the pawns that can; empty if none can
PLY = 6  # plies since White's first move; odd when Black is to move
CLOCK = 7  # plies since the last capture or pawn's move
POSITION = 8  # Zobrist hash of men, side to move, castling, en passant
DANGER = 9  # squares that the other side attacks, seen through the king
PINNED = 10  # own men that may leave their square along one line only
ALLOWED = 11  # where men but the king may go: in check, onto the checker or in its way
END = 12  # how the game is over, or 0
TIMES = 13  # earlier occurrences of the position
PAST = 14  # hash of the history
HISTORY = 15  # hashes of positions since the clock was 0, even plies before odd ones
HALF, MOST_CLOCK = 50, 100

PAWN, KNIGHT, KING, BISHOP, ROOK, QUEEN = 1, 2, 4, 5, 6, 7
MATE, STALEMATE, REPETITION, FIFTY, DEAD = 1, 2, 3, 4, 5

NONE, ALL = WORD(0), WORD(0xFFFFFFFFFFFFFFFF)
FILE_A = WORD(0x0101010101010101)
NOT_A, NOT_H = ALL ^ FILE_A, ALL ^ FILE_A << WORD(7)
NOT_AB, NOT_GH = NOT_A & ~(FILE_A << ONE), NOT_H & ~(FILE_A << WORD(6))
RANK_1, RANK_3, RANK_8 = (WORD(0xFF) << WORD(8 * i) for i in (0, 2, 7))
DARK = WORD(0xAA55AA55AA55AA55)
KING_SIDE, QUEEN_SIDE = (WORD(6), WORD(5)), (WORD(2), WORD(3))  # where king and rook stand after castling
SEVEN, EIGHT, NINE, SIXTEEN = WORD(7), WORD(8), WORD(9), WORD(16)
BLACKS_TURN = WORD(0x5851F42D4C957F2D)
UPSIDE_DOWN, UPSIDE_DOWN_MOVE = WORD(56), 56 + 64 * 56  # by exclusive or with a square, or with a move


def _lines():
    """LOWER and UPPER[4 * square + line]: squares before and behind on its rank, file, diagonal or antidiagonal."""
    lower, upper = np.zeros(256, WORD), np.zeros(256, WORD)
    for square in range(64):
        for line, (up, right) in enumerate(((0, 1), (1, 0), (1, 1), (1, -1))):
            for sign, squares in ((1, upper), (-1, lower)):
                row, column = square // 8 + sign * up, square % 8 + sign * right
                while 0 <= row < 8 and 0 <= column < 8:
                    squares[4 * square + line] |= ONE << WORD(8 * row + column)
                    row, column = row + sign * up, column + sign * right
    return lower, upper


LOWER, UPPER = _lines()
FILE, DIAGONAL, ANTIDIAGONAL = 1, 2, 3


class ChessRules(Game):
    """state: uint64[115], the words above.  A move is origin + 64 * target + 4096 * promotion (1 to 4: knight, bishop,
    rook, queen; else 0); castling moves the king onto its own rook."""

    state_size = HISTORY + MOST_CLOCK
    move_limit = 5 * 4096
    max_moves = 218
    max_plies = 12_700  # each of at most 96 moves of pawns and 30 captures restarts the clock

    def player(self, state):
        return np.int64(state[PLY] & ONE)

    def legal_moves(self, state, moves):
        turned = UPSIDE_DOWN_MOVE * self.player(state)
        count = self.list_from(self.king(state), self.king_targets(state), turned, moves, 0)
        one, two, left, right = self.pawn_targets(state)
        count = self.list_pawns(one, 8, turned, moves, count)
        count = self.list_pawns(two, 16, turned, moves, count)
        count = self.list_pawns(left, 7, turned, moves, count)
        count = self.list_pawns(right, 9, turned, moves, count)
        men = self.officers(state)
        while men != NONE:
            man = men & (~men + ONE)
            count = self.list_from(man, self.officer_targets(state, man), turned, moves, count)
            men ^= man
        return count

    def play(self, state, move):
        side, clock = state[PLY] & ONE, np.int64(state[CLOCK])
        turned = side * UPSIDE_DOWN
        origin, target = WORD(move & 63) ^ turned, WORD(move >> 6 & 63) ^ turned
        goal, promotion = ONE << target, move >> 12
        man, taken = self.man_at(state, origin), self.man_at(state, target)
        castles = state[OWN] & goal != NONE
        self.remember(state, clock)
        self.take_off(state, origin, man)
        if taken != NONE:
            self.take_off(state, target, taken)
        elif man == PAWN and goal & state[PASSANT] != NONE:
            self.take_off(state, target - EIGHT, WORD(PAWN))
        self.give_up_rights(state, ONE << origin | goal, man == KING)
        final = man if promotion == 0 else WORD(promotion + (1 if promotion == 1 else 3))
        if castles:
            target, beside = KING_SIDE if target > origin else QUEEN_SIDE
            self.put_on(state, beside, taken)
        self.put_on(state, target, final)
        self.turn(state)
        if man == PAWN or (taken != NONE and not castles):
            self.forget(state, clock)
        else:
            state[CLOCK] += ONE
        if man == PAWN and target == origin + SIXTEEN:
            self.find_passant(state, reversed_bytes(goal))
        state[TIMES] = self.times(state)
        self.look(state)
        state[END] = self.end(state)

    def is_over(self, state):
        return state[END] != NONE

    def score(self, state):
        if state[END] != MATE:
            return 0.0
        return 1.0 if state[PLY] & ONE else -1.0

    def occupied(self, state):
        return state[LOW] | state[MIDDLE] | state[HIGH]

    def king(self, state):
        return state[OWN] & state[HIGH] & ~(state[LOW] | state[MIDDLE])

    def knights_reach(self, knights):
        beside = (knights & NOT_H) << ONE | (knights & NOT_A) >> ONE
        beyond = (knights & NOT_GH) << TWO | (knights & NOT_AB) >> TWO
        return beside << SIXTEEN | beside >> SIXTEEN | beyond << EIGHT | beyond >> EIGHT

    def king_reach(self, king):
        row = king | (king & NOT_H) << ONE | (king & NOT_A) >> ONE
        return row << EIGHT | row >> EIGHT | row ^ king

    def rook_reach(self, square, occupied):
        """Squares up to the first man in the way, and that one."""
        i = WORD(4) * square
        return reach(LOWER[i], UPPER[i], occupied) | reach(LOWER[i + ONE], UPPER[i + ONE], occupied)

    def bishop_reach(self, square, occupied):
        i = WORD(4) * square + TWO
        return reach(LOWER[i], UPPER[i], occupied) | reach(LOWER[i + ONE], UPPER[i + ONE], occupied)

    def line(self, square, number):
        """The line without the square itself."""
        i = WORD(4) * square + WORD(number)
        return LOWER[i] | UPPER[i]

    def attacks(self, state, men, occupied):
        low, middle, high = state[LOW], state[MIDDLE], state[HIGH]
        pawns, knights, king = men & low & ~high, men & middle & ~high, men & high & ~(low | middle)
        squares = (pawns & NOT_A) >> NINE | (pawns & NOT_H) >> SEVEN
        squares |= self.knights_reach(knights) | self.king_reach(king)
        sliders = men & high & middle
        while sliders != NONE:
            squares |= self.rook_reach(WORD(trailing_zeros(sliders)), occupied)
            sliders &= sliders - ONE
        sliders = men & high & low
        while sliders != NONE:
            squares |= self.bishop_reach(WORD(trailing_zeros(sliders)), occupied)
            sliders &= sliders - ONE
        return squares

    def look(self, state):
        """Find checks and pins, for the player to move."""
        occupied, king, low, middle = self.occupied(state), self.king(state), state[LOW], state[MIDDLE]
        other, square = occupied ^ state[OWN], WORD(trailing_zeros(king))
        danger = self.attacks(state, other, occupied ^ king)
        allowed = self.checkers(state, other, king) if danger & king != NONE else ALL
        pinned = NONE
        for number in range(4):
            i = WORD(4) * square + WORD(number)
            seen = reach(LOWER[i], UPPER[i], other)
            sliders = seen & other & state[HIGH] & (middle if number < DIAGONAL else low)
            if sliders != NONE:
                for half in (LOWER[i], UPPER[i]):
                    between = seen & half & state[OWN]
                    if sliders & half != NONE:
                        if between == NONE:
                            allowed &= seen & half
                        elif between & between - ONE == NONE:
                            pinned |= between
        state[DANGER], state[PINNED], state[ALLOWED] = danger, pinned, allowed

    def checkers(self, state, other, king):
        """The knight or pawn that gives check; all squares if none."""
        found = self.knights_reach(king) & other & state[MIDDLE] & ~state[HIGH]
        found |= ((king & NOT_H) << NINE | (king & NOT_A) << SEVEN) & other & state[LOW] & ~state[HIGH]
        return ALL if found == NONE else (found if found & found - ONE == NONE else NONE)

    def end(self, state):
        """How the game has ended, such as MATE, or 0."""
        if not self.can_move(state):
            return WORD(MATE if state[DANGER] & self.king(state) != NONE else STALEMATE)
        if state[CLOCK] >= MOST_CLOCK:
            return WORD(FIFTY)
        if state[TIMES] >= 2:
            return WORD(REPETITION)
        return WORD(DEAD if self.is_dead(state) else 0)

    def is_dead(self, state):
        """True if no mate is left: one knight, or bishops on one colour, or nothing."""
        low, middle, high = state[LOW], state[MIDDLE], state[HIGH]
        if low & ~high | middle & high != NONE:  # pawns, rooks and queens
            return False
        knights, bishops = middle, low
        if bishops == NONE:
            return popcount(knights) <= 1
        return knights == NONE and (bishops & DARK == NONE or bishops & ~DARK == NONE)

    def can_move(self, state):
        if self.king_reach(self.king(state)) & ~(state[OWN] | state[DANGER]) != NONE:
            return True
        one, two, left, right = self.pawn_targets(state)
        if one | two | left | right != NONE:
            return True
        men = self.officers(state)
        while men != NONE:
            if self.officer_targets(state, men & (~men + ONE)) != NONE:
                return True
            men &= men - ONE
        return self.castling_targets(state) != NONE

    def officers(self, state):
        low, middle, high = state[LOW], state[MIDDLE], state[HIGH]
        return state[OWN] & (middle | high & low)

    def officer_targets(self, state, man):
        if state[HIGH] & man == NONE:
            targets = self.knights_reach(man) if state[PINNED] & man == NONE else NONE
        else:
            square, targets, occupied = WORD(trailing_zeros(man)), NONE, self.occupied(state)
            if state[MIDDLE] & man != NONE:
                targets |= self.rook_reach(square, occupied)
            if state[LOW] & man != NONE:
                targets |= self.bishop_reach(square, occupied)
            if state[PINNED] & man != NONE:
                king = WORD(trailing_zeros(self.king(state)))
                for number in range(4):
                    if self.line(king, number) & man != NONE:
                        targets &= self.line(king, number)
        return targets & state[ALLOWED] & ~state[OWN]

    def pawn_targets(self, state):
        occupied, free, allowed = self.occupied(state), ~state[PINNED], state[ALLOWED]
        pawns, other = state[OWN] & state[LOW] & ~state[HIGH], occupied ^ state[OWN]
        king = WORD(trailing_zeros(self.king(state)))
        one = (pawns & (free | self.line(king, FILE))) << EIGHT & ~occupied
        two = (one & RANK_3) << EIGHT & ~occupied & allowed
        left = (pawns & NOT_A & (free | self.line(king, ANTIDIAGONAL))) << SEVEN & other & allowed
        right = (pawns & NOT_H & (free | self.line(king, DIAGONAL))) << NINE & other & allowed
        if state[PASSANT] != NONE:
            target = state[PASSANT] & ~state[OWN]
            left |= (state[PASSANT] & pawns & NOT_A) << SEVEN & target
            right |= (state[PASSANT] & pawns & NOT_H) << NINE & target
        return one & allowed, two, left, right

    def king_targets(self, state):
        return self.king_reach(self.king(state)) & ~(state[OWN] | state[DANGER]) | self.castling_targets(state)

    def castling_targets(self, state):
        """The rooks with which to castle."""
        rooks, targets = state[CASTLING] & RANK_1, NONE
        if state[ALLOWED] != ALL:
            return NONE
        while rooks != NONE:
            king, rook, occupied = self.king(state), rooks & (~rooks + ONE), self.occupied(state)
            king_to, rook_to = KING_SIDE if rook > king else QUEEN_SIDE
            others = occupied ^ (king | rook)
            way = self.between(king, ONE << king_to)
            free = (way | self.between(rook, ONE << rook_to)) & others == NONE and way & state[DANGER] == NONE
            # in Chess960, the rook may shield the king's target
            attackers = others & ~state[OWN] & state[HIGH] & state[MIDDLE]
            if free and self.rook_reach(king_to, others | ONE << rook_to) & attackers & RANK_1 == NONE:
                targets |= rook
            rooks ^= rook
        return targets

    def between(self, one, other):
        low, high = (one, other) if one < other else (other, one)
        return (high - low) | high

    def list_from(self, man, targets, turned, moves, count):
        origin = trailing_zeros(man)
        while targets != NONE:
            moves[count] = (origin | trailing_zeros(targets) << 6) ^ turned
            targets &= targets - ONE
            count += 1
        return count

    def list_pawns(self, targets, step, turned, moves, count):
        """Write pawns' moves from `step` squares before the targets."""
        while targets != NONE:
            target = trailing_zeros(targets)
            move, promotion = (target - step | target << 6) ^ turned, 4 if target >= 56 else 0
            moves[count] = move | promotion << 12
            count += 1
            while promotion > 1:
                promotion -= 1
                moves[count] = move | promotion << 12
                count += 1
            targets &= targets - ONE
        return count

    def man_at(self, state, square):
        """A man's number for the player to move; 0 for none."""
        low, middle, high = state[LOW] >> square & ONE, state[MIDDLE] >> square & ONE, state[HIGH] >> square & ONE
        return low | middle << ONE | high << TWO

    def hash_of(self, state, man, square, owner):
        """A man's Zobrist key, as the player to move sees it."""
        return mix((man << EIGHT | owner << SEVEN | square ^ (state[PLY] & ONE) * UPSIDE_DOWN) + GAMMA)

    def put_on(self, state, square, man):
        bit = ONE << square
        state[OWN] |= bit
        state[LOW] |= (man & ONE) << square
        state[MIDDLE] |= (man >> ONE & ONE) << square
        state[HIGH] |= (man >> TWO) << square
        state[POSITION] ^= self.hash_of(state, man, square, state[PLY] & ONE)

    def take_off(self, state, square, man):
        owner = (state[PLY] ^ ~(state[OWN] >> square)) & ONE
        others = ~(ONE << square)
        state[OWN] &= others
        state[LOW] &= others
        state[MIDDLE] &= others
        state[HIGH] &= others
        state[POSITION] ^= self.hash_of(state, man, square, owner)

    def give_up_rights(self, state, squares, king_moves):
        """A rook that moves or is taken loses castling, a king's move both; en passant ends."""
        before = state[CASTLING]
        after = before & ~squares & (~RANK_1 if king_moves else ALL)
        if after != before:
            state[POSITION] ^= self.rights_hash(state, before) ^ self.rights_hash(state, after)
            state[CASTLING] = after
        if state[PASSANT] != NONE:
            state[POSITION] ^= self.rights_hash(state, state[PASSANT])
            state[PASSANT] = NONE

    def rights_hash(self, state, squares):
        return mix(~(reversed_bytes(squares) if state[PLY] & ONE else squares))

    def turn(self, state):
        """Pass the move, and turn the board upside down."""
        state[OWN] = reversed_bytes(self.occupied(state) ^ state[OWN])
        state[LOW], state[MIDDLE] = reversed_bytes(state[LOW]), reversed_bytes(state[MIDDLE])
        state[HIGH], state[CASTLING] = reversed_bytes(state[HIGH]), reversed_bytes(state[CASTLING])
        state[POSITION] ^= BLACKS_TURN
        state[PLY] += ONE

    def remember(self, state, clock):
        state[HISTORY + (clock & 1) * HALF + (clock >> 1)] = state[POSITION]
        state[PAST] ^= mix(state[POSITION] ^ WORD(clock))

    def forget(self, state, clock):
        for i in range(HISTORY, HISTORY + (clock >> 1) + 1):
            state[i] = state[i + HALF] = NONE
        state[CLOCK] = state[PAST] = NONE

    def times(self, state):
        """Occurrences of the position in the history."""
        clock, count = np.int64(state[CLOCK]), 0
        first = HISTORY + (clock & 1) * HALF
        for i in range(first, first + (clock >> 1)):
            count += state[i] == state[POSITION]
        return WORD(count)

    def find_passant(self, state, pawn):
        """Note the pawns that may take one that has just gone two squares."""
        takers = ((pawn & NOT_H) << ONE | (pawn & NOT_A) >> ONE) & state[OWN] & state[LOW] & ~state[HIGH]
        able = NONE
        while takers != NONE:
            taker = takers & (~takers + ONE)
            others = self.occupied(state) & ~state[OWN] & ~pawn
            after = self.occupied(state) ^ (taker | pawn | pawn << EIGHT)
            if self.attacks(state, others, after) & self.king(state) == NONE:
                able |= taker
            takers ^= taker
        if able != NONE:
            state[PASSANT] = able | pawn << EIGHT
            state[POSITION] ^= self.rights_hash(state, state[PASSANT])

    def set_up(self, state):
        """Complete a position written up to the clock, with a pawn just gone two squares in the word for en passant.
        Plain Python only."""
        pawn, state[PASSANT], state[POSITION] = state[PASSANT], NONE, NONE
        side = state[PLY] & ONE
        for square in map(WORD, range(64)):
            man = self.man_at(state, square)
            if man != NONE:
                owner = side if state[OWN] >> square & ONE else side ^ ONE
                state[POSITION] ^= self.hash_of(state, man, square, owner)
        state[POSITION] ^= self.rights_hash(state, state[CASTLING]) ^ (BLACKS_TURN if side else NONE)
        if pawn != NONE:
            self.find_passant(state, pawn)
        self.look(state)
        state[END] = self.end(state)

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        """A hash of the position, the clock and the history, but not of the move number."""
        return mix(state[POSITION] ^ state[PAST]) ^ state[CLOCK]

    def count_pawns(self, targets):
        """A promotion counts four times."""
        return popcount(targets) + 3 * popcount(targets & RANK_8)

    def count_moves(self, state):
        """Legal moves of the king, of pawns, and of all."""
        one, two, left, right = self.pawn_targets(state)
        of_king = popcount(self.king_targets(state))
        of_pawns = self.count_pawns(one) + popcount(two) + self.count_pawns(left) + self.count_pawns(right)
        men, total = self.officers(state), of_king + of_pawns
        while men != NONE:
            total += popcount(self.officer_targets(state, men & (~men + ONE)))
            men &= men - ONE
        return of_king, of_pawns, total

    def random_move(self, state, moves, rng):
        turned, king = UPSIDE_DOWN_MOVE * self.player(state), self.king(state)
        of_king, of_pawns, total = self.count_moves(state)
        n = random_below(rng, total)
        if n < of_king:
            man, targets = king, self.king_targets(state)
        elif n < of_king + of_pawns:
            return self.pawn_move(state, n - of_king) ^ turned
        else:
            n -= of_king + of_pawns
            men, man, targets, count = self.officers(state), NONE, NONE, 0
            while n >= count:
                n -= count
                man = men & (~men + ONE)
                men ^= man
                targets = self.officer_targets(state, man)
                count = popcount(targets)
        return (trailing_zeros(man) | trailing_zeros(nth_bit(targets, n)) << 6) ^ turned

    def pawn_move(self, state, n):
        """The n-th move of a pawn, as the player sees it."""
        one, two, left, right = self.pawn_targets(state)
        beyond_one = self.count_pawns(one)
        beyond_two = beyond_one + popcount(two)
        beyond_left = beyond_two + self.count_pawns(left)
        step, targets, first = 8, one, 0
        if n >= beyond_left:
            step, targets, first = 9, right, beyond_left
        elif n >= beyond_two:
            step, targets, first = 7, left, beyond_two
        elif n >= beyond_one:
            step, targets, first = 16, two, beyond_one
        n -= first
        plain, promotion = popcount(targets & ~RANK_8), 0
        if n >= plain:
            targets &= RANK_8
            n, promotion = (n - plain) >> 2, (n - plain & 3) + 1
        target = trailing_zeros(nth_bit(targets, n))
        return target - step | target << 6 | promotion << 12
