"""Rules that break the interface only in play: the game is void, and its record names the method and its answer."""

from dataclasses import dataclass

import numpy as np
import pytest

import arena
from arena.config.config import ConfigError
from arena.play import match
from arena.play.game_calls import GameError
from arena.results.database.record import Reason
from tests.arena.test_match import first_game
from tests.heap import Heap

DRAWN = np.random.default_rng(1)  # what makes rules random


def often():
    return DRAWN.random() < 0.5


@dataclass(frozen=True)
class Ruled(Heap):
    """Sound until the last stones, and longer than a first look."""

    heap: int = 40
    fault: str = ""
    name = "test_ruled_nim"
    has_draws = False

    def answer(self, method, state, sound):
        if self.fault not in FAULTS or not (late(state) or self.fault in EARLY):
            return sound
        where, answer, _ = FAULTS[self.fault]
        return answer(sound, state) if where == method else sound

    def start(self, state):
        super().start(state)
        self.answer("start", state, None)

    def player(self, state):
        return self.answer("player", state, int(state[1]))

    def legal_moves(self, state, moves):
        count = super().legal_moves(state, moves)
        self.answer("legal_moves", state, moves)
        return self.answer("count", state, count)

    def play(self, state, move):
        super().play(state, move)
        self.answer("play", state, None)

    def is_over(self, state):
        return self.answer("is_over", state, bool(state[0] == 0))

    def score(self, state):
        return self.answer("score", state, super().score(state))

    def move_name(self, state, move):
        return self.answer("move_name", state, str(move))


def late(state):
    return state[0] <= 6


def end(*_):
    raise SystemExit(0)


def change(place, value):
    return lambda moves, state: moves.__setitem__(place, value)


def turn(sound, state):
    state[1] = np.uint64(1) - state[1] if often() else state[1]


def add(sound, state):
    state[0] += np.uint64(often())


EARLY = {"a random start"}
FAULTS = {  # method, its answer, what is said
    "half a player": ("player", lambda sound, _: sound + 0.5, r"player of .* answers \d\.5, which is no int"),
    "a player in words": ("player", lambda sound, _: str(sound), "player of .* answers '[01]', which is no int"),
    "a third player": ("player", lambda sound, _: 2, "player 2 is to move, and it has 2"),
    "no player": ("player", lambda sound, _: None, "player of .* answers None, which is no int"),
    "over in words": (
        "is_over",
        lambda sound, _: "no",
        "has no legal move|is_over of .* answers 'no', which is no bool",
    ),
    "over by chance": ("is_over", lambda sound, _: sound or often(), "is_over of .* is random|no legal move"),
    "a move twice": ("legal_moves", change(1, 1), r"legal_moves of .* lists the move 1 twice: \[1, 1\]"),
    "a move beyond": ("legal_moves", change(0, 9), "lists the move 9; moves are 0 to below its move_limit = 3"),
    "a move below 0": ("legal_moves", change(0, -1), "lists the move -1; moves are 0 to below"),
    "too many moves": ("count", lambda sound, _: 3, "returns 3; it can be 0 to max_moves = 2"),
    "moves in a list": ("count", lambda sound, _: [1, 2], r"legal_moves of .* returns \[1, 2\]; it returns how many"),
    "no moves": ("count", lambda sound, _: 0, "is not over, but has no legal move"),
    "a draw": ("score", lambda sound, _: 0.0, "score of .* is 0, a draw, and its has_draws is False"),
    "a score in words": ("score", lambda sound, _: "1", "score of .* answers '1', which is no float"),
    "no number": ("score", lambda sound, _: float("nan"), "score of .* is nan"),
    "a score by chance": ("score", lambda sound, _: DRAWN.random() + 0.1, "score of .* is random"),
    "play by chance": ("play", turn, "play of .*, or start, is random|is random"),
    "a random start": ("start", add, "start is random|is random"),
    "an end": ("play", end, "play of .* raised SystemExit: 0"),
    "a name that is none": ("move_name", lambda sound, _: int(sound), r"move_name of .* answers [12], which is no str"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_rules_that_break_the_interface_make_a_game_void_or_are_refused(fault, monkeypatch):
    said = FAULTS[fault][2]
    monkeypatch.setattr(match, "REPEATED", 1)
    with pytest.raises((GameError, ConfigError), match=said):
        for seed in range(12):  # those with chance in them may do well for once
            first_game("random", ("b", "random"), game=f"test_ruled_nim(fault={fault!r})", seed=seed)


def test_sound_rules_are_not_void():
    for seed in range(12):
        assert first_game("random", ("b", "random"), game="test_ruled_nim", seed=seed).reason == Reason.PLAYED_OUT


def test_moves_of_one_name_are_refused_before_play():
    with pytest.raises(ConfigError, match="move_name is 'm' for the moves 1 and 2 at the beginning"):
        first_game("random", ("b", "random"), game=Nameless.name)


@dataclass(frozen=True)
class Nameless(Heap):
    """All of its moves have one name."""

    name = "test_nameless_nim"

    def move_name(self, state, move):
        return "m"


def test_rules_that_end_the_process_are_named(tmp_path):
    game = "test_faulty_nim(heap=9, fault='exits')"
    agents = ["random", {"agent": "random", "name": "b"}]
    run = arena.run(plugins=["tests.arena.oddities"], game=game, agents=agents, games=2, workers=1, out=tmp_path)
    assert set(run.games.reason) == {Reason.CRASH}
    said = "while no agent's code ran: perhaps the rules of test_faulty_nim"
    assert [said in detail for detail in run.games.detail] == [True, True]
