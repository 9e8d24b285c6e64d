"""Ratings: a worked figure, recovery of known strengths, and pools that have no finite estimate."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.bootstrap import bootstrap
from results.davidson import probabilities
from results.elo import ELO_PER_LOGIT
from results.ratings import count_results, rate

ORDO_SCALE = math.log(0.76 / 0.24) / 202 / (math.log(10) / 400)  # 0.99129 of Elo's: 202 of its points are a 76 % score
FOUR_PLAYERS = (
    "A-B 30/20/10, B-A 22/18/20, A-C 36/14/10, C-A 15/15/30, A-D 45/9/6, D-A 9/10/41, B-C 31/15/14, C-B 22/16/22, "
    "B-D 38/12/10, D-B 13/14/33, C-D 33/13/14, D-C 19/16/25"
)


def counts_of(text, agents="ABCD"):
    counts = np.zeros((len(agents), len(agents), 3))
    for item in text.split(", "):
        players, results = item.split()
        first, second = (agents.index(name) for name in players.split("-"))
        counts[first, second] = [int(number) for number in results.split("/")]
    return counts


def simulate(rng, strengths, games, advantage=0.2, log_nu=-0.5):
    """`games` for each ordered pair, by the model itself; strengths and advantage in logits."""
    n = len(strengths)
    counts = np.zeros((n, n, 3))
    for first in range(n):
        for second in range(n):
            if first != second:
                x = np.array([strengths[first] + advantage - strengths[second]])
                counts[first, second] = rng.multinomial(games, probabilities(x, log_nu)[0][0])
    return counts


def test_four_players_agree_with_ordo():
    """Ordo 1.2.6 -W -D -M fits the same model, and prints two digits: half of the last, and its search's tolerance."""
    ratings = rate("ABCD", counts_of(FOUR_PLAYERS))
    assert ratings.elo / ORDO_SCALE == pytest.approx([103.99, 36.88, -25.51, -115.36], abs=0.02)
    assert ratings.advantage / ORDO_SCALE == pytest.approx(43.25, abs=0.02)
    assert 100 * ratings.draw_rate == pytest.approx(26.36, abs=0.02)
    assert ratings.notes == [] and ratings.bound == ("",) * 4


def test_a_frame_of_results_is_the_same():
    counts = counts_of(FOUR_PLAYERS)
    rows = [("ABCD"[i], "ABCD"[j], *counts[i, j]) for i in range(4) for j in range(4) if i != j]
    frame = pd.DataFrame(rows, columns=["first", "second", "wins", "draws", "losses"])
    assert rate("ABCD", frame).elo.tolist() == rate("ABCD", counts).elo.tolist()
    with pytest.raises(ValueError, match="results of D, who are not among the agents A, B, C"):
        rate("ABC", frame)


def test_probabilities_obey_the_model():
    x = np.linspace(-3, 3, 13)
    for log_nu in (-2.0, 0.0, math.log(2), 3.0):
        p, derivatives = probabilities(x, log_nu)
        assert p.sum(axis=1) == pytest.approx(1)
        assert p[:, 0] + p[:, 1] / 2 == pytest.approx(1 / (1 + np.exp(-x)))
        assert p[:, 1] == pytest.approx(math.exp(log_nu) * np.sqrt(p[:, 0] * p[:, 2]))
        h = 1e-6
        by_x = (probabilities(x + h, log_nu)[0] - probabilities(x - h, log_nu)[0]) / (2 * h)
        by_log_nu = (probabilities(x, log_nu + h)[0] - probabilities(x, log_nu - h)[0]) / (2 * h)
        assert derivatives[:, :, 0] == pytest.approx(by_x, abs=1e-8)
        assert derivatives[:, :, 1] == pytest.approx(by_log_nu, abs=1e-8)


def test_two_players_without_draws_have_the_closed_form():
    """30 wins of 40 without an advantage: Elo of 75 %, with the logistic model's error Z / sqrt(n p (1 - p))."""
    ratings = rate("AB", counts_of("A-B 30/0/10", "AB"))
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * math.log10(3), abs=1e-3)
    error = 1.959964 * ELO_PER_LOGIT / math.sqrt(40 * 0.75 * 0.25)
    assert ratings.difference_error[0, 1] == pytest.approx(error, rel=1e-4)
    assert ratings.error[0] == pytest.approx(ratings.difference_error[0, 1] / 2)
    assert "advantage" in ratings.notes[0] and ratings.advantage == 0 and ratings.advantage_error is None


def test_coverage_of_intervals():
    """Of 95 % intervals around estimates from simulated pools, about 95 % hold the truth."""
    rng = np.random.default_rng(1)
    held, held_differences, advantages = [], [], []
    for _ in range(150):
        strengths = rng.normal(0, 0.7, 6)
        ratings = rate("ABCDEF", simulate(rng, strengths, 15))
        truth = (strengths - strengths.mean()) * ELO_PER_LOGIT
        held.extend(np.abs(ratings.elo - truth) < ratings.error)
        miss = np.abs((ratings.elo[0] - ratings.elo[1]) - (truth[0] - truth[1]))
        held_differences.append(miss < ratings.difference_error[0, 1])
        advantages.append(abs(ratings.advantage - 0.2 * ELO_PER_LOGIT) < ratings.advantage_error)
    assert 0.92 < np.mean(held) < 0.98  # 900 intervals: 95 % +- 1.5 %, were they independent
    assert 0.89 < np.mean(held_differences) < 0.995 and 0.89 < np.mean(advantages) < 0.995


def test_likelihood_of_superiority():
    ratings = rate("ABCD", counts_of(FOUR_PLAYERS))
    deviation = ratings.difference_error[0, 1] / 1.959964
    expected = (1 + math.erf((ratings.elo[0] - ratings.elo[1]) / deviation / math.sqrt(2))) / 2
    assert ratings.los("A", "B") == pytest.approx(expected, abs=1e-6)
    assert ratings.los("B", "A") == pytest.approx(1 - expected, abs=1e-6)


# -- without a finite estimate ---------------------------------------------------------------------------------------

def test_perfect_score_between_two_is_the_binomial_bound():
    ratings = rate("AB", counts_of("A-B 5/0/0, B-A 0/0/5", "AB"))
    least = -400 * math.log10(1 / 0.05**0.1 - 1)
    assert ratings.elo == pytest.approx([least / 2, -least / 2])
    assert ratings.bound == (">", "<") and np.isnan(ratings.error).all()
    assert ratings.los("A", "B") == 1 - 0.5**11
    assert any("All games of A" in note and "won" in note for note in ratings.notes)


def test_perfect_agents_leave_the_others_as_they_are():
    """A won and E lost every game: bounds; B, C, D are rated as without them, and A's sweep has 5 % at its bound."""
    inner = counts_of("B-C 8/3/4, C-B 7/3/5, B-D 9/2/4, D-B 5/3/7, C-D 7/4/4, D-C 6/3/6", "ABCDE")
    counts = inner + counts_of("A-B 6/0/0, B-A 0/0/6, A-C 6/0/0, D-E 4/0/0, A-E 2/0/0", "ABCDE")
    ratings, alone = rate("ABCDE", counts), rate("BCD", inner[1:4, 1:4])
    assert ratings.elo[1:4] == pytest.approx(alone.elo) and ratings.error[1:4] == pytest.approx(alone.error)
    assert ratings.bound == (">", "", "", "", "<")
    logit, log_nu = ratings.elo / ELO_PER_LOGIT, math.log(2 * ratings.draw_rate / (1 - ratings.draw_rate))
    x = np.array([1, -1, 1]) * (logit[0] - logit[[1, 1, 2]]) + ratings.advantage / ELO_PER_LOGIT
    p = probabilities(x, log_nu)[0]
    assert (p[0, 0] * p[1, 2] * p[2, 0]) ** 6 == pytest.approx(0.05)
    assert any("centred on the mean of B, C, D" in note for note in ratings.notes)


def test_disconnected_pools_are_said_aloud():
    ratings = rate("ABCD", counts_of("A-B 5/2/3, B-A 4/4/2, C-D 2/3/5, D-C 6/1/3"))
    assert ratings.elo[:2].sum() == pytest.approx(0) and ratings.elo[2:].sum() == pytest.approx(0)
    assert math.isnan(ratings.difference_error[0, 2]) and math.isnan(ratings.los("A", "C"))
    assert any("No results connect A, B with C, D" in note for note in ratings.notes)


def test_all_draws_are_equal_with_an_error():
    ratings = rate("AB", counts_of("A-B 0/10/0, B-A 0/10/0", "AB"))
    assert ratings.elo == pytest.approx([0, 0], abs=1e-6)
    assert 5 < ratings.error[0] < rate("AB", counts_of("A-B 0/2/0, B-A 0/2/0", "AB")).error[0]
    assert any("drawn" in note for note in ratings.notes)


def test_first_player_who_always_wins_is_no_strength():
    ratings = rate("AB", counts_of("A-B 9/0/0, B-A 9/0/0", "AB"))
    assert ratings.elo == pytest.approx([0, 0]) and ratings.error[0] > 0
    assert ratings.advantage_error is None and any("advantage" in note for note in ratings.notes)


def test_no_games_and_one_agent():
    for agents in ("A", "ABC"):
        ratings = rate(agents, np.zeros((len(agents), len(agents), 3)))
        assert np.isnan(ratings.elo).all() and ratings.bound == ("",) * len(agents)
        assert "No game counts" in ratings.notes[0]


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"counts\[3, 3, 3\]"):
        rate("ABC", np.zeros((2, 2, 3)))


def test_void_games_never_count():
    games = pd.DataFrame({
        "first": ["A", "B", "A", "A"], "second": ["B", "A", "B", None], "outcome": [1.0, 0.5, math.nan, math.nan],
    })
    counts = count_results("AB", games)
    assert counts[0, 1].tolist() == [1, 0, 0] and counts[1, 0].tolist() == [0, 1, 0] and counts.sum() == 2


# -- properties --------------------------------------------------------------------------------------------------------

pools = st.tuples(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 12))


def pool(parameters):
    seed, agents, games = parameters
    rng = np.random.default_rng(seed)
    return simulate(rng, rng.normal(0, 1.0, agents), games, rng.normal(0, 0.5), rng.normal(-0.5, 1))


@settings(max_examples=60, deadline=None)
@given(pools, st.randoms(use_true_random=False))
def test_permuting_agents_permutes_ratings(parameters, random):
    counts = pool(parameters)
    order = list(range(len(counts)))
    random.shuffle(order)
    names = [f"agent {i}" for i in order]
    one, other = rate([f"agent {i}" for i in range(len(counts))], counts), rate(names, counts[np.ix_(order, order)])
    assert other.elo == pytest.approx(one.elo[order], abs=5, nan_ok=True)  # few games have kinks: davidson.STEPS
    assert other.bound == tuple(one.bound[i] for i in order)


@settings(max_examples=60, deadline=None)
@given(pools)
def test_swapping_results_mirrors_ratings(parameters):
    counts = pool(parameters)
    names = [f"agent {i}" for i in range(len(counts))]
    one, mirror = rate(names, counts), rate(names, counts[:, :, ::-1])
    assert mirror.elo == pytest.approx(-one.elo, abs=5, nan_ok=True)
    assert mirror.bound == tuple({">": "<", "<": ">", "": ""}[mark] for mark in one.bound)
    assert mirror.advantage == pytest.approx(-one.advantage, abs=5)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0, 1))
def test_whatever_was_played_is_finite_or_marked(seed, agents, share):
    """Also with a handful of games: no infinity, no error of 0, and what has no estimate is bounded or explained."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, (agents, agents, 3)) * (rng.random((agents, agents, 3)) < share)
    counts[range(agents), range(agents)] = 0
    ratings = rate([f"agent {i}" for i in range(agents)], counts)
    assert not np.isinf(ratings.elo).any() and not np.isinf(ratings.error).any()
    estimated = ~np.isnan(ratings.elo) & (np.array(ratings.bound) == "")
    assert (ratings.error[estimated] > 0).all() and np.isnan(ratings.error[~estimated]).all()
    unplaced = [name for name, elo in zip(ratings.agents, ratings.elo) if math.isnan(elo)]
    assert all(any(name in note for note in ratings.notes) for name in unplaced)
    if estimated.all() and not any("connect" in note for note in ratings.notes):
        assert ratings.elo.sum() == pytest.approx(0, abs=1e-6)


# -- bootstrap --------------------------------------------------------------------------------------------------------

def paired_games(rng, openings=60):
    rows = []
    for opening in range(openings):
        for pairing, pair in enumerate((("A", "B"), ("A", "C"), ("B", "C"))):
            rows += [(pairing, opening, *players, rng.choice([0, 0.5, 1])) for players in (pair, pair[::-1])]
    return pd.DataFrame(rows, columns=["pairing", "opening", "first", "second", "outcome"])


def test_bootstrap_agrees_where_games_are_independent():
    games = paired_games(np.random.default_rng(3))
    ratings = rate("ABC", count_results("ABC", games))
    frame = bootstrap("ABC", games, samples=300, seed=1)
    assert (frame["samples"] == 300).all()
    assert frame["error"].to_numpy() == pytest.approx(ratings.error, rel=0.25)
    assert ((frame["low"] < ratings.elo) & (ratings.elo < frame["high"])).all()
    assert frame.equals(bootstrap("ABC", games, samples=300, seed=1))
    assert not frame.equals(bootstrap("ABC", games, samples=300, seed=2))


def test_bootstrap_keeps_pairs_together():
    """If the opening decides each game, every pair is one win each, and pairs drawn again show no spread at all."""
    games = paired_games(np.random.default_rng(4))
    games["outcome"] = (games["opening"] % 2).astype(float)
    frame = bootstrap("ABC", games, samples=20, seed=1)
    assert frame["error"].to_numpy() == pytest.approx([0, 0, 0], abs=1e-3)


def test_bootstrap_without_finite_ratings_says_so():
    games = paired_games(np.random.default_rng(5), 2)
    games["outcome"] = (games["first"] < games["second"]).astype(float)
    frame = bootstrap("ABC", games, samples=5, seed=1)
    assert (frame["samples"] == 0).all() and frame["error"].isna().all()
    with pytest.raises(ValueError, match="samples = 0"):
        bootstrap("ABC", games, samples=0, seed=1)
