"""Methods that do not return are named, and ended."""

import re
import sys
import time

import pytest

from arena import agents, games
from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer
from arena.config import loading
from arena.games.core.checks.conformance import ConformanceError
from arena.games.core.shared import overdue
from arena.games.core.shared.overdue import Overdue, limited
from arena.games.nim import Nim


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Limits that a test can wait for."""
    monkeypatch.setattr(overdue, "LOOK", 0.05)
    monkeypatch.setattr(overdue, "TOLD", 0.25)
    monkeypatch.setattr(overdue, "MOST", 0.5)


class Looping(Nim):
    """Hangs at its first move."""

    name = "test_looping"

    def play(self, state, move):
        while move == 0:
            self.wait()
        Nim.play(self, state, move)

    def wait(self):
        time.sleep(0.01)


class Stubborn(Looping):
    """Catches every Exception."""

    name = "test_stubborn"

    def wait(self):
        try:
            time.sleep(0.01)
        except Exception:
            self.caught = True


class Dreamer(Random):
    name = "test_dreamer"

    def new_player(self, game, budget):
        return DreamingPlayer(game)


class DreamingPlayer(RandomPlayer):
    def decide(self, state, rng):
        until = time.monotonic() + 30
        while time.monotonic() < until:
            pass
        return Decision(0)


@pytest.mark.parametrize("make", [Looping, Stubborn])
def test_a_method_that_does_not_return_is_named_and_ended(make, capsys):
    game = make(heaps=(1, 2))
    line = r"play of Looping \(test_overdue\.py, line \d+\)"
    with pytest.raises(Overdue, match=f"^{line} has been ended after 0.5 s: it does not return$"), limited(game):
        game.play(game.initial(), 0)
    assert re.search(f"^arena: {line} has been running for 0.25 s$", capsys.readouterr().err, re.MULTILINE)


def test_a_thread_is_left_as_it_was():
    """With an error that is taken back, Python 3.11 looks for one at every step, and a traced call never begins."""
    with limited(Looping(heaps=(1, 2))):
        pass
    seen = []
    sys.setprofile(lambda frame, *_: seen.append(frame))
    try:
        Looping(heaps=(1, 2)).initial()
    finally:
        sys.setprofile(None)
    assert seen


def test_what_returns_is_left_alone(capsys):
    game = Looping(heaps=(1, 2))
    with limited(game):
        for _ in range(100):
            game.wait()
    assert capsys.readouterr().err == ""


class Endless(Nim):
    name = "test_overdue_endless"

    def is_over(self, state):
        while state[0] == 2 * sum(self.heaps):
            pass
        return Nim.is_over(self, state)


@pytest.mark.filterwarnings("ignore::arena.games.core.checks.conformance.NotInherited")
def test_the_check_of_a_game_ends():
    with pytest.raises(
        ConformanceError, match=r"test_overdue_endless\(.*: is_over of Endless \(.* has been ended after 0.5 s"
    ):
        games.check(Endless(heaps=(1, 2)), seed=1)


def test_the_openings_of_a_run_end():
    keys = {
        "game": "test_overdue_endless(heaps=(1, 2))",
        "games": 2,
        "agents": ["random", "flat"],
        "budget": {"playouts": 9},
    }
    fault = "its rules fail in the opening: Overdue: is_over of Endless"
    with pytest.raises(loading.ConfigError, match=f"game = 'test_overdue_endless.*': {fault}"):
        loading.from_values(keys)
    with pytest.raises(loading.ConfigError, match="the game's rules fail in them: Overdue: is_over of Endless"):
        loading.from_values(keys | {"openings": ["1-1"]})


def test_the_check_of_an_agent_ends():
    with pytest.raises(ConformanceError, match=r"test_dreamer on nim.*: decide of DreamingPlayer \(.* has been ended"):
        agents.check(Dreamer(), games.make("nim(heaps=(1, 2))"), seed=1)
