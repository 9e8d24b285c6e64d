"""Root parallelisation: each worker searches its own tree (Cazenave & Jouandeau, "On the parallelization of UCT",
2007).

"Single run": only in the end the visits and values of the root's moves are summed, and the most visited is played, or,
with `vote="majority"`, each worker votes for its own choice (Soejima, Kishimoto & Watanabe, "Evaluating root
parallelization in Go", 2010: better for many workers).  "Multiple runs": every `share_every` playouts of a worker, each
root receives the other trees' statistics since the last exchange.

Between exchanges the workers are independent, so threads and simulated workers give the same result.  A proof in any
tree counts for all.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Decision, MoveStatistics
from arena.agents.core.children import moves_of
from arena.agents.core.threads import ThreadedPlayer
from arena.agents.core.tree_arrays import (
    ROOT,
    capacity,
    child_by_move,
    most_visited_child,
    principal_variation,
    set_bound,
)
from arena.agents.montecarlo.decision import best_of_proven
from arena.agents.montecarlo.parallel.scheme import Searching
from arena.agents.montecarlo.search import OneSearch
from arena.games.core.game import check_choice
from arena.games.core.jit import uncompiled


@dataclass(frozen=True)
class RootParallel(Searching):
    """A tree for each worker, combined at the root.

    vote: "sum" of the visits, or "majority" of the workers' choices, with ties broken by the sum
    share_every: playouts of a worker between exchanges of root statistics; 0 for none before the end
    """

    vote: str = "sum"
    share_every: int = 0

    name: ClassVar[str] = "root"
    ranges: ClassVar[dict] = {"share_every": (0,)}

    def __post_init__(self):
        super().__post_init__()
        check_choice("vote", self.vote, ("sum", "majority"))
        if self.share_every and self.seconds is not None:
            raise ValueError("share_every needs a budget of playouts, since all workers exchange at the same time")
        for method in getattr(self.searcher(), "chosen", ()) if self.share_every else ():
            if method.own_visits:
                raise ValueError(f"share_every = {self.share_every} excludes {method.name}, which needs its own visits")

    def budget(self, default=None):
        budget = super().budget(default)
        return replace(budget, seconds=None, clock=None) if self.share_every and budget.playouts else budget

    def new_player(self, game, budget):
        return RootPlayer(self, game, budget)


class RootPlayer(ThreadedPlayer):
    """The trees of one game, emptied for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        most = agent.shares(agent.total_playouts(budget))[0]
        room = capacity(game, agent.max_nodes, most)
        self.searches = [OneSearch(agent.searcher(), game, room, most) for _ in range(agent.workers)]

    def decide(self, state, rng):
        shares = self.agent.shares(self.agent.total_playouts(self.budget))
        left = [share for share in shares if share != 0]
        rngs, searches = self.streams(rng), self.searches[: len(left)]
        for search, share, own in zip(searches, left, rngs):
            search.forget()
            search.begin(replace(self.budget, playouts=share), own)
        trees = [search.tree for search in searches]
        common = np.zeros((2, len(moves_of(self.game, state))))  # shared by all trees
        made, every = np.zeros(len(left), np.int64), self.agent.share_every
        while True:
            now = [min(share, every) if every else share for share in left]
            made += self.each(len(left), lambda i, n=now: searches[i].search(state, n[i], self.budget.seconds, rngs[i]))
            if now == left:
                break
            left = [share - part for share, part in zip(left, now)]
            common = put_together(trees, common)
            for tree in trees:
                children = root_children(tree)
                tree.visits[children], tree.value[children] = common
                tree.visits[ROOT] = common[0].sum()
                for child in children:
                    uncompiled(set_bound)(tree, child)
        rng[0] = rngs[0, 0]
        return self.decision(searches, put_together(trees, common), made, int(self.game.player(state)))

    def each(self, workers: int, work) -> list:
        """work(i) for that many workers: on threads at the same time, simulated one after another."""
        if self.agent.simulated:
            return [work(i) for i in range(workers)]
        return self.on_threads(lambda i: work(i) if i < workers else 0)[:workers]

    def decision(self, searches, total, made, player):
        """The common choice, with the statistics of all trees and the principal variation of a tree that agrees.

        total: float64[2, moves], visits and value in all trees; made: int64[workers], playouts.  Virtual time is known
        only if a playout takes 1, since the plies of a worker's playouts are not counted.
        """
        trees, constant = [search.tree for search in searches], self.agent.playout_time == "constant"
        own = in_its_order(trees[0])  # which is random, as in one tree: ties favour no move
        moves, (visits, value) = trees[0].move[root_children(trees[0])][own], total[:, own]
        means = 2.0 * value / np.maximum(visits, 1) - 1.0
        best = list(moves).index(self.chosen(searches, moves, visits, value))
        proofs = np.max([tree.proven[root_children(tree)] for tree in trees], axis=0)[own]  # UNPROVEN is the least
        best = best_of_proven(proofs, visits, means, best, player)
        agreeing = [tree for search, tree in zip(searches, trees) if choice_of(search) == moves[best]]
        line = principal_variation(agreeing[0], child_by_move(agreeing[0], ROOT, moves[best])) if agreeing else None
        line = line or (int(moves[best]),)
        return Decision(
            move=line[0],
            value=float(means[best]),
            playouts=int(made.sum()),
            playouts_each=int(made.max()),
            virtual_time=float(made.max()) if self.agent.simulated and constant else None,
            nodes=sum(int(tree.size[0]) for tree in trees),
            principal_variation=line,
            depth=len(line),
            statistics=MoveStatistics(moves, visits.astype(np.int64), means),
        )

    def chosen(self, searches, moves, visits, value) -> int:
        """The workers' move, before proofs; by the sum, one that a tree chooses if trees do not go by visits alone."""
        votes = Counter(map(choice_of, searches))
        order = dict(zip(moves.tolist(), zip(visits.tolist(), value.tolist())))
        if self.agent.vote == "majority":
            return max(votes, key=lambda move: (votes[move], order[move]))
        by_visits = all(search.last_choice() is None for search in searches)
        return max(order if by_visits else votes, key=order.__getitem__)


def choice_of(search: OneSearch) -> int:
    """The move chosen by one tree."""
    child = search.last_choice()
    return int(search.tree.move[most_visited_child(search.tree, ROOT) if child is None else child])


def root_children(tree) -> np.ndarray:
    """The root's children in the order of their moves, which all trees share."""
    children = np.arange(tree.first_child[ROOT], tree.first_child[ROOT] + tree.children[ROOT])
    return children[np.argsort(tree.move[children])]


def in_its_order(tree) -> np.ndarray:
    """Where `root_children` has the tree's first child, its second one, and so on."""
    return np.argsort(root_children(tree))


def put_together(trees, common) -> np.ndarray:
    """Visits and value of each root move in all trees; `common`, which every tree includes, is counted once."""
    total = common.copy()
    for tree in trees:
        children = root_children(tree)
        total += np.array([tree.visits[children], tree.value[children]]) - common
    return total
