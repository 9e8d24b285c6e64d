"""Objects share compiled code when they are the same by value, whatever they print and however they are made."""

import warnings
from dataclasses import dataclass, field, make_dataclass
from enum import Enum, IntEnum
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from numba.core.typing.typeof import typeof

import arena
from arena import agents
from arena.games.core.jit import Compilable, StaleCode, helper, kernel, look_again
from arena.runner import running
from tests.heap import Heap


class Terse(int):
    """Prints the same whatever it is."""

    def __repr__(self):
        return "1"


class Pair(NamedTuple):
    sign: Any
    rest: Any = 0

    def __repr__(self):
        return "Pair"


def member(value):
    """A member of an enumeration that says nothing of its value."""
    made = IntEnum("Sign", {"WIN": value})
    made.__repr__ = made.__str__ = lambda self: "Sign.WIN"
    return made.WIN


@dataclass(frozen=True)
class Part(Compilable):
    sign: float = field(default=1.0, repr=False)

    def signed(self, x):
        return x * self.sign


@dataclass(frozen=True, eq=False)
class Stones(Heap):
    """A heap of three; who takes the last one wins, if `sign` is 1."""

    heap: int = 3
    value: Any = 1
    name = "stones_of_values"
    has_draws = False

    def score(self, state):
        return self.sign(self.value) if state[1] == 1 else -self.sign(self.value)

    def sign(self, value):
        return 1.0 if value > 0 else -1.0


WON = np.array([0, 1], np.uint64)  # by the first player


@kernel
def score_by_table(game, state):
    return game.score(WON)


@kernel(tables=False)
def score_alone(game, state):
    return game.score(WON)


@helper
def first_of(values):
    return values[0]


def variant(name, *, fields=(), **members):
    """A game like Stones with other members."""
    made = make_dataclass(
        name,
        [("value", Any, 1), *fields],
        bases=(Stones,),
        namespace={"name": name.lower(), **members},
        frozen=True,
        eq=False,
    )
    made.__module__ = __name__
    return made


LONG = np.ones(2000)
KINDS = {  # of values: how `sign` reads one, and two that print alike
    "arrays too long to print": (lambda self, value: value[700], LONG, np.where(np.arange(2000) == 700, -1.0, LONG)),
    "arrays that differ in the tenth digit": (
        lambda self, value: 1.0 if value[0] < 0.15 + 1e-11 else -1.0, np.array([0.15]), np.array([0.15 + 1e-10]),
    ),
    "parts whose field is not printed": (lambda self, value: value.signed(1.0), Part(1.0), Part(-1.0)),
    "numbers of a class of their own": (lambda self, value: 1.0 if value > 0 else -1.0, Terse(1), Terse(-1)),
    "members of an enumeration": (lambda self, value: 1.0 if value == 1 else -1.0, member(1), member(2)),
    "named tuples": (lambda self, value: value.sign, Pair(1.0), Pair(-1.0)),
    "arrays in a tuple": (lambda self, value: value[1][700], (1, LONG), (1, np.where(LONG > 0, -1.0, LONG))),
    "named tuples in a tuple": (lambda self, value: value[0].sign, (Pair(1.0),), (Pair(-1.0),)),
    "numbers of one value and two types": (lambda self, value: 1.0 if value / 2 == 0.5 else -1.0, 1, np.int8(2)),
    "zeros of both signs": (lambda self, value: 1.0 if 1.0 / (value + 1e-300) > 0 else -1.0, 0.0, -1e-299),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_two_objects_that_print_alike_have_code_of_their_own(kind):
    sign, *values = KINDS[kind]
    parts = ("value",) if isinstance(values[0], Compilable) else ()
    cls = variant(f"Alike{list(KINDS).index(kind)}", sign=sign, compiled_parts=parts)
    scores = {}
    for value in values:
        game = cls(value=value)
        scores[id(value)] = game.score(WON)
        assert score_by_table(game, WON) == score_alone(game, WON) == game.score(WON), value
    assert set(scores.values()) == {1.0, -1.0}


def test_what_is_set_when_an_object_is_made_counts_too():
    def prepare(self):
        object.__setattr__(self, "derived", -1.0 if self.seed == 2 else 1.0)

    cls = variant(
        "Prepared",
        fields=[("seed", int, 1)],
        data_fields=("seed",),
        __post_init__=prepare,
        sign=lambda self, value: self.derived,
    )
    for seed in (1, 2, 3):
        game = cls(seed=seed)
        assert score_by_table(game, WON) == score_alone(game, WON) == game.score(WON)
    assert typeof(cls(seed=1)) is typeof(cls(seed=3)) is not typeof(cls(seed=2))


@pytest.mark.parametrize("kernel_of", [score_by_table, score_alone])
def test_code_that_reads_a_field_of_data_is_refused(kernel_of):
    cls = variant(
        f"Reads{kernel_of.tables}", fields=[("seed", int, 1)], data_fields=("seed",), sign=lambda self, v: self.seed
    )
    with pytest.raises(TypingError, match=r"Reads\w+\.seed is one of its data_fields, which methods that kernels call"):
        kernel_of(cls(seed=2), WON)


def test_a_base_that_is_replaced_is_noticed():
    first = type("FirstOfBases", (Compilable,), {"won": lambda self: 1.0})
    second = type("SecondOfBases", (Compilable,), {"won": lambda self: -1.0})
    cls = type("OfBases", (first,), {"dtype": np.int64})
    cls = dataclass(frozen=True)(cls)

    @kernel(tables=False)
    def won(rule):
        return rule.won()

    assert won(cls()) == 1.0
    cls.__bases__ = (second,)
    assert won(cls()) == -1.0


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, -0.0, 0.1, 0.1 + 1e-16]),
    st.text("ab", max_size=2), st.integers(-2, 2).map(Terse), st.integers(1, 2).map(member),
    st.integers(-2, 2).map(np.int64), st.integers(-2, 2).map(np.int8),
    st.sampled_from([Enum("Colour", "RED GREEN").RED, Enum("Colour", "RED GREEN").GREEN]),
    st.lists(st.integers(0, 2), max_size=3).map(lambda numbers: np.array([0.0, *numbers])),
    st.lists(st.integers(0, 1), max_size=2).map(lambda numbers: np.array([1] * 1500 + numbers + [1] * 1500)),
)  # fmt: skip
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.tuples(inner, inner), st.tuples(inner), st.builds(Pair, inner, inner)),
    max_leaves=4,
)


def told(value):
    """Equal for values that are the same to a compiler."""
    if isinstance(value, tuple):
        return type(value).__name__, tuple(map(told, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, Enum):
        return "enum", value.name, value.value
    return type(value), int.__repr__(value) if isinstance(value, int) else repr(value)


@settings(deadline=None, max_examples=100)
@given(VALUES, VALUES)
def test_types_are_the_same_where_values_are_and_nowhere_else(one, other):
    assume(one is not None or other is not None)
    assert (typeof(Stones(value=one)) is typeof(Stones(value=other))) == (told(one) == told(other))


# -- Changes of what is compiled --------------------------------------------------------------------------------------

MODULE = """
from dataclasses import dataclass
import numpy as np
from arena.runner import running
from tests.heap import Heap
from arena.games.core.jit import Compilable, helper
SIGN = 1.0
SIGNS = np.array([1.0])
@helper
def turned(x): return x
def closed_over(sign):
    def won(self): return sign
    return won
@dataclass(frozen=True, eq=False)
class Rule(Compilable):
    signs: object = (1.0,)
    dtype = np.int64
    sign = 1.0
    def by_code(self): return 1.0
    def by_helper(self): return turned(1.0)
    def by_constant(self): return SIGN
    def by_array(self): return SIGNS[0]
    def by_attribute(self): return self.sign
    def by_field(self): return self.signs[0]
    by_closure = closed_over(1.0)
"""
EDITS = {
    "by_code": "Rule.by_code.__code__ = (lambda self: -1.0).__code__",
    "by_helper": "@helper\ndef turned(x): return -x",
    "by_constant": "SIGN = -1.0",
    "by_array": "SIGNS[0] = -1.0",
    "by_closure": "Rule.by_closure.__closure__[0].cell_contents = -1.0",
}


def rules():
    space = {"__name__": "edited_rules"}
    exec(MODULE, space)
    return space


def asking(method):
    scope = {"__name__": __name__}
    exec(f"def asked(rule): return rule.{method}()", scope)
    return kernel(tables=False)(scope["asked"])


@pytest.mark.parametrize("method", EDITS)
def test_a_change_that_compiled_code_does_not_see_is_told(method):
    space = rules()
    rule, asked = space["Rule"](), asking(method)
    assert asked(rule) == getattr(rule, method)() == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", StaleCode)
        look_again(rule)
        exec(EDITS[method], space)
        assert getattr(rule, method)() == -1.0
        with pytest.raises(
            StaleCode, match=rf"edited_rules\.\S*(Rule.{method}|won) has changed since it was compiled.*Restart Python"
        ):
            look_again(rule)
    with pytest.warns(StaleCode):
        look_again(rule)
    assert asked(rule) == -1.0


def test_a_users_function_put_into_a_class_of_this_package_is_looked_at():
    """Classes without functions of users are not walked through each time; one that gets a function is."""
    space, users = {"__name__": "arena.edited_rules"}, {"__name__": "edited_rules"}
    exec(MODULE, space)
    rule = space["Rule"]()
    look_again(rule)
    exec("def by_code(self): return 2.0", users)
    space["Rule"].by_code = users["by_code"]
    assert asking("by_code")(rule) == 2.0
    for _ in range(2):
        look_again(rule)
    users["by_code"].__code__ = (lambda self: -1.0).__code__
    with pytest.warns(StaleCode, match=r"edited_rules\.by_code has changed"):
        look_again(rule)


def test_what_an_object_holds_is_looked_at_again():
    rule = rules()["Rule"](signs=np.array([1.0]))
    asked, field_asked = asking("by_attribute"), asking("by_field")
    assert asked(rule) == field_asked(rule) == 1.0
    object.__setattr__(rule, "sign", -1.0)
    rule.signs[0] = -1.0
    look_again(rule)
    assert asked(rule) == field_asked(rule) == -1.0


def test_decisions_and_runs_look_again(monkeypatch):
    monkeypatch.setattr(running, "_run", lambda *_: None)
    game = variant("StonesEdited", sign=lambda self, value: 1.0)()
    agent = agents.make("alphabeta(depth=3)")
    with warnings.catch_warnings():
        warnings.simplefilter("error", StaleCode)
        assert agent.choose(game, game.initial(), seed=1).value == -1.0
    type(game).sign.__code__ = (lambda self, value: -1.0).__code__
    for play in (
        lambda: agent.choose(game, game.initial(), seed=1),
        lambda: agent.player(game),
        lambda: arena.run(game="stonesedited", agents=["random", "flat(playouts=9)"], games=2),
    ):
        with pytest.warns(StaleCode, match=r"test_values\.\S*<lambda> has changed since it was compiled"):
            play()
