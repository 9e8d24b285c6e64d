"""Large arrays that one player leaves to the next of its kind.

Memory from the system is cleared, page by page, when it is first written.  That costs a player's first decision more
than a thousand playouts.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

MOST_KINDS, MOST_OF_A_KIND = 8, 2
MOST_BYTES = 1 << 26  # of one thing; what is larger serves long searches

T = TypeVar("T")


class Left:
    """What players left, by kind.

    A plain dict as a global would be part of the names of compiled code that reaches `taken` by an agent's class.
    """

    def __init__(self):
        self.by_kind: dict[Hashable, list] = {}


left = Left()


def taken(kind: Hashable, make: Callable[[], T]) -> T:
    """What a player left under that name, with its content; or a new one."""
    try:
        return left.by_kind[kind].pop()
    except (KeyError, IndexError):
        return make()


def leave(kind: Hashable, thing: object, size: int) -> None:
    """Offer a thing that takes so many bytes to players to come; nobody else may use it any more."""
    if size > MOST_BYTES:
        return
    if len(left.by_kind) >= MOST_KINDS and kind not in left.by_kind:
        left.by_kind.clear()
    of_kind = left.by_kind.setdefault(kind, [])
    if len(of_kind) < MOST_OF_A_KIND:
        of_kind.append(thing)
