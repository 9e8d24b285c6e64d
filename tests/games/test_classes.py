"""Digests of what classes are made of: other code has another one, and the same code the same in every process."""

import collections
import enum
import fractions
import functools
import os
import re
import subprocess
import sys
import threading
import types
import typing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import games
from arena.games.core.jit import Walk, code_digest
from arena.games.core.jit.compilable import _shell_of
from arena.workers.worker_main import CHANGED

SOURCE = """
import functools
from dataclasses import dataclass, field

SIZE = 3
TABLE = (1, 2, 3)

def helper(x):
    return x + SIZE

class Part:
    def value(self):
        return 5

class Base:
    limit = 10
    def lowest(self):
        return 0

@dataclass(frozen=True)
class Made(Base):
    size: int = 4
    part: Part = field(default=Part(), hash=False)
    def play(self, x):
        "Play."
        return [helper(y) for y in range(x)]
    @property
    def area(self):
        return self.size * 2
    @functools.cached_property
    def all(self):
        return TABLE
"""


def digest_after(old="", new=""):
    module = types.ModuleType("made_of_this_test")
    sys.modules[module.__name__] = module
    assert old in SOURCE
    try:
        exec(SOURCE.replace(old, new) if old else SOURCE, vars(module))
    finally:
        del sys.modules[module.__name__]
    return code_digest(module.Made)


@pytest.mark.parametrize(
    "old, new",
    [
        ("SIZE = 3", "SIZE = 4"), ("(1, 2, 3)", "(1, 2, 4)"), ("x + SIZE", "x - SIZE"), ("return 5", "return 6"),
        ("limit = 10", "limit = 11"), ("return 0", "return 1"), ("size: int = 4", "size: int = 5"),
        ("range(x)", "range(x + 1)"), ("self.size * 2", "self.size * 3"), ("class Made(Base)", "class Made"),
        ("def lowest", "def deepest"),
    ],
)  # fmt: skip
def test_other_code_has_another_digest(old, new):
    assert digest_after(old, new) != digest_after()


@pytest.mark.parametrize("old, new", [('"Play."', '"Move."'), ("SIZE = 3\n", "\n\n# the size\nSIZE = 3\n")])
def test_words_and_lines_have_no_part_in_it(old, new):
    assert digest_after(old, new) == digest_after() == digest_after()


def test_where_code_lies_has_no_part_in_it():
    """Workers may load an installed copy of what their parent has from a checkout."""
    found = set()
    for place in ("/here/made.py", "/there/made.py"):
        module = types.ModuleType("made_of_this_test")
        sys.modules[module.__name__] = module
        module.__file__ = place
        try:
            exec(SOURCE.replace("return x + SIZE", "return x + SIZE + len(__file__)"), vars(module))
        finally:
            del sys.modules[module.__name__]
        found.add(code_digest(module.Made))
    assert len(found) == 1


def test_what_is_changed_in_memory_is_seen_until_it_is_put_back(monkeypatch):
    from arena.agents.minimax.alphabeta import AlphaBeta

    before = code_digest(AlphaBeta)
    with monkeypatch.context() as patch:
        patch.setattr(AlphaBeta, "new_player", lambda self, game, budget: None)
        assert code_digest(AlphaBeta) != before
    assert code_digest(AlphaBeta) == before


SCRIPT = """
import sys
from arena import agents, games
from arena.agents.core.agent import registry as searches
from arena.games.core.game import registry as rules
from arena.games.core.jit import code_digest
if "played" in sys.argv:
    import arena.runner.running
    for spec in ("uct(playouts=20)", "root(playouts=20)", "alphabeta(depth=2)", "dfpn(nodes=50)"):
        agents.check(agents.make(spec), games.make("tictactoe"), seed=1)
for name, cls in sorted({**rules.classes(), **searches.classes()}.items(), reverse="played" in sys.argv):
    code_digest(cls)
for name, cls in sorted({**rules.classes(), **searches.classes()}.items()):
    print(name, code_digest(cls))
"""


@pytest.mark.slow
def test_all_games_and_agents_have_the_same_digest_in_every_process_whatever_was_played():
    def said(seed, *words):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *words], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    fresh, played = said("1"), said("2", "played")
    assert fresh == played and len({line.split()[1] for line in fresh}) == len(fresh) > 60


def test_workers_that_read_other_code_than_the_run_began_with_play_nothing(tmp_path):
    """As after an edit: a table of games by two kinds of rules would be one of neither."""
    (tmp_path / "other_in_workers.py").write_text(
        "import multiprocessing\nfrom arena.games import TicTacToe\n\n"
        "LIMIT = 3 if multiprocessing.parent_process() is None else 4\n\n"
        "class Other(TicTacToe):\n    name = 'other'\n"
        "    def score(self, state):\n        return super().score(state) if LIMIT else 0.0\n"
    )
    command = [sys.executable, "-m", "arena", "run", "--plugin", "other_in_workers", "--game", "other", "--games", "2"]
    command += ["--agent", "random", "--agent", "flat(playouts=2)", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2 and CHANGED[:60] in said


@pytest.mark.slow
def test_code_that_has_run_under_a_profiler_is_the_same():
    """Numba changes the flags of code that it calls then, and workers would not begin."""
    script = """
import sys
from arena import agents, games
from arena.games.core.jit import code_digest

agent, game = agents.make("alphabeta(depth=1)"), games.make("tictactoe")
before = code_digest(type(agent), type(game))
sys.setprofile(lambda *_: None)
agent.choose(game, game.initial(), seed=1)
sys.setprofile(None)
print(before == code_digest(type(agent), type(game)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


KINDS = [
    "W = [@, 2]", "W = {{'a': @}}", "W = {{@}}", "W = np.array([@])", "W = np.array([[@], 'x'], dtype=object)",
    "W = types.SimpleNamespace(w=@)", "W = ([@],)", "W = [lambda: @, lambda: 5]", "W = [lambda: 5, lambda: @]",
    "W = functools.partial(max, @)", "W = collections.deque([@])", "W = collections.Counter({{@: 3}})",
    "W = fractions.Fraction(@)", "W = re.compile(str(@))", "W = bytearray([@])", "W = np.random.default_rng(@)",
    "class P:\n    def __init__(self, x): self.x = [x]\nW = P(@)",
    "class S:\n    __slots__ = 'x',\n    def __init__(self): self.x = @\nW = S()",
    "class I(int):\n    def __repr__(self): return 'I'\nW = I(@)",
    "class E(enum.IntEnum):\n    A = 1\n    B = 5\n    C = @\nW = E", "class E(enum.Enum):\n    A = [@]\nW = E.A",
    "class T(typing.NamedTuple):\n    a: object\nW = T([@])",
    "@functools.wraps(np.sum)\ndef f(): return @\nW = f", "@functools.cache\ndef f(): return @\nW = f",
    "W = np.float64(@)", "W = collections.OrderedDict(a=@).values",
]  # fmt: skip


def made_with(text, use="W"):
    module = types.ModuleType("values_of_this_test")
    sys.modules[module.__name__] = module
    for library in (collections, enum, fractions, functools, re, types, typing):
        setattr(module, library.__name__, library)
    module.np = np
    try:
        exec(f"{text}\nclass V:\n    def pick(self): return {use}\n    def also(self, x={use}): return x", vars(module))
    finally:
        del sys.modules[module.__name__]
    return module.V


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_counts(kind):
    """Two values that differ in any part have two digests; the same have one, or are told as not covered."""
    text = kind.replace("{{", "{").replace("}}", "}")
    one, same, other = (made_with(re.sub("@(?!f)", value, text)) for value in ("1", "1", "7"))
    if unknown := Walk().through(one).unknown:
        pytest.fail(f"{unknown} is not read")
    assert code_digest(one) == code_digest(same) != code_digest(other)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner) | st.sets(st.integers())
    ),
    max_leaves=8,
)


@settings(max_examples=40)
@given(values, values)
def test_values_that_differ_have_two_digests(one, other):
    first, again, second = (made_with(f"W = {each!r}") for each in (one, one, other))
    assert code_digest(first) == code_digest(again)
    assert (code_digest(first) == code_digest(second)) == (repr(one) == repr(other) or set_alike(one, other))


def set_alike(one, other) -> bool:
    """Whether values of one type are equal: sets and dicts in another order are."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(set_alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(set_alike, one.values(), other.values()))
    return isinstance(one, set) and one == other


@pytest.mark.parametrize("kind", ["W = threading.Lock()", "W = (n for n in [1])", "W = open('/dev/null')"])
def test_what_cannot_be_read_is_told(kind):
    cls = made_with(f"import threading\n{kind}")
    told = min(Walk().through(cls).unknown)
    assert told.startswith("values_of_this_test.")


def test_a_value_counts_as_it_was_at_first_and_its_change_is_told():
    """A table that fills while agents play is no change of the code."""
    cls = made_with("W = {}")
    before = code_digest(cls)
    assert not Walk().through(cls).unknown
    cls.pick(None)["filled"] = 1
    assert code_digest(cls) == before and [told.rpartition(": ")[2] for told in Walk().through(cls).unknown] == ["dict"]
    assert code_digest(cls, values=False) == code_digest(made_with("W = {1: 2}"), values=False) != before


def test_a_games_type_is_found_while_another_thread_notes_it():
    """Threads of one search look for it at once, and each writes down what it found."""
    game, over, before = games.make("connect4"), threading.Event(), sys.getswitchinterval()

    def note():
        while not over.is_set():
            object.__setattr__(game, "_kind", (-1, None))
            vars(game).pop("_kind", None)

    vars(game).update({f"more_{number}": number for number in range(200)})  # so that it takes a while to go through
    other = threading.Thread(target=note)
    sys.setswitchinterval(1e-6)
    other.start()
    try:
        for _ in range(3000):
            assert vars(_shell_of(game)).keys() >= {"rows", "columns"} <= game.__getstate__().keys()
    finally:
        over.set()
        other.join()
        sys.setswitchinterval(before)
