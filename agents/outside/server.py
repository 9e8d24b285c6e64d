"""What servers of all protocols share: one of our agents, in one game after another, asked by another program."""

import importlib.metadata
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from arena.agents.core.agent import Agent, Budget, Decision, Player
from arena.games.core.game import Game
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError, listed

log = logging.getLogger("agents.serving")


class Quit(Exception):
    """The other side has ended the conversation."""


class Wrong(UserError):
    """A request cannot be answered; the message says why."""


class Over(Wrong):
    """A move is requested after the end of the game."""


class Server:
    """One game after another, of one agent."""

    prepare: Callable[[Agent, Game], object] | None = None  # called before the first search

    def __init__(self, agent: Agent, game: Game, seed: int):
        self.agent, self.game, self.seed = agent, game, seed
        self.own = bool(agent.own_budget().given()) or not agent.budgets
        self.limit = Budget()
        self.player: Player | None = None  # once a decision is asked for
        if reason := agent.refuses(game):
            raise Wrong(reason)
        self.version = _version()
        self.begin()

    def answers(self, line: str) -> Iterator[str]:
        """The answers to a line."""
        raise NotImplementedError

    def hear(self, line: str, write: Callable[[str], object]) -> None:
        """Answer a line; Quit if it ends the conversation."""
        for answer in self.answers(line):
            write(answer)

    def end(self) -> None:
        """There are no more lines."""

    def close(self) -> None:
        """The conversation is over."""
        self.leave()

    def begin(self, names: Iterable[str] = ()) -> None:
        """Go to a position from the beginning; the next player knows nothing of earlier games."""
        self.leave()
        self.position = GameInProgress(self.game)
        for name in names:
            self.make(name)

    def leave(self) -> None:
        if self.player:
            player, self.player = self.player, None
            player.close(None)

    def make(self, name: str) -> None:
        """Make the move with that name; Wrong if there is none."""
        legal = self.legal()
        if name not in legal:
            raise Wrong(f"{name!r} is not a legal move; legal: {listed(legal)}")
        self.position.push(legal[name])
        if self.player:
            self.player.played(self.position.moves[-1])

    def follow(self, names: list[str]) -> None:
        """Go to the position after these moves; the player goes on if they continue its game."""
        made = self.made()
        known = len(made)
        if names[:known] == made:
            for name in names[known:]:
                self.make(name)
        else:
            self.begin(names)

    def limited(self, budget: Budget) -> None:
        """Set the budget of the next decisions, unless the agent has its own."""
        if self.own or budget == self.limit:
            return
        if self.player and self._differs_in_time(budget) and hasattr(self.player, "budget"):
            self.player.allot(self.agent.budget(budget))
        else:
            self.leave()
        self.limit = budget

    def _differs_in_time(self, budget: Budget) -> bool:
        """Whether both budgets are of time, and of nothing else that differs."""
        timed = self.limit.seconds is not None and budget.seconds is not None
        return timed and replace(budget, seconds=self.limit.seconds, clock=self.limit.clock) == self.limit

    def decide(self, seed: int | None = None) -> Decision:
        """The agent's decision; without a seed, the same game gives the same decisions."""
        if self.position.is_over:
            raise Over("the game is over")
        try:
            if self.player is None:
                self.player = self.new_player()
                self.player.start(self.game, self.position.state.copy(), self.position.moves)
            rng = stream(self.seed, len(self.position.moves)) if seed is None else stream(seed)
            return self.player.choose(self.position.state.copy(), rng)
        except UserError:
            raise
        except Exception as error:  # not the request's fault
            self.player = None
            log.exception("%s failed", self.agent)
            raise Wrong(f"{self.agent} failed: {type(error).__name__}: {error}") from error

    def new_player(self) -> Player:
        """The agent's player in the next game."""
        return self.agent.player(self.game, self.limit)

    def made(self) -> list[str]:
        """The moves so far, by the protocol's names."""
        return self.position.names

    def legal(self) -> dict[str, int]:
        return self.position.legal

    def name_of(self, state, move: int) -> str:
        return self.game.move_name(state, move)

    def names_of(self, moves: Iterable[int]) -> list[str]:
        """The names of moves from the position on, up to the first illegal one."""
        return [self.name_of(state, move) for state, move in self.position.ahead(moves)]


def _version() -> str:
    try:
        return f"search-arena {importlib.metadata.version('search-arena')}"
    except importlib.metadata.PackageNotFoundError:
        return "search-arena"
