"""NRPA, nested rollout policy adaptation (C. Rosin, "Nested rollout policy adaptation for Monte Carlo tree search",
IJCAI 2011).

    nrpa(0, policy)      a playout whose moves are drawn by the softmax of the policy
    nrpa(l, policy)      N times: a sequence of nrpa(l - 1, a copy of the policy); if it is as good as the best sequence
                         of this call or better, it is the best; then the policy is adapted to the best

An equal sequence replaces the best one (>=), as in Rosin's listing.  Sequences are kept with the codes of all legal
moves, so that adapting (agents/core/policy.py) does not replay the game.  When the highest level has ended, it starts
again with a new policy until the budget is used up.

NRPA may be stuck in its one best sequence.  With a `beam` each level keeps several, its members, each with its own
policy (T. Cazenave & F. Teytaud, "Beam nested rollout policy adaptation", LION 6, 2012):

    beam(l, policy)      N times: beam(l - 1, ...) with a copy of the policy of each member; of the members and of the
                         sequences found, which inherit the policy that found them, the `beam` best are the new members,
                         no sequence twice; then each member's policy is adapted to its sequence

A call of level l makes up to `beam` times the playouts of NRPA at each level.  It is our reading of the paper that old
members are adapted in every iteration too, and that no sequence is kept twice.

With `stabilization` P > 1 an iteration of level 1 makes P playouts by the same policy, which is then adapted once, to
the best sequence so far, so that it has longer to find a good one (T. Cazenave, J.-B. Sevestre & M. Toulemont,
"Stabilized nested rollout policy adaptation", 2021).

With `bias` the game's own preference for moves takes part, and with `temperature` the odds are flatter or steeper:
generalized NRPA (T. Cazenave, "Generalized nested rollout policy adaptation", 2020).  With `repetitions` r > 0 a level
ends when the same best sequence has come r times, since its policy then plays hardly anything else (T. Cazenave,
"Generalized nested rollout policy adaptation with limited repetitions", arXiv 2401.10420, 2024).

Play for two is experimental: at every level each player's moves are adapted to the best sequence for that player,
discounted by length, and the first move of the player's best sequence is played.  That sequence may rest on a mistake
that the opponent had not yet unlearnt, so its value is not a minimax value.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.core.policy import (
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
from arena.agents.nested.incumbent import DONE, may_go_on, note_best, value_of
from arena.agents.nested.nested_agent import Nested
from arena.games.core.game import check_range
from arena.games.core.jit import inlined, kernel
from arena.games.core.play.playout import copy_state

MOST_IN_BEAM = 64


class NRPAOptions(NamedTuple):
    """The numbers of NRPA besides those of its policies."""

    levels: int
    iterations: int
    repetitions: int
    stabilization: int
    beam: int


class Levels(NamedTuple):
    """The levels of one search, each with sequences for the player to move, and with two players for the opponent.

    A level's sequences for one side are a row of 2 beam - 1 lines, in the order of `ranked`: first those found in this
    iteration, the best first; last the members whose turn is still to come, in order.  Line 0, the playout's, is the
    only one of level 0.  Level l has two halves of `beam` policies, its members' and the next ones'; a beam of one
    needs only one policy.
    """

    learner: Learner
    iterations: np.ndarray  # int64[levels + 1], done by each level's call; of level 0, playouts of an iteration
    policy: np.ndarray  # int64[levels + 1], of the member in turn
    waiting: np.ndarray  # int64[levels + 1], members still to come
    found: np.ndarray  # int64[rows], lines found
    ranked: np.ndarray  # int64[rows, 2 beam - 1]
    values: np.ndarray  # float64[lines], for the row's side
    policies: np.ndarray  # int64[lines], each one's policy
    repeats: np.ndarray  # int64[lines], how often each has come while it was there


@dataclass(frozen=True)
class NRPA(Nested):
    """Nested rollout policy adaptation.

    level, iterations: N calls of the level below in each call; alpha: the step of adaptation
    features: policies go by the game's feature codes instead of its move codes
    bias: how much the game's own preference for moves counts; temperature: of the softmax
    repetitions: a call ends when its best sequence has come that often; 0: it goes on
    stabilization: playouts of an iteration of level 1, after which its policy is adapted once
    beam: how many sequences each level keeps; more than 1 for one player
    """

    level: int = 3
    iterations: int = 100
    alpha: float = 1.0
    features: bool = False
    bias: float = 0.0
    temperature: float = 1.0
    repetitions: int = 0
    stabilization: int = 1
    beam: int = 1

    name: ClassVar[str] = "nrpa"
    ranges: ClassVar[dict] = {"iterations": (1, 10**9), "repetitions": (0, 10**9), "stabilization": (1, 10**9)}

    def __post_init__(self):
        super().__post_init__()
        check_range("beam", self.beam, 1, MOST_IN_BEAM)
        check_positive("alpha", self.alpha)
        check_positive("temperature", self.temperature)
        if self.beam > 1 and self.parallel == "leaf":
            raise ValueError(f"beam = {self.beam} and parallel = 'leaf' exclude each other: a beam takes 'root'")

    def own_needs(self):
        return replace(super().own_needs(), players=(1,)) if self.beam > 1 else super().own_needs()

    def coding(self, game) -> Coding:
        return coding_for(game, self.features, self.bias != 0)

    def sizes(self, game) -> dict:
        rows, slots = self.level * game.players, self.beam * min(2, self.beam)
        return dict(policies=self.level * slots, lines=1 + rows * (2 * self.beam - 1))

    def bytes_needed(self, game):
        return bytes_needed(game, self.coding(game), **self.sizes(game))

    def new_search(self, game):
        levels, sides, sizes = self.level + 1, game.players, self.sizes(game)
        settings = Settings(self.alpha, self.temperature, self.bias)
        ranked = np.zeros((levels * sides, 2 * self.beam - 1), np.int64)
        ranked[sides:].flat = np.arange(1, sizes["lines"])
        return Levels(
            new_learner(game, self.coding(game), settings, **sizes),
            *np.zeros((3, levels), np.int64),
            np.zeros(levels * sides, np.int64),
            ranked,
            np.zeros(sizes["lines"]),
            *np.zeros((2, sizes["lines"]), np.int64),
        )

    def begin(self, search, game, state):
        forget(search.learner)
        search.iterations[:] = search.waiting[:] = search.found[:] = 0
        search.found[: game.players] = 1
        search.policy[1:] = self.beam * min(2, self.beam) * np.arange(self.level)

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
        begin_calls_kernel(search.game, search.player.searches[i], self.options())
        return search.call(i, below, search.state)

    def learn_line(self, search, i, line) -> None:
        game, levels, coding = search.game, search.player.searches[i], self.coding(search.game)
        levels = levels._replace(learner=with_room(game, coding, levels.learner))
        search.player.searches[i] = levels
        learn_line_kernel(game, coding, levels.learner, search.state, line, self.level)

    def options(self) -> NRPAOptions:
        return NRPAOptions(self.level, self.iterations, self.repetitions, self.stabilization, self.beam)

    def choice(self, searches, incumbents, table):
        best = max(incumbents, key=lambda one: one.score[0])
        place = table.moves.tolist().index(int(best.moves[0]))
        return place, float(table.means[place])


@dataclass(frozen=True)
class BeamNRPA(NRPA):
    """NRPA with a beam of several sequences, for one player.

    beam: how many sequences each level keeps
    """

    beam: int = 4

    name: ClassVar[str] = "beam_nrpa"
    needs: ClassVar[Needs] = Needs(players=(1,), chance=False)


@kernel
def nrpa_kernel(game, coding, levels, incumbent, root, options, rng):
    """Search on from `root` as long as `may_go_on` and the table of codes has room."""
    learner, player = levels.learner, game.player(root)
    lines = learner.lines
    while may_go_on(incumbent) and has_room(game, coding, learner, 1):
        copy_state(game, root, learner.state)
        lines.length[0] = 0
        # policies are unsigned, as agents/core/policy.py says
        score = play_line(game, coding, learner, np.uint64(levels.policy[1]), 0, learner.state, rng)
        value = value_of(game, score, player, lines.length[0])
        levels.values[0] = value
        incumbent.playouts[DONE] += 1
        incumbent.root_playouts[lines.chosen[0, 0]] += 1
        incumbent.root_sums[lines.chosen[0, 0]] += value if game.players == 1 else value * (lines.length[0] + 1.0)
        note_best(incumbent, lines.moves, 0, lines.length[0], value)
        finish_call(game, coding, levels, incumbent, player, options)


@kernel
def begin_calls_kernel(game, levels, options):
    """Begin calls of all levels below the highest."""
    begin_calls(levels, options.levels - 1, game.players, options)


@kernel
def learn_line_kernel(game, coding, learner, root, moves, level):
    """Adapt a level's policy to a sequence, replayed since its numbers are another worker's."""
    copy_state(game, root, learner.state)
    for ply in range(len(moves)):
        write_move(game, coding, learner, level, ply, learner.state, moves[ply])
        game.play(learner.state, moves[ply])
    learner.lines.length[level] = len(moves)
    adapt(coding, learner, level - 1, level, 0)


@inlined
def finish_call(game, coding, levels, incumbent, player, options):
    """Hand a playout's sequence to level 1, and those of each call that it ends to the level above."""
    sides, ranked, waiting, level = game.players, levels.ranked, levels.waiting, 1
    elsewhere = ranked.shape[1]
    while level <= options.levels:
        first, policy = level * sides, levels.policy[level]
        for row in range(first, first + sides):
            for rank in range(levels.found[row - sides] - 1, -1, -1):  # the best last: it comes before its equals
                line = ranked[row - sides, rank]
                value = levels.values[line]
                value = -value if line == 0 and row > first else value
                offer(coding, levels, row, line, value, policy, elsewhere)
        if level == 1:
            made = levels.iterations[0] = (levels.iterations[0] + 1) % options.stabilization
            if made != 0:
                break
        if waiting[level] == 0:
            done = levels.iterations[level] + 1
            if done == options.iterations or 0 < options.repetitions <= levels.repeats[ranked[first, 0]]:
                levels.iterations[level] = 0
                level += 1  # the ended call's policies are of no more use
                continue
            levels.iterations[level] = done
            renew(coding, levels, level, sides, player, options)
        place = elsewhere - waiting[level]
        waiting[level] -= 1
        for row in range(first, first + sides):  # the next member's turn
            line = ranked[row, place]
            policy = levels.policies[line]
            offer(coding, levels, row, line, levels.values[line], policy, place)
        levels.policy[level] = policy
        break
    incumbent.searches[DONE] += level > options.levels
    begin_calls(levels, level - 1, sides, options)


@inlined
def begin_calls(levels, highest, sides, options):
    """Begin calls of a level and of those below, each with a copy of the level above's current policy."""
    for level in range(highest, 0, -1):
        for row in range(level * sides, level * sides + sides):
            levels.found[row] = 0
        policy = levels.policy[level]
        if level == options.levels:
            empty_policy(levels.learner.policy, policy)
        else:
            copy_policy(levels.learner.policy, levels.policy[level + 1], policy)


@inlined
def offer(coding, levels, row, line, value, policy, place):
    """Add a line to those that a row has found, if it is good enough and new.

    policy: that found it
    place: where a member's line stands in the row; beyond it, for a line from elsewhere, which is copied
    """
    ranked, values, count = levels.ranked[row], levels.values, levels.found[row]
    rank = count
    while rank > 0:
        other = ranked[rank - 1]
        if values[other] > value:
            break
        if values[other] == value and same_moves(levels.learner.lines, line, other):
            levels.repeats[other] += 1
            return
        rank -= 1
    last = min(count, len(ranked) // 2)  # the worst of as many as the beam gives way
    if rank > last:
        return
    levels.found[row] = last + 1
    target = ranked[last]
    if place < len(ranked):
        ranked[place], target = target, line
    else:
        copy_line(coding, levels.learner, line, target)
        values[target], levels.policies[target], levels.repeats[target] = value, policy, 1
    for i in range(last, rank, -1):
        ranked[i] = ranked[i - 1]
    ranked[rank] = target


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
def renew(coding, levels, level, sides, player, options):
    """Make a level's findings its members, each with the policy that it inherits, adapted to its sequence.

    With two players the opponent's moves are adapted to the opponent's sequence.
    """
    ranked, policies, half, count = levels.ranked, levels.policies, levels.policy[level] // options.beam, 0
    first = (half if options.beam == 1 else half ^ 1) * options.beam
    for side in range(sides):
        row = level * sides + side
        count = levels.found[row]
        levels.found[row] = 0
        for rank in range(count - 1, -1, -1):
            line, place, policy = ranked[row, rank], ranked.shape[1] - count + rank, first + rank
            ranked[row, rank] = ranked[row, place]
            ranked[row, place] = line
            if policies[line] != policy:
                copy_policy(levels.learner.policy, policies[line], policy)
                policies[line] = policy
            adapt(coding, levels.learner, np.uint64(policy), line, player if side == 0 else 1 - player)
    levels.waiting[level] = count
