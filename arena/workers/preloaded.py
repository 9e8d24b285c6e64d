"""Loaded last by the fork server: what Numba needs for a process's first kernel.

Numba then prepares all its functions, for which it loads SciPy's linear algebra: a third of a second.
"""

from numba.core.registry import cpu_target

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
