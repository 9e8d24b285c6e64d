"""Evaluations of one's own weights: sums of a game's terms, as plain Python counts them."""

import numpy as np
import pytest

from arena import agents, games
from arena.games.core.game import registry
from arena.games.core.interface.strength import WeightsError
from tests.agents.positions import random_position

WITH_TERMS = sorted(name for name, cls in registry.classes().items() if cls.term_weights)


@pytest.mark.parametrize("spec", WITH_TERMS)
def test_the_value_follows_from_the_terms(spec):
    game = games.make(spec)
    weights = {term: 0.5 + 2 * place for place, term in enumerate(game.term_weights)}
    own = game.with_evaluation(", ".join(f"{term}={weight}" for term, weight in weights.items()))
    for seed in range(10):
        state = random_position(game, seed, 12)
        terms = own.terms(state)
        assert {term: weight for term, _, _, weight in terms} == weights
        total = sum(weight * (first - second) for _, first, second, weight in terms)
        assert own.evaluate(state) == pytest.approx(total / (game.term_scale + abs(total)))


@pytest.mark.parametrize("spec", [name for name in WITH_TERMS if registry.classes()[name].summed is not None])
def test_the_usual_weights_are_an_evaluation_of_the_game(spec):
    game = games.make(spec)
    usual = game.with_evaluation(", ".join(f"{term}={weight}" for term, weight in game.term_weights.items()))
    named = game.with_evaluation(game.summed)
    for seed in range(10):
        state = random_position(game, seed, 20)
        assert usual.terms(state) == named.terms(state)
        if spec != "checkers":  # whose material is divided by the sum of both sides'
            assert usual.evaluate(state) == pytest.approx(named.evaluate(state))


def test_terms_that_can_be_counted_on_the_board():
    game = games.make("breakthrough(rows=5, columns=4)").with_evaluation("pawns=1, rows=0.1")
    for seed in range(10):
        state = random_position(game, seed, 12)
        rows = [line.split()[1:] for line in game.render(state).splitlines() if line.split()[0].isdigit()][::-1]
        places = [(row, man) for row, line in enumerate(rows) for man in line]
        white, black = [row for row, man in places if man == "W"], [4 - row for row, man in places if man == "B"]
        assert [term[1:3] for term in game.terms(state)] == [(len(white), len(black)), (sum(white), sum(black))]
    tictactoe = games.make("tictactoe").with_evaluation("lines=1, centre=1, corners=1")
    state = tictactoe.read_line("2b 1b")[1]  # a cross in the centre, a nought at an edge: 6 - 4 of the notes
    assert [term[1:3] for term in tictactoe.terms(state)] == [(6, 4), (1, 0), (0, 0)]


def test_terms_without_a_weight_count_nothing():
    game = games.make("chess").with_evaluation("queens=9")
    assert [weight for *_, weight in game.terms(game.initial())] == [0, 9, 0, 0, 0, 0, 0, 0, 0]
    assert game.evaluate(game.read_line("e4 a6")[1]) == 0


def test_bad_weights_are_said():
    chess = games.make("chess")
    for text, what in [
        ("queen=9", "'queen' is no term of this game; its terms: kings, queens, rooks"),
        ("queens=many", "'many', the weight of queens, is no number"),
        ("queens=nan", "the weight of queens is not finite"),
        ("queens=1, queens=2", "a term is given twice"),
        ("queens=1,", "'' is no term"),
    ]:
        with pytest.raises(WeightsError, match=what):
            chess.with_evaluation(text)
    with pytest.raises(games.SpecError, match="its terms: none"):
        games.make("hex(evaluation='lines=1')")
    with pytest.raises(agents.Unsuited, match="'corner' is no term of this game"):
        agents.make("alphabeta(depth=1, evaluation='corner=1')").player(games.make("othello"))


@pytest.mark.plain
def test_a_search_plays_by_the_weights():
    """The value at depth 1 is the best over the moves; other weights share the kernels, and change the choice."""
    game = games.make("othello(size=4)")
    state, chosen = game.initial(), []
    for weights in ("moves=1", "discs=1", "discs=-1, moves=0.5"):
        own = game.with_evaluation(weights)
        decision = agents.make(f"alphabeta(depth=2, evaluation={weights!r})").choose(game, state, seed=1)
        replies = [
            min(own.evaluate(own.after(after, move)) for move in own.moves(after))
            for after in (own.after(state, move) for move in own.moves(state))
        ]
        assert decision.value == pytest.approx(max(replies))
        chosen.append(decision.value)
    assert len(set(chosen)) > 1 and np.isfinite(chosen).all()
    assert own.compiled_parameter("evaluation") == game.with_evaluation("moves=1").compiled_parameter("evaluation")
