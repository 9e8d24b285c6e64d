"""Breakthrough (Dan Troyka, 2000) and its kin: pieces that never turn back race to the last row.

Breakthrough: a pawn moves one square ahead, straight or diagonally, and captures diagonally only.  White starts on the
two lowest rows and moves up.  A player who reaches the last row, or takes the last pawn, wins, or loses a misere game.

Knightthrough: knights make the forward half of a chess knight's moves, and take likewise (Cazenave, "Playout policy
adaptation for games", 2015).  Sources differ: Ludii starts with one row each, a GDL description captures as pawns do.

A player always has a move: the piece furthest ahead has none of its own side before it, and a knight has a forward move
on every board of 4 columns or more.

    squares of 3 rows      3  8  9 10 11     a square is named by row and column, a move by two squares: `2a3a`;
    and 4 columns          2  4  5  6  7     a move is 64 * origin + target
                           1  0  1  2  3
                              a  b  c  d
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from arena.games.core.boards.board import BitBoard, draw_sets, square_name, squares, turns
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game, check_range
from arena.games.core.jit.parts import part
from arena.games.core.lanes.lanes import choose, narrowest
from arena.games.core.numbers.bits import ONE, WORD, ZERO, image_of, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below


def _sets_of(squares, count):
    """uint64[n]: subsets of the squares with `count` members."""
    ones = [1 << square for square in range(64) if int(squares) >> square & 1]
    return np.array([sum(chosen) for chosen in combinations(ones, count)], WORD)


@part
def counted(sets):
    """Squares in at least one, two and three of the sets."""
    once = twice = thrice = ZERO
    for each in sets:
        thrice |= twice & each
        twice |= once & each
        once |= each
    return once, twice, thrice


@part
def is_single(squares):
    """Whether a set that is not empty has one square."""
    return squares & (squares - ONE) == ZERO


@dataclass(frozen=True)
class Breakthrough(BitBoard, Game):
    """state: uint64[3] = White's pawns, Black's pawns, player to move."""

    rows: int = 8
    columns: int = 8

    name = "breakthrough"
    rules = (
        "Reach the last row, or take all enemies, to win. W moves up and B down, one square straight or diagonally "
        "ahead, and takes only diagonally. A move is two squares, row first: `2b3a`."
    )
    board_look = Look("checkered", {"W": "white pawn", "B": "black pawn"})
    has_draws = False
    term_weights = {"pawns": 3.0, "rows": 1.0}
    sizes = "rows 4 to 32, columns 2 to 16, up to 64 squares"
    colour_exchange = "turn"
    state_size = 3
    quick_keys = True
    lane_registers = 2, 4
    move_limit = 64 * 64
    symmetries = 2
    soonest_win = 3
    soonest_loss = 4
    prize = 1.0  # of the player who ends the game
    ranges = {"rows": (4, 32), "columns": (2, 16), "rows * columns": (1, 64)}

    @property
    def max_moves(self):
        return 3 * 2 * self.columns

    @property
    def max_plies(self):
        """Each move takes a pawn a row ahead, and a pawn has rows - 2 moves beyond its second row."""
        return 2 * self.columns * (2 * self.rows - 3)

    @cached_property
    def first_column(self):
        return squares(range(0, self.rows * self.columns, self.columns))

    @cached_property
    def inner_left(self):
        return self.board & ~self.first_column

    @cached_property
    def lowest_row(self):
        return squares(range(self.columns))

    @cached_property
    def highest_row(self):
        return self.lowest_row << WORD((self.rows - 1) * self.columns)

    def start(self, state):
        state[0] = self.lowest_row | self.lowest_row << WORD(self.columns)
        state[1] = self.highest_row | self.highest_row >> WORD(self.columns)
        state[2] = 0

    def player(self, state):
        return np.int64(state[2])

    def legal_moves(self, state, moves):
        side = state[2]
        ahead, left, right = self.targets(state[side], state[ONE - side], side == ZERO)
        step = self.columns if side == ZERO else -self.columns
        count = list_bits(ahead, moves, 0, 65, -64 * step)
        count = list_bits(left, moves, count, 65, -64 * (step - 1))
        return list_bits(right, moves, count, 65, -64 * (step + 1))

    def play(self, state, move):
        side = state[2]
        origin, target = ONE << WORD(move >> 6), ONE << WORD(move & 63)
        state[side] ^= origin | target
        state[ONE - side] &= ~target
        state[2] = ONE - side

    def is_over(self, state):
        return (
            state[0] & self.highest_row != ZERO
            or state[1] & self.lowest_row != ZERO
            or state[0] == ZERO
            or state[1] == ZERO
        )

    def score(self, state):
        return self.prize if state[2] == ONE else -self.prize

    def move_name(self, state, move):
        return square_name(move >> 6, self.columns) + square_name(move & 63, self.columns)

    def render(self, state):
        return draw_sets(reversed(range(self.rows)), self.columns, {"W": state[0], "B": state[1]})

    def targets(self, own, other, white):
        """Targets ahead, to the left and to the right, as sets."""
        step = WORD(self.columns)
        if white:
            ahead, left, right = (own << step, (own & self.inner_left) << step - ONE, (own & self.left) << step + ONE)
        else:
            ahead, left, right = (own >> step, (own & self.inner_left) >> step + ONE, (own & self.left) >> step - ONE)
        free = self.board & ~own
        return ahead & free & ~other, left & free, right & free

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def images(self):
        return turns(self.rows, self.columns, self.symmetries)

    def transform(self, state, symmetry, target):
        for side in range(2):
            target[side] = image_of(state[side], self.images, symmetry)
        target[2] = state[2]

    def transform_move(self, move, symmetry):
        return self.images[symmetry, move >> 6] << 6 | self.images[symmetry, move & 63]

    def random_move(self, state, moves, rng):
        side = state[2]
        target, step = self.random_target(state[side], state[ONE - side], side == ZERO, rng)
        square = trailing_zeros(target)
        return (square - np.int64(step) if side == ZERO else square + np.int64(step)) << 6 | square

    def random_target(self, own, other, white, rng):
        """A uniformly random move: its target as a set, and its distance in squares, up or down; also on lanes.

        Without branches, half of which a processor would guess wrong.
        """
        ahead, left, right = self.targets(own, other, white)
        n_ahead, n_left, n_right = popcount(ahead), popcount(left), popcount(right)
        choice, row = random_below(rng, n_ahead + n_left + n_right), WORD(self.columns)
        beyond_ahead, beyond_left = choice >= n_ahead, choice >= n_ahead + n_left
        targets = choose(beyond_left, right, choose(beyond_ahead, left, ahead))
        choice -= choose(beyond_left, n_ahead + n_left, choose(beyond_ahead, n_ahead, 0))
        to_left, to_right = (row - ONE, row + ONE) if white else (row + ONE, row - ONE)
        return nth_bit(targets, choice), choose(beyond_left, to_right, choose(beyond_ahead, to_left, row))

    def random_playout(self, state, moves, rng):
        white = state[2] == ZERO
        own, other = (state[0], state[1]) if white else (state[1], state[0])
        over, plies = self.is_over(state), 0
        while not over:
            target, step = self.random_target(own, other, white, rng)
            origin = target >> step if white else target << step
            own, other = other & ~target, own ^ (origin | target)
            over = target & (self.highest_row if white else self.lowest_row) != ZERO or own == ZERO
            white = not white
            plies += 1
        return (-self.prize if white else self.prize), plies

    @property
    def lane_bits(self):
        return narrowest(self.rows * self.columns)

    def lane_start(self, state, zero):
        return zero + state[0], zero + state[1], zero + state[2]

    def lane_step(self, words, rng):
        """A move of each side; where Black begins, White first waits."""
        white, black, begins = words
        waits, prize = begins != 0, np.int64(self.prize)
        moved = self.lane_move(white, black, True, rng)
        white, black = choose(waits, white, moved[0]), choose(waits, black, moved[1])
        won = ~waits & moved[2]
        black, white, lost = self.lane_move(black, white, False, rng)
        plies = choose(won | waits, 1, 2)
        return (white, black, begins ^ begins), plies, won | lost, choose(won, prize, -prize)

    def lane_move(self, own, other, white, rng):
        """(own pieces, the other's, whether the move ends the game)."""
        target, step = self.random_target(own, other, white, rng)
        origin = target >> step if white else target << step
        other &= ~target
        over = (target & (self.highest_row if white else self.lowest_row) != 0) | (other == 0)
        return own ^ (origin | target), other, over

    # -- For strength ------------------------------------------------------------------------------------------

    # Patterns of A. Saffidine, N. Jouandeau and T. Cazenave, "Solving Breakthrough with race patterns and job-level
    # proof number search", Advances in Computer Games 13 (2011)
    def foreseen(self, state):
        """A piece about to arrive, two of the other side, exchanges before the goal, and runners."""
        side = np.int64(state[2])
        own, other = state[side], state[1 - side]
        near, strikes = self.near_goal(side), self.strikes(own, side == 0)
        struck = counted(strikes)[0]
        if own & near != ZERO or (other & struck != ZERO and is_single(other)):
            return 1, True
        threats = other & self.near_goal(1 - side)
        reached = counted(self.targets(own, other, side == 0))
        guarded = counted(self.strikes(other, side == 1))
        answers = threats & struck if threats != ZERO else reached[0]
        if answers == ZERO or not (threats == ZERO or is_single(threats)):
            return -2, True
        if is_single(own) and answers & ~guarded[0] == ZERO:
            return -2, True
        if threats != ZERO:
            return 0, True
        for i in range(3):  # in the order of exchanges, until the goal is unguarded
            if reached[i] & near & ~guarded[i] != ZERO:
                return 3 + 2 * i, i == 0
        return self.race(own, other, side), False

    def near_goal(self, side):
        return self.rows_to_go(side, 1)

    def rows_to_go(self, side, count):
        """The row from which a side has `count` rows to go."""
        return self.lowest_row << WORD((self.rows - 1 - count if side == 0 else count) * self.columns)

    def strikes(self, own, white):
        """Squares that pieces can take on, a set for each direction."""
        step, left, right = WORD(self.columns), own & self.inner_left, own & self.left
        if white:
            return left << step - ONE, right << step + ONE
        return left >> step + ONE, right >> step - ONE

    def race(self, own, other, side):
        """The plies to a win by an unstoppable straight pawn, negative to a loss; or 0.

        No pawn may be within one row of its goal.
        """
        mine = theirs = 2
        while own & self.rows_to_go(side, mine) == ZERO:
            mine += 1
        while other & self.rows_to_go(1 - side, theirs) == ZERO:
            theirs += 1
        for left in range(mine, min(theirs, self.rows - 2) + 1):
            if self.has_runner(own, other, side, left, 0):
                return 2 * left - 1
        for left in range(theirs, min(mine, self.rows - 1)):
            if self.has_runner(other, own, 1 - side, left, 1):
                return -2 * left
        return 0

    def has_runner(self, own, other, side, left, late):
        """Whether an unstoppable pawn has `left` rows to go; late: 1 if the other side is to move, else 0."""
        pawns = own & self.rows_to_go(side, left)
        while pawns != ZERO:
            square = trailing_zeros(pawns)
            pawns &= pawns - ONE
            if other & self.stoppers[side, late, square] == ZERO and own & self.stoppers[side, 2, square] == ZERO:
                return True
        return False

    @cached_property
    def stoppers(self):
        """uint64[2, 3, 64]: by side and square of a pawn, the squares from which a pawn of the other side can stop it,
        if the first is to move and if not; and those ahead in its column."""
        found = np.zeros((2, 3, 64), WORD)
        for side, square, other in product(range(2), range(self.rows * self.columns), range(self.rows * self.columns)):
            ahead = (other // self.columns - square // self.columns) * (1 if side == 0 else -1)
            beside = abs(other % self.columns - square % self.columns)
            if ahead > 0:
                # they close in by two rows in two plies, the stopper by one column
                for i, reach in enumerate((ahead // 2, (ahead + 1) // 2, 0)):
                    found[side, i, square] |= WORD((beside <= reach) << other)
        return found

    def sound_moves(self, state, moves):
        """Wins at once only; or, against such a threat, captures only."""
        side = np.int64(state[2])
        own, other = state[side], state[1 - side]
        count, ready = self.legal_moves(state, moves), own & self.near_goal(side)
        threats = other & self.near_goal(1 - side)
        if ready != ZERO:
            wanted = self.highest_row if side == 0 else self.lowest_row
        elif threats != ZERO and threats & counted(self.strikes(own, side == 0))[0] != ZERO:
            wanted = threats
        else:
            return count
        kept = 0
        for i in range(count):
            if wanted >> WORD(moves[i] & 63) & ONE != ZERO:
                moves[kept] = moves[i]
                kept += 1
        return kept

    def planes(self, state):
        return state[0], state[1]

    @cached_property
    def grid(self):
        return np.arange(self.rows * self.columns).reshape(self.rows, self.columns)

    def evaluate(self, state):
        """Each pawn counts 3 and a third of the square of its advance; the difference over the sum."""
        white, black = self.weights(state, 3.0, 1.0)
        return (white - black) / (white + black)

    def counts(self, state, side):
        rows = 0
        for row in range(self.rows):
            advance = row if side == 0 else self.rows - 1 - row
            rows += advance * popcount(state[side] & self.lowest_row << WORD(row * self.columns))
        return popcount(state[side]), rows

    def evaluate_material(self, state):
        """The difference of pawns over their sum."""
        white, black = self.weights(state, 1.0, 0.0)
        return (white - black) / (white + black)

    def evaluate_advance(self, state):
        """The square of each pawn's advance; the difference over the sum and 1."""
        white, black = self.weights(state, 0.0, 3.0)
        return (white - black) / (white + black + 1.0)

    def moves_in_hand(self, state):
        """The rows ahead of each pawn; the difference over the sum and 1."""
        white = black = 0.0
        for row in range(self.rows):
            ranks = self.lowest_row << WORD(row * self.columns)
            white += popcount(state[0] & ranks) * (self.rows - 1 - row)
            black += popcount(state[1] & ranks) * row
        return (white - black) / (white + black + 1.0)

    def weights(self, state, material, advance):
        """Both sides' pawns, each as material + advance / 3 * (rows advanced) ** 2."""
        white = black = 0.0
        for row in range(self.rows):
            ranks = self.lowest_row << WORD(row * self.columns)
            ahead, behind = row, self.rows - 1 - row
            white += popcount(state[0] & ranks) * (material + advance * ahead * ahead / 3.0)
            black += popcount(state[1] & ranks) * (material + advance * behind * behind / 3.0)
        return white, black

    def captures(self, state, move):
        return np.int64(state[ONE - state[2]] >> WORD(move & 63) & ONE)

    def is_unstable(self, state, move):
        return self.captures(state, move) == 1

    def move_order(self, state, move):
        """Captures, then the pieces furthest ahead; reversed in a misere game."""
        row = (move & 63) // self.columns
        ahead = row if state[2] == ZERO else self.rows - 1 - row
        won = self.rows if ahead == self.rows - 1 else 0
        rank = ahead + won + self.rows * self.captures(state, move)
        return rank if self.prize > 0.0 else -rank

    def move_code(self, state, move):
        """Origin and target, which tell the players apart: White moves up."""
        return np.int64(move)

    @property
    def code_limit(self):
        return self.move_limit

    def feature_code(self, state, move):
        """The move's code with a bit for captures (Cazenave, "Playout policy adaptation with move features", 2016)."""
        return np.int64(move) << 1 | self.captures(state, move)

    def endgames(self, pieces):
        check_range("pieces", pieces, 2, 4 * self.columns)
        allowed = self.board & ~self.highest_row, self.board & ~self.lowest_row
        sets = [[_sets_of(squares, count) for count in range(pieces)] for squares in allowed]
        found = []
        for white in range(1, pieces):
            for black in range(1, pieces - white + 1):
                first, second = np.meshgrid(sets[0][white], sets[1][black], indexing="ij")
                apart = first & second == ZERO
                for side in range(2):
                    found.append(np.column_stack([first[apart], second[apart], np.full(apart.sum(), side, WORD)]))
        return np.concatenate(found)


@dataclass(frozen=True)
class MisereBreakthrough(Breakthrough):
    """Breakthrough whose winner loses; the state is Breakthrough's.  No pattern of the race holds here."""

    name = "misere_breakthrough"
    rules = (
        "A player who reaches the last row, or takes all enemies, loses. W moves up and B down, one square straight "
        "or diagonally ahead, and takes only diagonally. A move is two squares, row first: `2b3a`."
    )
    soonest_win = 2
    soonest_loss = 1
    symmetries, colour_exchange = Breakthrough.symmetries, Breakthrough.colour_exchange
    prize = -1.0

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Moves in hand: whoever runs out of them must reach the last row."""
        return self.moves_in_hand(state)


@dataclass(frozen=True)
class Knightthrough(Breakthrough):
    """Breakthrough with knights; the state is Breakthrough's."""

    name = "knightthrough"
    rules = (
        "Reach the last row, or take all enemies, to win. All pieces are knights that move and take as in chess, but "
        "only ahead: W up and B down. A move is two squares, row first: `1b3a`."
    )
    board_look = Look("checkered", {"W": "white knight", "B": "black knight"})
    sizes = "rows 5 to 16, columns 4 to 12, up to 64 squares"
    status = "counted"
    # these know the rules by `targets`, `strikes`, `near_goal` and `race` alone
    foreseen, sound_moves = Breakthrough.foreseen, Breakthrough.sound_moves
    soonest_win, soonest_loss = Breakthrough.soonest_win, Breakthrough.soonest_loss
    symmetries, colour_exchange = Breakthrough.symmetries, Breakthrough.colour_exchange
    random_move, random_playout = Breakthrough.random_move, Breakthrough.random_playout
    lane_step = Breakthrough.lane_step
    ranges = {"rows": (5, 16), "columns": (4, 12)}  # on 4 rows the first move wins

    @property
    def max_moves(self):
        return 4 * 2 * self.columns

    @cached_property
    def outer_left(self):
        return self.inner_left & ~(self.first_column << ONE)

    @cached_property
    def outer_right(self):
        return self.left & ~(self.first_column << WORD(self.columns - 2))

    def legal_moves(self, state, moves):
        white = state[2] == ZERO
        own, other = (state[0], state[1]) if white else (state[1], state[0])
        targets, steps, sign, count = self.targets(own, other, white), self.steps(white), 1 if white else -1, 0
        for i in range(4):
            count = list_bits(targets[i], moves, count, 65, -64 * sign * np.int64(steps[i]))
        return count

    def steps(self, white):
        """The distances in squares of moves to each of `targets`, up or down."""
        row, two = WORD(self.columns), WORD(2)
        if white:
            return two * row - ONE, two * row + ONE, row - two, row + two
        return two * row + ONE, two * row - ONE, row + two, row - two

    def strikes(self, own, white):
        """Two rows ahead to the left and right, one row ahead likewise; beyond the last row, too."""
        by_left, by_right, by_far_left, by_far_right = self.steps(white)
        near_left, near_right = own & self.inner_left, own & self.left
        far_left, far_right = own & self.outer_left, own & self.outer_right
        if white:
            left, right = near_left << by_left, near_right << by_right
            far_left, far_right = far_left << by_far_left, far_right << by_far_right
        else:
            left, right = near_left >> by_left, near_right >> by_right
            far_left, far_right = far_left >> by_far_left, far_right >> by_far_right
        return left, right, far_left, far_right

    def targets(self, own, other, white):
        left, right, far_left, far_right = self.strikes(own, white)
        free = self.board & ~own
        return left & free, right & free, far_left & free, far_right & free

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_target(self, own, other, white, rng):
        """A random move, as in Breakthrough: first a half of the sets of targets is drawn, then one of the two."""
        left, right, far_left, far_right = self.targets(own, other, white)
        by_left, by_right, by_far_left, by_far_right = self.steps(white)
        n_left, n_far_left = popcount(left), popcount(far_left)
        n_near = n_left + popcount(right)
        choice = random_below(rng, n_near + n_far_left + popcount(far_right))
        far = choice >= n_near
        choice -= choose(far, n_near, 0)
        n_first = choose(far, n_far_left, n_left)
        second = choice >= n_first
        choice -= choose(second, n_first, 0)
        if_left, if_right = choose(far, far_left, left), choose(far, far_right, right)
        step_left, step_right = choose(far, by_far_left, by_left), choose(far, by_far_right, by_right)
        return nth_bit(choose(second, if_right, if_left), choice), choose(second, step_right, step_left)

    # -- For strength ------------------------------------------------------------------------------------------

    def near_goal(self, side):
        return self.rows_to_go(side, 1) | self.rows_to_go(side, 2)

    def race(self, own, other, side):
        """No pattern of runners is known for knights."""
        return 0


@dataclass(frozen=True)
class MisereKnightthrough(Knightthrough):
    """Knightthrough whose winner loses; the state is Breakthrough's."""

    name = "misere_knightthrough"
    rules = (
        "A player who reaches the last row, or takes all enemies, loses. All pieces are knights that move and take as "
        "in chess, but only ahead: W up and B down. A move is two squares, row first: `1b3a`."
    )
    soonest_win = 2
    soonest_loss = 1
    symmetries, colour_exchange = Breakthrough.symmetries, Breakthrough.colour_exchange
    prize = -1.0
    evaluate = MisereBreakthrough.evaluate
