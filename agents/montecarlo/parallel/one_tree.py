"""Tree parallelisation: all workers search one tree.

`lock` is "local", one for each node in use, "global", one for everything but the playout (both Chaslot, Winands & van
den Herik, "Parallel Monte-Carlo tree search", 2008), or "free", without any (Enzenberger & Mueller, "A lock-free
multithreaded Monte-Carlo tree search algorithm", 2009).  Others see a simulation in flight by virtual losses or as in
WU-UCT.

With `lanes`, a simulation makes several playouts of its leaf (agents/montecarlo/leaves.py), and counts as that many
visits.  How the workers share a tree: agents/montecarlo/parallel/together.py.

Grain-size controlled parallel MCTS, `gscpm` (Mirsoleimani, Plaat, van den Herik & Vermaseren, "Scaling Monte Carlo tree
search on Intel Xeon Phi", 2015), splits the playouts into tasks of a grain size in a first-in-first-out queue.  Small
grains keep all workers busy to the end; large ones cost less queueing.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.leaves import LANES
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.parallel.shared import LOCKS
from arena.agents.montecarlo.parallel.shares import Tasks
from arena.agents.montecarlo.parallel.together import Access, Together, TogetherPlayer
from arena.agents.montecarlo.uct import UCT
from arena.games.core.game import check_choice

MOST_IN_LOT = 1024


@dataclass(frozen=True)
class OnOneTree(Scheme):
    """Base of the schemes whose workers search one tree.

    lock: free, atomic additions alone, if all methods of a search allow it; local, a lock for each node; global, one
        for everything but the playout
    virtual_loss: lost visits for each simulation in flight
    wu: count it as a visit without a result instead (WU-UCT)
    """

    lock: str = "free"
    virtual_loss: float = 1.0
    wu: bool = False

    ranges: ClassVar[dict] = {"virtual_loss": (0,)}
    choices: ClassVar[dict] = {"lock": LOCKS}


@dataclass(frozen=True)
class TreeParallel(Together, OnOneTree):
    """One tree, searched by all workers.

    lot: the most simulations that a thread makes below one busy node; 1 with locks, one worker or in virtual time
    lanes: playouts of each leaf, side by side if the game has lanes; 1 in virtual time
    """

    lot: int = 16
    lanes: int = 1

    name: ClassVar[str] = "tree"
    ranges: ClassVar[dict] = {"lot": (1, MOST_IN_LOT)}

    def __post_init__(self):
        super().__post_init__()
        check_choice("lanes", self.lanes, LANES)
        if self.lanes > 1 and self.simulated:
            raise ValueError(f"lanes = {self.lanes}: simulated workers make one playout of each leaf, so it must be 1")
        if self.virtual_loss != int(self.virtual_loss):
            raise ValueError(f"virtual_loss = {self.virtual_loss}: visits are whole numbers")
        if self.search and self.lanes > 1:
            raise ValueError(f"lanes = {self.lanes} is for plain UCT: give lanes to the search, if it has them")
        if self.wu and not self.searcher().by_bound_alone():
            raise ValueError(
                f"wu = True and search = {self.search!r}: WU-UCT is for searches that select by UCB1 alone"
            )

    def searcher(self):
        return super().searcher() if self.search else UCT(exploration=self.exploration, lanes=self.lanes)

    def is_serial(self):
        return super().is_serial() and self.lanes == 1

    def losses(self):
        return 0 if self.workers == 1 else 1 if self.wu else int(self.virtual_loss)

    def most_in_lot(self):
        return 1 if self.workers == 1 or self.simulated or self.lock != "free" else self.lot

    def access(self, searcher):
        one = self.lock == "global" or self.simulated or bool(searcher.locking())
        return Access(one, self.lock == "local" and not one, self.wu and self.workers > 1)

    def task_size(self, playouts: int) -> int:
        """The playouts that a simulated worker draws from one stream of random numbers."""
        return playouts

    def new_player(self, game, budget):
        return TogetherPlayer(self, game, budget)


@dataclass(frozen=True)
class GSCPM(TreeParallel):
    """One tree, searched by tasks of `grain` playouts on a pool of workers.

    grain: playouts of a task
    """

    grain: int = 50

    name: ClassVar[str] = "gscpm"
    ranges: ClassVar[dict] = {"grain": (1,)}

    def task_size(self, playouts):
        return self.grain

    def new_player(self, game, budget):
        return TaskPlayer(self, game, budget)


class TaskPlayer(Tasks, TogetherPlayer):
    """Its simulations are handed out in tasks."""
