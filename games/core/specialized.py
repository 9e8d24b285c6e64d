"""Which compiled kernels run: those for all games, or those compiled for one game."""

import os

from arena.games.core.errors import UserError

VARIABLE = "ARENA_SPECIALIZE"  # the environment variable with the mode
SILENT = "ARENA_SILENT"  # set where what a process compiles is not for a person to read
ALWAYS, NEVER = MODES = ("always", "never")


class UnknownMode(UserError, ValueError):
    """The environment variable, or a caller, names an unknown mode."""


def mode_of_environment() -> str:
    """The mode in the environment variable; UnknownMode if it is none of the modes."""
    return checked(os.environ.get(VARIABLE, NEVER))


def checked(mode: str) -> str:
    """The mode; UnknownMode if there is no such mode."""
    if mode not in MODES:
        raise UnknownMode(f"{VARIABLE} = {mode!r} is not one of {', '.join(MODES)}")
    return mode


class Setting:
    """Which kernels run in this process and those that it starts."""

    mode = os.environ.get(VARIABLE, NEVER)


def set_mode(mode: str) -> None:
    """Choose for this process and those that it starts; UnknownMode if there is no such mode."""
    os.environ[VARIABLE] = Setting.mode = checked(mode)
