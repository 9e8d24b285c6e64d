"""Games: rules as plain Python that Numba compiles.

game = games.make("breakthrough(rows=6, columns=4)")
state = game.initial()
game.moves(state)
games.perft(game, 4)
games.svg(game, state)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers: the names that `__getattr__` finds
    from games.core.check import check as check
    from games.core.drawing import svg as svg
    from games.core.game import Game as Game
    from games.core.game import IllegalMove as IllegalMove
    from games.core.playout import perft as perft
    from games.core.playout import playouts as playouts
    from games.core.registry import SpecError as SpecError

_HOMES = {
    "Game": "games.core.game",
    "IllegalMove": "games.core.game",
    "SpecError": "games.core.registry",
    "perft": "games.core.playout",
    "playouts": "games.core.playout",
    "check": "games.core.check",
    "svg": "games.core.drawing",
}

__all__ = [*_HOMES, "make", "names"]


def make(spec: str) -> "Game":
    """The game that `spec` describes, such as `"connect4(rows=6, columns=7)"`; SpecError says what is wrong with it."""
    from games.core.game import registry

    return registry.make(spec)


def names() -> list[str]:
    """The names of all games."""
    from games.core.game import registry

    return list(registry.classes())


if not TYPE_CHECKING:  # a type checker reports any other name as a mistake

    def __getattr__(name):
        # Numba is loaded with the first thing that needs it, so that commands that do not are quick
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'games' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
