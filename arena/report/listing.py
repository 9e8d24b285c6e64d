"""The runs in a folder and the folders within it: what was played, who leads, how far it has come."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from arena.formats.schedule import Schedule
from games.core.errors import UserError
from results.store import FILE_NAME, busy
from results.tournament import Tournament

Known = dict[Path, tuple[tuple[float, bool], dict]]  # of a store: its stamp, and what is listed of it


def runs_in(folder: Path, known: Known | None = None) -> tuple[list[dict], list[dict]]:
    """(runs, those that cannot be read), each as plain values; the one that was played last comes first.

    Of a run: its path, when it was played, games, agents, leader, games stored and in all (None if that is not known),
    and its state: running, stopped or finished.  Of one that cannot be read: its path and the error.

    known: what an earlier call has filled, if there was one; a run that has not changed since is not read again.
    """
    rows, unread = [], []
    known = {} if known is None else known
    for path in sorted(folder.rglob(FILE_NAME)):
        try:
            before = stamp(path)  # what is written meanwhile is read next time
            if path not in known or known[path][0] != before:
                known[path] = before, _row(path.parent, path)
            rows.append(known[path][1])
        except (UserError, OSError, ValueError) as error:
            unread.append({"run": str(path.parent), "error": str(error)})
    rows.sort(key=lambda row: row["played"], reverse=True)
    return rows, unread


def _row(folder: Path, path: Path) -> dict:
    """What is listed of a run; nothing of it is read but its tallies, unless the games are for one player."""
    run = Tournament.glimpse(folder)
    schedule = Schedule.of(run)
    stored, total = len(run), None if schedule is None else len(schedule)
    return {
        "run": str(folder),
        "played": datetime.fromtimestamp(last_written(path)).isoformat(" ", "seconds"),
        "games": ", ".join(run.instances),
        "agents": len(run.names),
        "leader": _leader(run) if stored else None,
        "stored": stored,
        "total": total,
        "state": "running" if busy(folder) else "finished" if total is None or stored >= total else "stopped",
    }


def stamp(path: Path) -> tuple[float, bool]:
    """What changes with a store: when it was last written, and whether a process is writing to it."""
    return last_written(path), busy(path.parent)


def last_written(path: Path) -> float:
    """When a store or one of the files beside it was written, in seconds since 1970."""
    latest = 0.0
    for file in path.parent.glob(f"{path.name}*"):
        if file.suffix != ".sqlite-shm":
            with suppress(FileNotFoundError):  # a log may go at any moment
                latest = max(latest, file.stat().st_mtime)
    return latest


def _leader(run) -> str | None:
    """The agent on top of the standings, or with the best mean over all instances."""
    if not run.single_player:
        return str(run.standings()["agent"].iloc[0])
    means = run.games.groupby(["condition", "first"])["score"].mean().unstack().dropna(axis=1).sum()
    return str(means.idxmax()) if len(means) else None
