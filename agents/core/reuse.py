"""Large arrays that one player leaves to the next of its kind.

Memory from the system is cleared, page by page, when it is first written.  That costs a player's first decision more
than a thousand playouts.
"""

from collections.abc import Callable, Hashable
from typing import TypeVar

MOST_KINDS, MOST_OF_A_KIND = 8, 2
MOST_BYTES = 1 << 26  # of one thing; what is larger serves long searches

T = TypeVar("T")
_left: dict[Hashable, list] = {}  # what players left, by kind


def taken(kind: Hashable, make: Callable[[], T]) -> T:
    """What a player left under that name, with its content; or a new one."""
    try:
        return _left[kind].pop()
    except (KeyError, IndexError):
        return make()


def leave(kind: Hashable, thing: object, size: int) -> None:
    """Offer a thing of so many bytes to players to come; nobody else may use it any more."""
    if size > MOST_BYTES:
        return
    if len(_left) >= MOST_KINDS and kind not in _left:
        _left.clear()
    of_kind = _left.setdefault(kind, [])
    if len(of_kind) < MOST_OF_A_KIND:
        of_kind.append(thing)
