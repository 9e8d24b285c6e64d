"""`arena tune`: find the values of an agent's parameters that win."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import Panel, command
from arena.commands.output import answered, print_table, quoted, records_of, say, tell
from arena.commands.playing import Where, playing_study

TuningFile = Annotated[Path | None, typer.Argument(help="A TOML file that says what to tune.", metavar="FILE.toml")]
AGENT = "recommended.toml"


@command(
    Panel.STUDY,
    examples="arena tune tune.toml\narena tune tune.toml --out runs/tune --workers 2\n"
    "arena tune --out runs/tune --resume\narena table runs/tune --kind trials\narena plot runs/tune tuning",
    as_json=True,
)
def tune(
    file: TuningFile = None, *, out: options.RunFolder = None, resume: options.ResumeAlone = False, where: Where
) -> None:
    """Find the values of an agent's parameters that win.

    The file has the agent, the ranges of its parameters, and the keys of a run, such as its game. Matches of a search
    are played step by step; then the best values meet the agent as it was, from other openings, until a sequential
    test says whether they win. With --resume, a file may have more games, and other ranges of the same parameters.
    """
    if not file and not (resume and out):
        raise typer.BadParameter("give a file, or --resume with --out")
    from arena.study.tuning_run import read_file

    _play(read_file(file) if file else None, out or Path("runs", file.stem if file else ""), resume, where)


def go_on(place: Path, where: Where) -> None:
    """Play the rest of a stored tuning."""
    _play(None, place, True, where)


def _play(tuning, place: Path, resume: bool, where: Where) -> None:
    from arena.results.database.store import FILE_NAME, StoreExists
    from arena.study.tuning_run import run

    with playing_study(place, where) as playing:
        if not resume and (place / FILE_NAME).exists():
            raise StoreExists(f"{place} holds a run already")
        found = run(tuning, place, resume, playing)
    _publish(found, place)


def _publish(found, place: Path) -> None:
    """Print what was found, and write the recommended agent."""
    from arena.games.core.shared.files import write_whole
    from arena.study.tuning_run import best, recommended_toml, result, summary, table

    write_whole(place / AGENT, recommended_toml(found).encode(), place)
    if answered(result(found) | {"trials": records_of(table(found))}):
        return
    print_table(*best(found))
    say(*summary(found))
    tell(f"\nThe tuning is stored in {place}, the recommended agent in {place / AGENT}.")
    figure = "path" if found.tuning.sampler == "spsa" else "tuning"
    for more in ("table {} --kind trials", f"plot {{}} {figure}", "report {}"):
        tell(f"  arena {more.format(quoted(place))}")
