"""Our agents as bots of OpenSpiel, for its tournaments and evaluations.

pyspiel.evaluate_bots(state, [arena.to_openspiel_bot("uct(playouts=500)", "connect4"), other], seed)
"""

from typing import Any

from arena import agents, games
from arena.agents.core.agent import Agent, Player
from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.interop.counterparts import Mirror, from_openspiel, pyspiel


class AgentBot(pyspiel.Bot):
    """Plays for whoever is to move, by one of our agents; it keeps its tree from move to move.

    agent, game: ours, or their specs; seed: equal games get equal moves
    NoCounterpart if OpenSpiel lacks the game, or a state is of another one; Unsuited if the agent cannot play it.
    """

    def __init__(self, agent: Agent | str, game: Game | str, seed: int = 0):
        super().__init__()
        self.agent = agents.make(agent) if isinstance(agent, str) else agent
        self.game = games.make(game) if isinstance(game, str) else game
        self.seed = seed
        Mirror(self.game)
        self.agent.player(self.game).close(None)  # a misfit is told at once
        self.restart()

    def restart(self) -> None:
        """The next state is of another game."""
        self.player: Player | None = None
        self.known: list[int] = []  # moves of ours that the player knows
        self.begun: list[int] = []  # the history up to which the actions of a move are chosen
        self.left: list[int] = []  # those still to be taken

    def restart_at(self, state: Any) -> None:
        """The next state is of another game; its history says how it came about."""
        self.restart()

    def step(self, state: Any) -> int:
        """The next action; a move of several actions is thought about once."""
        history = list(state.history())
        if not (self.left and history == self.begun):
            self.left = self._actions(state)
        action = self.left.pop(0)
        self.begun = [*history, action]
        return action

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Nothing: the history has it."""

    def _actions(self, state: Any) -> list[int]:
        moves, position = from_openspiel(self.game, state)
        if self.player is None or moves[: len(self.known)] != self.known:
            self.restart()
            self.player = self.agent.player(self.game)
            self.player.start(self.game, position.copy(), moves)
        else:
            for move in moves[len(self.known) :]:
                self.player.played(move)
        self.known = moves
        decision = self.player.choose(position.copy(), stream(self.seed, len(moves)))
        return Mirror(self.game, moves).actions_of(int(decision.move))


def to_openspiel_bot(agent: Agent | str, game: Game | str, seed: int = 0) -> AgentBot:
    """A `pyspiel.Bot` of one of our agents in one of our games that OpenSpiel has, too; see `AgentBot`."""
    return AgentBot(agent, game, seed)
