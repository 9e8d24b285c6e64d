"""What the order of moves does: alpha-beta's ends beside a naive alpha-beta, and beside theory."""

import itertools
import json

import numpy as np
import pytest

import games
from agents.core.agent import Unsuited
from arena.study.orders import (
    Limit,
    all_positions,
    best_ends,
    check_tree,
    ends_visited,
    game_rows,
    in_order,
    levels_of,
    paths,
    random_ends,
    tree_rows,
)
from tests.typed import as_json, call

UNLIMITED = Limit(600, lambda text: None)


def naive(ends, alpha=-np.inf, beta=np.inf):
    """(value for the player to move, ends visited) of nested lists, by alpha-beta in the form of negamax."""
    if not isinstance(ends, list):
        return ends, 1
    visited = 0
    for child in ends:
        value, count = naive(child, -beta, -alpha)
        visited, alpha = visited + count, max(alpha, -value)
        if alpha >= beta:
            break
    return alpha, visited


def for_max(ends):
    """The same of ends that are worth so much for MAX, who moves at the root; they may be an array."""
    ends = np.asarray(ends)
    sign = 1 if ends.ndim % 2 == 0 else -1
    value, visited = naive((sign * ends).tolist())
    return value, visited


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (2, 5), (3, 4), (5, 3), (4, 4)])
def test_ends_are_those_of_alpha_beta(branching, depth):
    source = np.random.default_rng(branching)
    for _ in range(20):
        ends = source.random((branching,) * depth)
        for tree in (ends, in_order(ends, True), in_order(ends, False)):
            value, visited = for_max(tree)
            assert ends_visited(tree) == visited and levels_of(tree)[0] == value == levels_of(ends)[0]
            assert sorted(tree.ravel()) == sorted(ends.ravel())
        assert ends_visited(in_order(ends, True)) == best_ends(branching, depth)


def test_values_are_sorted_at_each_node():
    ends = in_order(np.random.default_rng(1).random((3, 3, 3, 3)), True)
    for level, values in enumerate(levels_of(ends)[1:]):
        steps = np.diff(values, axis=-1)
        assert (steps < 0).all() if level % 2 == 0 else (steps > 0).all()


def test_the_expectation_is_the_mean_of_all_orders():
    """Of four ends, and of eight: 11/3 and 719/105."""
    for depth, exact in [(2, 11 / 3), (3, 719 / 105)]:
        orders = [np.reshape(order, (2,) * depth) for order in itertools.permutations(range(2**depth))]
        assert np.mean([for_max(order)[1] for order in orders]) == pytest.approx(exact)
        assert random_ends(2, depth) == pytest.approx(exact, abs=1e-6)
    assert random_ends(7, 1) == pytest.approx(7)


@pytest.mark.parametrize(("branching", "depth"), [(2, 10), (3, 6), (6, 4)])
def test_random_order_is_as_theory_says(branching, depth):
    best, middle, worst = tree_rows(branching, depth, 100, 7, UNLIMITED)
    assert best["ends"] == best["theory"] == best_ends(branching, depth) and best["error"] is None
    assert abs(middle["ends"] - middle["theory"]) < 4 * middle["error"]
    assert middle["theory"] == random_ends(branching, depth)
    assert middle["ends"] < worst["ends"] <= worst["theory"] == worst["all"] == branching**depth
    assert [one["rule"] for one in (best, middle, worst)] == [0.5, 0.75, 1]
    assert 0.5 < best["exponent"] < middle["exponent"] < worst["exponent"] <= 1
    assert tree_rows(branching, depth, 100, 7, UNLIMITED)[1] == middle


def test_the_exponents_come_nearer_to_the_rules_in_deeper_trees():
    for shallow, deep, rule in [
        (best_ends(4, 4), best_ends(4, 10), 0.5),
        (random_ends(4, 4), random_ends(4, 10), 0.75),
    ]:
        exponents = np.log(shallow) / np.log(4**4), np.log(deep) / np.log(4**10)
        assert abs(exponents[1] - rule) < abs(exponents[0] - rule) < 0.2


def test_tictactoe_in_each_order():
    """In its own order alpha-beta visits 7,330 of the 255,168 ends, as lecture notes say."""
    own, best, middle, worst = game_rows(games.make("tictactoe"), 3, 1, UNLIMITED)
    assert (own["ends"], own["all"]) == (7330, 255_168) and own["error"] is None and own["theory"] is None
    assert best["ends"] < middle["ends"] < worst["ends"] and middle["error"] > 0
    positions = all_positions(games.make("tictactoe"))
    assert len(positions.value) == 5478 and positions.value[0] == 0 and paths(positions) == 255_168


def test_what_is_too_large_or_takes_too_long():
    for branching, depth in [(1, 3), (2, 25), (30, 30), (2, 0)]:
        with pytest.raises(ValueError, match=f"{branching}x{depth} is out of range"):
            check_tree(branching, depth)
    with pytest.raises(Unsuited, match="more than 20,000 positions"):
        game_rows(games.make("connect4(rows=4, columns=5)"), 1, 1, UNLIMITED)
    with pytest.raises(Unsuited, match="two players without chance"):
        game_rows(games.make("coin"), 1, 1, UNLIMITED)
    hurried = Limit(0.0, lambda text: None)
    assert tree_rows(2, 3, 1, 1, hurried)[0]["ends"] is None
    rows = game_rows(games.make("tictactoe"), 1, 1, hurried)
    assert rows[0]["ends"] is None and rows[0]["all"] == 255_168


def test_the_command():
    rows = as_json("exercise", "--orders", "--tree", "2x6", "--tree", "3x3", "--repeats", "5")
    assert [(row["game"], row["order"]) for row in rows][2:4] == [
        ("2 moves, 6 plies", "worst"),
        ("3 moves, 3 plies", "best"),
    ]
    done = call("exercise", "--orders", "--game", "grundy", "--repeats", "2")
    assert done.exit_code == 0 and "its own" in done.stdout and "Knuth & Moore" in done.stderr
    for words, message in [
        (("--orders", "--tree", "3"), "--tree 3: say moves and plies, such as 3x8"),
        (("--orders", "--tree", "9x99"), "--tree 9x99 is out of range"),
        (("--tree", "3x3"), "--tree has no meaning without --orders"),
        (("--seed", "1"), "--seed has no meaning without --orders"),
        (("--orders", "--table", "1"), "--table has no meaning with --orders"),
        (("--orders", "--repeats", "0"), "0 is out of range"),
    ]:
        done = call("exercise", *words)
        assert done.exit_code == 2 and message in " ".join(done.stderr.replace("│", " ").split()), done.stderr
    assert json.dumps(rows, allow_nan=False)
