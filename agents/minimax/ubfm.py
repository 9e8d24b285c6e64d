"""Unbounded best-first minimax (Korf & Chickering, "Best-first minimax search", 1996; Cohen-Solal, "Learning to play
two-player perfect-information games without knowledge", 2020).

    descend     from the root, to each player's best move, as far as the table goes
    expand      evaluate the positions after all moves of the position reached, and keep them
    back up     give each position on the way the value of its best move

Korf & Chickering's is `ubfm(completion=false, safe=false, to_root=false)`: it backs up until a value does not change,
and plays the move of the greatest value.  Cohen-Solal's, the default, has

    completion  a position is resolved when its result is certain: a win for one player, or all its moves resolved;
                descents go to the others, and a certain win ranks above all values, a certain loss below
    safe        of the moves that are not certain to lose, the one that most descents took is played
    to_root     values are backed up to the root, since other paths may have changed them

The table is keyed by state, so all paths to a position share it.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Decision, MoveStatistics, Player
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import run_chunks
from arena.agents.core.needs import Needs
from arena.agents.core.probing import find_slot
from arena.agents.core.sides import result_of, side_to_move
from arena.agents.core.tree_arrays import shuffled_moves
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import copy_state
from arena.games.core.random import GAMMA, random_below

ROOT, NONE = 0, -1
SIZE, EDGES, NODES, DESCENTS, ENDED = range(5)  # of Graph.counts


class Graph(NamedTuple):
    """Positions, and the moves between them: row i is position i, or move i."""

    values: np.ndarray  # float64[positions], -1 to 1 for the first player
    results: np.ndarray  # int8[positions], a certain win (1) or loss (-1) of the first player, or 0
    resolved: np.ndarray  # bool[positions]
    sides: np.ndarray  # int8[positions], 1 if the first player is to move, else -1
    first: np.ndarray  # int32[positions], its first move
    total: np.ndarray  # int32[positions], its moves; 0 before it is expanded
    moves: np.ndarray  # int32[moves]
    targets: np.ndarray  # int32[moves]
    descents: np.ndarray  # int32[moves]
    keys: np.ndarray  # uint64[slots], a hash table of the positions except the root
    slots: np.ndarray  # int32[slots, a power of two], 1 + the key's position, or 0
    counts: np.ndarray  # int64[4] = positions, moves, positions visited, descents


class UBFMOptions(NamedTuple):
    """The difference between the searches."""

    completion: bool
    to_root: bool


def new_graph(capacity: int) -> Graph:
    """Room for `capacity` positions and twice as many moves; memory is provided when it is first written."""
    slots = 1 << (2 * capacity - 1).bit_length()
    return Graph(
        values=np.zeros(capacity),
        results=np.zeros(capacity, np.int8),
        resolved=np.zeros(capacity, np.bool_),
        sides=np.zeros(capacity, np.int8),
        first=np.zeros(capacity, np.int32),
        total=np.zeros(capacity, np.int32),
        moves=np.zeros(2 * capacity, np.int32),
        targets=np.zeros(2 * capacity, np.int32),
        descents=np.zeros(2 * capacity, np.int32),
        keys=np.zeros(slots, np.uint64),
        slots=np.zeros(slots, np.int32),
        counts=np.zeros(5, np.int64),
    )


@dataclass(frozen=True)
class UBFM(Agent):
    """Unbounded best-first minimax; moves are kept in random order, which breaks ties at random.

    completion: positions whose result is certain are resolved, and descents go to the others
    safe: of the moves that are not certain to lose, play the one that most descents took
    to_root: back values up all the way to the root
    evaluation: the name of one of the game's evaluation functions, file:PATH of a learned one, or weights of the game's
        terms, as in "corners=8, moves=1"; "" for its default
    max_nodes: the search ends when the table has this many positions (about 70 bytes each)
    """

    nodes: int | None = None
    seconds: float | None = None
    completion: bool = True
    safe: bool = True
    to_root: bool = True
    evaluation: str = ""
    max_nodes: int = 1 << 22

    name: ClassVar[str] = "ubfm"
    budgets: ClassVar[tuple[str, ...]] = ("nodes", "seconds")
    needs: ClassVar[Needs] = Needs(chance=False)
    ranges: ClassVar[dict] = {"max_nodes": (1000, 2**29)}

    def own_needs(self):
        return replace(self.needs, evaluation=self.evaluation)

    def has_statistics(self):
        return True

    def new_player(self, game, budget):
        return UBFMPlayer(self, game.with_evaluation(self.evaluation) if self.evaluation else game, budget)


class UBFMPlayer(Player):
    """Begins a new table for each move."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.options = UBFMOptions(agent.completion, agent.to_root)
        self.limit = 2**62 if budget.nodes is None else budget.nodes

    def decide(self, state, rng):
        self.graph = new_graph(1 + max(min(self.limit, self.agent.max_nodes - 1), self.game.max_moves))
        counts = self.graph.counts

        def run(n):
            before = int(counts[NODES])
            ubfm_kernel(self.game, self.graph, state, self.options, before + n, self.limit, rng)
            return int(counts[NODES]) - before

        run_chunks(run, self.budget.nodes, self.budget.seconds)
        return self.decision(state, rng)

    def decision(self, state, rng):
        graph, edge = self.graph, self.best_edge(ROOT, self.agent.safe)
        if edge is None:  # the budget was too small for one expansion
            moves = moves_of(self.game, state)
            return Decision(moves[random_below(rng, len(moves))], nodes=0, depth=0)
        line = self.line(edge)
        side, children = int(graph.sides[ROOT]), slice(graph.first[ROOT], graph.first[ROOT] + graph.total[ROOT])
        return Decision(
            move=line[0],
            value=float(side * graph.values[graph.targets[edge]]),
            nodes=int(graph.counts[NODES]),
            depth=len(line),
            principal_variation=line,
            statistics=MoveStatistics(
                graph.moves[children].copy(),
                graph.descents[children].astype(np.int64),
                side * graph.values[graph.targets[children]],
            ),
            counts={
                "positions": int(graph.counts[SIZE]),
                "descents": int(graph.counts[DESCENTS]),
                "resolved": int(np.count_nonzero(graph.resolved[: graph.counts[SIZE]])),
            },
        )

    def best_edge(self, node, safe) -> int | None:
        """The best move: by certain result, then if `safe` by descents, then by value."""
        graph, side = self.graph, int(self.graph.sides[node])

        def worth(edge):
            target = graph.targets[edge]
            value = side * graph.values[target]
            certain = side * graph.results[target] if self.agent.completion else 0
            return (certain, graph.descents[edge], value) if safe else (certain, value)

        edges = range(graph.first[node], graph.first[node] + graph.total[node])
        return max(edges, key=worth, default=None)

    def line(self, edge) -> tuple[int, ...]:
        moves = [int(self.graph.moves[edge])]
        while (below := self.best_edge(self.graph.targets[edge], False)) is not None:
            edge = below
            moves.append(int(self.graph.moves[edge]))
        return tuple(moves)


@kernel
def ubfm_kernel(game, graph, root, options, until, limit, rng):
    """Expand until `until` positions have been visited, or `limit` is reached, the graph full, or the search over."""
    state, child, moves = root.copy(), root.copy(), np.empty(game.max_moves, np.int32)
    path, counts = np.empty(game.max_plies + 1, np.int32), graph.counts
    if counts[SIZE] == 0:
        add_position(game, graph, state)
    # another descent would count moves and draw numbers in vain
    while counts[NODES] < until and not counts[ENDED]:
        copy_state(game, root, state)
        length = descend(game, graph, state, path, options)
        leaf = path[length - 1]
        counts[ENDED] = graph.resolved[leaf]
        if counts[ENDED]:
            break
        counts[DESCENTS] += 1
        if graph.total[leaf] > 0:
            back_up(graph, path, length, options)
            continue
        count = shuffled_moves(game, state, moves, rng)
        full = counts[SIZE] + count > len(graph.values) or counts[EDGES] + count > len(graph.moves)
        counts[ENDED] = full or counts[NODES] + count > limit
        if counts[ENDED]:
            break
        expand(game, graph, leaf, state, child, moves, count)
        back_up(graph, path, length, options)


@helper
def descend(game, graph, state, path, options):
    """Follow best moves to a position to expand, with `state`; returns the path's length."""
    node, length = np.int64(ROOT), 1
    path[0] = ROOT
    while graph.total[node] > 0 and not (options.completion and graph.resolved[node]):
        edge = edge_to_descend(graph, node, options)
        if edge == NONE:
            break
        graph.descents[edge] += 1
        game.play(state, graph.moves[edge])
        node = np.int64(graph.targets[edge])
        path[length] = node
        length += 1
    return length


@helper
def edge_to_descend(graph, node, options):
    """The move of the greatest value; with completion, among the unresolved ones."""
    side, best, best_value = graph.sides[node], NONE, -np.inf
    for edge in range(graph.first[node], graph.first[node] + graph.total[node]):
        target = graph.targets[edge]
        value = side * graph.values[target]
        if value > best_value and not (options.completion and graph.resolved[target]):
            best, best_value = edge, value
    return best


@helper
def expand(game, graph, node, state, child, moves, count):
    """Give a position its moves, and each move its position, new or known."""
    first = graph.counts[EDGES]
    for i in range(count):
        game.play_into(state, moves[i], child)
        graph.moves[first + i], graph.descents[first + i] = moves[i], 0
        graph.targets[first + i] = find_or_add(game, graph, child)
    graph.first[node], graph.total[node] = first, count
    graph.counts[EDGES] += count
    graph.counts[NODES] += count


@helper
def find_or_add(game, graph, state):
    """The position of a state, added if it is new."""
    key = game.key(state)
    slot = find_slot(graph.keys, graph.slots, 0, key, (np.uint64(key) * GAMMA) >> np.uint64(32))
    if graph.slots[slot] == 0:
        graph.keys[slot], graph.slots[slot] = key, graph.counts[SIZE] + 1
        add_position(game, graph, state)
    return graph.slots[slot] - np.int32(1)


@helper
def add_position(game, graph, state):
    """Add a position, with its result or its evaluation."""
    node = np.int32(graph.counts[SIZE])
    graph.counts[SIZE] += 1
    graph.sides[node] = side_to_move(game, state)
    graph.total[node], graph.results[node], graph.resolved[node] = 0, 0, game.is_over(state)
    if graph.resolved[node]:
        graph.values[node] = result_of(game.score(state))
        graph.results[node] = np.int8(graph.values[node])
    else:
        graph.values[node] = game.evaluate(state)


@helper
def back_up(graph, path, length, options):
    """Give each position of the path, from the end backwards, the value of its best move."""
    for i in range(length - 1, -1, -1):
        changed = update(graph, path[i], options)
        if not changed and not options.to_root:
            break


@helper
def update(graph, node, options):
    """Give a position its best move's value and, if certain, result; returns whether it changes."""
    side, unresolved = np.int64(graph.sides[node]), 0
    best_result, best_value = np.int64(-2), -np.inf
    for edge in range(graph.first[node], graph.first[node] + graph.total[node]):
        target = graph.targets[edge]
        result = side * graph.results[target] if options.completion else np.int64(0)
        value = side * graph.values[target]
        unresolved += not graph.resolved[target]
        if result > best_result or (result == best_result and value > best_value):
            best_result, best_value = result, value
    old_value, old_resolved = graph.values[node], graph.resolved[node]
    graph.values[node] = side * best_value
    if options.completion:
        graph.results[node] = side * best_result
        graph.resolved[node] = best_result == 1 or unresolved == 0
    return graph.values[node] != old_value or graph.resolved[node] != old_resolved
