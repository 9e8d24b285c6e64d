"""What plays the games of a run: shared by worker processes here and a cluster."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.play.match import cores_of
from arena.results.database.record import GameRecord
from arena.workers.batches import Lengths
from arena.workers.logs import WorkersLog
from arena.workers.verdicts import Verdicts
from arena.workers.worker import InPlay

log = logging.getLogger("arena.workers.supervisor")


@dataclass
class Engine(ABC):
    """Plays games and hands every record to `on_results`, in the order of arrival.

    Receivers are called in the thread of `run`; what they raise ends the run, and is raised by `run`.

    following: gives the next game; None if none is due before a result comes in, after which it is asked again
    run_log: takes the workers' log records
    on_stop: called with False at the first stop request, with True when running games are given up
    on_trouble: called with a sentence on what agents and games have done
    on_tick: called every TICK seconds
    """

    config: Config
    following: Callable[[], Fixture | None]
    on_results: Callable[[list[GameRecord]], None]
    run_log: WorkersLog
    on_stop: Callable[[bool], None] = lambda now: None
    on_trouble: Callable[[str], None] = lambda text: None
    on_tick: Callable[[], None] = lambda: None

    def __post_init__(self):
        self.verdicts = Verdicts(self.config, self.on_trouble)
        self._lengths, self._cores = Lengths(), dict[tuple, int]()
        self._records: list[GameRecord] = []  # not yet handed on
        self._refused = False  # a receiver has raised
        self._stops = self._stops_seen = 0  # requests: 1 no new games, 2 stop now

    @abstractmethod
    def prepare(self, warming: Callable[[str], None], warmed: Callable[[str, float, str], None]) -> None:
        """Return once games can be played, or a stop is requested.

        `warming` and `warmed` are called before and after the kernels of each agent are compiled.
        """

    @abstractmethod
    def run(self) -> None:
        """All games, or those that a stop request allows; leaves nothing that it started."""

    @abstractmethod
    def in_play(self) -> list[InPlay]:
        """The games being played, as far as known."""

    def request_stop(self, now: bool = False) -> None:
        """The first call starts no new games and finishes those that run; the second, or `now`, gives them up.

        May be called from a signal handler and from any thread.
        """
        if self._stops < 2:
            self._stops = 2 if now else self._stops + 1
            self._wake()

    @property
    def stopped(self) -> bool:
        """Whether a stop was requested."""
        return self._stops > 0

    @abstractmethod
    def _wake(self) -> None:
        """Let `run` notice a stop request at once."""

    def _notice_stop(self) -> None:
        if self._stops > self._stops_seen:
            self._stops_seen = self._stops
            log.warning("stop requested: %s", "stopping now" if self._stops > 1 else "games that run are finished")
            self.on_stop(self._stops > 1)

    def _deliver(self) -> None:
        if self._records and not self._refused:
            arrived, self._records = self._records, []
            self._unless_refused(self.on_results, arrived)

    def _unless_refused(self, call, *arguments) -> None:
        """Call a receiver; once it has raised, nothing more is delivered."""
        self._refused = True
        call(*arguments)
        self._refused = False

    def _cores_of(self, fixture: Fixture) -> int:
        kind = fixture.condition, fixture.seats
        if kind not in self._cores:
            try:
                self._cores[kind] = max(1, int(cores_of(self.config, fixture)))
            except Exception:  # an agent's own code, which must not end the run
                log.exception("game %s: the agents do not say how many cores they need", fixture.id)
                self._cores[kind] = 1
        return self._cores[kind]
