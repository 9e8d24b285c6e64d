"""Depth-first proof-number search in a transposition table: what df-pn, PN*, PDS and PDS-PN share.

A node has a threshold for its proof number and one for its disproof number.  It is left, its numbers stored in the
table, when it is settled or its thresholds are reached, as the rule says; until then the search goes on in the child
that the rule selects, with the thresholds that the rule gives it.  So the search walks as the best-first one does, and
needs memory for the line it is on alone, beside the table.  When the table is full, places are taken from others, and
what was there is searched again when it is needed.

A rule is what distinguishes one algorithm from another.  The line is a stack of arrays, not a recursion, so that the
search can stop after any number of positions and go on.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.core.table import ROW_BYTES, check_table, least_key, new_table, probe, store
from agents.proof.bestfirst import NODE_BYTES, new_proof_tree
from agents.proof.bestfirst import Line as Room
from agents.proof.numbers import INFINITE, LIMIT, MOST, NODES, OPEN, combine, first_numbers, verdict
from agents.proof.proof_agent import ProofAgent, Search
from games.core.jit import Compilable, helper, kernel
from games.core.playout import copy_state
from games.core.random import GAMMA, mix

DONE = -1  # the ply when the root is settled
PROOF, DISPROOF = range(2)  # of a row of Line.limit


class Line(NamedTuple):
    """The line being searched; row p is the node p plies below the root.  depth is the game's max_plies, plus one."""

    states: np.ndarray  # dtype[depth, state_size]
    key: np.ndarray  # uint64[depth], the table's key of the node
    limit: np.ndarray  # int64[depth, 2] = thresholds of proof and disproof number
    before: np.ndarray  # int64[depth], positions visited when the node was entered
    total: np.ndarray  # int32[depth], moves
    chosen: np.ndarray  # int32[depth], which of them the next row has made
    moves: np.ndarray  # int32[depth, max_moves]
    keys: np.ndarray  # uint64[depth, max_moves], the table's keys of the children that are open
    proof: np.ndarray  # int32[depth, max_moves], the children's numbers
    disproof: np.ndarray  # int32[depth, max_moves]
    place: np.ndarray  # int64[1], the ply of the current node, or DONE
    room: Room  # to work in, and for searches of a second level


@dataclass(frozen=True)
class ThresholdRule(Compilable):
    """What distinguishes one depth-first search from another: methods that kernels call, like a game's."""

    def root_limits(self):
        """The thresholds of the root, (proof, disproof), at the beginning."""
        raise NotImplementedError

    def raised_limits(self, proof, disproof):
        """The root's next thresholds, when it has reached these numbers and is not settled."""
        raise NotImplementedError

    def is_left(self, proof, disproof, limit):
        """Whether a node with these numbers, which is not settled, has reached its thresholds."""
        raise NotImplementedError

    def select(self, line, ply, or_node):
        """Which of the children of the node at `ply` to go on with."""
        raise NotImplementedError

    def child_limits(self, task, line, ply, or_node, chosen, proof, disproof):
        """The thresholds (proof, disproof) of the chosen child; the node itself has these numbers."""
        raise NotImplementedError

    def look_below(self, game, table, second, line, task, counts, ply):
        """Better the first numbers of the children of the node at `ply`, which has been opened; by default, do not."""


@dataclass(frozen=True)
class DepthFirst(ProofAgent):
    """Base of the agents that search for proofs depth first.

    table: size of the transposition table in MiB
    symmetries: let positions that symmetries take into each other share their place in the table
    """

    table: float = 64.0
    symmetries: bool = False

    def __post_init__(self):
        super().__post_init__()
        check_table(self.table)

    def rule(self) -> ThresholdRule:
        """Its rule."""
        raise NotImplementedError

    def second_nodes(self) -> int:
        """The nodes of a search of the second level."""
        return 0

    def task(self, goal, endgames):
        return super().task(goal, endgames)._replace(symmetries=self.symmetries)

    def new_memory(self, game):
        return new_table(self.table)

    def memory_bytes(self, memory):
        return ROW_BYTES * int(np.count_nonzero(memory.words[:, -1]))

    def new_search(self, game, memory, state, task, counts):
        return DepthFirstProof(self, game, memory, state, task, counts)


class DepthFirstProof(Search):
    """A line through the table."""

    def __init__(self, agent, game, table, state, task, counts):
        self.agent, self.game, self.table, self.task, self.counts = agent, game, table, task, counts
        self.rule, self.line = agent.rule(), new_lines(game)
        self.second = new_proof_tree(agent.second_nodes() + game.max_moves + 1)
        self.line.states[0] = state

    def run(self, nodes):
        before = int(self.counts[NODES])
        arguments = self.table, self.second, self.line, self.task, self.counts
        depth_first_kernel(self.game, self.rule, *arguments, before + nodes)
        return int(self.counts[NODES]) - before

    def numbers(self):
        return self.numbers_of(self.line)

    def numbers_of(self, line) -> tuple[int, int]:
        """Proof and disproof number of the root, by its moves' numbers on a line."""
        if line.total[0] == 0:
            return 1, 1
        player = int(self.game.player(line.states[0]))
        return combine.py_func(line.proof[0], line.disproof[0], 0, int(line.total[0]), player == 0)

    def moves(self):
        return tuple(
            column[0, : self.line.total[0]] for column in (self.line.moves, self.line.proof, self.line.disproof)
        )

    def bytes(self):
        lines = sum(column.nbytes for column in self.line[:-1]) + sum(column.nbytes for column in self.line.room)
        return lines + NODE_BYTES * len(self.second.proof)


def new_lines(game) -> Line:
    """Room for the deepest line of a game, at its beginning."""
    depth, moves = game.max_plies + 1, game.max_moves
    rows = [np.zeros((depth, moves), dtype) for dtype in (np.int32, np.uint64, np.int32, np.int32)]
    counts = [np.zeros(depth, np.int32) for _ in range(2)]
    states = np.zeros((depth + 1, game.state_size), game.dtype)
    room = Room(states, np.zeros(moves, np.int32), np.zeros(moves, np.int32))
    return Line(
        states,
        np.zeros(depth, np.uint64),
        np.zeros((depth, 2), np.int64),
        np.zeros(depth, np.int64),
        *counts,
        *rows,
        np.zeros(1, np.int64),
        room,
    )


@kernel
def depth_first_kernel(game, rule, table, second, line, task, counts, until):
    """Go on with the search until the root is settled, `until` positions have been visited, or no more may be."""
    ply = line.place[0]
    if ply == 0 and line.total[0] == 0 and may_visit(game, counts):
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.root_limits()
        line.key[0] = table_key(game, task, line, 0)
        open_node(game, rule, table, second, line, task, counts, 0)
    while ply != DONE and line.total[0] > 0 and counts[NODES] < until:
        or_node = game.player(line.states[ply]) == 0
        proof, disproof = combine(line.proof[ply], line.disproof[ply], 0, line.total[ply], or_node)
        if proof == 0 or disproof == 0 or rule.is_left(proof, disproof, line.limit[ply]):
            ply = leave(rule, table, line, counts, ply, proof, disproof)
        elif may_visit(game, counts):
            chosen = rule.select(line, ply, or_node)
            line.chosen[ply] = chosen
            limits = rule.child_limits(task, line, ply, or_node, chosen, proof, disproof)
            line.limit[ply + 1, PROOF], line.limit[ply + 1, DISPROOF] = limits
            enter(game, line, ply)
            ply += 1
            open_node(game, rule, table, second, line, task, counts, ply)
        else:
            break
    line.place[0] = ply


@helper
def may_visit(game, counts):
    """Whether all moves of one more position may be looked at."""
    return counts[NODES] + game.max_moves <= counts[LIMIT]


@helper
def leave(rule, table, line, counts, ply, proof, disproof):
    """Store the numbers of the node at `ply`, and hand them to its parent; the ply to go on with."""
    store(table, line.key[ply], proof, disproof, counts[NODES] - line.before[ply])
    if ply > 0:
        line.proof[ply - 1, line.chosen[ply - 1]] = proof
        line.disproof[ply - 1, line.chosen[ply - 1]] = disproof
    elif proof != 0 and disproof != 0:
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.raised_limits(proof, disproof)
        return 0
    return ply - 1


@helper
def enter(game, line, ply):
    """Make the chosen move of the node at `ply`."""
    chosen, after = line.chosen[ply], line.states[ply + 1]
    copy_state(game, line.states[ply], after)
    game.play(after, line.moves[ply, chosen])
    line.key[ply + 1] = line.keys[ply, chosen]


@helper
def table_key(game, task, line, ply):
    """The key of the node at `ply` for the table, which tells goals and the plies that are left of them apart."""
    goal = task.goal
    left = goal.plies - ply if goal.plies < len(line.key) else -1
    salt = np.uint64(left + 2) * np.uint64(4) + np.uint64(goal.late) * np.uint64(2) + np.uint64(goal.least == 1.0)
    state = line.states[ply]
    key = least_key(game, state, line.room.states[ply + 1])[0] if task.symmetries else game.key(state)
    return key ^ mix(salt * GAMMA)


@helper
def open_node(game, rule, table, second, line, task, counts, ply):
    """List the moves of the node at `ply`, and the numbers of the positions after them."""
    state, after = line.states[ply], line.states[ply + 1]
    or_node = game.player(state) == 0
    line.before[ply] = counts[NODES]
    line.total[ply] = game.sound_moves(state, line.moves[ply])
    for i in range(line.total[ply]):
        copy_state(game, state, after)
        game.play(after, line.moves[ply, i])
        counts[NODES] += 1
        outcome = verdict(game, task, after, ply + 1, counts)
        proof, disproof = first_numbers(game, task, after, outcome, line.room.moves)
        if outcome == OPEN:
            line.keys[ply, i] = table_key(game, task, line, ply + 1)
            held, stored_proof, stored_disproof = probe(table, line.keys[ply, i])
            if held:
                proof, disproof = stored_proof, stored_disproof
        line.proof[ply, i], line.disproof[ply, i] = proof, disproof
        if (proof if or_node else disproof) == 0:  # it settles the node: the moves after it do not matter
            line.total[ply] = i + 1
            return
    rule.look_below(game, table, second, line, task, counts, ply)


@helper
def least_two(numbers, count):
    """(index of the least, the second least), of the first `count`; INFINITE where there is no second."""
    best, least, second = 0, INFINITE, INFINITE
    for i in range(count):
        number = np.int64(numbers[i])
        if number < least:
            best, least, second = i, number, least
        else:
            second = min(second, number)
    return best, second


@helper
def remainder(limit, total, own):
    """What is left of a sum's threshold for one child, whose number is `own`; infinity stays what it is."""
    return limit if limit == INFINITE else limit - (min(total, MOST) - own)
