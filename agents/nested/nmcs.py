"""NMCS, nested Monte-Carlo search (T. Cazenave, "Nested Monte-Carlo search", IJCAI 2009).

    nested(0, s)     a playout from s
    nested(l, s)     until the game is over: nested(l - 1, ...) after every legal move; if the best of their sequences
                     is better than the best one of this call, it is the best; make the best sequence's next move

Following the remembered best sequence is worth a third of the score.  When the highest level has ended, it starts again
until the budget is used up.

With `lazy` p > 0 a call from level 2 on looks before it searches (lazy NMCS: M. Roucairol, J. Arjonilla, A. Saffidine &
T. Cazenave, "Lazy nested Monte Carlo search for coalition structure generation", ICAART 2024):

    e(m)      the mean score of p playouts after the legal move m
    theta(d)  (1 - ratio) * mean + ratio * largest, of all e d moves after the root, in this search so far
    lazily    nested(l - 1, ...) after the moves with e(m) >= theta(d), a playout after the others

The playouts of a look take part in the best sequence.  As in the authors' program (RoucairolMilo/coalition), the
threshold takes in all moves of a step before the first is compared with it; where that program looks at all moves, it
has p = 2 and the ratio 0.9.

For two players (T. Cazenave, A. Saffidine, M. Schofield & M. Thielscher, "Nested Monte Carlo search for two-player
games", AAAI 2016): every move is tried, and the best one for the player to move is made; no sequence is remembered,
since the opponent may depart from it; results are divided by the length of the game; after a winning move no other is
tried (cut on win).  The highest level ends when the root's moves have been tried; the move with the best mean is
played.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.children import moves_of
from arena.agents.core.tree_arrays import shuffled_moves
from arena.agents.core.tree_node import after
from arena.agents.nested.incumbent import DONE, may_go_on, note_best, value_of
from arena.agents.nested.nested_agent import Nested
from arena.games.core.game import check_choice, check_range
from arena.games.core.jit import Compilable, inlined, kernel
from arena.games.core.play.playout import copy_state


@dataclass(frozen=True)
class RandomMoves(Compilable):
    """Playouts of uniformly random moves."""

    def step(self, game, state, moves, rng):
        return game.random_step(state, moves, rng)


@dataclass(frozen=True)
class TabuMoves(Compilable):
    """Playouts that avoid what the game calls tabu."""

    def step(self, game, state, moves, rng):
        return game.random_step_tabu(state, moves, rng)


PLAYOUTS = {"random": RandomMoves(), "tabu": TabuMoves()}


class Options(NamedTuple):
    """What a search does."""

    memory: bool  # whether a call follows its best sequence from step to step
    lazy: int  # playouts of a look at a move; 0: none
    ratio: float  # where the threshold lies between the mean and the largest look


class Looks(NamedTuple):
    """What lazy NMCS has seen: `means` of the current step of each level's call, the others by depth."""

    done: np.ndarray  # int64[levels + 1], playouts of looks in this step
    means: np.ndarray  # float64[levels + 1, max_moves], mean scores of the playouts after each move
    counts: np.ndarray  # int64[max_plies], looks at each number of moves after the root
    sums: np.ndarray  # float64[max_plies], of their means
    largest: np.ndarray  # float64[max_plies], of their means


class Calls(NamedTuple):
    """The calls of all levels by rows; row 0 of states, moves and lines is the playout's."""

    states: np.ndarray  # dtype[levels + 1, state_size], the call's position
    moves: np.ndarray  # int32[levels + 1, max_moves], the legal moves there
    counts: np.ndarray  # int64[levels + 1], how many
    tried: np.ndarray  # int64[levels + 1], how many have been tried
    plies: np.ndarray  # int64[levels + 1], moves since the root
    lines: np.ndarray  # int32[levels + 1, max_plies], the call's best sequence, from the root
    lengths: np.ndarray  # int64[levels + 1], of it
    values: np.ndarray  # float64[levels + 1], its value for the player to move at the root
    current: np.ndarray  # int64[1], the lowest level with a call; -1 before the first
    sums: np.ndarray  # float64[2, max_moves], of the root's moves: complete trials, the sum of their values
    looks: Looks


@dataclass(frozen=True)
class NMCS(Nested):
    """Nested Monte-Carlo search.

    level: how deep searches are nested
    playout: how playouts draw moves, "random" or "tabu"; memory: follow the best sequence (one player)
    lazy: playouts after each move by which a call decides whether to search there (one player); 0: it always does
    ratio: how good their mean must be: from 0, the mean of all of them at that depth, to 1, the largest of these
    """

    level: int = 2
    playout: str = "random"
    memory: bool = True
    lazy: int = 0
    ratio: float = 0.9

    name: ClassVar[str] = "nmcs"

    def __post_init__(self):
        super().__post_init__()
        check_choice("playout", self.playout, PLAYOUTS)
        check_range("lazy", self.lazy, 0, 10**6)
        check_range("ratio", self.ratio, 0, 1)
        if self.lazy and self.level < 2:
            raise ValueError(f"level = {self.level}: lazy = {self.lazy} is for level 2 and more: it spares calls below")
        if self.lazy and self.parallel == "leaf":
            raise ValueError(f"lazy = {self.lazy} and parallel = 'leaf' exclude each other")

    def own_needs(self):
        needs = replace(super().own_needs(), tabu_playouts=self.playout == "tabu")
        return replace(needs, players=(1,)) if self.lazy else needs

    def bytes_needed(self, game):
        state = game.state_size * np.dtype(game.dtype).itemsize
        each = state + 4 * (game.max_moves + game.max_plies) + 8 * game.max_moves
        return (self.level + 1) * each + 16 * game.max_moves + 24 * game.max_plies

    def new_search(self, game):
        levels = self.level + (1 if self.parallel == "root" else 0)  # the highest of a shared search needs no row
        return Calls(
            np.zeros((levels, game.state_size), game.dtype),
            np.zeros((levels, game.max_moves), np.int32),
            *(np.zeros(levels, np.int64) for _ in range(3)),
            np.zeros((levels, game.max_plies), np.int32),
            np.zeros(levels, np.int64),
            np.zeros(levels),
            np.zeros(1, np.int64),
            np.zeros((2, game.max_moves)),
            new_looks(game, levels),
        )

    def begin(self, search, game, state):
        search.current[0] = -1
        search.sums[:] = 0.0

    def run(self, search, game, state, incumbent, rng):
        options = Options(self.memory, self.lazy, self.ratio)
        nmcs_kernel(game, PLAYOUTS[self.playout], search, incumbent, state, options, rng)
        return search

    def search_by_leaf(self, search):
        game, below = search.game, replace(self, level=self.level - 1, workers=1, parallel="root")
        state, line, best, sequence = search.state.copy(), [], -np.inf, []
        while not game.is_over(state) and not search.is_over():
            moves = moves_of(game, state, search.rngs[0])
            states = [after(game, state, move) for move in moves]
            results = search.player.on_threads(lambda i, states=states: self.tried(search, below, i, states))
            by_place = {place: result for of_worker in results for place, result in of_worker}
            for place, (score, rest) in sorted(by_place.items()):
                if score > best or (not self.memory and place == 0):
                    best, sequence = score, [*line, moves[place], *rest]
                    search.note(score, sequence)
            if not sequence:  # a restarted search ran out of time before it found anything
                return
            line.append(sequence[len(line)])
            game.play(state, line[-1])

    def tried(self, search, below, i, states) -> list:
        """Worker i's share of a step, every `workers`-th state, within the budget: (place, (score, moves))."""
        results = []
        for place in range(i, len(states), self.workers):
            if search.game.is_over(states[place]):
                search.playouts[i] += 1
                result = float(search.game.score(states[place])), ()
            else:
                arrays = search.player.searches[i]
                below.begin(arrays, search.game, states[place])
                result = search.call(i, below, states[place])
            if result is not None:
                results.append((place, result))
        return results

    def choice(self, searches, incumbents, table):
        """The move of the best mean by complete trials, or by playouts if none is complete."""
        trials, sums = sum(search.sums[:, : len(table.moves)] for search in searches)
        tried = trials > 0
        means = sums / np.maximum(trials, 1) if tried.any() else table.means
        place = int(np.argmax(np.where(tried if tried.any() else table.playouts > 0, means, -np.inf)))
        return place, float(means[place])


def new_looks(game, levels: int) -> Looks:
    """Nothing seen yet."""
    done, counts = np.zeros(levels, np.int64), np.zeros(game.max_plies, np.int64)
    return Looks(done, np.zeros((levels, game.max_moves)), counts, *np.zeros((2, game.max_plies)))


@kernel
def nmcs_kernel(game, playouts, calls, incumbent, root, options, rng):
    """Search on from `root` as long as `may_go_on`; `playouts` makes random moves."""
    top, player = len(calls.counts) - 1, game.player(root)
    while may_go_on(incumbent):
        level = calls.current[0]
        if level < 0:
            calls.current[0] = top
            copy_state(game, root, calls.states[top])
            calls.plies[top] = 0
            calls.looks.counts[:] = 0
            open_call(game, calls, top, rng)
        elif calls.counts[level] == 0:
            if level < top:
                hand_up(game, calls, level, level + 1, player, options)
            else:
                incumbent.searches[DONE] += 1
            calls.current[0] = level + 1 if level < top else -1
        elif calls.tried[level] == calls.counts[level]:
            advance(game, calls, level, top, rng)
        elif level == 1 or is_looking(calls, level, options) or is_poor(calls, level, options):
            play_out(game, playouts, calls, incumbent, level, player, options, rng)
        else:
            begin_below(game, calls, incumbent, level, player, rng)


@inlined
def open_call(game, calls, level, rng):
    """A call of a level begins in the state that is in its row."""
    calls.values[level], calls.lengths[level] = -np.inf, calls.plies[level]
    list_moves(game, calls, level, rng)


@inlined
def list_moves(game, calls, level, rng):
    """The legal moves of the call's position; none when the game is over.

    One player's are in random order, since the first of equals is kept: Left Move would gain by its order of moves.
    """
    state, moves = calls.states[level], calls.moves[level]
    calls.tried[level] = calls.counts[level] = calls.looks.done[level] = 0
    if not game.is_over(state):
        in_order = game.players == 2
        calls.counts[level] = game.legal_moves(state, moves) if in_order else shuffled_moves(game, state, moves, rng)


@inlined
def advance(game, calls, level, top, rng):
    """Make the best sequence's next move after all trials, unless that is for a player's real choice."""
    if game.players == 2 and level == top:
        calls.counts[level] = 0
        return
    game.play(calls.states[level], calls.lines[level, calls.plies[level]])
    calls.plies[level] += 1
    list_moves(game, calls, level, rng)


@inlined
def put_move(game, calls, level, place, row):
    """Write the state after one of a call's moves, and the line to it, into a row."""
    ply, move = calls.plies[level], calls.moves[level, place]
    copy_state(game, calls.states[level], calls.states[row])
    for i in range(ply):
        calls.lines[row, i] = calls.lines[level, i]
    calls.lines[row, ply] = move
    game.play(calls.states[row], move)
    calls.plies[row] = ply + 1


@inlined
def begin_below(game, calls, incumbent, level, player, rng):
    """Begin a call of the level below after the next move; a game that ends there counts as a playout."""
    below = level - 1
    put_move(game, calls, level, calls.tried[level], below)
    open_call(game, calls, below, rng)
    if calls.counts[below] == 0:
        settle(game, calls, incumbent, below, below, player)
    calls.current[0] = below


@inlined
def play_out(game, playouts, calls, incumbent, level, player, options, rng):
    """The value of a playout after the next move, to look at it or to try it."""
    looking = is_looking(calls, level, options)
    put_move(game, calls, level, calls.looks.done[level] // options.lazy if looking else calls.tried[level], 0)
    state, ply = calls.states[0], calls.plies[0]
    while not game.is_over(state):
        calls.lines[0, ply] = playouts.step(game, state, calls.moves[0], rng)
        ply += 1
    calls.plies[0] = ply
    settle(game, calls, incumbent, 0, 0, player)
    hand_up(game, calls, 0, level, player, options)
    if looking:
        note_look(calls, level, options)


@inlined
def is_looking(calls, level, options):
    """Whether a call has moves to look at before it tries any."""
    return level > 1 and calls.looks.done[level] < options.lazy * calls.counts[level]


@inlined
def note_look(calls, level, options):
    """Count the playout just made for the move looked at, and the move after its last one."""
    looks, done, ply = calls.looks, calls.looks.done[level], calls.plies[level]
    place, known = done // options.lazy, looks.counts[ply] > 0
    if done % options.lazy == 0:
        looks.means[level, place] = 0.0
    looks.means[level, place] += calls.values[0] / options.lazy
    looks.done[level] = done + 1
    if (done + 1) % options.lazy == 0:
        mean = looks.means[level, place]
        looks.largest[ply] = max(looks.largest[ply], mean) if known else mean
        looks.sums[ply] = looks.sums[ply] + mean if known else mean
        looks.counts[ply] += 1


@inlined
def is_poor(calls, level, options):
    """Whether the look at the next move was below the threshold."""
    if options.lazy == 0:
        return False
    looks, ply = calls.looks, calls.plies[level]
    mean = looks.sums[ply] / looks.counts[ply]
    return looks.means[level, calls.tried[level]] < (1.0 - options.ratio) * mean + options.ratio * looks.largest[ply]


@inlined
def settle(game, calls, incumbent, row, level, player):
    """Count a row's playout, which has ended."""
    value = value_of(game, game.score(calls.states[row]), player, calls.plies[row])
    calls.lengths[level], calls.values[level] = calls.plies[row], value
    incumbent.playouts[DONE] += 1
    top = len(calls.counts) - 1
    place = calls.tried[top]  # the root's move under trial, unless the highest call has gone on from the root
    if game.players == 2:
        incumbent.root_playouts[place] += 1
        incumbent.root_sums[place] += value * (calls.plies[row] + 1.0)
    note_best(incumbent, calls.lines, row, calls.lengths[level], value)


@inlined
def hand_up(game, calls, level, above, player, options):
    """Give a call's or a playout's best sequence to a level above."""
    value, top = calls.values[level], len(calls.counts) - 1
    best = calls.values[above]
    if game.players == 2:
        own = game.player(calls.states[above]) == player
        better = calls.tried[above] == 0 or (value > best if own else value < best)
        if above == top:
            calls.sums[0, calls.tried[above]] += 1.0
            calls.sums[1, calls.tried[above]] += value
        won = value > 0.0 if own else value < 0.0
    else:
        begun = calls.tried[above] > 0 or calls.looks.done[above] > 0
        better = value > best or not (options.memory or begun)
        won = False
    if better:
        calls.values[above], calls.lengths[above] = value, calls.lengths[level]
        for i in range(calls.plies[above], calls.lengths[level]):
            calls.lines[above, i] = calls.lines[level, i]
    if not is_looking(calls, above, options):
        calls.tried[above] = calls.counts[above] if won and above < top else calls.tried[above] + 1
