"""What a run tells those who watch it."""

from pathlib import Path

from arena.formats.schedule import Schedule
from arena.workers.worker import InPlay
from results.record import GameRecord


class Events:
    """Callbacks of a run: derive a class and override what you need.

    All calls come from the thread of `run`, except `trouble`, which may come from another.
    """

    def opened(self, resolved: dict, folder: Path) -> None:
        """The store is open; `resolved` is the configuration with every default filled in."""

    def connected(self, cluster: str, dashboard: str | None) -> None:
        """The cluster is connected; `dashboard` is the address of its page."""

    def warming(self, name: str) -> None:
        """The kernels of an agent are about to be compiled, perhaps at the same time as those of others."""

    def warmed(self, name: str, seconds: float, failure: str = "") -> None:
        """The kernels of an agent are compiled, unless `failure` says why not."""

    def planned(self, schedule: Schedule) -> None:
        """The schedule is known; where results decide what is played, its length and lines change as they come in."""

    def started(self, total: int, done: int) -> None:
        """Play begins: `total` games in all, `done` of them stored before."""

    def finished(self, record: GameRecord) -> None:
        """A game is stored."""

    def playing(self, games: list[InPlay]) -> None:
        """The games in play; called about twice a second."""

    def stopping(self, now: bool) -> None:
        """A stop was requested: running games are finished, or given up if `now`."""

    def trouble(self, text: str) -> None:
        """Something went wrong that does not end the run; reported once."""

    def ended(self) -> None:
        """No worker is left.  Called however the run ends, once `opened` has been."""
