"""Solved values of the positions before and after each decision of a stored run."""

from collections.abc import Callable

import pandas as pd

from arena.agents.core.solve import Solver, Unsolved
from arena.agents.knowledge.book import key_of


class Oracle:
    """Solved values, each found once."""

    def __init__(self, solver: Solver):
        self.solver, self.game = solver, solver.game
        self.known: dict[int, int | None] = {}

    def value(self, state) -> int | None:
        """1, 0, -1 for the player to move (at the end, the first); None if the budget is too small."""
        if self.game.is_over(state):
            score = float(self.game.score(state))
            return (score > 0) - (score < 0)
        key = key_of(self.game, state)
        if key not in self.known:
            self.solver.begin()
            try:
                self.known[key] = self.solver.value(state)
            except Unsolved:
                self.known[key] = None
        return self.known[key]

    def value_for(self, player: int, state) -> int | None:
        """The value for one of the players."""
        value = self.value(state)
        owner = 0 if self.game.is_over(state) else int(self.game.player(state))
        return value if value is None or owner == player else -value


def grade_run(run, oracle: Oracle, report: Callable[[int, int], None]) -> pd.DataFrame:
    """A row for each decision of a stored run: id, ply, agent, move, before, after.

    `before` and `after` are the values, for the moving player, of the positions before and after the move; NaN if
    unsolved.  See `results.shown.graded_moves`.  `report(done, total)` is called after each game.
    """
    decisions = run.moves()
    by_game = dict(list(decisions.groupby("id", sort=False)))
    rows = []
    for done, record in enumerate(run.games.itertuples(), 1):
        rows += _grade_game(record, by_game.get(record.id, decisions[:0]), oracle)
        report(done, len(run.games))
    frame = pd.DataFrame(rows, columns=["id", "ply", "agent", "move", "before", "after"])
    return frame.astype({"before": float, "after": float})


def _grade_game(record, decisions, oracle) -> list[tuple]:
    rows = []
    game, opening = oracle.game.from_line(record.opening_moves)
    line = [*opening, *record.moves.split()]
    state, ply = game.initial(), 0
    for decision in decisions.itertuples():
        _, state = game.read_line(" ".join(line[ply : decision.ply]), state)
        after = game.after(state, game.parse_move(state, decision.move))
        player = int(game.player(state))
        values = oracle.value_for(player, state), oracle.value_for(player, after)
        rows.append((record.id, decision.ply, decision.agent, decision.move, *values))
        ply = decision.ply
    return rows
