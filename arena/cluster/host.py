"""A worker of the cluster as the parent sees it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from arena.workers.waiting import Job

AHEAD = 2  # batches per slot, so that none waits for the parent
CORES = "cores"  # a resource of Dask; a game takes as many as its agents need cores


class Needs(NamedTuple):
    """What games may require, since some worker offers it."""

    widest: int  # the most slots of a worker
    resources: frozenset[str]  # names declared by any worker


class Phase(Enum):
    """The stages of a worker."""

    JOINING = 1  # its station starts, and describes itself
    PREPARING = 2  # it compiles
    PLAYING = 3
    REFUSED = 4


@dataclass(eq=False)
class Host:
    """A worker of Dask, with its station.

    address: as Dask writes it; slots: games of one core played at once; resources: declared to Dask; unfit: numbers of
    agents whose programs differ or are missing there
    """

    address: str
    slots: int
    resources: dict[str, float] = field(default_factory=dict)
    unfit: set[int] = field(default_factory=set)
    phase: Phase = Phase.JOINING
    under_way: int = 0  # batches
    failed: int = 0  # tasks in a row that raised

    @property
    def has_room(self) -> bool:
        """Whether it can take another batch."""
        return self.phase is Phase.PLAYING and self.under_way < AHEAD * self.slots

    def fits(self, job: Job, names: Collection[str], needs: Needs) -> bool:
        """Whether it can play a game of these agents; requirements that no worker meets are waived."""
        return (
            self.slots >= min(job.cores, needs.widest)
            and self.unfit.isdisjoint(job.fixture.seats)
            and all(name in self.resources for name in names if name in needs.resources)
        )

    def asks(self, job: Job, names: Collection[str]) -> dict[str, float]:
        """The resources of Dask that a game takes on this worker."""
        asked = {name: 1.0 for name in names if name in self.resources}
        if job.cores > 1 and CORES in self.resources:
            asked[CORES] = min(float(job.cores), self.resources[CORES])
        return asked
