"""Searches run in chunks: a kernel does some more iterations on data that persist, the driver watches the clock."""

import time
from collections.abc import Callable

LONG, SHORT = 0.05, 0.002  # seconds a chunk should take: at most, and near the end of a time budget
SLICES = 50  # under a time budget, a chunk takes this part of what is left
FIRST = 16  # iterations of the first chunk, before their cost is known
GROWTH = 64  # of a chunk over the one before it: at most, since the first ones may be cheap


def run_chunks(run: Callable[[int], int], limit: int | None, seconds: float | None, first: int | None = None) -> int:
    """Call `run(n)` again and again until `limit` iterations are done, `seconds` have passed, or it does none.

    `run(n)` does up to n more iterations and returns how many it did; `run_chunks` returns how many there were in all.
    The first chunk has `first` iterations; by default FIRST, or under a time budget one, since it may be slow.
    Towards the end of a time budget the chunks are short, so that the search ends within a few milliseconds of it.
    """
    start = now = time.perf_counter()
    if first is None:
        first = FIRST if seconds is None else 1
    done, chunk = 0, first
    while limit is None or done < limit:
        ran = run(chunk if limit is None else min(chunk, limit - done))
        done += ran
        before, now = now, time.perf_counter()
        left = float("inf") if seconds is None else start + seconds - now
        if ran == 0 or left <= 0:
            break
        rate = ran / max(now - before, 1e-9)
        length = min(LONG, max(SHORT, left / SLICES), left)
        chunk = max(1, min(int(rate * length), GROWTH * chunk))
    return done
