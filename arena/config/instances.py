"""The instances of a configuration: specs of games, of which one may stand for many."""

import re

MAX_INSTANCES = 10_000


def spelled_out(spec: str) -> list[str]:
    """`samegame(seed=1..3)` -> samegame(seed=1), (seed=2), (seed=3); a spec without a range is itself."""
    if not (found := re.search(r"\b(\d{1,6})\.\.(\d{1,6})\b", spec)):
        return [spec]
    low, high = int(found[1]), int(found[2])
    return [
        each
        for number in range(low, min(high, low + MAX_INSTANCES) + 1)
        for each in spelled_out(f"{spec[: found.start()]}{number}{spec[found.end() :]}")
    ]
