"""RAVE and GRAVE: a move is also judged by the simulations in which it was played later (AMAF, all moves as first).

    value = (1 - b) mean + b amaf       b = a / (a + n + bias * a * n)

n and mean are the child's visits and mean reward; a is the number of simulations, through a reference node, in which
the player to move played that move anywhere below it, and amaf their mean reward.  The child of the largest value is
selected; there is no exploration term.  RAVE refers to the node itself (Gelly & Silver, "Combining online and offline
knowledge in UCT", 2007), GRAVE to its closest ancestor with more than `ref` visits (Cazenave, "Generalized rapid action
value estimation", 2015): RAVE is ref = 0.  Moves with the same code are the same.

With `lanes` each leaf has that many playouts, all backed up.  They come one after another, since the moves of vector
lanes are unknown; this saves counting: a code of several playouts costs a node one access to the table.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_compare_exchange
from arena.agents.core.probing import find_slot, places_for, room_for
from arena.agents.core.selection import prefetch
from arena.agents.montecarlo.leaves import LANES
from arena.agents.montecarlo.method import Method
from arena.games.core.game import CHANCE, check_choice
from arena.games.core.jit import helper, inlined
from arena.games.core.play.playout import copy_state
from arena.games.core.random import mix

EMPTY = np.int64(-1)
MOST_CODES = 1 << 32  # move codes are below it, so that a key holds a node and a code
VISIT = 1 << 32
CODES, PLIES, DONE = range(3)  # of `length`
REFERENCE, SEEN = range(2)  # of `look`


class Amaf(NamedTuple):
    """An open-addressing table of counts by node and code, and the line of the current simulation.

    The line: the codes of the moves in the tree, which end at max_plies - 1, then the codes of the playouts, each once.
    """

    keys: np.ndarray  # int64[size], EMPTY or an entry's node and code; size is a power of two
    counts: np.ndarray  # int64[size], next to its key in memory: visits * VISIT + twice the player's rewards
    used: np.ndarray  # int64[2], entries that the worker has made, and the most that it may make
    line: np.ndarray  # int64[max_plies + the most codes of playouts]; -1 for outcomes of chance in the tree
    before: np.ndarray  # int64[the same], the previous place of the same code, or -1
    words: np.ndarray  # int64[the same], each code's addition to counts
    playout: np.ndarray  # int64[the same], the last playout that had the code
    slots: np.ndarray  # int64[the same], the code's place in `codes`
    codes: np.ndarray  # int64[a power of two], EMPTY or a code of the playouts
    places: np.ndarray  # int64[the same], next to its code in memory: its place in the line
    moves: np.ndarray  # int64[2, max_plies], codes of the current playout's moves, and the players
    length: np.ndarray  # int64[3], CODES of the playouts, PLIES of the current one, and how many are DONE
    look: np.ndarray  # int64[2], the current node's REFERENCE, and how many simulations had SEEN a move
    state: np.ndarray  # dtype[state_size], to replay in
    leaf: np.ndarray  # dtype[state_size], the start of several playouts


@dataclass(frozen=True)
class GraveParameters:
    """ref: the ancestor has more visits than this; 0 makes it RAVE
    bias: how fast the AMAF value fades as the child is visited
    entries: places in the table of AMAF counts
    lanes: playouts of each leaf, one after another, whose moves are counted together
    """

    ref: int = 50
    bias: float = 1e-5
    entries: int = 1 << 20
    lanes: int = 1


@dataclass(frozen=True)
class Grave(GraveParameters, Method):
    """See the top of the file."""

    atomic: ClassVar[bool] = False  # whether threads share the table
    name: ClassVar[str] = "grave"
    part: ClassVar[str] = "selection"
    alone: ClassVar[tuple[str, ...]] = ("replace the exploration term",)
    apart: ClassVar[tuple[str, ...]] = ("cutoff", "score", "graph")  # results of its counts are 1, 0 and -1
    steps: ClassVar[bool] = True
    keeps: ClassVar[bool] = False
    private: ClassVar[tuple[str, ...]] = Amaf._fields[2:]
    lockless: ClassVar[bool] = True
    data_fields: ClassVar[tuple[str, ...]] = ("ref", "bias", "entries")
    ranges: ClassVar[dict] = {"entries": (1 << 10, 1 << 28), "ref": (0,), "bias": (0,)}

    def __post_init__(self):
        super().__post_init__()
        if self.entries & (self.entries - 1):
            raise ValueError(f"entries = {self.entries} is not a power of two")
        check_choice("lanes", self.lanes, LANES)

    def leaf_playouts(self):
        return self.lanes

    def misfit(self, game):
        if game.code_limit > MOST_CODES:
            return f"{self.name} plays games whose move codes are below 2**32, and {game} has larger ones"
        return None

    def new_memory(self, game, nodes):
        most = min(self.lanes * game.max_plies, game.code_limit)  # different codes in playouts
        table, codes = (np.full((size, 2), EMPTY) for size in (self.entries, 2 << most.bit_length()))
        return Amaf(
            *table.T,
            np.array([0, room_for(self.entries)], np.int64),
            *np.zeros((5, game.max_plies + most), np.int64),
            *codes.T,
            np.zeros((2, game.max_plies), np.int64),
            np.zeros(3, np.int64),
            np.zeros(2, np.int64),
            *np.zeros((2, game.state_size), game.dtype),
        )

    def fitted(self, game, playouts):
        return replace(self, entries=places_for((playouts + 1) * game.code_limit, self.entries))  # each visits a node

    def forget(self, memory):
        memory.keys[:] = EMPTY
        self.forget_own(memory)

    def forget_own(self, memory):
        memory.used[0] = memory.length[CODES] = 0

    def of_worker(self, memory, workers):
        if len(memory.keys) == self.entries:  # else there is room for all that they make together
            memory.used[1] //= workers
        return memory

    def for_threads(self):
        return GraveOnThreads(**vars(self))

    def look(self, game, search, walk):
        search.memory.look[REFERENCE] = reference_node(search, walk)

    def mean(self, game, search, walk, child, mean):
        tree, memory = search.tree, search.memory
        key = key_of(memory.look[REFERENCE], game.move_code(walk.state, tree.move[child]))
        entry = entry_of(memory, key)
        visits, counts = tree.visits[child], memory.counts[entry] if memory.keys[entry] != EMPTY else 0
        seen, doubled = counts // VISIT, counts % VISIT
        memory.look[SEEN] = seen
        if visits == 0 and seen == 0:
            return mean
        share = seen / (seen + visits + search.options.bias * seen * visits)
        return (1.0 - share) * mean + share * (0.5 * doubled / max(seen, 1))

    def explore(self, game, search, walk, child, term, constant):
        """0, except for a move without any statistics."""
        return term if search.tree.visits[child] == 0 and search.memory.look[SEEN] == 0 else 0.0

    def arrive(self, game, search, walk):
        memory = search.memory
        memory.length[PLIES] = memory.length[DONE] = 0
        if self.lanes > 1:
            copy_state(game, walk.state, memory.leaf)

    def made(self, game, search, walk, move):
        moves, length, player = search.memory.moves, search.memory.length, game.player(walk.state)
        moves[0, length[PLIES]] = game.move_code(walk.state, move) if player != CHANCE else -1
        moves[1, length[PLIES]] = player
        length[PLIES] += 1

    def played(self, game, search, walk, result):
        memory = search.memory
        note_playout(memory, 0.5 * (1.0 + result))
        if self.lanes > 1:
            copy_state(game, memory.leaf, walk.state)

    def learn(self, game, search, walk, result):
        memory = search.memory
        note_path(game, search, walk, np.int64(self.lanes * (1.0 + result)), np.int64(self.lanes))
        begin, end = game.max_plies - (walk.length[0] - 1), game.max_plies + memory.length[CODES]
        for i in range(walk.length[0]):
            for j in range(begin + i, end):
                fetch_entry(memory, key_of(walk.path[i], memory.line[j]))
            for j in range(begin + i, end):
                if memory.line[j] >= 0 and memory.before[j] < begin + i:  # a move counts once in a simulation
                    count_move(memory, walk.path[i], memory.line[j], memory.words[j], self.atomic)
        for place in range(game.max_plies, end):
            memory.codes[memory.slots[place]] = EMPTY
        memory.length[CODES] = 0


@dataclass(frozen=True)
class GraveOnThreads(Grave):
    """GRAVE as kernels of several threads know it."""

    atomic: ClassVar[bool] = True


@helper
def reference_node(search, walk):
    """The last node of the path with more than `ref` visits, else the root."""
    i = walk.length[0] - 1
    while i > 0 and search.tree.visits[walk.path[i]] <= search.options.ref:
        i -= 1
    return walk.path[i]


@helper
def note_playout(memory, reward):
    """Put a playout's codes into the line, each once; reward is the first player's."""
    begin, number = len(memory.moves[0]), memory.length[DONE]
    for ply in range(memory.length[PLIES]):
        code = memory.moves[0, ply]
        if code < 0:
            continue
        slot = find_slot(memory.codes, memory.codes, EMPTY, code, mix(np.uint64(code)))
        if memory.codes[slot] == EMPTY:
            place = begin + memory.length[CODES]
            memory.codes[slot], memory.places[slot], memory.slots[place] = code, place, slot
            memory.line[place], memory.before[place], memory.words[place] = code, -1, 0
            memory.playout[place] = -1
            memory.length[CODES] += 1
        place = memory.places[slot]
        if memory.playout[place] != number:
            memory.playout[place] = number
            memory.words[place] += VISIT + np.int64(2.0 * (reward if memory.moves[1, ply] == 0 else 1.0 - reward))
    memory.length[PLIES], memory.length[DONE] = 0, number + 1


@helper
def note_path(game, search, walk, doubled, playouts):
    """Put the codes of moves in the tree into the line; doubled: twice the first player's rewards in the playouts."""
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
    """The last place of the same code from `begin` to before `place`, or -1."""
    earlier = place - 1
    while earlier >= begin and memory.line[earlier] != memory.line[place]:
        earlier -= 1
    return earlier if earlier >= begin else -1


@helper
def count_move(memory, node, code, word, atomic):
    """Add a word to the counts of a code below a node; a new entry needs room in the table.

    With `atomic`, for tables that threads share, one of them gets an empty place, and another's first addition there
    may be lost.
    """
    key = key_of(node, code)
    entry = entry_of(memory, key)
    while memory.keys[entry] == EMPTY:
        if memory.used[0] > memory.used[1]:
            return
        memory.counts[entry] = 0
        if not atomic:
            memory.keys[entry] = key
        elif not atomic_compare_exchange(memory.keys, entry, EMPTY, key):
            entry = entry_of(memory, key)  # which may be what another thread has just made
            continue
        memory.used[0] += 1
    if atomic:
        atomic_add(memory.counts, entry, word)
    else:
        memory.counts[entry] += word


@inlined
def key_of(node, code):
    """The key of a node and a code, which is below MOST_CODES: int64."""
    return np.int64(node) << 32 | np.int64(code)


@inlined
def fetch_entry(memory, key):
    """Start to load the place where the search for a key begins; a place is two words."""
    prefetch(memory.keys, 2 * np.int64(mix(np.uint64(key)) & np.uint64(len(memory.keys) - 1)))


@inlined
def entry_of(memory, key):
    """The entry of a key, or the empty place where it belongs."""
    return find_slot(memory.keys, memory.keys, EMPTY, key, mix(np.uint64(key)))
