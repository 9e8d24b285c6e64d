"""Loaded last by the fork server: what every process that it starts would find out again.

Numba prepares all its functions for a process's first kernel, for which it loads SciPy's linear algebra: a third of a
second.  The indices of names, and the digests of the code that a run's games and agents share, take some 50 ms.
"""

from numba.core.registry import cpu_target

from arena.agents.core.agent import registry as agents
from arena.agents.montecarlo.method import registry as methods
from arena.games.core.game import registry as games
from arena.games.core.jit import code_digest

cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
code_digest(*(cls for registry in (games, agents, methods) for cls in registry.loaded()))
