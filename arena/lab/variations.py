"""All that was tried on a page from a game's beginning: a tree of moves, and what searches thought of its positions."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import isfinite

SWING = 0.4  # of a value, -1 to 1, between a position and one at most two plies later: a mover has blundered


class Variations:
    """Moves by number: 0 is the beginning, others are in the order in which they were first made.

    names, sides: of each move; before: the number of the one that it follows; after: of those that follow it, the main
    line first; values: by search, for the first player, in the position after it; here: where the game is
    """

    def __init__(self) -> None:
        self.names, self.sides, self.before = [""], [0], [0]
        self.after: list[list[int]] = [[]]
        self.values: list[dict[str, float]] = [{}]
        self.latest: dict[int, int] = {}  # of the moves that follow one, where the game last went
        self.here = 0

    def go(self, names: Sequence[str], sides: Sequence[int]) -> None:
        """Let the game be after these moves, which are added where they are new."""
        self.here = 0
        for name, side in zip(names, sides):
            at = self.here
            found = next((one for one in self.after[at] if self.names[one] == name), None)
            if found is None:
                found = len(self.names)
                self.names.append(name)
                self.sides.append(side)
                self.before.append(at)
                self.after.append([])
                self.values.append({})
                self.after[at].append(found)
            self.latest[at] = self.here = found

    def way(self, number: int) -> list[int]:
        """The numbers of the moves that lead to one, itself included."""
        found = list[int]()
        while number:
            found.append(number)
            number = self.before[number]
        return found[::-1]

    def moves(self, number: int) -> list[str]:
        """The names of these moves."""
        return [self.names[one] for one in self.way(number)]

    def whole(self) -> list[int]:
        """The line that the game is on, from the beginning to its end, as far as it ever went."""
        found = [0, *self.way(self.here)]
        while following := self.latest.get(found[-1]):
            found.append(following)
        return found

    def main(self, number: int) -> Iterator[int]:
        """The moves of the main line after one."""
        while self.after[number]:
            number = self.after[number][0]
            yield number

    def series(self) -> dict[str, dict[int, float]]:
        """The values along the line that the game is on, by search and ply."""
        found = dict[str, dict[int, float]]()
        for ply, number in enumerate(self.whole()):
            for search, value in self.values[number].items():
                found.setdefault(search, {})[ply] = value
        return found


def by_side(values: Sequence[float | None], sides: Sequence[int]) -> dict[str, dict[int, float]]:
    """The values of decisions along a game, by the side that has decided and ply."""
    return {
        kind: {
            ply: value
            for ply, (value, mover) in enumerate(zip(values, sides))
            if mover == side and value is not None and isfinite(value)
        }
        for side, kind in enumerate(("first", "second"))
    }


def blunders(series: dict[str, dict[int, float]], sides: Sequence[int]) -> set[int]:
    """The plies, from 0, of moves after which a search's value fell by SWING or more for who made them."""
    found = set[int]()
    for values in series.values():
        known = sorted(values)
        for ply, later in pairwise(known):
            change = values[later] - values[ply]
            loser = 0 if change < 0 else 1
            if abs(change) >= SWING and later - ply <= 2:
                found |= {one for one in range(ply, later) if sides[one] == loser}
    return found
