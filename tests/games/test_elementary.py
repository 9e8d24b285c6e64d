"""exp and log of kernels: true to a unit in the last place, and nothing else takes a system's own."""

import ast
import math
from pathlib import Path

import numpy as np
from hypothesis import example, given
from hypothesis.strategies import floats

from arena import agents, games
from arena.games.core.jit import kernel, uncompiled
from arena.games.core.numbers.elementary import exp, log, logs

EXACT = {"ceil", "comb", "copysign", "e", "factorial", "floor", "gcd", "inf", "isclose", "isfinite", "isnan", "nan"}
EXACT |= {"integer", "nextafter", "prod", "sqrt"}
SYSTEMS = ({name for name in dir(math) if name[0] != "_"} | {"power"}) - EXACT


def units(found, true):
    """By how many units in the last place the one is off."""
    return 0 if found == true or (found != found and true != true) else abs(found - true) / math.ulp(true)


@given(floats(-745.1, 709.78))
@example(0.0)
@example(-0.5 * math.log(2))
@example(-744.44)
def test_an_exponential_is_true(x):
    assert units(exp(x), math.exp(x)) <= 1 and exp(x) == uncompiled(exp)(x)


@given(floats(5e-324, allow_infinity=False))
@example(1.0)
@example(math.sqrt(0.5))
@example(math.nextafter(1, 0))
def test_a_logarithm_is_true(x):
    assert units(log(x), math.log(x)) <= 1 and log(x) == uncompiled(log)(x)


def test_the_ends_of_the_range():
    assert [exp(x) for x in (800.0, math.inf, -800.0, -math.inf, 0)] == [math.inf, math.inf, 0.0, 0.0, 1.0]
    assert [log(x) for x in (0.0, math.inf, 1)] == [-math.inf, math.inf, 0.0]
    assert all(math.isnan(x) for x in (exp(math.nan), log(math.nan), log(-1.0)))


def test_of_an_array_and_in_a_kernel_they_are_the_same():
    numbers = np.concatenate([np.arange(1, 5000), np.random.default_rng(1).uniform(1e-300, 3, 2000)])
    alone = [log(x) for x in numbers]
    assert logs(numbers).tolist() == alone

    @kernel
    def within(game, numbers, out):
        for i in range(len(numbers)):
            out[i, 0], out[i, 1] = log(numbers[i]), exp(-numbers[i] * 0.01)

    out = np.zeros((len(numbers), 2))
    within(games.make("tictactoe"), numbers, out)
    assert out[:, 0].tolist() == alone and out[:, 1].tolist() == [exp(-x * 0.01) for x in numbers]


def asked(source):
    """The systems' functions that a module's code names: math.exp, np.log, from math import tanh."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("math", "np"):
            yield from {node.attr} & SYSTEMS
        if isinstance(node, ast.ImportFrom) and node.module in ("math", "cmath", "numpy"):
            yield from {one.name for one in node.names} & SYSTEMS


def test_nothing_that_decides_asks_the_system():
    """But programs outside, whose chances are told in centipawns."""
    folders = [Path(package.__file__).resolve().parent for package in (agents, games)]
    paths = [path for folder in folders for path in folder.rglob("*.py") if "outside" not in path.parts]
    assert len(paths) > 150
    assert {str(path): found for path in paths if (found := set(asked(path.read_text())))} == {}
    code = "import math, numpy as np\nfrom math import tanh\nx = np.exp(math.log(2))"
    assert set(asked(code)) == {"tanh", "exp", "log"}
