"""PPA, playout policy adaptation: UCT whose playouts follow a policy that is adapted to what has won (T. Cazenave,
"Playout policy adaptation for games", ACG 2015).

The policy has a weight for each move code; playouts draw moves by the softmax of the weights.  After each simulation
the moves of the winner, in the tree and in the playout, are made likelier, at the cost of the other moves that were
legal beside them, by `alpha` (agents/core/policy.py has the formula).  After a draw nothing is learnt.  The policy is
begun anew for each move of the game.

`features` tells moves with different features apart, by the game's feature codes: PPAF, for which alpha = 0.32 was
found best (T. Cazenave, "Playout policy adaptation with move features", Theoretical Computer Science 644, 2016).
`memory` keeps the policy from move to move: PPAFM, together with features (T. Cazenave & E. Diemert, "Memorizing the
playout policy", CGW 2017).

`rule="simple"` learns in another way: a winner's move that is new gets the weight 1, then 2 more at a time below 10, 4
more below 100, and 1 more from there on; nothing is taken from the other moves.  Weights of that size make the softmax
all but certain, so that it wants a temperature well above 1.
"""

from dataclasses import dataclass
from math import exp
from typing import NamedTuple

import numpy as np

from agents.core.policy import (
    Coding,
    Lines,
    Policy,
    coding_for,
    forget,
    gather_steps,
    has_room,
    list_numbers,
    new_lines,
    new_policy,
    play_line,
    take_steps,
    with_room,
)
from agents.montecarlo.search import TreeSearch
from agents.montecarlo.uct import UCB1, Options
from agents.nested.nrpa import check_positive
from games.core.game import CHANCE
from games.core.jit import inlined
from games.core.playout import copy_state

PLAYOUT, IN_TREE = 0, 1  # lines of a simulation


class Numbers(NamedTuple):
    """The numbers of a learned policy."""

    alpha: float
    temperature: float
    bias: float


class Learned(NamedTuple):
    """A policy, and the simulation at hand."""

    coding: Coding
    policy: Policy
    lines: Lines
    state: np.ndarray  # dtype[state_size], to replay in
    moves: np.ndarray  # int32[max_moves]
    numbers: Numbers


@dataclass(frozen=True)
class PolicyRule(UCB1):
    """UCT whose playouts follow the policy in memory; what it learns, `learn_from` of a derived rule says."""

    def play_out(self, game, state, memory, moves, rng):
        memory.lines.length[PLAYOUT] = 0
        return play_line(
            game, memory.coding, memory.policy, 0, state, memory.lines, PLAYOUT, moves, memory.numbers, rng
        )

    def learn(self, game, tree, memory, root, path, length, score):
        follow_path(game, tree, memory, root, path, length)
        self.learn_from(game, memory, score)
        memory.lines.length[PLAYOUT] = 0  # a simulation that ends in a proven node has none

    def learn_from(self, game, memory, score):
        """Learn from the two lines of a simulation, the one in the tree and the playout."""
        raise NotImplementedError

    def has_room(self, game, memory):
        return has_room(game, memory.coding, memory.policy, 2)


@inlined
def follow_path(game, tree, memory, root, path, length):
    """Write the moves in the tree, and the numbers of those that were legal, into their line."""
    lines, state = memory.lines, memory.state
    copy_state(game, root, state)
    for i in range(1, length):
        ply, move = i - 1, tree.move[path[i]]
        lines.players[IN_TREE, ply] = game.player(state)
        lines.moves[IN_TREE, ply] = move
        lines.ends[IN_TREE, ply + 1] = lines.ends[IN_TREE, ply]
        if lines.players[IN_TREE, ply] != CHANCE:
            count = game.legal_moves(state, memory.moves)
            list_numbers(game, memory.coding, memory.policy, state, lines, IN_TREE, ply, memory.moves, count, 0.0)
            place = 0
            while memory.moves[place] != move:
                place += 1
            lines.chosen[IN_TREE, ply] = lines.ends[IN_TREE, ply] + place
        game.play(state, move)
    lines.length[IN_TREE] = length - 1


@dataclass(frozen=True)
class Softmax(PolicyRule):
    """Adapts to the winner's moves by the gradient of their probability."""

    def learn_from(self, game, memory, score):
        if score != 0.0:
            winner, numbers = 0 if score > 0.0 else 1, memory.numbers
            for line in range(2):
                gather_steps(
                    memory.coding, memory.policy, 0, memory.lines, line, winner, numbers.alpha, numbers.temperature
                )
            for line in range(2):
                take_steps(memory.policy, 0, memory.lines, line, winner, numbers.temperature)


@dataclass(frozen=True)
class Simple(PolicyRule):
    """Adds 1, 2, 4 or 1 to the weights of the winner's moves, by how large they are."""

    def learn_from(self, game, memory, score):
        if score != 0.0:
            winner = 0 if score > 0.0 else 1
            for line in range(2):
                for ply in range(memory.lines.length[line]):
                    if memory.lines.players[line, ply] == winner:
                        number = memory.lines.numbers[line, memory.lines.chosen[line, ply]]
                        weight = memory.policy.weights[0, number]
                        weight += 1.0 if weight == 0.0 or weight >= 100.0 else (2.0 if weight < 10.0 else 4.0)
                        memory.policy.weights[0, number] = weight
                        memory.policy.odds[0, number] = exp(weight / memory.numbers.temperature)


RULES = {"softmax": Softmax, "simple": Simple}


@dataclass(frozen=True)
class PolicySearch(TreeSearch):
    """Base of the searches whose playouts follow a policy.

    exploration: the constant K of UCB1; temperature: of the softmax
    features: policies go by the game's feature codes instead of its move codes
    memory: keep the policy from move to move
    """

    exploration: float = 0.4
    temperature: float = 1.0
    features: bool = False
    memory: bool = False

    policies = 1  # rows of the arrays that its rule needs

    def __post_init__(self):
        super().__post_init__()
        check_positive("temperature", self.temperature)
        if self.exploration < 0:
            raise ValueError(f"exploration = {self.exploration} is out of range: it can be 0 or more")

    def options(self):
        return Options(self.exploration, 0.0)

    def numbers(self) -> Numbers:
        """What its rule reads."""
        raise NotImplementedError

    def new_memory(self, game):
        coding = coding_for(game, self.features)
        policy = with_room(game, coding, new_policy(game, coding, self.policies), 2)
        state, moves = np.zeros(game.state_size, game.dtype), np.zeros(game.max_moves, np.int32)
        return Learned(coding, policy, new_lines(game, 2), state, moves, self.numbers())

    def forget(self, memory):
        if not self.memory:
            forget(memory.policy, memory.coding)

    def with_room(self, game, memory):
        return memory._replace(policy=with_room(game, memory.coding, memory.policy, 2))


@dataclass(frozen=True)
class PPA(PolicySearch):
    """UCT with playouts that are adapted to the winner's moves.

    alpha: the step of adaptation; rule: "softmax", or "simple" for the rule that adds 1, 2, 4 or 1
    """

    alpha: float = 1.0
    rule: str = "softmax"

    name = "ppa"

    def __post_init__(self):
        super().__post_init__()
        check_positive("alpha", self.alpha)
        if self.rule not in RULES:
            raise ValueError(f"rule = {self.rule!r} is not one of {', '.join(RULES)}")

    def search_rule(self):
        return RULES[self.rule](self.solver)

    def numbers(self):
        return Numbers(self.alpha, self.temperature, 0.0)
