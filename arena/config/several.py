"""Ranges in the text of games and agents, and lists in schemes: `tree(workers=1..3, virtual_loss=[0, 1])` is six."""

import re
from collections.abc import Sequence
from itertools import chain, product

QUOTED = r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""  # stays as it is
RANGE = r"([\d.]*\d)\.\.(\d[\d.]*)"
ITEM = re.compile(rf"(?:{QUOTED}|[^,'\"])+")
PIECES = re.compile(rf"({QUOTED})|\[((?:{QUOTED}|[^\[\]'\"])*)\]|{RANGE}")

DIGITS = 100


class RangeError(ValueError):
    """A range or list that cannot be spelled out, in words that follow the text."""


def spelled_out(spec: str, most: int, lists: bool = False) -> list[str]:
    """`samegame(seed=1..3)` -> samegame(seed=1), (seed=2), (seed=3); RangeError if wrong, or of more than `most`.

    lists: whether `[0, 3]` stands for two, too, and is not the value of a parameter, as in `nim(heaps=[3, 5])`
    """
    parts: list[Sequence] = []
    end, count = 0, 1
    for found in PIECES.finditer(spec):
        quoted, listed, low, high = found.groups()
        if quoted or (listed is not None and not lists):
            continue
        several = [_range(low, high)] if low else _items(listed)
        count *= sum(map(_size, several))
        parts += [[spec[end : found.start()]], [*chain(*several)] if count <= most else ()]
        end = found.end()
    if count > most:
        raise RangeError(f"stands for {count:,}; {most:,} are the most")
    return ["".join(map(str, each)) + spec[end:] for each in product(*parts)]


def _items(text: str) -> list[Sequence]:
    """What a list has, `1, 4..8, 'a'`, whose ranges are several."""
    found = [part.strip() for part in ITEM.findall(text)]
    if not any(found) or not all(found):
        raise RangeError(f"has the list [{text}], which lacks an item; lists are such as [1, 2, 4..8]")
    ranges = [re.fullmatch(RANGE, item) for item in found]
    return [_range(*one.groups()) if one else [item] for one, item in zip(ranges, found)]


def _size(items: Sequence) -> int:
    return items.stop - items.start if isinstance(items, range) else len(items)  # len() fails for the longest ranges


def _range(low: str, high: str) -> range:
    if not (low.isdecimal() and high.isdecimal()) or max(len(low), len(high)) > DIGITS:
        raise RangeError(f"has the range {low}..{high}; ranges are of whole numbers, such as 1..8")
    if int(low) > int(high):
        raise RangeError("has a range that ends before it begins; 1..8 is from 1 to 8")
    return range(int(low), int(high) + 1)
