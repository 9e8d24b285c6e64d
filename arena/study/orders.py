"""What the order of moves saves alpha-beta: its ends in uniform trees, beside theory, and in small games.

A uniform tree has b moves in each node and m plies, and here random values at its b^m ends, so that its order is random
until it is sorted.  MAX moves at the root.  Theory says how many ends alpha-beta visits:

    best first     b^ceil(m/2) + b^floor(m/2) - 1                        Knuth & Moore (1975), about b^(m/2)
    random         b^floor(m/2) + integral of S dR, on the average       Pearl (1982), in textbooks about b^(3m/4)
    worst first    b^m at most: not every tree has an order in which nothing is cut off

R(x) is the product over MAX's levels of 1 + F + ... + F^(b-1), where F(x) is the distribution of the values of the
nodes below; S(x) that over MIN's levels with 1 - F in place of F.  An end is visited if the greatest value left of its
path at MAX's nodes is less than the least at MIN's, and R and S sum the probabilities of that.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

import games
from agents.core.agent import Unsuited
from agents.core.sides import result_of

ORDERS, RULES = ("best", "random", "worst"), (0.5, 0.75, 1.0)
TREES = ((2, 12), (3, 8), (4, 6), (8, 4))  # branching and depth
GAMES = ("tictactoe",)
MOST_ENDS, MOST_PLIES, MOST_POSITIONS = 2_000_000, 24, 20_000
STEPS = 400_000  # of the integral


class OutOfTime(Exception):
    """A search that has taken too long."""


def orders(
    trees: Iterable[tuple[int, int]], specs: Iterable[str], repeats: int, seed: int, limit: "Limit"
) -> list[dict]:
    """A row for each tree or game and order: game, order, ends, error, theory, all, exponent, rule.

    ends: that alpha-beta visits, of random things the mean of `repeats`, with the mean's standard error; None if it
    took longer than the limit allows
    theory: how many they are, at most for the worst order, and else on the average
    all: the ends there are
    exponent, rule: x in ends = b^(x m), and what textbooks say it comes to, 1/2, 3/4 and 1
    Theory, exponent and rule are None of games.
    """
    rows = []
    for branching, depth in trees:
        limit.report(f"trees of {branching} moves, {depth} plies")
        rows += tree_rows(branching, depth, repeats, seed, limit)
    for spec in specs:
        limit.report(f"positions of {spec}")
        rows += game_rows(games.make(spec), repeats, seed, limit)
    return rows


@dataclass
class Limit:
    """How long a search may take, and what is told of how far the work is."""

    seconds: float
    report: Callable[[str], None]
    end: float = field(default=0.0)

    def begin(self) -> None:
        """Start the clock."""
        self.end = time.perf_counter() + self.seconds

    def check(self) -> None:
        """OutOfTime if it has run out."""
        if time.perf_counter() > self.end:
            raise OutOfTime


# -- Uniform trees ----------------------------------------------------------------------------------------------------


def check_tree(branching: int, depth: int) -> None:
    """ValueError if a tree is too small or too large."""
    if branching < 2 or not 1 <= depth <= MOST_PLIES or branching**depth > MOST_ENDS:
        raise ValueError(
            f"{branching}x{depth} is out of range: a tree has 2 moves or more, 1 to {MOST_PLIES} plies, and up to "
            f"{MOST_ENDS:,} ends"
        )


def tree_rows(branching: int, depth: int, repeats: int, seed: int, limit: Limit) -> list[dict]:
    """The rows of uniform trees."""
    check_tree(branching, depth)
    source, found = np.random.default_rng([seed, branching, depth]), {order: list[int]() for order in ORDERS}
    limit.begin()
    try:
        for _ in range(repeats):
            ends = source.random((branching,) * depth)
            for order in ORDERS:
                found[order].append(ends_visited(ends if order == "random" else in_order(ends, order == "best")))
                limit.check()
    except OutOfTime:
        found = {order: [] for order in ORDERS}
    theory = [best_ends(branching, depth), random_ends(branching, depth), float(branching**depth)]
    name, every = f"{branching} moves, {depth} plies", branching**depth
    rows = [row(name, order, found[order], every) | {"theory": known} for order, known in zip(ORDERS, theory)]
    for one, rule in zip(rows, RULES):
        one |= {"exponent": one["ends"] and float(np.log(one["ends"]) / np.log(every)), "rule": rule}
    return rows


def row(game: str, order: str, counts: list[int], every: int) -> dict:
    """One row of the table, without theory; without counts the search was stopped."""
    mean = float(np.mean(counts)) if counts else None
    error = float(np.std(counts, ddof=1) / np.sqrt(len(counts))) if len(counts) > 1 else None
    known = {"game": game, "order": order, "ends": mean, "error": error or None, "theory": None, "all": every}
    return known | {"exponent": None, "rule": None}


def levels_of(ends: np.ndarray) -> list[np.ndarray]:
    """The values of the nodes of each level, from the root, of shape (), to the ends, of shape (b, b, ..., b)."""
    levels = [ends]
    for level in range(ends.ndim - 1, -1, -1):
        levels.append((np.max if level % 2 == 0 else np.min)(levels[-1], axis=-1))
    return levels[::-1]


def in_order(ends: np.ndarray, best_first: bool) -> np.ndarray:
    """The ends of the same tree with the moves of each node sorted by value, the best or the worst one first."""
    for level in range(ends.ndim):
        values = levels_of(ends)[level + 1]
        ascending = np.argsort(values, axis=-1)
        rank = ascending[..., ::-1] if (level % 2 == 0) == best_first else ascending
        ends = np.take_along_axis(ends, rank.reshape(rank.shape + (1,) * (ends.ndim - level - 1)), axis=level)
    return ends


def ends_visited(ends: np.ndarray) -> int:
    """How many ends alpha-beta visits in a tree: those with alpha < beta (Baudet, "On the branching factor of
    the alpha-beta pruning algorithm", 1978).

    alpha is the greatest value left of the path at MAX's nodes, beta the least one at MIN's.
    """
    alpha, beta = np.array(-np.inf), np.array(np.inf)
    for level, values in enumerate(levels_of(ends)[1:]):
        alpha, beta = np.broadcast_to(alpha[..., None], values.shape), np.broadcast_to(beta[..., None], values.shape)
        if level % 2 == 0:
            alpha = np.maximum(alpha, left_of(values, np.maximum, -np.inf))
        else:
            beta = np.minimum(beta, left_of(values, np.minimum, np.inf))
    return int(np.count_nonzero(alpha < beta))


def left_of(values: np.ndarray, best, none: float) -> np.ndarray:
    """The best of the values before each one, along the last axis."""
    first = np.full((*values.shape[:-1], 1), none)
    return np.concatenate([first, best.accumulate(values, axis=-1)[..., :-1]], axis=-1)


def best_ends(branching: int, depth: int) -> float:
    """The ends of the least tree that proves a value (Knuth & Moore, "An analysis of alpha-beta pruning", 1975)."""
    return float(branching ** ((depth + 1) // 2) + branching ** (depth // 2) - 1)


def random_ends(branching: int, depth: int) -> float:
    """The expected number of ends that alpha-beta visits, of independent values without ties (Pearl, "The solution for
    the branching factor of the alpha-beta pruning algorithm and its optimality", 1982)."""
    below = np.linspace(0.0, 1.0, STEPS + 1)  # the distribution of the values of a level, from the ends upwards
    max_levels, min_levels = np.ones_like(below), np.ones_like(below)
    for level in range(depth - 1, -1, -1):
        share = below if level % 2 == 0 else 1.0 - below
        powers = sum(share**i for i in range(branching))
        if level % 2 == 0:
            max_levels, below = max_levels * powers, below**branching
        else:
            min_levels, below = min_levels * powers, 1.0 - (1.0 - below) ** branching
    middle = (min_levels[1:] + min_levels[:-1]) / 2
    return float(branching ** (depth // 2) + np.sum(middle * np.diff(max_levels)))


# -- Games ------------------------------------------------------------------------------------------------------------


@dataclass
class Positions:
    """All positions of a game, by number; the first one is the initial position."""

    side: list[int]  # 1 where MAX is to move, -1 MIN
    after: list[list[int]]  # of each move, in the game's order; [] at an end
    value: list[float]  # MAX's result by best play


def game_rows(game, repeats: int, seed: int, limit: Limit) -> list[dict]:
    """The rows of a game: in its own order of moves, with the best and the worst first, and in random order."""
    if game.has_chance or game.players != 2:
        raise Unsuited(f"{game}: orders are compared in games of two players without chance")
    positions = all_positions(game)
    every = paths(positions)
    rows = []
    for order in ("its own", *ORDERS):
        limit.report(f"{order} order of {game}")
        counts = list[int]()
        for repeat in range(repeats if order == "random" else 1):
            limit.begin()
            try:
                counts.append(Search(positions, order, random.Random(f"{seed} {repeat}"), limit).ends())
            except OutOfTime:
                counts = []
                break
        rows.append(row(str(game), order, counts, every))
    return rows


def all_positions(game) -> Positions:
    """Every position that can be reached; Unsuited if there are too many."""
    known, states, found = {game.initial().tobytes(): 0}, [game.initial()], Positions([], [], [])
    for state in states:  # which grows meanwhile
        over, below = bool(game.is_over(state)), list[int]()
        for move in () if over else game.moves(state):
            child = game.after(state, move)
            place = known.setdefault(child.tobytes(), len(states))
            if place == len(states):
                states.append(child)
            below.append(place)
        if len(states) > MOST_POSITIONS:
            raise Unsuited(f"{game} has more than {MOST_POSITIONS:,} positions, too many for its orders to be compared")
        found.side.append(1 if over or game.player(state) == 0 else -1)
        found.after.append(below)
        found.value.append(float(result_of(game.score(state))) if over else 0.0)
    for node in upwards(found):
        if found.after[node]:
            best = max if found.side[node] > 0 else min
            found.value[node] = best(found.value[child] for child in found.after[node])
    return found


def upwards(positions: Positions) -> Iterator[int]:
    """Every position after all that follow it."""
    waiting, done = [(0, False)], set[int]()
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif node not in done:
            done.add(node)
            waiting.append((node, True))
            waiting += [(child, False) for child in positions.after[node]]


def paths(positions: Positions) -> int:
    """How many sequences of moves end the game."""
    counts = dict[int, int]()
    for node in upwards(positions):
        counts[node] = sum(counts[child] for child in positions.after[node]) or 1
    return counts[0]


@dataclass
class Search:
    """Alpha-beta through the tree of a game whose positions are known, in an order of moves."""

    positions: Positions
    order: str
    source: random.Random
    limit: Limit
    visited: int = 0  # ends

    def ends(self) -> int:
        """How many ends it visits."""
        self.value(0, -np.inf, np.inf)
        return self.visited

    def moves(self, node: int) -> list[int]:
        """The positions after a position, in the order."""
        below, values = self.positions.after[node], self.positions.value
        if self.order == "random":
            return self.source.sample(below, len(below))
        if self.order == "its own":
            return below
        sign = self.positions.side[node] * (-1 if self.order == "best" else 1)
        return sorted(below, key=lambda child: sign * values[child])

    def value(self, node: int, alpha: float, beta: float) -> float:
        """The value of a position if it is between alpha and beta, else a bound."""
        if not self.positions.after[node]:
            self.visited += 1
            if self.visited % 1000 == 0:
                self.limit.check()
            return self.positions.value[node]
        largest = self.positions.side[node] > 0
        best = -np.inf if largest else np.inf
        for child in self.moves(node):
            found = self.value(child, alpha, beta)
            if largest:
                best = max(best, found)
                alpha = max(alpha, best)
            else:
                best = min(best, found)
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best
