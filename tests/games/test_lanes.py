"""Lanes, compiled and in plain Python, and random playouts in them."""

import operator
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from arena import games
from arena.games.core.jit import kernel
from arena.games.core.lanes.lane_playout import lane_playout_kernel
from arena.games.core.lanes.lanes import (
    Lanes,
    LaneStream,
    Width,
    choose,
    is_any,
    is_positive,
    lane_numbers,
    lane_streams,
    largest,
    seeded,
    total,
    zero_lanes,
)
from arena.games.core.numbers.bits import nth_bit, popcount
from arena.games.core.play.observed import playouts_kernel
from arena.games.core.play.playout import playout_kernel
from arena.games.core.random import next_word, random_below, stream
from tests.shipped import GAMES

WIDTHS = [Width(8, 64), Width(4, 32), Width(2, 16)]


def lane_stream(width, rng):
    return LaneStream(width, seeded(width.words, rng))


@kernel
def mixed_kernel(width, rng, number, found):
    """Every operation on random lanes; each result is written as its lanes, one by one."""
    zero = zero_lanes(width)
    x, y = next_word(rng), next_word(rng)
    distance = y & (width.bits - 1)
    words = (
        x + y,
        x - y,
        x * y,
        x & y | number ^ ~x,
        x << distance,
        x >> distance,
        number << distance,
        -1 - x,
        choose(x < y, x, y),
        choose((x == y) | ~(x >= number) & (x != 3), 1, -1),
        choose(x > y, y, number),
        choose((x <= number) ^ is_positive(x), (x, zero), (y, lane_numbers(zero)))[1],
        popcount(x),
        nth_bit(x | 1, random_below(rng, popcount(x | 1))),
        nth_bit(x, 0),
        random_below(rng, 10),
        random_below(rng, y & 7),
    )
    for i in range(len(words)):
        for lane in range(width.count):
            found[i, lane] = total(choose(lane_numbers(zero) == lane, words[i], 0))
    sums = total(words[0]), largest(words[1])
    return sums, is_any(x == y), is_any(x != y), choose(number > np.uint64(5), 1, 2)


@pytest.mark.parametrize("width", WIDTHS, ids=str)
def test_compiled_equals_plain_python(width):
    for seed in range(5):
        ends = []
        for run in (mixed_kernel, mixed_kernel.py_func):
            rng, found = lane_stream(width, stream(seed)), np.zeros((17, width.count), np.int64)
            ends.append((run(width, rng, np.uint64(12345), found), rng.state.tolist(), found.tolist()))
        assert ends[0] == ends[1]


def test_xoroshiro_reference():
    """xoroshiro128++ as its authors write it, in whole numbers."""
    ones = (1 << 64) - 1

    def turned(x, n):
        return (x << n | x >> 64 - n) & ones

    rng = lane_stream(Width(2, 64), stream(7))
    pairs = [[int(rng.state[i]), int(rng.state[i + 2])] for i in range(2)]
    for _ in range(3):
        expected = []
        for pair in pairs:
            first, second = pair
            expected.append(turned(first + second & ones, 17) + first & ones)
            second ^= first
            pair[:] = turned(first, 49) ^ second ^ second << 21 & ones, turned(second, 28)
        assert next_word(rng).words.tolist() == expected


def test_streams_of_lanes_start_from_a_stream():
    """Each generator from two of its draws, in whatever vectors."""
    first, second, third = stream(1), stream(1), stream(1)
    a, b, c, d = (int(next_word(first)) for _ in range(4))
    assert lane_streams(2, 64, second, 128).states.tolist() == [[a, c, b, d]] and first[0] == second[0]
    assert lane_streams(2, 64, third, 64).states.tolist() == [[a, b], [c, d]] and first[0] == third[0]


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_lanes_below_a_bound_are_uniform(bits):
    rng, counts = lane_stream(Width(64, bits), stream(bits)), np.zeros(7)
    for _ in range(500):
        counts += np.bincount(random_below(rng, 7).words.astype(np.int64), minlength=7)
    expected = 64 * 500 / 7
    assert ((counts - expected) ** 2 / expected).sum() < 22.5  # 6 degrees of freedom, one in a thousand


def test_what_has_no_meaning_is_refused():
    lanes, narrow = zero_lanes(Width(4, 64)), zero_lanes(Width(4, 16))
    with pytest.raises(TypeError, match="do not mix"):
        lanes + narrow
    with pytest.raises(TypeError, match="use choose"):
        bool(lanes == 0)

    @kernel
    def mixing_kernel(one, other):
        return zero_lanes(one) + zero_lanes(other)

    with pytest.raises(TypingError):
        mixing_kernel(Width(4, 64), Width(4, 16))


@pytest.mark.parametrize("operation", [operator.and_, operator.sub, operator.lshift])
def test_a_number_on_the_left(operation):
    """NumPy's numbers leave the operation to lanes."""
    assert operation(np.uint64(12), Lanes(np.array([1, 2], np.uint64))).words.tolist() == [
        operation(12, 1),
        operation(12, 2),
    ]


@njit
def nth_bits(word):
    """The bits of a word of three, one after the other."""
    return np.array([nth_bit(word, n) for n in range(3)])


def playouts_in_lanes(count, seed):
    game = games.make("connect4")
    return lane_playout_kernel(game, game.initial(), count, lane_streams(32, 64, stream(seed), 2048))


@pytest.mark.parametrize("count", [1, 31, 32, 100])
def test_any_count_is_played_exactly(count):
    wins, draws, score, plies = playouts_in_lanes(count, count)
    assert wins >= 0 and draws >= 0 and score == wins - (count - wins - draws) and 7 * count <= plies <= 42 * count


def test_playouts_are_in_lanes_where_a_game_has_them():
    """Of a position that is over, and in games without lanes, they are not."""
    game = games.make("connect4")
    wins, draws, score, plies = playouts_in_lanes(1000, 1)
    assert games.playouts(game, 1000, seed=1) == (1000, wins, draws, 1000 - wins - draws, score, plies)
    _, state = game.read_line("1212121")
    assert games.playouts(game, 10, seed=1, state=state) == (10, 10, 0, 0, 10.0, 0)
    assert games.make("hex(swap=true)").lanes == games.make("mnk").lanes == 0


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the processor's name is of x86-64")
def test_results_do_not_depend_on_the_processor(tmp_path):
    """The same playouts, compiled for a processor whose registers have 128 bits, and which cannot count bits or deposit
    them; in lanes, and one by one."""
    script = "from tests.games.test_lanes import playouts_in_lanes, nth_bits; print(playouts_in_lanes(1000, 1))\n"
    script += "assert (nth_bits(0b10110) == [2, 4, 16]).all()"
    poor = os.environ | {"NUMBA_CPU_NAME": "generic", "ARENA_CACHE_DIR": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", script], env=poor, capture_output=True, text=True, check=True).stdout
    assert found == f"{playouts_in_lanes(1000, 1)}\n"


@pytest.mark.slow
@pytest.mark.parametrize("spec", [name for name in GAMES if games.make(name).lanes] + ["mnk(rows=7, columns=7, k=4)"])
def test_ten_million_playouts_in_lanes_are_like_those_one_by_one(spec):
    """Wins, draws, mean score and mean length, within four standard errors."""
    count, game = 10_000_000, games.make(spec)
    wins, draws, score, plies, _ = playout_kernel(game, game.initial(), count, stream(1))
    summary = games.playouts(game, count, seed=2)
    scores, lengths = np.zeros(10_000), np.zeros(10_000, np.int64)  # for their deviations
    playouts_kernel(game, game.initial(), True, scores, lengths, stream(3))
    for one_by_one, in_lanes, sample in (
        (wins, summary.wins, scores > 0),
        (draws, summary.draws, scores == 0),
        (score, summary.score, scores),
        (plies, summary.plies, lengths),
    ):
        error = sample.std() * (2 / count) ** 0.5
        print(f"{spec}: {one_by_one / count:.6f} {in_lanes / count:.6f}, error {error:.6f}")
        assert abs(one_by_one - in_lanes) / count <= 4 * error
