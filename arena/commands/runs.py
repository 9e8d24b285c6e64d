"""`arena runs`: the runs in a folder."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Json
from arena.commands.output import print_table, tell


@command(Panel.READ, examples="arena runs\narena runs experiments --json")
def runs(
    folder: Annotated[Path, typer.Argument(help="The folder that the runs are in.", metavar="DIR")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """List the runs in a folder: what was played, who leads.

    Runs in folders within it are listed, too; the one that was played last comes first.
    """
    import pandas as pd

    from games.core.errors import UserError
    from results.store import FILE_NAME

    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    rows, unread = [], []
    for path in sorted(folder.rglob(FILE_NAME)):
        try:
            rows.append(_row(path.parent, path))
        except (UserError, OSError, ValueError) as error:
            unread.append({"run": str(path.parent), "error": str(error)})
    rows.sort(key=lambda row: row["played"], reverse=True)
    if as_json:
        typer.echo(json.dumps({"runs": rows, "unread": unread}, indent=1))
    elif rows:
        print_table(_for_people(pd.DataFrame(rows)), as_json=False)
    else:
        tell(f"There are no runs in {folder}.")
    for fault in () if as_json else unread:
        tell(f"{fault['run']} cannot be read: {fault['error']}")


def _row(folder: Path, path: Path) -> dict:
    """What is listed of a run; nothing of it is read but its tallies, unless the games are for one player."""
    from arena.formats.schedule import Schedule
    from results.store import busy
    from results.tournament import Tournament

    run = Tournament.glimpse(folder)
    schedule = Schedule.of(run)
    stored, total = len(run), None if schedule is None else len(schedule)
    files = [file for file in folder.glob(f"{path.name}*") if file.suffix != ".sqlite-shm"]
    played = max(file.stat().st_mtime for file in files)
    return {
        "run": str(folder),
        "played": datetime.fromtimestamp(played).isoformat(" ", "seconds"),
        "games": ", ".join(run.instances),
        "agents": len(run.names),
        "leader": _leader(run) if stored else None,
        "stored": stored,
        "total": total,
        "state": "running" if busy(folder) else "finished" if total is None or stored >= total else "stopped",
    }


def _leader(run) -> str | None:
    """The agent on top of the standings, or with the best mean over all instances."""
    if not run.single_player:
        return str(run.standings()["agent"].iloc[0])
    means = run.games.groupby(["condition", "first"])["score"].mean().unstack().dropna(axis=1).sum()
    return str(means.idxmax()) if len(means) else None


def _for_people(frame):
    """Without seconds, and with what is stored and how much there will be in one column."""
    far = [
        f"{stored:,}" if total is None else f"{stored:,} of {total:,}"
        for stored, total in zip(frame["stored"], frame["total"].astype(object).where(frame["total"].notna(), None))
    ]
    columns = frame[["run", "games", "agents", "leader", "state"]].copy()
    columns.insert(1, "played", [text[:16] for text in frame["played"]])
    columns.insert(6, "how far", far)
    return columns
