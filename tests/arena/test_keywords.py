"""Tournaments as Python users write them: keywords in place of a file, objects in place of text."""

import pytest

import arena
from arena import agents, games
from arena.agents.core.clock import Clock
from arena.config import loading

RANDOM = {"agent": "random"}
TABLES = {"game": "tictactoe", "games": 2, "agents": [{"agent": "flat(playouts=3)"}, {"agent": "random", "name": "r"}]}


def resolved(**keys):
    return loading.from_values(TABLES | keys).resolved()


@pytest.mark.parametrize(
    "given, written",
    [
        ({"game": games.make("mnk(rows=4, columns=3, k=3)")}, {"game": "mnk(rows=4, columns=3, k=3)"}),
        (
            {"agents": ["random", agents.make("flat(playouts=3)"), {"agent": agents.make("flat"), "name": "f"}]},
            {"agents": [RANDOM, {"agent": "flat(playouts=3)"}, {"agent": "flat", "name": "f"}]},
        ),
        ({"budget": agents.Budget(playouts=7, depth=2)}, {"budget": {"playouts": 7, "depth": 2}}),
        ({"budget": agents.Budget(clock=Clock(10, 0.1))}, {"budget": {"clock": "10+0.1"}}),
        ({"budgets": [agents.Budget(playouts=7), {"playouts": 8}]}, {"budgets": [{"playouts": 7}, {"playouts": 8}]}),
    ],
)
def test_objects_are_as_good_as_text(given, written):
    budget = {} if "budgets" in given else {"budget": {"playouts": 5, "seconds": 1}}
    assert resolved(**budget | given) == resolved(**budget | written)


def test_instances_are_games():
    made = [games.make("samegame(seed=1)"), "samegame(seed=2)"]
    config = loading.from_values({"instances": made, "games": 2, "agents": ["random"]})
    assert config.instances == (games.make("samegame(seed=1)"), games.make("samegame(seed=2)"))


def test_what_is_no_agent_is_named():
    with pytest.raises(arena.ConfigError, match=r"^config: agents\[0\] = 5: is not a table"):
        arena.run(game="tictactoe", agents=[5, "random"], games=2)
    with pytest.raises(arena.ConfigError, match=r"config: games: is missing"):
        arena.run(game="tictactoe", agents=["random"])


def test_keywords_replace_what_a_file_or_a_dictionary_says(tmp_path):
    file = tmp_path / "tournament.toml"
    file.write_text('game = "tictactoe"\ngames = 2\nagents = ["random", { agent = "random", name = "r" }]\n')
    tournament = arena.run(file, out=tmp_path / "run", workers=1, games=4, seed=5)
    assert len(tournament) == 4 and tournament.meta["config"]["seed"] == 5
    assert tournament.meta["config"]["agents"] == [{"name": "random", "agent": "random"}, {"name": "r"} | RANDOM]
    again = arena.run(TABLES, out=tmp_path / "other", workers=1, games=6)
    assert len(again) == 6
    with pytest.raises(TypeError, match="a Config is complete: it takes no games, seed besides"):
        arena.run(loading.from_values(TABLES), games=4, seed=2)


def test_a_decision_and_a_tournament_are_printed_for_readers(tmp_path):
    game = games.make("tictactoe")
    decision = agents.make("flat(playouts=20)").choose(game, game.initial(), seed=1)
    name = game.move_name(game.initial(), decision.move)
    assert str(decision).startswith(f"{name}: value {decision.value:+.3f}, playouts 20, ")
    assert str(agents.Decision(3)) == "3: 0 s"
    tournament = arena.run(TABLES, out=tmp_path / "run", workers=1)
    printed = str(tournament)
    assert "Elo" in printed and "flat(playouts=3)" in printed and printed.count("\n") >= 3
    assert repr(tournament) == f"Tournament('{tmp_path / 'run'}': 2 agents, 2 games)"
