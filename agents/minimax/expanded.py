"""The tree of best-first minimax after some expansions, as data for teaching and drawings.

A picture shows a position on each path to it, though the search stores it once.  Values are MAX's.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited
from arena.agents.core.tree_node import Node, after, check_searchable, counted, foremost, hundredths, uncompiled
from arena.agents.minimax.ubfm import (
    DESCENTS,
    EDGES,
    ENDED,
    NODES,
    NONE,
    ROOT,
    SIZE,
    UBFM,
    UBFMPlayer,
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

    @property
    def legend(self) -> str:
        return (
            "In a node its value for MAX, from -1 to 1, beside it the descents. Dashed: not yet expanded. Orange: the "
            "way to the position that is expanded next."
        )

    @property
    def label(self) -> str:
        return hundredths(self.value)

    @property
    def note(self) -> str:
        return f"{self.descents:,}" if self.descents else ""

    @property
    def spoken(self) -> str:
        return counted(self.descents, "descent") if self.descents else ""

    @property
    def words(self) -> str:
        return "next" if self.next else "frontier" if self.frontier else "resolved" if self.resolved else ""

    def data(self):
        return {"value": self.value, "descents": self.descents, "resolved": self.resolved}


@dataclass
class Expansion:
    """A best-first search that can be looked at after each expansion."""

    game: Game
    player: UBFMPlayer
    state: np.ndarray
    rng: np.ndarray
    done: int = 0  # expansions

    def __post_init__(self):
        self.graph = self.player.graph = new_graph(self.player.agent.max_nodes)

    def expand(self, times: int | None, positions: int) -> None:
        """Expand that many positions; with None, until the search ends or has more than `positions`."""
        counts = self.graph.counts
        while not counts[ENDED] and (counts[SIZE] <= positions if times is None else self.done < times):
            before = int(counts[EDGES])
            with np.errstate(over="ignore"):  # where the kernel runs as plain Python
                ubfm_kernel(self.game, self.graph, self.state, self.player.options, counts[NODES] + 1, 2**62, self.rng)
            self.done += int(counts[EDGES]) > before

    def shown(self, limit: int) -> Expanded:
        """About `limit` nodes, those that most descents took."""
        way = self.way()
        root: Path = ()
        chosen = foremost(root, self.below, limit) | {way[:i] for i in range(len(way) + 1)}
        return self.node((), self.state, chosen, way)

    def target(self, path: Path) -> int:
        """The position at the end of a path."""
        return int(self.graph.targets[path[-1]]) if path else ROOT

    def edges(self, position: int) -> range:
        first = int(self.graph.first[position])
        return range(first, first + int(self.graph.total[position]))

    def below(self, path: Path) -> Iterator[tuple[float, Path]]:
        """The paths one move longer, each with its rank: the most descents come first."""
        for edge in self.edges(self.target(path)):
            yield -float(self.graph.descents[edge]), (*path, edge)

    def way(self) -> Path:
        """The path of the next descent; () if the search has ended."""
        path: Path = ()
        if self.graph.counts[ENDED] or not self.done or self.graph.resolved[ROOT]:
            return path
        while self.graph.total[self.target(path)] > 0:
            edge = int(uncompiled(edge_to_descend)(self.graph, self.target(path), self.player.options))
            if edge == NONE:
                return ()
            path = (*path, edge)
        return path if not self.graph.resolved[self.target(path)] else ()

    def node(self, path: Path, state: np.ndarray, chosen: set[Path], way: Path) -> Expanded:
        """The node at the end of a path to `state`, with the chosen nodes below."""
        graph, position, game = self.graph, self.target(path), self.game
        over, expanded = bool(game.is_over(state)), bool(graph.total[position])
        descents = int(graph.descents[path[-1]]) if path else int(graph.counts[DESCENTS])
        shown = Expanded(
            "", None if over else int(game.player(state)), float(graph.values[position]), descents,
            bool(graph.resolved[position]),
        )  # fmt: skip
        shown.frontier = not expanded and not shown.resolved
        shown.marked, shown.next = path != () and path == way[: len(path)], path == way and path != ()
        for edge in sorted(self.edges(position), key=lambda edge: graph.moves[edge]):
            if (*path, edge) not in chosen:
                shown.hidden += 1
                continue
            move = int(graph.moves[edge])
            child = self.node((*path, edge), after(game, state, move), chosen, way)
            child.move = game.move_name(state, move)
            shown.children.append(child)
        return shown


def expansion(agent: Agent, game: Game, state: np.ndarray, seed: int) -> Expansion:
    """A search before its first expansion; Unsuited if the agent is no ubfm or refuses the game."""
    if not isinstance(agent, UBFM):
        raise Unsuited(f"{agent.name} is no best-first minimax: say ubfm")
    check_searchable(agent, game, state)
    player = agent.new_player(game, Budget(nodes=1))
    return Expansion(player.game, player, state.copy(), stream(seed))
