"""`arena serve-agent`: our agents in the arenas of other people."""

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import AgentArgument, Game

Protocol = StrEnum("Protocol", ["json", "gtp", "uci"])
GTP = Protocol("gtp")


@command(
    Panel.PLAY,
    examples='arena serve-agent "uct(seconds=1)" "go(size=9)" --protocol gtp\n'
    'arena serve-agent "alphabeta(depth=6)" connect4 --protocol uci',
)
def serve_agent(
    agent: AgentArgument,
    game: Game,
    protocol: Annotated[Protocol, typer.Option(help="What is spoken.")] = GTP,
    seed: Annotated[int, typer.Option(help="The seed of the agent: the same games are answered alike.")] = 0,
) -> None:
    """Let another program play against one of our agents.

    That program, such as GoGui or gogui-twogtp, starts this command.  Requests come from the standard input, answers go
    to the standard output, and remarks to the error stream.  Kernels are compiled before the first answer; with GTP,
    a size or komi other than the game's compiles them again.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as answers:
        os.dup2(2, 1)  # what an agent prints is no answer
        import agents
        import games
        from agents.outside.serving import serve
        from arena.play.first_moves import warm

        made, rules = agents.make(agent), games.make(game)
        if not made.refuses(rules):
            _warm(warm, made, rules)
        serve(made, rules, protocol, iter(sys.stdin.readline, ""), answers.write, seed)


def _warm(warm, agent, game) -> None:
    """Compile what the agent runs; where that fails, its first answer will say so."""
    from arena.config.config import Seat

    warm([game], Seat(str(agent), agent, agent.own_budget()))
