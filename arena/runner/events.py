"""The events of a run."""

from pathlib import Path

from arena.formats.schedule import Schedule
from arena.results.database.record import GameRecord
from arena.workers.worker import InPlay


class Events:
    """Callbacks of a run; override what you need.

    All come from the thread of `run`, except `trouble`, which may come from another.
    """

    def opened(self, resolved: dict, folder: Path) -> None:
        """The store is open; `resolved` is the configuration with all defaults."""

    def connected(self, cluster: str, dashboard: str | None) -> None:
        """The cluster is connected; `dashboard` is the address of its page."""

    def warming(self, name: str) -> None:
        """An agent's kernels are about to be compiled, perhaps with others'."""

    def warmed(self, name: str, seconds: float, failure: str = "") -> None:
        """An agent's kernels are compiled, unless `failure` says otherwise."""

    def planned(self, schedule: Schedule) -> None:
        """The schedule is known; it changes if results decide which games are played."""

    def started(self, total: int, done: int) -> None:
        """Play begins: `total` games in all, `done` of them stored."""

    def finished(self, record: GameRecord) -> None:
        """A game is stored."""

    def playing(self, games: list[InPlay]) -> None:
        """The games in play; about twice a second."""

    def stopping(self, now: bool) -> None:
        """A stop was requested: running games are finished, or abandoned if `now`."""

    def trouble(self, text: str) -> None:
        """A problem that does not end the run; reported once."""

    def ended(self) -> None:
        """No worker is left; called after `opened`, however the run ends."""
