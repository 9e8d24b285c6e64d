"""Digests of stored rows: 64 bits of BLAKE2b, which reveal a changed bit or digit when rows are read.

A change goes unnoticed once in 2**64; 64 bits also tell openings apart (see `tallies`).  Hashed is `marshal`'s
version 2 of a tuple of plain values, the same since Python 2.5, which keeps every bit of a float.
"""

import marshal
from collections.abc import Callable
from dataclasses import fields
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from arena.results.database.columns import columns_of, kind_of


def digest(values: tuple | list) -> int:
    """The digest of None, int, float, str and tuples of them; a signed integer of 64 bits."""
    return int.from_bytes(blake2b(marshal.dumps(values, 2), digest_size=8).digest(), "little", signed=True)


def row_of(record: type) -> Callable[[Any], tuple]:
    """A function from a record of that class to its row, as SQLite returns it.

    Ints in columns of floats become floats, NaN becomes None and -0 becomes 0: SQLite stores neither.
    """
    columns = columns_of(record)
    values_of = attrgetter(*columns)
    reals = [columns.index(field.name) for field in fields(record) if kind_of(field)[0] is float]

    def row(of) -> tuple:
        values = list(values_of(of))
        for i in reals:
            if (value := values[i]) is not None:
                values[i] = float(value) + 0.0 if value == value else None
        return tuple(values)

    return row


def is_sound(row: tuple) -> bool:
    """Whether the last value of a row is the digest of those before."""
    return digest(row[:-1]) == row[-1]
