"""`arena runs`: the runs in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.output import answered, print_table, tell


@command(Panel.READ, examples="arena runs\narena runs experiments --json", as_json=True)
def runs(
    folder: Annotated[Path, typer.Argument(help="The folder with the runs.", metavar="DIR")] = Path("runs"),
) -> None:
    """List the runs in a folder: games, leader, state.

    Runs in subfolders are listed too; the most recent comes first.
    """
    from arena.report.listing import runs_in

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    rows, unread, _ = runs_in(folder)
    if answered({"runs": rows, "unread": unread}):
        return
    if rows:
        print_table(list(map(_for_people, rows)), kind="runs")
    else:
        tell(f"There are no runs in {folder}.")
    for fault in unread:
        tell(f"{fault['run']} cannot be read: {fault['error']}")


def _for_people(row: dict) -> dict:
    """A run's row without seconds and format, and with the stored and total games in one column."""
    far = f"{row['stored']:,}" + ("" if row["total"] is None else f" of {row['total']:,}")
    shown = {"run": row["run"], "played": row["played"][:16]} | {key: row[key] for key in ("games", "agents", "leader")}
    return shown | {"state": row["state"], "how far": far}
