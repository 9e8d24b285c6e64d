"""Beam NRPA: nested rollout policy adaptation that keeps several sequences, each with its own policy (T. Cazenave & F.
Teytaud, "Beam nested rollout policy adaptation", LION 6, 2012).

    beam(0, policy)      a playout
    beam(l, policy)      N times: beam(l - 1, ...) with a copy of the policy of each member; of the members and of the
                         sequences found, which inherit the policy that found them, the `beam` best are the new members,
                         no sequence twice; then each member's policy is adapted to its sequence

NRPA follows its one best sequence, and may be stuck in it; a beam of one is NRPA.  A sequence as good as a member comes
before it, as in NRPA.  A call of level l makes up to `beam` times the playouts of NRPA at each level.

That members are adapted in every iteration, also those that were there before, and that no sequence is kept twice, is
our reading of the paper.  For one player.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.needs import Needs
from agents.core.policy import (
    Learner,
    adapt,
    bytes_needed,
    copy_line,
    copy_policy,
    empty_policy,
    forget,
    has_room,
    play_line,
    with_room,
)
from agents.nested.incumbent import DONE, may_go_on, note_best
from agents.nested.nrpa import Adapting, same_moves
from games.core.game import check_choice, check_range
from games.core.jit import inlined, kernel
from games.core.playout import copy_state

MOST_IN_BEAM = 64


class BeamOptions(NamedTuple):
    """The numbers of Beam NRPA besides those of its policies."""

    levels: int
    iterations: int
    beam: int


class Beams(NamedTuple):
    """The levels of one search.  Each has two halves of `beam` slots: one for its members, one for the candidates.

    Slot i of half h of level l has policy ((l - 1) 2 + h) beam + i and the line after that number; line 0 is the
    playout's.
    """

    learner: Learner
    iterations: np.ndarray  # int64[levels + 1], done by the call of each level
    half: np.ndarray  # int64[levels + 1], 0 or 1: where its members are
    sizes: np.ndarray  # int64[levels + 1, 2], how many slots of each half are taken
    turn: np.ndarray  # int64[levels + 1], the rank of the member whose policy is with the level below
    values: np.ndarray  # float64[slots + 1], the value of each line; line 0's is the last playout's
    parents: np.ndarray  # int64[slots + 1], of a candidate's line: the policy that it inherits
    ranked: np.ndarray  # int64[slots + 1], from a half's first line on: its lines, the best first


@dataclass(frozen=True)
class BeamNRPA(Adapting):
    """Nested rollout policy adaptation with a beam, for one player.

    beam: how many sequences each level keeps
    """

    beam: int = 4

    name: ClassVar[str] = "beam_nrpa"
    needs: ClassVar[Needs] = Needs(players=(1,), chance=False)

    def __post_init__(self):
        super().__post_init__()
        check_range("beam", self.beam, 1, MOST_IN_BEAM)
        check_choice("parallel", self.parallel, ("root",))

    def slots(self) -> int:
        """Policies, and lines besides the playout's."""
        return 2 * self.level * self.beam

    def bytes_needed(self, game):
        return bytes_needed(game, self.coding(game), policies=self.slots(), lines=1 + self.slots())

    def new_search(self, game):
        learner = self.learner(game, self.slots(), 1 + self.slots())
        iterations, half, turn = np.zeros((3, self.level + 1), np.int64)
        values, (parents, ranked) = np.zeros(1 + self.slots()), np.zeros((2, 1 + self.slots()), np.int64)
        return Beams(learner, iterations, half, np.zeros((self.level + 1, 2), np.int64), turn, values, parents, ranked)

    def begin(self, search, game, state):
        forget(search.learner)
        for level in range(1, self.level + 1):
            begin_call(search, level, self.beam)

    def run(self, search, game, state, incumbent, rng):
        coding = self.coding(game)
        search = search._replace(learner=with_room(game, coding, search.learner))
        options = BeamOptions(self.level, self.iterations, self.beam)
        beam_kernel(game, coding, search, incumbent, state, options, rng)
        return search


@kernel
def beam_kernel(game, coding, beams, incumbent, root, options, rng):
    """Search on from `root` as long as `may_go_on` and the table of codes has room."""
    learner = beams.learner
    lines = learner.lines
    while may_go_on(incumbent) and has_room(game, coding, learner, 1):
        copy_state(game, root, learner.state)
        lines.length[0] = 0
        value = play_line(game, coding, learner, policy_in_turn(beams, 1, options.beam), 0, learner.state, rng)
        beams.values[0] = value
        incumbent.playouts[DONE] += 1
        note_best(incumbent, lines.moves, 0, lines.length[0], value)
        finish_call(coding, beams, incumbent, options)


@inlined
def first_slot(level, half, beam):
    """The number of slot 0 of a half of a level: its policy; the line has the number after it."""
    return ((level - 1) * 2 + half) * beam


@inlined
def policy_in_turn(beams, level, beam):
    """The policy of the member of a level that is searched with."""
    return beams.ranked[1 + first_slot(level, beams.half[level], beam) + beams.turn[level]] - 1


@inlined
def begin_call(beams, level, beam):
    """A call of a level begins with one member, which has a policy, slot 0's, and no sequence yet."""
    beams.iterations[level] = beams.half[level] = beams.turn[level] = 0
    beams.sizes[level, 0], beams.sizes[level, 1] = 1, 0
    line = 1 + first_slot(level, 0, beam)
    beams.ranked[line], beams.values[line] = line, -np.inf


@inlined
def finish_call(coding, beams, incumbent, options):
    """Take what a playout has brought to level 1, and what every call that ends by it has brought to the level above.

    Then begin the calls below the level that goes on.
    """
    policy, level = beams.learner.policy, 1
    while level <= options.levels:
        take_all(coding, beams, level, options.beam)
        beams.turn[level] += 1
        if beams.turn[level] < beams.sizes[level, beams.half[level]]:
            break
        renew(coding, beams, level, options.beam)
        beams.iterations[level] += 1
        if beams.iterations[level] < options.iterations:
            break
        level += 1
    if level > options.levels:
        incumbent.searches[DONE] += 1
        level = options.levels
        begin_call(beams, level, options.beam)
        empty_policy(policy, first_slot(level, 0, options.beam))
    for below in range(level - 1, 0, -1):
        begin_call(beams, below, options.beam)
        copy_policy(policy, policy_in_turn(beams, below + 1, options.beam), first_slot(below, 0, options.beam))


@inlined
def take_all(coding, beams, level, beam):
    """Offer a level what a member's turn has brought: first the member itself, then the members of the level below."""
    parent = policy_in_turn(beams, level, beam)
    if beams.values[1 + parent] > -np.inf:
        offer(coding, beams, level, 1 + parent, parent, beam)
    if level == 1:
        offer(coding, beams, 1, 0, parent, beam)
    else:
        first = 1 + first_slot(level - 1, beams.half[level - 1], beam)
        for rank in range(beams.sizes[level - 1, beams.half[level - 1]] - 1, -1, -1):
            offer(coding, beams, level, beams.ranked[first + rank], parent, beam)


@inlined
def offer(coding, beams, level, line, parent, beam):
    """Take a line among the candidates of a level if it is as good as one of the best `beam`, and not there yet."""
    other, value, ranked, values = 1 - beams.half[level], beams.values[line], beams.ranked, beams.values
    first, count = 1 + first_slot(level, other, beam), beams.sizes[level, other]
    for rank in range(first, first + count):
        if values[ranked[rank]] == value and same_moves(beams.learner.lines, line, ranked[rank]):
            return
    if count < beam:
        place, rank, beams.sizes[level, other] = first + count, first + count, count + 1
    elif value >= values[ranked[first + count - 1]]:  # in the place of the worst
        place, rank = ranked[first + count - 1], first + count - 1
    else:
        return
    while rank > first and values[ranked[rank - 1]] <= value:
        ranked[rank] = ranked[rank - 1]
        rank -= 1
    ranked[rank], values[place], beams.parents[place] = place, value, parent
    copy_line(coding, beams.learner, line, place)


@inlined
def renew(coding, beams, level, beam):
    """Make the candidates of a level its members, each with the policy that it inherits, adapted to its sequence."""
    other = 1 - beams.half[level]
    first, count = first_slot(level, other, beam), beams.sizes[level, other]
    for slot in range(first, first + count):
        copy_policy(beams.learner.policy, beams.parents[1 + slot], slot)
        adapt(coding, beams.learner, slot, 1 + slot, 0)
    beams.sizes[level, 1 - other] = 0
    beams.half[level], beams.turn[level] = other, 0
