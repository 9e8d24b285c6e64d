"""Formats whose results decide what is played: tournaments by a made-up law of results, in many orders."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.config.config import ConfigError, differences
from arena.config.loading import from_values
from arena.formats.base import Way
from arena.formats.pairing import bracket, fewest_rematches, pair_off
from arena.formats.schedule import Schedule
from arena.formats.sequential import BATCH, LEAST, NO_NEW_PAIR, CandidateTest, SprtTable
from arena.results.database.record import Reason
from arena.results.statistics.sprt import Sprt
from tests.arena.fixtures import every_fixture


def resolved(agents, games=4, **keys):
    names = [f"a{i}" for i in range(agents)]
    values = {"game": "tictactoe", "agents": [{"agent": "random", "name": name} for name in names]}
    counted = {} if keys.get("format") == "matches" else {"games": games}
    return from_values(values | counted | keys).resolved()


def format_in(schedule):
    """The format of the only condition."""
    (found,) = schedule.formats
    return found


def by_seed(fixture):
    """A law: the better agent (smaller number) wins more often, by the game's own seed."""
    share = fixture.seed / 2**64
    better_first = fixture.seats[0] < fixture.seats[1]
    return 0.5 if share < 0.2 else float((share < 0.7) == better_first)


def better_wins(fixture):
    return float(fixture.seats[0] < fixture.seats[1])


def play(config, law=by_seed, chance=None, workers=1, stops=()):
    """(schedule, stored) of a tournament that is over; stored: id -> (condition, names, opening, outcome).

    `workers` games at a time end in a random order, and after each number of games in `stops` the schedule is begun
    again from what is stored.
    """
    names = [entry["name"] for entry in config["agents"]]
    stored, schedule, running = {}, Schedule(config), []
    while True:
        while len(running) < workers and (fixture := schedule.next()) is not None:
            if fixture.id not in stored:
                running.append(fixture)
        if not running:
            break
        fixture = running.pop(chance.randrange(len(running)) if chance else 0)
        assert fixture.id not in stored
        first, second = (names[seat] for seat in fixture.seats)
        stored[fixture.id] = (fixture.condition, first, second, fixture.opening, law(fixture))
        schedule.took(*stored[fixture.id])
        if len(stored) in stops:
            schedule, running = Schedule.after(config, chance.sample(list(stored.values()), len(stored))), []
    assert len(stored) == len(schedule) <= schedule.most == Schedule(config).most
    return schedule, stored


CONFIGS = [
    {"agents": 7, "format": "swiss"},
    {"agents": 6, "format": "swiss", "rounds": 8, "games": 2},
    {"agents": 6, "format": "knockout"},
    {"agents": 5, "format": "knockout", "games": 2},
    {"agents": 3, "format": "sprt", "games": 300, "sprt": {"elo0": 0, "elo1": 60}},
    {"agents": 2, "format": "sprt", "games": 20, "base": "a1"},
    {"agents": 4, "format": "gauntlet", "base": "a2"},
    {"agents": 4, "format": "matches", "matches": [["a0", "a1", 0, 3], ["a3", "a1", 2, 6], ["a1", "a0", 1, 5]]},
]


@pytest.mark.parametrize("keys", CONFIGS, ids=[f"{keys['format']} {keys['agents']}" for keys in CONFIGS])
def test_it_is_the_same_in_any_order_on_any_workers_and_resumed(keys):
    config = resolved(**keys)
    schedule, stored = play(config)
    for seed in range(4):
        chance = random.Random(seed)
        stops = {chance.randrange(1, len(stored)) for _ in range(5)}
        other, again = play(config, chance=chance, workers=chance.choice([2, 9, 64]), stops=stops)
        assert again == stored and other.lines() == schedule.lines()
    round_robin = resolved(keys["agents"], games=4 * config["games"])
    everything = {fixture.id: fixture for fixture in every_fixture(Schedule(round_robin))}
    assert all(by_seed(everything[id]) == game[-1] for id, game in stored.items())  # the round robin's own games


@pytest.mark.parametrize("keys, most", [
    ({"agents": 7, "format": "swiss"}, 3 * 3 * 4),
    ({"agents": 6, "format": "knockout"}, 5 * 2 * 4),
    ({"agents": 3, "format": "sprt", "games": 300, "sprt": {"elo0": 0, "elo1": 1}}, 2 * 300),
    ({"agents": 4, "format": "round_robin"}, 6 * 4),
])  # fmt: skip
def test_the_most_games_are_known_before_play_and_may_be_played(keys, most):
    """Where all is drawn, no test decides and every match of a knockout is played twice as long."""
    config = resolved(**keys)
    assert Schedule(config).most == most == len(play(config, lambda fixture: 0.5)[1])


def test_a_gauntlet_is_known_before_play():
    schedule = Schedule(resolved(4, format="gauntlet", base="a2"))
    fixtures = every_fixture(schedule)
    assert len(schedule) == 12 == len(fixtures) and schedule.lines() == [] and schedule.most == 12
    assert all(2 in fixture.seats for fixture in fixtures)
    assert resolved(4, format="gauntlet")["base"] == "a0"


# -- Knockout ---------------------------------------------------------------------------------------------------------


def test_the_bracket_keeps_the_best_apart():
    assert bracket(2) == [(0, 1)] and bracket(3) == [(0, None), (1, 2)]
    assert bracket(8) == [(0, 7), (3, 4), (1, 6), (2, 5)]
    for agents in range(2, 40):
        first = bracket(agents)
        byes = [one for one, other in first if other is None]
        assert sorted(byes) == list(range(len(byes)))
        assert sorted(seat for match in first for seat in match if seat is not None) == list(range(agents))


def test_the_better_ones_meet_last():
    schedule, stored = play(resolved(6, format="knockout", games=2), better_wins)
    assert schedule.lines() == [
        "round 1: a3 2 : 0 a4, a2 2 : 0 a5, a0 has a bye, a1 has a bye",
        "round 2: a0 2 : 0 a3, a1 2 : 0 a2",
        "round 3: a0 2 : 0 a1",
        "winner: a0",
    ]
    assert len(stored) == 2 * 5


def test_ties_are_played_on_and_then_go_to_the_first():
    def third_pair(fixture):
        return 1.0 if fixture.seats[0] == 1 and fixture.opening == 2 else 0.5

    schedule, stored = play(resolved(2, format="knockout", games=4), third_pair)
    assert schedule.lines() == ["round 1: a0 2.5 : 3.5 a1", "winner: a1"] and len(stored) == 6
    schedule, stored = play(resolved(2, format="knockout", games=4), lambda fixture: 0.5)
    assert (
        schedule.lines() == ["round 1: a0 4 : 4 a1 (a0 goes on, as it comes first)", "winner: a0"] and len(stored) == 8
    )


def test_void_games_count_for_nobody():
    schedule, _ = play(
        resolved(2, format="knockout"), lambda fixture: None if fixture.opening else better_wins(fixture)
    )
    assert schedule.lines() == ["round 1: a0 2 : 0 a1", "winner: a0"]
    _, stored = play(resolved(3, format="knockout"), lambda fixture: None)
    assert len(stored) == 16


# -- Swiss ------------------------------------------------------------------------------------------------------------


def test_equals_meet_and_nobody_twice():
    schedule, stored = play(resolved(8, format="swiss", games=2), better_wins)
    assert schedule.lines()[0] == "round 1 of 3: a0 2 : 0 a4, a1 2 : 0 a5, a2 2 : 0 a6, a3 2 : 0 a7"
    assert schedule.lines()[1] == "round 2 of 3: a0 2 : 0 a2, a1 2 : 0 a3, a4 2 : 0 a6, a5 2 : 0 a7"
    assert schedule.lines()[-1] == "points: a0 6, a1 4, a2 4, a3 4, a4 2, a5 2, a6 2, a7 0"
    assert len(stored) == 3 * 8 and set(Counter(frozenset(game[1:3]) for game in stored.values()).values()) == {2}


def test_a_swiss_tournament_has_as_many_rounds_as_a_knockout_unless_told_otherwise():
    rounds = [resolved(agents, format="swiss")["rounds"] for agents in (2, 3, 4, 5, 8, 9)]
    assert rounds == [1, 2, 2, 3, 3, 4] and resolved(5, format="swiss", rounds=7)["rounds"] == 7
    assert len(play(resolved(5, format="knockout", games=2), better_wins)[0].formats[0].rounds) == 3 + 1  # the winner


def test_byes_go_round_from_the_last():
    schedule, _ = play(resolved(5, format="swiss", games=2, rounds=5), better_wins)
    byes = [bye for _, bye in format_in(schedule).rounds]
    assert sorted(byes) == list(range(5)) and byes[0] == 4
    assert sum(points for _, points in format_in(schedule).table()) == 5 * 2 * 3


def test_more_rounds_than_opponents_meet_again_on_further_openings():
    _, stored = play(resolved(4, format="swiss", games=2, rounds=7))
    met = Counter(frozenset(game[1:3]) for game in stored.values())
    assert len(met) == 6 and set(met.values()) <= {4, 6} and len(stored) == 7 * 4
    assert len({game[:4] for game in stored.values()}) == len(stored)
    assert {game[3] for game in stored.values()} >= {0, 1}


def matchings(agents):
    """Every way to pair off."""
    if not agents:
        yield []
    for partner in agents[1:]:
        for rest in matchings([agent for agent in agents[1:] if agent != partner]):
            yield [(agents[0], partner), *rest]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 3), st.data())
def test_as_few_meet_again_as_can_be(half, data):
    agents = list(range(2 * half))
    met = {pair: data.draw(st.integers(0, 2)) for pair in combinations(agents, 2)}
    fewest = min(sum(met[pair] for pair in pairs) for pairs in matchings(agents))
    assert fewest_rematches(agents, met) == fewest
    ranking = data.draw(st.permutations(agents))
    pairs, bye = pair_off(ranking, {agent: agent % 2 for agent in agents}, met, {})
    assert sum(met[pair] for pair in pairs) == fewest and bye is None
    assert sorted(agent for pair in pairs for agent in pair) == agents


# -- Sequential test --------------------------------------------------------------------------------------------------


def naive(config, stored, candidate, base):
    """The pairs, counts and verdict of the first prefix of whole pairs that ends the test; and how many were played."""
    test, counts = Sprt(**config["sprt"]), [0] * 5
    points = {}
    for _, first, second, opening, outcome in stored.values():
        if {first, second} == {candidate, base}:
            won = None if outcome is None else outcome if first == candidate else 1 - outcome
            points.setdefault(opening, []).append(won)
    for opening in range(len(points)):
        if None not in points[opening]:
            counts[int(2 * sum(points[opening]))] += 1
            if test.state(counts).verdict != "continue":
                break
    return sum(counts), counts, test.state(counts).verdict, len(points)


@pytest.mark.parametrize("voids", [0.0, 0.1])
@pytest.mark.parametrize("base", ["a0", "a2"])
def test_the_verdict_is_that_of_whole_pairs_in_their_order(base, voids):
    config = resolved(3, games=400, format="sprt", base=base, sprt={"elo0": 0, "elo1": 80, "alpha": 0.1, "beta": 0.1})

    def law(fixture):
        return None if fixture.seed % 1000 < 1000 * voids else by_seed(fixture)

    schedule, stored = play(config, law, random.Random(1), workers=20)
    for report in schedule.reports():
        pairs, counts, verdict, played = naive(config, stored, report["candidate"], base)
        assert (report["pairs"], report["counts"], report["verdict"]) == (pairs, counts, verdict)
        assert verdict != "continue" and pairs < played <= pairs + len(stored) * voids + 2 * BATCH + pairs // 5
        assert report["beyond"] > 0
    accepted = "H1" if base == "a2" else "H0"
    assert {line.split("; ")[1][:14] for line in schedule.lines()} == {f"{accepted} is accepted"}


def test_a_test_without_a_verdict_ends_with_all_games():
    schedule, stored = play(resolved(2, games=60, format="sprt", sprt={"elo0": -5, "elo1": 5}), lambda fixture: 0.5)
    assert len(stored) == 60 and schedule.lines()[0].endswith("no verdict after all games")
    _, more = play(resolved(2, games=80, format="sprt", sprt={"elo0": -5, "elo1": 5}), lambda fixture: 0.5)
    assert len(more) == 80 and stored.items() <= more.items()


def ways_of(openings, law=lambda k, side: "", reason=lambda k, side: Reason.PLAYED_OUT, opening=None, way=None):
    """A schedule's report and lines after games on these openings, in turn; each is won by its first mover, and goes
    the way of its opening and side, or also of what `law` says of its number and side."""
    opening, way = opening or (lambda k: f"o{k % openings}"), way or (lambda k: f"m{k % openings}")
    config = resolved(2, games=400, format="sprt", sprt={"elo0": 0, "elo1": 2})
    schedule, played = Schedule(config), 0
    while (fixture := schedule.next()) is not None:
        k, side = fixture.opening, fixture.seats[0]
        first, second = (config["agents"][seat]["name"] for seat in fixture.seats)
        won = float(k % openings > 0 or first == "a1")  # the candidate wins both games of the first opening
        won = 1.0 if opening(0) == "a b c d" and first == "a1" else won
        schedule.took(0, first, second, k, won, opening(k), f"{way(k)}{side}{law(k, side)}", reason(k, side))
        played += 1
    return schedule.reports()[0], schedule.lines()[0], played


def test_copies_of_a_pair_are_no_evidence():
    """Two agents without chance on four openings: 4 samples, however often they are played."""
    report, line, played = ways_of(4)
    assert (report["pairs"], report["counts"], report["verdict"]) == (4, [0, 0, 3, 0, 1], "continue")
    assert report["copies"] == LEAST and report["no_verdict"] == NO_NEW_PAIR and "4 pairs and 32 copies of them" in line
    assert line.endswith(f"; no verdict: {NO_NEW_PAIR}") and played < 400
    report, line, _ = ways_of(200)
    assert report["pairs"] == 200 and report["copies"] == 0 and report["no_verdict"] == "" and "copies" not in line


def test_games_of_agents_with_chance_are_no_copies():
    """Where openings often go another way, all pairs count, also those that went as an earlier one did."""
    report, _, _ = ways_of(4, lambda k, side: f" {k}" if k % 5 == 0 else "")
    assert report["pairs"] == 200 and report["copies"] == 0 and report["counts"] == [0, 0, 150, 0, 50]


@pytest.mark.parametrize("slip", [0, 1, 24, 35])
@pytest.mark.parametrize("reason", [Reason.PLAYED_OUT, Reason.EXCEPTION, Reason.TIME, Reason.DIED, Reason.ILLEGAL_MOVE])
def test_a_slip_does_not_make_copies_evidence(slip, reason):
    """One game that went another way, or ended by a failure, of two agents without chance."""
    report, _, _ = ways_of(
        4,
        lambda k, side: " slip" if (k, side) == (slip, 1) else "",
        lambda k, side: reason if (k, side) == (slip, 1) else Reason.PLAYED_OUT,
    )
    assert report["pairs"] == 5 and report["verdict"] == "continue" and report["no_verdict"] == NO_NEW_PAIR


def test_openings_that_transpose_are_one():
    report, _, _ = ways_of(4, opening=lambda k: ["a b c d", "c d a b", "a d c b", "c b a d"][k % 4], way=lambda k: "m")
    assert report["pairs"] == 1 and report["no_verdict"] == NO_NEW_PAIR


@pytest.mark.parametrize("reason, allowed, verdict", [
    (Reason.DIED, False, "continue"),
    (Reason.DIED, True, "H1"),
    (Reason.TIME, False, "H1"),
    (Reason.PLAYED_OUT, False, "H1"),
])  # fmt: skip
def test_failures_are_no_verdict(reason, allowed, verdict):
    """The base loses all games but every tenth."""
    more = {"allow_failures": True} if allowed else {}
    schedule = Schedule(resolved(2, games=400, format="sprt", sprt={"elo0": 0, "elo1": 50, **more}))
    while (fixture := schedule.next()) is not None:
        first, second = (f"a{seat}" for seat in fixture.seats)
        lost = fixture.opening % 10 > 0
        schedule.took(0, first, second, fixture.opening, float(lost == (first == "a1")), "", "", reason)
    report, line = schedule.reports()[0], schedule.lines()[0]
    assert report["verdict"] == verdict and report["pairs"] < 200
    assert ("lost games were lost by a failure; mend" in line) == (verdict == "continue")
    assert report["failures"] == (0 if reason in (Reason.TIME, Reason.PLAYED_OUT) else 2 * report["pairs"])


def test_a_verdict_counts_unless_more_than_half_of_the_lost_games_were_lost_by_a_failure():
    test = CandidateTest(SprtTable(elo0=0, elo1=300))
    died, over = Way("", "", Reason.DIED), Way("", "", Reason.PLAYED_OUT)
    while test.state.verdict == "continue":
        test.take([1.0, 1.0], (died, over))
    assert (test.state.verdict, test.no_verdict) == ("H1", "") and test.failures == test.losses / 2
    test.take([1.0, 1.0], (died, died))
    assert test.no_verdict.startswith(f"{test.failures} of {test.losses} lost games were lost by a failure")


# -- Configuration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys, message", [
    ({"format": "league"}, "is no format; there are gauntlet, knockout, matches, round_robin, sprt, swiss"),
    ({"format": 3}, "format = 3: is not text"),
    ({"format": "gauntlet", "base": "b"}, "base = 'b': is the name of none of the agents: a0, a1, a2"),
    ({"base": "a1"}, "base = 'a1': is for the format gauntlet or sprt, and this is round_robin"),
    ({"format": "knockout", "rounds": 2}, "rounds = 2: is for the format swiss, and this is knockout"),
    ({"format": "swiss", "rounds": 0}, "rounds = 0: is out of range"),
    ({"format": "swiss", "pairings": [["a0", "a1"]]}, "pairings = [['a0', 'a1']]: is for the format round_robin"),
    ({"format": "sprt", "sprt": {"elo0": 5, "elo1": 2}}, "elo0 = 5 must be less than elo1 = 2"),
    ({"format": "sprt", "sprt": {"elo2": 5}}, "sprt.elo2 = 5: unknown key (did you mean 'elo"),
    ({"format": "sprt", "sprt": {"alpha": 0.7}}, "alpha = 0.7 is out of range"),
    ({"format": "sprt", "sprt": {"model": "bayes"}}, "model = 'bayes' is not one of logistic, normalized"),
    ({"format": "sprt", "sprt": 5}, "sprt = 5: is not a table"),
    ({"sprt": {"elo1": 3.0}}, "is for the format sprt, and this is round_robin"),
    ({"format": "matches"}, "matches: is missing; matches is a list of two names"),
    ({"format": "matches", "matches": []}, "matches = []: is empty"),
    ({"format": "matches", "matches": [["a0", "b", 0, 5]]}, "matches[0] = ['a0', 'b', 0, 5]: 'b' is the name of none"),
    ({"format": "matches", "matches": [["a0", "a0", 0, 5]]}, "pairs an agent with itself"),
    ({"format": "matches", "matches": [["a0", "a1", 5, 5]]}, "has no opening"),
    ({"format": "matches", "matches": [["a0", "a1", 5]]}, "matches[0][3]: is missing"),
])  # fmt: skip
def test_mistakes_in_a_format(keys, message):
    with pytest.raises(ConfigError) as error:
        resolved(3, **keys)
    assert message in str(error.value) and len(error.value.problems) == 1


def test_what_a_resumed_run_may_change():
    swiss, knockout = resolved(4, format="swiss"), resolved(4, format="knockout")
    assert swiss["rounds"] == 2 and differences(swiss, swiss | {"rounds": 3}) == []
    assert differences(swiss, swiss | {"rounds": 1}) == ["rounds = 1, but the run was started with 2; it may only grow"]
    assert differences(knockout, knockout | {"games": 8}) == ["games = 8, but the run was started with 4"]
    test = resolved(2, format="sprt")
    assert differences(test, test | {"games": 8}) == [] and test["sprt"]["elo1"] == 5.0
    listed = resolved(3, format="matches", matches=[["a0", "a1", 0, 3]])
    more = resolved(4, format="matches", matches=[["a0", "a1", 0, 3], ["a3", "a1", 0, 5]])
    assert listed["games"] == 6 and differences(listed, more) == []
    (no_agent, no_games, no_match) = differences(more, listed)
    assert no_agent.startswith("agents = ") and no_games.startswith("games = 6, but") and "matches" in no_match
    assert len(Schedule(listed)) == 6 and len(Schedule(more)) == 16
    assert every_fixture(Schedule(more))[:6] == every_fixture(Schedule(listed))
    for config in (swiss, knockout, test, more):
        assert from_values(config).resolved() == config
    with pytest.raises(ConfigError, match="games = 4: the format matches has the games of its matches"):
        from_values(listed | {"games": 4})  # it would change nothing
