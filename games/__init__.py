"""Games: rules as plain Python that Numba compiles.

game = games.make("breakthrough(rows=6, columns=4)")
state = game.initial()
game.moves(state)
games.perft(game, 4)
games.svg(game, state)
"""

import importlib

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


def make(spec: str):
    """The game that `spec` describes, such as `"connect4(rows=6, columns=7)"`; SpecError says what is wrong with it."""
    from games.core.game import registry

    return registry.make(spec)


def names() -> list[str]:
    """The names of all games."""
    from games.core.game import registry

    return list(registry.classes())


def __getattr__(name):
    # Numba is loaded with the first thing that needs it, so that commands that do not are quick
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'games' has no attribute {name!r}")
