"""Gumbel selection at the root: sequential halving among moves that are drawn without replacement by a policy
(I. Danihelka, A. Guez, J. Schrittwieser & D. Silver, "Policy improvement by planning with Gumbel", ICLR 2022), which
comes from MAST here, not from a network.

    rank = g + logit + (c_visit + N) c_scale q

g is a number from the standard Gumbel distribution, drawn for each move; N is the visits of the most visited move, q
the mean reward.  The `considered` moves of the largest g + logit take part, then the better half by rank, and so on;
the last one is played.  A move's logit is  Q / temperature,  Q being the mean reward of simulations in which a move of
that code was made, kept from move to move; a code that is unknown has Q = 1.  Since a search that begins knows nothing
of moves, its first part, `warmup`, is plain UCT: that, and logits that are those of the moment, is ours.  Below the
root the search is UCT's; the paper's choice at other nodes needs a policy and a value there.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.tree import ROOT
from agents.montecarlo.averages import Averages, add_move, begin_line, learn_line, mean_of, new_averages
from agents.montecarlo.methods.halving import Rounded, raise_target, sort_by_rank, value_of
from games.core.game import check_range
from games.core.random import random_unit


class Policy(NamedTuple):
    """What the policy is made of."""

    averages: Averages
    noise: np.ndarray  # float64[max_moves], g of each child of the root


@dataclass(frozen=True)
class Gumbel(Rounded):
    """considered: moves that take part
    temperature: of the policy
    c_visit, c_scale: of the mean rewards
    warmup: the share of the budget that plain UCT has first
    """

    considered: int = 16
    temperature: float = 0.1
    c_visit: float = 50.0
    c_scale: float = 1.0
    warmup: float = 0.1

    name: ClassVar[str] = "gumbel"
    steps: ClassVar[bool] = True
    data_fields: ClassVar[tuple[str, ...]] = ("considered", "temperature", "c_visit", "c_scale", "warmup")

    def __post_init__(self):
        check_range("considered", self.considered, 1)
        check_range("temperature", self.temperature, 0.001)
        for name in ("c_visit", "c_scale"):
            check_range(name, getattr(self, name), 0)
        check_range("warmup", self.warmup, 0, 0.9)

    def new_extra(self, game):
        return Policy(new_averages(game, 1 << 17), np.zeros(game.max_moves))

    def begin_search(self, game, memory, budget, rng):
        super().begin_search(game, memory, budget, rng)
        units = np.array([random_unit(rng) for _ in range(game.max_moves)])
        memory.extra.noise[:] = -np.log(-np.log(np.clip(units, 1e-300, 1.0 - 1e-16)))

    def arrive(self, game, search, walk):
        begin_line(game, search.memory.extra.averages, search.tree, walk)

    def made(self, game, search, walk, move):
        add_move(game, search.memory.extra.averages, walk.state, move)

    def learn(self, game, search, walk, result):
        learn_line(search.memory.extra.averages, result, 1)
        self.end(game, search, walk)

    def halves(self, search, node):
        return node == ROOT and search.tree.visits[ROOT] >= search.options.warmup * search.memory.given[ROOT]

    def moves_in(self, search, node):
        return min(search.tree.children[node], search.options.considered)

    def begin(self, game, search, walk, node):
        """The moves that are drawn are left."""
        tree, memory = search.tree, search.memory
        first = tree.first_child[node]
        order = memory.order[first : first + tree.children[node]]
        for i in range(len(order)):
            order[i] = first + i
            memory.rank[i] = self.drawn_by(game, search, walk.state, first + i)
        sort_by_rank(order, memory.rank, len(order))
        memory.left[node], memory.turn[node], memory.target[node] = self.moves_in(search, node), 0, 0
        raise_target(memory, node, self.moves_in(search, node))

    def rank(self, game, search, state, child):
        tree, options = search.tree, search.options
        most, first = 0, tree.first_child[ROOT]
        for other in range(first, first + tree.children[ROOT]):
            most = max(most, tree.visits[other])
        scale = (options.c_visit + most) * options.c_scale
        value = value_of(tree, child, game.player(state))
        return self.drawn_by(game, search, state, child) + scale * value

    def drawn_by(self, game, search, state, child):
        """g + logit."""
        memory, tree = search.memory.extra, search.tree
        mean = mean_of(memory.averages, game.move_code(state, tree.move[child]), 1.0)
        return memory.noise[child - tree.first_child[ROOT]] + mean / search.options.temperature
