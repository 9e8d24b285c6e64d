"""Tuning: planted optima by made-up results, the same on any workers, resumed or not, and what is wrong told."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import arena
from arena import agents
from arena.cli import app
from arena.config.config import ConfigError
from arena.games.core.shared.errors import UserError
from arena.report import pieces, write_report
from arena.report.listing import runs_in
from arena.results.database.store import Store, StoreError
from arena.results.papers.paper_figures import picture
from arena.results.statistics import surface
from arena.results.statistics.elo import expected_score
from arena.results.statistics.surface import DRAWS, TRIED
from arena.study import samplers, tuning_run
from arena.study.space import Parameter, Space, space_of
from arena.study.tuning import RECOMMENDED, START, Findings, PlayedPair, Step, Tuning, TuningError
from arena.study.tuning_steps import next_step

optuna = pytest.mark.skipif(not samplers.has("optuna"), reason="needs the extra tune")
SAMPLERS = [
    pytest.param(name, marks=optuna if name in samplers.NEEDS else ()) for name in ("tpe", "cmaes", "sobol", "spsa")
]


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """The peak of a surface is looked for among fewer points: where it lies to a hundredth is for slow tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surface, "TRIED", 128)
        patch.setattr(surface, "DRAWS", 200)
        yield


@pytest.fixture
def fine(monkeypatch):
    monkeypatch.setattr(surface, "TRIED", TRIED)
    monkeypatch.setattr(surface, "DRAWS", DRAWS)


class Planted(Tuning):
    """A tuning whose results are made up: a law gives the Elo at a point."""

    conditions = 1

    @classmethod
    def of(cls, parameters: int, **keys) -> "Planted":
        weights = {f"t{number}": [0.0, 1.0] for number in range(parameters)}
        given = ", ".join(f"{name}=0.5" for name in weights)
        return cls(f"alphabeta(depth=1, evaluation='{given}')", {"evaluation": weights}, **keys)


def played(tuning, law, seed, confirm=True) -> Findings:
    """A whole tuning; law: Elo of a point."""
    rng, steps, pairs, elo = np.random.default_rng(seed), [], {}, {START: 0.0}
    while True:
        found = Findings(tuning, steps, pairs)
        step = next_step(found)
        if step is None or (step.kind == "confirm" and not confirm):
            return found
        values = {START: found.space.start(), **dict(step.trials)}
        if step.kind == "confirm" and RECOMMENDED not in elo:
            values[RECOMMENDED] = found.best
        elo |= {name: law(np.array(found.space.point(one))) for name, one in values.items()}
        steps.append(step)
        for one, other, begin, end in step.matches:
            for opening in range(begin, end):
                tilt = rng.normal(0, 60)  # an opening that favours a side
                chances = [expected_score(elo[one] - elo.get(other, 0.0) + side * tilt) for side in (1, -1)]
                points = tuple(float(rng.choice([0, 0.5, 1], p=_shares(chance))) for chance in chances)
                pairs.setdefault((one, other), {})[0, opening] = PlayedPair(points)


def _shares(chance):
    draws = 0.4 * min(chance, 1 - chance)
    return [1 - chance - draws / 2, draws, chance - draws / 2]


def law_of(peak, steep=2000.0):
    return lambda point: -steep * float(((point - peak) ** 2).sum())


PEAK = np.array([0.3, 0.65])


@pytest.fixture(scope="module")
def by_sobol():
    return played(Planted.of(2, sampler="sobol", games=3000, seed=3), law_of(PEAK), 1)


def test_a_planted_optimum_is_found_and_confirmed(by_sobol):
    check_found(by_sobol)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_each_sampler_finds_a_planted_optimum(sampler, fine):
    check_found(played(Planted.of(2, sampler=sampler, games=3000, seed=3), law_of(PEAK), 1))


def check_found(found):
    assert np.abs(found.peak - PEAK).max() < 0.06
    assert found.test.state.verdict == "H1" and "Confirmed: +" in tuning_run.verdict(found)
    assert found.estimate.elo > 30 and found.games >= 3000
    first, *_ = (match for step in found.steps if step.kind == "confirm" for match in step.matches)
    assert first[2] >= max(end for step in found.searched for *_, end in step.matches)  # openings not used before


def test_a_step_depends_on_the_results_before_it_alone(by_sobol):
    kinds = [step.kind for step in by_sobol.steps]
    for number in (0, 1, len(kinds) // 2, kinds.index("confirm"), len(kinds) - 1):
        before = Findings(by_sobol.tuning, by_sobol.steps[:number], _until(by_sobol, number))
        assert next_step(before) == by_sobol.steps[number]


FINAL = re.compile(r"keep it\.|Confirmed: |Not confirmed: |Keep the values")


@pytest.mark.parametrize("sampler, seed", [("sobol", 1), ("sobol", 2), ("spsa", 1)])
def test_what_is_not_finished_says_so(sampler, seed):
    """After each step, and while its games are played; and until then the agent as it is stays the recommended one."""
    whole = played(
        Planted.of(1, sampler=sampler, games=320, seed=seed, confirm={"games": 200}), lambda point: 0.0, seed
    )
    for number in range(len(whole.steps) + 1):
        now = _until(whole, number)
        for asked in {number, min(number + 1, len(whole.steps))}:
            found = Findings(whole.tuning, whole.steps[:asked], now)
            over = asked == number and next_step(found) is None
            assert found.is_over == over == (number == len(whole.steps))
            if any(one.pairs for one in found.trials) or now:
                assert bool(FINAL.search(verdict := tuning_run.verdict(found))) == over
                assert ("of the search are played" in verdict) == (number < len(whole.searched))
                assert over or found.recommended == found.space.start()


def test_what_is_not_confirmed_is_not_recommended(by_sobol):
    """Neither in the file nor in JSON; once it is, in both."""
    better = tuning_run.result(by_sobol)
    assert by_sobol.recommended == by_sobol.best != by_sobol.space.start()
    assert better["agent"] == by_sobol.space.spec(by_sobol.best) and better["agent"] in tuning_run.recommended_toml(
        by_sobol
    )
    last = next(number for number, step in enumerate(by_sobol.steps) if step.kind == "confirm")
    found = Findings(by_sobol.tuning, by_sobol.steps[:last], _until(by_sobol, last))
    row = tuning_run.result(found)
    assert found.best == by_sobol.best and found.recommended == found.space.start()
    assert row["agent"] == found.space.spec(found.space.start()) and row["agent"] in tuning_run.recommended_toml(found)
    assert all(one["recommended"] == one["start"] != one["best"] for one in row["parameters"].values())


@pytest.mark.parametrize("peak, told", [(1.0, True), (0.0, True), (0.5, False)])
def test_a_best_value_at_the_end_of_its_range_is_told(peak, told):
    """Points are never at the very end: a hundredth of the range counts as it."""
    found = played(Planted.of(1, sampler="sobol", games=2000, seed=3), law_of(np.array([peak])), 1, confirm=False)
    assert ("the end of its range" in tuning_run.summary(found)[0]) == told


def _until(found, number):
    """The results of the first steps alone."""
    known = {}
    for step in found.steps[:number]:
        for one, other, begin, end in step.matches:
            of = found.pairs[one, other]
            known.setdefault((one, other), {}).update({place: of[place] for place in of if begin <= place[1] < end})
    return known


@pytest.mark.parametrize("sampler", ["sobol", "spsa"])
@pytest.mark.parametrize("seeds, most", [(1, 0), pytest.param(6, 2, marks=pytest.mark.slow)])
def test_where_nothing_can_be_gained_nothing_is_confirmed(sampler, seeds, most):
    confirmed = [
        played(Planted.of(1, sampler=sampler, games=320, seed=seed, confirm={"games": 1000}), lambda point: 0.0, seed)
        .test.state.verdict == "H1"
        for seed in range(seeds)
    ]  # fmt: skip
    assert sum(confirmed) <= most


@optuna
def test_hopeless_trials_end_early():
    found = played(
        Planted.of(1, games=600, at_once=8, pairs=16, seed=1), law_of(np.array([0.5]), 8000), 1, confirm=False
    )
    half = 16
    games = {
        name: sum(2 * (end - begin) for one, _, begin, end in _matches(found) if one == name) for name in found.values
    }
    far = [games[name] for name, values in found.values.items() if abs(values["evaluation.t0"] - 0.5) > 0.3]
    near = [games[name] for name, values in found.values.items() if abs(values["evaluation.t0"] - 0.5) < 0.05]
    assert far and set(far) == {half} and max(near) >= 2 * half


def _matches(found):
    return [match for step in found.searched for match in step.matches]


def test_the_best_so_far_may_be_the_opponent():
    away = []
    for seed in range(3):
        tuning = Planted.of(1, sampler="sobol", games=600, against=("best",), seed=seed)
        found = played(tuning, law_of(np.array([0.8])), seed + 1, confirm=False)
        opponents = {other for _, other, _, _ in _matches(found)}
        assert START in opponents and len(opponents) > 2
        away.append(abs(found.peak[0] - 0.8))
    assert np.median(away) < 0.06, away


@optuna
@pytest.mark.parametrize("seed", range(20))
def test_hopeless_is_what_optunas_pruner_says(seed):
    from optuna import create_study, logging
    from optuna.pruners import WilcoxonPruner
    from optuna.trial import create_trial

    logging.set_verbosity(logging.ERROR)
    rng = np.random.default_rng(seed)
    points = [dict(enumerate(rng.integers(0, 5, 8) / 2 * shift)) for shift in (1.0, 0.6)]
    best, worse = (samplers.Trial({}, 0, sum(one.values()), one) for one in points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pruner is experimental
        study = create_study(direction="maximize", pruner=WilcoxonPruner())
        study.add_trial(create_trial(value=best.value, intermediate_values=best.pairs))
        asked = study.ask()
        for number, one in worse.pairs.items():
            asked.report(one, number)
        assert samplers.hopeless(worse, [best]) == asked.should_prune()


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("at_once", [1, pytest.param(2, marks=pytest.mark.slow), 4])
@pytest.mark.parametrize("against", ["start", "best", "random"])
def test_a_few_trials_at_once_always_play(sampler, at_once, against):
    """Nobody plays itself, and no step is empty, whatever the sampler proposes of few values."""
    keys = {"sampler": sampler, "at_once": at_once, "games": 24, "pairs": 2, "confirm": {"games": 8}}
    tuning = Planted.of(2, against=(against,), **keys)
    if sampler == "cmaes" and at_once < 4:
        with pytest.raises(ConfigError, match="cmaes needs 4 or more"):
            tuning.check()
        return
    if sampler not in ("cmaes", "spsa"):
        choices = {"scout": {"choices": [True, False]}}
        tuning = replace(tuning, agent="alphabeta(depth=1, scout=true)", parameters=choices)
    found = played(tuning, lambda point: -100.0 * point[0], 1)
    assert all(step.matches for step in found.steps) and found.games >= 24
    assert all(one != other for step in found.steps for one, other, _, _ in step.matches)
    if found.confirming:
        assert found.confirming[2] - found.confirming[1] <= 4


def test_ranges_that_come_to_nothing_are_told():
    tuning = Planted.of(1, sampler="sobol", at_once=2, games=24)
    tuning = replace(tuning, agent="uct(playouts=5)", parameters={"exploration": [0.4, 0.400001]})
    with pytest.raises(TuningError, match="there is nothing to search"):
        played(tuning, lambda point: 0.0, 1)


def test_an_opponent_that_always_loses_is_told():
    tuning = Planted.of(1, sampler="sobol", games=600, against=("random",))
    with pytest.raises(TuningError, match=r"random lost 100% .* take a stronger one"):
        played(tuning, lambda point: 1500.0, 1)
    tuning = Planted.of(1, sampler="sobol", games=600, against=("uct(playouts=4000)",))
    with pytest.raises(TuningError, match=r"won .* weaker one, such as uct\(playouts=1000\)"):
        played(tuning, lambda point: -1500.0, 1)


def test_what_a_trial_is_worth_is_the_log_odds_of_its_points():
    """With half a point on each side, so that trials that won all, or nothing, have one too."""
    tuning, values = Planted.of(1), {"evaluation.t0": 0.25}
    step = Step("search", [("trial 1", tuning.space.spec(values))], [("trial 1", values)], [("trial 1", START, 0, 4)])
    for points, worth in (((1.0, 0.0), 0.0), ((1.0, 1.0), math.log(8.5 / 0.5)), ((0.5, 0.0), math.log(2.5 / 6.5))):
        pairs = {("trial 1", START): {(0, opening): PlayedPair(points) for opening in range(4)}}
        assert Findings(tuning, [step], pairs).trials[-1].value == pytest.approx(worth, abs=1e-12)


def test_the_path_of_spsa_recommends_the_mean_of_its_second_half():
    found = Findings(Planted.of(1, sampler="spsa"), [], {})
    found.__dict__["path"] = [np.array([place]) for place in (0.0, 0.1, 0.5, 0.7)]
    assert found.peak == pytest.approx([0.6]) and found.best == {"evaluation.t0": 0.6}


def test_what_is_recommended_is_confirmed_against_10_elo_unless_the_plan_says_otherwise():
    tuning = Planted.of(1)
    assert (tuning.test.elo0, tuning.test.elo1, tuning.confirm_games) == (0.0, 10.0, 10_000)
    tuning = Planted.of(1, confirm={"elo1": 4.0, "games": 128})
    assert (tuning.test.elo0, tuning.test.elo1, tuning.confirm_games) == (0.0, 4.0, 128)


# -- Ranges -----------------------------------------------------------------------------------------------------------


def test_values_and_places():
    log, whole = Parameter("a", 0.1, 10.0, log=True), Parameter("b", 5, 9, whole=True)
    assert [log.value(place) for place in (0, 0.5, 1)] == [0.1, 1.0, 10.0] and log.place(1.0) == pytest.approx(0.5)
    assert [whole.value(place) for place in (0, 0.3, 0.9, 1)] == [5, 6, 9, 9] and whole.place(7) == 0.5
    chosen = Parameter("c", choices=("x", True, 3))
    assert [chosen.value(place) for place in (0, 1, 2)] == ["x", True, 3] and chosen.place(True) == 1
    assert log.holds(0.1) and not log.holds(0.05) and chosen.holds("x") and not chosen.holds("y")


def test_an_agent_may_begin_beyond_its_ranges():
    space = space_of("uct(playouts=10, exploration=0.4)", {"exploration": [0.5, 1.5]}, "t")
    assert space.start() == {"exploration": 0.4} and space.point(space.start()) == [pytest.approx(-0.1)]
    assert space.inner(space.point(space.start())) == [0.0]
    tuning = Planted.of(1, sampler="sobol", games=400, seed=1)
    tuning = replace(tuning, parameters={"evaluation": {"t0": [0.6, 1.0]}})
    found = played(tuning, law_of(np.array([0.5]), 300), 1, confirm=False)  # at 0.8
    assert 0.6 <= found.best["evaluation.t0"] <= 1.0 and abs(found.peak[0] - 0.5) < 0.2


def test_weights_and_options_are_parts_of_a_text():
    space = space_of("alphabeta(depth=2, evaluation='corners=8, moves=1')", {"evaluation": {"corners": [5, 13]}}, "t")
    assert space.start() == {"evaluation.corners": 8.0}
    assert space.spec({"evaluation.corners": 9.5}) == "alphabeta(depth=2, evaluation='corners=9.5, moves=1')"
    engine = "external('engine', options='Hash=16; Skill Level=3')"
    space = space_of(engine, {"options": {"Skill Level": {"low": 0, "high": 20, "whole": True}}}, "t")
    assert space.start() == {"options.Skill Level": 3} and "Hash=16; Skill Level=7" in space.spec(
        {"options.Skill Level": 7}
    )


@pytest.mark.parametrize("agent, parameters, start, spec", [
    ("uct(methods='puct')", {"methods": {"puct": {"c": [0.0, 4.0]}}}, {"methods.puct.c": 1.0},
     "uct(methods='puct(c=2.0)')"),
    ("uct(methods='puct(c=1.5) + nst')", {"methods": {"puct": {"c": [0.0, 4.0]}, "nst": {"length": [2, 6]}}},
     {"methods.puct.c": 1.5, "methods.nst.length": 3}, "uct(methods='puct(c=2.0) + nst(length=4)')"),
    ("root(search='uct(exploration=0.5)')", {"search": {"exploration": [0.0, 2.0]}}, {"search.exploration": 0.5},
     "root(search='uct(exploration=1.0)')"),
    ("root", {"search": {"exploration": [0.0, 2.0]}}, {"search.exploration": 0.4},
     "root(search='uct(exploration=1.0)')"),
    ("tree(search='grave(ref=30)')", {"search": {"ref": [0, 200]}}, {"search.ref": 30},
     "tree(search='grave(ref=100)')"),
    ("root(search='uct(methods=\"nst + decisive\")')",
     {"workers": [2, 4], "search": {"exploration": [0, 1], "methods": {"nst": {"epsilon": [0.2, 0.4]}}}},
     {"workers": 2, "search.exploration": 0.4, "search.methods.nst.epsilon": 0.2},
     "root(workers=3, search=\"uct(exploration=0.5, methods='nst(epsilon=0.3) + decisive')\")"),
])  # fmt: skip
def test_methods_and_searches_are_parts_of_a_text(agent, parameters, start, spec):
    """What the text leaves at its default has a value to begin from."""
    space = space_of(agent, parameters, "t")
    assert space.start() == start
    middle = space.spec(space.values([0.5] * len(start)))
    assert middle == str(agents.make(spec)) == spec


@pytest.mark.parametrize("agent, parameters, message", [
    ("uct(methods='puct')", {"c": [0.3, 4.0]}, "uct has no parameter c (did you mean methods.puct.c?); it has"),
    ("uct(methods='puct')", {"methods": {"c": [1, 2]}}, "names no c (did you mean methods.puct.c?); it names puct"),
    ("uct(methods='puct')", {"methods": {"nst": {"length": [1, 4]}}}, "the agent's text names no nst; it names puct"),
    ("uct", {"methods": {"puct": {"c": [1, 2]}}}, "the agent's text names no puct; it names none"),
    ("uct(methods='puct')", {"methods": {"puct": [1, 2]}}, "it has c, temperature, prior, unvisited: puct = { c = "),
    ("uct(methods='puct')", {"methods": {"puct": {"d": [1, 2]}}}, "puct has no parameter d; it has c, temperature"),
    ("uct(methods='puct')", {"methods": {"puct": {"c": [-1, 2]}}}, "methods.puct.c: c = -1.0 is out of range"),
    ("uct(methods='puct')", {"methods": {"puct": {"c": {"choices": [1.0, "a"]}}}}, "puct.c: 'a' is not of its type"),
    ("uct(methods='nst')", {"methods": {"nst": {"length": [1.5, 4]}}}, "is for whole numbers"),
    ("uct(methods='gumbel')", {"methods": {"gumbel": {"temperature": [1, 4]}}}, "give it one, such as temperature = "),
    ("root", {"search": {"exploratoin": [0, 2]}}, "parameters.search.exploratoin: uct has no parameter exploratoin"),
    ("root(exploration=0.5)", {"search": {"exploration": [0, 2]}}, "exploration = 0.5 is for plain UCT"),
])  # fmt: skip
def test_ranges_of_methods_and_searches_that_are_wrong(agent, parameters, message):
    with pytest.raises(ConfigError) as error:
        space_of(agent, parameters, "t.toml")
    assert message in str(error.value)


@pytest.mark.parametrize("parameters, message", [
    ({}, "parameters: is missing"),
    ({"exploration": [2.0, 0.1]}, "parameters.exploration = [2.0, 0.1]: low is less than high; from 0.1 to 2.0?"),
    ({"exploration": [1.0, 1.0]}, "low is less than high"),
    ({"exploration": {"low": 0, "high": 2, "log": True}}, "on a logarithmic scale low is above 0"),
    ({"exploration": {"low": 0, "hihg": 2}}, "is no range"),
    ({"exploration": 0.4}, "is no range"),
    ({"exploration": [0.1, float("inf")]}, "low and high are finite numbers"),
    ({"exploration": {"low": 1e-320, "high": 1e308, "log": True}}, "finite numbers, up to 1e+150 and at least 1e-150"),
    ({"exploration": [0, 10**400]}, "finite numbers, up to 1e+150"),
    ({"exploration": {"choices": [[], {}]}}, "choices are a list of two or more different values"),
    ({"playouts": [10.4, 10.6]}, "is for whole numbers, so low and high are whole, such as { low = 10, high = 11 }"),
    ({"exploration": {"low": 1, "high": 2, "whole": "yes"}}, "is no range"),
    ({"playouts": {"a": [1, 2]}}, "playouts.a: its value in agent = 'uct(playouts=10)', None, is no number"),
    ({"exploration": {"choices": [0.4]}}, "choices are a list of two or more different values"),
    ({"explorations": [0.1, 2.0]}, "uct has no parameter explorations; it has playouts"),
    ({"first_play_urgency": [0.5, 2.0]}, "None, is no number to begin from: give it one, such as first"),
    ({"exploration": {"choices": [0.1, 0.9]}}, "0.4, is none of the choices: give it one"),
    ({"exploration": [-1.0, 2.0]}, "parameters.exploration: exploration = -1.0 is out of range"),
])  # fmt: skip
def test_ranges_that_are_wrong(parameters, message):
    with pytest.raises(ConfigError) as error:
        space_of("uct(playouts=10)", parameters, "t.toml")
    assert message in str(error.value) and str(error.value).startswith("t.toml: ")


# -- Played -----------------------------------------------------------------------------------------------------------

KEYS = {
    "game": "tictactoe", "agent": "uct(playouts=6)", "parameters": {"exploration": [0.1, 3.0]}, "sampler": "sobol",
    "games": 96, "at_once": 8, "pairs": 4, "seed": 4, "confirm": {"games": 128},
}  # fmt: skip


def stored(folder):
    """All that must be the same however a tuning was played."""
    with Store.open(folder) as store:
        games = sorted((one.id, one.seed, one.moves, one.outcome) for one in store.records())
    return games, (folder / tuning_run.STEPS).read_text()


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A tuning by one worker: its folder and what it found."""
    folder = tmp_path_factory.mktemp("tuned") / "one"
    return folder, arena.tune(**KEYS, out=folder, workers=1)


def test_it_is_the_same_on_any_number_of_workers(tuned, tmp_path):
    folder, one = tuned
    two = arena.tune(**KEYS, out=tmp_path / "two", workers=2)
    assert stored(folder) == stored(tmp_path / "two") and one.best == two.best
    again = arena.tune(out=tmp_path / "two", resume=True)
    assert stored(folder) == stored(tmp_path / "two") and tuning_run.summary(again) == tuning_run.summary(one)


def test_an_agent_of_a_plugin_is_tuned_where_nothing_has_imported_it(tmp_path):
    lines = (
        "from dataclasses import dataclass",
        "from arena.agents.random import Random",
        "@dataclass(frozen=True)",
        "class Greedy(Random):",
        "    greed: float = 0.5",
        "    name = 'test_greedy_of_a_plugin'",
    )
    (tmp_path / "greedy_plugin.py").write_text("\n".join(lines))
    file = tmp_path / "tune.toml"
    file.write_text(
        'game = "tictactoe"\nagent = "test_greedy_of_a_plugin"\nparameters = { greed = [0.0, 1.0] }\n'
        'plugins = ["greedy_plugin"]\ngames = 64\n'
    )
    read = f"tuning_run.read_file(Path({str(file)!r}))"
    code = f"from pathlib import Path\nfrom arena.study import tuning_run\nprint({read}.agent)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert told.stdout == "test_greedy_of_a_plugin\n", told.stderr
    file.write_text(file.read_text().replace('["greedy_plugin"]', '["greedy_plugins"]'))
    with pytest.raises(ConfigError, match="is no module in"):
        tuning_run.read_file(file)


def test_what_was_tuned_is_shown(tuned):
    folder, one = tuned
    with pytest.raises(ConfigError, match="holds a study already"):
        arena.tune(**KEYS, out=folder)
    frame = pieces.pieces_of(folder).table().frame
    assert list(frame.columns) == ["trial", "step", "exploration", "games", "score", "elo", "error", "bound"]
    assert frame["elo"].is_monotonic_decreasing
    assert frame["games"].sum() == one.games >= 96 and pieces.pieces_of(folder).tables()[0] == "trials"
    page = write_report(folder).read_text()
    assert tuning_run.summary(one)[0] in page and "The best of " in page and 'id="standings"' not in page
    for kind in _drawn(folder, ["tuning"]):
        assert kind in pieces.pieces_of(folder).figures()


def test_the_best_by_the_surface_leads_and_not_the_luckiest(tuned):
    """In the list of runs, and above the tables of its page."""
    folder, one = tuned
    (row,) = runs_in(folder).rows
    assert row["leader"] == one.space.spec(one.best)
    pytest.importorskip("nicegui")
    from arena.lab.reading import held

    lines = held(folder).lines
    assert lines[-len(tuning_run.summary(one)) :] == tuning_run.summary(one) and "is first" not in " ".join(lines)


def test_a_tuning_without_results_has_no_leader(tuned, tmp_path):
    place = tmp_path / "begun"
    place.mkdir()
    shutil.copy(tuned[0] / "tuning.json", place)
    with Store.open(tuned[0]) as source, Store.create(place, source.meta, source.agents):
        pass
    found = pieces.pieces_of(place)
    assert found.leader() is None and found.summary() == []


@pytest.mark.parametrize("shares, told", [
    ([0.44, 0.02, 0.30, 0.24], "a (44 %) or c (30 %) or d (24 %)"),
    ([0.01, 0.95, 0.02, 0.02], "b (95 %)"),
    ([0.25, 0.25, 0.25, 0.25], "a (25 %) or b (25 %) or c (25 %) or d (25 %)"),
])  # fmt: skip
def test_the_region_of_choices_has_95_percent(shares, told, monkeypatch):
    monkeypatch.setattr(surface.Surface, "shares", lambda self, number: np.array(shares))
    space = Space(agents.make("random"), (Parameter("letter", choices=("a", "b", "c", "d")),))
    made = SimpleNamespace(tuning=Planted.of(1), space=space, surface=surface.Surface([], [4], 0))
    assert tuning_run.regions(made) == f"letter {told}"


@pytest.mark.slow
def test_a_tuning_that_was_killed_goes_on(tmp_path):
    """kill -9 in the middle of games, twice; then it is the one that nobody disturbed."""
    whole = tmp_path / "whole"
    keys = KEYS | {"agent": "uct(playouts=400)", "games": 128, "at_once": 4}
    arena.tune(**keys, out=whole, workers=1)
    place = tmp_path / "killed"
    for least in (10, 60):
        call = f"arena.tune(**{keys!r}, out={str(place)!r}, resume=True, workers=1)"
        (tmp_path / "go.py").write_text(f"import arena\nif __name__ == '__main__':\n    {call}\n")
        process = subprocess.Popen([sys.executable, tmp_path / "go.py"], start_new_session=True)
        while process.poll() is None and _games(place) < least:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with open(place / tuning_run.STEPS, "a") as file:
        file.write('{"kind": "sea')  # half a line
    arena.tune(out=place, resume=True, workers=1)
    assert stored(place) == stored(whole)


def _games(folder):
    try:
        with Store.open(folder) as store:
            return len(store.ids())
    except StoreError:
        return 0


def _drawn(folder, kinds):
    for kind in kinds:
        drawing, height = pieces.pieces_of(folder).figure(kind, 3.4)
        data = picture(drawing, (3.4, height), "svg").decode()
        assert "Elo over the start" in data.replace("<!--", "") or kind == "path"
        yield kind


@pytest.mark.slow
def test_pairs_and_paths_are_drawn(tmp_path):
    keys = KEYS | {
        "parameters": {"exploration": [0.1, 3.0], "playouts": [4, 8], "keep_tree": {"choices": [False, True]}}
    }
    found = arena.tune(**keys | {"against": ["random"], "confirm": {"games": 2}}, out=tmp_path / "two", workers=2)
    kinds = pieces.pieces_of(tmp_path / "two").figures()[:2]
    assert list(_drawn(tmp_path / "two", kinds)) == list(kinds) == ["tuning", "tuning_pairs"]
    assert set(found.best) == {"exploration", "playouts", "keep_tree"} and type(found.best["playouts"]) is int
    shares = tuning_run.result(found)["parameters"]["keep_tree"]["shares"]
    assert list(shares) == ["False", "True"] and sum(shares.values()) == pytest.approx(1)
    with pytest.raises(UserError, match="path is not drawn"):
        pieces.pieces_of(tmp_path / "two").figure("path", 3.4)


@pytest.mark.slow
def test_a_tuning_may_have_more_games_and_other_ranges_of_the_same_parameters(tuned, tmp_path):
    shutil.copytree(tuned[0], tmp_path, dirs_exist_ok=True)
    before = tuning_run.load(tmp_path)
    wider = KEYS | {"games": 192, "parameters": {"exploration": [0.05, 1.0]}}
    found = arena.tune(**wider, out=tmp_path, resume=True, workers=2)
    assert found.steps[: len(before.steps)] == before.steps and found.games >= 192
    new = [values for step in found.searched[len(before.searched) :] for _, values in step.trials]
    assert new and all(0.05 <= values["exploration"] <= 1.0 for values in new)
    for other in ({"parameters": {"playouts": [5, 9]}}, {"agent": "uct(playouts=7)"}, {"games": 64}, {"pairs": 8}):
        with pytest.raises(ConfigError, match="was begun with other values of"):
            arena.tune(**wider | other, out=tmp_path, resume=True)


@pytest.mark.parametrize("keys, message", [
    ({"sampler": "grid"}, "sampler = 'grid': is no sampler; there are tpe, gp, cmaes, sobol, spsa"),
    ({"sampler": "cmaes"}, "cmaes': is for two parameters or more"),
    ({"pairs": 3}, "pairs = 3: Expected `int` that's a multiple of 2"),
    ({"games": 0}, "games = 0: Expected `int` >= 2"),
    ({"games": "many"}, "games = 'many': Expected `int`, got `str`"),
    ({"against": ["best", "random"]}, "give agents or 'start', or 'best' alone"),
    ({"against": ["randm"]}, "unknown agent 'randm'"), ({"format": "swiss"}, "format: cannot be given"),
    ({"confirm": {"games": "many"}}, "confirm.games = 'many': is a whole number from 2"),
    ({"confirm": {"games": 0}}, "confirm.games = 0: is a whole number from 2"),
    ({"spsa": {"c": -0.1}}, "spsa = {'c': -0.1}: Expected `float` > 0"),
    ({"confirm": {"elo1": -5}}, "elo0 = 0"), ({"confirm": {"elo2": 5}}, "elo2"), ({"spsa": {"a": 1.0}}, "'a'"),
    ({"game": "tictactoo"}, "unknown game 'tictactoo'"), ({"opening_plis": 3}, "opening_plis = 3: unknown key"),
    ({"sampler": "spsa", "parameters": {"exploration": {"choices": [0.1, 0.4]}}}, "exploration has choices; take tpe"),
])  # fmt: skip
def test_what_is_wrong_is_told_before_play(keys, message, tmp_path):
    with pytest.raises(ConfigError) as error:
        arena.tune(**KEYS | keys, out=tmp_path / "run")
    assert message in str(error.value) and not (tmp_path / "run").exists()


def test_the_command_and_its_json(tmp_path):
    text = 'game = "tictactoe"\nagent = "uct(playouts=6)"\nsampler = "spsa"\ngames = 64\nat_once = 4\npairs = 4\n'
    (tmp_path / "t.toml").write_text(text + "confirm = { games = 128 }\n[parameters]\nexploration = [0.1, 3.0]\n")
    command = ["tune", str(tmp_path / "t.toml"), "--out", str(tmp_path / "run"), "--workers", "1"]
    done = CliRunner().invoke(app, [*command, "--json"])
    found = json.loads(done.stdout)
    assert found["games"] == 64 and 0.1 <= found["parameters"]["exploration"]["best"] <= 3.0
    assert agents.make(found["agent"]).playouts == 6 and len(found["trials"]) == 16
    assert found["agent"] in (tmp_path / "run" / "recommended.toml").read_text()
    assert list(_drawn(tmp_path / "run", ["path"])) == ["path"]
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2 and "holds a run already" in again.output
    done = CliRunner().invoke(app, [*command, "--resume"])
    assert done.exit_code == 0 and "against the agent as it is" in done.output


def test_a_method_is_tuned_by_the_command(tmp_path):
    """Its constant is named in tables by its place; the stored plan goes on."""
    agent, games = "uct(playouts=6, methods='puct')", "at_once = 4\npairs = 4\nconfirm = { games = 128 }\n"
    text = f'game = "tictactoe"\nagent = "{agent}"\nsampler = "sobol"\ngames = 64\n{games}'
    (tmp_path / "t.toml").write_text(text + "[parameters]\nmethods = { puct = { c = [0.3, 4.0] } }\n")
    command = ["tune", "--out", str(tmp_path / "run"), "--workers", "1"]
    done = CliRunner().invoke(app, [*command, str(tmp_path / "t.toml")])
    assert done.exit_code == 0 and "methods.puct.c: " in done.output and "(before: 1.0)" in done.output
    again = json.loads(CliRunner().invoke(app, [*command, "--resume", "--json"]).stdout)
    found, leader = again["parameters"]["methods.puct.c"]["best"], pieces.pieces_of(tmp_path / "run").leader()
    assert agents.make(leader) == agents.make(f"uct(playouts=6, methods='puct(c={found})')")
    assert again["agent"] in (tmp_path / "run" / "recommended.toml").read_text()
    assert {"methods.puct.c"} < set(pieces.pieces_of(tmp_path / "run").table().frame.columns)


# -- The long form ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("parameters, sampler", [
    (1, "tpe"), (1, "gp"), (1, "sobol"), (1, "spsa"),
    (3, "tpe"), (3, "gp"), (3, "cmaes"), (3, "sobol"), (3, "spsa"), (8, "spsa"),
])  # fmt: skip
def test_planted_optima_within_a_twentieth_of_the_range(parameters, sampler, fine):
    """In 5,000 games; Elo falls by 500 half a range away.  docs/tuning.md has twenty of each."""
    for library in samplers.NEEDS.get(sampler, ()):
        pytest.importorskip(library)
    near, rounds = 0, 1 if sampler == "gp" else 8  # of a minute each
    for seed in range(rounds):
        peak = np.random.default_rng(seed).uniform(0.15, 0.85, parameters)
        found = played(Planted.of(parameters, sampler=sampler, seed=seed), law_of(peak), seed, confirm=False)
        near += np.abs(found.peak - peak).max() <= 0.05
    assert near >= rounds - (rounds > 1), near  # one of 20 is expected to miss at most


@pytest.mark.slow
def test_false_confirmations(fine):
    """At most 5 % where all values are equal, and a margin of chance."""
    confirmed = 0
    for seed in range(40):
        tuning = Planted.of(1, sampler="sobol", games=400, seed=seed, confirm={"games": 4000})
        confirmed += played(tuning, lambda point: 0.0, seed).test.state.verdict == "H1"
    assert confirmed <= 5
