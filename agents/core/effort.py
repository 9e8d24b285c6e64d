"""What a decision took: every statistic that an agent may report, declared once.

A field added to `Effort` is a parameter of `Decision`, a column of the store, of the tables `moves` and `effort` and of
every export, and a key of the JSON lines, by that one line.  Stores written before it are of an older schema: raise
`results.store.SCHEMA_VERSION` with it.

This module imports neither NumPy nor Numba, so that `results` can read it quickly.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What a search spent on one decision.  A statistic that the agent does not count is None."""

    playouts: int | None = None  # in total
    playouts_each: int | None = None  # of the worker that made the most, where several searched
    virtual_time: float | None = None  # of simulated workers; one playout takes 1, or as many units as it has plies
    nodes: int | None = None  # positions visited
    depth: int | None = None  # plies searched in full, or the length of a tree search's principal variation
    seconds: float = 0.0  # wall time
