"""A worker of the cluster as the parent sees it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from arena.workers.waiting import Job

AHEAD = 2  # batches for each slot of a worker that are under way at once, so that none waits for the parent
CORES = "cores"  # the resource of Dask of which a game takes as many as its agents need cores, where it is declared


class Needs(NamedTuple):
    """What games can ask of workers, since some worker has it."""

    widest: int  # the most slots that a worker has
    resources: frozenset[str]  # the names of all that workers have declared


class Phase(Enum):
    """How far a worker is."""

    JOINING = 1  # its station is being started, and says what it is
    PREPARING = 2  # it compiles
    PLAYING = 3
    REFUSED = 4


@dataclass(eq=False)
class Host:
    """A worker of Dask, with its station.

    address: as Dask has it; slots: games of one core that it plays at once; resources: what it has declared to Dask;
    unfit: the numbers of agents whose programs are others, or not, there.
    """

    address: str
    slots: int
    resources: dict[str, float] = field(default_factory=dict)
    unfit: set[int] = field(default_factory=set)
    phase: Phase = Phase.JOINING
    under_way: int = 0  # batches

    @property
    def has_room(self) -> bool:
        """Whether it can be handed another batch."""
        return self.phase is Phase.PLAYING and self.under_way < AHEAD * self.slots

    def fits(self, job: Job, names: Collection[str], needs: Needs) -> bool:
        """Whether it can play a game of agents with these names; what no worker has is not asked for."""
        return (
            self.slots >= min(job.cores, needs.widest)
            and self.unfit.isdisjoint(job.fixture.seats)
            and all(name in self.resources for name in names if name in needs.resources)
        )

    def asks(self, job: Job, names: Collection[str]) -> dict[str, float]:
        """The resources of Dask that a game takes here."""
        asked = {name: 1.0 for name in names if name in self.resources}
        if job.cores > 1 and CORES in self.resources:
            asked[CORES] = min(float(job.cores), self.resources[CORES])
        return asked
