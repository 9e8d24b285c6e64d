"""Learned playout policies: weights of move codes, moves drawn by the softmax of the weights, and adaptation.

    p(m) = exp(w[c(m)] / t + b(m)) / sum over legal m' of exp(w[c(m')] / t + b(m'))
    adapt:  w[c(m)] += alpha / t,  w[c(m')] -= alpha / t * p(m')  for the move m of a line and all legal m'

An update takes p from the weights before it, for the whole line (C. Rosin, "Nested rollout policy adaptation for Monte
Carlo tree search", IJCAI 2011).  The temperature t and a game's own bias b(m) are from T. Cazenave, "Generalized nested
rollout policy adaptation" (2020); t = 1 and b = 0 give Rosin's policy.

Few codes are their own numbers; else an open-addressing table numbers codes as they are met, so that weights are dense
and no two codes share one.  Memory is provided as it is written to, so the table begins in a few of its places and
doubles as it fills.

The odds exp(w / t) are stored, so that playouts compute no exponentials.  Where a sum of odds exceeds a float's range,
exponentials are computed relative to the largest exponent.

Indices are unsigned: the test whether a signed one counts from the end takes a tenth of a search's time.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.games.core.game import CHANCE
from arena.games.core.jit import Compilable, helper, inlined
from arena.games.core.numbers.bits import ONE
from arena.games.core.numbers.elementary import exp, log
from arena.games.core.random import mix, random_unit

DIRECT = 1 << 16  # codes below are their own numbers
FIRST_PLACES = 1 << 10  # of an empty table
PER_CODE = 4  # places, at least: with two, searches of small games take a tenth longer
LARGEST_BIAS = 600.0  # larger ones of either sign are cut to this
LEAST, MOST = 1e-280, 1e280  # sums of odds between these lose no digits


class Policy(NamedTuple):
    """Policies over the same codes: row i of weights and odds is policy i."""

    places: np.ndarray  # int32[size], 0 or a number + 1; size is a power of two, or 1 if codes are their own numbers
    codes: np.ndarray  # int64[capacity], of each number; int64[1] if codes are their own numbers
    spread: np.ndarray  # int64[1], how many places the table uses so far, a power of two
    used: np.ndarray  # int64[1], numbers in use
    weights: np.ndarray  # float64[policies, capacity]
    odds: np.ndarray  # float64[policies, capacity], exp(weight / temperature)
    steps: np.ndarray  # float64[capacity], changes of weights; 0 between updates


class Lines(NamedTuple):
    """Sequences of moves and their legal alternatives, so that learning needs no replay."""

    moves: np.ndarray  # int32[lines, plies]
    players: np.ndarray  # int8[lines, plies]
    chosen: np.ndarray  # uint32[lines, plies], the place in `numbers` of the move made
    ends: np.ndarray  # uint32[lines, plies + 1], ply i has the numbers from ends[i] to ends[i + 1]
    numbers: np.ndarray  # uint32[lines, plies * max_moves]
    bias: np.ndarray  # float64[lines, plies * max_moves], exp(bias) of each; float64[1, 1] if not biased
    length: np.ndarray  # int64[lines]
    codes: np.ndarray  # int64[max_moves], of the moves listed last
    sums: np.ndarray  # float64[max_moves], of their odds, up to and including each
    stepped: np.ndarray  # uint32[lines * plies * max_moves + 1], the numbers with steps, some twice
    steps: np.ndarray  # int64[1], how many; 0 between updates


@dataclass(frozen=True)
class Coding(Compilable):
    """How a policy names moves; its fields are constants in kernels, where it is the parameter `coding`.

    features: names moves by game.feature_code rather than game.move_code; direct: codes are their own numbers;
    biased: game.bias takes part
    """

    features: bool = False
    direct: bool = True
    biased: bool = False

    def codes(self, game, state, moves, count, codes):
        if self.features:
            game.feature_codes(state, moves, count, codes)
        else:
            game.move_codes(state, moves, count, codes)


class Settings(NamedTuple):
    """The numbers of the formulas above."""

    alpha: float
    temperature: float
    bias: float = 0.0  # factor of the game's own bias


class Learner(NamedTuple):
    """Policies, and the lines that they play and learn from.

    The coding is apart: Numba takes a tenth of a millisecond to find the type of a bundle with such an object.
    """

    policy: Policy
    lines: Lines
    state: np.ndarray  # dtype[state_size], scratch
    moves: np.ndarray  # int32[max_moves], scratch
    settings: Settings


def check_positive(name: str, value: float) -> None:
    """ValueError that names the parameter unless it is above 0."""
    if not value > 0:
        raise ValueError(f"{name} = {value} is out of range: it is more than 0")


def coding_for(game, features: bool, biased: bool = False) -> Coding:
    """The coding that suits a game: direct if it has few codes."""
    return Coding(features, not features and game.code_limit <= DIRECT, biased)


def new_learner(game, coding: Coding, settings: Settings, *, policies: int, lines: int) -> Learner:
    """Policies with weights 0 and room for the codes of two lines, and empty lines."""
    state, moves = np.zeros(game.state_size, game.dtype), np.zeros(game.max_moves, np.int32)
    policy = _new_policy(game, coding, policies)
    return Learner(policy, _new_lines(game, lines, coding.biased), state, moves, settings)


def most_numbers(game) -> int:
    """The most numbers that one line can hold."""
    return game.max_plies * game.max_moves


def _new_policy(game, coding, policies):
    if coding.direct:
        return _empty_policy(policies, game.code_limit, 1, used=game.code_limit)
    size = 1 << (PER_CODE * most_codes(game, coding, 0, 2) - 1).bit_length()
    return _empty_policy(policies, size // PER_CODE, size)


def _empty_policy(policies, capacity, size, used=0):
    """Zeroed memory costs nothing before it is used."""
    weights, odds, steps = np.zeros((policies, capacity)), np.zeros((policies, capacity)), np.zeros(capacity)
    odds[:, :used] = 1.0  # number_of writes those of a new code
    places, codes = np.zeros(size, np.int32), np.zeros(1 if size == 1 else capacity, np.int64)
    return Policy(places, codes, np.array([min(size, FIRST_PLACES)]), np.array([used]), weights, odds, steps)


def _new_lines(game, lines, biased):
    plies, numbers = game.max_plies, most_numbers(game)
    return Lines(
        np.zeros((lines, plies), np.int32),
        np.zeros((lines, plies), np.int8),
        np.zeros((lines, plies), np.uint32),
        np.zeros((lines, plies + 1), np.uint32),
        np.zeros((lines, numbers), np.uint32),
        np.zeros((lines, numbers) if biased else (1, 1)),
        np.zeros(lines, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves),
        np.zeros(lines * numbers + 1, np.uint32),
        np.zeros(1, np.int64),
    )


def forget(learner: Learner) -> None:
    """Set every weight to 0; a table keeps its numbers."""
    used = learner.policy.used[0]
    learner.policy.weights[:, :used] = 0.0
    learner.policy.odds[:, :used] = 1.0


def with_room(game, coding: Coding, learner: Learner, lines: int = 1) -> Learner:
    """The learner, or a copy with larger tables if `lines` more lines might not fit."""
    policy = learner.policy
    used, capacity = int(policy.used[0]), len(policy.steps)
    needed = used if coding.direct else most_codes(game, coding, used, lines)
    if needed <= capacity:
        return learner
    times = 1 << ((needed - 1) // capacity).bit_length()
    larger = _empty_policy(len(policy.odds), times * capacity, times * len(policy.places))
    for name, count in {"places": policy.spread[0], "codes": used, "weights": used, "odds": used}.items():
        getattr(larger, name)[..., :count] = getattr(policy, name)[..., :count]
    return learner._replace(policy=larger._replace(spread=policy.spread.copy(), used=policy.used.copy()))


def bytes_needed(game, coding: Coding, *, policies: int, lines: int) -> int:
    """The memory of a new learner once all of it is used."""
    numbers = game.code_limit if coding.direct else most_codes(game, coding, 0, 2)
    line = most_numbers(game) * (16 if coding.biased else 8) + 13 * game.max_plies
    return numbers * (16 * policies + 32) + lines * line


@inlined
def place_of(policy, code):
    """The place of a code, or the empty one where it belongs: linear probing."""
    last = np.uint64(policy.spread[0] - 1)
    place = mix(np.uint64(code)) & last
    while policy.places[place] != 0 and policy.codes[np.uint64(policy.places[place]) - ONE] != code:
        place = (place + ONE) & last
    return place


@helper
def number_of(policy, code):
    """The number of a code; a new code gets the next number, and weight 0."""
    place = place_of(policy, code)
    if policy.places[place] == 0:
        number = policy.used[0]
        policy.places[place], policy.codes[number] = number + 1, code
        for row in range(len(policy.odds)):
            policy.weights[row, number], policy.odds[row, number] = 0.0, 1.0
        policy.used[0] = number + 1
        if PER_CODE * (number + 1) > policy.spread[0]:
            spread_out(policy)
        return number
    return np.int64(policy.places[place]) - 1


@helper
def spread_out(policy):
    """Spread the table over twice as many places."""
    policy.spread[0] *= 2
    for place in range(policy.spread[0]):
        policy.places[place] = 0
    for number in range(policy.used[0]):
        policy.places[place_of(policy, policy.codes[number])] = number + 1


@inlined
def most_codes(game, coding, used, lines):
    """The most codes in a table of `used` codes after that many more lines."""
    most = used + lines * game.max_plies * game.max_moves
    return most if coding.features else min(most, game.code_limit)


@inlined
def has_room(game, coding, learner, lines):
    """Whether the codes of `lines` more lines surely fit."""
    policy = learner.policy
    return coding.direct or most_codes(game, coding, policy.used[0], lines) <= len(policy.steps)


@inlined
def list_legal(game, coding, learner, row, line, ply, state):
    """Write the legal moves into learner.moves, and their numbers into a line at a ply; returns how many.

    Also writes the sums of their odds under policy `row` and, if biased, exp(bias) of each.
    """
    lines, policy, moves, first = learner.lines, learner.policy, learner.moves, np.int64(learner.lines.ends[line, ply])
    count, total = game.legal_moves(state, moves), 0.0
    coding.codes(game, state, moves, count, lines.codes)
    for i in range(count):
        code = lines.codes[i]
        number = np.uint32(code if coding.direct else number_of(policy, code))
        lines.numbers[line, first + i] = number
        odds = policy.odds[row, number]
        if coding.biased:
            bias = learner.settings.bias * game.bias(state, moves[i])
            lines.bias[line, first + i] = exp(max(-LARGEST_BIAS, min(bias, LARGEST_BIAS)))
            odds *= lines.bias[line, first + i]
        total += odds
        lines.sums[i] = total
    lines.ends[line, ply + 1] = first + count
    return count


@inlined
def write_move(game, coding, learner, line, ply, state, move):
    """Write a move about to be made, and its alternatives, into a line."""
    lines = learner.lines
    lines.players[line, ply] = game.player(state)
    lines.moves[line, ply] = move
    lines.ends[line, ply + 1] = lines.ends[line, ply]
    if not (game.has_chance and lines.players[line, ply] == CHANCE):
        list_legal(game, coding, learner, 0, line, ply, state)
        place = 0
        while learner.moves[place] != move:
            place += 1
        lines.chosen[line, ply] = np.int64(lines.ends[line, ply]) + place


@inlined
def draw(coding, learner, row, line, ply, count, rng):
    """The index of one of the `count` moves listed last, drawn by the softmax of policy `row`."""
    sums = learner.lines.sums
    total = sums[count - 1]
    if not LEAST < total < MOST:
        total = careful_sums(coding, learner, row, line, ply)
    aim = random_unit(rng) * total
    choice = 0
    while choice < count - 1 and sums[choice] <= aim:  # rounding cannot pass the last one
        choice += 1
    return choice


@inlined
def draw_move(game, coding, learner, row, line, ply, state, rng):
    """A legal move, int64, drawn by policy `row`; its index goes into the line."""
    count = list_legal(game, coding, learner, row, line, ply, state)
    choice = draw(coding, learner, row, line, ply, count, rng)
    learner.lines.chosen[line, ply] = np.int64(learner.lines.ends[line, ply]) + choice
    return np.int64(learner.moves[choice])


@helper
def careful_sums(coding, learner, row, line, ply):
    """`sums` relative to the largest, for odds out of range; returns the last sum."""
    lines = learner.lines
    largest, total = largest_exponent(coding, learner, row, line, ply), 0.0
    first, end = np.int64(lines.ends[line, ply]), np.int64(lines.ends[line, ply + 1])
    for place in range(first, end):
        total += exp(exponent(coding, learner, row, line, place) - largest)
        lines.sums[place - first] = total
    return total


@helper
def exponent(coding, learner, row, line, place):
    """w / t + b."""
    value = learner.policy.weights[row, learner.lines.numbers[line, place]] / learner.settings.temperature
    return value + log(learner.lines.bias[line, place]) if coding.biased else value


@helper
def largest_exponent(coding, learner, row, line, ply):
    """The largest w / t + b of the legal moves of a ply."""
    largest = -np.inf
    for place in range(np.int64(learner.lines.ends[line, ply]), np.int64(learner.lines.ends[line, ply + 1])):
        largest = max(largest, exponent(coding, learner, row, line, place))
    return largest


@inlined
def adapt(coding, learner, row, line, player):
    """Make `player`'s moves in a line likelier under policy `row`."""
    gather_steps(coding, learner, row, line, player)
    take_steps(learner, row)


@inlined
def gather_steps(coding, learner, row, line, player):
    """Gather the update's steps by the weights as they are."""
    for ply in range(learner.lines.length[line]):
        if learner.lines.players[line, ply] == player:
            add_steps(coding, learner, row, line, ply)


@inlined
def take_steps(learner, row):
    """Add the gathered steps to the weights."""
    lines, policy = learner.lines, learner.policy
    for i in range(lines.steps[0]):
        number = lines.stepped[i]
        weight = policy.weights[row, number] + policy.steps[number]
        policy.steps[number] = 0.0
        if weight != policy.weights[row, number]:
            policy.weights[row, number] = weight
            policy.odds[row, number] = exp(weight / learner.settings.temperature)
    lines.steps[0] = 0


@inlined
def add_steps(coding, learner, row, line, ply):
    """Gather the update's steps for the moves of one ply."""
    lines, policy, rate = learner.lines, learner.policy, learner.settings.alpha / learner.settings.temperature
    first, end = np.int64(lines.ends[line, ply]), np.int64(lines.ends[line, ply + 1])
    total = 0.0
    for place in range(first, end):
        odds = policy.odds[row, lines.numbers[line, place]]
        total += odds * lines.bias[line, place] if coding.biased else odds
    if LEAST < total < MOST:
        scale, steps = rate / total, lines.steps[0]
        for place in range(first, end):
            number = lines.numbers[line, place]
            odds = policy.odds[row, number]
            odds *= lines.bias[line, place] if coding.biased else 1.0
            steps = lower(learner, number, scale * odds, steps)
        lines.steps[0] = steps
    else:
        careful_steps(coding, learner, row, line, ply)
    policy.steps[lines.numbers[line, lines.chosen[line, ply]]] += rate


@inlined
def lower(learner, number, by, steps):
    """Gather a step that lowers a weight; returns how many numbers are then listed, `steps` so far."""
    before = learner.policy.steps[number]
    learner.lines.stepped[steps] = number  # twice if its steps add up to 0: a branch would cost more
    learner.policy.steps[number] = before - by
    return steps + (before == 0.0)


@helper
def careful_steps(coding, learner, row, line, ply):
    """`add_steps` without the step of the move made, for odds out of range."""
    lines, rate = learner.lines, learner.settings.alpha / learner.settings.temperature
    largest, total = largest_exponent(coding, learner, row, line, ply), careful_sums(coding, learner, row, line, ply)
    for place in range(np.int64(lines.ends[line, ply]), np.int64(lines.ends[line, ply + 1])):
        share = exp(exponent(coding, learner, row, line, place) - largest) / total
        lines.steps[0] = lower(learner, lines.numbers[line, place], rate * share, lines.steps[0])


@inlined
def empty_policy(policy, row):
    """Set the weights of one policy to 0."""
    for number in range(policy.used[0]):
        policy.weights[row, number], policy.odds[row, number] = 0.0, 1.0


@inlined
def copy_policy(policy, source, target):
    """Make policy `target` a copy of policy `source`."""
    for number in range(policy.used[0]):
        policy.weights[target, number] = policy.weights[source, number]
        policy.odds[target, number] = policy.odds[source, number]


@inlined
def play_line(game, coding, learner, row, line, state, rng):
    """Play to the end by policy `row`, adding to the line; returns the score."""
    lines, ply = learner.lines, learner.lines.length[line]
    while not game.is_over(state):
        lines.players[line, ply] = game.player(state)
        if game.has_chance and lines.players[line, ply] == CHANCE:
            move = np.int64(game.random_outcome(state, rng))
            lines.ends[line, ply + 1] = lines.ends[line, ply]
        else:
            move = draw_move(game, coding, learner, row, line, ply, state, rng)
        lines.moves[line, ply] = move
        game.play(state, move)
        ply += 1
    lines.length[line] = ply
    return game.score(state)


@inlined
def copy_line(coding, learner, source, target):
    """Make line `target` a copy of line `source`."""
    lines, length = learner.lines, learner.lines.length[source]
    lines.length[target] = length
    for ply in range(length):
        lines.moves[target, ply] = lines.moves[source, ply]
        lines.players[target, ply] = lines.players[source, ply]
        lines.chosen[target, ply] = lines.chosen[source, ply]
        lines.ends[target, ply + 1] = lines.ends[source, ply + 1]
    for place in range(np.int64(lines.ends[source, length])):
        lines.numbers[target, place] = lines.numbers[source, place]
        if coding.biased:
            lines.bias[target, place] = lines.bias[source, place]
