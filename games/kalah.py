"""Kalah (William Julius Champion, 1940): seeds are sown around a board of houses, and collected in two stores.

A move sows the seeds of an own house one by one to the right, into the own store and the other's houses, not the
other's store.  If the last one falls into the own store, one moves again; if into an own empty house, it and the seeds
opposite, if any, go to the store.  When either player's houses are empty after a move, the other's seeds are theirs,
and the game is over.  Rules: G. Irving, J. Donkers and J. Uiterwijk, "Solving Kalah", ICGA Journal 23 (2000).

    12 11 10  9  8  7       a state's places for 6 houses; the first player's are in the lower row, and the
  13                  6     stores at the ends.  A move is the number of a house from its player's left, from 0,
     0  1  2  3  4  5       and is named from 1.
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.boards.drawing import CELL, LINE, Drawing, paper
from arena.games.core.game import Game


@dataclass(frozen=True)
class Kalah(Game):
    """state: int16[2 * houses + 3] = the first player's houses and store, the second's, the player to move.

    houses: of each player; seeds: in each house at the start
    """

    houses: int = 6
    seeds: int = 4

    name = "kalah"
    rules = (
        "More seeds in one's store win; the first player has the lower row and the right store. A move is a house, "
        "`3`, whose seeds are sown anticlockwise. A last seed in one's store moves again; in an own empty house, it "
        "takes those opposite."
    )
    sides = ("the lower row", "the upper row")
    sizes = "houses 1 to 10, seeds 1 to 20"
    dtype = np.int16
    ranges = {"houses": (1, 10), "seeds": (1, 20)}

    @property
    def places(self):
        return 2 * self.houses + 2

    @property
    def total(self):
        return 2 * self.houses * self.seeds

    @property
    def state_size(self):
        return self.places + 1

    @property
    def move_limit(self):
        return self.houses

    max_moves = move_limit

    @property
    def max_plies(self):
        """A bound: a move without a seed for a store brings some nearer to one."""
        return self.total + (self.total + 1) * self.total * self.houses

    def start(self, state):
        state[:] = self.seeds
        state[self.store(0)] = state[self.store(1)] = state[self.places] = 0

    def player(self, state):
        return np.int64(state[self.places])

    def legal_moves(self, state, moves):
        first, count = self.player(state) * (self.houses + 1), 0
        for house in range(self.houses):
            if state[first + house] > 0:
                moves[count] = house
                count += 1
        return count

    def play(self, state, move):
        side = self.player(state)
        first, store = side * (self.houses + 1), self.store(side)
        place = first + move
        left, state[place] = state[place], 0
        while left > 0:
            place = self.next_place(place, side)
            state[place] += 1
            left -= 1
        opposite = 2 * self.houses - place
        if first <= place < store and state[place] == 1 and state[opposite] > 0:
            state[store] += 1 + state[opposite]
            state[place] = state[opposite] = 0
        if place != store:
            state[self.places] = 1 - side

    def is_over(self, state):
        return self.in_houses(state, 0) == 0 or self.in_houses(state, 1) == 0

    def score(self, state):
        first = self.in_houses(state, 0) + np.int64(state[self.store(0)])
        return float(2 * first - self.total)

    def move_name(self, state, move):
        return str(move + 1)

    def render(self, state):
        width = 3
        upper = [state[self.houses + 1 + house] for house in reversed(range(self.houses))]
        lower = [state[house] for house in range(self.houses)]
        names = [house + 1 for house in range(self.houses)]

        def row(numbers):
            return " " * width + "".join(f"{number:>{width}}" for number in numbers)

        stores = f"{state[self.store(1)]:>{width}}" + " " * (width * self.houses) + f"{state[self.store(0)]:>{width}}"
        return "\n".join([row(names[::-1]), "", row(upper), stores, row(lower), "", row(names)])

    def store(self, side):
        return side * (self.houses + 1) + self.houses

    def next_place(self, place, side):
        """Where a player's next seed goes, never the other's store."""
        place += 2 if place + 1 == self.store(1 - side) else 1
        return place - self.places if place >= self.places else place

    def in_houses(self, state, side):
        first, count = side * (self.houses + 1), 0
        for house in range(self.houses):
            count += np.int64(state[first + house])
        return count

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Seeds in the stores: the difference over all seeds and 1."""
        return (state[self.store(0)] - state[self.store(1)]) / (self.total + 1.0)

    def evaluate_seeds(self, state):
        """Seeds in the stores, and half of those in houses: the difference over all seeds and 1."""
        stores = np.int64(state[self.store(0)]) - np.int64(state[self.store(1)])
        houses = self.in_houses(state, 0) - self.in_houses(state, 1)
        return (stores + 0.5 * houses) / (self.total + 1.0)

    def last_place(self, state, move):
        """Where a move's last seed goes; a lap leaves out one store."""
        first = self.player(state) * (self.houses + 1)
        return (first + (move + np.int64(state[first + move])) % (self.places - 1)) % self.places

    def captures(self, state, move):
        """Seeds taken from the house opposite, with one that the move may sow there."""
        side, place = self.player(state), self.last_place(state, move)
        first = side * (self.houses + 1)
        origin, opposite = first + move, 2 * self.houses - place
        if not first <= place < self.store(side) or state[origin] >= self.places:
            return 0
        if state[place] != 0 and place != origin:
            return 0
        return np.int64(state[opposite]) + (1 if place <= origin else 0)

    def move_order(self, state, move):
        """Captures by their seeds, then moves that let the player move again."""
        again = 1 if self.last_place(state, move) == self.store(self.player(state)) else 0
        return 2 * self.captures(state, move) + again

    def is_unstable(self, state, move):
        return self.captures(state, move) > 0

    # -- For people --------------------------------------------------------------------------------------------

    def middle(self, place):
        """(x, y) of a house in the drawing."""
        row, house = divmod(place, self.houses + 1)
        step, last = 1.25 * CELL, self.houses + 2
        return (step * (last - house - 1.5), 1.5 * CELL) if row else (step * (house + 1.5), 3.5 * CELL)

    def move_paths(self, state, move):
        return [[self.middle(int(self.player(state)) * (self.houses + 1) + move)]]

    def drawing(self, state, moves):
        """The first player's houses are below, with the store on the right."""
        step, columns = 1.25 * CELL, self.houses + 2
        width, height = step * columns, 5 * CELL
        board = f'<rect class="ground" x="2" y="{LINE}" width="{width - 4:g}" height="{height - 2 * LINE:g}" rx="18"/>'
        houses = (range(self.houses), range(self.houses + 1, 2 * self.houses + 1))
        middles = {place: self.middle(place) for side in houses for place in side}
        pits = [f'<circle class="felt" cx="{x:g}" cy="{y:g}" r="21"/>' for x, y in middles.values()]
        for player, x in ((0, width - step / 2), (1, step / 2)):
            pits.append(
                f'<rect class="felt" x="{x - 19:g}" y="{1.1 * CELL:g}" width="38" height="{2.8 * CELL:g}" rx="19"/>'
            )
            middles[self.store(player)] = x, 2.5 * CELL
        names = [
            f'<text x="{middles[house + own][0]:g}" y="{y}">{house + 1}</text>'
            for own, y in ((0, 5 * CELL - 5), (self.houses + 1, 14))
            for house in range(self.houses)
        ]
        seeds = [f'<text class="on" x="{x:g}" y="{y + 5:g}">{state[place]}</text>' for place, (x, y) in middles.items()]
        return Drawing(width, height, "".join([paper(width, height), board, *pits, *names]), tuple(seeds))
