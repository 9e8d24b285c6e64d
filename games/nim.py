"""Games of heaps: Nim, matches, and Grundy's game.  A player who cannot move loses; in the misere game, wins.

    nim       take any number of objects from one heap (Bouton, "Nim, a game with a complete mathematical theory", 1901)
    matches   take 1 to `take` matches from the only heap
    grundy    split a heap into two of different sizes (Grundy, "Mathematics and games", 1939)

In normal play, the player to move wins if and only if `nim_value(state)` is not 0 (Sprague 1935, Grundy 1939): of a
heap the least number that no position after it has, of several heaps the exclusive or.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from arena.games.core.boards.drawing import heaps_drawing, object_at
from arena.games.core.game import Game, check_range
from arena.games.core.lanes.lanes import choose, narrowest
from arena.games.core.numbers.bits import nth_bit, popcount
from arena.games.core.random import random_below

MAX_HEAPS, MAX_HEAP = 64, 1000


class HeapGame(Game):
    """Base of the games of heaps: state[0] = 2 * (material left) + player to move."""

    dtype = np.int64
    has_draws = False
    misere = False

    def player(self, state):
        return state[0] & 1

    def is_over(self, state):
        return state[0] < 2

    def score(self, state):
        return 1.0 if (state[0] & 1 == 1) != self.misere else -1.0


class TakingGame(HeapGame):
    """Take up to `most` objects from one heap; a move is largest_take * (heap - 1) + taken - 1, heaps counted from 1.

    state: int64[1 + heaps] = 2 * objects left + player to move, then the heaps.
    """

    @property
    def state_size(self):
        return 1 + len(self.heaps)

    @property
    def largest_take(self):
        return min(self.most, max(self.heaps))

    @property
    def move_limit(self):
        return len(self.heaps) * self.largest_take

    @property
    def max_moves(self):
        return sum(min(heap, self.most) for heap in self.heaps)

    @property
    def max_plies(self):
        return sum(self.heaps)

    def start(self, state):
        state[0] = 0
        for i in range(len(self.heaps)):
            state[i + 1] = self.heaps[i]
            state[0] += 2 * self.heaps[i]

    def legal_moves(self, state, moves):
        count = 0
        for i in range(len(self.heaps)):
            for taken in range(min(state[i + 1], self.most)):
                moves[count] = self.largest_take * i + taken
                count += 1
        return count

    def play(self, state, move):
        taken = 1 + move % self.largest_take
        state[1 + move // self.largest_take] -= taken
        state[0] = state[0] - 2 * taken ^ 1

    def render(self, state):
        return "\n".join(f"{i}: {'|' * int(heap)} {heap}" for i, heap in enumerate(state[1:], 1))

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_move(self, state, moves, rng):
        """A random object of all, of the first ones only in a single heap with a limit."""
        choice = random_below(rng, min(state[0] >> 1, self.most))
        heap = 1
        while choice >= state[heap]:
            choice -= state[heap]
            heap += 1
        return self.largest_take * (heap - 1) + choice

    def random_playout(self, state, moves, rng):
        left, side, plies = state[0] >> 1, state[0] & 1, 0
        while left > 0:
            choice = random_below(rng, min(left, self.most))
            heap = 1
            while choice >= state[heap]:
                choice -= state[heap]
                heap += 1
            state[heap] -= choice + 1
            left -= choice + 1
            plies += 1
        return (1.0 if ((side + plies) & 1 == 1) != self.misere else -1.0), plies

    # -- For strength ------------------------------------------------------------------------------------------

    def nim_value(self, state):
        """A heap's size modulo k + 1, where up to k can be taken; in plain Nim, its size."""
        value = 0
        for i in range(len(self.heaps)):
            value ^= state[i + 1] % (self.most + 1)
        return value

    # -- For people --------------------------------------------------------------------------------------------

    def move_paths(self, state, move):
        """The first of the objects that it takes from the end of their heap."""
        heap, less = divmod(move, self.largest_take)
        return [[object_at(heap, int(state[heap + 1]) - less - 1, max(self.heaps))]]

    def drawing(self, state, moves):
        last = [int(moves[-1].partition("-")[0]) - 1] if moves and "-" in moves[-1] else []
        return heaps_drawing(state[1:], max(self.heaps), last)


@dataclass(frozen=True)
class Nim(TakingGame):
    """state: int64[1 + heaps] = 2 * objects left + player to move, then the heaps.  `2-3` takes 3 from the second heap.

    The misere game differs only with no heap above 1: then an odd number of heaps loses.

    heaps: objects in each heap
    misere: whether the player who takes the last object loses
    """

    heaps: tuple[int, ...] = (1, 3, 5, 7)
    misere: bool = False

    name = "nim"
    rules = (
        "A player who cannot move loses, or wins if misere is true. A move takes any number of objects from one heap: "
        "`3-2` takes two from heap 3."
    )
    sizes = f"1 to {MAX_HEAPS} heaps of 1 to {MAX_HEAP}"

    def __post_init__(self):
        check_heaps(self.heaps)

    def move_name(self, state, move):
        return f"{1 + move // self.largest_take}-{1 + move % self.largest_take}"

    # -- For speed ---------------------------------------------------------------------------------------------

    @property
    def most(self):
        return sum(self.heaps)

    lane_registers = 4, 2

    @property
    def lane_bits(self):
        return narrowest(self.most + len(self.heaps))

    def lane_start(self, state, zero):
        objects, start = zero, 0
        for i in range(len(self.heaps)):
            objects |= (zero + ((1 << state[i + 1]) - 1)) << start
            start += self.heaps[i] + 1
        return objects, zero + (state[0] & 1)

    def lane_step(self, words, rng):
        """Takes a random object and those above it in its heap, which a carry finds."""
        objects, side = words
        objects &= objects + nth_bit(objects, random_below(rng, popcount(objects)))
        winner = -1 if self.misere else 1
        return (objects, side ^ 1), 1, objects == 0, choose(side == 0, winner, -winner)


@dataclass(frozen=True)
class Matches(TakingGame):
    """state: int64[2] = 2 * matches left + player to move, matches left.  A move is named by the matches it takes.

    count: matches at the start
    take: the most that a move takes
    misere: whether the player who takes the last match loses
    """

    count: int = 21
    take: int = 3
    misere: bool = False

    name = "matches"
    rules = (
        "A player who cannot move loses, or wins if misere is true. A move takes 1 to 3 matches, or up to another "
        "number if take says so, and is how many: `2`."
    )
    sizes = f"count and take 1 to {MAX_HEAP}"
    lane_bits = 32
    ranges = {"count": (1, MAX_HEAP), "take": (1, MAX_HEAP)}

    @property
    def heaps(self):
        return (self.count,)

    @property
    def most(self):
        return self.take

    def move_name(self, state, move):
        return str(1 + move)

    # -- For speed ---------------------------------------------------------------------------------------------

    def lane_start(self, state, zero):
        return zero + state[1], zero + (state[0] & 1)

    def lane_step(self, words, rng):
        left, side = words
        left -= 1 + random_below(rng, choose(left < self.take, left, self.take))
        winner = -1 if self.misere else 1
        return (left, side ^ 1), 1, left == 0, choose(side == 0, winner, -winner)


@dataclass(frozen=True)
class Grundy(HeapGame):
    """state: int64[1 + largest heap] = 2 * heaps that can be split + player to move, then the number of heaps of each
    size.  `7=5+2` splits any heap of 7; the move is width * 2 + 7, where width is the state's size.

    heaps: objects in each heap
    """

    heaps: tuple[int, ...] = (7,)

    name = "grundy"
    rules = "A player who cannot move loses. A move splits a heap into two of different sizes: `7=4+3`."
    sizes = f"1 to {MAX_HEAPS} heaps of 1 to {MAX_HEAP}, one at least of 3 or more"

    def __post_init__(self):
        check_heaps(self.heaps)
        if max(self.heaps) < 3:
            raise ValueError(f"heaps = {self.heaps} leaves no move: a heap can be split from 3 on")

    @property
    def state_size(self):
        return 1 + max(self.heaps)

    @property
    def move_limit(self):
        return self.state_size * (1 + (max(self.heaps) - 1) // 2)

    @property
    def max_moves(self):
        """A heap of n splits in (n - 1) // 2 ways; equal heaps make no difference."""
        return min(sum(self.heaps) // 2, sum((size - 1) // 2 for size in range(1, self.state_size)))

    @property
    def max_plies(self):
        """A heap of n becomes at most n - 1, but the last splits leave a 2."""
        return sum(max(heap - 2, 0) for heap in self.heaps)

    def start(self, state):
        state[:] = 0
        for i in range(len(self.heaps)):
            state[self.heaps[i]] += 1
            state[0] += 2 * (self.heaps[i] > 2)

    def legal_moves(self, state, moves):
        count = 0
        for size in range(3, self.state_size):
            if state[size] > 0:
                for part in range(1, (size + 1) // 2):
                    moves[count] = self.state_size * part + size
                    count += 1
        return count

    def play(self, state, move):
        size, part = move % self.state_size, move // self.state_size
        state[size] -= 1
        state[part] += 1
        state[size - part] += 1
        state[0] = state[0] + 2 * (int(part > 2) + int(size - part > 2) - 1) ^ 1

    def move_name(self, state, move):
        size, part = move % self.state_size, move // self.state_size
        return f"{size}={size - part}+{part}"

    def render(self, state):
        return " ".join(str(size) for size in reversed(range(1, self.state_size)) for _ in range(state[size]))

    # -- For strength ------------------------------------------------------------------------------------------

    def nim_value(self, state):
        """The exclusive or of the heaps' values; two heaps of equal size cancel out."""
        values = grundy_values(max(self.heaps))
        value = 0
        for size in range(1, self.state_size):
            if state[size] & 1:
                value ^= values[size]
        return value

    # -- For people --------------------------------------------------------------------------------------------

    def drawing(self, state, moves):
        heaps = [size for size in reversed(range(1, self.state_size)) for _ in range(state[size])]
        made = map(int, moves[-1].partition("=")[2].split("+")) if moves else ()
        return heaps_drawing(heaps, max(self.heaps), [heaps.index(size) for size in made])


@cache
def grundy_values(largest: int) -> tuple[int, ...]:
    """The values of heaps of 0 to `largest` in Grundy's game (OEIS A002188)."""
    values = [0]
    for size in range(1, largest + 1):
        reached = {values[part] ^ values[size - part] for part in range(1, (size + 1) // 2)}
        values.append(next(value for value in range(size + 1) if value not in reached))
    return tuple(values)


def check_heaps(heaps) -> None:
    """ValueError for no heaps, too many, or too large ones."""
    check_range("number of heaps", len(heaps), 1, MAX_HEAPS)
    for i, heap in enumerate(heaps):
        check_range(f"heaps[{i}]", heap, 1, MAX_HEAP)
