"""Solving: the value of a position under best play, by any agent that offers a Solver.

Every question is reduced to Goals: statements about the first player's result.  "The first player wins" holds if the
reward is at least 1; "the second player wins" denies that it is at least 1/2.  "Within d plies" counts an unfinished
game as a failure of the side that should win, so that asking for d = 1, 2, 3 and so on finds the quickest win.

No position repeats, since every game ends after max_plies moves, and where a rule depends on the past, the past is part
of the key.  So a value belongs to the position alone.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited, registry
from arena.agents.core.chunks import control
from arena.agents.core.sides import result_of
from arena.games.core.game import Game

NEVER = 1 << 30  # more plies than any game lasts


class Goal(NamedTuple):
    """The statement: the first player's reward (0, 1/2 or 1) is at least `least`."""

    least: float
    plies: int = NEVER  # within how many from here
    late: bool = False  # whether an unfinished game then makes the statement true


class Proof(NamedTuple):
    """The answer to a goal."""

    holds: bool
    move: int | None  # that settles it, if known and made by the player to move


class Progress(NamedTuple):
    """A search's report while it runs."""

    nodes: int
    proof: int | None  # proof and disproof number, from searches that have them
    disproof: int | None
    seconds: float


class Unsolved(Exception):
    """The budget or the memory ran out; the message says which."""


@dataclass(frozen=True)
class Solution:
    """The result of `solve`.

    In a lost position every move is best, unless plies were asked for: then those that last longest are.
    """

    value: int | None  # 1 win, 0 draw, -1 loss, for the player to move; None if unsolved
    best: tuple[int, ...]  # the moves that keep the value, and the plies if asked for
    plies: int | None  # to the end under best play, if asked for and one side wins
    principal_variation: tuple[int, ...]
    goals: dict[str, bool | None]  # "win" and, if the game has draws, "draw" (or better); None if unknown
    nodes: int
    seconds: float
    peak_bytes: int  # of the search's own memory
    unsolved: str = ""  # why
    virtual_time: int | None = None  # of simulated workers, in nodes


class Exact(NamedTuple):
    """The value and plies to the end under best play: None if the budget was too small, and the plies of a draw."""

    value: int | None  # 1 win, 0 draw, -1 loss, for the player to move
    plies: int | None
    nodes: int
    seconds: float


class Solver:
    """Settles goals in positions of one game.  A subclass defines `prove` and `peak_bytes`."""

    def __init__(self, game, budget: Budget):
        self.game, self.budget = game, budget
        self.progress: Callable[[Progress], None] = lambda progress: None
        self.begin()

    def warm(self, state) -> None:
        """Compile everything by a small question, and start a new budget."""
        self.settle(state, Goal(1.0, 1))
        self.begin()

    def begin(self) -> None:
        self.found: dict[tuple, Proof] = {}
        self.nodes = 0
        self.started = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def virtual_time(self) -> int | None:
        """The nodes that simulated workers took since `begin`; None without them."""
        return None

    def left(self) -> tuple[int | None, float | None]:
        """The nodes and seconds left; Unsolved if it is spent."""
        nodes = None if self.budget.nodes is None else self.budget.nodes - self.nodes
        end = math.inf if self.budget.seconds is None else self.started + self.budget.seconds
        seconds = control.left(end, time.perf_counter())
        if nodes is not None and nodes <= 0:
            raise Unsolved(f"the budget of {self.budget.nodes} nodes is spent")
        if seconds <= 0 and control.until is not None:
            raise Unsolved("the search was stopped")
        if seconds <= 0:
            raise Unsolved(f"the budget of {self.budget.seconds:g} seconds is spent")
        return nodes, None if seconds == math.inf else seconds

    def prove(self, state: np.ndarray, goal: Goal) -> Proof:
        """Whether the goal holds in a position that is not over; adds to `nodes`.  Unsolved if it cannot tell."""
        raise NotImplementedError

    def peak_bytes(self) -> int:
        """The most bytes used so far."""
        raise NotImplementedError

    def may_draw(self) -> bool:
        """Whether the searches so far may have met a draw; if not, who does not win loses."""
        return True

    # -- Derived ---------------------------------------------------------------------------------------------------

    def settle(self, state, goal: Goal) -> Proof:
        """`prove`, once for each question."""
        question = state.tobytes(), goal
        if question not in self.found:
            self.found[question] = self.prove(state, goal)
        return self.found[question]

    def reaches(self, state, player: int, result: int, plies: int = NEVER) -> bool:
        """Whether a player gets at least a result (1 a win, 0 a draw) within `plies`, from any position."""
        if plies >= 0 and self.game.is_over(state):
            own = result_of(self.game.score(state))
            return (own if player == 0 else -own) >= result
        if plies <= 0:
            return False
        return self.settle(state, goal_for(player, result, plies)).holds == (player == 0)

    def value(self, state, goals: dict | None = None) -> int:
        """1, 0 or -1 for the player to move in a position that is not over; fills `goals`."""
        player, goals = int(self.game.player(state)), {} if goals is None else goals
        goals["win"] = self.reaches(state, player, 1)
        drawn = not goals["win"] and self.game.has_draws and self.may_draw() and self.reaches(state, player, 0)
        if self.game.has_draws:
            goals["draw"] = goals["win"] or drawn
        return 1 if goals["win"] else (0 if drawn else -1)

    def plies(self, state, winner: int) -> int:
        """The plies that a winner needs under best play; ValueError if that player does not win."""
        for plies in range(0 if self.game.is_over(state) else 1, self.game.max_plies + 1):
            if self.reaches(state, winner, 1, plies):
                return plies
        raise ValueError(f"player {winner} does not win in\n{self.game.render(state)}")

    def exact(self, state) -> tuple[int, int | None]:
        """(value, plies to the end, or None for a draw) of a position that is not over."""
        value, player = self.value(state), int(self.game.player(state))
        return value, self.plies(state, player if value > 0 else 1 - player) if value else None

    def exact_all(self, states: np.ndarray) -> list[Exact]:
        """`exact` of positions in turn, dtype[n, state_size], each with the whole budget."""
        found = []
        for state in states:
            self.begin()
            known: tuple[int | None, int | None] = None, None
            with suppress(Unsolved):
                known = self.exact(state)
            found.append(Exact(*known, self.nodes, self.seconds))
        return found

    def best_moves(self, state, value: int, plies: int | None, first: bool = False) -> tuple[int, ...]:
        """The moves that keep a value, and the plies unless None; with `first`, one of them."""
        player, found = int(self.game.player(state)), []
        for move in self.likely(state, value, plies) if first else self.game.moves(state):
            if self.keeps(self.game.after(state, move), player, value, plies):
                found.append(move)
                if first:
                    break
        return tuple(found)

    def likely(self, state, value, plies):
        moves, player = self.game.moves(state), int(self.game.player(state))
        if value < 0:
            return moves
        move = self.settle(state, goal_for(player, value, NEVER if plies is None else plies)).move
        return moves if move is None else sorted(moves, key=lambda other: other != move)

    def keeps(self, after, player, value, plies) -> bool:
        """Whether the move to `after` keeps the value, or in a lost game delays the end longest."""
        if value >= 0:
            return self.reaches(after, player, value, NEVER if plies is None else plies - 1)
        return plies is None or not self.reaches(after, 1 - player, 1, plies - 2)

    def line(self, state, value: int, plies: int | None, move: int | None) -> tuple[int, ...]:
        """Best play beginning with `move`; without plies, a lost side plays any move."""
        moves = []
        while move is not None:
            moves.append(move)
            player, state = int(self.game.player(state)), self.game.after(state, move)
            if self.game.is_over(state):
                break
            if int(self.game.player(state)) != player:
                value = -value
            plies = None if plies is None else plies - 1
            move = self.best_moves(state, value, plies, first=True)[0]
        return tuple(moves)


def goal_for(player: int, result: int, plies: int = NEVER) -> Goal:
    """A goal that, for player 0, is to get at least the result; player 1 gets it if the goal is false."""
    if player == 0:
        return Goal(1.0 if result == 1 else 0.5, plies, False)
    return Goal(0.5 if result == 1 else 1.0, plies, True)


def solver_of(agent: Agent, game: Game, budget: Budget | None = None) -> Solver:
    """The agent's solver, with its own budget or else `budget`; Unsuited if it cannot solve the game."""
    if reason := agent.refuses(game):
        raise Unsuited(reason)
    if not agent.solves:
        raise Unsuited(f"{agent.name} does not solve; agents that do: {', '.join(solving_agents())}")
    own = agent.own_budget()
    return agent.new_solver(game, own if own.given() else budget or Budget())


def solving_agents() -> list[str]:
    """The names of the agents that offer a solver."""
    return [name for name, cls in registry.classes().items() if cls.solves]


def solve(solver: Solver, state: np.ndarray, *, goal: str = "", shortest: bool = False, moves: str = "all") -> Solution:
    """Solve a position as far as the budget allows; ValueError if the game is over.

    goal: "win" or "draw" to settle only whether the player to move reaches at least that; "" for the value
    shortest: find the fewest plies to the end, and the moves that keep them
    moves: "all" best moves, at the cost of a search each, or "one", or "none" and no line of play
    """
    check_question(solver.game, state, goal)
    solver.begin()
    partial = PartialSolution(solver, state)
    unsolved = ""
    try:
        partial.find_value(goal)
        if partial.value and shortest:
            partial.plies = solver.plies(state, partial.player if partial.value > 0 else 1 - partial.player)
        if partial.reached is not None and moves != "none":
            partial.find_moves(moves)
    except Unsolved as reason:
        unsolved = str(reason)
    found = partial.value, partial.best, partial.plies, partial.line, partial.goals
    return Solution(*found, solver.nodes, solver.seconds, solver.peak_bytes(), unsolved, solver.virtual_time)


def solve_all(solver: Solver, states: Sequence[np.ndarray]) -> list[Exact]:
    """The values of many positions, and the plies to their ends, by one solver; ValueError if a game is over.

    What was found serves the next position. By alpha-beta without a budget of seconds, a short one takes microseconds.
    """
    for state in states:
        check_question(solver.game, state, "")
    return solver.exact_all(np.array(states, solver.game.dtype).reshape(len(states), solver.game.state_size))


def check_question(game, state, goal) -> None:
    """ValueError if the position is over; Unsuited if the game has no such goal."""
    if game.is_over(state):
        raise ValueError(f"the game is over: there is nothing to solve in\n{game.render(state)}")
    if goal not in ("", "win", "draw"):
        raise Unsuited(f"goal = {goal!r} is not one of win, draw")
    if goal == "draw" and not game.has_draws:
        raise Unsuited(f"{game} has no draws: its only goal is win")


class PartialSolution:
    """What is known of a solution when the budget ends."""

    def __init__(self, solver, state):
        self.solver, self.state = solver, state
        self.player = int(solver.game.player(state))
        self.value = self.reached = self.plies = None  # reached: what best moves keep
        self.goals: dict[str, bool | None] = {"win": None, "draw": None} if solver.game.has_draws else {"win": None}
        self.best = self.line = ()

    def find_value(self, goal):
        if not goal:
            self.value = self.reached = self.solver.value(self.state, self.goals)
            return
        result = {"win": 1, "draw": 0}[goal]
        held = self.goals[goal] = self.solver.reaches(self.state, self.player, result)
        if held:
            self.reached = result
        if held == (goal == "win"):
            self.value = self.reached = 1 if held else -1
            self.goals = dict.fromkeys(self.goals, held)

    def find_moves(self, moves):
        self.best = self.solver.best_moves(self.state, self.reached, self.plies, first=True)
        self.line = self.solver.line(self.state, self.reached, self.plies, self.best[0])
        if moves == "all":
            self.best = self.solver.best_moves(self.state, self.reached, self.plies)
