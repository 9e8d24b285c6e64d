"""Ranks with intervals, cycles that Elo does not explain, and rankings without Elo."""

import math

import numpy as np
import pandas as pd
import pytest

from arena.results.shown.tables import meetings
from arena.results.statistics.ranking import SURE, alpha_rank, misfit, nash_average, rank_intervals, residuals
from arena.results.statistics.ratings import rate

ROCK = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def games_of(chance, openings, rng, draws=0.3, advantage=0.4):
    """Games of a pool: chance[i, j] is what i expects against j; openings favour a side."""
    names, rows = [f"a{i}" for i in range(len(chance))], []
    for i in range(len(names)):
        for j in range(i):
            for opening in range(openings):
                tilt = rng.normal(0, 0.5)
                for one, other in ((i, j), (j, i)):
                    odds = math.log(chance[one, other] / chance[other, one]) + advantage + (tilt if one == i else -tilt)
                    p = 1 / (1 + math.exp(-odds))
                    drawn = draws * 2 * min(p, 1 - p)
                    outcome = rng.choice([1.0, 0.5, 0.0], p=[p - drawn / 2, drawn, 1 - p - drawn / 2])
                    rows.append((0, opening, names[one], names[other], outcome, "over"))
    return names, pd.DataFrame(rows, columns=["condition", "opening", "first", "second", "outcome", "reason"])


def rated(names, games):
    counts = np.zeros((len(names), len(names), 3))
    for row in games.itertuples():
        counts[names.index(row.first), names.index(row.second), [1.0, 0.5, 0.0].index(row.outcome)] += 1
    return rate(names, counts)


def by_strength(strength):
    odds = np.subtract.outer(strength, strength)
    return 1 / (1 + np.exp(-odds))


def found_in(chance, openings, seed):
    names, games = games_of(chance, openings, np.random.default_rng(seed))
    return misfit(rated(names, games), meetings(names, games))


def test_rock_paper_and_scissors_are_found():
    chance = np.full((5, 5), 0.5)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        chance[i, j], chance[j, i] = 0.7, 0.3
    chance[3, :], chance[:, 3] = 0.2, 0.8  # one that loses to all
    np.fill_diagonal(chance, 0.5)
    found = found_in(chance, 40, 1)
    assert found.p < 1e-4 and found.share > 0.05 and set(found.cycle) == {"a0", "a1", "a2"}
    assert "Elo does not tell who beats whom" in found.sentence and " beats " in found.sentence
    at = found.cycle.index("a0")
    assert found.cycle[(at + 1) % 3] == "a1"  # each beats the next


def test_no_cycle_is_found_where_there_is_none():
    """The test is right about as often as it says, with draws, an advantage and openings that favour a side."""
    chance = by_strength(np.linspace(-1, 1, 6))
    p = np.array([found_in(chance, 12, seed).p for seed in range(30)])
    assert (p < SURE).sum() <= 2 and 0.3 < p.mean() < 0.7
    found = found_in(chance, 12, 100)
    assert found.sentence == "" and "as far as these games can show" in found.otherwise


@pytest.mark.slow
@pytest.mark.parametrize("agents, openings", [(3, 20), (6, 4), (6, 50), (15, 10)])
def test_the_test_of_cycles_is_right_as_often_as_it_says(agents, openings):
    chance = by_strength(np.linspace(-1.5, 1.5, agents))
    p = np.array([found_in(chance, openings, seed).p for seed in range(300)])
    for level in (0.05, 0.2, 0.5):
        assert abs((p < level).mean() - level) < 3.5 * math.sqrt(level * (1 - level) / 300), level


def test_three_agents_are_enough_for_a_cycle():
    """Three meetings are one more than what ratings can explain."""
    chance = 0.5 + 0.3 * ROCK
    found = found_in(chance, 40, 1)
    assert found.p < 1e-4 and set(found.cycle) == {"a0", "a1", "a2"}


def test_two_agents_tell_nothing_of_cycles():
    found = found_in(by_strength(np.array([0.0, 1.0])), 10, 1)
    assert math.isnan(found.p) and found.sentence == "" and "Too few agents have met" in found.otherwise


def test_residuals_turn_with_the_agents():
    names, games = games_of(by_strength(np.array([0.0, 0.5, 1.0])), 20, np.random.default_rng(1))
    found = residuals(rated(names, games), meetings(names, games))
    assert np.allclose(found, -found.T, equal_nan=True) and np.isnan(np.diag(found)).all()
    assert np.nanmax(np.abs(found)) < 0.2


def test_ranks_have_intervals():
    names, games = games_of(by_strength(np.array([0.0, 0.05, 2.0])), 60, np.random.default_rng(2))
    found = rank_intervals(names, games, 100, seed=1).set_index("agent")
    assert (found.loc["a2"] == 1).all() and set(found.loc["a0"]) | set(found.loc["a1"]) == {2, 3}
    assert found.equals(rank_intervals(names, games, 100, seed=1).set_index("agent"))


# -- Rankings without Elo ---------------------------------------------------------------------------------------------


def test_known_equilibria():
    assert np.allclose(nash_average(ROCK), 1 / 3, atol=1e-6) and np.allclose(alpha_rank(ROCK), 1 / 3, atol=1e-9)
    assert np.allclose(nash_average(np.zeros((4, 4))), 0.25, atol=1e-6)  # the one of most entropy
    best = np.array([[0, 1, 2], [-1, 0, 1], [-2, -1, 0.0]])
    assert np.allclose(nash_average(best), [1, 0, 0], atol=1e-6) and alpha_rank(best)[0] > 0.999
    uneven = np.array([[0, 1, -2], [-1, 0, 3], [2, -3, 0.0]])  # weights of each are the loss between the others
    assert np.allclose(nash_average(uneven), [1 / 2, 1 / 3, 1 / 6], atol=1e-6)
    copied = np.kron(ROCK, np.ones((2, 2)))
    assert np.allclose(nash_average(copied), 1 / 6, atol=1e-6)  # copies change nothing


@pytest.mark.parametrize("seed", range(5))
def test_they_are_openspiels(seed):
    alpharank = pytest.importorskip("open_spiel.python.egt.alpharank", reason="OpenSpiel is not installed")
    averaging = pytest.importorskip("open_spiel.python.algorithms.nash_averaging", reason="needs cvxpy")
    rng = np.random.default_rng(seed)
    payoffs = np.triu(rng.normal(0, 1, (6, 6)), 1)
    payoffs -= payoffs.T
    assert np.allclose(alpha_rank(payoffs, 1.0), alpharank.compute([payoffs], m=50, alpha=1.0)[2], atol=1e-6)
    theirs = averaging._max_entropy_symmetric_nash(payoffs, 0.0)
    assert np.allclose(nash_average(payoffs), np.ravel(theirs), atol=1e-6)
