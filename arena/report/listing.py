"""Lists the runs in a folder and its subfolders: games, leader, progress.

What was read of a run that has not changed since is kept in the user's cache folder: of a thousand runs, a second look
takes a tenth of a second.
"""

import functools
import hashlib
import json
import math
import time
from contextlib import suppress
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from arena import formats as all_formats
from arena import results, study
from arena.formats.base import formats
from arena.formats.schedule import Schedule
from arena.games.core.shared import cache
from arena.games.core.shared.errors import UserError
from arena.report import pieces
from arena.results.database.store import FILE_NAME, busy
from arena.results.shown.tournament import Tournament
from arena.runner.running import OVER
from arena.runner.study_kinds import TOURNAMENT, Kind, homes_in, is_study

Known = dict[str, tuple[list, dict]]  # by store: its stamp, its row
_read: dict[Path, Known] = {}  # by this process, which may have no cache folder
_faults: dict[str, tuple[list, str]] = {}  # of stores that cannot be read: their stamps, and why


class Listing(NamedTuple):
    """Rows of runs, the most recent first; rows of unreadable ones; and how many were not looked at for want of time.

    A run's row: path, time of play, games, format or kind of study, agents, leader, games stored and in all (None if
    unknown), and state: running, stopped or finished.  A study is one, whatever parts it has.  An unreadable
    run's row: path and error.
    """

    rows: list[dict]
    unread: list[dict]
    left: int


def runs_in(folder: Path, seconds: float = math.inf) -> Listing:
    """The runs in a folder.  The most recent are read first; after `seconds`, new ones are left for the next call."""
    known, begun = _kept(folder), time.monotonic()
    homes, stamps = homes_in(folder), dict[str, list]()
    for place in (part / FILE_NAME for _, parts in homes.values() for part in parts):
        with suppress(OSError):  # it is not there yet, or has gone meanwhile
            stamps[str(place)] = stamp(place)
    fresh = {path: known[path] for path in stamps if path in known and known[path][0] == stamps[path]}
    faulty = {path: error for path, (of, error) in _faults.items() if stamps.get(path) == of}
    left = 0
    for store in sorted(stamps.keys() - fresh.keys() - faulty.keys(), key=lambda store: stamps[store], reverse=True):
        if time.monotonic() - begun > seconds:
            left += 1
            continue
        try:
            fresh[store] = stamps[store], _row(Path(store))
        except (UserError, OSError, ValueError) as error:
            faulty[store] = str(error)
            if not stamps[store][-1]:  # else the next write may mend it
                _faults[store] = stamps[store], str(error)
    if fresh.keys() != known.keys() or any(fresh[path][0] != known[path][0] for path in fresh):
        _keep(folder, fresh)
    rows = []
    for home, (kind, parts) in homes.items():
        stores = [str(part / FILE_NAME) for part in parts]
        own = [fresh[store][1] for store in stores if store in fresh]
        if own or (is_study(home) and not faulty.keys() & {*stores} and not left):
            rows.append(_of_all(home, kind, own, len(parts)))
    rows.sort(key=itemgetter("run"))
    rows.sort(key=itemgetter("played"), reverse=True)
    unread = [{"run": str(Path(path).parent), "error": faulty[path]} for path in sorted(faulty)]
    return Listing(rows, unread, left)


def _row(path: Path) -> dict:
    """The row of a run, for which only tallies are read unless the games are for one player."""
    run = Tournament.glimpse(path.parent)
    schedule = schedule_of(run)
    stored, total = len(run), None if schedule is None else len(schedule)
    return {
        "run": str(path.parent),
        "played": _time(last_written(path)),
        "games": ", ".join(run.instances),
        "format": run.meta.get("config", {}).get("format", "imported"),
        "agents": len(run.names),
        "leader": pieces.pieces_of(path.parent, lambda _: run).leader() if stored else None,
        "stored": stored,
        "total": total,
        "state": state_of(run, total),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(" ", "seconds")


def state_of(run: Tournament, total: int | None) -> str:
    """What a run of so many games in all is: running, finished or stopped."""
    if busy(run.folder):
        return "running"
    return "finished" if (total is None or len(run) >= total) and run.meta.get(OVER) is not False else "stopped"


def _of_all(home: Path, kind: Kind, rows: list[dict], parts: int) -> dict:
    """The row of a tournament or a study, of those of its parts; how many games a study will have is not known."""
    if kind is TOURNAMENT:
        return rows[0]
    states = {row["state"] for row in rows} | ({"stopped"} if len(rows) < max(parts, 1) else set())
    finished = states == {"finished"}
    played = [row["played"] for row in rows] or [_time(last_written(home / kind.file))]
    return {
        "run": str(home),
        "played": max(played),
        "games": ", ".join(dict.fromkeys(row["games"] for row in rows)),
        "format": kind.what,
        "agents": max([row["agents"] for row in rows], default=0),
        "leader": rows[0]["leader"] if len(rows) == 1 else None,
        "stored": sum(row["stored"] for row in rows),
        "total": sum(row["total"] for row in rows) if finished else None,
        "state": "running" if "running" in states else "finished" if finished else "stopped",
    }


def schedule_of(run: Tournament) -> Schedule | None:
    """The schedule of a run; None also for so many agents that pairing them by their results would take long."""
    config = run.meta.get("config")
    if config and len(run.names) > pieces.MOST_RATED and formats()[config["format"]].adaptive:
        return None
    return Schedule.of(run)


def stamp(path: Path) -> list:
    """Of a store: the time of the last write, file and size, and whether a process is writing; equal if unchanged."""
    about, playing = path.stat(), False
    with suppress(UserError):  # who opens it is told
        playing = busy(path.parent)
    return [last_written(path), about.st_ino, about.st_size, playing]


def last_written(path: Path) -> float:
    """When a store or a file that belongs to it was last written, in seconds since 1970."""
    latest = 0.0
    for file in path.parent.glob(f"{path.name}*"):
        if file.suffix != ".sqlite-shm":
            with suppress(FileNotFoundError):  # it may vanish at any moment
                latest = max(latest, file.stat().st_mtime)
    return latest


# -- What is kept --------------------------------------------------------------------------------------------------


@functools.cache
def _code() -> str:
    """A digest of the code that makes rows: other code may make others."""
    sources = (path for package in (all_formats, results, study) for path in Path(package.__path__[0]).rglob("*.py"))
    digest = hashlib.sha256(Path(__file__).read_bytes() + Path(pieces.__file__).read_bytes())
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _file(folder: Path) -> str:
    place = str(folder.absolute())
    return f"runs-{hashlib.sha256(place.encode(errors='surrogateescape')).hexdigest()[:16]}{cache.INDEX}"


def _kept(folder: Path) -> Known:
    """What was read of the folder's runs by this code, with paths as `folder` names it."""
    if folder in _read:
        return _read[folder]
    path = cache.find(file := _file(folder))
    try:
        found: dict[str, Any] = json.loads(path.read_bytes()) if path else {}
        if (found.get("file"), found.get("code")) != (file, _code()):
            return {}
        at = found["at"]
        renamed = {str(folder / Path(place).relative_to(at)): value for place, value in found["runs"].items()}
        return {place: (of, row | {"run": str(Path(place).parent)}) for place, (of, row) in renamed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _keep(folder: Path, known: Known) -> None:
    _read[folder] = known
    with suppress(OSError):
        data = {"file": (file := _file(folder)), "code": _code(), "at": str(folder), "runs": known}
        cache.write(file, json.dumps(data).encode())
