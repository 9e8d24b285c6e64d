"""`arena bench`: the speed of games and searches."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import VOID, Panel, command
from arena.commands.output import answered, check_free, print_table, say, tell, write_whole
from arena.commands.progress import progress_line

PLAYOUTS = "playouts"  # what a row without an agent measures
KERNELS = {"always": "compiled for each game", "never": "those for all games"}


Games = Annotated[list[str] | None, options.games_option("A game to measure; may be repeated.")]
Agents = Annotated[list[str] | None, options.agents_option("An agent with its budget; may be repeated.")]
Everything = Annotated[bool, typer.Option("--all", help="Measure every serial search on every game: about an hour.")]
Seconds = Annotated[float, typer.Option(callback=options.positive, help="The time of each measurement.")]
ReportFile = Annotated[Path | None, options.output_option("A JSON file to write the results to, for --against.")]
Against = Annotated[
    Path | None,
    typer.Option(help="Compare with a file of --output, or with another version: the folder of its sources."),
]


@command(
    Panel.MACHINE,
    examples='arena bench\narena bench --game connect4 --agent "uct(playouts=10000)" --seconds 5\n'
    "arena bench --output before.json\narena bench --against before.json\narena bench --game hex --against ../before",
    as_json=True,
)
def bench(
    game: Games = None,
    agent: Agents = None,
    everything: Everything = False,
    seconds: Seconds = 0.5,
    output: ReportFile = None,
    against: Against = None,
    force: options.Force = False,
) -> None:
    """Measure the speed of playouts and searches on one core.

    Without --game and --agent, measure the playouts of every game, and every serial search on Connect 4, Pig and
    SameGame, which takes some minutes.  A game alone is measured with every search, an agent alone on every game.  The
    time to compile from scratch is measured too.  The signature is a number that changes only with the searches' work.

    Each measurement is split into chunks and reported as their median, in units per second of processor time.  With
    --against, a row is slower if its median has dropped by more than 5 % and by more than the spread of either
    measurement's chunks; rows that look slower are measured again.  A folder of sources is measured in turns with this
    version: more exact than a file, since both meet the same load.  Against a file, the default is the file's rows.

    The exit code is 1 if anything is slower or fails, for example because a kernel does not compile.
    """
    check_free(output, force)
    if against and not against.exists():
        raise typer.BadParameter(f"--against {against}: there is no such file or folder")
    from arena.study import bench_comparison as comparison

    stored = comparison.read_report(against) if against and against.is_file() else None
    new, old = _measured(_wanted(game, agent, everything, stored), seconds, stored, against)
    if output:
        write_whole(output, json.dumps(new, indent=1).encode(), force)
    compared = comparison.compare(new, old) if old else []
    if not answered(new | ({"against": old | {"rows": compared}} if old else {})):
        _print(new, old, compared)
    if new["failures"] or any(row["verdict"] == "slower" for row in compared):
        raise typer.Exit(VOID)


def _wanted(game: list[str] | None, agent: list[str] | None, everything: bool, stored: dict | None) -> list:
    """What to measure: what the user named, or what a stored report has, or the usual subjects."""
    from arena.study import bench_comparison as comparison
    from arena.study.bench import search_agents, subjects, usual_subjects

    if game or agent or everything:
        return subjects(game or options.registered("games"), search_agents() if agent is None else agent)
    return comparison.subjects_of(stored) if stored else usual_subjects()


def _measured(wanted: list, seconds: float, stored: dict | None, against: Path | None) -> tuple[dict, dict | None]:
    """The report of this version and the one to compare it with: stored, or measured in turns with it."""
    from arena.study import bench_comparison as comparison
    from arena.study.bench import Version, report
    from arena.study.bench import bench as measured

    with ExitStack() as stack:
        folders = [None, against] if against and not stored else [None]
        versions = [stack.enter_context(Version(folder)) for folder in folders]
        show = stack.enter_context(progress_line())
        reports = [report(rows) for rows in measured(versions, wanted, seconds, show)]
        new, old = reports[0], stored or (reports[1] if against else None)
        if old:
            comparison.look_again(new, old, versions, seconds, show)
    return new, old


def _print(new: dict, old: dict | None, compared: list[dict]) -> None:
    """Print the measurements or the comparison, then what could not be measured."""
    import pandas as pd

    from arena.study import bench_comparison as comparison

    if old:
        _print_comparison(compared, comparison.changed(new, old))
    else:
        _print_report(new)
    if new["failures"]:
        rows = pd.DataFrame(new["failures"]).fillna({"agent": PLAYOUTS})
        print_table(rows, title="\nFailures")


def _print_report(report: dict) -> None:
    import pandas as pd

    for rows, title in ((report["games"], "Random playouts"), (report["agents"], "Searches")):
        if rows:
            print_table(pd.DataFrame(rows).drop(columns=["signature", "chunks"]), title=title)
    if any(row["lanes"] for row in report["games"]):
        bits = report["machine"]["vector_bits"]
        say(f"lanes: playouts side by side, in vectors of {bits} bits; 0: one by one")
    typer.echo(f"kernels: {KERNELS[report['specialize']]}")
    typer.echo(f"signature {report['signature']}")


def _print_comparison(compared: list[dict], changed: list) -> None:
    """Print whether the signatures agree, then the ratios of speeds."""
    import pandas as pd

    if changed:
        names = ", ".join(f"{subject.agent or PLAYOUTS} on {subject.game}" for subject in changed)
        typer.echo(f"The signature differs: other work than before is done in {names}.\n")
    else:
        typer.echo("The signature is the same.\n")
    if compared:
        rows = pd.DataFrame(compared).fillna({"agent": PLAYOUTS})
        print_table(rows, title="Units a second of processor time")
    slower = sum(row["verdict"] == "slower" for row in compared)
    tell(f"{slower} of {len(compared)} are slower beyond noise")
