"""Backgammon: two players race 15 checkers each around the board with two dice, and hit single checkers on the way.

Each player counts the points from 24 to 1 as their own checkers go, so that one's point p is the other's 25 - p.
Checkers that are hit wait on the bar, one's point 25, and must enter before any other moves.  When all are on points 1
to 6 they are borne off: from the point that a die shows, or from the highest one below it if there is none above.  Both
dice are played if that is possible, four steps after a double, and as many as can be; if only one of two dice can be
played, the larger one if possible.  The player who has borne off all checkers scores 1; 2, a gammon, if the other has
borne off none; 3, a backgammon, if moreover the other has a checker on the bar or on the winner's points 1 to 6.  There
is no doubling cube.  The first player has won the opening roll, which is no double.  Rules: the Backgammon Rules of the
US Backgammon Federation; R. Jacoby and J. R. Crawford, "The Backgammon Book" (1970).

Nothing forces the game to end, so it is a draw after `horizon` rolls.

A move is a whole play, up to four steps.  So each roll is followed by one move, chance and the players take turns as
searches expect, and a position comes up once among the children of a node; step by step, each order of the steps would
be a line of its own, and what must be played would depend on the steps before.  A play is given by the points that its
steps leave, 0 for a step that is not made.  If one checker moves twice, the point in between says which die it used
first:

    two dice    26 * (point that the larger die moves from) + (point that the smaller one moves from)
    a double    the number of the four points, in descending order, among all such; see `origins`

Its name lists the steps, an asterisk for a hit: `24/18,13/11`, `bar/20*,6/4`, `6/off(2)`.  A roll is named `31`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import comb

import numpy as np

from arena.games.core.boards.drawing import CELL, LINE, PIECES, Drawing, Look, paper, text_line
from arena.games.core.game import CHANCE, Game, IllegalMove
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, popcount, reversed_bits, trailing_zeros
from arena.games.core.random import random_below

HALF = WORD(32)
LOW = WORD((1 << 32) - 1)
OFF, BAR = ONE, ONE << WORD(25)
POINTS = WORD((1 << 25) - 2)  # 1 to 24
HOME = WORD((1 << 7) - 2)  # 1 to 6
OUTSIDE = BAR | POINTS & ~HOME
TURN = 4  # of a state: whose turn, the roll and the number of rolls so far
ROLL, ROLLS = 1, 8  # their first bits
CHECKERS = 15
TWO_DICE = 26 * 26
# the rolls, larger die first: 15 of two numbers, then 6 doubles
DICE = np.array([(big, small) for big in range(2, 7) for small in range(1, big)] + [(n, n) for n in range(1, 7)])
DOUBLES, N_ROLLS = 15, 21
ROLL_OF = np.array([DICE.tolist().index(sorted(dice, reverse=True)) for dice in product(range(1, 7), repeat=2)])
START = {6: 5, 8: 3, 13: 5, 24: 2}  # checkers by point
PLACES = tuple(WORD(sum(1 << point for point in range(1, 26) if point >> i & 1)) for i in range(5))
SHARE = 0.25  # of a blot's pips, in the evaluation
WIDTH, HEIGHT, SPIKE = 13 * CELL, 11 * CELL, 4.5 * CELL  # of the drawn board, and the height of a point on it
TRAY = WIDTH + 8  # where it begins, right of the board
COLOURS = ("black", "white")
PIPS = ("4", "08", "048", "0268", "02468", "023568")  # of each face of a die, among 3 x 3 places
COLUMNS = {point: column + (column > 5) for column in range(12) for point in (12 - column, 13 + column)}
STEP = re.compile(r"(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?")


@dataclass(frozen=True)
class Backgammon(Game):
    """state: uint64[5] = two words for each player, and the turn.

    A player's words are four planes of 32 bits: bit p of the plane i is bit i of the number of checkers on point p,
    from 0 (borne off) to 25 (the bar).  The turn: whose it is, from bit 1 the number of the roll and 1 (0: to be
    rolled), and from bit 8 the number of rolls so far.

    horizon: rolls after which the game is a draw
    """

    horizon: int = 5000

    name = "backgammon"
    rules = (
        "The first to bear off all 15 checkers wins. X (black) goes from 24, upper right, round to 1, lower right; "
        "O (white) goes the other way, its point p shown as 25 - p. A move lists all steps of the dice, `8/2,6/2`, "
        "with * for a hit."
    )
    sides = ("X", "O")
    board_look = Look(pieces=PIECES)
    spot_height = SPIKE
    term_weights = {"pips": -1.0, "blots": -SHARE}
    term_scale = 50.0
    summed = ""
    sizes = "horizon 1 to 100000"
    state_size = 5
    has_chance = True
    arrays = {"origins": np.int8}
    move_limit = comb(29, 4)
    code_limit = 2 * (DOUBLES * TWO_DICE + (N_ROLLS - DOUBLES) * move_limit)
    ranges = {"horizon": (1, 100_000)}

    @property
    def max_moves(self):
        """A bound: four steps shared among one to four points."""
        k = CHECKERS
        return k + k * k + comb(k + 1, 2) + k * comb(k + 1, 2) + comb(k + 3, 4)

    @property
    def max_plies(self):
        return 2 * self.horizon

    @cached_property
    def origins(self):
        """int8[4 * move_limit]: the points that the steps of a double leave, four a play, in descending order."""
        found = np.zeros((self.move_limit, 4), np.int8)
        for points in combinations_with_replacement(range(25, -1, -1), 4):
            found[self.rank(*points)] = points
        return found.ravel()

    @cached_property
    def ways(self):
        """ways[k, n]: multisets of k points below n."""
        return np.array([[comb(n + k - 1, k) if n else 0 for n in range(27)] for k in range(5)])

    def start(self, state):
        state[:] = 0
        for side in range(2):
            for i in range(4):
                plane = sum((count >> i & 1) << point for point, count in START.items())
                state[2 * side + i // 2] |= WORD(plane << 32 * (i % 2))

    def player(self, state):
        return np.int64(CHANCE) if self.roll(state) < 0 else self.side(state)

    def legal_moves(self, state, moves):
        roll = self.roll(state)
        if roll < 0:
            for i in range(self.outcomes(state)):
                moves[i] = i
            return self.outcomes(state)
        side = self.side(state)
        planes, open = self.planes_of(state, side), self.open(state, side)
        if roll >= DOUBLES:
            count = self.list_double(planes, open, np.int64(DICE[roll, 0]), moves)
        else:
            blots = self.mirrored(self.single(self.planes_of(state, 1 - side)))
            count = self.list_two(planes, open, blots, roll, moves)
        if count == 0:
            moves[0] = 0
            count = 1
        return count

    def play(self, state, move):
        roll, side = self.roll(state), self.side(state)
        if roll < 0:
            state[TURN] += WORD(move + 1) << WORD(ROLL) | ONE << WORD(ROLLS)
            return
        ours, theirs = self.planes_of(state, side), self.planes_of(state, 1 - side)
        for i in range(4 if roll >= DOUBLES else 2):
            point = self.origin(move, roll, i)
            if point > 0:
                origin = ONE << WORD(point)
                target = self.landing(origin, DICE[roll, i & 1])
                ours = self.moved(ours, origin, target)
                hit = self.mirrored(target) & self.single(theirs)
                if hit != ZERO:
                    theirs = self.moved(theirs, hit, BAR)
        self.keep(state, side, ours)
        self.keep(state, 1 - side, theirs)
        state[TURN] = state[TURN] >> WORD(ROLLS) << WORD(ROLLS) | WORD(1 - side)

    def is_over(self, state):
        if self.roll(state) >= 0:
            return False
        return self.is_off(state, 0) or self.is_off(state, 1) or state[TURN] >> WORD(ROLLS) >= WORD(self.horizon)

    def score(self, state):
        """1, 2 for a gammon, 3 for a backgammon; 0 after the horizon."""
        if not (self.is_off(state, 0) or self.is_off(state, 1)):
            return 0.0
        loser = 1 if self.is_off(state, 0) else 0
        on = self.on(self.planes_of(state, loser))
        points = 1.0
        if on & OFF == ZERO:
            points = 3.0 if on & (BAR | POINTS & ~(POINTS >> WORD(6))) != ZERO else 2.0
        return points if loser == 1 else -points

    def move_name(self, state, move):
        if self.roll(state) < 0:
            return "".join(map(str, DICE[move]))
        blots = int(self.mirrored(self.single(self.planes_of(state, 1 - self.side(state)))))
        steps = self.steps(state, move)
        words = []
        for step in dict.fromkeys(steps):
            origin, target = ("bar" if step[0] == 25 else str(step[0])), str(step[1] or "off")
            hit, times = "*" if blots >> step[1] & 1 else "", steps.count(step)
            words.append(f"{origin}/{target}{hit}" + (f"({times})" if times > 1 else ""))
        return ",".join(words) or "pass"

    def render(self, state):
        """The board as the first player, X, counts; the bar and checkers off are below."""
        counts = [self.checkers(state, side) for side in (0, 1)]

        def cell(point):
            ours, theirs = counts[0][point], counts[1][25 - point]
            return f"{'X' if ours else 'O'}{ours or theirs}" if ours or theirs else "."

        def row(points, show):
            words = [f"{show(point):>3}" for point in points]
            return " ".join(words[:6]) + " |" + " ".join(words[6:])

        upper, lower = range(13, 25), range(12, 0, -1)
        lines = [row(upper, str), row(upper, cell), "", row(lower, cell), row(lower, str)]
        for side, mark in enumerate("XO"):
            of, pips = counts[side], self.pips(self.planes_of(state, side))
            turn = ""
            if side == self.side(state) and not self.is_over(state):
                turn = f", to play {self.roll_name(state)}" if self.roll(state) >= 0 else ", to roll"
            lines.append(f"{mark}: bar {of[25]}, off {of[0]}, {pips} pips{turn}")
        return "\n".join(lines)

    def chance(self, state, moves, probabilities):
        count = self.legal_moves(state, moves)
        for i in range(count):
            probabilities[i] = 1.0 / 15.0 if count == DOUBLES else (1.0 / 18.0 if i < DOUBLES else 1.0 / 36.0)
        return count

    def random_outcome(self, state, rng):
        if self.outcomes(state) == DOUBLES:
            return random_below(rng, DOUBLES)
        return np.int64(ROLL_OF[random_below(rng, 36)])

    def rank(self, first, second, third, fourth):
        return self.ways[4, first] + self.ways[3, second] + self.ways[2, third] + fourth

    def planes_of(self, state, side):
        low, high = state[2 * side], state[2 * side + 1]
        return low & LOW, low >> HALF, high & LOW, high >> HALF

    def keep(self, state, side, planes):
        state[2 * side], state[2 * side + 1] = planes[0] | planes[1] << HALF, planes[2] | planes[3] << HALF

    def moved(self, planes, origin, target):
        """The planes after a checker moves between points, each a set of one."""
        c0, c1, c2, c3 = planes
        borrow = origin & ~c0
        c0, c1, c2, c3, borrow = c0 ^ origin, c1 ^ borrow, c2, c3, borrow & ~c1
        c2, c3 = c2 ^ borrow, c3 ^ (borrow & ~c2)
        carry = target & c0
        c0, c1, c2, c3, carry = c0 ^ target, c1 ^ carry, c2, c3, carry & c1
        return c0, c1, c2 ^ carry, c3 ^ (carry & c2)

    def on(self, planes):
        return planes[0] | planes[1] | planes[2] | planes[3]

    def single(self, planes):
        return planes[0] & ~(planes[1] | planes[2] | planes[3])

    def mirrored(self, points):
        return reversed_bits(points) >> WORD(38) & POINTS

    def open(self, state, side):
        theirs = self.planes_of(state, 1 - side)
        return POINTS & ~self.mirrored(theirs[1] | theirs[2] | theirs[3])

    def sources(self, on, open, die):
        """The points that a checker can leave by a die."""
        movable = open << WORD(die)
        if on & BAR != ZERO:
            return movable & BAR
        movable &= on
        if on & OUTSIDE == ZERO:
            exact = ONE << WORD(die)
            movable |= on & exact
            below = on & (exact - ONE) & HOME
            if on & HOME == below:
                below |= below >> ONE
                below |= below >> WORD(2)
                below |= below >> WORD(4)
                movable |= below ^ below >> ONE  # the highest
        return movable

    def after_step(self, on, single, origin, die):
        return on & ~(origin & single) | origin >> WORD(die) & POINTS

    def side(self, state):
        return np.int64(state[TURN] & ONE)

    def roll(self, state):
        """The number of the roll to be played; -1 before the roll."""
        return np.int64(state[TURN] >> WORD(ROLL) & WORD(31)) - 1

    def outcomes(self, state):
        """The first roll is no double."""
        return DOUBLES if state[TURN] >> WORD(ROLLS) == ZERO else N_ROLLS

    def list_two(self, planes, open, blots, roll, moves):
        """Write one play of two dice for each position reached; return their number.

        Plays that can begin with the larger die come first.
        """
        big, small, on, single, count = DICE[roll, 0], DICE[roll, 1], self.on(planes), self.single(planes), 0
        by_big, by_small = self.sources(on, open, big), self.sources(on, open, small)
        twice = self.alike(on, single, open, blots, roll)
        left = by_big
        while left != ZERO:
            origin = left & (~left + ONE)
            left ^= origin
            follow = self.sources(self.after_step(on, single, origin, big), open, small)
            follow &= ~(origin << WORD(small) & twice)
            count = list_bits(follow, moves, count, 1, 26 * trailing_zeros(origin))
        left = by_small
        while left != ZERO:
            second = left & (~left + ONE)
            left ^= second
            follow = self.sources(self.after_step(on, single, second, small), open, big)
            follow &= ~(second >> WORD(small)) if second & twice != ZERO else ~ZERO
            while follow != ZERO:
                origin = follow & (~follow + ONE)
                follow ^= origin
                if not self.begins_with(origin, second, on, single, open, roll):
                    moves[count] = 26 * trailing_zeros(origin) + trailing_zeros(second)
                    count += 1
        if count == 0 and by_big != ZERO:
            return list_bits(by_big, moves, 0, 26, 0)
        return list_bits(by_small, moves, 0, 1, 0) if count == 0 else count

    def begins_with(self, origin, second, on, single, open, roll):
        """Whether a play, or one that bears off the same checkers, can also begin with the larger die."""
        big, small = DICE[roll, 0], DICE[roll, 1]
        both_off = origin >> WORD(big) | second >> WORD(small)
        if both_off & (POINTS | BAR) == ZERO and origin < second:
            return True
        return self.sources(on, open, big) & origin != ZERO and (
            self.sources(self.after_step(on, single, origin, big), open, small) & second != ZERO
        )

    def alike(self, on, single, open, blots, roll):
        """Points from which both dice can move a checker in either order without a hit on the way."""
        big, small = WORD(DICE[roll, 0]), WORD(DICE[roll, 1])
        safe = open & ~blots
        left, found = on & (safe << big) & (safe << small), ZERO
        while left != ZERO:
            origin = left & (~left + ONE)
            left ^= origin
            follow = self.sources(self.after_step(on, single, origin, DICE[roll, 0]), open, DICE[roll, 1])
            found |= origin if follow & origin >> big != ZERO else ZERO
        return found & self.sources(on, open, DICE[roll, 0])

    def list_double(self, planes, open, die, moves):
        """Write the plays of a double, steps from the furthest point on; return their number.

        If there are no four steps, then three, and so on.
        """
        for steps in range(4, 0, -1):
            count, left = 0, self.sources(self.on(planes), open, die)
            while left != ZERO:
                origin = left & (~left + ONE)
                left ^= origin
                point = trailing_zeros(origin)
                after = self.moved(planes, origin, self.landing(origin, die))
                number = self.ways[4, point]
                count = self.list_second(after, (open, die), origin, (steps - 1, number), moves, count)
            if count > 0:
                return count
        return 0

    def list_second(self, planes, way, most, played, moves, count):
        """Write the plays that go on from `most` or nearer.

        way: the points to land on and the die; played: steps left, and steps made
        """
        open, die = way
        steps, number = played
        if steps == 0:
            moves[count] = number
            return count + 1
        left = self.sources(self.on(planes), open, die) & (most | most - ONE)
        while left != ZERO:
            origin = left & (~left + ONE)
            left ^= origin
            after = self.moved(planes, origin, self.landing(origin, die))
            so_far = number + self.ways[3, trailing_zeros(origin)]
            count = self.list_third(after, way, origin, (steps - 1, so_far), moves, count)
        return count

    def list_third(self, planes, way, most, played, moves, count):
        """Write the plays that go on from `most` or nearer, from the third step on; see `list_second`."""
        open, die = way
        steps, number = played
        if steps == 0:
            moves[count] = number
            return count + 1
        left = self.sources(self.on(planes), open, die) & (most | most - ONE)
        while left != ZERO:
            origin = left & (~left + ONE)
            left ^= origin
            so_far = number + self.ways[2, trailing_zeros(origin)]
            if steps == 1:
                moves[count] = so_far
                count += 1
            else:
                on = self.after_step(self.on(planes), self.single(planes), origin, die)
                follow = self.sources(on, open, die) & (origin | origin - ONE)
                count = list_bits(follow, moves, count, 1, so_far)
        return count

    def landing(self, origin, die):
        target = origin >> WORD(die)
        return target if target & POINTS != ZERO else OFF

    def origin(self, move, roll, i):
        """The point that the i-th step leaves; 0 for none."""
        if roll >= DOUBLES:
            return np.int64(self.origins[4 * move + i])
        return np.int64(move // 26 if i == 0 else move % 26)

    def is_off(self, state, side):
        c0, c1, c2, c3 = self.planes_of(state, side)
        return c0 & c1 & c2 & c3 & OFF != ZERO

    def pips(self, planes):
        total = 0
        for i in range(len(PLACES)):
            place = PLACES[i]
            ones = popcount(planes[0] & place) + 2 * popcount(planes[1] & place)
            total += (ones + 4 * popcount(planes[2] & place) + 8 * popcount(planes[3] & place)) << i
        return total

    def steps(self, state, move) -> list[tuple[int, int]]:
        """(from, to) as the player counts, in descending order."""
        roll = self.roll(state)
        points = [(self.origin(move, roll, i), int(DICE[roll, i & 1])) for i in range(4 if roll >= DOUBLES else 2)]
        return sorted(((int(p), max(int(p) - die, 0)) for p, die in points if p > 0), reverse=True)

    def roll_name(self, state) -> str:
        return "".join(map(str, DICE[self.roll(state)]))

    def checkers(self, state, side) -> list[int]:
        """Checkers off the board, on each point as their player counts, and on the bar: 26 numbers."""
        planes = [int(plane) for plane in self.planes_of(state, side)]
        return [sum((plane >> point & 1) << i for i, plane in enumerate(planes)) for point in range(26)]

    # -- For strength ------------------------------------------------------------------------------------------

    def plies_left(self, state):
        return 2 * (self.horizon - np.int64(state[TURN] >> WORD(ROLLS))) + (1 if self.roll(state) >= 0 else 0)

    def risk(self, state, side):
        """The pips lost if all blots in danger were hit: those that the other player must pass, or can enter on."""
        blots, lost = self.single(self.planes_of(state, side)) & POINTS, 0
        theirs = self.on(self.planes_of(state, 1 - side))
        behind = self.mirrored(theirs)  # in this player's count, the other's checkers go upwards
        while blots != ZERO:
            blot = blots & (~blots + ONE)
            blots ^= blot
            if behind & (blot - ONE) != ZERO or theirs & BAR != ZERO:
                lost += 25 - trailing_zeros(blot)
        return lost

    def evaluate(self, state):
        """The lead l in pips, less a quarter of what blots would lose: l / (50 + |l|)."""
        lead = self.pips(self.planes_of(state, 1)) - self.pips(self.planes_of(state, 0))
        lead += SHARE * (self.risk(state, 1) - self.risk(state, 0))
        return lead / (50.0 + abs(lead))

    def evaluate_pips(self, state):
        """The lead l in pips: l / (50 + |l|)."""
        lead = self.pips(self.planes_of(state, 1)) - self.pips(self.planes_of(state, 0))
        return lead / (50.0 + abs(lead))

    def counts(self, state, side):
        return self.pips(self.planes_of(state, side)), self.risk(state, side)

    def hits(self, state, move):
        roll, side, found = self.roll(state), self.side(state), ZERO
        blots = self.mirrored(self.single(self.planes_of(state, 1 - side)))
        for i in range(4 if roll >= DOUBLES else 2):
            point = self.origin(move, roll, i)
            if point > 0:
                found |= ONE << WORD(point) >> WORD(DICE[roll, i & 1]) & blots
        return popcount(found)

    def move_order(self, state, move):
        return self.hits(state, move) if self.roll(state) >= 0 else 0

    def move_code(self, state, move):
        roll, code = self.roll(state), np.int64(move)
        if roll >= 0:
            code += min(roll, DOUBLES) * TWO_DICE + max(roll - DOUBLES, 0) * self.move_limit
        return 2 * code + (self.side(state) if roll >= 0 else 0)

    def feature_code(self, state, move):
        return 5 * self.move_code(state, move) + self.move_order(state, move)

    # -- For people --------------------------------------------------------------------------------------------

    def parse_move(self, state, text):
        """A play by its steps in any order, joined or not (24/18/13, 24/13), with or without asterisks; a roll in any
        order."""
        word = text.strip()
        if self.roll(state) < 0:
            return super().parse_move(state, "".join(sorted(word, reverse=True)))
        try:
            return super().parse_move(state, word)
        except IllegalMove:
            steps = read_steps(word)
            plays = {move: self.steps(state, move) for move in self.moves(state)}
            alike = [move for move, of in plays.items() if sorted(of) == sorted(steps)]
            alike = alike or [move for move, of in plays.items() if balance(of) == balance(steps)]
            if not steps or len(alike) != 1:
                raise
            return alike[0]

    def drawing(self, state, moves):
        """The board as the first player, black, counts."""
        counts = [self.checkers(state, side) for side in (0, 1)]
        width, middle = TRAY + CELL + 4, HEIGHT / 2 + LINE
        ground = [
            paper(width, HEIGHT + 4 * LINE),
            f'<rect class="ground" y="{LINE}" width="{WIDTH}" height="{HEIGHT}"/>',
        ]
        for x in (6 * CELL, TRAY):
            ground.append(f'<rect class="felt" x="{x}" y="{LINE}" width="{CELL}" height="{HEIGHT}"/>')
        ends = self.ends_of(next((move for move in reversed(moves) if "/" in move), ""), 1 - self.side(state))
        parts = []
        for point in range(1, 25):
            x, up = CELL * (COLUMNS[point] + 0.5), point > 12
            base, way = (LINE, 1) if up else (LINE + HEIGHT, -1)
            kind = "under" if point in ends else ("panel" if point % 2 else "even")
            parts.append(f'<path class="{kind}" d="M{x - 18:g} {base}h36l-18 {way * SPIKE:g}z"/>')
            ground.append(_name(x, up, str(point)))
            for side, colour in enumerate(COLOURS):
                count = counts[side][25 - point if side else point]
                parts += _stack(x, base, way, count, colour)
        lines = self.render(state).splitlines()[-2:]
        for side, (colour, way) in enumerate(zip(COLOURS, (-1, 1))):
            parts += _stack(6.5 * CELL, middle - way * 4, way, counts[side][25], colour)
            parts += _stack(TRAY + CELL / 2, middle - way * HEIGHT / 2, way, counts[side][0], colour)
            ground.append(_name(TRAY + CELL / 2, side == 1, "off"))
            parts.append(text_line(colour + lines[side][1:], 4, HEIGHT + LINE * (side + 2.6)))
        if self.roll(state) >= 0:
            side = int(self.side(state))
            for i, number in enumerate(DICE[self.roll(state)].tolist()):
                parts.append(_die((10 - 7 * side + i - 0.5) * CELL, middle, number, side))
        return Drawing(width, HEIGHT + 4 * LINE, "".join(ground), tuple(parts))

    def move_paths(self, state, move):
        """From and to of each step, in each order of them; of one checker, by way of either point, if that is alike."""
        if self.roll(state) < 0:
            return []
        side = int(self.side(state))
        orders = [order for steps in self.alike_steps(state, move) for order in dict.fromkeys(permutations(steps))]
        return [[self.middle(p, side) for p in sum(order, ())] for order in orders if order and self.goes(state, order)]

    def alike_steps(self, state, move) -> list[list[tuple[int, int]]]:
        """The steps of a play, and those of the checker that moves twice with the other die first, if it hits nothing.

        Others do not lead to the same position.
        """
        steps, roll = self.steps(state, move), self.roll(state)
        if roll >= DOUBLES or len(steps) < 2 or steps[0][1] != steps[1][0]:
            return [steps]
        (origin, between), (_, target) = steps
        other = 2 * origin - between - int(DICE[roll].sum())
        blots = int(self.mirrored(self.single(self.planes_of(state, 1 - self.side(state)))))
        if other <= 0 or (blots >> between | blots >> other) & 1:
            return [steps]
        return [steps, [(origin, other), (other, target)]]

    def goes(self, state, steps) -> bool:
        """Whether they can be made one after the other."""
        side, (big, small) = self.side(state), DICE[self.roll(state)].tolist()
        open = self.open(state, side)
        for dice in {(big, small) * 2, (small, big) * 2}:
            planes = self.planes_of(state, side)
            for (point, target), die in zip(steps, dice):
                origin = ONE << WORD(point)
                if max(point - die, 0) != target or self.sources(self.on(planes), open, die) & origin == ZERO:
                    break
                planes = self.moved(planes, origin, self.landing(origin, die))
            else:
                return True
        return False

    def middle(self, point: int, side: int) -> tuple[float, float]:
        """Where a player's point is in the drawing, also the bar, 25, and off the board, 0."""
        seen = 25 - point if side else point
        x = {0: TRAY + CELL / 2, 25: 6.5 * CELL}.get(point) or CELL * (COLUMNS[seen] + 0.5)
        depth = HEIGHT / 2 - SPIKE / 2 if point == 25 else SPIKE / 2
        return x, LINE + (depth if seen > 12 else HEIGHT - depth)

    def point_name(self, state, point):
        side = int(self.side(state))
        number = next(p for p in range(26) if self.middle(p, side) == point)
        return {0: "off", 25: "bar"}.get(number, str(number))

    def ends_of(self, play: str, side: int) -> set[int]:
        return {25 - target if side else target for _, target in read_steps(play)}


def _name(x: float, up: bool, name: str) -> str:
    """Of a point, above or below it."""
    return f'<text x="{x:g}" y="{14 if up else HEIGHT + LINE + 16:g}">{name}</text>'


def _die(x: float, y: float, number: int, side: int) -> str:
    """A die of a player's colour, the pips in the other."""
    pips = "".join(
        f'<circle class="{COLOURS[1 - side]}" cx="{x + 9 * (i % 3 - 1):g}" cy="{y + 9 * (i // 3 - 1):g}" r="2.5"/>'
        for i in map(int, PIPS[number - 1])
    )
    return f'<g><rect class="{COLOURS[side]}" x="{x - 16:g}" y="{y - 16:g}" width="32" height="32" rx="6"/>{pips}</g>'


def _stack(x: float, base: float, way: int, count: int, colour: str) -> list[str]:
    shown = min(count, 5)
    middles = [base + way * (32 * i + 17) for i in range(shown)]
    parts = [f'<circle class="{colour}" cx="{x:g}" cy="{y:g}" r="15"/>' for y in middles]
    if count > shown:
        parts.append(f'<rect class="paper" x="{x - 9:g}" y="{middles[-1] - 9:g}" width="18" height="18" rx="4"/>')
        parts.append(f'<text x="{x:g}" y="{middles[-1] + 5:g}">{count}</text>')
    return parts


def read_steps(text: str) -> list[tuple[int, int]]:
    """The steps in a text, joined or not; none if it is no list."""
    found: list[tuple[int, int]] = []
    for word in text.split(","):
        match = STEP.fullmatch(word)
        if not match:
            return []
        names = [match[1], *match[2].replace("*", "").split("/")[1:]]
        points = [25 if name == "bar" else 0 if name == "off" else int(name) for name in names]
        found += list(pairwise(points)) * int(match[3] or 1)
    return found


def balance(steps) -> dict[int, int]:
    """How many checkers steps bring to each point, less those that leave it."""
    change: dict[int, int] = {}
    for origin, target in steps:
        change[origin], change[target] = change.get(origin, 0) - 1, change.get(target, 0) + 1
    return {point: by for point, by in change.items() if by}
