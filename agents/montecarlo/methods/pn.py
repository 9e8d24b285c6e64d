"""PN-MCTS: proof numbers in the nodes of a Monte Carlo tree (J. Kowalski, E. Doe, M. Winands, D. Gorski & D. Soemers,
"Proof number based Monte-Carlo tree search", IEEE ToG 2024, arXiv 2303.09449), one for each player, as in "Generalized
proof-number Monte-Carlo tree search" (J. Kowalski, D. Soemers, S. Kosakowski & M. Winands, arXiv 2506.13249).

    pn(p) = 1 at a leaf, 0 if p has won, infinite if p can no longer win
    pn(p) = min over the children where p moves, sum over them where the other player does
    bonus = constant * term

A child's term is a number from 0 to 1, by the pn of the player to move, of the child and of its siblings:

    rank    1 - (1 + how many have a smaller one) / children
    max     1 - (pn - least) / (1 + largest - least)
    sum     1 - pn / (1 + sum)          infinite numbers have the term 0 in both, and do not affect the others

A rank compares each child with all others, which is slow at nodes with many moves.

Children that end the game have their numbers from the expansion on.  In games without draws the pn of the root's
opponent is the disproof number of PN-MCTS; with `draw_for = "opponent"` also in games with draws, where a draw then
disproves a win.  The papers' constant is for rewards from -1 to 1, and twice as large as here for the same selection.
`final` plays a move that is proven to win; `solver` proves as MCTS-Solver does, whereas the paper visits proven nodes 5
more times.  PN-MCTS's second layer, numbers for not losing once a win is disproven, is not implemented.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.core.tree_arrays import ROOT, UNPROVEN, last_node, proven_result
from arena.agents.montecarlo.method import Method
from arena.games.core.jit import helper

TERMS = ("rank", "max", "sum")
DRAWS = ("nobody", "opponent")


class Numbers(NamedTuple):
    """Values of nodes."""

    pn: np.ndarray  # float64[nodes, 2], the proof number of each player
    term: np.ndarray  # float32[nodes]
    state: np.ndarray  # dtype[state_size], scratch
    root: np.ndarray  # int64[1], the player to move at the root


@dataclass(frozen=True)
class ProofNumbers(Method):
    """constant: weight of the term, for rewards from 0 to 1
    term: formula of the term
    final: whether a move that is proven to win is played
    solver: whether proofs are used in the search
    draw_for: the player for whom a draw counts as a win: "nobody", or the root's "opponent"
    """

    constant: float = 0.5
    term: str = "rank"
    final: bool = True
    solver: bool = True
    draw_for: str = "nobody"

    name: ClassVar[str] = "pn"
    part: ClassVar[str] = "back-up, selection, last choice"
    needs: ClassVar[Needs] = Needs(chance=False)
    apart: ClassVar[tuple[str, ...]] = ("graph",)
    data_fields: ClassVar[tuple[str, ...]] = ("constant",)
    per_node: ClassVar[tuple[str, ...]] = ("pn", "term")
    ranges: ClassVar[dict] = {"constant": (0,)}
    choices: ClassVar[dict] = {"term": TERMS, "draw_for": DRAWS}

    @property
    def proves(self):
        return self.solver

    @property
    def keeps(self):
        return self.draw_for == "nobody"

    def new_memory(self, game, nodes):
        state = np.zeros(game.state_size, game.dtype)
        return Numbers(np.zeros((nodes, 2)), np.zeros(nodes, np.float32), state, np.zeros(1, np.int64))

    def forget(self, memory):
        memory.pn[ROOT] = 1.0

    def choose(self, tree, memory):
        first = int(tree.first_child[ROOT])
        proven = memory.pn[first : first + int(tree.children[ROOT]), memory.root[0]] == 0.0
        return first + int(np.argmax(proven)) if self.final and proven.any() else None

    def expanded(self, game, search, walk, node):
        tree, memory, player = search.tree, search.memory, game.player(walk.state)
        if node == ROOT:
            memory.root[0] = player
        for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
            game.play_into(walk.state, tree.move[child], memory.state)
            memory.pn[child, 0] = memory.pn[child, 1] = 1.0
            if game.is_over(memory.state):
                self.end(memory, child, game.score(memory.state))
        self.update(tree, memory, node, player)

    def end(self, memory, node, result):
        memory.pn[node, 0] = 0.0 if result > 0.0 else np.inf
        memory.pn[node, 1] = 0.0 if result < 0.0 else np.inf
        if self.draw_for == "opponent" and result == 0.0:
            memory.pn[node, 1 - memory.root[0]] = 0.0

    def arrive(self, game, search, walk):
        tree, leaf = search.tree, last_node(walk)
        if self.solver and tree.proven[leaf] != UNPROVEN:
            self.end(search.memory, leaf, proven_result(tree.proven[leaf]))

    def learn(self, game, search, walk, result):
        """Update the path upwards as long as numbers change, at least beyond a newly expanded node."""
        tree, memory, length = search.tree, search.memory, walk.length[0]
        memory.root[0] = walk.movers[1]
        i = length - 2
        while i >= 0 and (self.update(tree, memory, walk.path[i], walk.movers[i + 1]) or i == length - 2):
            i -= 1

    def update(self, tree, memory, node, player):
        """Compute a node's numbers and its children's terms from the children's; True if its numbers changed."""
        pn, first = memory.pn, tree.first_child[node]
        least, total = np.inf, 0.0
        for child in range(first, first + tree.children[node]):
            least, total = min(least, pn[child, player]), total + pn[child, 1 - player]
        changed = pn[node, player] != least or pn[node, 1 - player] != total
        pn[node, player], pn[node, 1 - player] = least, total
        if self.term == "rank":
            rank_terms(memory.term, pn, first, tree.children[node], player)
        else:
            scaled_terms(memory.term, pn, first, tree.children[node], player, self.term == "sum")
        return changed

    def bonus(self, game, search, walk, child):
        return search.options.constant * search.memory.term[child] if search.tree.visits[child] > 0 else 0.0


@helper
def rank_terms(term, pn, first, count, player):
    """1 - rank / count; equal numbers have the same rank, from 1 on."""
    for child in range(first, first + count):
        rank = 1
        for other in range(first, first + count):
            rank += pn[other, player] < pn[child, player]
        term[child] = 1.0 - rank / count


@helper
def scaled_terms(term, pn, first, count, player, by_sum):
    """The terms by the sum of the finite numbers, or by their range."""
    least, largest, total = np.inf, 0.0, 0.0
    for child in range(first, first + count):
        number = pn[child, player]
        if number < np.inf:
            least, largest, total = min(least, number), max(largest, number), total + number
    for child in range(first, first + count):
        number = pn[child, player]
        if number == np.inf:
            term[child] = 0.0
        elif by_sum:
            term[child] = 1.0 - number / (1.0 + total)
        else:
            term[child] = 1.0 - (number - least) / (1.0 + largest - least)
