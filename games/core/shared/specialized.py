"""Which compiled kernels run: those for all games, or those compiled for one game."""

import os

from arena.games.core.shared.errors import UserError

VARIABLE = "ARENA_SPECIALIZE"  # environment variable with the mode
ALWAYS, NEVER = MODES = ("always", "never")


def mode_of_environment() -> str:
    """The environment's mode; UserError if it is none."""
    return checked(os.environ.get(VARIABLE, NEVER))


def checked(mode: str) -> str:
    """The mode; UserError if there is no such mode."""
    if mode not in MODES:
        raise UserError(f"{VARIABLE} = {mode!r} is not one of {', '.join(MODES)}")
    return mode


class Setting:
    """Which kernels run here and in processes started from here."""

    mode = os.environ.get(VARIABLE, NEVER)


def set_mode(mode: str) -> None:
    """Choose for this process and those that it starts; UserError if it is none."""
    os.environ[VARIABLE] = Setting.mode = checked(mode)
