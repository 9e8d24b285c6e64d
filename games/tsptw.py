"""The travelling salesman with time windows (one player): visit every city within its window, as cheaply as possible.

A tour leaves city 0, the depot, when its window opens, and returns by itself after the last city; a move is the next
city.  It waits for a window to open, and violates one that has closed.  The score is

    - (travel cost) - 1,000,000 * (windows violated, the depot's on return among them)

with the distances as cost (T. Cazenave and F. Teytaud, "Application of the nested rollout policy adaptation algorithm
to the traveling salesman problem with time windows", LION 2012).

`file` has the format of Solomon, Potvin and Bengio's: the number of cities with the depot; the matrix of distances, row
by row, with service times; each city's window.  Random cities are uniform in a square of side 50; with a tour in the
order of numbers, each window opens up to 40 before and closes up to 40 after its visit, uniformly, so that no window
need be violated.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.game import Game, check_range
from arena.games.core.numbers.bits import WORD
from arena.games.core.random import GAMMA, mix, random_below, random_unit, stream
from arena.games.core.shared.files import read_bounded

PLACED, TIME, COST, VIOLATIONS, TOUR = 0, 1, 2, 3, 4
PENALTY = 1e6
SIDE, SLACK = 50.0, 40.0  # of random instances
MOST_CITIES = 200
CITIES = 10  # by default


@dataclass(frozen=True)
class Instance:
    """Distances float64[cities, cities], and windows float64[cities, 2]: when they open and close."""

    distances: np.ndarray
    windows: np.ndarray


@dataclass(frozen=True)
class TspTw(Game):
    """state: float64[4 + cities] = cities in the tour so far, with the depot; the time after waiting at the last one;
    cost and violations so far; the tour, then the other cities in ascending order.

    file: an instance in the form of Solomon, Potvin and Bengio's; empty for a random one
    cities: their number, with the depot; 0: as many as the file has, or 10 without a file
    seed: of a random instance, where no file is given
    """

    file: str = ""
    cities: int = 0
    seed: int = 0

    name = "tsptw"
    rules = (
        "Visit all cities as cheaply as possible, each before its window closes; a window missed costs a million. A "
        "move is the number of the next city: `3`. The tour leaves city 0, waits where a window is not yet open, and "
        "returns by itself."
    )
    players = 1
    dtype = np.float64
    sizes = f"cities 2 to {MOST_CITIES}; any seed, or a file"
    data_fields = ("file", "seed")
    file_fields = ("file",)
    arrays = {"distances": np.float64, "windows": np.float64}

    def __post_init__(self):
        if self.cities != 0:
            check_range("cities", self.cities, 2, MOST_CITIES)
        # reads the instance now: reports faults here, ignores later changes
        object.__setattr__(self, "cities", len(self.instance.windows))

    @property
    def max_plies(self):
        return self.cities - 1

    max_moves = max_plies

    @property
    def move_limit(self):
        return self.cities

    @property
    def state_size(self):
        return TOUR + self.cities

    @cached_property
    def distances(self):
        return self.instance.distances.ravel()

    @cached_property
    def windows(self):
        return self.instance.windows.ravel()

    @cached_property
    def instance(self):
        return self.read_instance() if self.file else self.random_instance()

    def start(self, state):
        state[:TOUR] = 1.0, self.instance.windows[0, 0], 0.0, 0.0
        state[TOUR:] = range(self.cities)

    def player(self, state):
        return 0

    def legal_moves(self, state, moves):
        placed = np.int64(state[PLACED])
        for i in range(placed, self.cities):
            moves[i - placed] = np.int64(state[TOUR + i])
        return self.cities - placed

    def play(self, state, move):
        origin, placed = self.last_city(state), np.int64(state[PLACED])
        i = TOUR + placed
        following, city = state[i], float(move)
        while following != city:  # move the cities before it up by one
            i += 1
            state[i], following = following, state[i]
        state[TOUR + placed] = city
        state[PLACED] += 1.0
        self.travel(state, origin, move)
        if placed + 1 == self.cities:
            self.travel(state, move, 0)

    def is_over(self, state):
        return state[PLACED] == self.cities

    def score(self, state):
        return -state[COST] - PENALTY * state[VIOLATIONS]

    def move_name(self, state, move):
        return str(move)

    def render(self, state):
        tour = [str(int(city)) for city in state[TOUR:][: int(state[PLACED])]]
        if self.is_over(state):
            tour.append("0")
        figures = f"cost {state[COST]:.2f}, violations {int(state[VIOLATIONS])}, time {state[TIME]:.2f}"
        return f"tour {' '.join(tour)}\n{figures}"

    def read_instance(self):
        try:
            words = [float(word) for word in read_bounded(self.file).decode().split()]
        except OSError as error:
            raise ValueError(f"file = {self.file!r} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"file = {self.file!r} should hold numbers only: {error}") from None
        cities = words[0] if words else 0
        if not 2 <= cities <= MOST_CITIES or cities != int(cities):
            most = f"2 to {MOST_CITIES}"
            raise ValueError(f"file = {self.file!r} should begin with the number of cities, {most}, not {cities:g}")
        cities = int(cities)
        if self.cities not in (0, cities):
            raise ValueError(f"cities = {self.cities}, but file {self.file!r} has {cities}")
        expected = 1 + cities * cities + 2 * cities
        if len(words) != expected:
            raise ValueError(f"file = {self.file!r} has {len(words)} numbers; {cities} cities need {expected}")
        numbers = np.array(words[1:])
        windows = numbers[cities * cities :].reshape(cities, 2)
        if not np.isfinite(numbers).all() or numbers.min() < 0 or (windows[:, 0] > windows[:, 1]).any():
            raise ValueError(
                f"file = {self.file!r}: numbers should be finite and 0 or more, and windows open before they close"
            )
        return Instance(numbers[: cities * cities].reshape(cities, cities), windows)

    def random_instance(self):
        rng = stream(self.seed, self.name)
        cities = self.cities or CITIES
        places = [(SIDE * random_unit(rng), SIDE * random_unit(rng)) for _ in range(cities)]
        distances = np.array([[math.sqrt((a - c) ** 2 + (b - d) ** 2) for c, d in places] for a, b in places])
        windows, time = np.zeros((cities, 2)), 0.0
        for city in range(1, cities):
            time += distances[city - 1, city]
            windows[city] = max(time - SLACK * random_unit(rng), 0.0), time + SLACK * random_unit(rng)
        windows[0, 1] = time + distances[-1, 0] + SLACK
        return Instance(distances, windows)

    def last_city(self, state):
        return np.int64(state[TOUR + np.int64(state[PLACED]) - 1])

    def travel(self, state, origin, target):
        distance = self.distances[origin * self.cities + target]
        opens, closes = self.windows[2 * target], self.windows[2 * target + 1]
        arrival = state[TIME] + distance
        state[COST] += distance
        state[VIOLATIONS] += 1.0 if arrival > closes else 0.0
        state[TIME] = max(arrival, opens)

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        word = WORD(0)
        for i in range(np.int64(state[PLACED])):
            word = mix(word + WORD(np.int64(state[TOUR + i])) + GAMMA)
        return word

    def random_move(self, state, moves, rng):
        placed = np.int64(state[PLACED])
        return np.int64(state[TOUR + placed + random_below(rng, self.cities - placed)])

    # -- For strength ------------------------------------------------------------------------------------------

    @property
    def code_limit(self):
        return self.cities * self.cities

    def move_code(self, state, move):
        return self.last_city(state) * self.cities + np.int64(move)

    def bias(self, state, move):
        return -self.distances[self.last_city(state) * self.cities + move]
