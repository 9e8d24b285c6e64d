"""Starts commands in processes that outlive the page that asked for them, and the server."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arena.games.core.errors import UserError
from arena.games.core.files import open_to_append, read_plain, write_whole
from arena.results.database.store import busy
from arena.results.shown.kinds import PLAN_OF_SCHEMES

LOG = "console.txt"  # in a run's folder: what its command printed
SHOWN = 4000  # bytes of it
_started: dict[Path, subprocess.Popen] = {}


def start(folder: Path, arguments: Sequence[str]) -> None:
    """Run `arena` with these arguments, in a session of its own, for the run in `folder`; UserError says why not."""
    try:
        if busy(folder) or is_starting(folder):
            raise UserError(f"{folder} is being played already")
        write_whole(folder / LOG, b"", folder)
        with open_to_append(folder / LOG) as log:
            _started[folder] = subprocess.Popen(
                [sys.executable, "-P", "-m", "arena", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from None


def going_on(folder: Path, games: int = 0) -> tuple[Path, list[str]]:
    """The command that plays the rest of a run, or so many games of each two agents; of a study's part, of the study.

    With the folder whose command it is.
    """
    for study in (folder, folder.parent):
        if (study / PLAN_OF_SCHEMES).exists():
            return study, ["study", "schemes", "--out", str(study), "--resume"]
    more = ["--games", str(games)] if games else []
    return folder, ["run", "--out", str(folder), "--resume", *more]


def is_starting(folder: Path) -> bool:
    """Whether a command that this server started for the folder still runs."""
    return folder in _started and _started[folder].poll() is None


def fault(folder: Path) -> str:
    """The last of what a command that this server started has printed, if it failed; else ""."""
    if folder not in _started or _started[folder].poll() in (None, 0, 130):
        return ""
    try:
        return read_plain(folder / LOG)[-SHOWN:].decode(errors="replace")
    except OSError:
        return f"its command ended with exit code {_started[folder].returncode}"
