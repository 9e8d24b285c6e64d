"""`arena compare`: what changed from one run to another."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_run
from arena.commands.options import Json
from arena.commands.output import print_table, tell

Run = Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR", autocompletion=complete_run)]


@command(Panel.READ, examples="arena compare runs/before runs/after\narena compare runs/before runs/after --json")
def compare(before: Run, after: Run, as_json: Json = False) -> None:
    """Compare what two runs have in common, with intervals.

    Changes are in Elo, relative to the mean of the shared agents, over the games and budgets that both runs have; for
    one-player games, they are in mean scores.  Intervals are 95 %; an agent is called better or worse if its interval
    excludes 0.
    """
    from arena import results
    from arena.results.shown.comparison import NothingInCommon
    from arena.results.shown.comparison import compare as compared
    from arena.results.shown.export import comparison_for_people
    from arena.results.shown.summary import side_by_side

    runs = [results.load(folder) for folder in (before, after)]
    try:
        frame = compared(*runs)
    except NothingInCommon as error:
        raise typer.BadParameter(f"{before} and {after}: {error}") from None
    print_table(frame if as_json else comparison_for_people(frame), as_json)
    tell(f"1 is {before}, 2 is {after}; a change is from 1 to 2, with its 95 % interval.")
    if frame["change"].isna().all():
        lost_all = "where an agent won or lost all its games against the others, there is no mean to count from"
        tell("No change is known." if runs[0].single_player else f"No change is known: {lost_all}.")
    if note := side_by_side(int(frame["change"].notna().sum())):
        tell(note)
