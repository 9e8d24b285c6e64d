"""Learned playout policies: weights of move codes, moves drawn by the softmax of the weights, and adaptation.

    p(m) = exp(w[c(m)] / t + b(m)) / sum over legal m' of exp(w[c(m')] / t + b(m'))
    adapt:  w[c(m)] += alpha / t,  w[c(m')] -= alpha / t * p(m')  for the move m of a line and all m' legal beside it

p is that of the weights before the update, for the whole line (C. Rosin, "Nested rollout policy adaptation for Monte
Carlo tree search", IJCAI 2011).  The temperature t and the bias b(m), a game's own liking of a move, are of T. Cazenave,
"Generalized nested rollout policy adaptation" (2020); t = 1 and b = 0 is Rosin's policy.

Codes are their own numbers where a game has few; else an open-addressing table numbers them as they are met, so that
the weights are dense, a policy is copied quickly, and no two codes are ever mixed up.  `with_room` makes the table grow.

The odds exp(w / t) are kept beside the weights, so that a playout computes no exponentials.  Where a sum of odds is too
large or too small for that, the exponentials are computed after the largest exponent has been subtracted.
"""

from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import numpy as np

from games.core.game import CHANCE
from games.core.jit import Compilable, helper, inlined, kernel
from games.core.random import mix, random_unit

DIRECT = 1 << 16  # codes below this are their own numbers
FILLED = 0.5  # of a table's places, at most
LARGEST_BIAS = 600.0  # of either sign; what exceeds it counts as this
LEAST, MOST = 1e-280, 1e280  # sums of odds between these lose no digits


class Policy(NamedTuple):
    """Policies over the same numbers of codes: row i of weights and odds is policy i."""

    places: np.ndarray  # int64[size], 0 or a code + 1; size is a power of two, or 1 where codes are their own numbers
    numbers: np.ndarray  # int32[size], the number of the code in that place
    used: np.ndarray  # int64[1], numbers in use
    weights: np.ndarray  # float64[policies, capacity]
    odds: np.ndarray  # float64[policies, capacity], exp(weight / temperature)
    steps: np.ndarray  # float64[capacity], what an update adds to weights; 0 between updates


class Lines(NamedTuple):
    """Sequences of moves, with the numbers of all legal moves beside each, so that learning needs no replay."""

    moves: np.ndarray  # int32[lines, plies]
    players: np.ndarray  # int8[lines, plies], who made them
    chosen: np.ndarray  # int32[lines, plies], where in `numbers` the move's own stands
    ends: np.ndarray  # int32[lines, plies + 1], the numbers of ply i stand from ends[i] to ends[i + 1]
    numbers: np.ndarray  # int32[lines, plies * max_moves]
    bias: np.ndarray  # float64[lines, plies * max_moves], exp(bias) of each, or [1, 1] without
    length: np.ndarray  # int64[lines]
    sums: np.ndarray  # float64[max_moves], room to draw in


@dataclass(frozen=True)
class Coding(Compilable):
    """How a policy names moves; its fields are constants in kernels.

    features: by game.feature_code rather than game.move_code; direct: codes are their own numbers;
    biased: game.bias takes part.
    """

    features: bool = False
    direct: bool = True
    biased: bool = False

    def number(self, game, policy, state, move):
        """The number of a legal move's code."""
        code = game.feature_code(state, move) if self.features else game.move_code(state, move)
        return code if self.direct else number_of(policy, code)


def coding_for(game, features: bool, biased: bool = False) -> Coding:
    """The coding that suits a game."""
    return Coding(features, not features and game.code_limit <= DIRECT, biased)


def most_numbers(game) -> int:
    """The numbers that one line can hold."""
    return game.max_plies * game.max_moves


def new_policy(game, coding: Coding, policies: int) -> Policy:
    """Policies of which every weight is 0, with room for the codes of one line at least."""
    if coding.direct:
        size, capacity, used = 1, game.code_limit, game.code_limit
    else:
        size, used = 1 << int(np.ceil(np.log2(2 * most_numbers(game) / FILLED))), 0
        capacity = int(size * FILLED)
    # zeroed memory costs nothing before it is used; number_of writes the odds of a code that it numbers
    odds = np.ones((policies, capacity)) if coding.direct else np.zeros((policies, capacity))
    return Policy(
        np.zeros(size, np.int64),
        np.zeros(size, np.int32),
        np.array([used]),
        np.zeros((policies, capacity)),
        odds,
        np.zeros(capacity),
    )


def forget(policy: Policy, coding: Coding) -> None:
    """Make every weight 0 again; a table keeps its numbers."""
    used = policy.used[0]
    policy.weights[:, :used] = 0.0
    policy.odds[:, :used] = 1.0


def with_room(game, coding: Coding, policy: Policy, lines: int = 1) -> Policy:
    """The policy, or a larger one with the same weights if so many more lines might not find room."""
    capacity = len(policy.steps)
    if coding.direct or policy.used[0] + lines * most_numbers(game) <= capacity:
        return policy
    size = 2 * len(policy.places)
    larger = Policy(
        np.zeros(size, np.int64),
        np.zeros(size, np.int32),
        policy.used.copy(),
        *(np.concatenate([column, np.zeros_like(column)], axis=1) for column in (policy.weights, policy.odds)),
        np.zeros(2 * capacity),
    )
    rehash_kernel(game, policy, larger)
    return with_room(game, coding, larger, lines)


@kernel
def rehash_kernel(game, policy, larger):
    """Enter the codes of a table into a larger one, with the numbers that they have."""
    for i in range(len(policy.places)):
        if policy.places[i] != 0:
            place = place_of(larger, policy.places[i] - 1)
            larger.places[place], larger.numbers[place] = policy.places[i], policy.numbers[i]


def new_lines(game, lines: int, biased: bool = False) -> Lines:
    """Room for so many lines."""
    plies, room = game.max_plies, most_numbers(game)
    return Lines(
        np.zeros((lines, plies), np.int32),
        np.zeros((lines, plies), np.int8),
        np.zeros((lines, plies), np.int32),
        np.zeros((lines, plies + 1), np.int32),
        np.zeros((lines, room), np.int32),
        np.zeros((lines, room) if biased else (1, 1)),
        np.zeros(lines, np.int64),
        np.zeros(game.max_moves),
    )


def bytes_needed(game, coding: Coding, policies: int, lines: int) -> int:
    """The memory of new_policy and new_lines together, when all of it is used."""
    numbers = game.code_limit if coding.direct else 2 * most_numbers(game)
    line = most_numbers(game) * (12 if coding.biased else 4) + 13 * game.max_plies
    return numbers * (16 * policies + 32) + lines * line


@inlined
def place_of(policy, code):
    """The place of a code in the table, or the empty one where it would be."""
    mask = np.uint64(len(policy.places) - 1)
    place = mix(np.uint64(code)) & mask
    while policy.places[place] != 0 and policy.places[place] != code + 1:
        place = (place + np.uint64(1)) & mask
    return place


@inlined
def number_of(policy, code):
    """The number of a code; a code that is new gets the next one, and weight 0 in every policy."""
    place = place_of(policy, code)
    if policy.places[place] == 0:
        number = policy.used[0]
        policy.places[place], policy.numbers[place] = code + 1, number
        for row in range(len(policy.odds)):
            policy.weights[row, number], policy.odds[row, number] = 0.0, 1.0
        policy.used[0] = number + 1
    return np.int64(policy.numbers[place])


@inlined
def has_room(game, coding, policy, lines):
    """Whether the codes of so many more lines surely find room."""
    return coding.direct or policy.used[0] + lines * game.max_plies * game.max_moves <= len(policy.steps)


@inlined
def list_numbers(game, coding, policy, state, lines, line, ply, moves, count, scale):
    """Write the numbers of the legal `moves[:count]` of a ply into a line, and exp(scale * bias) of each if biased."""
    first = lines.ends[line, ply]
    for i in range(count):
        lines.numbers[line, first + i] = coding.number(game, policy, state, moves[i])
        if coding.biased:
            bias = scale * game.bias(state, moves[i])
            lines.bias[line, first + i] = exp(max(-LARGEST_BIAS, min(bias, LARGEST_BIAS)))
    lines.ends[line, ply + 1] = first + count


@inlined
def draw(coding, policy, row, lines, line, ply, temperature, rng):
    """Which of the legal moves of a ply to play, drawn by the softmax of policy `row`."""
    first, count = lines.ends[line, ply], lines.ends[line, ply + 1] - lines.ends[line, ply]
    total = 0.0
    for i in range(count):
        odds = policy.odds[row, lines.numbers[line, first + i]]
        total += odds * lines.bias[line, first + i] if coding.biased else odds
        lines.sums[i] = total
    if not LEAST < total < MOST:
        total = careful_sums(coding, policy, row, lines, line, ply, temperature)
    aim = random_unit(rng) * total
    choice = 0
    while choice < count - 1 and lines.sums[choice] <= aim:  # the last one, whatever rounding does
        choice += 1
    return choice


@helper
def careful_sums(coding, policy, row, lines, line, ply, temperature):
    """The sums of odds of a ply relative to the largest, where odds are out of range; returns the last sum."""
    largest, total = largest_exponent(coding, policy, row, lines, line, ply, temperature), 0.0
    first, end = lines.ends[line, ply], lines.ends[line, ply + 1]
    for place in range(first, end):
        total += exp(exponent(coding, policy, row, lines, line, place, temperature) - largest)
        lines.sums[place - first] = total
    return total


@helper
def exponent(coding, policy, row, lines, line, place, temperature):
    """w / t + b of the number in a place of a line."""
    value = policy.weights[row, lines.numbers[line, place]] / temperature
    return value + log(lines.bias[line, place]) if coding.biased else value


@helper
def largest_exponent(coding, policy, row, lines, line, ply, temperature):
    """The largest w / t + b of the legal moves of a ply."""
    largest = -np.inf
    for place in range(lines.ends[line, ply], lines.ends[line, ply + 1]):
        largest = max(largest, exponent(coding, policy, row, lines, line, place, temperature))
    return largest


@inlined
def adapt(coding, policy, row, lines, line, player, alpha, temperature):
    """Make the moves of `player` in a line likelier under policy `row`: the update at the top of the file."""
    gather_steps(coding, policy, row, lines, line, player, alpha, temperature)
    take_steps(policy, row, lines, line, player, temperature)


@inlined
def gather_steps(coding, policy, row, lines, line, player, alpha, temperature):
    """What the update adds for the moves of `player`, by the weights as they are."""
    for ply in range(lines.length[line]):
        if lines.players[line, ply] == player:
            add_steps(coding, policy, row, lines, line, ply, alpha / temperature, temperature)


@inlined
def take_steps(policy, row, lines, line, player, temperature):
    """Add what has been gathered to the weights of the codes that `player` could choose from."""
    for ply in range(lines.length[line]):
        if lines.players[line, ply] == player:
            for place in range(lines.ends[line, ply], lines.ends[line, ply + 1]):
                take_step(policy, row, lines.numbers[line, place], temperature)


@inlined
def add_steps(coding, policy, row, lines, line, ply, rate, temperature):
    """Gather what the update adds for the moves of one ply."""
    first, end = lines.ends[line, ply], lines.ends[line, ply + 1]
    total = 0.0
    for place in range(first, end):
        odds = policy.odds[row, lines.numbers[line, place]]
        total += odds * lines.bias[line, place] if coding.biased else odds
    if LEAST < total < MOST:
        scale = rate / total
        for place in range(first, end):
            odds = policy.odds[row, lines.numbers[line, place]]
            odds *= lines.bias[line, place] if coding.biased else 1.0
            policy.steps[lines.numbers[line, place]] -= scale * odds
    else:
        careful_steps(coding, policy, row, lines, line, ply, rate, temperature)
    policy.steps[lines.numbers[line, lines.chosen[line, ply]]] += rate


@helper
def careful_steps(coding, policy, row, lines, line, ply, rate, temperature):
    """Take the shares of `rate` off the moves of a ply, where their odds are out of range."""
    largest = largest_exponent(coding, policy, row, lines, line, ply, temperature)
    total = careful_sums(coding, policy, row, lines, line, ply, temperature)
    for place in range(lines.ends[line, ply], lines.ends[line, ply + 1]):
        share = exp(exponent(coding, policy, row, lines, line, place, temperature) - largest) / total
        policy.steps[lines.numbers[line, place]] -= rate * share


@inlined
def take_step(policy, row, number, temperature):
    """Add what has been gathered to a weight, once."""
    weight = policy.weights[row, number] + policy.steps[number]
    policy.steps[number] = 0.0
    if weight != policy.weights[row, number]:
        policy.weights[row, number] = weight
        policy.odds[row, number] = exp(weight / temperature)


@inlined
def copy_policy(policy, source, target):
    """Make policy `target` what policy `source` is."""
    for number in range(policy.used[0]):
        policy.weights[target, number] = policy.weights[source, number]
        policy.odds[target, number] = policy.odds[source, number]


@inlined
def play_line(game, coding, policy, row, state, lines, line, moves, options, rng):
    """Play to the end by policy `row`, behind what is in the line already; returns the score.

    options: temperature, and `bias`, the scale of the game's own.
    """
    ply = lines.length[line]
    while not game.is_over(state):
        lines.players[line, ply] = game.player(state)
        if game.has_chance and lines.players[line, ply] == CHANCE:
            move = np.int64(game.random_outcome(state, rng))
            lines.ends[line, ply + 1] = lines.ends[line, ply]
        else:
            count = game.legal_moves(state, moves)
            list_numbers(game, coding, policy, state, lines, line, ply, moves, count, options.bias)
            choice = draw(coding, policy, row, lines, line, ply, options.temperature, rng)
            lines.chosen[line, ply] = lines.ends[line, ply] + choice
            move = np.int64(moves[choice])
        lines.moves[line, ply] = move
        game.play(state, move)
        ply += 1
    lines.length[line] = ply
    return game.score(state)


@inlined
def copy_line(coding, lines, source, target):
    """Make line `target` what line `source` is."""
    length = lines.length[source]
    lines.length[target] = length
    for ply in range(length):
        lines.moves[target, ply] = lines.moves[source, ply]
        lines.players[target, ply] = lines.players[source, ply]
        lines.chosen[target, ply] = lines.chosen[source, ply]
        lines.ends[target, ply + 1] = lines.ends[source, ply + 1]
    for place in range(lines.ends[source, length]):
        lines.numbers[target, place] = lines.numbers[source, place]
        if coding.biased:
            lines.bias[target, place] = lines.bias[source, place]
