"""The ranges of numeric parameters, declared by classes and checked in one place."""

from typing import Any

from arena.games.core.game import check_range


def check_ranges(owner: Any) -> None:
    """ValueError unless each field named in `ranges` of the object's classes lies in its range or is None.

    ranges: field -> (low,) or (low, high)
    """
    for cls in type(owner).__mro__:
        for name, limits in vars(cls).get("ranges", {}).items():
            if (value := getattr(owner, name)) is not None:
                check_range(name, value, *limits)
