"""What a player is told, whoever asks it: all moves before it and after, and the end, once, whatever fails."""

import inspect
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.outside.serving import SERVERS
from arena.agents.random import Random, RandomPlayer
from arena.config.config import Seat
from arena.games.core.checks.conformance import ConformanceError
from arena.games.core.game import CHANCE, IllegalMove
from arena.play.duel import Duel
from arena.play.game_calls import GameError
from arena.play.match import play
from arena.play.probe import game_fault
from arena.play.referee import Forfeit
from arena.play.warming import warm
from tests.arena.fixtures import round_robin
from tests.arena.oddities import FaultyNim

FIXTURE = round_robin(2, 2, 9)[0]


class Noted(RandomPlayer):
    """Follows the game by what it is told, and compares that with what it is shown."""

    def __init__(self, agent, game):
        super().__init__(game)
        self.agent, self.began, self.moves, self.decisions, self.closed = agent, None, [], 0, []
        agent.players.append(self)

    def start(self, game, state, moves):
        assert self.began is None and game is self.game
        self.began, self.moves = list(moves), list(moves)
        assert np.array_equal(state, self.reached())

    def played(self, move):
        self.moves.append(move)

    def decide(self, state, rng):
        assert np.array_equal(state, self.reached())
        self.decisions += 1
        if self.decisions == self.agent.fails:
            raise ValueError("on purpose")
        return super().decide(state, rng)

    def close(self, result):
        self.closed.append(result)

    def reached(self):
        state = self.game.initial()
        for move in self.moves:
            state = self.game.after(state, move)
        return state


@dataclass(frozen=True)
class Noting(Random):  # not registered: it has no name of its own
    """Makes such players, and keeps them; they fail at decision number `fails`."""

    fails: int = 0
    players: list = field(default_factory=list, compare=False)

    def new_player(self, game, budget):
        return Noted(self, game)

    def ends(self):
        """What its players were told at the end; each was told once."""
        assert all(len(player.closed) == 1 and player.began is not None for player in self.players)
        return [player.closed[0] for player in self.players]


def seats(*made):
    return tuple(Seat(f"agent {i}", agent, Budget()) for i, agent in enumerate(made))


def test_a_match_tells_opening_chance_and_result():
    game = games.make("pig(target=10, horizon=20)")
    state, opening = game.initial(), []
    while len(opening) < 5 or game.player(state) != CHANCE:  # so that the first move after it is chance's
        opening.append(game.moves(state)[0 if game.player(state) != CHANCE else 2])
        state = game.after(state, opening[-1])
    both = Noting(), Noting()
    record = play(game, seats(*both), FIXTURE, opening)
    for agent in both:
        (player,) = agent.players
        assert player.began == opening and game.is_over(player.reached()) and len(player.moves) == record.plies
        assert agent.ends() == [record.outcome]


def test_players_are_closed_where_one_fails_and_where_the_rules_do():
    good, bad = Noting(), Noting(fails=2)
    record = play(games.make("tictactoe"), seats(good, bad), FIXTURE, [])
    assert record.outcome == 1.0 and good.ends() == bad.ends() == [1.0]
    good = Noting()
    with pytest.raises(GameError):
        play(FaultyNim(heap=9, fault="raises"), seats(good, good), FIXTURE, [])
    assert good.ends() == [None, None]


def test_warming_tells_of_the_game_and_its_end():
    game, agent, bad = games.make("pig(target=10, horizon=20)"), Noting(), Noting(fails=1)
    assert warm([game, game], seats(agent)[0])[1] == "" and agent.ends() == [None, None]
    assert [player.decisions for player in agent.players] == [3, 3]
    assert warm([game], seats(bad)[0])[1].startswith(
        "ValueError: on purpose (test_players.py, line "
    ) and bad.ends() == [None]


def test_a_duel_closes_every_player():
    agent = Noting()
    duel = Duel(games.make("tictactoe"), agent, person=0, seed=1, opening=[0, 1])
    assert duel.hint().name and agent.players[1].began == [0, 1] and agent.players[1].closed == [None]
    duel.move(duel.game.moves(duel.state)[0])
    list(duel.advance())
    duel.undo()
    assert agent.players[0].closed == [None] and agent.players[2].closed == []
    duel.give_up()
    duel.close()
    assert agent.ends() == [None, None, 0.0]
    bad = Noting(fails=1)
    with pytest.raises(Forfeit):
        list(Duel(games.make("tictactoe"), bad, person=1, seed=1).advance())
    assert bad.ends() == [0.0]


@pytest.mark.parametrize("spoken", SERVERS)
def test_a_server_closes_every_player(spoken):
    agent = Noting()
    server = SERVERS[spoken](agent, games.make("hex(size=3)"), 0)
    server.begin(["b2", "a1"])
    server.decide()
    server.follow(["b2", "a1", "a2"])
    assert agent.players[0].began == server.position.moves[:2] and len(agent.players[0].moves) == 3
    server.begin()
    server.decide()
    server.leave()
    server.leave()
    assert agent.ends() == [None, None]


def test_check_closes_players_and_tells_of_openings(monkeypatch):
    game = games.make("pig(target=10, horizon=20)")
    monkeypatch.setattr("arena.agents.core.agent_check.check_spec", lambda agent: None)  # it is not registered
    agent = Noting()
    agents.check(agent, game, seed=1)
    assert set(agent.ends()) == {None} and [len(player.began) for player in agent.players] == [0, 0, 0, 0, 3, 3]
    for bad, error in ((Noting(fails=2), ValueError), (Illegal(), ConformanceError)):
        with pytest.raises(error):
            agents.check(bad, game, seed=1)
        assert bad.ends() == [None, None]


class Illegal(Noting):
    """Answers with an illegal move."""

    def new_player(self, game, budget):
        player = super().new_player(game, budget)
        player.decide = lambda state, rng: agents.Decision(-1)
        return player


def test_one_decision_tells_of_the_moves_before():
    game, agent = games.make("tictactoe"), Noting()
    moves, state = game.read_line("2b 1a")
    agent.choose(game, state, seed=1, moves=moves)
    agent.choose(game, game.initial(), seed=1)
    assert [player.began for player in agent.players] == [moves, []] and agent.ends() == [None, None]
    with pytest.raises(ValueError, match="the moves do not lead to the position that is given"):
        agent.choose(game, state, seed=1, moves=moves[:1])
    with pytest.raises(IllegalMove):
        agent.choose(game, state, seed=1, moves=[4, 4])
    bad = Noting(fails=1)
    with pytest.raises(ValueError, match="on purpose"):
        bad.choose(game, state, seed=1, moves=moves)
    assert bad.ends() == [None] and len(agent.players) == 2


@pytest.mark.parametrize("folder", ["", "/of/another/checkout/"])
def test_a_games_exception_is_its_own_wherever_its_code_was_compiled(folder):
    """Compiled code that was kept names the file that it was made from."""
    game = games.make("nim")
    file = Path(inspect.getsourcefile(type(game)))
    place = str(Path(folder, *file.parts[-2:])) if folder else str(file)
    scope = {}
    exec(compile("def play(state, move):\n    raise ValueError('no')", place, "exec"), scope)
    with pytest.raises(ValueError, match="no") as caught:
        scope["play"](None, 0)
    assert game_fault(game, None, caught.value, trusted=True) == "its rules raised ValueError: no"
    exec(compile("def play(state, move):\n    raise ValueError('no')", "/elsewhere/agent.py", "exec"), scope)
    with pytest.raises(ValueError, match="no") as caught:
        scope["play"](None, 0)
    assert game_fault(game, None, caught.value, trusted=True) is None
