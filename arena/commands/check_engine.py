"""`arena check-engine`: whether an outside program can play."""

from enum import StrEnum
from typing import Annotated

import typer

from arena.commands.application import VOID, Panel, command, complain
from arena.commands.options import budget_of, games_option
from arena.commands.output import say

Protocol = StrEnum("Protocol", ["json", "gtp", "uci", "xboard"])
JSON = Protocol("json")
PATIENCE = 20.0  # seconds without an answer


@command(
    Panel.MACHINE,
    examples="arena check-engine docs/engines/engine.py --game connect4\n"
    'arena check-engine "gnugo --mode gtp" --game "go(size=9)" --protocol gtp --budget seconds=2',
)
def check_engine(
    program: Annotated[str, typer.Argument(help="The command that starts the program.", metavar="COMMAND")],
    game: Annotated[str, games_option('A game such as "connect4(rows=6, columns=7)".')],
    protocol: Annotated[Protocol, typer.Option(help="The protocol that it speaks.")] = JSON,
    options: Annotated[str, typer.Option(help='Its options: "name=value; name=value".')] = "",
    budget: Annotated[
        list[str] | None, typer.Option(metavar="KIND=AMOUNT", help="Its budget for a move. Default: seconds=1.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the positions.")] = 1,
) -> None:
    """Try an outside program: greeting, moves and a game.

    It is greeted, asked for moves in three positions, plays a game, and is dismissed.
    If anything fails, the exit code is 1; the message says how to fix it and quotes the program's last lines.
    """
    from arena import games
    from arena.agents.core.agent import Unsuited
    from arena.agents.outside.external import External
    from arena.agents.outside.program_check import check_engine as findings

    limits = budget_of(budget or ["seconds=1"])
    try:
        agent = External(program, str(protocol), options, patience=PATIENCE, **limits)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None
    rules, wrong = games.make(game), 0
    if reason := agent.refuses(rules):
        raise Unsuited(reason)
    for found in findings(agent, rules, seed):
        say(f"{'ok   ' if found.sound else 'WRONG'}  {found.test}: {found.text}")
        if not found.sound:
            wrong += 1
            if found.mend:
                say(f"       To fix it: {found.mend}")
    if wrong:
        complain(f"{wrong} of the tests failed")
        raise typer.Exit(VOID)
    say(f"{program} can play {rules}")
