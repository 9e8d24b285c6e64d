"""The best few moves of a decision, with their statistics, as a line of text: the column `candidates` of the store.

`500 d4 480 0.125 c3 12 -0.5` is the visits of all moves together, then name, visits and value of each candidate, the
most visited first; the value is `nan` where there is none.  Names have no blanks.
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from arena.agents.core.agent import MoveStatistics  # which loads Numba

MOST = 5  # candidates of a decision
_WRITTEN = [" ".join(["%d", *["%s %d %.6g"] * count]) for count in range(MOST + 1)]  # in one go, which is cheaper
_VALUE = r"nan|-?\d{1,9}(\.\d{1,9})?(e-\d{1,3}|e\+[0-2]?\d{1,2})?"  # finite, if it is a number
_FORM = re.compile(rf"\d{{1,19}}( \S+ \d{{1,19}} ({_VALUE})){{1,{MOST}}}", re.ASCII)


class Candidate(NamedTuple):
    """A move that a search considered."""

    move: str  # in the game's notation
    visits: int
    share: float  # of all visits, 0 to 1
    value: float | None  # in the terms of the decision's value; None if there is none


class Best(NamedTuple):
    """The best few moves of a table of statistics, in columns of the same length, at most MOST."""

    total: int  # of all moves of the table
    moves: list[int]
    visits: list[int]
    values: list[float]  # -inf where there is none


def best(table: "MoveStatistics", move: int) -> Best:
    """The best moves by visits, then by value, then as the table has them.

    The chosen `move` is among them, in the last place if it would not be otherwise, unless the table lacks it.
    TypeError and ValueError for anything but numbers, visits below 0, infinite values, columns that differ in length.
    """
    moves, visits, values = table.moves.tolist(), table.playouts.tolist(), table.means.tolist()
    if not len(moves) == len(visits) == len(values):
        raise ValueError(f"statistics of {len(moves)} moves have {len(visits)} visits and {len(values)} values")
    if not math.isfinite(sum(values)):
        if math.inf in values or -math.inf in values:
            raise ValueError(f"statistics hold an infinite value among {values}")
        values = [-math.inf if value != value else value for value in values]
    order: Sequence[int] = range(len(moves))
    if len(moves) > MOST:
        least = sorted(visits)[-MOST]
        order = [i for i in order if visits[i] >= least]
    order = sorted(order, key=list(zip(visits, values)).__getitem__, reverse=True)[:MOST]  # stable
    if move in moves and (place := moves.index(move)) not in order:
        order[-1] = place
    total = sum(visits)
    if visits and not 0 <= min(visits) <= total < 1 << 63:
        raise ValueError(f"statistics hold {min(visits)} visits of a move, and {total} of all")
    columns = [int(visits[i]) for i in order], [float(values[i]) for i in order]
    return Best(int(total), [moves[i] for i in order], *columns)


def written(best: Best, names: Sequence[str]) -> str | None:
    """The text of the best few, with the `names` of their moves, which have no blanks; None if there are none."""
    if not best.moves:
        return None
    words: list = [best.total]
    for name, visits, value in zip(names, best.visits, best.values):
        words += name, visits, value if value > -math.inf else math.nan
    return _WRITTEN[len(names)] % tuple(words)


def is_written(text: str) -> bool:
    """Whether `written` may have written it; quick, for every decision that a worker sends."""
    if not _FORM.fullmatch(text):
        return False
    words = text.split(" ")
    return sum(map(int, words[2::3])) <= int(words[0])


def read(text: str | None) -> list[Candidate]:
    """The candidates in a text by `written`; ValueError for other text."""
    if text is None:
        return []
    if not is_written(text):
        raise ValueError(
            f"is no list of up to {MOST} candidates, such as '20 d4 12 0.5 c3 8 nan', "
            "or its first number, the visits of all moves, is too small"
        )
    total, *words = text.split(" ")
    return [
        Candidate(name, int(visits), int(visits) / max(1, int(total)), None if value == "nan" else float(value))
        for name, visits, value in zip(words[::3], words[1::3], words[2::3], strict=True)
    ]
