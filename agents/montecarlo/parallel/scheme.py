"""The common part of all parallel schemes: parameters, budgets, streams of random numbers, and threads."""

from dataclasses import dataclass, field, fields
from typing import ClassVar

from arena import agents
from arena.agents.core.agent import Budget
from arena.agents.core.threads import Simulable
from arena.agents.montecarlo.method_search import TreeSearch
from arena.agents.montecarlo.uct import UCT
from arena.games.core.game import check_choice
from arena.games.core.jit import inlined

CONSTANT, PLIES = range(2)  # the time of a simulated playout: one unit, or one for each ply
PLAYOUT_TIMES = {"constant": CONSTANT, "plies": PLIES}


@dataclass(frozen=True)
class Scheme(Simulable):
    """A search by several workers.  Its budget of playouts is for each worker, or with `total` for all together.

    workers: threads; or with `simulated`, workers in virtual time: deterministic, on one core, up to 1024
    exploration: the constant K of the bound, for rewards from 0 to 1
    total: the budget of playouts is for all workers together
    simulated: workers in virtual time instead of threads
    playout_time: how long a simulated playout takes, "constant" or its number of "plies"
    max_nodes: a tree of this size no longer grows; its leaves are still played out
    """

    workers: int = 2
    exploration: float = 0.4
    playouts: int | None = None
    seconds: float | None = None
    total: bool = False
    simulated: bool = False
    playout_time: str = "constant"
    max_nodes: int = 1 << 24

    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")
    ranges: ClassVar[dict] = {"max_nodes": (1000, 2**31 - 1), "exploration": (0,)}

    def __post_init__(self):
        super().__post_init__()
        check_choice("playout_time", self.playout_time, PLAYOUT_TIMES)
        if self.playout_time != "constant" and not self.simulated:
            raise ValueError("playout_time is for simulated workers: give simulated=true too")

    def is_serial(self) -> bool:
        """Whether it decides as its search does by itself: one worker, with one simulation under way."""
        return self.workers == 1

    def total_playouts(self, budget: Budget) -> int | None:
        """All workers' playouts together; None if the budget is of seconds alone."""
        if budget.playouts is None or self.total:
            return budget.playouts
        return budget.playouts * self.workers

    def shares(self, total: int | None) -> list[int | None]:
        """Each worker's part of a total; None without one."""
        if total is None:
            return [None] * self.workers
        return [total // self.workers + (i < total % self.workers) for i in range(self.workers)]


@dataclass(frozen=True)
class Searching(Scheme):
    """Base of the schemes that parallelise any search of one tree.

    search: the agent whose search it is, such as "grave(ref=50)" or "uct(methods='decisive')"; empty: plain UCT
    """

    search: str = field(default="", kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        if not self.search:
            return
        agent = self.searcher()
        for one in fields(TreeSearch):
            if one.name not in ("solver", "exploration") and getattr(agent, one.name) != one.default:
                what = f"{one.name} = {getattr(agent, one.name)!r}"
                right = f"give it to {self.name} itself" if hasattr(self, one.name) else f"{self.name} has none"
                raise ValueError(f"search = {self.search!r} has {what}: {right}")
        for one in fields(Scheme):
            if one.name in ("exploration", "playout_time") and (value := getattr(self, one.name)) != one.default:
                raise ValueError(f"{one.name} = {value!r} is for plain UCT: leave it out if search is given")

    def searcher(self) -> TreeSearch:
        agent = agents.make(self.search) if self.search else UCT(exploration=self.exploration)
        if not isinstance(agent, TreeSearch):
            raise ValueError(f"search = {self.search!r} is no search of one tree, such as uct, grave, ppa or mast")
        return agent

    def files(self):
        return super().files() + (self.searcher().files() if self.search else [])

    def misfit(self, game):
        return super().misfit(game) or (self.searcher().refuses(game) if self.search else None)

    def budget(self, default=None):
        budget = super().budget(default)
        if self.search:
            self.searcher().budget(budget)
        return budget


@inlined
def playout_time(clock, plies):
    """The time of a simulated playout of that many plies."""
    return max(plies, 1) if clock == PLIES else 1
