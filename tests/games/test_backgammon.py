"""Backgammon: published counts, a naive player who tries every order of the dice, names, and the ends."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from arena import agents, games
from arena.games.backgammon import DICE, TURN
from arena.games.core.boards.drawing import CELL
from arena.games.core.game import CHANCE
from arena.games.core.play.observed import random_line, view

GAME = games.make("backgammon")
pytestmark = pytest.mark.plain


def rolled(state, roll):
    """The same position with a roll to be played, by its name."""
    after, number = state.copy(), ["".join(map(str, dice)) for dice in DICE.tolist()].index(roll)
    after[TURN] = after[TURN] & np.uint64(1) | np.uint64(number + 1 << 1 | 1 << 8)
    return after


def position(first, second, side=0):
    """A state from {point: checkers} of both players; those that are missing are off the board."""
    state = GAME.initial()
    state[:] = 0
    for i, points in enumerate((first, second)):
        planes = [0] * 4
        for point, count in {0: 15 - sum(points.values()), **points}.items():
            for bit in range(4):
                planes[bit] |= (count >> bit & 1) << point
        GAME.keep(state, i, tuple(map(np.uint64, planes)))
    state[TURN] = side | 1 << 8
    return state


# -- A naive player: lists of checkers by point, every order of the dice ---------------------------------------------


def step(ours, theirs, origin, die):
    """(ours, theirs) after a step, tuples of 26 numbers; None if it is illegal."""
    if ours[origin] == 0 or (ours[25] and origin != 25):
        return None
    target = origin - die
    if target <= 0:
        highest = max(p for p in range(1, 26) if ours[p])
        if highest > 6 or (target < 0 and highest != origin):
            return None
        target = 0
    elif theirs[25 - target] > 1:
        return None
    ours, theirs = list(ours), list(theirs)
    ours[origin] -= 1
    ours[target] += 1
    if target and theirs[25 - target] == 1:
        theirs[25 - target] = 0
        theirs[25] += 1
    return tuple(ours), tuple(theirs)


def naive_plays(ours, theirs, dice):
    """The positions after all legal plays of a roll."""
    found = {}  # position -> the most dice played to it, the largest of which
    orders = {dice, dice[::-1]} if dice[0] != dice[1] else {dice * 2}

    def go_on(position, left, played):
        found.setdefault(len(played), {}).setdefault(position, set()).add(max(played, default=0))
        if left:
            for origin in range(1, 26):
                after = step(*position, origin, left[0])
                if after:
                    go_on(after, left[1:], (*played, left[0]))

    for order in orders:
        go_on((ours, theirs), order, ())
    most = found[max(found)]
    if max(found) == 1:
        largest = max(max(dice) for dice in most.values())
        return {position for position, dice in most.items() if largest in dice}
    return set(most)


def counts_of(state):
    side = GAME.side(state)
    return tuple(tuple(GAME.checkers(state, s)) for s in (side, 1 - side))


def assert_plays_are_naive(state):
    dice = tuple(DICE[GAME.roll(state)].tolist())
    moves = view(GAME, state, 1).moves.tolist()
    found = []
    for move in moves:
        after = state.copy()
        GAME.play(after, move)
        found.append(tuple(tuple(GAME.checkers(after, s)) for s in (GAME.side(state), 1 - GAME.side(state))))
    assert len(set(found)) == len(found)
    assert set(found) == naive_plays(*counts_of(state), dice), GAME.render(state)


@pytest.mark.parametrize("lines, races", [(1, 15), pytest.param(3, 60, marks=pytest.mark.slow)])
def test_plays_are_those_of_a_naive_player(lines, races):
    """Along random games, and in races, where bearing off makes the order of the dice matter."""
    random, seen, chosen = np.random.default_rng(1), 0, 12 if lines == 1 else 25
    for seed in range(lines):
        states = [state for state in random_line(GAME, seed).states if GAME.roll(state) >= 0]
        for i in random.choice(len(states), chosen, replace=False):
            assert_plays_are_naive(states[i])
            seen += 1
    for _ in range(races):
        ours = random.multinomial(random.integers(1, 9), [1 / 8] * 8)
        theirs = random.multinomial(random.integers(1, 9), [1 / 6] * 6)
        first = {p + 1: int(n) for p, n in enumerate(ours) if n}
        second = {int(p): int(n) for p, n in zip([1, 2, 18, 20, 21, 25], theirs) if n and 25 - p not in first}
        roll = "".join(map(str, DICE[random.integers(21)]))
        assert_plays_are_naive(rolled(position(first, second), roll))
        seen += 1
    assert seen == chosen * lines + races


@pytest.mark.slow
def test_plays_are_those_of_a_naive_player_in_thousands_of_positions():
    for seed in range(60):
        for state in random_line(GAME, 100 + seed).states:
            if GAME.roll(state) >= 0 and sum(GAME.checkers(state, GAME.side(state))[1:]) < 16:
                assert_plays_are_naive(state)


OPENINGS = {
    "21": 15, "31": 16, "32": 17, "41": 14, "42": 18, "43": 17, "51": 8, "52": 8, "53": 9, "54": 9, "61": 10, "62": 14,
    "63": 14, "64": 14, "65": 7, "11": 42, "22": 75, "33": 73, "44": 52, "55": 4, "66": 11,
}  # fmt: skip


def test_positions_after_each_first_roll():
    found = {roll: len(GAME.moves(rolled(GAME.initial(), roll))) for roll in OPENINGS}
    assert found == OPENINGS and sum(found.values()) == 447


@pytest.mark.parametrize(
    "first, second, roll, plays",
    [
        ({13: 1}, {23: 2}, "65", {"13/7"}),  # one die of the two: the larger
        ({13: 1}, {18: 2, 23: 2}, "65", {"13/8"}),
        ({2: 2}, {1: 1}, "65", {"2/off(2)"}),
        ({5: 1, 2: 1}, {1: 1}, "61", {"5/off,2/1", "5/4,4/off"}),
        ({7: 1, 3: 1}, {1: 1}, "61", {"7/1,3/2", "7/1,1/off"}),
        ({25: 1, 6: 1}, {6: 2, 5: 2}, "65", {"pass"}),
        ({25: 2, 6: 1}, {6: 2}, "65", {"bar/20"}),
        (
            {25: 1, 13: 1},
            {3: 1},
            "33",
            {
                "bar/22*,22/19,19/16,16/13",
                "bar/22*,22/19,19/16,13/10",
                "bar/22*,22/19,13/10,10/7",
                "bar/22*,13/10,10/7,7/4",
            },
        ),
    ],
)
def test_plays_of_positions(first, second, roll, plays):
    state = rolled(position(first, second), roll)
    assert {GAME.move_name(state, move) for move in GAME.moves(state)} == plays
    assert_plays_are_naive(state)


@pytest.mark.parametrize(
    "second, score",
    [({3: 14}, 1), ({3: 15}, 2), ({18: 15}, 2), ({18: 14, 19: 1}, 3), ({3: 14, 25: 1}, 3), ({3: 13, 25: 1}, 1)],
)
def test_gammons_and_backgammons(second, score):
    state = rolled(position({1: 1}, second), "21")
    after = GAME.after(state, GAME.parse_move(state, "1/off"))
    assert GAME.is_over(after) and GAME.score(after) == score
    state = rolled(position(second, {1: 1}, side=1), "21")
    after = GAME.after(state, GAME.parse_move(state, "1/off"))
    assert GAME.is_over(after) and GAME.score(after) == -score


def test_chance():
    moves, probabilities = np.empty(GAME.max_moves, np.int32), np.empty(GAME.max_moves)
    state = GAME.initial()
    assert GAME.player(state) == CHANCE and GAME.chance(state, moves, probabilities) == 15
    assert [GAME.move_name(state, move) for move in moves[:4]] == ["21", "31", "32", "41"]
    state = GAME.read_line("31 8/5,6/5")[1]
    count = GAME.chance(state, moves, probabilities)
    shares = {GAME.move_name(state, m): Fraction(p).limit_denominator(99) for m, p in zip(moves, probabilities[:count])}
    both = {tuple(sorted(dice)) for dice in itertools.product(range(1, 7), repeat=2)}
    assert shares == {f"{b}{a}": Fraction(1, 36) if a == b else Fraction(1, 18) for a, b in both}


def test_horizon():
    game = games.make("backgammon(horizon=1)")
    state = game.read_line("31 8/5,6/5")[1]
    assert game.is_over(state) and game.score(state) == 0 and game.plies_left(game.initial()) == 2


def test_names():
    state = GAME.read_line("13 6/5,8/5 66")[1]
    names = [GAME.move_name(state, move) for move in GAME.moves(state)]
    assert "24/18(2),13/7(2)" in names and len(names) == len(set(names))
    assert GAME.move_name(state, GAME.parse_move(state, "13/7(2),24/18(2)")) == "24/18(2),13/7(2)"
    state = GAME.read_line("31 8/5,6/5 46")[1]
    for text in ("24/18/14", "24/14", "18/14,24/18"):
        assert GAME.move_name(state, GAME.parse_move(state, text)) == "24/18,18/14"
    blot = GAME.read_line("21 13/11,6/5 64")[1]  # a blot on the other's 20
    assert GAME.move_name(blot, GAME.parse_move(blot, "24/18,24/20")) == "24/20*,24/18"
    for text in ("24/17", "24/18(5)", "24/", "31", "bar/24", ""):
        with pytest.raises(games.IllegalMove, match="is not a legal move"):
            GAME.parse_move(state, text)


def test_two_ways_of_one_checker_that_differ_by_a_hit():
    state = rolled(position({24: 1, 1: 14}, {5: 1, 1: 14}), "43")
    names = {GAME.move_name(state, move) for move in GAME.moves(state)}
    assert {"24/20*,20/17", "24/21,21/17"} <= names
    with pytest.raises(games.IllegalMove):
        GAME.parse_move(state, "24/17")


def test_evaluation_and_drawing():
    state = GAME.read_line("21 13/11,6/5")[1]  # blots on 5 and 11, and 164 pips to 167
    assert GAME.evaluate_pips(state) == 3 / 53
    assert GAME.terms(state) == [("pips", 164, 167, -1.0), ("blots", 34, 0, -0.25)]
    assert GAME.evaluate(state) == (3 - 8.5) / 55.5
    assert GAME.render(state).splitlines()[-2:] == ["X: bar 0, off 0, 164 pips", "O: bar 0, off 0, 167 pips, to roll"]


# -- On the drawing ----------------------------------------------------------------------------------------------------


def walked(state, path):
    """The steps of a way to click a move, as its player counts."""
    names = [GAME.point_name(state, point) for point in path]
    points = [{"bar": 25, "off": 0}.get(name) if name in ("bar", "off") else int(name) for name in names]
    return list(zip(points[::2], points[1::2]))


def naive_clicks(state):
    """{position: ways to click, as lists of steps}, from every order of steps and dice that a naive player tries."""
    side, dice = GAME.side(state), tuple(DICE[GAME.roll(state)].tolist())
    ours, theirs = (tuple(GAME.checkers(state, s)) for s in (side, 1 - side))
    legal, found = naive_plays(ours, theirs, dice), {}

    def go_on(position, left, steps):
        if position in legal and steps:
            found.setdefault(position, set()).add(steps)
        for origin in range(1, 26) if left else ():
            after = step(*position, origin, left[0])
            if after:
                go_on(after, left[1:], (*steps, (origin, max(origin - left[0], 0))))

    for order in {dice, dice[::-1]} if dice[0] != dice[1] else {dice * 2}:
        go_on((ours, theirs), order, ())
    most = max((len(steps) for ways in found.values() for steps in ways), default=0)  # as many as can be played
    return {after: {steps for steps in ways if len(steps) == most} for after, ways in found.items()}


def assert_clicks_are_naive(state):
    """The ways to click the moves are the naive player's, each once, within the drawing."""
    naive, drawing = naive_clicks(state), GAME.drawing(state, [])
    for move in GAME.moves(state):
        after, side, paths = state.copy(), GAME.side(state), GAME.move_paths(state, move)
        GAME.play(after, move)
        ways = [tuple(walked(state, path)) for path in paths]
        key = tuple(tuple(GAME.checkers(after, s)) for s in (side, 1 - side))
        assert len(set(ways)) == len(ways) and set(ways) == naive.pop(key, set()), GAME.move_name(state, move)
        assert all(0 < x < drawing.width and 0 < y < drawing.height for path in paths for x, y in path)
    assert naive == {}  # every other one leads elsewhere


def test_clicks_are_those_of_a_naive_player():
    random = np.random.default_rng(2)
    states = [state for seed in range(4) for state in random_line(GAME, seed).states if GAME.roll(state) >= 0]
    for i in random.choice(len(states), 100, replace=False):
        assert_clicks_are_naive(states[i])
    for roll in OPENINGS:
        assert_clicks_are_naive(rolled(GAME.initial(), roll))
    for first in ({6: 1, 5: 2, 2: 1}, {6: 1}, {25: 1, 13: 1}, {25: 2, 1: 1}, {7: 1, 6: 1}):
        for roll in OPENINGS:
            assert_clicks_are_naive(rolled(position(first, {1: 2, 2: 1}), roll))
            assert_clicks_are_naive(rolled(position({1: 2, 2: 1}, first, side=1), roll))


def test_clicks_of_an_opening():
    state = GAME.read_line("64")[1]
    ways = {GAME.move_name(state, move): [walked(state, path) for path in GAME.move_paths(state, move)]
            for move in GAME.moves(state)}  # fmt: skip
    assert ways["24/18,13/9"] == [[(24, 18), (13, 9)], [(13, 9), (24, 18)]]
    assert ways["24/18,18/14"] == [[(24, 18), (18, 14)], [(24, 20), (20, 14)]]
    state = GAME.read_line("31 8/5,6/5 66")[1]
    double = GAME.move_paths(state, GAME.parse_move(state, "24/18(2),13/7(2)"))
    assert len(double) == 6 and all(len(path) == 8 for path in double)
    bar = rolled(position({25: 1, 1: 14}, {18: 15}), "21")
    points = {point for move in GAME.moves(bar) for path in GAME.move_paths(bar, move) for point in path[:1]}
    assert points == {GAME.middle(25, 0)} and 6 * CELL < GAME.middle(25, 0)[0] < 7 * CELL
    assert GAME.middle(1, 0) == GAME.middle(24, 1) and GAME.middle(0, 0) != GAME.middle(0, 1)


def test_expectiminimax_makes_a_point():
    state = GAME.read_line("31")[1]
    assert GAME.move_name(state, agents.make("expectiminimax(depth=2)").choose(GAME, state, seed=1).move) == "8/5,6/5"


def test_bad_parameters():
    with pytest.raises(games.SpecError, match="horizon = 0 is out of range: it can be 1 to 100000"):
        games.make("backgammon(horizon=0)")
