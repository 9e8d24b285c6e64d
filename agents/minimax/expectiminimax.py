"""Expectiminimax (Michie, "Game-playing and game-learning automata", 1966): minimax with the mean at nodes of chance.

    value(s) = max over MAX's moves, min over MIN's, sum of p(o) value(s after o) over outcomes o of chance

With pruning, MAX and MIN cut off as in alpha-beta, and chance as in Star1 (Ballard, "The *-minimax search procedure for
trees containing chance nodes", 1983): values lie between L and U, so an outcome needs only the window

    ((alpha - known - U * rest) / p,  (beta - known - L * rest) / p)

where known is the sum so far and rest the probability of the outcomes to come; a value at a bound ends the node.

Expectimax is the same for one player against chance: any other player is assumed to move at random.  Values are the
first player's: -1 to 1, or scores.  The depth counts chance's plies.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Decision, Player
from arena.agents.core.children import moves_of, put_after
from arena.agents.core.needs import Needs, unscored
from arena.agents.core.sides import result_of, side_to_move
from arena.games.core.game import CHANCE
from arena.games.core.jit import helper, kernel
from arena.games.core.random import random_below

NODES, LEAVES, CUTOFFS = range(3)  # of ExpectiminimaxLine.counts
NOBODY = -2  # no player moves at random
LARGEST = 1e9  # no score is larger


class ExpectiminimaxOptions(NamedTuple):
    """The options of a search."""

    pruning: bool
    scores: bool
    random: int  # the player who moves at random, or NOBODY
    least: float  # L
    most: float  # U


class ExpectiminimaxLine(NamedTuple):
    """A line of play: row p is the node p plies below the root."""

    states: np.ndarray  # dtype[depth + 1, state_size]
    moves: np.ndarray  # int32[depth + 1, max_moves]
    probabilities: np.ndarray  # float64[depth + 1, max_moves]
    counts: np.ndarray  # int64[3] = nodes, leaves, cut-offs


def new_line(game, depth: int) -> ExpectiminimaxLine:
    """Room for a search to `depth`."""
    return ExpectiminimaxLine(
        np.zeros((depth + 1, game.state_size), game.dtype),
        np.zeros((depth + 1, game.max_moves), np.int32),
        np.zeros((depth + 1, game.max_moves)),
        np.zeros(3, np.int64),
    )


@dataclass(frozen=True)
class Expectiminimax(Agent):
    """Expectiminimax to `depth`; ties between moves are broken at random.

    pruning: the cut-offs of alpha-beta, and of Star1 at nodes of chance
    scores: play for the game's score rather than for a win; the depth should then reach the end
    evaluation: the name of one of the game's evaluation functions, file:PATH of a learned one, or weights of the game's
        terms, as in "corners=8, moves=1"; "" for its default
    """

    depth: int | None = None
    pruning: bool = True
    scores: bool = False
    evaluation: str = ""

    name: ClassVar[str] = "expectiminimax"
    budgets: ClassVar[tuple[str, ...]] = ("depth",)
    other_moves_at_random: ClassVar[bool] = False

    def own_needs(self):
        return replace(self.needs, evaluation=self.evaluation)

    def new_player(self, game, budget):
        return ExpectiminimaxPlayer(self, game.with_evaluation(self.evaluation) if self.evaluation else game, budget)


@dataclass(frozen=True)
class Expectimax(Expectiminimax):
    """Expectimax: one player against chance; the other player of a game for two is assumed to move at random."""

    name: ClassVar[str] = "expectimax"
    needs: ClassVar[Needs] = Needs(players=(1, 2))
    other_moves_at_random: ClassVar[bool] = True

    def misfit(self, game):
        return unscored(self, game)


class ExpectiminimaxPlayer(Player):
    """Keeps the arrays of its search, but no results."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.depth = agent, game, min(budget.depth, game.max_plies)
        self.line = new_line(game, self.depth)

    def decide(self, state, rng):
        values = self.values(state)
        side = side_to_move(self.game, state)
        best = max(side * value for value in values.values())
        moves = [move for move, value in values.items() if side * value == best]
        if self.agent.pruning:
            moves = moves[:1]  # of later moves only a bound is known
        nodes, leaves, cutoffs = self.line.counts.tolist()
        return Decision(
            move=moves[int(random_below(rng, len(moves)))],
            value=best if self.game.players == 1 else max(-1.0, min(1.0, best)),
            nodes=nodes,
            depth=self.depth,
            counts={"leaves": leaves, "cutoffs": cutoffs},
        )

    def options(self, player: int) -> ExpectiminimaxOptions:
        random = 1 - player if self.agent.other_moves_at_random and self.game.players == 2 else NOBODY
        most = LARGEST if self.agent.scores else 1.0
        return ExpectiminimaxOptions(self.agent.pruning, self.agent.scores, random, -most, most)

    def values(self, state) -> dict[int, float]:
        """The first player's value of each move; with pruning a bound after the best move."""
        agent, player = self.agent, int(self.game.player(state))
        options = self.options(player)
        line, values, low, high = self.line, {}, -LARGEST, LARGEST
        line.counts[:] = 0
        for move in moves_of(self.game, state):
            put_after(self.game, state, move, line.states[1])
            values[move] = value_kernel(self.game, line, self.depth, 1, low, high, options)
            if agent.pruning and player == 0:
                low = max(low, values[move])
            elif agent.pruning:
                high = min(high, values[move])
        return values


@kernel
def value_kernel(game, line, depth, ply, alpha, beta, options):
    """The first player's value of line.states[ply]; a bound unless between alpha and beta."""
    state, moves = line.states[ply], line.moves[ply]
    line.counts[NODES] += 1
    if game.is_over(state) or ply == depth:
        line.counts[LEAVES] += 1
        return value_of_leaf(game, state, options)
    player = game.player(state)
    if player == CHANCE or player == options.random:
        known, rest = 0.0, 1.0
        count = list_outcomes(game, line, ply, player)
        for i in range(count):
            share = line.probabilities[ply, i]
            rest = max(rest - share, 0.0) if i < count - 1 else 0.0
            low, high = outcome_window(options, known, rest, share, (alpha, beta))
            game.play_into(state, moves[i], line.states[ply + 1])
            inner = max(low, options.least), min(high, options.most)
            value = value_kernel(game, line, depth, ply + 1, inner[0], inner[1], options)
            known += share * value
            if options.pruning and (value <= low or value >= high):
                if rest > 0.0:
                    line.counts[CUTOFFS] += 1
                    known += rest * (options.most if value <= low else options.least)
                # rounding may have lifted it into the window
                return min(known, alpha) if value <= low else max(known, beta)
        return known
    best = -LARGEST if player == 0 else LARGEST
    for i in range(game.legal_moves(state, moves)):
        game.play_into(state, moves[i], line.states[ply + 1])
        value = value_kernel(game, line, depth, ply + 1, alpha, beta, options)
        if player == 0:
            best = max(best, value)
            alpha = max(alpha, best) if options.pruning else alpha
        else:
            best = min(best, value)
            beta = min(beta, best) if options.pruning else beta
        if options.pruning and alpha >= beta:
            line.counts[CUTOFFS] += 1
            break
    return best


@helper
def outcome_window(options, known, rest, share, window):
    """Star1: the window for an outcome of probability `share`."""
    above, below = (options.most * rest, options.least * rest) if rest > 0.0 else (0.0, 0.0)
    return (window[0] - known - above) / share, (window[1] - known - below) / share


@helper
def value_of_leaf(game, state, options):
    """The result or the score if the game is over, else the evaluation."""
    if not game.is_over(state):
        return game.evaluate(state)
    return np.float64(game.score(state)) if options.scores else result_of(game.score(state))


@helper
def list_outcomes(game, line, ply, player):
    """Write the outcomes of chance, or a random player's moves; returns how many."""
    state, moves, probabilities = line.states[ply], line.moves[ply], line.probabilities[ply]
    if player == CHANCE:
        return game.chance(state, moves, probabilities)
    count = game.legal_moves(state, moves)
    for i in range(count):
        probabilities[i] = 1.0 / count
    return count
