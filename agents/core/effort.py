"""What a decision took: every statistic that an agent may report, declared once.

One line adds a field to `Effort`, and so a parameter to `Decision`, a column to the store, to the tables `moves` and
`effort` and to every export, and a key to the JSON lines.  Stores written before have an older schema, so raise
`results.store.SCHEMA_VERSION` as well.

This module imports neither NumPy nor Numba, so that `results` can read it quickly.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What a search spent on one decision; statistics that the agent does not count are None."""

    playouts: int | None = None  # in total
    playouts_each: int | None = None  # of the worker that made the most, if several searched
    virtual_time: float | None = None  # of simulated workers; one playout takes 1, or as many units as it has plies
    nodes: int | None = None  # positions visited
    depth: int | None = None  # plies searched in full, or the length of a tree search's principal variation
    seconds: float = 0.0  # wall time
