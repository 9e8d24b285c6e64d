"""`arena bench`: the speed of games and searches."""

from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import VOID, Panel, command
from arena.commands.output import answered, print_table, say
from arena.commands.progress import progress_line

PLAYOUTS = "playouts"  # what a row without an agent measures
KERNELS = {"always": "compiled for each game", "never": "those for all games"}


Games = Annotated[list[str] | None, options.games_option("A game to measure; may be repeated.")]
Agents = Annotated[list[str] | None, options.agents_option("An agent with its budget; may be repeated.")]
Seconds = Annotated[float, typer.Option(callback=options.positive, help="The time of each measurement.")]


@command(
    Panel.MACHINE,
    examples='arena bench\narena bench --game connect4 --agent "uct(playouts=10000)" --seconds 5',
    as_json=True,
)
def bench(game: Games = None, agent: Agents = None, seconds: Seconds = 0.5) -> None:
    """Measure the speed of playouts and searches on one core.

    Without --game and --agent, measure the playouts of every game, and every serial search on Connect 4, Pig and
    SameGame, which takes some minutes.  A game alone is measured with every search, an agent alone on every game.  The
    time to compile from scratch is measured too.

    Each measurement is split into chunks and reported as their median, in units per second of processor time.

    The exit code is 1 if anything fails, for example because a kernel does not compile.
    """
    from arena.study.bench import measure, report, search_agents, subjects, usual_subjects

    if game or agent:
        wanted = subjects(game or options.registered("games"), search_agents() if agent is None else agent)
    else:
        wanted = usual_subjects()
    with progress_line() as show:
        measured = report(measure(wanted, seconds, show))
    if not answered(measured):
        _print(measured)
    if measured["failures"]:
        raise typer.Exit(VOID)


def _print(report: dict) -> None:
    """Print the measurements, then what could not be measured."""
    for rows, title in ((report["games"], "Random playouts"), (report["agents"], "Searches")):
        if rows:
            print_table([{key: row[key] for key in row if key != "chunks"} for row in rows], title)
    if any(row["lanes"] for row in report["games"]):
        bits = report["machine"]["vector_bits"]
        say(f"lanes: playouts side by side, in registers of {bits} bits; 0: one by one")
    typer.echo(f"kernels: {KERNELS[report['specialize']]}")
    if report["failures"]:
        print_table([row | {"agent": row.get("agent") or PLAYOUTS} for row in report["failures"]], "\nFailures")
