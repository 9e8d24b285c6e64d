"""Which compiled kernels run: those for all games, or those compiled for one game (games/core/jit/background.py)."""

VARIABLE = "ARENA_SPECIALIZE"  # the environment variable that says so
ALWAYS, AUTO, NEVER = MODES = ("always", "auto", "never")
