"""Agents in processes of their own."""

import sys

import pytest

import arena
from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.outside.isolated import isolated
from arena.config import loading
from arena.games.core.random import stream
from arena.results.database.record import Reason
from arena.results.database.store import Store

PLUGIN = """
import os
from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer


class Leaving(Random):
    name = "test_leaving"

    def new_player(self, game, budget):
        return LeavingPlayer(game)


class LeavingPlayer(RandomPlayer):
    def decide(self, state, rng):
        os._exit(3)


class Patching(Random):
    name = "test_patching"

    def new_player(self, game, budget):
        return PatchingPlayer(game)


class PatchingPlayer(RandomPlayer):
    def decide(self, state, rng):
        RandomPlayer.decide = None  # its opponent's
        return Decision(self.game.moves(state)[0])
"""


def played(folder, monkeypatch, *entries, **keys):
    """The records of a run in which agents of the plug-in play."""
    (folder / "test_isolation_plugin.py").write_text(PLUGIN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("test_isolation_plugin", None)
    keys = {"game": "tictactoe", "games": 4, "agents": list(entries)} | keys
    arena.run(keys, folder / "run", plugins=["test_isolation_plugin"], plugin_path=str(folder), workers=1)
    with Store.open(folder / "run") as store:
        return list(store.records())


def losers(records):
    """The names of those who forfeited, and for which reasons."""
    lost = [record for record in records if record.reason != Reason.PLAYED_OUT]
    return {(record.first if record.outcome == 0 else record.second, record.reason) for record in lost}


@pytest.mark.parametrize("isolation, losing", [(None, {("random", Reason.EXCEPTION)}), ("process", set())])
def test_an_agent_that_patches_its_opponent(tmp_path, monkeypatch, isolation, losing):
    """Without isolation the opponent pays: that is what it is for."""
    assert losers(played(tmp_path, monkeypatch, "random", "test_patching", isolation=isolation)) == losing


@pytest.mark.slow
def test_an_agent_that_ends_its_process_loses_its_games_alone(tmp_path, monkeypatch):
    records = played(tmp_path, monkeypatch, "random", "test_leaving", games=2, isolation="process")
    assert losers(records) == {("test_leaving", Reason.EXCEPTION)}
    assert all("exit code 3" in record.detail for record in records)


def test_an_isolated_agent_decides_by_the_seed_that_it_is_sent():
    game = games.make("connect4(rows=4, columns=5)")
    agent = isolated(agents.make("uct"), game, 60.0)
    moves = {}
    for seed in (1, 2, 1, 2, 3, 4):
        player = agent.player(game, Budget(playouts=3))
        player.start(game, game.initial(), [])
        found = player.choose(game.initial(), stream(seed))
        player.close(None)
        assert found.playouts == 3
        assert moves.setdefault(seed, (found.move, found.value)) == (found.move, found.value)
    assert len(set(moves.values())) > 1


def test_a_program_is_one_already():
    external = agents.make("external(command='engine')")
    assert isolated(external, games.make("tictactoe"), 60.0) is external


def test_isolation_may_not_change():
    keys = {"game": "tictactoe", "games": 2, "agents": ["random", "flat(playouts=5)"]}
    stored = loading.from_values(keys).resolved()
    from arena.config.config import differences

    assert differences(stored, loading.from_values(keys | {"isolation": "process"}).resolved())
    del stored["isolation"]  # of a run before there was the key
    assert not differences(stored, loading.from_values(keys).resolved())
    with pytest.raises(loading.ConfigError, match="isolation = 'threads'"):
        loading.from_values(keys | {"isolation": "threads"})
