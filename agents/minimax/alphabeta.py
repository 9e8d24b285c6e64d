"""Alpha-beta: depth-first minimax that skips moves that cannot change the result (Knuth & Moore, "An analysis of
alpha-beta pruning", 1975), with an evaluation function at the greatest depth.

Each aid can be switched off: a transposition table, the game's symmetries, move ordering (agents/minimax/ordering.py),
moves left out that the game knows to be no better than another, ends that the game foresees, principal variation search
(Marsland & Campbell, "Parallel search of strongly ordered game trees", 1982), aspiration windows, iterative deepening,
and quiescence search.  Only quiescence changes the value of a search to a given depth, unless a table or the game knows
of a certain end beyond it.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from arena.agents.core.learned import learned_in
from arena.agents.core.threads import MOST_THREADS
from arena.agents.minimax.deepening import DepthFirstMinimax
from arena.agents.minimax.ordering import NO_POLICY, Policy
from arena.agents.minimax.solver import SHARINGS, SharedExactSolver
from arena.agents.minimax.stack import INFINITE
from arena.games.core.game import check_choice
from arena.games.core.shared.prepared_file import FILE, PreparedFileError

ORDERS = {"table": "table_first", "own": "own_order", "killers": "killers", "history": "history"}


@dataclass(frozen=True)
class AlphaBeta(DepthFirstMinimax):
    """Alpha-beta; `alphabeta(depth=4, table=0, order=[], scout=false, foresee=false, sound=false)` is plain alpha-beta.

    order: how moves are ranked, any of table, own, killers, history and file:PATH of a learned policy, which replaces
        history near the root; equal moves keep the game's order
    scout: principal variation search
    foresee: take a win or a loss that the game foresees, without searching it
    sound: leave out moves that the game knows to be no better than another
    quiescence: at the greatest depth, continue with the moves that the game calls unstable, such as captures
    aspiration: half the width of the window around the last depth's value; 0 for no window
    deepening: search to depth 1, 2, 3 and so on even if the budget is a depth alone
    workers: threads that solve in one table (agents/minimax/exact.py); a move of a game is decided by one
    sharing: how these threads keep apart: abdada, ybwc (young brothers wait), or lazy for Lazy SMP
    policy_depth: the least depth left at a node whose moves a policy ranks; it always ranks those of the root
    """

    table: float = 16.0
    order: tuple[str, ...] = ("table", "own", "killers", "history")
    scout: bool = True
    foresee: bool = True
    sound: bool = True
    quiescence: bool = False
    aspiration: float = 0.0
    deepening: bool = False
    workers: int = 1
    sharing: str = "abdada"
    policy_depth: int = 6

    name: ClassVar[str] = "alphabeta"
    ranges: ClassVar[dict] = {"policy_depth": (1,), "aspiration": (0, int(INFINITE)), "workers": (1, MOST_THREADS)}

    def __post_init__(self):
        super().__post_init__()
        for word in self.order:
            if not word.startswith(FILE):
                check_choice("order", word, (*ORDERS, FILE + "PATH"))
        if len(self.policies) > 1:
            raise ValueError(f"order = {self.order!r} has {len(self.policies)} policies; at most one is allowed")
        check_choice("sharing", self.sharing, SHARINGS)
        if self.workers > 1 and self.policies:
            raise ValueError(f"workers = {self.workers} and a policy in order exclude each other")

    @property
    def policies(self) -> list[str]:
        return [word.removeprefix(FILE) for word in self.order if word.startswith(FILE)]

    def policy(self, game):
        return Policy(learned_in(self.policies[0], game), self.policy_depth) if self.policies else NO_POLICY

    def misfit(self, game):
        try:
            self.policy(game)
        except PreparedFileError as error:
            return f"order of {self}: {error}"
        return super().misfit(game)

    def own_needs(self):
        return replace(super().own_needs(), unstable_moves=self.quiescence)

    def new_solver(self, game, budget):
        if self.workers > 1 and not self.deepening and budget.depth is None:
            return SharedExactSolver(self, game, budget)
        return super().new_solver(game, budget)

    def options(self):
        chosen = {option: word in self.order for word, option in ORDERS.items()} | {"by_policy": bool(self.policies)}
        aids = dict(scout=self.scout, quiescence=self.quiescence)
        aids |= dict(foresee=self.foresee and not self.scores, sound=self.sound and not self.scores)
        return super().options()._replace(pruning=True, **aids, **chosen)
