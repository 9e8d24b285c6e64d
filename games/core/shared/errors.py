"""The base class of errors that a user can mend: messages say what is wrong and what would be right."""

from collections.abc import Collection
from itertools import islice

LISTED = 50  # moves in a message


class UserError(Exception):
    """An error that a user can mend: `arena` prints its message alone, without a traceback."""


def same_letters(text: str, names: Collection[str]) -> list[str]:
    """The first names, three at most, that have the letters of a text in another order or case."""
    letters = sorted(text.strip().lower())
    return [name for name in names if sorted(name.lower()) == letters][:3]


def listed(names: Collection[str]) -> str:
    """Legal moves for a message, the first of many."""
    shown = " ".join(islice(names, LISTED)) or "none"
    return f"{shown} and {len(names) - LISTED:,} more" if len(names) > LISTED else shown
