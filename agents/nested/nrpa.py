"""NRPA, nested rollout policy adaptation (C. Rosin, "Nested rollout policy adaptation for Monte Carlo tree search",
IJCAI 2011).

    nrpa(0, policy)      a playout whose moves are drawn by the softmax of the policy
    nrpa(l, policy)      N times: a sequence of nrpa(l - 1, a copy of the policy); if it is as good as the best sequence
                         of this call or better, it is the best; then the policy is adapted to the best

A sequence as good replaces the best one (>=), as in Rosin's listing.  agents/core/policy.py has the policy and how it
adapts; sequences are kept with the codes of all legal moves, so that adapting does not replay the game.  When the
highest level has ended, it is begun anew with a fresh policy until the budget is used up.

With `bias` the game's own liking of moves takes part, and with `temperature` the odds are flatter or steeper:
generalized NRPA (T. Cazenave, "Generalized nested rollout policy adaptation", 2020).  With `repetitions` r > 0 a level
ends when the same best sequence has come r times, since its policy has then become one sequence (T. Cazenave, "Nested
rollout policy adaptation with limited repetitions").

For two players it is an experiment: at every level the moves of the player to move are adapted to the best sequence
for that player, those of the opponent to the best for the opponent, both discounted by length; the first move of the
player's best sequence is played.  That sequence may rest on an opponent's mistake that the opponent had not yet
unlearnt: it is no minimax value.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from agents.core.policy import (
    Coding,
    Lines,
    Policy,
    adapt,
    bytes_needed,
    coding_for,
    copy_line,
    copy_policy,
    forget,
    has_room,
    list_numbers,
    new_lines,
    new_policy,
    play_line,
    with_room,
)
from agents.nested.agent import Nested
from agents.nested.incumbent import may_go_on, note_best, value_of
from games.core.game import check_range
from games.core.jit import inlined, kernel
from games.core.playout import copy_state


class Options(NamedTuple):
    """The numbers of NRPA."""

    levels: int
    iterations: int
    alpha: float
    temperature: float
    bias: float
    repetitions: int


class Search(NamedTuple):
    """The levels of one search; policy l - 1 and line l are those of level l, line 0 is the playout's.

    With two players line levels + l is the opponent's best of level l.
    """

    policy: Policy
    lines: Lines
    state: np.ndarray  # dtype[state_size], of the playout
    moves: np.ndarray  # int32[max_moves]
    iterations: np.ndarray  # int64[levels + 1], done by the call of each level
    repeats: np.ndarray  # int64[levels + 1], how often its best sequence has come again
    values: np.ndarray  # float64[levels + 1], the value of its best line
    foe_values: np.ndarray  # float64[levels + 1], the value of the opponent's best line, for the player to move


@dataclass(frozen=True)
class NRPA(Nested):
    """Nested rollout policy adaptation.

    level, iterations: N calls of the level below in each call; alpha: the step of adaptation
    features: policies go by the game's feature codes instead of its move codes
    bias: how much the game's own liking of moves counts; temperature: of the softmax
    repetitions: a call ends when its best sequence has come so many times; 0: it does not
    """

    level: int = 3
    iterations: int = 100
    alpha: float = 1.0
    features: bool = False
    bias: float = 0.0
    temperature: float = 1.0
    repetitions: int = 0

    name = "nrpa"

    def __post_init__(self):
        super().__post_init__()
        check_range("iterations", self.iterations, 1, 10**9)
        check_range("repetitions", self.repetitions, 0, 10**9)
        check_positive("alpha", self.alpha)
        check_positive("temperature", self.temperature)

    def coding(self, game) -> Coding:
        """How its policies name moves."""
        return coding_for(game, self.features, self.bias != 0)

    def line_count(self, game):
        """Lines of all levels."""
        return 1 + self.level * game.players

    def bytes_needed(self, game):
        return bytes_needed(game, self.coding(game), self.level, self.line_count(game))

    def new_search(self, game):
        levels = self.level + 1
        return Search(
            new_policy(game, self.coding(game), self.level),
            new_lines(game, self.line_count(game), self.bias != 0),
            np.zeros(game.state_size, game.dtype),
            np.zeros(game.max_moves, np.int32),
            np.zeros(levels, np.int64),
            np.zeros(levels, np.int64),
            np.zeros(levels),
            np.zeros(levels),
        )

    def begin(self, search, game, state):
        forget(search.policy, self.coding(game))
        restart(search)

    def run(self, search, game, state, found, until, rng):
        coding = self.coding(game)
        search = search._replace(policy=with_room(game, coding, search.policy))
        nrpa_kernel(game, coding, search, found, state, until, self.options(), rng)
        return search

    def search_by_leaf(self, search):
        game, searches, below = (
            search.game,
            search.player.searches,
            replace(self, level=self.level - 1, workers=1, parallel="root"),
        )
        for arrays in searches:
            self.begin(arrays, game, search.state)
        best, moves = -np.inf, ()
        for _ in range(self.iterations):
            found = search.player.on_threads(lambda i: self.called(search, below, i))
            for score, line in filter(None, found):
                if score >= best:
                    best, moves = score, line
                    search.note(score, line)
            if search.is_over():
                return
            line = np.array(moves, np.int32)
            search.player.on_threads(lambda i: self.learn_line(search, i, line))

    def called(self, search, below, i):
        """Worker i's search at the level below, with a copy of the highest level's policy."""
        copy_down_kernel(search.game, search.player.searches[i], self.level - 1)
        return search.call(i, below, search.state)

    def learn_line(self, search, i, line) -> None:
        """Adapt worker i's own policy of the highest level to a sequence."""
        game, coding = search.game, self.coding(search.game)
        arrays = search.player.searches[i]
        arrays = arrays._replace(policy=with_room(game, coding, arrays.policy))
        search.player.searches[i] = arrays
        learn_line_kernel(game, coding, arrays, search.state, line, self.options())

    def options(self) -> Options:
        """The numbers that kernels read."""
        return Options(self.level, self.iterations, self.alpha, self.temperature, self.bias, self.repetitions)

    def choice(self, game, state, searches, found, table):
        """For two players: the place of the best sequence's first move, and the mean result below it."""
        best = max(found, key=lambda one: one.score[0])
        place = table.moves.tolist().index(int(best.moves[0]))
        return place, float(table.means[place])


def check_positive(name: str, value: float) -> None:
    """ValueError that names the parameter unless it is above 0."""
    if not value > 0:
        raise ValueError(f"{name} = {value} is out of range: it is more than 0")


def restart(search: Search) -> None:
    """Begin the call of every level."""
    search.iterations[:] = search.repeats[:] = 0
    search.values[:] = -np.inf
    search.foe_values[:] = np.inf


@kernel
def nrpa_kernel(game, coding, search, found, root, until, options, rng):
    """Go on until there have been `until` playouts in all, or the log of `found` or the table of codes is full."""
    player = game.player(root)
    while may_go_on(found, until) and has_room(game, coding, search.policy, 1):
        lines = search.lines
        copy_state(game, root, search.state)
        lines.length[0] = 0
        score = play_line(game, coding, search.policy, 0, search.state, lines, 0, search.moves, options, rng)
        value = value_of(game, score, player, lines.length[0])
        search.values[0] = search.foe_values[0] = value
        found.playouts[0] += 1
        found.root_playouts[lines.chosen[0, 0]] += 1
        found.root_sums[lines.chosen[0, 0]] += value if game.players == 1 else value * (lines.length[0] + 1.0)
        note_best(found, lines.moves, 0, lines.length[0], value)
        finish_call(game, coding, search, found, player, options)


@kernel
def copy_down_kernel(game, search, levels):
    """Begin a call of the highest of `levels`, and of those below it, with copies of the policy above them."""
    for level in range(levels, 0, -1):
        begin_call(search, level)
        copy_policy(search.policy, level, level - 1)


@kernel
def learn_line_kernel(game, coding, search, root, moves, options):
    """Adapt the policy of the highest level to a sequence, which is replayed, since its numbers are another worker's."""
    lines, state, line = search.lines, search.state, options.levels
    copy_state(game, root, state)
    for ply in range(len(moves)):
        count = game.legal_moves(state, search.moves)
        list_numbers(game, coding, search.policy, state, lines, line, ply, search.moves, count, options.bias)
        place = 0
        while search.moves[place] != moves[ply]:
            place += 1
        lines.players[line, ply], lines.moves[line, ply] = 0, moves[ply]
        lines.chosen[line, ply] = lines.ends[line, ply] + place
        game.play(state, moves[ply])
    lines.length[line] = len(moves)
    adapt(coding, search.policy, line - 1, lines, line, 0, options.alpha, options.temperature)


@inlined
def finish_call(game, coding, search, found, player, options):
    """Hand the sequence of a playout to level 1, and that of every call that ends by it to the level above."""
    level = 1
    while level <= options.levels:
        take_best(game, coding, search, level, options)
        search.iterations[level] += 1
        repeated = options.repetitions > 0 and search.repeats[level] >= options.repetitions
        if search.iterations[level] < options.iterations and not repeated:
            learn(game, coding, search, level, player, options)
            break
        level += 1  # the call has ended: its policy is of no more use
    if level > options.levels:
        found.searches[0] += 1
        level = options.levels
        begin_call(search, level)
        for number in range(search.policy.used[0]):
            search.policy.weights[level - 1, number], search.policy.odds[level - 1, number] = 0.0, 1.0
    for below in range(level - 1, 0, -1):
        begin_call(search, below)
        copy_policy(search.policy, below, below - 1)


@inlined
def begin_call(search, level):
    """Nothing has been found by the new call of a level."""
    search.iterations[level] = search.repeats[level] = 0
    search.values[level], search.foe_values[level] = -np.inf, np.inf


@inlined
def take_best(game, coding, search, level, options):
    """Take the sequence of the level below if it is as good as the best of this level's call."""
    lines, value = search.lines, search.values[level - 1]
    if value >= search.values[level]:
        same = value == search.values[level] and options.repetitions > 0 and same_moves(lines, level - 1, level)
        search.repeats[level] = search.repeats[level] + 1 if same else 1
        search.values[level] = value
        copy_line(coding, lines, level - 1, level)
    if game.players == 2 and search.foe_values[level - 1] <= search.foe_values[level]:
        search.foe_values[level] = search.foe_values[level - 1]
        copy_line(coding, lines, options.levels + level - 1 if level > 1 else 0, options.levels + level)


@inlined
def same_moves(lines, one, other):
    """Whether two lines are the same sequence."""
    if lines.length[one] != lines.length[other]:
        return False
    for ply in range(lines.length[one]):
        if lines.moves[one, ply] != lines.moves[other, ply]:
            return False
    return True


@inlined
def learn(game, coding, search, level, player, options):
    """Adapt the policy of a level to its best sequence, and with two players the opponent's moves to the opponent's."""
    policy, lines, row = search.policy, search.lines, level - 1
    adapt(coding, policy, row, lines, level, player, options.alpha, options.temperature)
    if game.players == 2:
        adapt(coding, policy, row, lines, options.levels + level, 1 - player, options.alpha, options.temperature)
