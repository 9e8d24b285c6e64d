"""The base class of errors that a user can mend: the message says what is wrong and what would be right."""

from collections.abc import Collection
from itertools import islice

LISTED = 50  # names of moves in a message


class UserError(Exception):
    """The message is for the person who typed the command: `arena` prints it alone, without a traceback."""


def listed(names: Collection[str]) -> str:
    """The names of legal moves for a message, the first of them where they are many."""
    shown = " ".join(islice(names, LISTED)) or "none"
    return f"{shown} and {len(names) - LISTED:,} more" if len(names) > LISTED else shown
