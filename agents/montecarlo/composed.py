"""UCT with methods: the rules that call the methods, one after another, at the points of a simulation."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from arena.agents.montecarlo.chain import replaces
from arena.agents.montecarlo.method import NONE
from arena.agents.montecarlo.search import expand
from arena.agents.montecarlo.ucb1 import FIRST, UCB1
from arena.games.core.game import CHANCE
from arena.games.core.play.playout import reward_of


@dataclass(frozen=True)
class Composed(UCB1):
    """UCB1 with methods that do not change the selection.

    steps: whether a method acts on the moves of playouts
    """

    steps: bool = False

    def function(self, name):
        methods = self.chain.methods
        if name == "grow" and not any(replaces(method, hook) for method in methods for hook in ("expand", "expanded")):
            return UCB1.grow
        stepping = [method for method in methods if method.steps]
        whole = name == "played" and len(stepping) == 1 and replaces(stepping[0], "plays")
        return super().function("played_whole" if whole else name)

    def grow(self, game, search, walk, node, rng):
        node = np.int64(node)
        if not self.chain.expand(game, search, walk, node):
            expand(game, search.tree, node, walk.state, walk.moves, rng)
            self.chain.expanded(game, search, walk, node)

    def play_out(self, game, search, walk, rng):
        self.chain.arrive(game, search, walk)
        total = 0.0
        for _ in range(self.lanes):
            result = self.played(game, search, walk, rng)
            self.chain.played(game, search, walk, result)
            total += result
        return total / self.lanes

    def played(self, game, search, walk, rng):
        state, plies = walk.state, 0
        if not self.steps:
            score, _ = game.random_playout(state, walk.moves, rng)
            return self.chain.result(game, search, score, 2.0 * reward_of(score) - 1.0)
        while not game.is_over(state):
            if self.chain.stops(game, search, walk, plies):
                return self.chain.estimate(game, search, walk)
            move = self.next_move(game, search, walk, rng)
            self.chain.made(game, search, walk, move)
            game.play(state, move)
            plies += 1
        score = game.score(state)
        return self.chain.result(game, search, score, 2.0 * reward_of(score) - 1.0)

    def played_whole(self, game, search, walk, rng):
        """`played` where only one method acts on moves, and plays to the end by itself."""
        score = self.chain.plays(game, search, walk, rng)
        return self.chain.result(game, search, score, 2.0 * reward_of(score) - 1.0)

    def next_move(self, game, search, walk, rng):
        """The next move of a playout, or an outcome of chance."""
        state = walk.state
        if game.has_chance and game.player(state) == CHANCE:
            return np.int64(game.random_move(state, walk.moves, rng))
        move = self.chain.decides(game, search, walk, rng)
        if move != NONE:
            return np.int64(move)
        move = self.chain.draws(game, search, walk, rng)
        if move == NONE:
            move = np.int64(game.random_move(state, walk.moves, rng))
        return np.int64(self.chain.amends(game, search, walk, move, rng))


@dataclass(frozen=True)
class Selecting(Composed):
    """Composed with methods that change the selection; bounds have double precision."""

    by_vectors = False

    def bound(self, game, search, walk, child, scale):
        """mean + exploration term + the methods' terms."""
        tree = search.tree
        visits = tree.visits[child]
        if visits > 0:
            mean, term = tree.value[child] / visits, sqrt(scale / visits)
        else:
            mean, term = (search.options.urgency, 0.0) if self.urgency else (0.0, FIRST)
        mean = self.chain.mean(game, search, walk, child, mean)
        term = self.chain.explore(game, search, walk, child, term, search.options.exploration)
        return mean + term + self.chain.bonus(game, search, walk, child)
