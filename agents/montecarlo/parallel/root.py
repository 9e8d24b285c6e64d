"""Root parallelisation: each worker searches a tree of its own (Cazenave & Jouandeau, "On the parallelization of UCT",
2007).

"Single run": the workers do not talk; in the end the visits and values of the root's moves are summed, and the most
visited is played, or, with `vote="majority"`, each worker votes for its own choice (Soejima, Kishimoto & Watanabe,
"Evaluating root parallelization in Go", 2010, who found it better for many workers).  "Multiple runs": every
`share_every` playouts of a worker, each tree is told at its root what the others have found since the last time.

In between the workers are independent, so threads and simulated workers give the same result.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from agents.core.agent import MoveStatistics
from agents.core.chunks import run_chunks
from agents.core.tree import ROOT, capacity, clear, most_visited_child, new_tree
from agents.montecarlo.parallel.scheme import Scheme, SchemePlayer
from agents.montecarlo.search import Search, decision_from, search_kernel
from agents.montecarlo.ucb1 import UCB1, UCBOptions
from games.core.game import check_choice


@dataclass(frozen=True)
class RootParallel(Scheme):
    """A tree for each worker, combined at the root.

    vote: "sum" of the visits, or "majority" of the workers' choices, ties by the sum
    share_every: playouts of a worker between exchanges of root statistics; 0 for none before the end
    """

    vote: str = "sum"
    share_every: int = 0

    name: ClassVar[str] = "root"

    def __post_init__(self):
        super().__post_init__()
        check_choice("vote", self.vote, ("sum", "majority"))
        if self.share_every < 0:
            raise ValueError(f"share_every = {self.share_every} is out of range: it can be 0 or more")
        if self.share_every and self.seconds is not None:
            raise ValueError("share_every needs a budget of playouts, since all workers exchange at the same time")

    def budget(self, default=None):
        budget = super().budget(default)
        return replace(budget, seconds=None, clock=None) if self.share_every and budget.playouts else budget

    def new_player(self, game, budget):
        return RootPlayer(self, game, budget)


class RootPlayer(SchemePlayer):
    """The trees of one game, made anew for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        room = capacity(game, agent.max_nodes, agent.shares(agent.total_playouts(budget))[0])
        options = UCBOptions(agent.exploration, 0.0)
        self.searches = [Search(new_tree(room), (), options) for _ in range(agent.workers)]
        self.trees = [search.tree for search in self.searches]

    def decide(self, state, rng):
        for tree in self.trees:
            clear(tree)
        rngs, left = self.streams(rng), self.agent.shares(self.agent.total_playouts(self.budget))
        common = np.zeros((2, len(self.game.moves(state))))  # visits and value that every tree has been told of
        made, every = np.zeros(len(left), np.int64), self.agent.share_every
        while True:
            now = [min(share, every) if every else share for share in left]
            ran = self.each(lambda i, now=now: self.search(i, state, now[i], rngs[i]))
            made += ran
            if now == left:
                break
            left = [share - more for share, more in zip(left, ran)]
            common = put_together(self.trees, common)
            for tree in self.trees:
                write_root(tree, common)
        rng[0] = rngs[0, 0]
        return self.decision(put_together(self.trees, common), made, int(self.game.player(state)))

    def each(self, work) -> list:
        """work(i) for every worker: on threads at the same time, simulated one after the other."""
        return [work(i) for i in range(self.agent.workers)] if self.agent.simulated else self.on_threads(work)

    def search(self, i, state, playouts, rng) -> int:
        """One worker's search of its own tree; returns its playouts."""
        return run_chunks(
            lambda n: search_kernel(self.game, UCB1(), self.searches[i], state, n, rng), playouts, self.budget.seconds
        )

    def decision(self, total, made, player):
        """The choice of all, with the statistics of all trees and the principal variation of a tree that agrees.

        total: float64[2, moves], visits and value in all trees; made: int64[workers], playouts.  Virtual time is known
        only where a playout takes 1, since the plies of a worker's playouts are not counted.
        """
        playouts, constant = int(made.sum()), self.agent.playout_time == "constant"
        votes = Counter(int(tree.move[most_visited_child(tree, ROOT)]) for tree in self.trees)
        moves, (visits, value) = root_moves(self.trees[0]), total
        order = {int(move): (visits[i], value[i]) for i, move in enumerate(moves)}
        if self.agent.vote == "majority":
            move = max(votes, key=lambda move: (votes[move], order[move]))
        else:
            move = max(order, key=order.get)
        agreeing = [tree for tree in self.trees if tree.move[most_visited_child(tree, ROOT)] == move]
        means = 2.0 * value / np.maximum(visits, 1) - 1.0
        shown = decision_from(agreeing[0], playouts, player) if agreeing else None
        return replace(
            shown or decision_from(self.trees[0], playouts, player),
            move=move,
            value=float(means[list(order).index(move)]),
            playouts_each=int(made.max()),
            virtual_time=float(made.max()) if self.agent.simulated and constant else None,
            nodes=sum(int(tree.size[0]) for tree in self.trees),
            principal_variation=shown.principal_variation if shown else (move,),
            depth=shown.depth if shown else 1,
            statistics=MoveStatistics(moves, visits.astype(np.int64), means),
        )


def root_children(tree) -> np.ndarray:
    """The children of the root in the order of their moves, which is the same in every tree."""
    children = np.arange(tree.first_child[ROOT], tree.first_child[ROOT] + tree.children[ROOT])
    return children[np.argsort(tree.move[children])]


def root_moves(tree) -> np.ndarray:
    """The moves of the root in ascending order."""
    return tree.move[root_children(tree)].copy()


def put_together(trees, common) -> np.ndarray:
    """Visits and value of each root move in all trees; every tree already counts `common`, which is counted once."""
    total = common.copy()
    for tree in trees:
        children = root_children(tree)
        total += np.array([tree.visits[children], tree.value[children]]) - common
    return total


def write_root(tree, common) -> None:
    """Tell a tree at its root what all have found."""
    children = root_children(tree)
    tree.visits[children], tree.value[children] = common
    tree.visits[ROOT] = common[0].sum()
