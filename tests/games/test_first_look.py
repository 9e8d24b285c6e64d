"""What the author of a game is told before anything is compiled."""

from dataclasses import dataclass

import numpy as np
import pytest

from arena import games
from arena.config import loading
from arena.config.config import ConfigError
from arena.games.core.checks.conformance import ConformanceError
from arena.games.core.checks.first_look import lacking, look_at
from arena.games.core.game import BrokenRules, Game


class Rows:
    """Take one or two of `heap` stones; who takes the last one wins.  With faults."""

    heap: int = 9

    state_size = 2
    move_limit = max_moves = 2
    has_draws = False

    @property
    def max_plies(self):
        return self.heap

    def start(self, state):
        state[:] = self.heap, 0

    def player(self, state):
        return state[1]

    def legal_moves(self, state, moves):
        moves[0], moves[1] = 0, 1
        return min(2, state[0])

    def play(self, state, move):
        state[0] -= move + 1
        state[1] = 1 - state[1]

    def is_over(self, state):
        return state[0] == 0

    def score(self, state):
        return 1.0 if state[1] == 1 else -1.0

    def move_name(self, state, move):
        return str(move + 1)

    def render(self, state):
        return str(state[0])


def with_faults(**members):
    """A game of Rows without the members that are None, and with the others."""
    named = {name: value for name, value in vars(Rows).items() if not name.startswith("__")} | {"dtype": np.int64}
    named |= members | {"__annotations__": {"heap": int}, "__module__": __name__}
    kept = {name: value for name, value in named.items() if value is not None}
    return dataclass(frozen=True)(type("Stones", (Game,), kept | {"name": f"stones_{len(games.names())}"}))()


def shifted(self, state):
    return state[1] + 1


def backwards(self, state, move):
    state[0] = state[0] - np.uint64(1) - state[0] * np.uint64(2)
    state[1] = np.uint64(1) - state[1]


FAULTS = {
    "lacks score": {"score": None},
    "lacks max_moves, player, render": {"max_moves": None, "player": None, "render": None},
    r"player\(state\) is np.int64\(2\) after .*; it can be 0, the first player, or 1$": {"player": shifted},
    "play raised ZeroDivisionError: .* after [12]$": {"play": lambda self, state, move: 1 // 0},
    "it is over before the first move": {"is_over": lambda self, state: True},
    "say dtype = np.int64 in the class": {"dtype": None, "play": backwards, "player": shifted},
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_are_named_before_anything_is_compiled(text):
    game = with_faults(**FAULTS[text])
    with pytest.raises(BrokenRules, match=f"^Stones:? {text}" if text.startswith("lacks") else text):
        look_at(game)
    with pytest.raises(ConformanceError, match=text):
        games.check(game, seed=1)


def test_a_run_of_a_game_that_lacks_something_or_ends_at_once_is_refused_for_that():
    for faults, text in [
        ({"score": None}, "lacks score"), ({"is_over": lambda self, state: True}, "it is over before the first move"),
        ({"player": None}, "lacks player"),
    ]:  # fmt: skip
        game = with_faults(**faults)
        with pytest.raises(ConfigError, match=f"game = .*{text}") as raised:
            loading.from_values({"game": game.name, "games": 2, "agents": ["random", "flat(playouts=9)"]})
        assert "opening_plies" not in str(raised.value)


@pytest.mark.slow
def test_a_sound_game_has_none():
    assert lacking(with_faults()) == []
    look_at(with_faults())
    games.check(with_faults(), seed=1)


def test_every_game_passes():
    for name in games.names():
        if not name.startswith("stones_"):
            try:
                game = games.make(name)
            except ValueError:
                continue  # it needs a file
            if type(game).__module__.startswith("arena."):
                look_at(game)


def test_a_game_that_does_not_end_shows_its_last_moves():
    with pytest.raises(ConformanceError, match=r"still going on after max_plies = 3; the last moves are ([12] ?)+"):
        games.check(with_faults(max_plies=3), seed=1)


def test_a_module_beside_is_proposed(tmp_path, monkeypatch):
    (tmp_path / "isolation.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ValueError, match=r"unknown game .isolation.; isolation.py is in this folder: --plugin isolation"
    ):
        games.make("isolation")
    with pytest.raises(ConfigError, match=r"is no module in .*, nor one that is installed"):
        loading.from_values({"game": "hex", "plugins": ["no_such_module"], "games": 2, "agents": ["random", "random"]})


def test_a_list_of_moves_that_is_not_counted_is_told():
    game = with_faults(legal_moves=lambda self, state, moves: None)
    with pytest.raises(BrokenRules, match="legal_moves returned None at the beginning; it returns how many moves"):
        look_at(game)
    with pytest.raises(BrokenRules, match=r"legal_moves of stones.* returns None; it returns how many moves it wrote"):
        game.moves(game.initial())
