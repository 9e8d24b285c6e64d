"""Loaded by the fork server after all else: what Numba itself needs for the first kernel that a process runs.

Numba makes ready all its functions then, for which it loads SciPy's linear algebra: a third of a second, which workers
that are forked from here have behind them.
"""

from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
