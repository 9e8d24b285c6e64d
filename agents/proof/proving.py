"""The tree of a proof-number search after some iterations, as data: for teaching and drawings.

An iteration descends to the most-proving node, expands it, and updates its ancestors' numbers.  The first player's
nodes are OR nodes, the second player's AND nodes; in text, brackets tell them apart as in lecture notes:

    [1, 3]   an OR node: least proof number, sum of disproof numbers
    (3, 1)   an AND node: sum of proof numbers, least disproof number
    <1, 1>   a leaf

In a graph (`pns(graph=true)`) a position reached by several lines is shown below the first; the others are "joined".
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Unsuited
from arena.agents.core.solve import goal_for
from arena.agents.core.tree_node import Node, Said, Searched, after, check_searchable, uncompiled
from arena.agents.knowledge.tablebase import no_endgames
from arena.agents.proof.bestfirst import ROOT
from arena.agents.proof.numbers import INFINITE, new_counts
from arena.agents.proof.pns import PNS
from arena.agents.proof.transpositions import is_graph
from arena.games.core.game import Game


@dataclass
class Proving(Node):
    """A node of the tree."""

    proof: int  # infinite from INFINITE on
    disproof: int
    joined: bool = False  # in a graph, whether another node holds its position and children

    @property
    def legend(self) -> str:
        joined = " Grey is joined to the node that holds its position." if any(one.joined for one in self.all()) else ""
        return (
            "Above the proof number, below the disproof number; square: OR, round: AND. Dashed: the frontier. "
            f"Orange: the way to the most-proving node. Green is proved, red disproved.{joined}"
        )

    @property
    def role(self) -> str:
        return {0: "OR", 1: "AND", None: ""}[self.player]

    @property
    def said(self):
        data = [None if number >= INFINITE else number for number in (self.proof, self.disproof)]
        proof, disproof = ("∞" if number is None else f"{number:,}" for number in data)
        begin, end = "⟨⟩" if not self.children and not self.hidden else "[]" if self.player == 0 else "()"
        settled = "proved" if self.proof == 0 else "disproved" if self.disproof == 0 else ""
        state = settled or ("joined" if self.joined else "")
        return Said(
            label=f"{begin}{proof}, {disproof}{end}",
            data={"proof": data[0], "disproof": data[1], "joined": self.joined},
            words="most-proving" if self.next else state or ("frontier" if self.frontier else ""),
            state=state,
            lines=(proof, disproof),
        )


class Proof(Searched[int]):
    """A search for a proof that can be looked at after each iteration."""

    root = ROOT

    def __init__(self, agent: PNS, game: Game, state: np.ndarray, result: int = 1):
        """Prepare the search for a proof that the player to move gets at least `result`: 1 or 0.

        Raises Unsuited if the agent refuses the game.
        """
        check_searchable(agent, game, state)
        if agent.symmetries:
            raise Unsuited("symmetries = true: moves of boards that are turned cannot be shown; leave it out")
        self.game, self.state, self.goal = game, state.copy(), goal_for(int(game.player(state)), result)
        task = agent.task(self.goal, no_endgames())
        self.search = agent.new_search(game, agent.new_memory(game), state.copy(), task, new_counts(None))
        self.done = 0  # iterations

    def iterate(self, times: int | None, nodes: int) -> None:
        """Expand that many leaves; with None, until the root is settled or the tree has more than `nodes` nodes."""
        tree = self.search.tree
        while min(self.search.numbers()) > 0 and (tree.size[0] <= nodes if times is None else self.done < times):
            before = int(tree.size[0])
            with np.errstate(over="ignore"):  # where the kernel runs as plain Python
                if self.search.run(1) == 0:
                    raise Unsuited(self.search.full() or "the search cannot go on")
            self.done += int(tree.size[0]) > before  # a search of the second level leaves the first unchanged

    def statement(self) -> str:
        return "MAX wins" if self.goal.least == 1.0 else "MAX does not lose"

    def children(self, node: int) -> range:
        tree = self.search.tree
        first = int(tree.first_child[node])
        return range(first, first + int(tree.children[node]))

    def holder(self, node: int) -> int:
        """The node that holds a node's position: in a graph, the first to reach it."""
        positions = self.search.tree.positions
        return int(positions.first[node]) if uncompiled(is_graph)(positions) else node

    def below(self, node):
        """A node's children; levels come in order."""
        for child in self.children(node):
            yield 0, int(self.search.tree.move[child]), child

    def way(self):
        """The nodes to the most-proving one, and holders of their positions; none after the search."""
        tree, state, way = self.search.tree, self.state, [ROOT]
        if min(self.search.numbers()) == 0:
            return []
        while children := self.children(way[-1]):
            numbers = tree.proof if self.game.player(state) == 0 else tree.disproof
            way.append(min(children, key=lambda child: int(numbers[child])))
            state = after(self.game, state, int(tree.move[way[-1]]))
            if self.holder(way[-1]) != way[-1]:
                way.append(self.holder(way[-1]))
        return way

    def node(self, node, player):
        tree, joined = self.search.tree, self.holder(node) != node
        proof, disproof = int(tree.proof[node]), int(tree.disproof[node])
        frontier = not self.children(node) and proof > 0 and disproof > 0 and not joined
        return Proving("", player, proof, disproof, joined, frontier=frontier)
