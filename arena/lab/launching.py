"""Starts commands in processes that outlive the page that asked for them, and the server."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import open_to_append, read_plain, write_whole
from arena.results.database.store import busy
from arena.runner.study_kinds import home_of

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


def go_on(folder: Path, games: int = 0) -> None:
    """Play the rest of a run, or so many games of each two agents; of a study's part, the rest of the study."""
    home = home_of(folder)
    start(home, ["run", "--out", str(home), "--resume", *(["--games", str(games)] if games else [])])


def is_starting(folder: Path) -> bool:
    """Whether a command that this server started for the folder still runs."""
    started = _started.get(home_of(folder))
    return started is not None and started.poll() is None


def fault(folder: Path) -> str:
    """The last of what a command that this server started has printed, if it failed; else ""."""
    started = _started.get(home := home_of(folder))
    if started is None or started.poll() in (None, 0, 130):
        return ""
    try:
        return read_plain(home / LOG)[-SHOWN:].decode(errors="replace")
    except OSError:
        return f"its command ended with exit code {started.returncode}"
