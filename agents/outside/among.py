"""A decision among some of the moves, as UCI's `searchmoves` asks for: any agent searches the position after each.

Each move gets an equal part of the budget, or of a depth one ply less.  A search without an end goes round, each time
longer.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, MoveStatistics, Player, closing
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import control
from arena.games.core.game import CHANCE, Game
from arena.games.core.shared.errors import UserError

FIRST, GROWTH = 0.05, 2.0  # seconds of a move in the first round without an end, and times as many in each next one


class Among(Player):
    """One decision, by values of the positions after the moves; among equals, a random one."""

    def __init__(self, agent: Agent, game: Game, budget: Budget, before: Sequence[int], moves: Sequence[int]):
        """before: the moves that led to the position"""
        self.agent, self.game, self.budget = agent, game, budget
        self.before, self.moves = list(before), list(moves)
        self.found: dict[int, Decision] = {}

    def decide(self, state, rng):
        self.moves = [move for move in moves_of(self.game, state, rng) if move in self.moves]
        for part, seconds in self._rounds():
            found: dict[int, Decision] = {}
            for move in self.moves:
                if not found or self._goes_on(seconds):
                    found[move] = self._within(seconds, state, move, part, rng)
                if len(found) > len(self.found):  # in the first round
                    self.found = dict(found)
            if self._goes_on(seconds):  # else moves were searched for different times
                self.found = found
        return self.thoughts()

    def _within(self, seconds: float | None, *asked) -> Decision:
        """`_after`, ended after so many seconds in a search without an end."""
        control.part = None if seconds is None else time.perf_counter() + seconds
        try:
            return self._after(*asked)
        finally:
            control.part = None

    def thoughts(self):
        """Of the moves that were searched; None before the first."""
        if not self.found:
            return None
        moves = sorted(self.found, key=self._value, reverse=True)
        known = [self.found[move] for move in moves]
        effort = {
            kind: sum(getattr(one, kind) or 0 for one in known)
            for kind in ("playouts", "nodes")
            if any(getattr(one, kind) is not None for one in known)
        }
        counts = np.array([one.playouts or one.nodes or 0 for one in known], np.int64)
        values = np.array([self._value(move) for move in moves])
        table = MoveStatistics(np.array(moves, np.int32), counts, values)
        return replace(known[0], statistics=table, **effort)

    def _value(self, move: int) -> float:
        return self.found[move].value or 0.0

    def _rounds(self) -> Iterator[tuple[Budget, float | None]]:
        """The budget of each move, and the seconds of its part in a search without an end."""
        count, depth = len(self.moves), self.budget.depth
        shares = {kind: getattr(self.budget, kind) for kind in ("playouts", "nodes")}
        part = {kind: max(1, amount // count) for kind, amount in shares.items() if amount}
        part |= {"depth": max(1, depth - 1)} if depth else {}
        if self.budget.seconds is None or control.until is None:
            seconds = None if self.budget.seconds is None else self.budget.seconds / count
            yield Budget(**part, seconds=seconds), None
            return
        longer = FIRST
        while self._goes_on(longer):
            yield Budget(**part, seconds=longer), longer
            longer *= GROWTH

    def _goes_on(self, seconds: float | None) -> bool:
        return seconds is None or control.left(np.inf, time.perf_counter()) > 0

    def _after(self, state, move: int, budget: Budget, rng) -> Decision:
        """The decision of playing a move, with its value for who plays it."""
        after = self.game.after(state, move)
        if self.game.is_over(after):
            score = float(self.game.score(after))
            won = score if self.game.players == 1 else float(np.sign(score)) * (1 - 2 * int(self.game.player(state)))
            return Decision(move, won, (move,), depth=1)
        if self.game.player(after) == CHANCE:
            raise UserError("searchmoves: not where chance follows a move")
        with closing(self.agent.new_player(self.game, budget)) as player:
            player.start(self.game, after.copy(), [*self.before, move])
            found = player.choose(after, rng)
        same = self.game.players == 1 or self.game.player(after) == self.game.player(state)
        value = found.value if found.value is None or same else -found.value
        line = (move, *(found.principal_variation or (found.move,)))
        return replace(found, move=move, value=value, principal_variation=line, depth=(found.depth or 0) + 1)
