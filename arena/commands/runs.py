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
    import pandas as pd

    from arena.report.listing import runs_in

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    rows, unread, _ = runs_in(folder)
    if answered({"runs": rows, "unread": unread}):
        return
    if rows:
        print_table(_for_people(pd.DataFrame(rows)))
    else:
        tell(f"There are no runs in {folder}.")
    for fault in unread:
        tell(f"{fault['run']} cannot be read: {fault['error']}")


def _for_people(frame):
    """The table without seconds, and with the stored and total games in one column."""
    import pandas as pd

    far = [
        f"{stored:,}" if pd.isna(total) else f"{stored:,} of {int(total):,}"
        for stored, total in zip(frame["stored"], frame["total"])
    ]
    columns = frame[["run", "games", "agents", "leader", "state"]].copy()
    columns.insert(1, "played", [text[:16] for text in frame["played"]])
    columns.insert(6, "how far", far)
    columns.attrs["kind"] = "runs"
    return columns
