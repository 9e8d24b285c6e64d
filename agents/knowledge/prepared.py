"""Agents that may play from files prepared before the game: opening books and end-game tables."""

from dataclasses import dataclass, field
from typing import ClassVar

from arena.agents.core.agent import Agent, Decision, Player
from arena.agents.knowledge import book as books
from arena.agents.knowledge import tablebase as tables
from arena.games.core.shared.prepared_file import PreparedFileError


@dataclass(frozen=True)
class PreparedAgent(Agent):
    """Base of the agents that use such files.

    book: a file with an opening book, whose moves are played as long as it has the position
    tablebase: a file with an end-game table, whose moves are played as soon as it has the position
    """

    book: str = field(default="", kw_only=True)
    tablebase: str = field(default="", kw_only=True)

    file_fields: ClassVar[tuple[str, ...]] = ("book", "tablebase")

    def misfit(self, game):
        try:
            if self.book:
                books.load(self.book, game)
            if self.tablebase:
                tables.load(self.tablebase, game)
        except PreparedFileError as error:
            return str(error)
        return None

    def _player(self, game, budget) -> Player:
        player = super()._player(game, budget)
        return PreparedPlayer(self, game, player) if self.book or self.tablebase else player


class PreparedPlayer(Player):
    """Plays from the files if they have the position, and else asks another player."""

    def __init__(self, agent: PreparedAgent, game, player: Player):
        self.game, self.other = game, player
        self.book = books.load(agent.book, game) if agent.book else {}
        self.endgames = tables.load(agent.tablebase, game) if agent.tablebase else tables.no_endgames()

    def allot(self, budget):
        self.other.allot(budget)

    def decide(self, state, rng):
        if found := books.best_move(self.game, self.book, state):
            move, points = found
            return Decision(move=move, value=2.0 * points - 1.0, principal_variation=(move,))
        if found := tables.best_move(self.game, self.endgames, state):
            move, value = found
            result = float((value > 0) - (value < 0))
            return Decision(move=move, value=result, depth=abs(value), principal_variation=(move,))
        return self.other.decide(state, rng)

    def played(self, move):
        self.other.played(move)
