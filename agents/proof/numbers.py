"""Proof and disproof numbers: how many leaves at least must be settled to prove or to disprove a goal.

Allis, van der Meulen & van den Herik, "Proof-number search", 1994.  The first player, at OR nodes, wants the goal to
hold, so one proved child is enough there; the second player's nodes are AND nodes.

                     OR node             AND node            proved     disproved
    proof number     least of children   sum of children     0          infinite
    disproof number  sum of children     least of children   infinite   0

Moves that the game knows to be no better than another (`Game.sound_moves`) are left out.  A leaf has 1 and 1; by
mobility, its future sum starts as the number of its moves; by evaluation, the two share 13 or 14, with more for the
proof the better the second player stands.  Sums stay below infinity, so that no large number is taken for a proof.

A position reached by several paths counts several times in a sum.  Weak numbers avoid that: they replace the sum by the
largest of the children's numbers, plus one for each other unsettled child (Ueda, Hashimoto, Hashimoto & Iida, "Weak
proof-number search", 2008).
"""

from typing import NamedTuple

import numpy as np

from arena.agents.core.sides import side_to_move
from arena.agents.core.solve import Goal
from arena.agents.knowledge.tablebase import ABSENT, Endgames, look_up
from arena.games.core.jit import helper, inlined
from arena.games.core.numbers.elementary import exp
from arena.games.core.play.playout import reward_of
from arena.games.core.random import GAMMA, mix

INFINITE = 1 << 30
MOST = INFINITE - 1  # the largest sum
FALSE, TRUE, OPEN = range(3)  # of a goal in a position
UNITS, STEEPNESS = 12.0, 16.0  # of first numbers by evaluation: the largest, minus one, and the slope
NODES, DRAWS, LIMIT = range(3)  # of a search's counts: positions visited, draws met, positions it may visit


class Task(NamedTuple):
    """The statement to be proved, and how."""

    goal: Goal
    endgames: Endgames
    mobility: bool  # whether a leaf's first numbers count its moves
    symmetries: bool = False  # whether symmetric positions are one
    epsilon: float = 0.0  # how far thresholds exceed the numbers that set them
    by_evaluation: bool = False  # whether a leaf's first numbers follow the game's evaluation
    evaluate_from: int = 0  # the fewest moves of a leaf worth an evaluation
    weak: bool = False  # whether the largest number and the count of the rest replace a sum
    by_depth: bool = False  # whether the table keeps positions by depth, not by work
    keep_tree: bool = False  # whether all of a tree of the second level goes into the table


def new_counts(limit: int | None) -> np.ndarray:
    """int64[3] = positions visited, ends of the game that were draws, and how many positions may be visited."""
    return np.array([0, 0, 1 << 62 if limit is None else limit], np.int64)


@helper
def verdict(game, task, state, ply, counts):
    """FALSE, TRUE or OPEN: the goal by rules, foresight and end-game table, `ply` plies below the root."""
    goal, endgames = task.goal, task.endgames
    if game.is_over(state):
        reward = reward_of(game.score(state))
        counts[DRAWS] += reward == 0.5
        return TRUE if reward >= goal.least else FALSE
    if ply >= goal.plies:
        return TRUE if goal.late else FALSE
    plies, _ = game.foreseen(state)
    if plies != 0:
        first_wins = (plies > 0) == (game.player(state) == 0)
        # the side with a limit of plies must win in time; it never wins where the other one does
        if first_wins == goal.late or ply + abs(plies) <= goal.plies:
            return TRUE if (1.0 if first_wins else 0.0) >= goal.least else FALSE
    if len(endgames.values) > 0:
        value = look_up(endgames, game.key(state))
        if value != ABSENT:
            return known(game, goal, state, ply, value, counts)
    return OPEN


@helper
def known(game, goal, state, ply, value, counts):
    """The goal by a value from an end-game table: FALSE, TRUE or OPEN."""
    counts[DRAWS] += value == 0
    if ply + abs(value) > goal.plies:
        return TRUE if goal.late else FALSE
    return TRUE if reward_of(side_to_move(game, state) * value) >= goal.least else FALSE


@helper
def first_numbers(game, task, state, outcome, moves):
    """(proof, disproof) of a new node with that `outcome`; `moves` is scratch."""
    if outcome == TRUE:
        return 0, INFINITE
    if outcome == FALSE:
        return INFINITE, 0
    asked, count = task.by_evaluation, 1
    if (asked and task.evaluate_from > 0) or (task.mobility and not asked):
        count = game.sound_moves(state, moves)
    if asked and count >= task.evaluate_from:
        share = 1.0 / (1.0 + exp(-STEEPNESS * game.evaluate(state)))  # estimated wins of the first player
        return 1 + np.int64(UNITS * (1.0 - share)), 1 + np.int64(UNITS * share)
    if task.mobility:
        return (1, count) if game.player(state) == 0 else (count, 1)
    return 1, 1


@helper
def combine(proof, disproof, begin, count, or_node, weak):
    """(proof, disproof) of a node from its children's, which begin at the index `begin`."""
    least, total = INFINITE, 0
    for i in range(begin, begin + count):
        own, other = (proof[i], disproof[i]) if or_node else (disproof[i], proof[i])
        least = min(least, np.int64(own))
        total += np.int64(other)
        if other == INFINITE:  # this child settles the node
            return (0, INFINITE) if or_node else (INFINITE, 0)
    if weak:
        total = weak_total(disproof if or_node else proof, begin, count)
    total = min(total, MOST)
    if least == INFINITE:
        total = 0
    return (least, total) if or_node else (total, least)


@helper
def weak_total(numbers, begin, count):
    """The largest number, plus one for each other that is not 0."""
    largest, rest = 0, 0
    for i in range(begin, begin + count):
        largest = max(largest, np.int64(numbers[i]))
        rest += numbers[i] != 0
    return largest + max(rest - 1, 0)


@inlined
def salted(game, goal, key, ply):
    """The key of a position, `ply` plies below the root, for a goal and the plies left."""
    left = goal.plies - ply if goal.plies <= game.max_plies else -1
    salt = np.uint64(left + 2) * np.uint64(4) + np.uint64(goal.late) * np.uint64(2) + np.uint64(goal.least == 1.0)
    return key ^ mix(salt * GAMMA)
