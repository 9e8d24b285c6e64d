"""Lists the runs in a folder and its subfolders: games, leader, progress."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from arena.formats.schedule import Schedule
from arena.games.core.errors import UserError
from arena.results.database.store import FILE_NAME, busy
from arena.results.shown.tournament import Tournament

Known = dict[Path, tuple[tuple[float, bool], dict]]  # of a store: its stamp, its row


def runs_in(folder: Path, known: Known | None = None) -> tuple[list[dict], list[dict]]:
    """(runs, unreadable runs), as plain values, the most recent first.

    A run's row: path, time of play, games, agents, leader, games stored and in all (None if unknown), and state:
    running, stopped or finished.  An unreadable run's row: path and error.

    known: filled by earlier calls; unchanged runs are not read again
    """
    rows, unread = [], []
    known = {} if known is None else known
    for path in sorted(folder.rglob(FILE_NAME)):
        try:
            before = stamp(path)  # later changes are for the next call
            if path not in known or known[path][0] != before:
                known[path] = before, _row(path.parent, path)
            rows.append(known[path][1])
        except (UserError, OSError, ValueError) as error:
            unread.append({"run": str(path.parent), "error": str(error)})
    rows.sort(key=lambda row: row["played"], reverse=True)
    return rows, unread


def _row(folder: Path, path: Path) -> dict:
    """The row of a run, for which only tallies are read unless the games are for one player."""
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
    """(time of the last write, whether a process is writing) of a store."""
    return last_written(path), busy(path.parent)


def last_written(path: Path) -> float:
    """When a store or a file that belongs to it was last written, in seconds since 1970."""
    latest = 0.0
    for file in path.parent.glob(f"{path.name}*"):
        if file.suffix != ".sqlite-shm":
            with suppress(FileNotFoundError):  # it may vanish at any moment
                latest = max(latest, file.stat().st_mtime)
    return latest


def _leader(run) -> str | None:
    if not run.single_player:
        return str(run.standings()["agent"].iloc[0])
    means = run.games.groupby(["condition", "first"])["score"].mean().unstack().dropna(axis=1).sum()
    return str(means.idxmax()) if len(means) else None
