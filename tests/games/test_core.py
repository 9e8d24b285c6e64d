"""Random numbers, bits, specs and the Numba glue."""

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit, types

from arena import games
from arena.games.core import jit
from arena.games.core.boards.drawing import Drawing
from arena.games.core.checks.conformance import ConformanceError, check_names, check_planes
from arena.games.core.numbers import bits
from arena.games.core.random import mix, next_word, random_below, random_unit, stream
from arena.games.core.shared.describe import about
from arena.games.core.shared.registry import SpecError, parameters_of, parse_spec, signature
from arena.games.core.shared.seeds import derive_seed
from tests.heap import Heap
from tests.shipped import GAMES

WORDS = st.integers(0, 2**64 - 1).map(np.uint64)


@njit
def compiled_draws(rng, bound):
    return next_word(rng), random_below(rng, bound), random_unit(rng)


@njit
def compiled_bits(word, n):
    return bits.popcount(word), bits.trailing_zeros(word), bits.nth_bit(word, n), mix(word)


def test_splitmix64_reference_values():
    """The first outputs for seed 1234567, as published with the generator's reference code."""
    rng = np.array([1234567], np.uint64)
    assert [int(next_word(rng)) for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@settings(deadline=None)  # the first example waits for the compiler
@given(WORDS, st.integers(1, 2**31))
def test_draws_compiled_equal_plain_python(seed, bound):
    plain, compiled = np.array([seed]), np.array([seed])
    with np.errstate(over="ignore"):
        expected = next_word(plain), random_below(plain, bound), random_unit(plain)
    assert compiled_draws(compiled, bound) == expected
    assert plain[0] == compiled[0] and 0 <= expected[1] < bound and 0 <= expected[2] < 1


def test_random_below_is_uniform():
    rng = stream(4)
    counts = Counter(int(random_below(rng, 7)) for _ in range(70_000))
    chi_square = sum((counts[i] - 10_000) ** 2 / 10_000 for i in range(7))
    assert chi_square < 22.5  # 6 degrees of freedom: exceeded once in a thousand


def test_seeds_depend_on_every_part_of_the_key():
    seeds = {derive_seed(*key) for key in [(1,), (2,), (1, 0), (1, "0"), (1, "a", 1), (1, "a", 2), (1, "a1")]}
    assert len(seeds) == 7
    assert derive_seed(1, "a") == derive_seed(np.int64(1), "a")


@settings(deadline=None)
@given(WORDS.filter(bool), st.data())
def test_bits_compiled_equal_plain_python(word, data):
    n = data.draw(st.integers(0, int(word).bit_count() - 1))
    expected = (bits.popcount(word), bits.trailing_zeros(word), bits.nth_bit(word, n), mix(word))
    assert compiled_bits(word, n) == expected
    set_bits = [i for i in range(64) if int(word) >> i & 1]
    assert expected[:3] == (len(set_bits), set_bits[0], 1 << set_bits[n])


def test_nth_bit_without_the_instruction(monkeypatch):
    monkeypatch.setattr(bits, "_HAS_DEPOSIT", False)
    loop = njit(bits._nth_bit(types.uint64, types.int64))
    for word in (1, 0b1010_0110, 2**63 + 2**40 + 1):
        for n in range(word.bit_count()):
            assert loop(np.uint64(word), n) == bits.nth_bit(word, n)


def test_specs():
    assert parse_spec("connect4") == ("connect4", [], {})
    assert parse_spec(" connect4( 4, columns=5 ) ") == ("connect4", [4], {"columns": 5})
    assert parse_spec("f(a=true, b=-1.5, c='x', d=[1, 2])") == ("f", [], {"a": True, "b": -1.5, "c": "x", "d": [1, 2]})
    assert parse_spec("f(a=none, b=None, c=false)") == ("f", [], {"a": None, "b": None, "c": False})
    assert signature(type(games.make("connect4"))) == "connect4(rows=6, columns=7)"
    assert games.make("connect4(4, columns=5)") == games.make("connect4(rows=4, columns=5)")


@pytest.mark.parametrize(
    "spec, message",
    [
        ("conect4", "unknown game 'conect4' (did you mean 'connect4'?); known: "),
        (
            "connect4(row=3)",
            "connect4 has no parameter 'row' (did you mean 'rows'?); it is connect4(rows=6, columns=7)",
        ),
        ("connect4(rows='a')", "connect4: rows = 'a' should be int"),
        ("connect4(rows=True)", "connect4: rows = True should be int"),
        ("connect4(rows=6.5)", "connect4: rows = 6.5 should be int"),
        ("connect4(4, rows=4)", "parameter 'rows' is given twice"),
        ("connect4(1, 2, 3)", "takes 2 parameters, got 3"),
        ("connect4(rows=1)", "rows = 1 is out of range: it can be 2 to 14"),
        ("breakthrough(9, 8)", "rows * columns = 72 is out of range: it can be 1 to 64"),
        ("connect4(", "is not of the form"),
        ("connect4(4)(5)", "is not of the form"),
        ("connect4(**{})", "is not of the form"),
        ("connect4(rows=rows)", "rows is text, which needs quotes"),
        ("", "is not of the form"),
        ("(" * 1000, "is not of the form"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        games.make(spec)


def test_illegal_moves_are_refused():
    game = games.make("tictactoe")
    state = game.read_line("1a")[1]
    with pytest.raises(games.IllegalMove, match=r"legal: ([-/\w]+ ){50}and 2,126 more$"):
        games.make("amazons").read_line("a4-a5/a6-")
    with pytest.raises(games.IllegalMove, match="0 is not a legal move of tictactoe here; legal: 1b 1c"):
        game.after(state, 0)
    with pytest.raises(games.IllegalMove, match="'4a' is not a legal move"):
        game.read_line("4a", state)


def test_a_line_of_moves_is_read_in_three_ways():
    game = games.make("connect4")
    moves, state = game.read_line("4 4 5")
    assert moves == [3, 3, 4] and np.array_equal(state, game.after(game.after(game.after(game.initial(), 3), 3), 4))
    for line in ("445", "4-4-5", " 4\n45 "):
        assert game.read_line(line)[0] == moves
    assert game.read_line("") == ([], pytest.approx(game.initial()))
    before = state.copy()
    more, after = game.read_line("1 2", state)
    assert more == [0, 1] and np.array_equal(state, before) and np.array_equal(after, game.read_line("44512")[1])
    assert games.make("nim").read_line("1-1 2-2")[0] == [0, games.make("nim").parse_move(state_of("1-1"), "2-2")]


def state_of(line):
    return games.make("nim").read_line(line)[1]


@pytest.mark.parametrize(
    "line, message",
    [("4 x4", "'x4' is not a legal move"), ("4x", "'4x': 'x' is not a legal move"), ("4-9", "'4-9': '9' is not")],
)
def test_the_word_that_is_no_move_is_named(line, message):
    with pytest.raises(games.IllegalMove, match=re.escape(message)):
        games.make("connect4").read_line(line)


def test_the_evaluation_is_a_parameter_of_every_game():
    game = games.make("breakthrough(rows=6, columns=5)")
    variant = replace(game, evaluation="material")
    state = game.read_line("2a3a")[1]
    assert variant != game and hash(variant) != hash(game) and game.with_evaluation("material") == variant
    assert str(variant) == "breakthrough(rows=6, columns=5, evaluation='material')"
    assert games.make(str(variant)) == variant and str(replace(variant, evaluation="")) == str(game)
    assert replace(variant, rows=7).evaluation == "material"
    assert variant.evaluate(state) == game.evaluate_material(state) != game.evaluate(state)
    assert pickle.loads(pickle.dumps(variant)).evaluate(state) == variant.evaluate(state)
    assert "evaluation" not in signature(type(game))
    for name, found in (("'x'", "'x' is not one of advance, material"), ("1", "1 should be str")):
        with pytest.raises(SpecError, match=f"breakthrough: evaluation = {found}"):
            games.make(f"breakthrough(evaluation={name})")
    with pytest.raises(ValueError, match="evaluation = 'x' is not known: there is only the default"):
        games.make("tictactoe").with_evaluation("x")


def test_only_parameters_are_fields():
    for name in GAMES:
        game = games.make(name)
        assert {f.name for f in fields(game)} == {f.name for f in parameters_of(type(game))} | (
            {"has_chance"} if name == "tree" else set()
        )


@dataclass(frozen=True)
class Countdown(Heap):
    """The rules of a heap; `spoilt` lists a move twice."""

    heap: int = 7
    spoilt: bool = False

    def legal_moves(self, state, moves):
        moves[0], moves[1] = 1, 1 if self.spoilt else 2
        return 2 if state[0] > 1 else 1

    def __str__(self):
        return repr(self)


def test_a_small_game_of_ones_own_conforms():
    games.check(Countdown(), seed=2)


@pytest.mark.plain
def test_the_conformance_suite_finds_a_fault():
    with pytest.raises(ConformanceError, match="a move is listed twice"):
        games.check(Countdown(spoilt=True), seed=2)


@dataclass(frozen=True)
class Faulty(Countdown):
    """Has one fault, by its number."""

    fault: int = 0

    def legal_moves(self, state, moves):
        count = 2 if state[0] > 1 else 1
        for i in range(5 if self.fault == 1 and state[0] == 3 else count):
            moves[i] = i + 1
        if state[0] == 3:
            count = -1 if self.fault == 2 else (5 if self.fault == 3 else count)
        if self.fault == 4 and state[0] == 3:
            for i in range(1000):
                moves[i] = 1
        return count

    def sound_moves(self, state, moves):
        return 3 if self.fault == 5 else self.legal_moves(state, moves)

    def key(self, state):
        return mix(state[0] * np.uint64(2) + state[1]) if self.fault != 6 else mix(state[0])

    def random_move(self, state, moves, rng):
        return 1 if self.fault == 7 else moves[random_below(rng, self.legal_moves(state, moves))]


class Scrawled(Countdown):
    def drawing(self, state, moves):
        return Drawing(40, 40, "<g>", ())


class Chancy(Countdown):
    has_chance = True


class Mirrored(Countdown):
    colour_exchange = "mirror"


class Uncompiled(Countdown):
    def move_order(self, state, move):
        return move.no_such_method()


@pytest.mark.plain
@pytest.mark.parametrize(
    "fault, message",
    [
        (1, "legal_moves writes more moves than max_moves = 2"),
        (2, "legal_moves returns -1: it can be 1 to max_moves = 2"),
        (3, "legal_moves returns 5: it can be 1 to max_moves = 2"),
        (4, "writes or reads beyond an array"),
        (5, "sound_moves returns 3: it can be 1 to max_moves = 2"),
        (6, "two states, one key"),
        (7, "40 random moves were expected of each"),
    ],
)
def test_the_conformance_suite_says_what_is_wrong(fault, message):
    with pytest.raises(ConformanceError, match=re.escape(message)):
        games.check(Faulty(fault=fault), seed=2)


@pytest.mark.plain
def test_a_picture_is_svg():
    check_names(Countdown(), 2)
    with pytest.raises(ConformanceError, match="the picture is no SVG: "):
        check_names(Scrawled(), 2)


@pytest.mark.plain
def test_a_game_with_chance_meets_it():
    games.check(Faulty(), seed=2)
    with pytest.raises(ConformanceError, match="has_chance is true, and no state of chance is met"):
        games.check(Chancy(), seed=2)


@pytest.mark.plain
def test_an_exchange_of_colours_is_a_known_one():
    check_planes(Countdown(), 2)
    with pytest.raises(ConformanceError, match="colour_exchange = 'mirror': it can be one of "):
        check_planes(Mirrored(), 2)


@pytest.mark.slow
def test_a_game_is_checked_without_a_compiler():
    """As when it is debugged."""
    script = "from arena import games; games.check(games.make('tictactoe'), seed=1); print('kept')"
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", script]  # words wrap
    done = subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("kept\n", "")


def test_every_method_is_compiled():
    with pytest.raises(ConformanceError, match="move_order"):
        games.check(Uncompiled(), seed=2)


@dataclass(frozen=True)
class Wasteful(Countdown):
    """Makes an array in `play`, without saying that it may."""

    def play(self, state, move):
        taken = np.full(1, move)
        state[0] -= np.uint64(taken[0])
        state[1] = np.uint64(1) - state[1]


@dataclass(frozen=True)
class Permitted(Wasteful):
    """The same, and says so."""

    may_allocate = True

    def play(self, state, move):
        taken = np.full(1, move)
        state[0] -= np.uint64(taken[0])
        state[1] = np.uint64(1) - state[1]


@pytest.mark.slow
def test_a_method_that_makes_arrays_says_so():
    with pytest.raises(ConformanceError, match="say may_allocate = True in the class"):
        games.check(Wasteful(), seed=2)
    games.check(Permitted(), seed=2)


def test_two_games_of_one_class_are_compiled_apart():
    assert [games.playouts(Countdown(heap), 1, seed=1).plies <= heap for heap in (1, 2, 3)] == [True] * 3
    assert games.playouts(Countdown(1), 100, seed=1).wins == 100
    assert games.perft(Countdown(2), 2) == 1 and games.perft(Countdown(3), 2) == 3


@pytest.mark.slow
def test_an_edited_game_is_compiled_anew(tmp_path):
    """With a warm cache: a change of the game's file, and of a file it imports, gives the new answer."""
    root = Path(jit.__file__).resolve().parents[3]
    for package in ("arena", "games", "agents"):
        shutil.copytree(root / package, tmp_path / package, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ARENA_CACHE_DIR": str(tmp_path / "kept")}
    script = """if True:
        from numba.core import event
        from arena import games
        from arena.games.core.play.playout import playout_kernel
        from arena.games.core.random import stream
        with event.install_recorder("numba:compile") as compiled:
            game = games.make("tictactoe")
            print(games.perft(game, 2), playout_kernel(game, game.initial(), 500, stream(1))[0])
        print(sum("dispatcher" in each.data for _, each in compiled.buffer))
    """

    def answer():
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        leaves, wins, compiled = run.stdout.split()
        return leaves, wins, compiled != "0"

    def edit(name, old, new):
        path = tmp_path / "games" / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    leaves, wins, compiled = answer()
    assert leaves == "72" and compiled
    assert answer() == (leaves, wins, False)
    edit("core/boards/drawing.py", "<text", "<tspan")
    edit("tictactoe.py", "X", "x")
    assert answer() == (leaves, wins, False)
    edit("tictactoe.py", "list_bits(FULL & ~", "list_bits(FULL & ~ONE & ~")
    leaves, wins, compiled = answer()
    assert leaves == "56" and compiled
    edit("core/random.py", "word >> WORD(30)", "word >> WORD(29)")  # of what takes a function's place in kernels
    leaves, other, compiled = answer()
    assert leaves == "56" and other != wins and compiled


SOURCES = {
    "common.py": "from arena.games.core.jit import helper\n@helper\ndef twice(x):\n    return 2 * x\n",
    "apart.py": "from arena.games.core.jit import kernel\n@kernel\ndef apart(game, x):\n    return x + 1\n",
    "user.py": "from arena.games.core.jit import kernel\nfrom common import twice\n"
    "@kernel\ndef user(game, rule, x):\n    return rule.bonus() + twice(x)\n",
    "rule_a.py": "from arena.games.core.jit import Compilable\nfrom dataclasses import dataclass\n"
    "@dataclass(frozen=True)\nclass A(Compilable):\n    def bonus(self):\n        return 1\n",
    "rule_b.py": "from arena.games.core.jit import Compilable\nfrom dataclasses import dataclass\n"
    "@dataclass(frozen=True)\nclass B(Compilable):\n    def bonus(self):\n        return 3\n",
    "run.py": "import apart, user, rule_a, rule_b\nfrom arena import games\nfrom arena.games.core.jit import kernels\n"
    "game = games.make('tictactoe')\n"
    "print(apart.apart(game, 1), user.user(game, rule_a.A(), 1), user.user(game, rule_b.B(), 1),"
    " *[sum(k.stats.cache_hits.values()) for k in (apart.apart, user.user)])\n",
}


@pytest.mark.slow
def test_an_edit_compiles_the_kernels_made_of_that_file_and_no_others(tmp_path):
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "ARENA_CACHE_DIR": str(tmp_path / "cache")}

    def run(name=None, old="", new=""):
        """What the kernels return, and how many of each of the two were loaded."""
        if name:
            assert old in SOURCES[name]
            (tmp_path / name).write_text(SOURCES[name].replace(old, new))
        command = [sys.executable, str(tmp_path / "run.py")]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    assert run() == [2, 3, 5, 0, 0]
    assert run() == [2, 3, 5, 1, 2]
    assert run("rule_a.py", "return 1", "return 2") == [2, 4, 5, 1, 1]  # the kernel of one rule
    assert run("common.py", "2 * x", "10 * x") == [2, 12, 13, 1, 0]  # both that call the helper
    assert run("apart.py", "x + 1", "x + 5") == [6, 12, 13, 0, 2]


def test_a_class_of_a_module_that_python_does_not_know_is_described():
    """Such as one that a notebook's tool has executed."""
    assert about(type("Orphan", (Countdown,), {"__module__": "nowhere"})) == "" and len(about(Countdown)) > 20


@pytest.mark.slow
def test_a_damaged_kernel_cache_is_made_anew(tmp_path):
    """A cut kernel and a cut method, as a power cut may leave them."""
    environment = {**os.environ, "ARENA_CACHE_DIR": str(tmp_path)}
    script = "from arena import games; print(games.perft(games.make('tictactoe'), 3))"

    def run():
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip(), "is damaged and is made anew" in done.stderr

    assert run() == ("504", False)
    for pattern, size in (("*.nbc", 100), ("*.nbm", 200)):
        for path in tmp_path.rglob(pattern):
            os.truncate(path, size)
        assert run() == ("504", True)
        assert run() == ("504", False)


@pytest.mark.slow
def test_a_change_of_what_a_users_game_imports_is_seen(tmp_path):
    environment = {**os.environ, "ARENA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "user_game.py").write_text(USERS)
    script = "import user_game; from arena import games; print(games.playouts(user_game.Users(), 10, seed=1).wins)"

    def run(goal):
        (tmp_path / "user_constants.py").write_text(f"GOAL = {goal}\n")
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *(path or os.getcwd() for path in sys.path)])
    assert run("1.0") == "10" and run("-1.0") == "0"


USERS = """
from dataclasses import dataclass, fields, replace
from arena.games.tictactoe import TicTacToe
from user_constants import GOAL

@dataclass(frozen=True)
class Users(TicTacToe):
    def score(self, state):
        return GOAL
    def random_playout(self, state, moves, rng):
        return GOAL, 0
"""


def test_players_in_python_draw_from_the_stream_that_kernels_have():
    """By methods, from the same numbers as the functions; Fisher and Yates' shuffle reaches all orders alike."""
    rng, same = stream(3, "a"), stream(3, "a")
    assert [rng.below(6) for _ in range(20)] == [random_below(same, 6) for _ in range(20)]
    assert rng.uniform() == random_unit(same) and rng.uniform(2, 4) == 2 + 2 * random_unit(same)
    assert rng.choice("abc") == "abc"[random_below(same, 3)] and rng == same
    assert rng.below(1 << 32) == int(next_word(same)) >> 32
    orders = Counter()
    for _ in range(6000):
        items = [1, 2, 3]
        rng.shuffle(items)
        orders[tuple(items)] += 1
    assert len(orders) == 6 and min(orders.values()) > 850  # 1000 each, with a standard deviation of 29


@pytest.mark.parametrize("call, message", [
    (lambda rng: rng.integers(3), "rng has no integers; it has below"), (lambda rng: rng.random(), "rng has no random"),
    (lambda rng: rng.below(0), r"below\(0\): the bound can be 1"), (lambda rng: rng.choice([]), r"below\(0\)"),
])  # fmt: skip
def test_what_a_stream_has_not(call, message):
    with pytest.raises((AttributeError, ValueError), match=message):
        call(stream(1))
