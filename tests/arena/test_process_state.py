"""Agents that change their process: it is set back, they are named, and nobody else pays."""

import inspect
import math
import multiprocessing
import re
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import SimpleNamespace

import pytest

import arena
from arena import agents, games
from arena.games.core.jit import entries, kept
from arena.games.core.playout import playout_kernel
from arena.games.core.random import stream
from arena.play import process_state, referee
from arena.play.probe import fault_in_kernels, game_fault
from arena.play.process_state import Guard, Word
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.workers.worker_main import _has_users_code
from tests.heap import Heap

PLUGIN = '''
import decimal, gc, os, resource, signal, sys, tempfile, threading, time, warnings
from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer
from arena.games.core.random import random_below

FOLDER, KEPT, GAMES = os.getcwd(), [], []


def ring(*_):
    raise TimeoutError("the alarm of another")


def spy(frame, event, _):
    """Raises in the code of others."""
    if frame.f_code.co_name == "work":
        ring()


def alarm(which, number, handler=ring):
    signal.signal(number, handler)
    signal.setitimer(which, 0.002, 0.002)


def limit(name, value):
    kind = getattr(resource, name)
    resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def leave_files_open():
    KEPT.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(400))


def leave_all_files_open():
    try:
        while True:
            KEPT.append(os.dup(0))
    except OSError:
        pass


CHANGES = {
    "alarm": lambda: alarm(signal.ITIMER_REAL, signal.SIGALRM),
    "virtual": lambda: alarm(signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
    "profile": lambda: alarm(signal.ITIMER_PROF, signal.SIGPROF),
    "handler": lambda: (signal.signal(signal.SIGALRM, ring), time.sleep(0.004)),
    "filters": lambda: warnings.simplefilter("error"),
    "showing": lambda: setattr(warnings, "showwarning", ring) or time.sleep(0.004),
    "recursion": lambda: sys.setrecursionlimit(130),
    "trace": lambda: sys.settrace(spy),
    "profiler": lambda: sys.setprofile(spy),
    "stdout": lambda: setattr(sys, "stdout", None),
    "stderr": lambda: setattr(sys, "stderr", None),
    "collector": lambda: (gc.disable(), time.sleep(0.004)),
    "folder": lambda: (os.chdir(tempfile.gettempdir()), time.sleep(0.004)),
    "environment": lambda: (os.environ.clear(), time.sleep(0.004)),
    "numpy": lambda: (np.seterr(all="raise"), time.sleep(0.004)),
    "decimals": lambda: (setattr(decimal.getcontext(), "prec", 2), time.sleep(0.004)),
    "blocked": lambda: (signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM}), time.sleep(0.004)),
    "files": lambda: (leave_files_open(), time.sleep(0.004)),
    "all files": lambda: leave_all_files_open(),
    "few files": lambda: (limit("RLIMIT_NOFILE", 3), time.sleep(0.004)),
    "short files": lambda: (limit("RLIMIT_FSIZE", 0), time.sleep(0.004)),
    "little memory": lambda: (limit("RLIMIT_AS", 1 << 28), time.sleep(0.004)),
    "rules": lambda: (object.__setattr__(GAMES[0], "heaps", (1, 1)), time.sleep(0.004)),
    "closed": lambda: sys.stdout.close(),
    "raising": lambda: (signal.signal(signal.SIGALRM, ring), signal.setitimer(signal.ITIMER_REAL, 60), ring()),
    "unlucky": lambda: (np.seterr(all="raise"), ring()),
}


@dataclass(frozen=True)
class Changing(Random):
    """Changes its process in each decision."""

    how: str = ""
    name = "test_changing"

    def new_player(self, game, budget):
        return ChangingPlayer(game, self.how)


class ChangingPlayer(RandomPlayer):
    def __init__(self, game, how):
        super().__init__(game)
        self.how, GAMES[:] = how, [game]

    def decide(self, state, rng):
        decision = super().decide(state, rng)
        CHANGES[self.how]()
        return decision


class Honest(Random):
    """Uses what others may have changed."""

    name = "test_honest"

    def new_player(self, game, budget):
        return HonestPlayer(game)


class HonestPlayer(RandomPlayer):
    def decide(self, state, rng):
        self.work()
        assert self.game.heaps == (3, 3)
        return super().decide(state, rng)

    def work(self):
        with warnings.catch_warnings():
            warnings.warn("a warning, as libraries have it")
        warnings.warn("and another", RuntimeWarning)
        np.float64(1.0) / np.float64(0.0)
        until = time.process_time() + 0.004
        while time.process_time() < until:
            pass
        deep = lambda n: n and deep(n - 1)
        deep(60)
        print("thinking")
        print("still", file=sys.stderr)
        with tempfile.TemporaryFile() as file:
            file.write(b"x" * 100_000)
        np.empty(1 << 27, np.uint8)[0] = 1
        assert os.getcwd() == FOLDER and "PATH" in os.environ and gc.isenabled()
        assert str(decimal.Decimal(1) / 3) == "0." + 28 * "3"
        assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
        assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
'''
KINDS = re.findall(r'^    "(.+?)": lambda', PLUGIN, re.MULTILINE)
UNMENDED = "closed"  # which nothing can set back
RINGING = ("alarm", "virtual", "profile")  # perhaps before the call is over, on a busy machine
SOME = ["alarm", "recursion", "numpy", "few files", "rules"]  # of a clock, the interpreter, a library, limits, ours
MENDED = [kind for kind in KINDS if kind not in (UNMENDED, "raising", "unlucky")]


def played(folder, monkeypatch, kinds, **keys):
    (folder / "test_process_state_plugin.py").write_text(PLUGIN)
    monkeypatch.setattr(sys, "path", [*sys.path])
    sys.modules.pop("test_process_state_plugin", None)
    agents = [{"agent": "test_honest", "name": name} for name in ("one", "other")]
    agents += [{"agent": f"test_changing(how={kind!r})", "name": kind} for kind in kinds]
    base = {"game": "nim(heaps=[3, 3])", "games": 2, "agents": agents, "plugins": ["test_process_state_plugin"]}
    arena.run(base | {"plugin_path": str(folder)} | keys, folder / "run", workers=1)
    with Store.open(folder / "run") as store:
        return list(store.records())


def loser(record):
    """Who lost a game that has a winner."""
    return {0.0: record.first, 1.0: record.second}[record.outcome]


@pytest.mark.parametrize(
    "kinds", [SOME, pytest.param(MENDED, marks=pytest.mark.slow, id="all")], ids=lambda kinds: f"{len(kinds)} kinds"
)
def test_nobody_pays_for_what_another_changes(tmp_path, monkeypatch, kinds):
    """Each pair plays in one process, whose state each agent meets as it was at the start."""
    records = played(tmp_path, monkeypatch, kinds)
    assert len(records) == (len(kinds) + 2) * (len(kinds) + 1)
    for record in records:
        pair, said = {record.first, record.second}, record.detail
        if record.reason != Reason.PLAYED_OUT:
            assert loser(record) in RINGING, record
        elif pair == {"one", "other"}:
            assert said == ""
        elif pair & {"one", "other"}:
            [changing] = pair - {"one", "other"}
            assert changing in said and said.endswith("which was set back"), (changing, said)


def test_what_cannot_be_set_back_loses_the_game_with_its_process(tmp_path, monkeypatch):
    records = played(tmp_path, monkeypatch, [UNMENDED])
    for record in records:
        pair = {record.first, record.second}
        if UNMENDED in pair:
            assert record.reason in (Reason.DIED, Reason.EXCLUDED) and loser(record) == UNMENDED
        else:
            assert record.reason == Reason.PLAYED_OUT


@pytest.mark.parametrize("kind, lost", [("raising", set(Reason.FORFEITS)), ("unlucky", {Reason.CRASH})])
def test_whose_alarm_rings_in_code_of_ours_pays(tmp_path, monkeypatch, kind, lost):
    """Such a game is not void, nor said to be the fault of the rules; nobody pays for a mistake of ours."""
    multiprocessing.set_start_method("fork", force=True)  # so that workers have what is patched
    monkeypatch.setattr(referee, "in_words", ring)
    records = played(tmp_path, monkeypatch, [kind])
    assert len(records) == 6
    for record in records:
        if kind in (record.first, record.second):
            assert record.reason in lost and (record.outcome is None or loser(record) == kind), record
            assert (record.outcome is None) == (kind == "unlucky")
        else:
            assert record.reason == Reason.PLAYED_OUT


SPOILER = """
import random
from dataclasses import dataclass
from arena.agents.random import Random, RandomPlayer

class Own(Exception): pass

def broken(*_): raise ValueError("not your fault")

def own(*_): return __import__("json").loads(Raising())

class Raising(str):
    def startswith(self, *_): raise Own

WAYS = {
    "replaces a function": lambda: setattr(random, "choice", broken),
    "raises a class of its own": lambda: setattr(random, "choice", own),
}

@dataclass(frozen=True)
class Spoiling(Random):
    how: str = ""
    name = "test_spoiling"
    def new_player(self, game, budget):
        return SpoilingPlayer(game, self.how)

class SpoilingPlayer(RandomPlayer):
    def __init__(self, game, how):
        super().__init__(game)
        self.how = how
    def decide(self, state, rng):
        WAYS[self.how]()
        return super().decide(state, rng)
"""
CHOOSING = """
import random, time
from arena.agents.random import Random, RandomPlayer

class Choosing(Random):
    name = "test_choosing"
    def new_player(self, game, budget):
        return ChoosingPlayer(game)

class ChoosingPlayer(RandomPlayer):
    def decide(self, state, rng):
        time.sleep(0.003)
        random.choice([1, 2])
        return super().decide(state, rng)
"""


@pytest.mark.parametrize("how", ["replaces a function", "raises a class of its own"])
def test_an_exception_of_another_agents_code_is_not_the_movers(tmp_path, monkeypatch, how):
    for name, text in (("test_spoiler_plugin", SPOILER), ("test_choosing_plugin", CHOOSING)):
        (tmp_path / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    names = ("one", "other", "third")
    agents = [{"agent": "test_choosing", "name": name} for name in names]
    agents += [{"agent": f"test_spoiling(how={how!r})", "name": "spoiler"}]
    keys = {"plugins": ["test_spoiler_plugin", "test_choosing_plugin"], "plugin_path": str(tmp_path)}
    run = arena.run(keys | {"game": "nim(heaps=[3, 3])", "games": 4, "agents": agents}, tmp_path / "run", workers=1)
    lost = run.games[~run.games.reason.isin([Reason.PLAYED_OUT])]
    assert len(run.games) == 24
    for row in lost.itertuples():  # void where our own code was hit
        assert "spoiler" in (row.first, row.second), row
        assert math.isnan(row.outcome) or (row.second if row.outcome == 1 else row.first) == "spoiler", row


def test_who_has_spoilt_a_process_is_known_when_its_game_is_played_again(monkeypatch):
    state, gave_up = [0], []
    monkeypatch.setattr(process_state, "words", lambda games: ([], [Word("it", lambda: state[0], lambda _: None)]))
    monkeypatch.setattr(process_state, "glance", tuple)
    for thorough, known in ((False, {0, 1}), (True, {1})):
        guard = Guard((), gave_up.append)
        guard.thorough = thorough
        for agent, change in ((0, 0), (1, 0), (0, 0), (1, 1)):  # the first calls of each could be long
            guard.before(agent)
            state[0] += change
            guard.set_back(agent, monotonic())
        guard.settle()
        assert gave_up.pop(0) == known
        gave_up.clear()


def ring(*_):
    raise TimeoutError("my own alarm")


@contextmanager
def alarm(seconds):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:  # a weak reference's callback swallows what is raised in it: rings again then
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "unraisablehook", lambda _: signal.setitimer(signal.ITIMER_REAL, seconds))
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def shallow(frames):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@contextmanager
def short_of_memory(_):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "_link", lambda *_: bytearray(1 << 62))
        yield


@pytest.mark.parametrize("disturbance, measure", [(alarm, 0.02), (shallow, 60), (short_of_memory, 0)])
def test_a_compilation_that_an_agent_disturbs_is_no_fault_of_the_game(disturbance, measure, monkeypatch):
    """Nor do later calls meet it."""
    monkeypatch.setattr(kept, "load", lambda name: None)

    def score(self, state):
        return 1.0 + measure if state[1] == 1 else -1.0 - measure

    game = dataclass(frozen=True)(type("Odd", (Heap,), {"__module__": __name__, "score": score}))()
    with pytest.raises(TimeoutError if disturbance is alarm else Exception) as raised, disturbance(measure):
        playout_kernel(game, game.initial(), 1, stream(1))
    assert game_fault(game, game.initial(), raised.value) is None
    assert fault_in_kernels(game) is None
    playout_kernel(game, game.initial(), 1, stream(1))


@pytest.mark.parametrize("plugins, own, guarded", [([], False, False), (["mine"], False, True), ([], True, True)])
def test_a_process_is_looked_after_where_users_code_plays(plugins, own, guarded):
    """That is, code of plug-ins, or of classes that are not this package's."""

    class Own:
        pass

    playing = [("a", agents.make("random")), *([("b", Own())] if own else [])]
    config = SimpleNamespace(instances=[games.make("nim")], agents=playing, values={"plugins": plugins})
    assert _has_users_code(config) == guarded
