"""Ranges in the text of games and agents: `tree(workers=1..8)` stands for eight."""

import re
from itertools import product

QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""  # stays as it is
PIECES = re.compile(rf"({QUOTED})|([\d.]*\d)\.\.(\d[\d.]*)")

DIGITS = 100


class RangeError(ValueError):
    """A range that cannot be spelled out, in words that follow the text."""


def spelled_out(spec: str, most: int) -> list[str]:
    """`samegame(seed=1..3)` -> samegame(seed=1), (seed=2), (seed=3); RangeError if wrong, or of more than `most`."""
    parts: list[list[str] | range] = []
    end, count = 0, 1
    for found in PIECES.finditer(spec):
        quoted, low, high = found.groups()
        if quoted:
            continue
        first, last = _ends(low, high)
        count *= last - first + 1
        parts += [[spec[end : found.start()]], range(first, last + 1)]
        end = found.end()
    if count > most:
        raise RangeError(f"stands for {count:,}; {most:,} are the most")
    return ["".join(map(str, each)) + spec[end:] for each in product(*parts)]


def _ends(low: str, high: str) -> tuple[int, int]:
    if not (low.isdecimal() and high.isdecimal()) or max(len(low), len(high)) > DIGITS:
        raise RangeError(f"has the range {low}..{high}; ranges are of whole numbers, such as 1..8")
    if int(low) > int(high):
        raise RangeError("has a range that ends before it begins; 1..8 is from 1 to 8")
    return int(low), int(high)
