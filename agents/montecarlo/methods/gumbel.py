"""Gumbel selection at the root: sequential halving among moves that a policy draws without replacement (I. Danihelka,
A. Guez, J. Schrittwieser & D. Silver, "Policy improvement by planning with Gumbel", ICLR 2022).

    rank = noise g + logit + (c_visit + N) c_scale q

g is drawn for each move from the standard Gumbel distribution, which learning needs and play does without; N is the
visits of the most visited move, q the mean reward.  The `considered` moves of the largest noise g + logit take part,
then the better half by rank, and so on; the last one is played.  A move's logit is  h / temperature,  where `logits`
says what h is:

    file:PATH     its logit in a learned policy
    evaluation    the evaluation after the move, 0 to 1 for the player who makes it
    mast          the mean reward of simulations with a move of that code, kept from move to move; 1 for an unknown code
    ppa           the code's weight in a playout policy (T. Cazenave, "Playout policy adaptation for games", ACG 2015),
                  new in each search, by which playouts draw their moves at the same temperature

The last two know nothing of moves at first, so the first part of a search, `warmup`, is plain UCT; this, and logits
that change during a search, are our additions.  Below the root the search is UCT's; the paper's selection there needs a
policy and a value.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.learned import Learned
from arena.agents.core.tree_arrays import ROOT
from arena.agents.montecarlo.averages import Averaging, mean_of
from arena.agents.montecarlo.method import Method
from arena.agents.montecarlo.methods.halving import Rounded, raise_target, sort_by_rank, value_of
from arena.agents.montecarlo.methods.ppa import PPA
from arena.agents.montecarlo.priors import Guided
from arena.agents.montecarlo.search import Search
from arena.games.core.jit import inlined
from arena.games.core.numbers.elementary import logs
from arena.games.core.random import random_unit

WAYS: dict[str, Method] = {"mast": Averaging(), "ppa": PPA(direct=True)}
UNTAUGHT = Method()


class Policy(NamedTuple):
    """The arrays of the policy."""

    taught: tuple  # the memory of its way of learning
    noise: np.ndarray  # float64[max_moves], g of each child of the root
    learned: Learned
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class Gumbel(Guided, Rounded):
    """considered: moves that take part
    temperature: of the policy; none: 0.1, or 1 with PPA and for a learned policy
    c_visit, c_scale: of the mean rewards
    warmup: the initial share of the budget for plain UCT; none: 0.1 with MAST and PPA, else 0
    logits: source of the logits: "mast", "ppa", "evaluation", or file:PATH of a learned policy
    alpha: the step of adaptation, only with PPA; none: 1
    noise: of g: 0 to play, 1 as in training
    """

    considered: int = 16
    temperature: float | None = None
    c_visit: float = 50.0
    c_scale: float = 1.0
    warmup: float | None = None
    logits: str = "mast"
    alpha: float | None = None
    noise: float = 0.0

    name: ClassVar[str] = "gumbel"
    data_fields: ClassVar[tuple[str, ...]] = (
        "considered", "temperature", "c_visit", "c_scale", "warmup", "alpha", "noise",
    )  # fmt: skip
    asked: ClassVar[str] = "logits"
    priors: ClassVar[tuple[str, ...]] = ("mast", "ppa", "evaluation")
    ranges: ClassVar[dict] = {
        "considered": (1,),
        "temperature": (0.001,),
        "c_visit": (0,),
        "c_scale": (0,),
        "warmup": (0, 0.9),
        "alpha": (0.001, 1000),
        "noise": (0, 10),
    }

    def __post_init__(self):
        super().__post_init__()
        if self.alpha is not None and self.logits != "ppa":
            raise ValueError(f"alpha = {self.alpha} needs logits = 'ppa', not {self.logits!r}")

    @property
    def way(self) -> Method:
        return WAYS.get(self.logits, UNTAUGHT)

    @property
    def steps(self):
        return self.logits in WAYS

    @property
    def private(self):
        return tuple(f"extra.taught.{name}" for name in self.way.private or ())

    @property
    def policy(self):
        return tuple(f"extra.taught.{name}" for name in self.way.policy)

    @property
    def alone(self):
        return super().alone + self.way.alone

    def options(self):
        defaults = {
            "temperature": 1.0 if self.is_learned or self.logits == "ppa" else 0.1,
            "warmup": 0.1 if self.steps else 0.0,
            "alpha": 1.0,
        }
        return super().options()._replace(**{name: defaults[name] for name in defaults if getattr(self, name) is None})

    def misfit(self, game):
        if reason := self.way.misfit(game):
            return f"logits = {self.logits!r}: {reason}"
        return super().misfit(game)

    def new_extra(self, game):
        numbers, state = self.options(), np.zeros(game.state_size, game.dtype)
        more = {"alpha": numbers.alpha, "temperature": numbers.temperature} if self.logits == "ppa" else {}
        taught = replace(self.way, **more).new_memory(game, 0)
        return Policy(taught, np.zeros(game.max_moves), self.learned(game), state)

    def known(self, search):
        return search.memory.extra

    def forget(self, memory):
        super().forget(memory)
        self.way.forget(memory.extra.taught)

    def begin_search(self, game, memory, budget, rng):
        super().begin_search(game, memory, budget, rng)
        units = np.array([random_unit(rng) for _ in range(game.max_moves)])
        memory.extra.noise[:] = -logs(-logs(np.clip(units, 1e-300, 1.0 - 1e-16)))

    def arrive(self, game, search, walk):
        self.way.arrive(game, of_way(search), walk)

    def draws(self, game, search, walk, rng):
        return self.way.draws(game, of_way(search), walk, rng)

    def made(self, game, search, walk, move):
        self.way.made(game, of_way(search), walk, move)

    def learn(self, game, search, walk, result):
        self.way.learn(game, of_way(search), walk, result)
        self.end(game, search, walk)

    def halves(self, search, node):
        return node == ROOT and search.tree.visits[ROOT] >= search.options.warmup * search.memory.given[ROOT]

    def moves_in(self, search, node):
        return min(search.tree.children[node], search.options.considered)

    def begin(self, game, search, walk, node):
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
        tree = search.tree
        noise = search.options.noise * search.memory.extra.noise[child - tree.first_child[ROOT]]
        return noise + self.hint(game, search, state, tree.move[child]) / search.options.temperature

    def hint_mast(self, game, search, state, move):
        return mean_of(search.memory.extra.taught, game.move_code(state, move), 1.0)

    def hint_ppa(self, game, search, state, move):
        return search.memory.extra.taught.learner.policy.weights[0, game.move_code(state, move)]


@inlined
def of_way(search):
    """The search as the way of learning sees it."""
    return Search(search.tree, search.memory.extra.taught, search.options)
