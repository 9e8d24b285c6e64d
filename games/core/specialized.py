"""Which compiled kernels run: those for all games, or those compiled for one game (games/core/jit/background.py)."""

import os

from games.core.errors import UserError

VARIABLE = "ARENA_SPECIALIZE"  # the environment variable that says so
ALWAYS, AUTO, NEVER = MODES = ("always", "auto", "never")


class UnknownMode(UserError, ValueError):
    """The environment variable, or a caller, asks for a mode that there is not."""


def mode_of_environment() -> str:
    """What the environment variable says; UnknownMode if it is none of the modes."""
    return checked(os.environ.get(VARIABLE, AUTO))


def checked(mode: str) -> str:
    """The mode; UnknownMode if there is no such one."""
    if mode not in MODES:
        raise UnknownMode(f"{VARIABLE} = {mode!r} is not one of {', '.join(MODES)}")
    return mode
