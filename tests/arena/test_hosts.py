"""Agents in processes of their own: the same games as in one process, and whatever they do there is their own loss."""

import multiprocessing
import sys
from pathlib import Path

import pytest

import arena
from arena import games
from arena.config import loading
from arena.config.config import differences
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.workers.hosting import crowd
from arena.workers.starting import WorkerStartError
from tests.arena.conftest import essence

PLUGIN = '''
from dataclasses import dataclass
from pathlib import Path

from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer
from arena.agents.montecarlo.uct import UCT
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Keen(UCT):
    """A search of ours under another name, with a tree that is kept: its kernels, statistics and counts are its own."""

    name = "test_keen"


@dataclass(frozen=True)
class Listening(Random):
    """Decides by what it has been told."""

    name = "test_listening"

    def new_player(self, game, budget):
        return ListeningPlayer(game)


class ListeningPlayer(RandomPlayer):
    def start(self, game, state, moves):
        self.heard = list(moves)

    def played(self, move):
        self.heard.append(move)

    def decide(self, state, rng):
        moves = self.game.moves(state)
        return Decision(moves[(sum(self.heard) + random_below(rng, 3)) % len(moves)], value=len(self.heard) / 10_000)
'''


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The keys that name the plug-in."""
    (tmp_path / "hosts_of_test.py").write_text(PLUGIN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("hosts_of_test", None)
    yield {"plugins": ["hosts_of_test"], "plugin_path": str(tmp_path)}
    sys.modules.pop("hosts_of_test", None)


FENS = ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/4p3/8/8/8/8/8/4K2R w K - 0 1")


def records_of(folder: Path) -> dict:
    with Store.open(folder) as store:
        return {record.id: record for record in store.records()}


def moves_of(record):
    """All that is stored of a game's decisions, but their times."""
    return [
        tuple(value for name, value in vars(one).items() if name not in ("seconds", "clock"))
        for one in record.decisions
    ]


@pytest.mark.parametrize("game, agents", [
    ("connect4", ["uct(playouts=20)", "test_keen(playouts=9, keep_tree=true)", "test_listening"]),
    ("chess", ["test_keen(playouts=4)", "test_listening"]),
    ("pig(target=20)", ["test_keen(playouts=10)", "test_listening", "random"]),
])  # fmt: skip
def test_the_games_are_those_of_one_process(plugin, tmp_path, game, agents):
    """In every field but times, whatever the hosts and workers, and after a stop."""
    keys = {"game": game, "games": 4, "seed": 3, "agents": agents, **plugin}
    if game == "chess":  # each game is another one than the configuration's
        keys["openings"] = [games.make(f"chess(fen={fen!r})").position_word() for fen in FENS]
    expected = None
    for number, (hosts, workers) in enumerate([(0, 1), (8, 1), (1, 2)]):
        place = tmp_path / f"run{number}"
        if number == 2:
            arena.run(keys | {"games": 2, "hosts": 0}, place, workers=1)
        arena.run(keys, place, hosts=hosts, workers=workers, resume=number == 2)
        found = {key: (essence(record), moves_of(record)) for key, record in records_of(place).items()}
        assert {(record.reason, record.detail) for record in records_of(place).values()} == {(Reason.PLAYED_OUT, "")}
        expected = expected or found
        assert found == expected


@pytest.mark.slow
def test_a_host_plays_no_other_code_than_its_worker(plugin, tmp_path):
    """The file is edited when the worker runs already, and its host starts anew: the run ends, and says why."""
    (tmp_path / "hosts_of_test.py").write_text((tmp_path / "hosts_of_test.py").read_text() + EDITING)
    edits = [{"name": name, "agent": f"test_editing(number={number})"} for number, name in enumerate("abc")]
    matches = [["random", name, 0, 1] for name in "abc"]
    keys = {"game": "connect4", "agents": ["random", *edits], "format": "matches", "matches": matches, "hosts": 1}
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method("spawn", force=True)  # a fork has the worker's code
    try:
        with pytest.raises(WorkerStartError, match="a file has been edited since"):
            arena.run(keys | plugin, tmp_path / "run", workers=1)
    finally:
        multiprocessing.set_start_method(before, force=True)


EDITING = """

@dataclass(frozen=True)
class Editing(Random):
    number: int = 0
    name = "test_editing"

    def new_player(self, game, budget):
        return EditingPlayer(game)


class EditingPlayer(RandomPlayer):
    def close(self, result):
        text = Path(__file__).read_text()
        Path(__file__).write_text(text.replace("def close(self, result):", "def close(self, result=None):"))
"""


def test_more_agents_than_hosts_are_told_of(plugin):
    agents = ["random", {"name": "b", "agent": "random"}, "test_keen(playouts=4)", "test_listening"]
    keys = {"game": "tictactoe", "games": 2, "agents": agents, **plugin}
    told = {hosts: crowd(loading.from_values(keys | {"hosts": hosts})) for hosts in (0, 1, 2, 32)}
    assert told.pop(1).startswith("2 agents of plug-ins take turns in 1 processes of each worker")
    assert set(told.values()) == {""}


def test_hosts_may_change_and_isolation_is_gone(plugin):
    keys = {"game": "tictactoe", "games": 2, "agents": ["random", "flat(playouts=5)"]}
    stored = loading.from_values(keys).resolved()
    assert not differences(stored, loading.from_values(keys | {"hosts": 8}).resolved())
    assert not differences({**stored, "isolation": None}, loading.from_values(keys).resolved())
    del stored["hosts"]  # of a run before there was the key
    assert not differences(stored, loading.from_values(keys).resolved())
    with pytest.raises(loading.ConfigError, match="isolation"):
        loading.from_values(keys | {"isolation": "process"})
    with pytest.raises(loading.ConfigError, match="hosts = -1"):
        loading.from_values(keys | {"hosts": -1})
