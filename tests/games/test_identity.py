"""Compiled code is named by what is compiled: each edit that a kernel can see gives other code, and no other edit."""

import enum
import os
import subprocess
import sys
import textwrap
import types
from collections import namedtuple

import numba
import numpy as np
import pytest

from arena import games
from arena.games.core import jit
from arena.games.core.jit import identity
from arena.games.core.jit.kernels import described

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="kernels run as plain Python")

# A game of one stone, whose score tells which rules a kernel plays by.
GAME = """
from dataclasses import dataclass
import numpy as np
from arena.games.core.game import Game

@dataclass(frozen=True)
class Take(Game):
    '''Take the stone.'''
    heap: int = 1
    name = "take_x"
    dtype = np.int64
    state_size = 2
    move_limit = max_moves = max_plies = 1
    win = 1.0

    def start(self, state):
        state[:] = self.heap, 0
    def player(self, state):
        return state[1]
    def legal_moves(self, state, moves):
        moves[0] = 0
        return state[0]
    def play(self, state, move):
        state[0], state[1] = 0, 1 - state[1]
    def is_over(self, state):
        return state[0] == 0
    def score(self, state):
        return {score}
    def move_name(self, state, move):
        return "take"
    def render(self, state):
        return str(state[0])
"""
ASK = """
def told(game):
    from arena.games.core.play.playout import playout_kernel
    from arena.games.core.random import stream
    state = game.initial()
    kernel, python = playout_kernel(game, state, 1, stream(1)), playout_kernel.py_func(game, state, 1, stream(1))
    assert tuple(kernel) == tuple(python), f"Python {python}, kernel {kernel}"
    return str(int(kernel[2]))
"""


def module(text, name="own", **given):
    """A module of that text, which no file has."""
    made = types.ModuleType(name)
    vars(made).update(given)
    exec(text, vars(made))
    return made


RULE = """
from dataclasses import dataclass
from arena.games.core.jit import Compilable

@dataclass(frozen=True)
class Rule(Compilable):
    '''Worth a stone.'''
    win = 1.0
    def player(self, state):
        return state[1]
    def score(self, state):
        return {score}
    def render(self, state):
        return str(state[0])
"""


def game(score="1.0", text=RULE, **given):
    return module(text.format(score=score), **given).Rule


def name_of(cls, method="score"):
    return identity.digest(cls(), cls().function(method))


def factory(text, name):
    return "def make(win):\n" + textwrap.indent(text.format(score="win"), "    ") + f"\n    return {name}"


FACTORY = factory(RULE, "Rule")
HELPED = """
from arena.games.core.jit import helper
@helper
def sign(x):
    return {}x
@helper
def win(x):
    return sign(x)
"""


def changed(cls, **attributes):
    for name, value in attributes.items():
        setattr(cls, name, value)
    return cls


def derived(win):
    return type("Variant", (game("self.win"),), {"win": win})


def with_helper(sign):
    return game("win(1.0)", win=module(HELPED.format(sign)).win)


def in_modules(sign):
    outer = types.ModuleType("outer")
    outer.deep = module(HELPED.format(sign))
    return game("outer.deep.win(1.0)", outer=outer)


def with_array(value):
    return changed(game("self.table[0]"), table=np.array([value, 2.0]))


def with_keyword_default(value):
    return changed(game("self.worth()"), worth=module(f"def worth(self, *, given={value}):\n    return given").worth)


def with_alias(last, of=enum.IntEnum):
    return game("1.0 * SIGN.LAST", SIGN=of("Sign", {"PLUS": 1, "MINUS": 2, "LAST": last}))


JITCLASS = """
from numba import int64
from numba.experimental import jitclass
@jitclass([("x", int64)])
class Win:
    def __init__(self, x):
        self.x = x
    def sign(self):
        return {method}
    @property
    def twice(self):
        return {twice}
    @staticmethod
    def half():
        return {half}
"""


def with_jitclass(expression="Win(1).sign()", method="self.x", twice="2", half="3", text=JITCLASS):
    return game(expression, Win=module(text.format(method=method, twice=twice, half=half)).Win)


def with_any_attribute(win):
    return changed(game("self.win_of"), __getattr__=module(f"def get(self, name):\n    return {win}").get)


OTHER = {
    "an enum's alias": (with_alias(1), with_alias(2)),
    "an alias of an enum without numbers": (with_alias(1, enum.Enum), with_alias(2, enum.Enum)),
    "a jitclass's method": (with_jitclass(), with_jitclass(method="-self.x")),
    "a jitclass's property": (with_jitclass(), with_jitclass(twice="5")),
    "a jitclass's static method": (with_jitclass(), with_jitclass(half="5")),
    "a jitclass's field": (with_jitclass(), with_jitclass(text=JITCLASS.replace('("x", int64)', '("x", int64[:])'))),
    "what __getattr__ gives": (with_any_attribute(1.0), with_any_attribute(-1.0)),
    "another text": (game(), game("-1.0")),
    "a factory": (module(FACTORY).make(1.0), module(FACTORY).make(-1.0)),
    "an attribute": (game("self.win"), changed(game("self.win"), win=-1.0)),
    "an attribute's type": (game("self.win"), changed(game("self.win"), win=1)),
    "type()": (derived(1.0), derived(-1.0)),
    "a global": (game("WIN", WIN=1.0), game("WIN", WIN=-1.0)),
    "a global's zero": (game("WIN", WIN=0.0), game("WIN", WIN=-0.0)),
    "an array": (with_array(1.0), with_array(-1.0)),
    "a tuple": (game("WIN[0]", WIN=(1.0, (2, 3))), game("WIN[0]", WIN=(1.0, (2, 4)))),
    "a set": (game("state[0] in WIN", WIN={0, 1}), game("state[0] in WIN", WIN={1})),
    "a helper's helper": (with_helper(""), with_helper("-")),
    "a helper in a module of a module": (in_modules(""), in_modules("-")),
    "a method replaced": (game(), changed(game(), score=lambda self, state: -1.0)),
    "a method that it calls": (game("1.0 + self.player(state)"), changed(game("1.0 + self.player(state)"), player=max)),
    "a keyword's default": (with_keyword_default(1.0), with_keyword_default(-1.0)),
    "whether it may allocate": (game(), changed(game(), may_allocate=True)),
    "texts that end elsewhere": (game("WIN", WIN=("ab", "c")), game("WIN", WIN=("a", "bc"))),
}
SAME = {
    "the same enum": (with_alias(1), with_alias(1)),
    "the same jitclass": (with_jitclass(), with_jitclass()),
    "nothing": (game(), game()),
    "lines": (game(), game(text="\n\n\n" + RULE)),
    "a docstring": (game(), game(text=RULE.replace("Worth", "Not worth"))),
    "another method": (game(), game(text=RULE.replace("str(state[0])", "repr(state)"))),
    "a global that it does not name": (game(OTHER=1), game(OTHER=2)),
    "the order of a set": (game("state[0] in WIN", WIN={8, 0}), game("state[0] in WIN", WIN={0, 8})),
    "what kernels have no type for": (game("LOG", LOG=object()), game("LOG", LOG=object())),
}


@pytest.mark.parametrize("edit", OTHER)
def test_an_edit_that_a_kernel_can_see_changes_the_name(edit):
    one, other = OTHER[edit]
    assert name_of(one) != name_of(other)


@pytest.mark.parametrize("edit", SAME)
def test_no_other_edit_does(edit):
    one, other = SAME[edit]
    assert name_of(one) == name_of(other)


def test_a_docstring_of_a_method_is_no_part_of_it_unless_it_is_used():
    one, other, used, changed = (
        module(f"def f():\n    '{doc}'\n    return {value}").f
        for doc, value in (("a", 1), ("b", 1), ("a", "'a'"), ("b", "'b'"))
    )
    assert identity.digest(one) == identity.digest(other)
    assert identity.digest(used) != identity.digest(changed)


def test_a_user_s_module_of_a_name_of_python_s_is_no_library():
    own = module("def win(x): return x", "test")
    vars(own)["__name__"] = "test"
    assert not identity.version_of("test") or "test" in sys.modules
    assert identity.version_of("math") and identity.version_of("functools") and identity.version_of("numpy")
    assert not identity.version_of("__main__") and not identity.version_of("arena.games.hex")


def test_an_object_of_unknown_kind_has_no_name():
    from numba.typed import List

    with pytest.raises(identity.Unknown, match="typed"):
        name_of(game("WIN[0]", WIN=List([1.0])))
    assert identity.digest_or_unique(List([1.0])) != identity.digest_or_unique(List([1.0]))


def test_what_has_changed_since_it_was_first_compiled_is_not_kept():
    space = module("WIN = 1.0\ndef win(): return WIN\ndef user(): return win()")
    first = identity.digest(space.user)
    space.WIN = -1.0
    assert identity.digest(space.user) == first  # as Numba has compiled it
    with pytest.raises(identity.Unknown, match="win depends on has changed"):
        identity.digest(space.user, anew=True)
    space.WIN = 1.0
    with pytest.raises(identity.Unknown):  # for what was compiled meanwhile has the other value
        identity.digest(space.user, anew=True)


NAMES = """
from arena import games
from arena.agents.core.agent import registry as of_agents
from arena.games.core.game import registry as of_games
from arena.games.core.jit import identity, kernels
from arena.games.core.jit.game_tables import METHODS
import hashlib, pickle
of_agents.classes()
found = []
for name, cls in sorted(of_games.classes().items()):
    game = games.make(name)
    found += [identity.digest(game, game.function(method)) for method in METHODS if hasattr(cls, method)]
for kernel in sorted(kernels, key=lambda one: (one.py_func.__module__, one.py_func.__qualname__)):
    found.append(identity.digest(kernel))
    assert pickle.loads(pickle.dumps(kernel)) is kernel
print(len(found), hashlib.sha256(repr(found).encode()).hexdigest())
"""


def run(script, *arguments, **environment):
    """What a process prints."""
    done = subprocess.run(
        [sys.executable, *(arguments or ("-c", textwrap.dedent(script)))],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_every_method_and_kernel_has_the_same_name_in_every_process():
    found = [run(NAMES, PYTHONHASHSEED=seed) for seed in (0, 7)]
    assert found[0] == found[1] and int(found[0][0]) > 700


# -- What kernels play, against Python --------------------------------------------------------------------------------


def text(score="1.0"):
    return GAME.format(score=score) + ASK


@pytest.mark.slow
def test_in_one_process_a_class_made_anew_and_an_attribute_set_later_are_seen(tmp_path):
    script = f"""
ASK = {ASK!r}
exec(ASK)
for score in ("1.0", "-1.0", "1.0"):
    exec({GAME!r}.format(score=score))  # a cell that is run again
    print(told(Take()))
exec({GAME!r}.format(score="self.win"))
for win in (1.0, -1.0):
    Take.win = win
    print(told(Take()))
game = Take()
for win in (1.0, -1.0):
    Take.win = win
    print(told(game))
print(told(type("Variant", (Take,), {{"win": 1.0}})()))
class Plain:
    win = 1.0
Mixed = type("Mixed", (Plain, Take), {{}})
game = Mixed()
for win in (1.0, -1.0):
    Plain.win = win  # of a base that is no game
    print(told(game), told(Mixed()))
exec({factory(GAME, "Take")!r})
print(*(told(make(win)()) for win in (1.0, -1.0)))
"""
    told = run(script, ARENA_CACHE_DIR=tmp_path)
    assert told == ["1", "-1", "1", "1", "-1", "1", "-1", "1", *("1", "1", "-1", "-1"), "1", "-1"]


@pytest.mark.parametrize(
    "steps, expected",
    [
        pytest.param((("-", text()), ("-", text("-1.0")), ("-", text())), "1 -1 1", marks=pytest.mark.slow, id="input"),
        pytest.param((("-c", text()), ("-c", text("-1.0"))), "1 -1", id="python -c"),
    ],
)
def test_code_without_a_file(tmp_path, steps, expected):
    found = []
    for how, source in steps:
        script = source + "\nprint(told(Take()))"
        found += run(script, *([how] if how == "-" else [how, script]), ARENA_CACHE_DIR=tmp_path / "kernels")
    assert found == expected.split()


@pytest.mark.slow
def test_what_a_module_makes_of_its_surroundings(tmp_path):
    """A constant from the environment, and a method that one process has replaced."""
    (tmp_path / "own.py").write_text("import os\nWIN = float(os.environ['WIN'])\n" + text("WIN"))
    ask = "import own\nprint(own.told(own.Take()))"
    patch = "import own\nown.Take.score = lambda self, state: 3.0\nprint(own.told(own.Take()))"
    settings = {"ARENA_CACHE_DIR": tmp_path / "kernels", "PYTHONPATH": tmp_path}
    found = [run(script, WIN=win, **settings)[0] for script, win in ((ask, 1), (ask, -1), (patch, 1), (ask, 1))]
    assert found == ["1", "-1", "3", "1"]


@pytest.mark.slow
def test_a_file_that_is_edited_between_import_and_compiling(tmp_path):
    """Each process plays by what it has imported, and leaves no other process anything else."""
    script = f"""
import pathlib, own
pathlib.Path(own.__file__).write_text({text("-1.0")!r} + "# edited")
print(own.told(own.Take()))
"""
    (tmp_path / "own.py").write_text(text())
    settings = {"ARENA_CACHE_DIR": tmp_path / "kernels", "PYTHONPATH": tmp_path}
    assert run(script, **settings) == ["1"]
    assert run("import own\nprint(own.told(own.Take()))", **settings) == ["-1"]


@pytest.mark.slow
def test_modules_that_no_import_statement_names_and_that_are_loaded_again(tmp_path):
    """A helper by importlib, in a folder without __init__.py; a kernel of a module that is loaded again."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "own.py").write_text(
        "import importlib\nwin = importlib.import_module('rules.dynamic').win\n" + text("win(1.0)")
    )
    script = """
import importlib, pathlib, sys, own, rules.dynamic
sys.dont_write_bytecode = True
print(own.told(own.Take()), rules.dynamic.answer(own.Take(), 1))
path = pathlib.Path(rules.dynamic.__file__)
path.write_text(path.read_text().replace("10", "20"))
importlib.reload(rules.dynamic)
print(rules.dynamic.answer(own.Take(), 1))
"""
    settings = {"ARENA_CACHE_DIR": tmp_path / "kernels", "PYTHONPATH": tmp_path}
    found = []
    for sign in ("", "-"):
        kernel = "@kernel\ndef answer(game, x):\n    return 10 * x\n"
        rules = HELPED.format(sign).replace("import helper", "import helper, kernel") + kernel
        (tmp_path / "rules" / "dynamic.py").write_text(rules)
        found.append(run(script, **settings))
    assert found == [["1", "10", "20"], ["-1", "10", "20"]]


def test_games_that_differ_where_kernels_do_not_look_share_their_code(tmp_path):
    """The nodes of a tree are text, of which kernels know numbers alone."""
    from arena.games.core.jit.entries import Key

    one, other = games.make("tree(nodes='[[1, 2], [3, 4]]')"), games.make("tree(nodes='[[9, 2], [8, 4]]')")
    assert Key(one, "legal_moves").file == Key(other, "legal_moves").file
    assert Key(one, "score").file != Key(other, "score").file
    assert games.perft(one, 2) == games.perft(other, 2) == 4


def test_what_a_list_holds_is_part_of_a_kernels_name():
    """Tuples of one name and the same types, whose fields have changed places."""
    lists = [numba.types.ListType(numba.typeof(namedtuple("Pair", names)(1, 2))) for names in ("a b", "b a")]
    first, second = (identity.digest(described(each)) for each in lists)
    assert first != second


# Each way to extend the compiler, by a module of a user.
EXTENSIONS = {
    "overload": "@overload(stand_in)\ndef f(x): return lambda x: x",
    "intrinsic": "@intrinsic\ndef stand_in(context, x): return types.int64(x), lambda c, b, s, args: args[0]",
    "overload of an operator": "@overload(operator.lshift)\ndef f(a, b): return None",
    "overload_method": "@overload_method(types.Array, 'winner')\ndef f(a): return lambda a: 1",
    "overload_attribute": "@overload_attribute(types.Array, 'winning')\ndef f(a): return lambda a: 1",
    "overload_classmethod": "@overload_classmethod(types.Array, 'winners')\ndef f(a): return lambda a: 1",
    "type_callable": "@type_callable(stand_in)\ndef f(context): return lambda x: types.float64",
    "lower_builtin": "@lower_builtin(stand_in, types.Integer)\ndef f(context, builder, sig, args): return 1",
    "lower_cast": "@lower_cast(types.Integer, types.Boolean)\ndef f(context, builder, a, b, value): return value",
    "lower_getattr": "@lower_getattr(types.Array, 'deep')\ndef f(context, builder, kind, value): return value",
    "lower_getattr_generic": "@lower_getattr_generic(types.Dummy)\ndef f(context, builder, *others): return others",
    "lower_setattr": "@lower_setattr(types.Array, 'deep')\ndef f(context, builder, sig, args): return args",
    "lower_constant": "@lower_constant(types.Dummy)\ndef f(context, builder, kind, value): return value",
    "typeof_impl": "@typeof_impl.register(Own)\ndef f(value, context): return types.int64",
    "register_model": "@register_model(OwnType)\nclass Model(models.OpaqueModel): pass",
    "unbox": "@unbox(OwnType)\ndef f(kind, value, context): return value",
    "box": "@box(OwnType)\ndef f(kind, value, context): return value",
    "infer_getattr": "@infer_getattr\nclass G(AttributeTemplate):\n    key = OwnType\n    def resolve_x(self, k): pass",
    "infer_global": "@infer_global(stand_in)\nclass A(AbstractTemplate):\n    def generic(self, args, kws): pass",
}
IN_TURN = """
import sys, types as modules
from arena.games.core.jit import identity
START = '''
import operator
from numba import types
from numba.core.imputils import lower_cast, lower_constant, lower_getattr, lower_getattr_generic, lower_setattr
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import *
from numba.extending import overload_classmethod
class Own: pass
class OwnType(types.Opaque): pass
def stand_in(x): return 0
'''
def digest(module):
    exec("def other(x): return stand_in(x)", space := {{"stand_in": module.stand_in}})
    return identity.digest(space["other"])
for name, text in {extensions!r}.items():
    module = sys.modules[f"by_{{name}}"] = modules.ModuleType(f"by_{{name}}")
    exec(START, vars(module))
    if name == "overload":
        digest(module)
    exec(text, vars(module))
    try:
        digest(module)
    except identity.Unknown as error:
        print(name, f"by_{{name}}" in str(error))
"""


def test_who_extends_the_compiler_in_any_way_keeps_nothing():
    """An extension can stand for an operator or a method, which no code names; a process of its own keeps them out."""
    script = IN_TURN.format(extensions=EXTENSIONS)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    told = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert told == dict.fromkeys(EXTENSIONS, "True"), done.stderr
    assert "not kept for other processes, since Numba is extended by by_overload\n" in done.stderr


@pytest.mark.slow
def test_what_an_extension_stands_for_is_compiled_by_each_process(tmp_path):
    """Two versions of an operator on tuples, which no function of the game names."""
    extension = """
import operator
from numba.extending import overload
@overload(operator.lshift)
def shift(a, b):
    if hasattr(a, "types"): return lambda a, b: {win}
def won(): return {win}
@overload(won)
def _won(): return lambda: (1, 2) << 3
"""
    settings = {"ARENA_CACHE_DIR": tmp_path / "kernels", "PYTHONPATH": tmp_path}
    found = []
    for win in ("1.0", "-1.0", "1.0"):
        (tmp_path / "own.py").write_text(extension.format(win=win) + text("won()"))
        found += run("import own\nprint(own.told(own.Take()))", **settings)
    assert found == ["1", "-1", "1"]
