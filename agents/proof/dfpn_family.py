"""Depth-first proof-number search in a transposition table: the common part of df-pn, PN*, PDS and PDS-PN.

A node has a threshold for each of its numbers.  Once it is settled or has reached them, as the rule says, the search
stores its numbers in the table and leaves it; until then it continues in the child, and with the thresholds, that the
rule sets.  So it visits nodes in the order of best-first search, but needs memory only for the table and the current
line.  A full table replaces entries, which are searched again when needed.

The line is a stack of arrays, not a recursion, so that the search can stop after any number of positions and go on.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.transposition_table import (
    ALL_SCHEMES,
    COLLECT,
    ROW_BYTES,
    Table,
    check_table,
    fetch,
    filled,
    leave_table,
    new_table,
    probe,
    store,
)
from arena.agents.proof.bestfirst import ProofTree, TreeLine, new_proof_tree, tree_bytes
from arena.agents.proof.marks import Marks, no_marks
from arena.agents.proof.numbers import INFINITE, LIMIT, MOST, NODES, OPEN, Task, combine, first_numbers, salted, verdict
from arena.agents.proof.proof_agent import ProofAgent, Search
from arena.games.core.game import check_choice
from arena.games.core.jit import Compilable, helper, inlined, kernel, uncompiled

WORTHS = ("work", "depth")
DONE = -1  # the ply when the root is settled
PROOF, DISPROOF = range(2)  # of a row of ProofLine.limit


class ProofLine(NamedTuple):
    """The line being searched, where row p is p plies below the root; depth is the game's max_plies, plus one."""

    states: np.ndarray  # dtype[depth + 1, state_size]
    key: np.ndarray  # uint64[depth], the table's key of the node
    limit: np.ndarray  # int64[depth, 2] = thresholds of proof and disproof number
    before: np.ndarray  # int64[depth], positions visited when the node was entered
    total: np.ndarray  # int32[depth], moves
    chosen: np.ndarray  # int32[depth], index of the move to the next row
    moves: np.ndarray  # int32[depth, max_moves]
    keys: np.ndarray  # uint64[depth, max_moves], the table's keys of the open children
    proof: np.ndarray  # int32[depth, max_moves], the children's numbers
    disproof: np.ndarray  # int32[depth, max_moves]
    place: np.ndarray  # int64[1], the ply of the current node, or DONE


class ProofSearch(NamedTuple):
    """A search: its task and its working data."""

    task: Task
    table: Table
    second: ProofTree  # of the second level
    line: ProofLine
    scratch: TreeLine  # scratch, and the line of searches of the second level
    marks: Marks
    counts: np.ndarray  # int64[3], see agents/proof/numbers.py


@dataclass(frozen=True)
class ThresholdRule(Compilable):
    """The difference between depth-first searches, in methods that kernels call."""

    shared: ClassVar[bool] = False  # whether threads search one table, from the root at every call
    goes_back: ClassVar[bool] = False  # whether the line's numbers are stored when the budget ends

    def root_limits(self):
        """The initial thresholds of the root, (proof, disproof)."""
        raise NotImplementedError

    def raised_limits(self, task, proof, disproof):
        """The root's next thresholds, when it has reached these numbers unsettled."""
        raise NotImplementedError

    def is_left(self, proof, disproof, limit):
        raise NotImplementedError

    def select(self, line, ply, or_node):
        """The index of the child to search at `ply`: by default, of the least number."""
        return least_two(line.proof[ply] if or_node else line.disproof[ply], line.total[ply])[0]

    def child_limits(self, task, line, ply, or_node, numbers):
        """The thresholds (proof, disproof) of the child chosen at `ply`, where the node has these numbers."""
        raise NotImplementedError

    def choose(self, search, ply, or_node, numbers):
        line = search.line
        line.chosen[ply] = self.select(line, ply, or_node)
        limits = self.child_limits(search.task, line, ply, or_node, numbers)
        line.limit[ply + 1, PROOF], line.limit[ply + 1, DISPROOF] = limits

    def mark(self, search, key, change):
        """Leave a mark at the node with that key (1), or take it back (-1)."""

    def refresh(self, search, ply):
        """Take over other threads' numbers of the children at `ply`."""

    def look_below(self, game, search, ply):
        """Improve the children's first numbers when the node at `ply` has been opened."""


@dataclass(frozen=True)
class DepthFirstProver(ProofAgent):
    """Base of the agents that search for proofs depth first.

    table: size of the transposition table in MiB
    symmetries: let symmetric positions share a place in the table
    scheme: what is replaced when the table is full: new, big, two_big or collect (agents/core/transposition_table.py)
    replace_by: what earns a position its place in the table: the work it took, or its depth, the less the better
    epsilon: how far a threshold exceeds the number that sets it, as a share of that number
    """

    table: float = 64.0
    symmetries: bool = False
    scheme: str = "two_big"
    replace_by: str = "work"
    epsilon: float = 0.0

    ranges: ClassVar[dict] = {"epsilon": (0, 10)}

    def __post_init__(self):
        super().__post_init__()
        check_table(self.table, self.scheme, ALL_SCHEMES)
        check_choice("replace_by", self.replace_by, WORTHS)
        if self.replace_by != "work" and self.scheme == "new":
            raise ValueError(
                f"replace_by = {self.replace_by!r} means nothing with scheme = 'new', which keeps "
                f"the newest position; it goes with {', '.join(name for name in ALL_SCHEMES if name != 'new')}"
            )
        if self.scheme == COLLECT and self.cores > 1:
            raise ValueError(
                f"scheme = '{COLLECT}' goes with workers = 1, not {self.cores}: one thread may sweep a table"
            )

    def rule(self) -> ThresholdRule:
        raise NotImplementedError

    def second_nodes(self) -> int:
        """The nodes of a search of the second level."""
        return 0

    def task(self, goal, endgames):
        depth = self.replace_by == "depth"
        return super().task(goal, endgames)._replace(symmetries=self.symmetries, epsilon=self.epsilon, by_depth=depth)

    def new_memory(self, game):
        return new_table(self.table, self.scheme)

    def leave_memory(self, memory):
        if isinstance(memory, Table):
            leave_table(memory)

    def memory_bytes(self, memory):
        return ROW_BYTES * filled(memory)

    def new_search(self, game, memory, state, task, counts):
        return DepthFirstProof(self, game, memory, state, task, counts)


class DepthFirstProof(Search):
    """A line through the table."""

    def __init__(self, agent, game, table, state, task, counts):
        self.agent, self.game, self.rule, self.counts = agent, game, agent.rule(), counts
        second, line = new_proof_tree(agent.second_nodes() + game.max_moves + 1, graph=True), new_line(game, state)
        self.search = ProofSearch(task, table, second, line, scratch_of(line), no_marks(), counts)

    def run(self, nodes):
        before = int(self.counts[NODES])
        threshold_kernel(self.game, self.rule, self.search, before + nodes)
        return int(self.counts[NODES]) - before

    def numbers(self):
        return numbers_of(self.game, self.search)

    def moves(self):
        line = self.search.line
        return tuple(column[0, : line.total[0]] for column in (line.moves, line.proof, line.disproof))

    def bytes(self):
        lines = sum(column.nbytes for column in (*self.search.line, *self.search.scratch))
        return lines + tree_bytes(self.search.second, len(self.search.second.proof))


def numbers_of(game, search: ProofSearch) -> tuple[int, int]:
    """Proof and disproof number of the root, from the line."""
    line = search.line
    if line.total[0] == 0:
        return 1, 1
    or_node = int(game.player(line.states[0])) == 0
    return uncompiled(combine)(line.proof[0], line.disproof[0], 0, int(line.total[0]), or_node, search.task.weak)


def new_line(game, root: np.ndarray) -> ProofLine:
    """Room for the deepest line of a game from `root`."""
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
    """The line's states, with room for moves, for a second-level search."""
    moves, path = line.moves[0], np.zeros(len(line.states), np.int32)
    return TreeLine(line.states, np.zeros_like(moves), np.zeros_like(moves), path, np.zeros_like(line.states[0]))


@kernel
def threshold_kernel(game, rule, search, until):
    """Continue until the root is settled, `until` positions have been visited, or no more may be.

    A thread among several begins at the root, and returns to it, storing the numbers on the way, unless its marks say
    that it stays.
    """
    line, counts = search.line, search.counts
    ply, leaves = line.place[0], rule.shared and not search.marks.stays
    if ply == 0 and (leaves or line.total[0] == 0) and may_visit(game, counts):
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.root_limits()
        line.key[0] = table_key(game, search, 0)
        open_node(game, rule, search, 0)
    ply = search_below(game, rule, search, ply, 0, until)
    line.place[0] = 0 if leaves else ply


@inlined
def search_below(game, rule, search, ply, floor, until):
    """Continue from `ply` until the node at `floor` is left or the search must stop; returns the last ply."""
    line, counts = search.line, search.counts
    leaves = rule.shared and not search.marks.stays
    while ply >= floor and line.total[floor] > 0:
        or_node = game.player(line.states[ply]) == 0
        rule.refresh(search, ply)
        proof, disproof = combine(line.proof[ply], line.disproof[ply], 0, line.total[ply], or_node, search.task.weak)
        spent = counts[NODES] >= until
        going_back = rule.goes_back and ((leaves and spent) or not may_visit(game, counts))
        if (spent and not leaves) or (going_back and ply == 0):
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
    return ply


@inlined
def may_visit(game, counts):
    """Whether all moves of one more position may be visited."""
    return counts[NODES] + game.max_moves <= counts[LIMIT]


@inlined
def leave(rule, search, ply, numbers):
    """Store the numbers of the node at `ply`, and hand them to its parent; returns the ply to go on with."""
    line, (proof, disproof) = search.line, numbers
    store(search.table, line.key[ply], proof, disproof, worth(search, ply, search.counts[NODES] - line.before[ply]))
    if ply > 0:
        rule.mark(search, line.key[ply], -1)
        line.proof[ply - 1, line.chosen[ply - 1]] = proof
        line.disproof[ply - 1, line.chosen[ply - 1]] = disproof
    elif proof != 0 and disproof != 0:
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.raised_limits(search.task, proof, disproof)
        return 0
    return ply - 1


@inlined
def worth(search, ply, work):
    """What earns the node at `ply`, whose numbers cost that much work, its place in the table."""
    return len(search.line.key) - ply if search.task.by_depth else work


@inlined
def enter(game, rule, search, ply):
    """Make the chosen move of the node at `ply`."""
    line, chosen = search.line, search.line.chosen[ply]
    game.play_into(line.states[ply], line.moves[ply, chosen], line.states[ply + 1])
    line.key[ply + 1] = line.keys[ply, chosen]
    rule.mark(search, line.key[ply + 1], 1)


@inlined
def table_key(game, search, ply):
    """The table's key of the node at `ply`, by position, goal and the plies left for it."""
    state, task = search.line.states[ply], search.task
    key = game.least_key(state, search.scratch.image)[0] if task.symmetries else game.key(state)
    return salted(game, task.goal, key, ply)


@inlined
def open_node(game, rule, search, ply):
    """List the moves of the node at `ply`, and the numbers of the positions after them."""
    task, line, counts = search.task, search.line, search.counts
    state, after = line.states[ply], line.states[ply + 1]
    or_node = game.player(state) == 0
    line.before[ply] = counts[NODES]
    line.total[ply] = game.sound_moves(state, line.moves[ply])
    for i in range(line.total[ply]):
        game.play_into(state, line.moves[ply, i], after)
        counts[NODES] += 1
        line.keys[ply, i] = table_key(game, search, ply + 1)
        fetch(search.table, line.keys[ply, i])
        outcome = verdict(game, task, after, ply + 1, counts)
        proof, disproof = first_numbers(game, task, after, outcome, search.scratch.moves)
        if outcome == OPEN:
            held, stored_proof, stored_disproof = probe(search.table, line.keys[ply, i])
            if held:
                proof, disproof = stored_proof, stored_disproof
        line.proof[ply, i], line.disproof[ply, i] = proof, disproof
        if (proof if or_node else disproof) == 0:  # it settles the node, whatever the later moves
            line.total[ply] = i + 1
            return
    rule.look_below(game, search, ply)


@inlined
def least_two(numbers, count):
    """(index of the least, the second least) of the first `count`; INFINITE if there is no second."""
    best, least, second = 0, INFINITE, INFINITE
    for i in range(count):
        number = np.int64(numbers[i])
        if number < least:
            best, least, second = i, number, least
        else:
            second = min(second, number)
    return best, second


@inlined
def remainder(task, limit, total, numbers, count, chosen):
    """The rest of a sum's threshold for the chosen one of `count` children; infinity stays infinite."""
    if limit == INFINITE:
        return limit
    if not task.weak:
        return limit - (min(total, MOST) - numbers[chosen])
    others = -1
    for i in range(count):
        others += numbers[i] != 0
    return limit - others


@helper
def beyond(number, epsilon):
    """A threshold above a number: by one, or by the share epsilon of it (Pawlewicz & Lew 2007)."""
    return max(number + 1, np.int64(np.ceil(number * (1.0 + epsilon))))
