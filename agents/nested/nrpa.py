"""NRPA, nested rollout policy adaptation (C. Rosin, "Nested rollout policy adaptation for Monte Carlo tree search",
IJCAI 2011).

    nrpa(0, policy)      a playout whose moves are drawn by the softmax of the policy
    nrpa(l, policy)      N times: a sequence of nrpa(l - 1, a copy of the policy); if it is as good as the best sequence
                         of this call or better, it is the best; then the policy is adapted to the best

A sequence as good replaces the best one (>=), as in Rosin's listing.  Policies and their adaptation are in
agents/core/policy.py; sequences are kept with the codes of all legal moves, so that adapting does not replay the game.
When the highest level has ended, it starts again with a new policy until the budget is used up.

With `stabilization` P > 1 an iteration of level 1 makes P playouts by the same policy, which is then adapted once, to
the best sequence so far: a good sequence has longer to be found before the policy insists on another (T. Cazenave,
J.-B. Sevestre & M. Toulemont, "Stabilized nested rollout policy adaptation", 2021).

With `bias` the game's own preference for moves takes part, and with `temperature` the odds are flatter or steeper:
generalized NRPA (T. Cazenave, "Generalized nested rollout policy adaptation", 2020).  With `repetitions` r > 0 a level
ends when the same best sequence has come r times, since its policy then plays hardly anything else (T. Cazenave,
"Generalized nested rollout policy adaptation with limited repetitions", arXiv 2401.10420, 2024).

Play for two is experimental: at every level the moves of the player to move are adapted to the best sequence for that
player, those of the opponent to the best for the opponent, both discounted by length; the first move of the player's
best sequence is played.  That sequence may rest on a mistake that the opponent had not yet unlearnt, so its value is
not a minimax value.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.policy import (
    Coding,
    Learner,
    Settings,
    adapt,
    bytes_needed,
    check_positive,
    coding_for,
    copy_line,
    copy_policy,
    empty_policy,
    forget,
    has_room,
    new_learner,
    play_line,
    with_room,
    write_move,
)
from agents.nested.agent import Nested
from agents.nested.incumbent import DONE, may_go_on, note_best, value_of
from games.core.game import check_range
from games.core.jit import inlined, kernel
from games.core.playout import copy_state


class NRPAOptions(NamedTuple):
    """The numbers of NRPA besides those of its policies."""

    levels: int
    iterations: int
    repetitions: int
    stabilization: int


class Levels(NamedTuple):
    """The levels of one search; policy l - 1 and line l are those of level l, line 0 is the playout's.

    With two players line levels + l is the opponent's best of level l.
    """

    learner: Learner
    iterations: np.ndarray  # int64[levels + 1], done by the call of each level; of level 0, playouts of an iteration
    repeats: np.ndarray  # int64[levels + 1], how often in a row its best sequence has come
    values: np.ndarray  # float64[levels + 1], the value of its best line
    foe_values: np.ndarray  # float64[levels + 1], the value of the opponent's best line, for the player to move


@dataclass(frozen=True)
class Adapting(Nested):
    """Base of the searches that adapt policies.

    level, iterations: N calls of the level below in each call; alpha: the step of adaptation
    features: policies go by the game's feature codes instead of its move codes
    bias: how much the game's own preference for moves counts; temperature: of the softmax
    """

    level: int = 3
    iterations: int = 100
    alpha: float = 1.0
    features: bool = False
    bias: float = 0.0
    temperature: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        check_range("iterations", self.iterations, 1, 10**9)
        check_positive("alpha", self.alpha)
        check_positive("temperature", self.temperature)

    def coding(self, game) -> Coding:
        """How its policies name moves."""
        return coding_for(game, self.features, self.bias != 0)

    def learner(self, game, policies: int, lines: int) -> Learner:
        """So many policies and lines, empty."""
        settings = Settings(self.alpha, self.temperature, self.bias)
        return new_learner(game, self.coding(game), settings, policies=policies, lines=lines)


@dataclass(frozen=True)
class NRPA(Adapting):
    """Nested rollout policy adaptation.

    repetitions: a call ends when its best sequence has come so many times; 0: it goes on
    stabilization: playouts of an iteration of level 1, after which its policy is adapted once
    """

    repetitions: int = 0
    stabilization: int = 1

    name: ClassVar[str] = "nrpa"

    def __post_init__(self):
        super().__post_init__()
        check_range("repetitions", self.repetitions, 0, 10**9)
        check_range("stabilization", self.stabilization, 1, 10**9)

    def line_count(self, game):
        """Lines of all levels."""
        return 1 + self.level * game.players

    def bytes_needed(self, game):
        return bytes_needed(game, self.coding(game), policies=self.level, lines=self.line_count(game))

    def new_search(self, game):
        learner = self.learner(game, self.level, self.line_count(game))
        return Levels(learner, *np.zeros((2, self.level + 1), np.int64), *np.zeros((2, self.level + 1)))

    def begin(self, search, game, state):
        forget(search.learner)
        search.iterations[:] = search.repeats[:] = 0
        search.values[:] = -np.inf
        search.foe_values[:] = np.inf

    def run(self, search, game, state, incumbent, rng):
        coding = self.coding(game)
        search = search._replace(learner=with_room(game, coding, search.learner))
        nrpa_kernel(game, coding, search, incumbent, state, self.options(), rng)
        return search

    def search_by_leaf(self, search):
        game, player = search.game, search.player
        below = replace(self, level=self.level - 1, workers=1, parallel="root")
        for levels in player.searches:
            self.begin(levels, game, search.state)
        best, moves = -np.inf, ()
        for _ in range(self.iterations):
            results = player.on_threads(lambda i: self.called(search, below, i))
            for score, line in filter(None, results):
                if score >= best:
                    best, moves = score, line
                    search.note(score, line)
            if search.is_over():
                return
            line = np.array(moves, np.int32)
            player.on_threads(lambda i, line=line: self.learn_line(search, i, line))

    def called(self, search, below, i):
        """Worker i's search at the level below, with a copy of the highest level's policy."""
        copy_down_kernel(search.game, search.player.searches[i], self.level - 1)
        return search.call(i, below, search.state)

    def learn_line(self, search, i, line) -> None:
        """Adapt worker i's own policy of the highest level to a sequence."""
        game, levels, coding = search.game, search.player.searches[i], self.coding(search.game)
        levels = levels._replace(learner=with_room(game, coding, levels.learner))
        search.player.searches[i] = levels
        learn_line_kernel(game, coding, levels.learner, search.state, line, self.level)

    def options(self) -> NRPAOptions:
        """The numbers that its kernel reads."""
        return NRPAOptions(self.level, self.iterations, self.repetitions, self.stabilization)

    def choice(self, searches, incumbents, table):
        """The first move of the best sequence, and the mean result below it."""
        best = max(incumbents, key=lambda one: one.score[0])
        place = table.moves.tolist().index(int(best.moves[0]))
        return place, float(table.means[place])


@kernel
def nrpa_kernel(game, coding, levels, incumbent, root, options, rng):
    """Search on from `root` as long as `may_go_on` and the table of codes has room."""
    learner, player = levels.learner, game.player(root)
    lines = learner.lines
    while may_go_on(incumbent) and has_room(game, coding, learner, 1):
        copy_state(game, root, learner.state)
        lines.length[0] = 0
        score = play_line(game, coding, learner, 0, 0, learner.state, rng)
        value = value_of(game, score, player, lines.length[0])
        levels.values[0] = levels.foe_values[0] = value
        incumbent.playouts[DONE] += 1
        incumbent.root_playouts[lines.chosen[0, 0]] += 1
        incumbent.root_sums[lines.chosen[0, 0]] += value if game.players == 1 else value * (lines.length[0] + 1.0)
        note_best(incumbent, lines.moves, 0, lines.length[0], value)
        finish_call(game, coding, levels, incumbent, player, options)


@kernel
def copy_down_kernel(game, levels, highest):
    """`copy_down` by itself."""
    copy_down(levels, highest)


@kernel
def learn_line_kernel(game, coding, learner, root, moves, level):
    """Adapt the policy of a level to a sequence, which is replayed, since its numbers are another worker's."""
    copy_state(game, root, learner.state)
    for ply in range(len(moves)):
        write_move(game, coding, learner, level, ply, learner.state, moves[ply])
        game.play(learner.state, moves[ply])
    learner.lines.length[level] = len(moves)
    adapt(coding, learner, level - 1, level, 0)


@inlined
def finish_call(game, coding, levels, incumbent, player, options):
    """Hand the sequence of a playout to level 1, and that of every call that ends by it to the level above."""
    level = 1
    while level <= options.levels:
        take_best(game, coding, levels, level, options)
        if level == 1 and more_by_this_policy(levels, options):
            break
        levels.iterations[level] += 1
        repeated = options.repetitions > 0 and levels.repeats[level] >= options.repetitions
        if levels.iterations[level] < options.iterations and not repeated:
            learn(game, coding, levels, level, player, options)
            break
        level += 1  # the call has ended: its policy is of no more use
    if level > options.levels:
        incumbent.searches[DONE] += 1
        level = options.levels
        begin_call(levels, level)
        empty_policy(levels.learner.policy, level - 1)
    copy_down(levels, level - 1)


@inlined
def copy_down(levels, highest):
    """Begin a call of a level, and of those below it, with copies of the policy of the level above."""
    for level in range(highest, 0, -1):
        begin_call(levels, level)
        copy_policy(levels.learner.policy, level, level - 1)


@inlined
def more_by_this_policy(levels, options):
    """Whether the iteration of level 1 has further playouts to make; counts the one just made."""
    levels.iterations[0] = (levels.iterations[0] + 1) % options.stabilization
    return levels.iterations[0] != 0


@inlined
def begin_call(levels, level):
    """Nothing has been found by the new call of a level."""
    levels.iterations[level] = levels.repeats[level] = 0
    levels.values[level], levels.foe_values[level] = -np.inf, np.inf


@inlined
def take_best(game, coding, levels, level, options):
    """Take the sequence of the level below if it is as good as the best of this level's call."""
    learner, value = levels.learner, levels.values[level - 1]
    if value >= levels.values[level]:
        same = value == levels.values[level] and options.repetitions > 0 and same_moves(learner.lines, level - 1, level)
        levels.repeats[level] = levels.repeats[level] + 1 if same else 1
        levels.values[level] = value
        copy_line(coding, learner, level - 1, level)
    if game.players == 2 and levels.foe_values[level - 1] <= levels.foe_values[level]:
        levels.foe_values[level] = levels.foe_values[level - 1]
        copy_line(coding, learner, options.levels + level - 1 if level > 1 else 0, options.levels + level)


@inlined
def same_moves(lines, one, other):
    """Whether two lines are the same sequence."""
    if lines.length[one] != lines.length[other]:
        return False
    for ply in range(lines.length[one]):  # noqa: SIM110, which kernels cannot compile
        if lines.moves[one, ply] != lines.moves[other, ply]:
            return False
    return True


@inlined
def learn(game, coding, levels, level, player, options):
    """Adapt the policy of a level to its best sequence, and with two players the opponent's moves to the opponent's."""
    adapt(coding, levels.learner, level - 1, level, player)
    if game.players == 2:
        adapt(coding, levels.learner, level - 1, options.levels + level, 1 - player)
