"""The interface of an agent: parameters, a budget, and a player that decides moves in one game.

An agent is a frozen dataclass of its parameters, written as it is typed: `uct(exploration=0.4, playouts=1000)`.
It holds nothing of a game.  `agent.player(game, budget)` makes a Player, which may keep a tree from move to move;
the Player's `choose(state, rng)` returns a Decision.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from agents.core.clock import Clock
from agents.core.effort import Effort
from agents.core.needs import Needs
from games.core.errors import UserError
from games.core.game import Game
from games.core.prepared import named_files
from games.core.random import stream
from games.core.registry import Registry, spell

if TYPE_CHECKING:
    from agents.core.solve import Solver

registry = Registry("agent", "agents")


class Unsuited(UserError, ValueError):
    """An agent that cannot play a game or use a budget; the message says why, and what would do."""


class OutOfTime(Exception):
    """A player that had to be stopped, as it took longer than its budget and margin of seconds: a loss by time."""


class IllegalAnswer(Exception):
    """A player that answers with what is no legal move; the message says what it answered."""


class Resigned(Exception):
    """A player that gives its game up."""


@dataclass(frozen=True)
class Budget:
    """What an agent may spend on one move.  Where several limits are given, the first one reached ends the search.

    A clock is for a whole game.  Seconds are then the share of the coming decision, and are not given beside it.
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
        """The budget of plain values, as a configuration has them: `{"clock": "10+0.1"}`."""
        clock = {"clock": Clock.read(table["clock"])} if "clock" in table else {}
        return cls(**{**table, **clock})

    def on(self, clock: Clock) -> "Budget":
        """The budget of the coming decision, before which the clock shows this."""
        return replace(self, clock=clock, seconds=clock.share())

    def given(self) -> dict:
        """The limits that are set, by kind."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


class MoveStatistics(NamedTuple):
    """What a search knows of each move at the root."""

    moves: np.ndarray  # int32[n]
    playouts: np.ndarray  # int64[n]
    means: np.ndarray  # float64[n], result for the player to move, -1 to 1
    deviations: np.ndarray | None = None  # float64[n], standard deviation of one playout's result


@dataclass(frozen=True)
class Decision(Effort):
    """A move, what the search thinks of it, and what it took to find it."""

    move: int
    value: float | None = None  # expected result for the player to move: -1 loss, 0 draw, 1 win; in a game for one
    # player the score that the principal variation, which is then a whole game, comes to; None if it has no estimate
    principal_variation: tuple[int, ...] = ()  # best play as the search sees it, from `move` on
    statistics: MoveStatistics | None = None
    improvements: tuple["Improvement", ...] = ()  # of a search for one player, from its first playout on
    counts: dict[str, int] = field(default_factory=dict)  # what else a search has counted, such as cut-offs
    game: Game | None = field(default=None, repr=False, compare=False)  # where it was made, if `Agent.choose` made it:
    state: np.ndarray | None = field(default=None, repr=False, compare=False)  # a notebook shows the board then

    def _repr_html_(self) -> str:
        """What a notebook shows: the move, the board after it, what was counted, and what is known of each move."""
        from agents.core.showing import decision_page

        return decision_page(self)


class Improvement(NamedTuple):
    """A score, better than all before, of a search for one player."""

    playouts: int  # done when it was found, that one included
    seconds: float  # since the search began, to within a chunk
    score: float


class Player:
    """An agent in one game: made before its first move, told of every move after that, asked for its own.

    Most players need no more than the state that `choose` is given; `start` and `close` are for those that must know
    how it came about, and that hold what does not go away by itself.
    """

    def start(self, game: Game, state: np.ndarray, moves: Sequence[int]) -> None:
        """Called once, before the first decision, with the position in which play begins.

        `moves` are those that led to it from the initial position: the opening's, outcomes of chance among them.
        """

    def close(self, result: float | None) -> None:
        """Called once the game is over, or given up because something has failed: the player itself, say.

        result: the first player's, 1 for a win, 0.5 for a draw and 0 for a loss; in a game for one player its score;
        None where there is none.
        """

    budget: Budget  # of a player whose agent knows seconds: what its next decision may take

    def allot(self, budget: Budget) -> None:
        """Called before each decision of a game with clocks, with the budget of that decision.

        Its seconds are a share of what `budget.clock` shows.  A player that manages its time itself looks at that.
        TypeError if the player has no attribute `budget` to take it, nor a method of its own.
        """
        if not hasattr(self, "budget"):
            kind = type(self).__name__
            raise TypeError(f"{kind} cannot play with a clock: it has neither an attribute budget nor a method allot")
        self.budget = budget

    def decide(self, state: np.ndarray, rng: np.ndarray) -> Decision:
        """The decision for the player to move in `state`: dtype[state_size], which is not over.

        It must not change `state`, and draws all random numbers from `rng`: uint64[1].
        """
        raise NotImplementedError

    def played(self, move: int) -> None:
        """Called after every move of either side; tree-keeping players advance here."""

    def choose(self, state: np.ndarray, rng: np.ndarray) -> Decision:
        """`decide`, with its wall time; TypeError if that returns anything but a Decision."""
        start = time.perf_counter()
        decision = self.decide(state, rng)
        if not isinstance(decision, Decision):
            raise TypeError(f"decide returned {decision!r}, which is no Decision")
        return replace(decision, seconds=time.perf_counter() - start)


@contextmanager
def closing(player: Player) -> Iterator[Player]:
    """The player, which is closed without a result at the end of the block, whatever ends it."""
    try:
        yield player
    finally:
        player.close(None)


class Agent:
    """Base class of all agents: frozen dataclasses that may have fields of Budget's names as their own budget."""

    name: ClassVar[str]  # what the agent is registered and written as
    budgets: ClassVar[tuple[str, ...]] = ()  # the kinds of budget it can use; it needs one of them, unless none is here
    needs: ClassVar[Needs] = Needs()  # what every agent of the class needs of a game, whatever its parameters
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    solves: ClassVar[bool] = False  # whether it offers a solver: `new_solver`
    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files which it reads

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registry.add(cls)

    def __post_init__(self):
        self.own_budget()

    def new_player(self, game: Game, budget: Budget) -> Player:
        """A player for one game.  Agents define this method; callers use `player`, which checks the game first."""
        raise NotImplementedError

    def new_solver(self, game: Game, budget: Budget) -> "Solver":
        """A solver for one game.  Agents that solve define this method; callers use `solver_of`, which checks first."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Nothing: files are read when it is known for which game."""

    def files(self) -> list[str]:
        """The paths of the files that it reads; a run is resumed only if they say what they did."""
        return named_files(self)

    @property
    def cores(self) -> int:
        """How many processor cores it keeps busy while it decides."""
        return 1

    def identity(self) -> str:
        """What is to be stored with a run of an agent whose program is not this package's: its name and version."""
        return ""

    def lacks(self) -> str:
        """What it needs of the machine that plays and does not find on this one, in words; empty if nothing."""
        return ""

    def own_needs(self) -> Needs:
        """`needs`, with what its parameters ask of a game besides."""
        return self.needs

    def misfit(self, game: Game) -> str | None:
        """Why it cannot play a game that meets its needs, such as for lack of memory; None if it can."""
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
        """Its own budget, or else the usable part of the default one; Unsuited if it has neither."""
        own = self.own_budget()
        if own.given() or not self.budgets:
            return own
        offered = (default or Budget()).given()
        kinds = {*self.budgets, "clock"} if "seconds" in self.budgets else set(self.budgets)
        usable = {kind: amount for kind, amount in offered.items() if kind in kinds}
        if not usable:
            wanted = " or ".join(self.budgets)
            told = [kind for kind in offered if kind != "seconds" or "clock" not in offered]
            was = f", not {' and '.join(told)}" if told else ""
            raise Unsuited(f"{self.name} needs a budget of {wanted}{was}; for example {self.name}({self.example()})")
        return Budget(**usable)

    def example(self) -> str:
        """A parameter that gives it a budget, as a user types it."""
        return {"playouts": "playouts=1000", "nodes": "nodes=10000", "depth": "depth=4", "seconds": "seconds=0.1"}[
            self.budgets[0]
        ]

    def player(self, game: Game, budget: Budget | None = None) -> Player:
        """A player for one game; `budget` is for an agent without one of its own.  Unsuited says what does not fit."""
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

        `moves` are those that led to `state` from the initial position, for agents that must know how it came about, as
        programs from outside do; IllegalMove if one is not legal, and ValueError if they lead elsewhere.
        """
        if game.is_over(state):
            raise ValueError(f"the game is over: there is no move to choose in\n{game.render(state)}")
        reached = game.initial()
        for move in moves or ():
            reached = game.after(reached, move)
        there = np.array_equal(reached, state)
        if moves is not None and not there:
            raise ValueError(f"the moves do not lead to the position that is given, but to\n{game.render(reached)}")
        with closing(self.player(game, budget)) as player:
            if there:
                player.start(game, state.copy(), list(moves or ()))
            return replace(player.choose(state, stream(seed)), game=game, state=state.copy())

    def __str__(self):
        return spell(self, every=False)
