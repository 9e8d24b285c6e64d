"""A run of listed matches that grows: agents and matches are added, and it is the run that had them from the start."""

import pytest

import arena
from arena import results
from arena.config.config import ConfigError

AGENTS = ["random", "flat(playouts=4)", "uct(playouts=4)"]
FIRST = {"matches": [["random", AGENTS[1], 0, 3]], "agents": AGENTS[:2]}
WHOLE = {"matches": [*FIRST["matches"], [AGENTS[2], "random", 1, 4], ["random", AGENTS[1], 2, 5]], "agents": AGENTS}
KEYS = {"game": "tictactoe", "format": "matches", "seed": 7, "workers": 1}
SAME = ["id", "number", "seed", "first", "second", "opening", "moves", "outcome"]


def test_agents_join_and_games_are_those_of_a_run_that_had_them(tmp_path):
    arena.run(**KEYS, **FIRST, out=tmp_path / "grown")
    grown = arena.run(**KEYS, **WHOLE, out=tmp_path / "grown", resume=True)
    whole = arena.run(**KEYS, **WHOLE, out=tmp_path / "whole")
    assert grown.games[SAME].equals(whole.games[SAME]) and len(grown) == 2 * (3 + 3 + 2)
    joined = {"agents": AGENTS[2:], "games": 6, "digest": whole.meta["machine"]["source_digest"]}
    assert grown.meta["joined"] == [joined] and grown.versions == []
    assert grown.agents == whole.agents and grown.meta["config"] == whole.meta["config"]
    assert results.load(tmp_path / "grown").standings().equals(whole.standings())
    with pytest.raises(ConfigError, match=r"agents = .* but the run was started with"):
        arena.run(**KEYS, **FIRST, out=tmp_path / "grown", resume=True)


def test_an_agent_in_a_place_of_another_is_refused(tmp_path):
    arena.run(**KEYS, **FIRST, out=tmp_path)
    other = WHOLE | {"agents": [AGENTS[0], AGENTS[2], AGENTS[1]]}
    with pytest.raises(ConfigError, match=r"agents = .* it may only grow"):
        arena.run(**KEYS, **other, out=tmp_path, resume=True)
    assert len(results.load(tmp_path)) == 6
