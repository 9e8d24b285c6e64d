"""The effort of a decision: every statistic that an agent may report, declared once.

A field of `Effort` is a parameter of `Decision`, a column of the store, of the tables `moves` and `effort` and of every
export, and a key of the JSON lines.  A new one raises `results.database.rows.SCHEMA_VERSION`.

This module imports neither NumPy nor Numba, so that `results` can read it quickly.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The effort of one decision; a statistic that is not counted is None."""

    playouts: int | None = None  # in total
    playouts_each: int | None = None  # the most of any worker, if several searched
    virtual_time: float | None = None  # of simulated workers; one playout takes 1, or as many units as it has plies
    nodes: int | None = None  # positions visited
    depth: int | None = None  # plies searched in full; of a tree search, the length of its principal variation
    seconds: float = 0.0  # wall time
