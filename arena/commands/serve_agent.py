"""`arena serve-agent`: our agents in other people's arenas."""

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
    protocol: Annotated[Protocol, typer.Option(help="The protocol to speak.")] = GTP,
    seed: Annotated[int, typer.Option(help="The seed of the agent: equal games get equal answers.")] = 0,
) -> None:
    """Let another program play against one of our agents.

    The other program, such as GoGui or gogui-twogtp, starts this command.  Requests come on standard input, answers go
    to standard output, and remarks to standard error.  Kernels are compiled before the first answer; with GTP, a size
    or komi other than the game's compiles them again.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as answers:
        os.dup2(2, 1)  # an agent's prints are no answers
        from arena import agents, games
        from arena.agents.outside.serving import serve
        from arena.config.config import Seat
        from arena.play.warming import warm

        def compiled(agent, game):
            if not agent.refuses(game):
                warm([game], Seat(str(agent), agent, agent.own_budget()))  # a failure will show in the first answer

        made, rules = agents.make(agent), games.make(game)
        if protocol != "uci":
            compiled(made, rules)
        prepare = compiled if protocol == "uci" else None
        serve(made, rules, protocol, iter(sys.stdin.readline, ""), answers.write, seed, prepare)
