"""arena elo and arena sprt: worked figures, a run's ratings, and mistakes."""

import json

import pytest

from arena import results
from arena.commands import elo
from tests.arena.stored import CONFIG, store_run
from tests.typed import as_json, call

ELO_KEYS = {"elo", "error", "nelo", "nelo_error", "los", "draw_ratio", "pairs_ratio"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("statistics") / "run", CONFIG | {"games": 20})


def test_elo_of_games():
    values = as_json("elo", "--wdl", 136, 111, 96)
    assert set(values) == ELO_KEYS and values["pairs_ratio"] is None
    rounded = [round(values[key], 2) for key in ("elo", "error", "nelo", "nelo_error")]
    assert rounded == [40.70, 30.43, 49.77, 36.77] and round(values["los"], 4) == 0.9960
    text = call("elo", "--wdl", 136, 111, 96).stdout
    assert "+40.70 ± 30.43" in text and "+49.77 ± 36.77" in text and "99.60 %" in text


def test_elo_of_pairs():
    values = as_json("elo", "--pairs", 34, 54, 31 + 32, 64, 75)
    rounded = [round(values[key], 2) for key in ("elo", "error", "nelo", "nelo_error")]
    assert set(values) == ELO_KEYS and rounded == [55.58, 27.65, 57.94, 28.28]
    text = call("elo", "--pairs", 43, 61, 144, 55, 37).stdout
    for figure in ("-9.20 ± 20.93", "-11.50 ± 26.11", "19.41 %", "42.35 %", "0.88"):
        assert figure in text


def test_the_elo_of_an_anchor_follows_the_last_sign_as_names_have_some_too():
    assert elo._anchor("uct(playouts=100) = -15.5") == ("uct(playouts=100)", -15.5)


def test_a_perfect_score_is_a_bound():
    values = as_json("elo", "--wdl", 10, 0, 0)
    assert values["bound"] == ">" and values["error"] is None and round(values["elo"], 1) == 182.7
    assert "> +182.73" in call("elo", "--wdl", 10, 0, 0).stdout and "< -182.73" in call("elo", "--wdl", 0, 0, 10).stdout


@pytest.mark.parametrize("counts, model, llr", [
    (["--wdl", 36433, 68692, 36027], "normalized", 0.92),
    (["--wdl", 57433, 106593, 57030], "logistic", -2.59),
    (["--pairs", 365, 16618, 36029 + 200, 16974, 390], "normalized", 2.25),
])  # fmt: skip
def test_sprt(counts, model, llr):
    values = as_json("sprt", *counts, "--elo0", 0, "--elo1", 2, "--alpha", 0.05, "--beta", 0.05, "--model", model)
    estimated = {"min_pairs", "score", "elo", "error", "nelo", "nelo_error", "bound", "text"}
    assert set(values) == {"llr", "lower", "upper", "verdict", *estimated} and values["verdict"] == "continue"
    assert [round(values[key], 2) for key in ("llr", "lower", "upper")] == [llr, -2.94, 2.94]


def test_sprt_verdicts_in_words():
    won = call("sprt", "--wdl", 90, 5, 5, "--elo1", 50).stdout
    assert "H1 is accepted: elo1 = 50 is favoured over elo0 = 0." in won and "or more" not in won
    assert (
        "H0 is accepted: elo0 = 0 is favoured over elo1 = 50." in call("sprt", "--wdl", 5, 5, 90, "--elo1", 50).stdout
    )
    told = call("sprt", "--pairs", 1400, 9000, 23000, 9400, 1600, "--elo1", 30).stdout.splitlines()
    assert told[0].startswith("Tested     H0: normalized Elo 0, against H1: 30, on 44,400 pairs")
    assert [line.split()[0] for line in told] == ["Tested", "LLR", "Verdict", "Elo", "nElo"] and "±" in told[4]
    assert "Neither is accepted: play on." in call("sprt", "--wdl", 10, 0, 10, "--elo1", 50).stdout


@pytest.mark.parametrize("counts, least", [
    (("--wdl", 19, 0, 0), "20 games"),
    (("--pairs", 0, 0, 0, 0, 9), "10 pairs of games"),
])  # fmt: skip
def test_sprt_tells_when_there_are_too_few_games_for_a_verdict(counts, least):
    """LLR is beyond its bound here, and nobody would know why there is no verdict."""
    told = call("sprt", *counts, "--elo1", 300).stdout.splitlines()
    assert told[2] == f"Verdict    None before {least}: play on."
    values = as_json("sprt", *counts, "--elo1", 300)
    assert values["llr"] > values["upper"] and (values["verdict"], values["min_pairs"]) == ("continue", 10)
    assert "no verdict before ten pairs of games" in " ".join(call("sprt", "--help").stdout.split())


TEST = """
game = "tictactoe"
games = 120
format = "{format}"
openings = {{ plies = 1, all = true }}
[[agents]]
agent = "random"
name = "base"
[[agents]]
agent = "flat(playouts=20)"
name = "better"
[[agents]]
agent = "random"
name = "equal"
"""


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A test that was played, and what the command said."""
    folder = tmp_path_factory.mktemp("live")
    (folder / "test.toml").write_text(TEST.format(format="sprt") + "[sprt]\nelo0 = 0\nelo1 = 150\n")
    return folder, call("sprt", folder / "test.toml", "--out", folder / "run", "--workers", 2)


def test_sprt_live(live):
    folder, done = live
    assert done.exit_code == 0, done.stderr
    better, equal = done.stdout.splitlines()
    assert better.startswith("better against base: ") and "LLR" in better and "nElo +" in better
    assert "; H1 is accepted: elo1 = 150 is favoured over elo0 = 0" in better
    assert equal.startswith("equal against base: ")
    told = " ".join(done.stderr.split())
    assert "a sequential test, at most 120 games of each against base" in told and "H1 is accepted" not in told
    assert "elo0 and elo1 are in normalized Elo. A verdict is between the two hypotheses" in told
    status = call("status", folder / "run")
    assert "100.0 %; finished" in status.output and "better against base: " in status.output


def test_sprt_live_as_json_is_the_calculators(live):
    folder, _ = live
    done = call("sprt", folder / "test.toml", "--out", folder / "run", "--resume", "--json")
    assert done.exit_code == 0, done.stderr
    for report in json.loads(done.stdout)["tests"]:
        again = as_json("sprt", "--pairs", *report["counts"], "--elo0", 0, "--elo1", 150)
        same = ("llr", "lower", "upper", "verdict", "elo", "error", "nelo", "nelo_error")
        assert {key: again[key] for key in same} == {key: report[key] for key in same}
        assert sum(report["counts"]) == report["pairs"] <= 60


def test_mistakes_of_a_live_test(live, tmp_path):
    folder, _ = live
    test, other = folder / "test.toml", tmp_path / "other.toml"
    other.write_text(TEST.format(format="swiss"))
    for arguments, message in [
        ([test, "--out", folder / "run"], "holds a run already. To continue it: --resume"),
        ([test, "--elo1", 5], "--elo1 cannot be added to a file: say it in"),
        ([test, "--wdl", 1, 2, 3], "CONFIG.toml and --wdl cannot be given together"),
        (["--wdl", 1, 2, 3, "--out", tmp_path], "--out, --workers, --cluster and --resume are for CONFIG.toml"),
        ([other], 'has the format swiss; a sequential test has format = "sprt"'),
        ([tmp_path / "none.toml"], "there is no such file"),
        ([test, "--out", tmp_path / "r", "--workers", -1], "'-j': -1 is out of range"),
    ]:
        result = call("sprt", *arguments)
        told = " ".join(result.stderr.replace("│", " ").split())
        assert result.exit_code == 2 and message in told and "Traceback" not in told, told
    assert not (tmp_path / "r").exists()


def test_elo_of_a_run(run):
    tournament = results.load(run)
    values = as_json("elo", run, "--bootstrap", 10)
    assert [row["agent"] for row in values["ratings"]] == tournament.standings()["agent"].tolist()
    assert values["ratings"][0]["bootstrap_low"] < values["ratings"][0]["bootstrap_high"]
    assert len(values["differences"]) == 6 and values["advantage"] == tournament.ratings.advantage
    for row in values["pairs"]:
        assert set(row) >= ELO_KEYS
    without = as_json("elo", run, "--draws", "half", "--no-advantage")
    assert without["advantage"] == 0 and without["draws"] == "half"
    halves = call("elo", run, "--draws", "half", "--no-advantage").stdout
    assert "advantage is taken as 0; draws count as half a win and half a loss" in halves
    text = call("elo", run, "--draws", "rao-kupper", "--anchor", "weak=1000")
    assert "+1000" in text.stdout and "first player's advantage" in text.stdout
    assert "measured from weak" in text.stderr


@pytest.mark.parametrize("suffix, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_study_is_drawn(tmp_path, suffix, start):
    several = {key: value for key, value in CONFIG.items() if key != "game"} | {
        "games": 2,
        "agents": CONFIG["agents"][1:],
    }
    folder = store_run(tmp_path / "run", several | {"instances": ["tictactoe", "connect4(rows=4, columns=5)"]})
    path = tmp_path / f"study.{suffix}"
    done = call("plot", folder, "study", "--output", path)
    assert done.exit_code == 0 and path.read_bytes().startswith(start), done.output


@pytest.mark.parametrize("arguments, message", [
    (["elo"], "nothing is given: give one of DIR, --wdl, --pairs"),
    (["elo", "none"], "no tournament in none"),
    (["elo", "none", "--wdl", 1, 2, 3], "DIR and --wdl cannot be given together"),
    (["elo", "--wdl", 0, 0, 0], "all counts are 0"),
    (["elo", "--wdl", -1, 2, 3], "counts -1 2 3 are out of range"),
    (["elo", "--wdl", 1, 2], "requires 3 arguments"),
    (["elo", "--pairs", 1, 2, 3, 4, "x"], "Invalid value for '--pairs'"),
    (["elo", "--pairs", 1, 2, 3, 4, 10**400], "out of range"),
    (["elo", "--wdl", 1, 2, 3, "--anchor", "a=1"], "are for a run's folder"),
    (["sprt"], "nothing is given: give one of CONFIG.toml, --wdl, --pairs"),
    (["sprt", "--wdl", 1, 2, 3, "--elo0", 5, "--elo1", 2], "elo0 = 5 must be less than elo1 = 2"),
    (["sprt", "--wdl", 1, 2, 3, "--alpha", "nan"], "alpha = nan is out of range"),
    (["sprt", "--wdl", 1, 2, 3, "--model", "bayes"], "'bayes' is not one of"),
])  # fmt: skip
def test_mistakes_are_told_and_end_with_2(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split()), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("options, message", [
    (["--anchor", "nobody=1500"], "the anchor 'nobody' is not among the agents"),
    (["--anchor", "weak"], "'weak' is not of the form NAME=ELO"),
    (["--anchor", "weak=inf"], "weak = inf is out of range"),
    (["--bootstrap", -1], "'--bootstrap': -1 is out of range"),
    (["--draws", "glenn"], "'glenn' is not one of"),
])  # fmt: skip
def test_mistakes_about_a_run(run, options, message):
    result = call("elo", run, *options)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split()), result.stderr
