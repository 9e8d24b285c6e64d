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
from arena.workers.starting import WorkerStartError
from tests.arena.conftest import essence

PLUGIN = '''
import ctypes, os, random, resource, signal, sys, threading, time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.agents.core.agent import Decision, Improvement, MoveStatistics, Player
from arena.agents.random import Random, RandomPlayer
from arena.agents.montecarlo.uct import UCT
from arena.games.core.random import random_below

KEPT = []


@dataclass(frozen=True)
class Bad(Random):
    """Plays at random; at its second decision it does what `how` says."""

    how: str = ""
    name = "test_bad"

    def new_player(self, game, budget):
        return BadPlayer(game, self.how)


class BadPlayer(RandomPlayer):
    def __init__(self, game, how):
        super().__init__(game)
        self.how, self.decisions = how, 0

    def decide(self, state, rng):
        self.decisions += 1
        decision = super().decide(state, rng)
        if self.decisions < 2 or not self.how:
            return decision
        return DOES[self.how](decision, state) or decision


def junk(*_):
    for descriptor in range(3, 1024):
        try:
            os.write(descriptor, b"junk" * 9)
        except OSError:
            pass


def write_later(*_):
    def write():
        time.sleep(0.01)
        junk()
    threading.Thread(target=write).start()
    time.sleep(0.2)


def answer(decision, **values):
    return Decision(**(vars(decision) | values))


def big(decision, state):
    many = 4_000_000
    return answer(decision, statistics=MoveStatistics(
        np.zeros(many, np.int32), np.zeros(many, np.int64), np.zeros(many)))


def fork(*_):
    if os.fork() == 0:
        return None


def alarm(*_):
    signal.signal(signal.SIGALRM, lambda *_: 1 // 0)
    signal.setitimer(signal.ITIMER_REAL, 0.001)


def threads(*_):
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


DOES = {
    "exit": lambda *_: os._exit(3),
    "segfault": lambda *_: ctypes.string_at(0),
    "terminate": lambda *_: os.kill(os.getpid(), signal.SIGABRT),
    "kill": lambda *_: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda *_: time.sleep(3600),
    "raise": lambda *_: 1 // 0,
    "leave": lambda *_: sys.exit(4),
    "interrupt": lambda *_: signal.raise_signal(signal.SIGINT) or time.sleep(0.1) or 1 // 0,
    "no decision": lambda *_: 7,
    "no move": lambda decision, _: answer(decision, move="e4"),
    "illegal": lambda decision, _: answer(decision, move=10**30),
    "value": lambda decision, _: answer(decision, value=float("nan")),
    "statistics": lambda decision, _: answer(decision, statistics=[1, 2]),
    "junk": junk,
    "write later": write_later,
    "close": lambda *_: os.closerange(3, 1 << 12) or None,
    "big": big,
}
HARMLESS = {
    "fork": fork,
    "alarm": alarm,
    "patch random": lambda *_: setattr(random, "random", None),
    "patch ours": lambda *_: setattr(Random, "new_player", None),
    "patch numpy": lambda *_: setattr(np, "zeros", None) or setattr(np, "frombuffer", np.frombuffer),
    "streams": lambda *_: setattr(sys, "stdout", None),
    "folder": lambda *_: os.chdir("/"),
    "environment": lambda *_: os.environ.clear(),
    "limits": lambda *_: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)),
    "files": lambda *_: KEPT.extend(open(os.devnull) for _ in range(200)),
    "threads": threads,
    "position": lambda _, state: state.fill(0),
    "trace": lambda *_: sys.settrace(lambda *_: 1 // 0),
    "recursion": lambda *_: sys.setrecursionlimit(60),
    "prints": lambda *_: print("hello " * 100_000),
}
DOES |= HARMLESS
'''
ALONE = ("exit", "segfault", "terminate", "hang", "raise", "leave", "interrupt", "no decision", "no move", "illegal")
ALONE += ("kill", "value", "statistics", "junk", "write later", "close", "big")
MEANWHILE = ("fork", "alarm", "patch random", "patch ours", "patch numpy", "streams", "folder", "environment")
MEANWHILE += ("limits", "files", "threads", "position", "trace", "recursion", "prints")


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The keys that name the plug-in."""
    (tmp_path / "hosts_of_test.py").write_text(PLUGIN + KEEN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("hosts_of_test", None)
    yield {"plugins": ["hosts_of_test"], "plugin_path": str(tmp_path)}
    sys.modules.pop("hosts_of_test", None)


KEEN = '''

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


def test_a_bad_agent_pays_alone(plugin, tmp_path):
    """Each loses its games against a sound one, by its own doing, and the others play theirs to the end."""
    agents = [{"name": how, "agent": f"test_bad(how={how!r})"} for how in ("", *ALONE, *MEANWHILE)]
    agents[0]["name"] = "sound"
    matches = [["sound", agent["name"], 0, 1] for agent in agents[1:]]
    keys = {"game": "connect4", "agents": agents, "format": "matches", "matches": matches}
    keys |= {"move_seconds": 4.0, "hosts": 4, **plugin}
    played = arena.run(keys, tmp_path / "run", workers=2)
    lost = {}
    for record in records_of(tmp_path / "run").values():
        if record.reason != Reason.PLAYED_OUT:
            loser = record.first if record.outcome == 0 else record.second
            lost.setdefault(loser, []).append((record.reason, record.detail))
    assert len(played) == 2 * len(agents[1:])
    fine = {"sound", "fork", "threads", "files", "prints", "folder", "position"}
    assert not {name: lost[name] for name in fine & set(lost)}
    assert {how for how in ALONE if len(lost.get(how, ())) == 2} == set(ALONE), lost
    reasons = {how: lost[how][0] for how in ALONE}
    assert not [detail for own in lost.values() for _, detail in own if "its process has ended" in detail]
    assert "exit code 3" in reasons["exit"][1] and reasons["exit"][0] == Reason.DIED
    assert "SIGSEGV" in reasons["segfault"][1] and reasons["segfault"][0] == Reason.DIED
    assert reasons["hang"][0] == Reason.TIME and reasons["no move"][0] == Reason.ILLEGAL_MOVE
    assert reasons["raise"][0] == Reason.EXCEPTION and "hosts_of_test.py, line" in reasons["raise"][1]


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
