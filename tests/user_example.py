"""What a user's script looks like, with the types that a checker must see: mypy reads this file, and a test runs it.

`assert_type` fails in mypy where a name behind a lazy import is Any.
"""

from dataclasses import dataclass
from typing import ClassVar, assert_type

import numpy as np

import arena
from arena.agents.core.agent import Agent, Budget, Decision, Player
from arena.games.core.boards.drawing import Picture
from arena.games.core.game import Game, check_range
from arena.games.core.play.playout import PlayoutSummary
from arena.results.database.record import GameRecord
from arena.results.shown.tournament import Tournament
from arena.results.statistics.sprt import Sprt
from arena.runner.events import Events


@dataclass(frozen=True)
class FirstMove(Agent):
    """An agent of one's own: it plays the first of the legal moves."""

    name: ClassVar[str] = "first_move_of_the_example"

    def new_player(self, game: Game, budget: Budget) -> Player:
        return FirstMovePlayer(game)


class FirstMovePlayer(Player):
    def __init__(self, game: Game) -> None:
        self.game = game

    def decide(self, state: np.ndarray, rng: np.ndarray) -> Decision:
        return Decision(self.game.moves(state)[0], value=self.game.evaluate(state))


@dataclass(frozen=True)
class Matches(Game):
    """A game of one's own: who takes the last match wins.  state: int64[2] = matches, player to move."""

    matches: int = 7

    name = "matches_of_the_example"
    has_draws = False
    dtype = np.int64
    state_size = 2
    move_limit = 4
    max_moves = 3
    max_plies = 100

    def __post_init__(self) -> None:
        check_range("matches", self.matches, 1, 100)

    def start(self, state: np.ndarray) -> None:
        state[:] = self.matches, 0

    def player(self, state: np.ndarray) -> int:
        return int(state[1])

    def legal_moves(self, state: np.ndarray, moves: np.ndarray) -> int:
        count = min(3, int(state[0]))
        for i in range(count):
            moves[i] = i + 1
        return count

    def play(self, state: np.ndarray, move: int) -> None:
        state[0] -= move
        state[1] = 1 - state[1]

    def is_over(self, state: np.ndarray) -> bool:
        return bool(state[0] == 0)

    def score(self, state: np.ndarray) -> float:
        return 1.0 if state[1] == 1 else -1.0

    def move_name(self, state: np.ndarray, move: int) -> str:
        return str(move)

    def render(self, state: np.ndarray) -> str:
        return f"{state[0]} matches"


class Count(Events):
    """Watches a run."""

    def __init__(self) -> None:
        self.games = 0

    def finished(self, record: GameRecord) -> None:
        self.games += 1


def play_by_hand(spec: str, moves: str) -> str:
    game = arena.games.make(spec)
    assert_type(game, Game)
    line, state = game.read_line(moves)
    assert_type(line, list[int])
    assert_type(state, np.ndarray)
    assert_type(game.player(state), int)
    game.play(state, game.parse_move(state, "1"))
    assert_type(arena.games.perft(game, 2, state), int)
    assert_type(arena.games.svg(game, state), Picture)
    assert_type(arena.games.playouts(game, 10, seed=1, state=state), PlayoutSummary)
    return game.render(state)


def decide(spec: str, agent_spec: str) -> Decision:
    game, agent = arena.games.make(spec), arena.agents.make(agent_spec)
    assert_type(agent, Agent)
    decision = agent.choose(game, game.initial(), seed=1, budget=arena.agents.Budget(playouts=20))
    assert_type(decision, Decision)
    assert_type(decision.value, float | None)
    arena.agents.check(FirstMove(), game, seed=1)
    return decision


def compete(folder: str) -> Tournament:
    config = {"game": "tictactoe", "games": 4, "agents": [{"agent": "random"}, {"agent": "flat(playouts=20)"}]}
    count = Count()
    tournament = arena.run(config, out=folder, workers=1, events=count)
    assert_type(tournament, Tournament)
    assert_type(arena.load(folder), Tournament)
    assert count.games == len(tournament)
    assert_type(arena.results.Sprt(elo0=0, elo1=5), Sprt)
    return tournament
