"""A run as other processes see and stop it, by two small files beside its store.

While games are played, `playing.json` says how far the run is and what is in play.  Whoever may write in the folder
ends it, as Ctrl-C in its terminal does: `ask`.
"""

import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_plain, write_whole
from arena.results.database.store import busy

PLAYING, WISH = "playing.json", "wish"
STOP, STOP_NOW = "stop", "now"  # wishes: finish the games in play; give them up
SECONDS = 1.0  # between two writings
MOST_GAMES = 256  # in play, that are told of
MOST_BYTES = 1 << 18


class Game(msgspec.Struct, frozen=True):
    """A game in play: `best` is the best score so far of a search that plays by itself."""

    id: str
    first: str
    second: str | None
    plies: int
    seconds: float
    best: float | None = None

    def in_words(self) -> str:
        """The game in a line."""
        players = self.first if self.second is None else f"{self.first} - {self.second}"
        best = "" if self.best is None else f", best score {self.best:g}"
        return f"{self.id}, {players}: {self.plies} plies, {self.seconds:.0f} s{best}"


class Now(msgspec.Struct, kw_only=True, frozen=True):
    """The state of a run in play."""

    token: str  # of its process: a wish for an earlier one is not obeyed
    state: str = "preparing"  # or "playing", "stopping"
    stored: int
    total: int
    before: int  # games stored when play began
    begun: float  # when play began, in seconds since 1970
    games: list[Game] = []

    @property
    def per_second(self) -> float:
        """Games a second of this process; 0 while it has none."""
        return max(0, self.stored - self.before) / max(time.time() - self.begun, 0.1)


class Notice:
    """What the process that plays a run in `folder` tells and hears."""

    def __init__(self, folder: Path):
        self.folder, self.token = folder, secrets.token_hex(8)
        self._next = 0.0
        self.close()

    def tell(self, **fields: Any) -> None:
        """Write down the fields of `Now`, once in a while.  A full disk ends no game: what is told is then old."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SECONDS
            with suppress(OSError):
                write_whole(self.folder / PLAYING, msgspec.json.encode(Now(token=self.token, **fields)), self.folder)

    def wish(self) -> str:
        """STOP or STOP_NOW, once, if somebody has asked this process for it; else ""."""
        path = self.folder / WISH
        try:
            words = read_plain(path, 100).split()
            path.unlink()
        except OSError:
            return ""
        return next((wish for wish in (STOP, STOP_NOW) if words == [self.token.encode(), wish.encode()]), "")

    def close(self) -> None:
        """Leave no file behind, nor any of a process that was killed."""
        for path in (self.folder / PLAYING, self.folder / WISH, *self.folder.glob(f".{PLAYING}.*")):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def now(folder: Path) -> Now | None:
    """The state of the run in a folder; None if it is not being played, or does not say."""
    if not busy(folder):
        return None  # and what lies there is of a process that was killed
    try:
        return msgspec.json.decode(read_plain(folder / PLAYING, MOST_BYTES), type=Now)
    except (OSError, ValueError, RecursionError):
        return None


def ask(folder: Path, wish: str) -> None:
    """Ask the process that plays a run for STOP or STOP_NOW; UserError if none does, or if it cannot hear."""
    found = now(folder)
    if found is None:
        raise UserError(f"the run in {folder} is not being played")
    try:
        write_whole(folder / WISH, f"{found.token} {wish}\n".encode(), folder)
    except OSError as error:
        raise UserError(
            f"{folder}: nothing can be written there ({error.strerror}), so its run hears of nothing"
        ) from None
