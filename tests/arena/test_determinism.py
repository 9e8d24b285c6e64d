"""Tournaments that are played in several settings, and compared."""

import json
from dataclasses import fields, replace

import pytest

from arena import agents, games
from arena.results.database.record import GameRecord, ImprovementRecord, MoveRecord
from arena.study import determinism
from arena.study.determinism import Difference, Setting, difference
from tests.shipped import AGENTS
from tests.typed import call

MOVES = (MoveRecord(0, 0, "a", value=0.5, playouts=9, seconds=1.0), MoveRecord(1, 1, "b", clock=3.0))
GAME = GameRecord("1v2-0000", 0, 0, 0, 1, "x", "y", 1.0, 1.0, "played out", "", "", "a b", 2, 0.5, MOVES)
OTHERS = {
    "x, ply 0: move c, and not a": {"decisions": (replace(MOVES[0], move="c", playouts=8), MOVES[1])},
    "x, ply 0: playouts 8, and not 9": {"decisions": (replace(MOVES[0], playouts=8), replace(MOVES[1], move="c"))},
    "y, ply 1: no decision": {"decisions": MOVES[:1]},
    ", outcome 0.0, and not 1.0": {"outcome": 0.0},
    ", reason 'hang', and not 'played out'": {"reason": "hang"},
    "x, its best scores differ": {"improvements": (ImprovementRecord(5, 0.1, 3.0),)},
}
"""What is told of games that differ from GAME."""


@pytest.mark.parametrize("told", OTHERS)
def test_a_difference_is_traced_to_the_agent_that_decides_otherwise_first(told):
    agent, text = told.split(", ", 1)
    assert difference(GAME, replace(GAME, **OTHERS[told])) == Difference(agent, GAME.id, text)


def test_time_makes_no_difference():
    slower = tuple(replace(each, seconds=7.0, clock=1.0) for each in MOVES)
    assert difference(GAME, replace(GAME, seconds=9.0, decisions=slower)) is None
    assert difference(GAME, None) == Difference("", GAME.id, "is missing")


def config_of(folder, agents, game="tictactoe", games=2, more=""):
    path = folder / "config.toml"
    path.write_text(f"game = {game!r}\ngames = {games}\nseed = 5\nagents = {json.dumps(agents)}\n{more}")
    return str(path)


def check(monkeypatch, config, *settings):
    monkeypatch.setattr(determinism, "settings", lambda empty: list(settings))
    done = call("check", "--deterministic", config, "--json")
    return done.exit_code, json.loads(done.stdout)


FEW = Setting("1 worker", workers=1), Setting("2 workers", interrupted=True)


@pytest.mark.slow
def test_a_run_repeats_itself(monkeypatch, tmp_path):
    code, told = check(monkeypatch, config_of(tmp_path, ["random", "uct(playouts=20)"]), *FEW)
    assert code == 0 and told["deterministic"]
    assert [(row["setting"], row["games"], row["different"]) for row in told["settings"]] == [
        ("1 worker", 2, 0),
        ("2 workers", 2, 0),
    ]


@pytest.mark.slow
def test_an_agent_that_does_not_repeat_itself_is_named(monkeypatch, tmp_path):
    code, told = check(monkeypatch, config_of(tmp_path, ["random", "uct(seconds=0.005)"]), *FEW)
    assert code == 1 and not told["deterministic"]
    assert [each["agent"] for each in told["settings"][1]["differences"]] == ["uct(seconds=0.005)"]


def test_a_run_that_fails_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(determinism, "settings", lambda empty: [Setting("nowhere", workers=0)])
    done = call("check", "--deterministic", config_of(tmp_path, ["random", "uct(playouts=5)"]))
    assert done.exit_code == 2 and "the run nowhere has failed: " in done.stderr and "ValueError" in done.stderr


def test_what_is_no_configuration_is_told(tmp_path):
    done = call("check", "--deterministic", str(tmp_path / "none.toml"))
    assert done.exit_code == 2 and "there is no such file" in done.stderr
    done = call("check", "--deterministic", "--mend", "x.toml")
    assert done.exit_code == 2 and "--deterministic goes with --json alone" in done.stderr


def seeded(name: str) -> str | None:
    """An agent of ours that decides by its seed alone, with simulated workers if it has several; None if it cannot."""
    agent = agents.make(name)
    if agent.cores == 1:
        return name if name != "external" else None
    simulated = name != "distributed" and "simulated" in {field.name for field in fields(agent)}
    return f"{name}(simulated=true)" if simulated else None


@pytest.mark.slow(minutes=4)
@pytest.mark.parametrize("players, game", [(2, "connect4(rows=4, columns=4)"), (1, "samegame(rows=5, columns=5)")])
def test_every_agent_with_a_seed_repeats_itself_in_every_setting(tmp_path, players, game):
    """Compiled anew twice, once for another processor: that takes most of the time."""
    every = [spec for name in AGENTS if (spec := seeded(name)) and not agents.make(spec).refuses(games.make(game))]
    more = 'format = "gauntlet"\nopening_plies = 2\n' if players == 2 else 'format = "single_player"\n'
    config = config_of(tmp_path, every, game, 2, f"{more}budget = {{ playouts = 40, nodes = 200, depth = 3 }}\n")
    done = call("check", "--deterministic", config, "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0 and told["deterministic"], done.stderr
    assert {row["different"] for row in told["settings"]} == {0} and len(every) > (25 if players == 2 else 3)
