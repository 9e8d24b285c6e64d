"""An agent of ours in a process of its own, spoken to as any program is: by JSON lines."""

import shlex
import sys

from arena.agents.core.agent import Agent
from arena.agents.outside.external import External
from arena.games.core.game import Game


def isolated(agent: Agent, game: Game, patience: float) -> Agent:
    """The agent as a program, unless it is one; `patience`: seconds in which its kernels must be compiled."""
    if isinstance(agent, External):
        return agent
    words = [sys.executable, "-m", "arena", "serve-agent", str(agent), str(game), "--protocol", "json"]
    return External(command=shlex.join(words), cores=agent.cores, patience=patience)
