"""The tree of best-first minimax after some expansions, as data for teaching and drawings.

A picture shows a position on each path to it, though the search stores it once.  Values are MAX's.
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Budget
from arena.agents.core.tree_node import Node, Said, Searched, check_searchable, counted, hundredths, uncompiled
from arena.agents.minimax.ubfm import (
    DESCENTS,
    EDGES,
    ENDED,
    NODES,
    NONE,
    ROOT,
    SIZE,
    UBFM,
    edge_to_descend,
    new_graph,
    ubfm_kernel,
)
from arena.games.core.game import Game
from arena.games.core.random import stream

Path = tuple[int, ...]  # of moves in the graph, from the root


@dataclass
class Expanded(Node):
    """A position of best-first minimax, on one of the paths to it."""

    value: float
    descents: int  # through the move to it
    resolved: bool  # its result is certain
    legend = (
        "In a node its value for MAX, from -1 to 1, beside it the descents. Dashed: not yet expanded. Orange: the "
        "way to the position that is expanded next."
    )

    @property
    def said(self):
        data = {"value": self.value, "descents": self.descents, "resolved": self.resolved}
        note, spoken = (f"{self.descents:,}", counted(self.descents, "descent")) if self.descents else ("", "")
        words = "next" if self.next else "frontier" if self.frontier else "resolved" if self.resolved else ""
        return Said(hundredths(self.value), data, note, spoken, words)


class Expansion(Searched[Path]):
    """A best-first search that can be looked at after each expansion."""

    root, by_move = (), True

    def __init__(self, agent: UBFM, game: Game, state: np.ndarray, seed: int):
        """Prepare the search, without an expansion; Unsuited if the agent refuses the game."""
        check_searchable(agent, game, state)
        self.player = agent.new_player(game, Budget(nodes=1))
        self.game, self.state, self.rng = self.player.game, state.copy(), stream(seed)
        self.graph = new_graph(agent.max_nodes)
        self.done = 0  # expansions

    def expand(self, times: int | None, positions: int) -> None:
        """Expand that many positions; with None, until the search ends or has more than `positions`."""
        counts = self.graph.counts
        while not counts[ENDED] and (counts[SIZE] <= positions if times is None else self.done < times):
            before = int(counts[EDGES])
            with np.errstate(over="ignore"):  # where the kernel runs as plain Python
                ubfm_kernel(self.game, self.graph, self.state, self.player.options, counts[NODES] + 1, 2**62, self.rng)
            self.done += int(counts[EDGES]) > before

    def target(self, path: Path) -> int:
        """The position at the end of a path."""
        return int(self.graph.targets[path[-1]]) if path else ROOT

    def below(self, path):
        """The paths one move longer: those that most descents took come first."""
        graph, position = self.graph, self.target(path)
        for edge in range(graph.first[position], graph.first[position] + graph.total[position]):
            yield -float(graph.descents[edge]), int(graph.moves[edge]), (*path, edge)

    def way(self):
        """The paths to the position of the next descent; none if the search has ended."""
        graph, way = self.graph, [self.root]
        if graph.counts[ENDED] or not self.done or graph.resolved[ROOT]:
            return []
        while graph.total[self.target(way[-1])] > 0:
            edge = int(uncompiled(edge_to_descend)(graph, self.target(way[-1]), self.player.options))
            if edge == NONE:
                return []
            way.append((*way[-1], edge))
        return [] if graph.resolved[self.target(way[-1])] else way

    def node(self, path, player):
        graph, position = self.graph, self.target(path)
        descents = int(graph.descents[path[-1]] if path else graph.counts[DESCENTS])
        resolved = bool(graph.resolved[position])
        frontier = not graph.total[position] and not resolved
        return Expanded("", player, float(graph.values[position]), descents, resolved, frontier=frontier)
