"""RAVE and GRAVE: a move is also judged by the simulations in which it was played later (AMAF, all moves as first).

    value = (1 - b) mean + b amaf       b = a / (a + n + bias * a * n)

n and mean are the child's visits and mean reward; a and amaf count the simulations, through a reference node, in which
the player who is to move played that move anywhere below it, and their mean reward.  The child of the largest value is
selected; there is no exploration term.  RAVE refers to the node itself (Gelly & Silver, "Combining online and offline
knowledge in UCT", 2007), GRAVE to its closest ancestor with more than `ref` visits (Cazenave, "Generalized rapid action
value estimation", 2015): RAVE is ref = 0.  A move is the same elsewhere if it has the same move code.

The counts of a search lie in one open-addressing table, by node and code.

With `lanes` a leaf is played out so many times, and all results are backed up.  The playouts come one after another,
since the moves of vector lanes are not known; what is saved is the counting, as a code that several of them have costs
a node one look into the table.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.probing import find_slot
from agents.core.tree import UNPROVEN
from agents.montecarlo.leaves import LANES
from agents.montecarlo.search import Rule, TreeSearch, certain_bound
from games.core.game import CHANCE, check_choice, check_range
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
    """A table of counts by node and code, and the line of the simulation at hand.

    The line is the codes of the moves in the tree, the last of them at max_plies - 1, and then the codes of its
    playouts, each once.
    """

    keys: np.ndarray  # int64[size], EMPTY or the key of an entry's node and code; size is a power of two
    counts: np.ndarray  # int64[size], beside its key in memory: visits * VISIT + twice the rewards of whose code it is
    used: np.ndarray  # int64[1], entries
    line: np.ndarray  # int64[max_plies + the most codes of playouts]; -1 for outcomes of chance in the tree
    before: np.ndarray  # int64[the same], where in the line the same code stands last before, or -1
    words: np.ndarray  # int64[the same], what each code adds to counts
    playout: np.ndarray  # int64[the same], the number of the last playout that had the code
    slots: np.ndarray  # int64[the same], where the code is in `codes`
    codes: np.ndarray  # int64[a power of two], EMPTY or a code of the playouts
    places: np.ndarray  # int64[the same], beside its code in memory: where it stands in the line
    moves: np.ndarray  # int64[2, max_plies], codes of a playout, and who made them
    length: np.ndarray  # int64[1], codes of the playouts
    state: np.ndarray  # dtype[state_size], to replay in


@dataclass(frozen=True)
class GraveRule(Rule):
    """See the top of the file."""

    def best_child(self, game, search, walk, node):
        tree, reference = search.tree, reference_node(search, walk)
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
        memory, state, reward, score = search.memory, walk.state, 0.0, 0.0
        for number in range(self.lanes):
            if self.lanes > 1:
                state = memory.state
                copy_state(game, walk.state, state)
            plies = play_codes(game, memory, state, walk.moves, rng)
            score = game.score(state)
            note_playout(memory, number, plies, reward_of(score))
            reward += reward_of(score)
        return score if self.lanes == 1 else 2.0 * reward / self.lanes - 1.0

    def learn(self, game, search, walk, score):
        """Count the simulation, at every node of the path, for the moves that were made below it."""
        memory = search.memory
        note_path(game, search, walk, np.int64(2.0 * self.reward(score)), np.int64(self.lanes))
        begin, end = game.max_plies - (walk.length[0] - 1), game.max_plies + memory.length[0]
        for i in range(walk.length[0]):
            for j in range(begin + i, end):
                if memory.line[j] >= 0 and memory.before[j] < begin + i:  # a move counts once in a simulation
                    count_move(memory, walk.path[i], memory.line[j], memory.words[j])
        forget_playouts(game, memory)


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
def play_codes(game, memory, state, moves, rng):
    """Play random moves to the end; returns how many, whose codes and players are in memory.moves."""
    plies = 0
    while not game.is_over(state):
        move, player = game.random_move(state, moves, rng), game.player(state)
        memory.moves[0, plies] = game.move_code(state, move) if player != CHANCE else -1
        memory.moves[1, plies] = player
        game.play(state, move)
        plies += 1
    return plies


@helper
def note_playout(memory, number, plies, reward):
    """Put the codes of the playout of that number into the line, each once; reward is the first player's."""
    begin = len(memory.moves[0])
    for ply in range(plies):
        code = memory.moves[0, ply]
        if code < 0:
            continue
        slot = find_slot(memory.codes, memory.codes, EMPTY, code, mix(np.uint64(code)))
        if memory.codes[slot] == EMPTY:
            place = begin + memory.length[0]
            memory.codes[slot], memory.places[slot], memory.slots[place] = code, place, slot
            memory.line[place], memory.before[place], memory.words[place] = code, -1, 0
            memory.playout[place] = -1
            memory.length[0] += 1
        place = memory.places[slot]
        if memory.playout[place] != number:
            memory.playout[place] = number
            memory.words[place] += VISIT + np.int64(2.0 * (reward if memory.moves[1, ply] == 0 else 1.0 - reward))


@helper
def note_path(game, search, walk, doubled, playouts):
    """Put the codes of the moves in the tree into the line, and say where those of the playouts stand there.

    doubled: twice the sum of the first player's rewards in the playouts.
    """
    memory, plies = search.memory, walk.length[0] - 1
    begin = game.max_plies - plies
    copy_state(game, walk.root, memory.state)
    for i in range(plies):
        move, player, place = search.tree.move[walk.path[i + 1]], walk.movers[i + 1], begin + i
        code = np.int64(game.move_code(memory.state, move)) if player != CHANCE else np.int64(-1)
        memory.line[place] = code
        memory.words[place] = VISIT * playouts + (doubled if player == 0 else 2 * playouts - doubled)
        memory.before[place] = last_before(memory, begin, place)
        game.play(memory.state, move)
        slot = find_slot(memory.codes, memory.codes, EMPTY, code, mix(np.uint64(code)))
        if code >= 0 and memory.codes[slot] == code:
            memory.before[memory.places[slot]] = place


@helper
def last_before(memory, begin, place):
    """Where in the line, from `begin` on, the code of a place stands last before it, or -1."""
    earlier = place - 1
    while earlier >= begin and memory.line[earlier] != memory.line[place]:
        earlier -= 1
    return earlier if earlier >= begin else -1


@helper
def forget_playouts(game, memory):
    """Empty the playouts' part of the line."""
    for place in range(game.max_plies, game.max_plies + memory.length[0]):
        memory.codes[memory.slots[place]] = EMPTY
    memory.length[0] = 0


@helper
def count_move(memory, node, code, word):
    """Count what a code that was played below a node adds to its counts; a new entry needs room in the table."""
    key = key_of(node, code)
    entry = entry_of(memory, key)
    if memory.keys[entry] == EMPTY:
        if memory.used[0] > FILLED * len(memory.keys):
            return
        memory.keys[entry], memory.counts[entry] = key, 0
        memory.used[0] += 1
    memory.counts[entry] += word


@inlined
def key_of(node, code):
    """The key of a node and a code, which is below CODES: int64."""
    return np.int64(node) << 32 | np.int64(code)


@inlined
def entry_of(memory, key):
    """The entry of a key, or the empty place where it would be."""
    return find_slot(memory.keys, memory.keys, EMPTY, key, mix(np.uint64(key)))


@dataclass(frozen=True)
class GRAVE(TreeSearch):
    """Monte-Carlo tree search with AMAF values of an ancestor.

    ref: the ancestor has more visits than this; 0 makes it RAVE
    bias: how fast the AMAF value fades as the child is visited
    entries: places in the table of AMAF counts
    lanes: playouts of each leaf, one after another, whose moves are counted together
    """

    ref: int = 50
    bias: float = 1e-5
    entries: int = 1 << 20
    lanes: int = 1

    name: ClassVar[str] = "grave"
    private: ClassVar[tuple[str, ...]] = Amaf._fields[3:]

    def __post_init__(self):
        super().__post_init__()
        check_range("entries", self.entries, 1 << 10, 1 << 28)
        if self.entries & (self.entries - 1):
            raise ValueError(f"entries = {self.entries} is not a power of two")
        check_choice("lanes", self.lanes, LANES)
        if self.ref < 0 or self.bias < 0:
            raise ValueError(f"ref = {self.ref}, bias = {self.bias}: both can be 0 or more")
        if self.keep_tree:
            raise ValueError("keep_tree = True: grave begins each search anew, since its table belongs to one tree")

    def misfit(self, game):
        if game.code_limit > CODES:
            return f"{self.name} plays games whose move codes are below 2**32, and {game} has larger ones"
        return super().misfit(game)

    def search_rule(self, game):
        return GraveRule(self.solver, self.lanes)

    def options(self):
        return GraveOptions(self.ref, self.bias)

    def new_memory(self, game, nodes):
        most = min(self.lanes * game.max_plies, game.code_limit)  # different codes in playouts
        table, codes = (np.full((size, 2), EMPTY) for size in (self.entries, 2 << most.bit_length()))
        return Amaf(
            *table.T,
            np.zeros(1, np.int64),
            *np.zeros((5, game.max_plies + most), np.int64),
            *codes.T,
            np.zeros((2, game.max_plies), np.int64),
            np.zeros(1, np.int64),
            np.zeros(game.state_size, game.dtype),
        )

    def forget(self, memory):
        memory.keys[:] = EMPTY
        memory.used[0] = memory.length[0] = 0
