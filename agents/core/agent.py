"""The interface of an agent: parameters, a budget, and a player that decides moves in one game.

An agent is a frozen dataclass of its parameters, written as users type it: `uct(exploration=0.4, playouts=1000)`. It
holds no data of a game.  `agent.player(game, budget)` makes a Player, which may keep a tree from move to move;
`choose(state, rng)` returns a Decision.
"""

import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from arena.agents.core.clock import Clock
from arena.agents.core.effort import Effort
from arena.agents.core.needs import Needs
from arena.games.core.game import Game, check_ranges
from arena.games.core.jit import look_again
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import named_files
from arena.games.core.shared.registry import Registry, spell

if TYPE_CHECKING:
    from arena.agents.core.solve import Solver

OTHER_NAMES = {  # in the field
    "mcts": "uct",
    "rave": "grave(ref=0)",
    "amaf": "grave(ref=0)",
    "pvs": "alphabeta, whose scout = true searches by null windows",
    "negascout": "alphabeta, whose scout = true searches by null windows",
    "scout": "alphabeta, whose scout = true searches by null windows",
    "mtdf": "alphabeta, whose aspiration is the half of a first window",
    "ppaf": "ppa(features=true)",
    "snrpa": "nrpa(stabilization=10)",
    "df_pn": "dfpn",
    "montecarlo": "flat",
}
METHODS = (  # of uct, which people ask for as agents
    "anytime", "bandit", "bias", "bounds", "cutoff", "decisive", "graph", "gumbel", "halving", "heavy", "history",
    "implicit", "informed", "nst", "pn", "puct", "reply", "score", "shuss", "widening",
)  # fmt: skip
registry = Registry("agent", "arena.agents", OTHER_NAMES | {name: f"uct(methods={name!r})" for name in METHODS})


class Unsuited(UserError, ValueError):
    """An agent cannot play a game or use a budget; the message says why, and what would work."""


class OutOfTime(Exception):
    """A player exceeded its seconds and the margin and was stopped: a loss on time."""


class IllegalAnswer(Exception):
    """A player answered with no legal move; the message shows the answer."""


class Resigned(Exception):
    """The player resigned."""


@dataclass(frozen=True)
class Budget:
    """What an agent may spend on one move; the first limit reached ends the search.

    A clock is for a whole game; `seconds` then defaults to the clock's share for the coming decision.
    """

    playouts: int | None = None
    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None
    clock: Clock | None = None

    def __post_init__(self):
        if self.clock is not None and self.seconds is None:
            object.__setattr__(self, "seconds", self.clock.share())
        for kind, value in self.given().items():
            if kind != "clock" and not 0 < value < float("inf"):
                raise ValueError(f"{kind} = {value} is out of range: a budget is more than 0")

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Budget":
        """The budget from plain values, as in a configuration: `{"clock": "10+0.1"}`."""
        clock = {"clock": Clock.read(table["clock"])} if "clock" in table else {}
        return cls(**{**table, **clock})

    def on(self, clock: Clock) -> "Budget":
        """The budget for the coming decision, given what the clock shows before it."""
        return replace(self, clock=clock, seconds=clock.share())

    def given(self) -> dict:
        """The limits that are set, by kind."""
        return {kind: value for kind in BUDGET_KINDS if (value := getattr(self, kind)) is not None}


BUDGET_KINDS = tuple(field.name for field in fields(Budget))


class MoveStatistics(NamedTuple):
    """A search's statistics of the moves at the root."""

    moves: np.ndarray  # int32[n]
    playouts: np.ndarray  # int64[n]
    means: np.ndarray  # float64[n], result for the player to move, -1 to 1
    deviations: np.ndarray | None = None  # float64[n], standard deviation of one playout's result


@dataclass(frozen=True)
class Decision(Effort):
    """A move, the search's opinion of it, and the effort spent on it."""

    move: int
    value: float | None = None  # expected result for the player to move: -1 loss, 0 draw, 1 win; in a game for one
    # player, the score of the principal variation, a whole game; None if there is no estimate
    principal_variation: tuple[int, ...] = ()  # best play as the search sees it, beginning with `move`
    statistics: MoveStatistics | None = None
    improvements: tuple["Improvement", ...] = ()  # of a search for one player, from the first playout
    counts: dict[str, int] = field(default_factory=dict)  # other counts of the search, such as cut-offs
    game: Game | None = field(default=None, repr=False, compare=False)  # with `state`, set by `Agent.choose` so that
    state: np.ndarray | None = field(default=None, repr=False, compare=False)  # notebooks can show the board

    def __str__(self) -> str:
        """The move, its value, the expected line of play, and the effort."""
        from arena.agents.core.showing import decision_line

        return decision_line(self)

    def _repr_html_(self) -> str:
        """The move, the board after it, the counts, and a table of moves, as notebooks show them."""
        from arena.agents.core.showing import decision_page

        return decision_page(self)


def changed(decision: Decision, **values: Any) -> Decision:
    """The decision with other values: `dataclasses.replace` in an eighth of the time."""
    if type(decision) is not Decision:
        return replace(decision, **values)
    made = object.__new__(Decision)
    vars(made).update(vars(decision), **values)
    return made


class Improvement(NamedTuple):
    """A new best score in a search for one player."""

    playouts: int  # done when it was found, including that one
    seconds: float  # since the search began, to within a chunk
    score: float


class Player:
    """An agent in one game: made before the first move, informed of every move, and asked for its own.

    Most players need only `choose`.  `start` is for those that need the moves before it, `close` for those with
    resources to release.
    """

    def start(self, game: Game, state: np.ndarray, moves: Sequence[int]) -> None:
        """Called once, before the first decision, with the position in which play begins.

        moves: those that led to it from the initial position, outcomes of chance included
        """

    def close(self, result: float | None) -> None:
        """Called when the game is over, or abandoned after a failure, perhaps of the player itself.

        result: the first player's, 1, 0.5 or 0; in a game for one player, the score; None if there is none
        """

    def thoughts(self) -> "Decision | None":
        """What it would decide now, asked by the thread that searches, between two parts of the search; if it can say.

        Programs that are told of a search while it goes on show this.
        """
        return None

    def note_best(self, score: float) -> None:
        """Called by the player itself, in a game for one player, when it has found a better score; a run shows it."""

    budget: Budget  # for the next decision; players of agents that can use seconds have it

    def allot(self, budget: Budget) -> None:
        """Called before each decision in a game with clocks, with the budget for that decision.

        Its seconds are a share of the time on `budget.clock`, which is there for players that manage their own time.
        TypeError if the player has neither an attribute `budget` nor an `allot` of its own.
        """
        if not hasattr(self, "budget"):
            kind = type(self).__name__
            raise TypeError(f"{kind} cannot play with a clock: it has neither an attribute budget nor a method allot")
        self.budget = budget

    def decide(self, state: np.ndarray, rng: np.ndarray) -> Decision:
        """The decision for the player to move in `state`: dtype[state_size], a position that is not over.

        It must not change `state`, and must draw all random numbers from `rng`: uint64[1].
        """
        raise NotImplementedError(f"{type(self).__name__} does not define decide(self, state, rng)")

    def played(self, move: int) -> None:
        """Called after every move of either side; players that keep a tree advance it here."""

    def choose(self, state: np.ndarray, rng: np.ndarray | int) -> Decision:
        """`decide`, with its wall time in seconds; TypeError if it does not return a Decision.

        rng: uint64[1], or a seed
        """
        start = time.perf_counter()
        decision = self.decide(state, rng if isinstance(rng, np.ndarray) else stream(rng))
        if not isinstance(decision, Decision):
            raise TypeError(f"decide returned {decision!r}, which is no Decision")
        return changed(decision, seconds=time.perf_counter() - start)


@contextmanager
def playing(game: Game, agent: "Agent", budget: "Budget | None" = None) -> Iterator[Player]:
    """A player from the first move to the end of the block, for many decisions: it takes a third of what
    `Agent.choose` takes besides the search, which makes a player for each.

    Ask it by `choose(state, seed)`, and tell it of every move by `played`.  Unsuited explains a misfit.
    """
    with closing(agent.player(game, budget)) as player:
        player.start(game, game.initial(), [])
        yield player


@contextmanager
def closing(player: Player) -> Iterator[Player]:
    """The player, closed without a result when the block ends, however it ends."""
    try:
        yield player
    finally:
        player.close(None)


class Agent:
    """Base class of all agents: frozen dataclasses; fields with the names of Budget's are the agent's own budget."""

    name: ClassVar[str]  # under which it is registered and typed
    budgets: ClassVar[tuple[str, ...]] = ()  # the kinds it can use; with any, it needs one of them
    needs: ClassVar[Needs] = Needs()  # of a game, whatever its parameters
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    solves: ClassVar[bool] = False  # whether it has `new_solver`
    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files to read
    program_fields: ClassVar[tuple[str, ...]] = ()  # those that are commands of programs to start
    ranges: ClassVar[dict] = {}  # of its own parameters: see check_ranges

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registry.add(cls)

    def __post_init__(self):
        self.own_budget()
        check_ranges(self)

    def new_player(self, game: Game, budget: Budget) -> Player:
        """A player for one game.  Agents define this; callers use `player`, which checks first."""
        raise NotImplementedError(f"{type(self).__name__} does not define new_player(self, game, budget)")

    def new_solver(self, game: Game, budget: Budget) -> "Solver":
        """A solver for one game.  Agents that solve define this; callers use `solver_of`, which checks first."""
        raise NotImplementedError(f"{type(self).__name__} does not define new_solver(self, game, budget)")

    def prepare(self) -> None:
        """Do nothing: files are read when the game is known."""

    def files(self) -> list[str]:
        """The paths of the files that the agent reads; a run resumes only if their data are unchanged."""
        return named_files(self)

    @property
    def cores(self) -> int:
        """The processor cores that the agent keeps busy while it decides."""
        return 1

    def identity(self) -> str:
        """The name and version of an outside program, for a run's store; empty for other agents."""
        return ""

    def outside(self) -> str:
        """What identifies code that is no Python of this process; empty for other agents."""
        return ""

    def lacks(self) -> str:
        """What the agent needs and this machine lacks, in words; empty if nothing."""
        return ""

    def warnings(self) -> list[str]:
        """What this system does not do for the agent, which plays all the same."""
        return []

    def own_needs(self) -> Needs:
        """`needs`, plus what its parameters require of a game."""
        return self.needs

    def misfit(self, game: Game) -> str | None:
        """Why it cannot play a game that meets its needs, such as a lack of memory; None if it can."""
        return None

    def refuses(self, game: Game) -> str | None:
        """Why it cannot play `game`; None if it can."""
        if unmet := self.needs.unmet(game):
            return f"{self.name} plays games {unmet}"
        if unmet := self.own_needs().unmet(game):
            return f"{self} plays games {unmet}"
        return self.misfit(game)

    def own_budget(self) -> Budget:
        """The budget among its own parameters."""
        return Budget(**{kind: getattr(self, kind, None) for kind in self.budgets})

    def budget(self, default: Budget | None = None) -> Budget:
        """Its own budget, or else the usable part of the default one; Unsuited if there is neither."""
        own = self.own_budget()
        if own.given() or not self.budgets:
            return own
        offered = (default or Budget()).given()
        kinds = {*self.budgets, "clock"} if "seconds" in self.budgets else set(self.budgets)
        usable = {kind: amount for kind, amount in offered.items() if kind in kinds}
        if not usable:
            wanted = " or ".join(self.budgets)
            useless = [kind for kind in offered if kind != "seconds" or "clock" not in offered]
            was = f", not {' and '.join(useless)}" if useless else ""
            raise Unsuited(f"{self.name} needs a budget of {wanted}{was}; for example {self.name}({self.example()})")
        return Budget(**usable)

    def has_statistics(self) -> bool:
        """Whether its decisions have `statistics` of all moves, in games for two."""
        return "playouts" in self.budgets

    def example(self) -> str:
        """A parameter that gives it a budget, as a user types it."""
        amounts = {"playouts": "1000", "nodes": "10000", "depth": "4", "seconds": "0.1"}
        return f"{self.budgets[0]}={amounts[self.budgets[0]]}"

    def player(self, game: Game, budget: Budget | None = None) -> Player:
        """A player for one game; `budget` serves agents without their own.  Unsuited explains a misfit.

        StaleCode warns of functions that have changed since they were compiled, except in a worker.
        """
        if multiprocessing.parent_process() is None:
            look_again(game, type(self))
        return self._player(game, budget)

    def _player(self, game, budget) -> Player:
        if reason := self.refuses(game):
            raise Unsuited(reason)
        return self.new_player(game, self.budget(budget))

    def choose(
        self,
        game: Game,
        state: np.ndarray,
        *,
        seed: int,
        budget: Budget | None = None,
        moves: Sequence[int] | None = None,
    ) -> Decision:
        """One decision in a position, by a player made for it; ValueError if the game is over.

        StaleCode warns of functions that have changed since they were compiled.
        moves: those that led to `state` from the initial position, which some agents need, such as outside programs.
            IllegalMove if one is not legal, ValueError if they lead elsewhere.
        """
        look_again(game, type(self))
        if game.is_over(state):
            raise ValueError(f"the game is over: there is no move to choose in\n{game.render(state)}")
        reached = game.initial()
        for move in moves or ():
            reached = game.after(reached, move)
        there = np.array_equal(reached, state)
        if moves is not None and not there:
            raise ValueError(f"the moves do not lead to the position that is given, but to\n{game.render(reached)}")
        with closing(self._player(game, budget)) as player:
            if there:
                player.start(game, state.copy(), list(moves or ()))
            return changed(player.choose(state, stream(seed)), game=game, state=state.copy())

    def __str__(self):
        return spell(self, every=False)
