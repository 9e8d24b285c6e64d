"""Searches run in chunks: a kernel does some more iterations, and the driver watches the clock."""

import time
from collections.abc import Callable
from dataclasses import dataclass

LONG, SHORT = 0.05, 0.0005  # seconds of a chunk: at most, and near the end of a time budget
SLICES = 50  # of the time left, under a time budget
FIRST = 16  # iterations of the first chunk
GROWTH = 8  # times the previous chunk at most, since the first ones may be cheap


@dataclass
class Control:
    """What another thread may change while this process searches."""

    until: float | None = None  # of time.perf_counter(), in place of the budget's seconds; inf to ponder, 0 to stop
    part: float | None = None  # of time.perf_counter(), when a part of a search ends, which then goes on with another
    longest: float | None = None  # seconds of a chunk, in place of LONG
    heard: Callable[[], None] | None = None  # called after each chunk, by the thread that searches

    def left(self, budgeted: float, now: float) -> float:
        """The seconds left of a search whose budget ends at `budgeted`."""
        ends = budgeted if self.until is None else self.until
        return (ends if self.part is None else min(ends, self.part)) - now


control = Control()


def run_chunks(run: Callable[[int], int], limit: int | None, seconds: float | None, first: int | None = None) -> int:
    """Call `run(n)` until `limit` iterations are done, `seconds` have passed, or a call does none; returns the total.

    `run(n)` does up to n more iterations and returns their number.  The first chunk has `first` iterations: by default
    FIRST, or one under a time budget, since it may be slow.  Chunks get short towards the end of a time budget, which
    the search exceeds by a few milliseconds at most.  `control` may end the search earlier, or let it go on.
    """
    start = now = time.perf_counter()
    budgeted = float("inf") if seconds is None else start + seconds
    if first is None:
        first = FIRST if seconds is None else 1
    done, chunk = 0, first
    while limit is None or done < limit:
        ran = run(chunk if limit is None else min(chunk, limit - done))
        done += ran
        before, now = now, time.perf_counter()
        if control.heard:
            control.heard()
        left = control.left(budgeted, now)
        if ran == 0 or left <= 0:
            break
        rate = ran / max(now - before, 1e-9)
        length = min(control.longest or LONG, max(SHORT, left / SLICES), left)
        chunk = max(1, min(int(rate * length), GROWTH * chunk))
    return done
