"""Agents: search algorithms that choose moves.

agent = agents.make("uct(exploration=0.4, playouts=1000)")
agent.choose(game, game.initial(), seed=1)
"""

import importlib

_HOMES = dict.fromkeys(("Agent", "Budget", "Decision", "Player", "Unsuited"), "agents.core.agent")
_HOMES["check"] = "agents.core.check"

__all__ = [*_HOMES, "make", "names"]


def make(spec: str):
    """The agent that `spec` describes; SpecError (of the games package) says what is wrong with it."""
    from agents.core.agent import registry

    return registry.make(spec)


def names() -> list[str]:
    """The names of all agents."""
    from agents.core.agent import registry

    return list(registry.classes())


def __getattr__(name):
    # Numba is loaded with the first thing that needs it, so that commands that do not are quick
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'agents' has no attribute {name!r}")
