"""Depth-first proof-number search in a transposition table: what df-pn, PN*, PDS and PDS-PN share.

A node has a threshold for its proof number and one for its disproof number.  When it is settled or has reached its
thresholds, as the rule says, the search stores its numbers in the table and leaves it; until then the search goes on in
the child that the rule selects, with thresholds that the rule sets.  So it visits nodes in the order of best-first
search, but besides the table it needs memory only for the current line.  When the table is full, entries are replaced,
and what they held is searched again when it is needed.

A rule is what distinguishes one algorithm from another.  The line is a stack of arrays, not a recursion, so that the
search can stop after any number of positions and go on.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.table import ROW_BYTES, Table, check_table, filled, least_key, new_table, probe, store
from agents.proof.bestfirst import NODE_BYTES, ProofTree, TreeLine, new_proof_tree
from agents.proof.marks import Marks, no_marks
from agents.proof.numbers import INFINITE, LIMIT, MOST, NODES, OPEN, Task, combine, first_numbers, verdict
from agents.proof.proof_agent import ProofAgent, Search
from games.core.jit import Compilable, inlined, kernel
from games.core.playout import copy_state
from games.core.random import GAMMA, mix

DONE = -1  # the ply when the root is settled
PROOF, DISPROOF = range(2)  # of a row of ProofLine.limit


class ProofLine(NamedTuple):
    """The line being searched; row p is the node p plies below the root.  depth is the game's max_plies, plus one."""

    states: np.ndarray  # dtype[depth + 1, state_size]
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


class ProofSearch(NamedTuple):
    """A search: what is to be proved, and all that it works with."""

    task: Task
    table: Table
    second: ProofTree  # of the second level
    line: ProofLine
    scratch: TreeLine  # room to work in, and the line of searches of the second level
    marks: Marks
    counts: np.ndarray  # int64[3], see agents/proof/numbers.py


@dataclass(frozen=True)
class ThresholdRule(Compilable):
    """What distinguishes one depth-first search from another: methods that kernels call, like a game's."""

    shared: ClassVar[bool] = False  # whether several threads search in one table

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

    def child_limits(self, task, line, ply, or_node, numbers):
        """The thresholds (proof, disproof) of the chosen child of the node at `ply`, whose own numbers are given."""
        raise NotImplementedError

    def choose(self, search, ply, or_node, numbers):
        """Note which child of the node at `ply` to go on with, and give it its thresholds."""
        line = search.line
        line.chosen[ply] = self.select(line, ply, or_node)
        limits = self.child_limits(search.task, line, ply, or_node, numbers)
        line.limit[ply + 1, PROOF], line.limit[ply + 1, DISPROOF] = limits

    def mark(self, search, key, change):
        """Leave a mark at the node of that key (1), or take it back (-1); by default, there are no marks."""

    def refresh(self, search, ply):
        """Take over what other threads have found of the children of the node at `ply`; by default, there are none."""

    def look_below(self, game, search, ply):
        """Improve the children's first numbers when the node at `ply` has just been opened; by default, do nothing."""


@dataclass(frozen=True)
class DepthFirstProver(ProofAgent):
    """Base of the agents that search for proofs depth first.

    table: size of the transposition table in MiB
    symmetries: let symmetric positions share a place in the table
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
        return ROW_BYTES * filled(memory)

    def new_search(self, game, memory, state, task, counts):
        return DepthFirstProof(self, game, memory, state, task, counts)


class DepthFirstProof(Search):
    """A line through the table."""

    def __init__(self, agent, game, table, state, task, counts):
        self.agent, self.game, self.rule, self.counts = agent, game, agent.rule(), counts
        second, line = new_proof_tree(agent.second_nodes() + game.max_moves + 1), new_line(game, state)
        self.search = ProofSearch(task, table, second, line, scratch_of(line), no_marks(), counts)

    def run(self, nodes):
        before = int(self.counts[NODES])
        threshold_kernel(self.game, self.rule, self.search, before + nodes)
        return int(self.counts[NODES]) - before

    def numbers(self):
        return numbers_of(self.game, self.search.line)

    def moves(self):
        line = self.search.line
        return tuple(column[0, : line.total[0]] for column in (line.moves, line.proof, line.disproof))

    def bytes(self):
        lines = sum(column.nbytes for column in (*self.search.line, *self.search.scratch))
        return lines + NODE_BYTES * len(self.search.second.proof)


def numbers_of(game, line: ProofLine) -> tuple[int, int]:
    """Proof and disproof number of the root, by its moves' numbers on a line."""
    if line.total[0] == 0:
        return 1, 1
    or_node = int(game.player(line.states[0])) == 0
    return combine.py_func(line.proof[0], line.disproof[0], 0, int(line.total[0]), or_node)


def new_line(game, root: np.ndarray) -> ProofLine:
    """Room for the deepest line of a game, which begins at `root`."""
    depth, moves = game.max_plies + 1, game.max_moves
    states = np.zeros((depth + 1, game.state_size), game.dtype)
    states[0] = root
    return ProofLine(
        states=states,
        key=np.zeros(depth, np.uint64),
        limit=np.zeros((depth, 2), np.int64),
        before=np.zeros(depth, np.int64),
        total=np.zeros(depth, np.int32),
        chosen=np.zeros(depth, np.int32),
        moves=np.zeros((depth, moves), np.int32),
        keys=np.zeros((depth, moves), np.uint64),
        proof=np.zeros((depth, moves), np.int32),
        disproof=np.zeros((depth, moves), np.int32),
        place=np.zeros(1, np.int64),
    )


def scratch_of(line: ProofLine) -> TreeLine:
    """What a search of the second level goes on with: the line's own states, and room for moves."""
    return TreeLine(line.states, np.zeros_like(line.moves[0]), np.zeros_like(line.moves[0]))


@kernel
def threshold_kernel(game, rule, search, until):
    """Go on with the search until the root is settled, `until` positions have been visited, or no more may be.

    A thread among several begins at the root, and goes back there, storing the numbers of the nodes on the way.
    """
    line, counts = search.line, search.counts
    ply = line.place[0]
    if ply == 0 and (rule.shared or line.total[0] == 0) and may_visit(game, counts):
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.root_limits()
        line.key[0] = table_key(game, search, 0)
        open_node(game, rule, search, 0)
    while ply != DONE and line.total[0] > 0:
        or_node = game.player(line.states[ply]) == 0
        rule.refresh(search, ply)
        proof, disproof = combine(line.proof[ply], line.disproof[ply], 0, line.total[ply], or_node)
        spent = counts[NODES] >= until
        going_back = rule.shared and (spent or not may_visit(game, counts))
        if (spent and not rule.shared) or (going_back and ply == 0):
            break
        if going_back or proof == 0 or disproof == 0 or rule.is_left(proof, disproof, line.limit[ply]):
            ply = leave(rule, search, ply, (proof, disproof))
        elif may_visit(game, counts):
            rule.choose(search, ply, or_node, (proof, disproof))
            enter(game, rule, search, ply)
            ply += 1
            open_node(game, rule, search, ply)
        else:
            break
    line.place[0] = 0 if rule.shared else ply


@inlined
def may_visit(game, counts):
    """Whether all moves of one more position may be looked at."""
    return counts[NODES] + game.max_moves <= counts[LIMIT]


@inlined
def leave(rule, search, ply, numbers):
    """Store the numbers of the node at `ply`, and hand them to its parent; returns the ply to go on with."""
    line, (proof, disproof) = search.line, numbers
    store(search.table, line.key[ply], proof, disproof, search.counts[NODES] - line.before[ply])
    if ply > 0:
        rule.mark(search, line.key[ply], -1)
        line.proof[ply - 1, line.chosen[ply - 1]] = proof
        line.disproof[ply - 1, line.chosen[ply - 1]] = disproof
    elif proof != 0 and disproof != 0:
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.raised_limits(proof, disproof)
        return 0
    return ply - 1


@inlined
def enter(game, rule, search, ply):
    """Make the chosen move of the node at `ply`."""
    line, chosen = search.line, search.line.chosen[ply]
    copy_state(game, line.states[ply], line.states[ply + 1])
    game.play(line.states[ply + 1], line.moves[ply, chosen])
    line.key[ply + 1] = line.keys[ply, chosen]
    rule.mark(search, line.key[ply + 1], 1)


@inlined
def table_key(game, search, ply):
    """The table's key of the node at `ply`, which depends on the goal and the plies left for it, too."""
    line, goal = search.line, search.task.goal
    left = goal.plies - ply if goal.plies < len(line.key) else -1
    salt = np.uint64(left + 2) * np.uint64(4) + np.uint64(goal.late) * np.uint64(2) + np.uint64(goal.least == 1.0)
    state = line.states[ply]
    key = least_key(game, state, search.scratch.states[ply + 1])[0] if search.task.symmetries else game.key(state)
    return key ^ mix(salt * GAMMA)


@inlined
def open_node(game, rule, search, ply):
    """List the moves of the node at `ply`, and the numbers of the positions after them."""
    task, line, counts = search.task, search.line, search.counts
    state, after = line.states[ply], line.states[ply + 1]
    or_node = game.player(state) == 0
    line.before[ply] = counts[NODES]
    line.total[ply] = game.sound_moves(state, line.moves[ply])
    for i in range(line.total[ply]):
        copy_state(game, state, after)
        game.play(after, line.moves[ply, i])
        counts[NODES] += 1
        outcome = verdict(game, task, after, ply + 1, counts)
        proof, disproof = first_numbers(game, task, after, outcome, search.scratch.moves)
        if outcome == OPEN:
            line.keys[ply, i] = table_key(game, search, ply + 1)
            held, stored_proof, stored_disproof = probe(search.table, line.keys[ply, i])
            if held:
                proof, disproof = stored_proof, stored_disproof
        line.proof[ply, i], line.disproof[ply, i] = proof, disproof
        if (proof if or_node else disproof) == 0:  # it settles the node: the moves after it do not matter
            line.total[ply] = i + 1
            return
    rule.look_below(game, search, ply)


@inlined
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


@inlined
def remainder(limit, total, own):
    """What a sum's threshold leaves for one child, whose number is `own`; infinity stays infinite."""
    return limit if limit == INFINITE else limit - (min(total, MOST) - own)
