"""Policies that learn from the visits of a tree search (T. Anthony, Z. Tian & D. Barber, "Thinking fast and slow with
deep learning and tree search", NIPS 2017; D. Silver et al., "Mastering the game of Go without human knowledge", 2017).

The search plays against itself.  In each position its N simulations leave n(m) visits to each move m, and the policy's
probabilities p move towards their shares:

    p(m) = exp(l(m)) / sum of exp(l(m')) over the legal moves m'
    L    = - sum of n(m) / N log p(m)                                  (cross-entropy)
    dL / dl(m) = p(m) - n(m) / N

The logit l is described in agents/core/learned.py, a step in agents/learning/trainer.py.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import registry
from arena.agents.core.learned import logit_after
from arena.agents.core.sides import result_of, side_to_move
from arena.agents.learning.learner import Kernel, SelfPlaying
from arena.agents.learning.trainer import GAMES, POSITIONS, Trainer, correct, note_game
from arena.agents.montecarlo.method_search import TreeSearch
from arena.games.core.evaluations.network import Network
from arena.games.core.game import Game
from arena.games.core.jit import helper, kernel
from arena.games.core.numbers.elementary import exp, log
from arena.games.core.random import random_below, random_unit
from arena.games.core.shared.errors import UserError

LOGITS = 8.0  # change of a logit per change of probability: p's slope is p (1 - p), an eighth at p = 0.15
COUNT, LOSS, LEAST, UNIFORM = range(4)  # of Trainer.losses: positions, L, the least that L can be, L of equal p
KEPT = 1.0 - 1.0 / 5000  # of these from position to position: they average the last few thousand

TEACHER = "uct(playouts=300)"


@dataclass(frozen=True)
class Visiting(SelfPlaying):
    """Learning a policy from visits.

    teacher: the search to learn from, with a budget of playouts
    """

    name: ClassVar[str] = "visits"
    policy: ClassVar[bool] = True
    usual_games: ClassVar[int] = 5_000
    usual_agent: ClassVar[str] = "uct(playouts=1000)"

    teacher: str = TEACHER

    def files(self, game: Game) -> list[str]:
        return game.files() + registry.make(self.teacher).files()

    def kernel(self, game: Game, network: Network, trainer: Trainer) -> Kernel:
        made = registry.make(self.teacher)
        if not (isinstance(made, TreeSearch) and made.playouts and made.seconds is None and made.cores == 1):
            raise UserError(
                f"teacher = {self.teacher!r} leaves no visits that its seed reproduces: it must be a tree search "
                f"with a number of playouts, such as {TEACHER}"
            )
        if reason := made.refuses(game):
            raise UserError(reason)
        return partial(teach, game, trainer, Teaching(made, self.explore, self.opening, self.step))


class Teaching(NamedTuple):
    """How games are played and learned from."""

    teacher: TreeSearch  # with a budget of playouts
    explore: float  # the share of random moves
    opening: int  # the most random moves at the start
    step: float


class Visits(NamedTuple):
    """The visits in the positions of a game."""

    states: np.ndarray  # dtype[n, state_size]
    ends: np.ndarray  # int64[n + 1], position i has the moves from ends[i] to ends[i + 1]
    moves: np.ndarray  # int32[ends[n]]
    shares: np.ndarray  # float64[ends[n]], of the visits, n(m) / N
    logits: np.ndarray  # float64[max_moves]
    state: np.ndarray  # dtype[state_size]


def teach(game: Game, trainer: Trainer, teaching: Teaching, until: int) -> None:
    """Play and learn until `until` games have been played; with 0, play one on a copy, to compile."""
    if until == 0:
        trainer = Trainer(*(array.copy() for array in trainer))
        until = int(trainer.counts[GAMES]) + 1
    with np.errstate(over="ignore"):  # words wrap
        while trainer.counts[GAMES] < until:
            visits, result = play_game(game, teaching, trainer.rng)
            learn_kernel(game, trainer, visits, result, teaching.step)


def play_game(game: Game, teaching: Teaching, rng: np.ndarray) -> tuple[Visits, float]:
    """(the visits in a game of the teacher against itself, the first player's result)."""
    state, moves, found = game.initial(), np.zeros(game.max_moves, np.int32), []
    for _ in range(int(random_below(rng, teaching.opening + 1))):
        if not game.is_over(state):
            game.play(state, game.random_move(state, moves, rng))
    player = teaching.teacher.player(game)
    while not game.is_over(state):
        decision = player.decide(state.copy(), rng)
        found.append((state.copy(), decision.statistics))
        at_random = teaching.explore > 0.0 and random_unit(rng) < teaching.explore
        move = int(game.random_move(state, moves, rng)) if at_random else decision.move
        game.play(state, move)
        player.played(move)
    return visits_of(game, found), float(result_of(game.score(state)))


def visits_of(game: Game, found: list) -> Visits:
    """The visits of searches, (position, MoveStatistics) of each; those without a search are left out."""
    found = [(state, at) for state, at in found if at is not None and at.playouts.sum() > 0]
    return Visits(
        np.array([state for state, _ in found], game.dtype).reshape(len(found), game.state_size),
        np.cumsum([0, *(len(at.moves) for _, at in found)]),
        np.concatenate([np.zeros(0, np.int32), *(at.moves for _, at in found)]),
        np.concatenate([np.zeros(0), *(at.playouts / at.playouts.sum() for _, at in found)]),
        np.zeros(game.max_moves),
        np.zeros(game.state_size, game.dtype),
    )


@kernel(tables=False)  # for a network's planes
def learn_kernel(game, trainer, visits, result, step):
    """Learn from a game, which counts as played with the first player's result."""
    for index in range(len(visits.states)):
        learn_position(game, trainer, visits, index, step)
    note_game(trainer, result)


@helper
def learn_position(game, trainer, visits, index, step):
    """Move the probabilities of one position's moves towards the shares."""
    root, first, count = visits.states[index], visits.ends[index], visits.ends[index + 1] - visits.ends[index]
    if count < 2:
        return
    total = measure(game, trainer, visits, index)
    for i in range(count):
        error = visits.shares[first + i] - visits.logits[i] / total
        game.play_into(root, visits.moves[first + i], visits.state)
        correct(game, trainer, visits.state, side_to_move(game, root) * error, LOGITS * step)
    trainer.counts[POSITIONS] += 1


@helper
def measure(game, trainer, visits, index):
    """Write the moves' odds relative to the best into `visits.logits`, and note the losses; returns the sum."""
    root, first, count = visits.states[index], visits.ends[index], visits.ends[index + 1] - visits.ends[index]
    logits, highest, total, loss, least = visits.logits, -np.inf, 0.0, 0.0, 0.0
    for i in range(count):
        logits[i] = logit_after(game, trainer, root, visits.moves[first + i], visits.state)
        highest = max(highest, logits[i])
    for i in range(count):
        share, logits[i] = visits.shares[first + i], logits[i] - highest
        loss -= share * logits[i]
        least -= share * log(share) if share > 0.0 else 0.0
        logits[i] = exp(logits[i])
        total += logits[i]
    losses = trainer.losses
    losses *= KEPT
    losses[COUNT] += 1.0
    losses[LOSS] += loss + log(total)
    losses[LEAST] += least
    losses[UNIFORM] += log(float(count))
    return total
