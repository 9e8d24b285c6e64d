"""Ratings: a worked figure, recovery of known strengths, and pools that have no finite estimate."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize
from scipy.special import expit

from arena.results.statistics import bootstrap as resampling
from arena.results.statistics.bootstrap import bootstrap
from arena.results.statistics.draws import LAWS, USUAL
from arena.results.statistics.elo import ELO_PER_LOGIT
from arena.results.statistics.ratings import count_results, rate

LOGISTIC = LAWS[USUAL]
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


def simulate(rng, strengths, games, advantage=0.2, draws=-0.5, law=LOGISTIC):
    """`games` for each ordered pair, by the model itself; strengths and advantage in logits."""
    n = len(strengths)
    counts = np.zeros((n, n, 3))
    for first in range(n):
        for second in range(n):
            if first != second:
                x = np.array([strengths[first] + advantage - strengths[second]])
                counts[first, second] = rng.multinomial(games, law.probabilities(x, draws)[0][0])
    return counts


def test_four_players_agree_with_ordo():
    """Ordo 1.2.6 -W -D -M fits the same model, and prints two digits: half of the last, and its search's tolerance."""
    ratings = rate("ABCD", counts_of(FOUR_PLAYERS))
    assert ratings.elo / ORDO_SCALE == pytest.approx([103.99, 36.88, -25.51, -115.36], abs=0.02)
    assert ratings.advantage / ORDO_SCALE == pytest.approx(43.25, abs=0.02)
    assert 100 * ratings.draw_rate == pytest.approx(26.36, abs=0.02)
    assert ratings.notes == [] and ratings.bound == ("",) * 4


def chances(law, x, parameter):
    """Win, draw and loss when the first player is x logits stronger; of log nu or log delta."""
    nu = delta = math.exp(parameter)
    if law == "davidson":
        weights = np.exp([x / 2, parameter, -x / 2])
        return weights / weights.sum()
    if law == "rao-kupper":
        won, lost = expit(x - delta), expit(-x - delta)
    else:
        tie = brentq(lambda d: d - nu * math.sqrt((expit(x) - d / 2) * (expit(-x) - d / 2)), 0, 2 * expit(-abs(x)))
        won, lost = expit(x) - tie / 2, expit(-x) - tie / 2
    return np.array([won, 1 - won - lost, lost])


@pytest.mark.parametrize("advantage", [True, False])
@pytest.mark.parametrize("law", LAWS)
def test_ratings_again_by_a_general_optimiser(law, advantage):
    """The greatest likelihood, and errors by the expected information, from the law's definition and SciPy alone."""
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    counts, rng = np.zeros((4, 4, 3)), np.random.default_rng(7)
    for i, j in pairs:  # 1,200 games
        counts[i, j] = rng.multinomial(100, chances("davidson", [0.9, 0.2, -0.2, -0.9][i] - 0.8 * j / 3 + 0.4, -0.1))

    def games(theta):
        return np.array([chances(law, theta[i] - theta[j] + theta[4] * advantage, theta[5]) for i, j in pairs])

    played = np.array([counts[pair] for pair in pairs])
    start = [0, 0, 0, 0, 0, -0.1]
    found = minimize(lambda theta: -(played * np.log(games(theta))).sum(), start, method="BFGS").x
    slopes = np.array([(games(found + h) - games(found - h)) / 2e-5 for h in 1e-5 * np.eye(6)])
    information = np.einsum("agk,bgk,gk,g->ab", slopes, slopes, 1 / games(found), played.sum(axis=1))
    centred = np.eye(6)
    centred[:4, :4] -= 1 / 4
    errors = 1.959964 * ELO_PER_LOGIT * np.sqrt(np.diag(centred @ np.linalg.pinv(information, 1e-9) @ centred))
    rated = rate("ABCD", counts, draws=law, advantage=advantage)
    assert rated.elo == pytest.approx(ELO_PER_LOGIT * (found[:4] - found[:4].mean()), abs=0.1)
    assert rated.error == pytest.approx(errors[:4], rel=1e-3)
    assert rated.advantage == pytest.approx(ELO_PER_LOGIT * found[4] * advantage, abs=0.1)
    assert rated.draw_rate == pytest.approx(chances(law, 0.0, found[5])[1], abs=1e-3)


def test_a_frame_of_results_is_the_same():
    counts = counts_of(FOUR_PLAYERS)
    rows = [("ABCD"[i], "ABCD"[j], *counts[i, j]) for i in range(4) for j in range(4) if i != j]
    frame = pd.DataFrame(rows, columns=["first", "second", "wins", "draws", "losses"])
    assert rate("ABCD", frame).elo.tolist() == rate("ABCD", counts).elo.tolist()
    with pytest.raises(ValueError, match="results of D, which are not among the agents A, B, C"):
        rate("ABC", frame)


def test_two_players_without_draws_have_the_closed_form():
    """30 wins of 40 without an advantage: Elo of 75 %, with the logistic model's error Z / sqrt(n p (1 - p))."""
    ratings = rate("AB", counts_of("A-B 30/0/10", "AB"))
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * math.log10(3), abs=1e-3)
    error = 1.959964 * ELO_PER_LOGIT / math.sqrt(40 * 0.75 * 0.25)
    assert ratings.difference_error[0, 1] == pytest.approx(error, rel=1e-4)
    assert ratings.error[0] == pytest.approx(ratings.difference_error[0, 1] / 2)
    assert "advantage" in ratings.notes[0] and ratings.advantage == 0 and ratings.advantage_error is None


def test_the_advantage_of_two_players_without_draws_has_the_closed_form():
    """Half the sum of both logits, of 75 % and of 62.5 % for who moves first, and half of their errors together."""
    ratings = rate("AB", counts_of("A-B 30/0/10, B-A 25/0/15", "AB"))
    assert ratings.advantage == pytest.approx(200 * math.log10(3) + 200 * math.log10(5 / 3), abs=1e-3)
    error = 1.959964 * ELO_PER_LOGIT * math.sqrt(1 / (40 * 0.75 * 0.25) + 1 / (40 * 0.625 * 0.375)) / 2
    assert ratings.advantage_error == pytest.approx(error, rel=1e-4)


@pytest.mark.slow
def test_coverage_of_intervals():
    """Of 95 % intervals around estimates from simulated pools, about 95 % hold the truth."""
    rng = np.random.default_rng(1)
    held, held_differences, advantages = [], [], []
    for _ in range(500):
        strengths = rng.normal(0, 0.7, 6)
        ratings = rate("ABCDEF", simulate(rng, strengths, 15))
        truth = (strengths - strengths.mean()) * ELO_PER_LOGIT
        held.extend(np.abs(ratings.elo - truth) < ratings.error)
        miss = np.abs((ratings.elo[0] - ratings.elo[1]) - (truth[0] - truth[1]))
        held_differences.append(miss < ratings.difference_error[0, 1])
        advantages.append(abs(ratings.advantage - 0.2 * ELO_PER_LOGIT) < ratings.advantage_error)
    assert 0.93 < np.mean(held) < 0.97  # 3,000 intervals: 95 % +- 0.8 %, were they independent
    assert 0.93 < np.mean(held_differences) < 0.97 and 0.93 < np.mean(advantages) < 0.97


@pytest.mark.parametrize("pairs", [5, *(pytest.param(pairs, marks=pytest.mark.slow) for pairs in (10, 20, 50))])
@pytest.mark.parametrize("decided", [0.0, 0.4])
def test_coverage_with_few_pairs(pairs, decided):
    """Also where openings decide some pairs, whose results say nothing of strength: intervals are too wide then."""
    rng, strengths = np.random.default_rng(pairs), np.array([-0.6, 0.0, 0.6])
    truth = rate("ABC", _expected(strengths, decided)).elo
    held = []
    for _ in range(300 if pairs == 5 else 600):
        counts = np.zeros((3, 3, 3))
        for one, other in ((0, 1), (0, 2), (1, 2)):
            by_opening = rng.binomial(pairs, decided)  # pairs, of which the same side wins both games
            swept = np.array([wins := rng.binomial(by_opening, 0.6), 0, by_opening - wins])
            counts[one, other] += swept
            counts[other, one] += swept
            for first, second in ((one, other), (other, one)):
                x = np.array([strengths[first] + 0.2 - strengths[second]])
                counts[first, second] += rng.multinomial(pairs - by_opening, LOGISTIC.probabilities(x, -0.5)[0][0])
        ratings = rate("ABC", counts)
        held.extend((np.abs(ratings.elo - truth) <= ratings.error)[[mark == "" for mark in ratings.bound]])
    assert np.mean(held) > (0.93 if decided == 0 else 0.96)


def _expected(strengths, decided) -> np.ndarray:
    """The shares of results of each two agents, times a million."""
    counts = np.zeros((3, 3, 3))
    for first in range(3):
        for second in range(3):
            if first != second:
                x = np.array([strengths[first] + 0.2 - strengths[second]])
                played = LOGISTIC.probabilities(x, -0.5)[0][0]
                counts[first, second] = 1e6 * ((1 - decided) * played + decided * np.array([0.6, 0, 0.4]))
    return counts


def test_likelihood_of_superiority():
    ratings = rate("ABCD", counts_of(FOUR_PLAYERS))
    deviation = ratings.difference_error[0, 1] / 1.959964
    expected = (1 + math.erf((ratings.elo[0] - ratings.elo[1]) / deviation / math.sqrt(2))) / 2
    assert ratings.los("A", "B") == pytest.approx(expected, abs=1e-6)
    assert ratings.los("B", "A") == pytest.approx(1 - expected, abs=1e-6)


# -- draws, anchors, repetitions ---------------------------------------------------------------------------------------


def test_rao_kupper_recovers_strengths():
    law, rng = LAWS["rao-kupper"], np.random.default_rng(2)
    strengths = np.array([0.9, 0.2, -0.3, -0.8])
    counts = simulate(rng, strengths, 4000, advantage=0.3, draws=math.log(0.7), law=law)
    ratings = rate("ABCD", counts, draws="rao-kupper")
    assert ratings.elo == pytest.approx(strengths * ELO_PER_LOGIT, abs=8)
    assert ratings.advantage == pytest.approx(0.3 * ELO_PER_LOGIT, abs=6)
    assert ratings.draw_rate == pytest.approx(math.tanh(0.35), abs=0.01)


def test_draws_as_halves_are_wins_and_losses():
    halves = counts_of("A-B 20/0/10, B-A 12/0/18, A-C 21/0/9, C-A 9/0/21, B-C 16/0/14, C-B 14/0/16", "ABC")
    drawn = counts_of("A-B 15/10/5, B-A 10/4/16, A-C 20/2/8, C-A 0/18/12, B-C 16/0/14, C-B 0/28/2", "ABC")
    one, other = rate("ABC", halves, advantage=False), rate("ABC", drawn, draws="half", advantage=False)
    assert one.elo == pytest.approx(other.elo, abs=1e-4) and one.error == pytest.approx(other.error, abs=1e-4)
    assert one.advantage == other.advantage == 0 and one.notes == other.notes == []
    with pytest.raises(ValueError, match="draws = 'glenn' is not one of logistic, davidson, rao-kupper, half"):
        rate("ABC", drawn, draws="glenn")


@pytest.mark.parametrize("library", ["evalica", "choix"])
def test_agrees_with_other_libraries(library):
    """Draws as halves, no advantage: the Bradley-Terry model, which they fit by other methods."""
    module = pytest.importorskip(library, reason=f"{library} is not installed: pip install {library}")
    counts = counts_of(FOUR_PLAYERS)
    if library == "evalica":
        games = [
            (i, j, [module.Winner.X, module.Winner.Draw, module.Winner.Y][k])
            for (i, j, k), n in np.ndenumerate(counts)
            for _ in range(int(n))
        ]
        xs, ys, winners = zip(*games)
        scores = module.bradley_terry(xs, ys, winners, tolerance=1e-12, limit=100_000).scores
        logits = np.log([scores[i] for i in range(4)])
    else:
        wins = [(i, j) for i, j in np.ndindex(4, 4) for _ in range(int(2 * counts[i, j, 0] + counts[i, j, 1]))]
        wins += [(j, i) for i, j in np.ndindex(4, 4) for _ in range(int(2 * counts[i, j, 2] + counts[i, j, 1]))]
        logits = module.opt_pairwise(4, wins)
    ours = rate("ABCD", counts, draws="half", advantage=False).elo
    assert ours == pytest.approx((logits - logits.mean()) * ELO_PER_LOGIT, abs=0.1)


def test_an_anchor_moves_the_scale():
    free, held = rate("ABCD", counts_of(FOUR_PLAYERS)), rate("ABCD", counts_of(FOUR_PLAYERS), anchors={"B": 1500})
    assert held.elo - 1500 == pytest.approx(free.elo - free.elo[1], abs=1e-3)
    assert held.error[[0, 2, 3]] == pytest.approx(free.difference_error[1, [0, 2, 3]], abs=1e-3)
    assert math.isnan(held.error[1]) and held.difference_error == pytest.approx(free.difference_error, abs=1e-3)
    assert held.notes == ["Ratings are measured from B, whose Elo is taken as known."]


def test_two_anchors_are_both_held():
    counts = counts_of(FOUR_PLAYERS)
    held = rate("ABCD", counts, anchors={"A": 100, "D": -300})
    assert held.elo[[0, 3]] == pytest.approx([100, -300])
    assert held.advantage_error > 0 and -300 < held.elo[2] < held.elo[1] < 100
    consistent = rate("ABCD", counts)
    again = rate("ABCD", counts, anchors={name: consistent.elo["ABCD".index(name)] for name in "AD"})
    assert again.elo == pytest.approx(consistent.elo, abs=1e-2)  # what is estimated anyway changes nothing
    assert (again.error[[1, 2]] < consistent.difference_error[0, [1, 2]]).all()


def test_anchors_that_won_everything_bound_the_others():
    ratings = rate("ABC", counts_of("A-B 5/0/0, B-A 0/0/5, B-C 5/2/5, C-B 5/1/4", "ABC"), anchors={"A": 2000})
    assert ratings.elo[0] == pytest.approx(2000) and ratings.bound == ("", "<", "<")
    assert 2000 - ratings.elo[1] == pytest.approx(-400 * math.log10(1 / 0.05**0.1 - 1), abs=60)
    with pytest.raises(ValueError, match="the anchors A and B cannot both hold"):
        rate("AB", counts_of("A-B 5/0/0", "AB"), anchors={"A": 0, "B": 0})
    with pytest.raises(ValueError, match="the anchor 'Z' is not among the agents A, B"):
        rate("AB", counts_of("A-B 5/0/0", "AB"), anchors={"Z": 0})
    with pytest.raises(ValueError, match="A = nan is out of range"):
        rate("AB", counts_of("A-B 5/0/0", "AB"), anchors={"A": math.nan})


def test_repeated_games_count_once_in_errors():
    counts = counts_of(FOUR_PLAYERS)
    once, fourfold = rate("ABCD", counts), rate("ABCD", 4 * counts, distinct=counts)
    assert fourfold.elo == pytest.approx(once.elo, abs=1e-3) and fourfold.error == pytest.approx(once.error, rel=1e-4)
    assert fourfold.los("A", "B") == pytest.approx(once.los("A", "B"), abs=1e-6)
    swept = rate("AB", counts_of("A-B 50/0/0", "AB"), distinct=counts_of("A-B 1/0/0", "AB"))
    assert swept.elo == pytest.approx(rate("AB", counts_of("A-B 1/0/0", "AB")).elo) and swept.los("A", "B") == 0.75


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
    p = LOGISTIC.probabilities(x, log_nu)[0]
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


@pytest.mark.parametrize("results, bound, sign", [
    ("A-B 9/0/0, B-A 9/0/0", ">", 1), ("A-B 0/0/9, B-A 0/0/9", "<", -1),
])  # fmt: skip
def test_first_player_who_always_wins_bounds_its_advantage_alone(results, bound, sign):
    """Of equals it wins 18 of 18 with 5 %, if p**18 = 0.05; unequal ones make that less likely."""
    ratings = rate("AB", counts_of(results, "AB"))
    p = 0.05 ** (1 / 18)
    assert ratings.advantage == pytest.approx(sign * ELO_PER_LOGIT * math.log(p / (1 - p)), abs=0.1)
    assert ratings.advantage_error is None and ratings.advantage_bound == bound
    assert np.isnan([*ratings.elo, *ratings.error, ratings.difference_error[0, 1], ratings.los("A", "B")]).all()
    assert ratings.notes == [
        f"The first player {'won' if sign > 0 else 'lost'} all 18 games among A, B: its advantage is "
        f"{'above' if sign > 0 else 'below'} {ratings.advantage:+.0f} Elo, with 95 % confidence, and how strong they "
        "are is not known."
    ]
    equal = rate("AB", counts_of(results, "AB"), advantage=False)
    assert equal.elo == pytest.approx([0, 0]) and equal.error[0] > 0 and equal.notes == []
    anchored = rate("AB", counts_of(results, "AB"), anchors={"A": 100})
    assert anchored.elo[0] == pytest.approx(100) and math.isnan(anchored.elo[1])


def test_one_draw_bounds_nothing():
    ratings = rate("AB", counts_of("A-B 9/1/0, B-A 9/1/0", "AB"))
    assert (
        ratings.advantage_error > 0 and ratings.advantage_bound == "" and ratings.elo == pytest.approx([0, 0], abs=1e-6)
    )


def test_uneven_schedules_leave_room_for_strength():
    """Where one agent moved first more often, unequal strengths explain more, so that the bound is lower."""
    even, uneven = (rate("AB", counts_of(text, "AB")) for text in ("A-B 9/0/0, B-A 9/0/0", "A-B 16/0/0, B-A 2/0/0"))
    assert 0 < uneven.advantage < even.advantage


def test_no_games_and_one_agent():
    for agents in ("A", "ABC"):
        ratings = rate(agents, np.zeros((len(agents), len(agents), 3)))
        assert np.isnan(ratings.elo).all() and ratings.bound == ("",) * len(agents)
        assert "No game counts" in ratings.notes[0]


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"counts\[3, 3, 3\]"):
        rate("ABC", np.zeros((2, 2, 3)))


def test_void_games_never_count():
    games = pd.DataFrame(
        {"first": ["A", "B", "A", "A"], "second": ["B", "A", "B", None], "outcome": [1.0, 0.5, math.nan, math.nan]}
    )
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
    assert other.elo == pytest.approx(one.elo[order], abs=5, nan_ok=True)  # few games have kinks: likelihood.STEPS
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
        for pair in (("A", "B"), ("A", "C"), ("B", "C")):
            rows += [(0, opening, *players, rng.choice([0, 0.5, 1])) for players in (pair, pair[::-1])]
    return pd.DataFrame(rows, columns=["condition", "opening", "first", "second", "outcome"])


@pytest.mark.slow
def test_bootstrap_agrees_where_games_are_independent():
    games = paired_games(np.random.default_rng(3))
    ratings = rate("ABC", count_results("ABC", games))
    frame = bootstrap("ABC", games, samples=300, seed=1)
    assert (frame["samples"] == 300).all()
    assert frame["error"].to_numpy() == pytest.approx(ratings.error, rel=0.25)
    assert ((frame["low"] < ratings.elo) & (ratings.elo < frame["high"])).all()
    assert frame.equals(bootstrap("ABC", games, samples=300, seed=1))
    assert not frame.equals(bootstrap("ABC", games, samples=300, seed=2))


def test_the_interval_of_the_bootstrap_leaves_out_a_fortieth_on_each_side(monkeypatch):
    monkeypatch.setattr("arena.results.statistics.bootstrap.resampled", lambda *_, **__: np.outer(range(81), [1, 10]))
    frame = bootstrap("AB", paired_games(np.random.default_rng(3), 1), samples=81, seed=1)
    assert frame[["low", "high", "error", "samples"]].values.tolist() == [[2, 78, 38, 81], [20, 780, 380, 81]]


def test_bootstrap_keeps_pairs_together():
    """If the opening decides each game, every pair is one win each, and pairs drawn again show no spread at all."""
    games = paired_games(np.random.default_rng(4))
    games["outcome"] = (games["opening"] % 2).astype(float)
    frame = bootstrap("ABC", games, samples=20, seed=1)
    assert frame["error"].to_numpy() == pytest.approx([0, 0, 0], abs=1e-3)


def test_bootstrap_with_anchors():
    """Resamplings in which one anchor wins all that ties it to the other are left out, and the anchors stand still."""
    games = paired_games(np.random.default_rng(6), 2)
    games["outcome"] = ((games["first"] < games["second"]) == (games["opening"] == 0)).astype(float)
    frame = bootstrap("ABC", games, samples=60, seed=1, anchors={"A": 100, "C": -100}).set_index("agent")
    assert 0 < frame["samples"].iloc[0] < 60
    assert frame.loc["A", ["low", "high"]].tolist() == pytest.approx([100, 100])
    assert frame.loc["C", "error"] == pytest.approx(0, abs=1e-9)


def test_bootstrap_without_finite_ratings_says_so():
    games = paired_games(np.random.default_rng(5), 2)
    games["outcome"] = (games["first"] < games["second"]).astype(float)
    frame = bootstrap("ABC", games, samples=5, seed=1)
    assert (frame["samples"] == 0).all() and frame["error"].isna().all()
    with pytest.raises(ValueError, match="samples = 0"):
        bootstrap("ABC", games, samples=0, seed=1)


def test_notes_name_few_agents():
    """And say how many more there are."""
    names = [f"p{number}" for number in range(12)]
    counts = np.zeros((12, 12, 3), int)
    counts[0, 1] = 1, 1, 1
    (note, *_) = [note for note in rate(names, counts).notes if "no rating" in note]
    assert "p2, p3, p4, p5, p6 and 5 more" in note
    (note, *_) = [note for note in rate(names[:8], counts[:8, :8]).notes if "no rating" in note]
    assert "p2, p3, p4, p5, p6, p7:" in note  # one more is named, too


@pytest.mark.parametrize("draws", ["logistic", "half"])
def test_samples_that_are_left_out_early_are_those_without_finite_ratings(draws, monkeypatch):
    """Where whoever moves first wins nearly always, many samples have no other result."""
    rng = np.random.default_rng(3)
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]
    rows = [(0, str(o), *pair, float(rng.choice([1, 0], p=[0.9, 0.1]))) for pair in pairs for o in range(3)]
    games = pd.DataFrame(rows, columns=["condition", "opening", "first", "second", "outcome"])
    rated = []
    monkeypatch.setattr(resampling, "rate", lambda *given, **more: rated.append(given) or rate(*given, **more))
    found = resampling.resampled("abc", games, 30, 1, draws=draws)
    assert 0 < len(found) <= len(rated) < 30
    monkeypatch.setattr(resampling, "tells_nothing", lambda *_: False)
    assert np.array_equal(resampling.resampled("abc", games, 30, 1, draws=draws), found)
