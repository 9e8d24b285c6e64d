"""`arena join`: an agent joins a stored run."""

from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import Panel, command
from arena.commands.completion import complete_agent
from arena.commands.output import print_table, quoted, tell
from arena.commands.playing import Where, exit_if_failed, playing_study, tell_notes

Newcomer = Annotated[str, typer.Argument(help="The agent.", autocompletion=complete_agent, show_default=False)]
Wanted = Annotated[
    float, typer.Option("--error", help="Elo, up or down, to which its rating is to be known (95 %).", min=1)
]
Version = Annotated[str, typer.Option("--version", help="Its name in the tables. Default: its text.", metavar="NAME")]
Drop = Annotated[str, typer.Option("--drop", help="Take this agent and its games out instead.", metavar="NAME")]
Games = Annotated[int, typer.Option("--games", "-n", help="The most games that it plays.", min=2)]


@command(
    Panel.PLAY,
    examples='arena join runs/tournament "uct(playouts=500)"\n'
    'arena join runs/tournament "uct(playouts=500)" --error 40\n'
    'arena join runs/tournament "alphabeta(depth=4)" --version "alphabeta, new order"\n'
    'arena join runs/tournament --drop "uct(playouts=500)"',
    as_json=True,
)
def join(
    folder: options.Folder,
    agent: Newcomer = "",
    error: Wanted = 20.0,
    version: Version = "",
    games: Games = 10_000,
    drop: Drop = "",
    trust: options.Trust = False,
    *,
    where: Where,
) -> None:
    """Let an agent join a stored run, and rate it.

    It meets agents of the run, at first from the best to the worst, then those that tell most of its strength, batch by
    batch, until its rating is known. What was played is not played again; the whole pool is rated anew. The same
    command again goes on.

    An agent that cannot play its games, such as a program that fails, is taken out by --drop; the file as it was is
    kept beside the new one.
    """
    from arena.study.pools import drop as dropped
    from arena.study.pools import join as joined

    if bool(agent) == bool(drop):
        raise typer.BadParameter("give the agent that joins, or --drop and the name of one that leaves")
    options.trust_run(folder, trust)
    if drop:
        run, kept = dropped(folder, drop)
        table = run.table("standings")
        print_table(table)
        tell(f"{drop} is no longer in the run; the file as it was: {quoted(kept)}", *run.notes_on(table))
        return
    with playing_study(folder, where) as playing:
        run = joined(folder, agent, error, version, games, *playing)
    table = run.table("standings")
    print_table(table)
    tell_notes(run, table)
    tell(f"\n  arena table {quoted(folder)} --kind ranks")
    exit_if_failed(run)
