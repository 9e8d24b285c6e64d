"""How long a run will take: some seconds of it are played, as any run is, and thrown away."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from arena.lab.apart import Failed
from arena.runner import notice

PLAYED, PATIENCE, LOOK = 10.0, 180.0, 0.2  # seconds: of play; until a game must have begun; between looks
LONGEST = 60.0  # seconds of play, where no game ends in PLAYED
# it ends with this process, which its input tells
COMMAND = (
    "import os, sys, threading\n"
    "threading.Thread(target=lambda: (sys.stdin.read(), os.kill(os.getpid(), 15)), daemon=True).start()\n"
    "from arena.cli import app\napp()"
)


async def trial(path: Path, where: list[str], games: int, command: Sequence[str] = ("run",)) -> str:
    """In words, how long it takes to play a file with these options; Failed says why that is not known."""
    with tempfile.TemporaryDirectory(prefix="arena-trial-") as place:
        folder, log = Path(place, "run"), Path(place, "console.txt")
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", COMMAND, *command, str(path), "--out", str(folder), *where],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            told = await _played(process, folder, games)
        finally:
            process.terminate()
            await asyncio.to_thread(process.communicate)
        if told is None:
            words = log.read_bytes()[-2000:].decode(errors="replace").strip()
            raise Failed(words.splitlines()[-1] if words else "the trial ended before its first game")
        return told


async def _played(process: subprocess.Popen, folder: Path, games: int) -> str | None:
    """What a while of play says; None if the process ends before."""
    begun = time.monotonic()
    while process.poll() is None:
        await asyncio.sleep(LOOK)
        now = notice.now(folder) if folder.is_dir() else None
        if now is None or now.state != "playing":
            if time.monotonic() - begun > PATIENCE:
                raise Failed(f"no game began within {PATIENCE:.0f} s")
            continue
        seconds = time.time() - now.begun
        if seconds >= PLAYED and now.stored:
            return in_words(now.stored, seconds, games)
        if seconds >= LONGEST:
            return f"more than {_clock(games * LONGEST / max(1, len(now.games)))}: no game ended within {LONGEST:.0f} s"
    return f"{PLAYED:.0f} s or less" if process.returncode == 0 else None


def in_words(stored: int, seconds: float, games: int) -> str:
    """An estimate from so many games in so many seconds."""
    return f"about {_clock(games * seconds / stored)}: {stored:,} of {games:,} games took {seconds:.0f} s"


def _clock(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"
