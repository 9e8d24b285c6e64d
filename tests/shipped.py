"""The games and agents of the project itself; tests register some of their own besides."""

from arena.agents.core.agent import registry as agent_registry
from arena.games.core.game import registry as game_registry


def _names(registry):
    return [name for name, cls in registry.classes().items() if cls.__module__.startswith(f"{registry.package}.")]


GAMES = _names(game_registry)
AGENTS = _names(agent_registry)
