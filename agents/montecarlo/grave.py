"""RAVE and GRAVE: a move is also judged by the simulations in which it was played later (AMAF, all moves as first).

    value = (1 - b) mean + b amaf       b = a / (a + n + bias * a * n)

n and mean are the child's visits and mean reward; a and amaf count the simulations, through a reference node, in which
the player who is to move played that move anywhere below it, and their mean reward.  The child of the largest value is
selected; there is no exploration term.  RAVE refers to the node itself (Gelly & Silver, "Combining online and offline
knowledge in UCT", 2007), GRAVE to its closest ancestor with more than `ref` visits (Cazenave, "Generalized rapid action
value estimation", 2015): RAVE is ref = 0.  A move is the same elsewhere if it has the same move code.

The counts of a search lie in one open-addressing table, by node and code.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.probing import find_slot
from agents.core.tree import UNPROVEN, last_node
from agents.montecarlo.search import Rule, TreeSearch
from agents.montecarlo.uct import certain_bound
from games.core.game import CHANCE, check_range
from games.core.jit import helper, inlined
from games.core.playout import copy_state, reward_of
from games.core.random import mix

EMPTY = np.int64(-1)
CODES = 1 << 32  # move codes must be below it, so that a key holds a node and a code
VISIT = 1 << 32
FILLED = 0.75  # of a table; beyond that it takes no new entries, and goes on counting those it has


class GraveOptions(NamedTuple):
    """The numbers of GRAVE."""

    ref: int
    bias: float


class Amaf(NamedTuple):
    """A table of counts by node and code, and the moves of the simulation at hand."""

    keys: np.ndarray  # int64[size], EMPTY or the key of an entry's node and code; size is a power of two
    counts: np.ndarray  # int64[size], beside its key in memory: visits * VISIT + twice the rewards of whose code it is
    used: np.ndarray  # int64[1], entries
    line: np.ndarray  # int64[max_plies], codes of the simulation's moves, from the root; -1 for outcomes of chance
    before: np.ndarray  # int64[max_plies], where in the line the same code stands last before, or -1
    players: np.ndarray  # int64[max_plies], who made them
    length: np.ndarray  # int64[1]: how many of the line are the playout's, which stand at its beginning until learnt
    state: np.ndarray  # dtype[state_size], to replay in


@dataclass(frozen=True)
class GraveRule(Rule):
    """See the top of the file."""

    def best_child(self, game, search, walk):
        tree, node, reference = search.tree, last_node(walk), reference_node(search, walk)
        first = tree.first_child[node]
        best, best_value = first, -2.0
        for child in range(first, first + tree.children[node]):
            if self.solver and tree.proven[child] != UNPROVEN:
                value = certain_bound(tree, child, game.player(walk.state))
            else:
                value = child_value(search, child, reference, game.move_code(walk.state, tree.move[child]))
            if value > best_value:
                best, best_value = child, value
        return best

    def play_out(self, game, search, walk, rng):
        """Random moves, whose codes are kept in the line."""
        state, memory, plies = walk.state, search.memory, 0
        while not game.is_over(state):
            move = game.random_move(state, walk.moves, rng)
            memory.players[plies] = game.player(state)
            memory.line[plies] = game.move_code(state, move) if memory.players[plies] != CHANCE else -1
            game.play(state, move)
            plies += 1
        memory.length[0] = plies
        return game.score(state)

    def learn(self, game, search, walk, score):
        """Count the simulation, at every node of the path, for the moves that were made below it."""
        memory = search.memory
        insert_path(game, search, walk)
        find_earlier(memory)
        doubled = np.int64(2.0 * reward_of(score))
        for i in range(walk.length[0]):
            for j in range(i, memory.length[0]):
                if memory.line[j] >= 0 and memory.before[j] < i:  # a move counts once in a simulation
                    own = doubled if memory.players[j] == 0 else 2 - doubled
                    count_move(memory, walk.path[i], memory.line[j], own)
        memory.length[0] = 0


@helper
def reference_node(search, walk):
    """The closest node to the end of the path, itself included, with more than `ref` visits; or else the root."""
    i = walk.length[0] - 1
    while i > 0 and search.tree.visits[walk.path[i]] <= search.options.ref:
        i -= 1
    return walk.path[i]


@helper
def child_value(search, child, reference, code):
    """The mix of mean and AMAF; above all others where nothing is known."""
    tree, memory = search.tree, search.memory
    entry = entry_of(memory, key_of(reference, code))
    visits, counts = tree.visits[child], memory.counts[entry] if memory.keys[entry] != EMPTY else 0
    seen, doubled = counts // VISIT, counts % VISIT
    if visits == 0 and seen == 0:
        return 100.0
    share = seen / (seen + visits + search.options.bias * seen * visits)
    mean = tree.value[child] / max(visits, 1)
    amaf = 0.5 * doubled / max(seen, 1)
    return (1.0 - share) * mean + share * amaf


@helper
def insert_path(game, search, walk):
    """Put the codes of the moves in the tree before those of the playout."""
    memory, shift = search.memory, walk.length[0] - 1
    state, line, players = memory.state, memory.line, memory.players
    for j in range(memory.length[0] - 1, -1, -1):
        line[j + shift], players[j + shift] = line[j], players[j]
    copy_state(game, walk.root, state)
    for i in range(shift):
        move = search.tree.move[walk.path[i + 1]]
        players[i] = walk.movers[i + 1]
        line[i] = game.move_code(state, move) if players[i] != CHANCE else -1
        game.play(state, move)
    memory.length[0] += shift


@helper
def count_move(memory, node, code, doubled):
    """Count a simulation through a node, below which the code was played, and twice its reward; a new entry needs room
    in the table."""
    key = key_of(node, code)
    entry = entry_of(memory, key)
    if memory.keys[entry] == EMPTY:
        if memory.used[0] > FILLED * len(memory.keys):
            return
        memory.keys[entry], memory.counts[entry] = key, 0
        memory.used[0] += 1
    memory.counts[entry] += VISIT + doubled


@inlined
def key_of(node, code):
    """The key of a node and a code, which is below CODES: int64."""
    return np.int64(node) << 32 | np.int64(code)


@inlined
def entry_of(memory, key):
    """The entry of a key, or the empty place where it would be."""
    return find_slot(memory.keys, memory.keys, EMPTY, key, mix(np.uint64(key)))


@helper
def find_earlier(memory):
    """Find for each code of the line where it stands last before."""
    line = memory.line
    for j in range(memory.length[0]):
        earlier = j - 1
        while earlier >= 0 and line[earlier] != line[j]:
            earlier -= 1
        memory.before[j] = earlier


@dataclass(frozen=True)
class GRAVE(TreeSearch):
    """Monte-Carlo tree search with AMAF values of an ancestor.

    ref: the ancestor has more visits than this; 0 makes it RAVE
    bias: how fast the AMAF value fades as the child is visited
    entries: places in the table of AMAF counts
    """

    ref: int = 50
    bias: float = 1e-5
    entries: int = 1 << 20

    name: ClassVar[str] = "grave"

    def __post_init__(self):
        super().__post_init__()
        check_range("entries", self.entries, 1 << 10, 1 << 28)
        if self.entries & (self.entries - 1):
            raise ValueError(f"entries = {self.entries} is not a power of two")
        if self.ref < 0 or self.bias < 0:
            raise ValueError(f"ref = {self.ref}, bias = {self.bias}: both can be 0 or more")
        if self.keep_tree:
            raise ValueError("keep_tree = True: grave begins each search anew, since its table belongs to one tree")

    def misfit(self, game):
        if game.code_limit > CODES:
            return f"{self.name} plays games whose move codes are below 2**32, and {game} has larger ones"
        return super().misfit(game)

    def search_rule(self, game):
        return GraveRule(self.solver)

    def options(self):
        return GraveOptions(self.ref, self.bias)

    def new_memory(self, game):
        table, plies = np.full((self.entries, 2), EMPTY), game.max_plies
        return Amaf(
            table[:, 0],
            table[:, 1],
            np.zeros(1, np.int64),
            *np.zeros((3, plies), np.int64),
            np.zeros(1, np.int64),
            np.zeros(game.state_size, game.dtype),
        )

    def forget(self, memory):
        memory.keys[:] = EMPTY
        memory.used[0] = memory.length[0] = 0
