"""What each game tells people of its rules."""

import re

import numpy as np
import pytest

from arena import games
from arena.games.breakthrough import Breakthrough, Knightthrough
from arena.games.core.game import CHANCE, Game, registry
from arena.games.core.jit import code_digest
from tests.shipped import GAMES

SENTENCE = re.compile(r"[.!?](?=\s|$)")


def names_in_random_games(game, rng, most=150):
    """Sets of names of legal moves, position by position."""
    for _ in range(100):
        state = game.initial()
        for _ in range(most):
            if game.is_over(state):
                break
            legal = game.moves(state)
            if int(game.player(state)) != CHANCE:
                yield {game.move_name(state, move) for move in legal}
            game.play(state, int(rng.choice(legal)))


@pytest.mark.parametrize("name", GAMES)
def test_rules_are_short(name):
    rules = registry.named(name).rules
    assert rules.strip() == rules and rules.endswith(".") and len(rules) <= 240
    assert 1 <= len(SENTENCE.findall(rules)) <= 3


@pytest.mark.parametrize("name", GAMES)
def test_the_moves_that_rules_quote_are_legal_somewhere(name):
    game = games.make(name)
    wanted = set(re.findall(r"`([^`]*)`", game.rules))
    assert wanted
    for names in names_in_random_games(game, np.random.default_rng(1)):
        wanted -= names
        if not wanted:
            return
    raise AssertionError(f"no legal move anywhere: {wanted}")


def test_every_game_has_a_text_of_its_own():
    texts = [registry.named(name).rules for name in GAMES]
    assert len(set(texts)) == len(texts)


def test_a_game_with_other_rules_inherits_no_text():
    """But one that differs in evaluations or drawings does."""

    class Loses(Breakthrough):
        prize = -1.0

    class Named(Breakthrough):
        def move_name(self, state, move):
            return str(move)

    class Looks(Knightthrough):
        def render(self, state):
            return "nothing"

    class Told(Breakthrough):
        rules = "The first to take a pawn wins."
        prize = -1.0

    assert Loses.rules == Named.rules == Game.rules == ""
    assert Looks.rules == Knightthrough.rules != Breakthrough.rules
    assert Told.rules == "The first to take a pawn wins."


def test_the_text_is_no_part_of_the_code_unless_code_names_it(monkeypatch):
    class Silent(Breakthrough):
        rules = "One text."

    class Reads(Breakthrough):
        rules = "One text."

        def render(self, state):
            return self.rules

    for cls in (Silent, Reads):
        before = code_digest(cls)
        monkeypatch.setattr(cls, "rules", "Another text.")
        assert (code_digest(cls) == before) == (cls is Silent)
