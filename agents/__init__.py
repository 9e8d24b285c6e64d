"""Agents: search algorithms that choose moves.

agent = agents.make("uct(exploration=0.4, playouts=1000)")
agent.choose(game, game.initial(), seed=1)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names that `__getattr__` imports
    from agents.core.agent import Agent as Agent
    from agents.core.agent import Budget as Budget
    from agents.core.agent import Decision as Decision
    from agents.core.agent import Player as Player
    from agents.core.agent import Unsuited as Unsuited
    from agents.core.check import check as check
    from agents.minimax.trace import explore as explore
    from agents.montecarlo.grown import grow as grow
    from agents.pictures import View as View
    from agents.pictures import show as show

_HOMES = dict.fromkeys(("Agent", "Budget", "Decision", "Player", "Unsuited"), "agents.core.agent")
_HOMES |= {"check": "agents.core.check", "explore": "agents.minimax.trace", "grow": "agents.montecarlo.grown"}
_HOMES |= dict.fromkeys(("View", "show"), "agents.pictures")

__all__ = [*_HOMES, "make", "names"]


def make(spec: str) -> "Agent":
    """The agent that `spec` describes; SpecError (of the games package) names the mistake in it."""
    from agents.core.agent import registry

    return registry.make(spec)


def names() -> list[str]:
    """The names of all agents."""
    from agents.core.agent import registry

    return list(registry.classes())


if not TYPE_CHECKING:  # for a type checker, unknown names stay mistakes

    def __getattr__(name):
        # Numba is loaded with the first name that needs it: commands that need none start quickly
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
