"""What the agents minimax and alphabeta share: parameters, the player, and iterative deepening."""

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

from arena.agents.core.agent import Decision, Player, Unsuited
from arena.agents.core.chunks import run_chunks
from arena.agents.core.needs import Needs
from arena.agents.core.solve import Solver
from arena.agents.core.transposition_table import HITS, Table, check_table, leave_table, new_generation, new_table
from arena.agents.core.tree_node import after
from arena.agents.knowledge.prepared import PreparedAgent
from arena.agents.minimax.depthfirst import depth_first_kernel, line_kernel
from arena.agents.minimax.ordering import NO_POLICY, Policy, guide_of
from arena.agents.minimax.root_moves import put_first, put_root
from arena.agents.minimax.solver import DepthFirstSolver, ExactSolver
from arena.agents.minimax.stack import (
    DONE,
    INFINITE,
    LEAST_TABLE,
    WIN,
    DepthFirstOptions,
    best_line,
    new_search,
    restart,
)
from arena.games.core.game import check_choice

TIES = ("random", "first")


@dataclass(frozen=True)
class DepthFirstMinimax(PreparedAgent):
    """Searches to `depth`; with a budget of nodes or seconds, to depth 1, 2, 3 and so on until it is spent.

    ties: which of several best moves is played: a random one, or the first in the game's order; when it searches to
        depth 1, 2 and so on, the best move of the last depth comes first
    shortest: prefer the quickest win and the longest resistance; this costs some cut-offs
    evaluation: the name of one of the game's evaluation functions, file:PATH of a learned one, or weights of the game's
        terms, as in "corners=8, moves=1"; "" for its default
    scores: play for the game's score (discs, say) rather than for a win; the depth should then reach the end
    table: the transposition table's size in MiB; 0 for none
    scheme: what is replaced when the table is full: new, big or two_big (agents/core/transposition_table.py)
    symmetries: treat symmetric positions as one, in the table if there is one, else among the moves of a node
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    shortest: bool = True
    ties: str = "random"
    evaluation: str = ""
    scores: bool = False
    table: float = 0.0
    scheme: str = "two_big"
    symmetries: bool = False

    budgets: ClassVar[tuple[str, ...]] = ("depth", "nodes", "seconds")
    needs: ClassVar[Needs] = Needs(chance=False)
    solves: ClassVar[bool] = True
    deepening = False  # parameters of alphabeta that minimax lacks
    aspiration = 0.0

    def __post_init__(self):
        super().__post_init__()
        check_choice("ties", self.ties, TIES)
        check_table(self.table or LEAST_TABLE, self.scheme)

    def own_needs(self):
        return replace(self.needs, evaluation=self.evaluation, symmetries=self.symmetries)

    def options(self) -> DepthFirstOptions:
        off = DepthFirstOptions(*[False] * len(DepthFirstOptions._fields))
        table, symmetries = self.table > 0, self.symmetries
        return off._replace(shortest=self.shortest, scores=self.scores, table=table, symmetries=symmetries)

    def policy(self, game) -> Policy:
        """The policy that ranks moves near the root; PreparedFileError if its file cannot be used."""
        return NO_POLICY

    def new_table(self) -> Table:
        return new_table(self.table or LEAST_TABLE, self.scheme)

    def new_solver(self, game, budget) -> Solver:
        """A solver for one game; Unsuited if the depth is limited."""
        if budget.depth is not None:
            raise Unsuited(f"depth = {budget.depth}: {self.name} solves by searching to the end; leave depth out")
        exact = self.options().pruning and not self.options().by_policy and not self.deepening
        return (ExactSolver if exact else DepthFirstSolver)(self, game, budget)

    def new_player(self, game, budget) -> "DepthFirstPlayer":
        return DepthFirstPlayer(self, game.with_evaluation(self.evaluation) if self.evaluation else game, budget)


class DepthFirstPlayer(Player):
    """Keeps its arrays, and the table with its contents, from move to move."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.deepest = min(budget.depth or game.max_plies, game.max_plies)
        options = agent.options()
        limit = game.max_plies if options.quiescence else self.deepest
        self.search = new_search(game, limit + 1, agent.new_table(), options, agent.policy(game))
        self.guide = guide_of(options)
        self.deepening: Deepening | None = None

    def decide(self, state, rng):
        self.deepening = deepening = self.begin(state, rng)
        run_chunks(deepening.run, self.budget.nodes, self.budget.seconds)
        value, line = deepening.result()
        counts, table_hits = self.search.counts[0], int(self.search.table.counts[HITS])
        line = self.lengthened(state, line, deepening.completed)
        return Decision(
            move=line[0],
            value=max(-1.0, min(1.0, value)),
            nodes=int(counts["nodes"]),
            depth=deepening.completed,
            principal_variation=line,
            counts={
                "leaves": int(counts["leaves"]),
                "cutoffs": int(counts["cutoffs"]),
                "table_hits": table_hits,
                "table_cutoffs": int(counts["table_cutoffs"]),
            },
        )

    def close(self, result):
        if (search := vars(self).pop("search", None)) is not None:  # closed once more, it has none
            leave_table(search.table)

    def thoughts(self):
        """The decision of the last complete depth."""
        if self.deepening is None or not self.deepening.completed:
            return None
        value, line = self.deepening.best
        nodes = int(self.search.counts[0]["nodes"])
        return Decision(line[0], max(-1.0, min(1.0, value)), line, nodes=nodes, depth=self.deepening.completed)

    def begin(self, state, rng) -> "Deepening":
        """A new search of `state`; moves are in the game's order if rng is None, or the agent takes the first."""
        put_root(self.game, self.search, state, rng if self.agent.ties == "random" else None)
        new_generation(self.search.table)
        self.search.table.counts[:] = 0
        deepening = self.agent.deepening or self.budget.nodes is not None or self.budget.seconds is not None
        return Deepening(self, 1 if deepening else self.deepest)

    def lengthened(self, state, line, depth) -> tuple[int, ...]:
        """A line that the table may have cut short, extended by the table's best moves."""
        if not self.search.options.table:
            return line
        game, line = self.game, list(line)
        for move in line:
            state = after(game, state, move)
        while not game.is_over(state) and (move := line_kernel(game, self.search, state, depth - len(line))) >= 0:
            line.append(move)
            state = after(game, state, move)
        return tuple(line)


class Deepening:
    """Iterative deepening: searches to ever greater depth, some nodes at a time.

    With aspiration a search begins with a window around the previous value, and is repeated if its value falls outside
    (Marsland, "A review of game-tree pruning", 1986).
    """

    def __init__(self, player: DepthFirstPlayer, depth: int):
        self.player, self.search, self.depth = player, player.search, depth
        self.completed = 0
        self.finished = False
        # if the budget ends before any move is searched
        self.best: tuple[float, tuple[int, ...]] = 0.0, (int(self.search.moves[0, 0]),)
        self.restart(-INFINITE, INFINITE)

    def restart(self, low: float, high: float) -> None:
        self.low, self.high = low, high
        restart(self.search, self.depth, low, high)

    def run(self, nodes: int) -> int:
        """Visit up to `nodes` more positions; returns how many: 0 only if a deeper search is of no use."""
        counts = self.search.counts[0]
        before = int(counts["nodes"])
        while not self.finished and counts["nodes"] < before + nodes:
            depth_first_kernel(self.player.game, self.player.guide, self.search, before + nodes)
            if counts["ply"] == DONE:
                self.end_depth()
        return int(counts["nodes"]) - before

    def end_depth(self) -> None:
        """Keep this depth's result; unless it is certain, begin the next with the best move first."""
        value, line = float(self.search.nodes[0]["best"]), best_line(self.search)
        if not self.low < value < self.high:
            self.restart(-INFINITE if value <= self.low else self.low, INFINITE if value >= self.high else self.high)
            return
        self.best, self.completed = (value, line), self.depth
        self.finished = self.depth == self.player.deepest or self.is_certain(value)
        if not self.finished:
            self.depth += 1
            put_first(self.search, line[0])
            width = self.player.agent.aspiration or inf
            self.restart(max(value - width, -INFINITE), min(value + width, INFINITE))

    def is_certain(self, value: float) -> bool:
        """Whether a deeper search would find nothing else."""
        if self.search.counts[0]["evaluated"] == 0:
            return True
        if self.player.agent.scores or abs(value) <= 1.0:
            return False
        return not self.player.agent.shortest or WIN - abs(value) <= self.depth  # a quicker win may be beyond the depth

    def result(self) -> tuple[float, tuple[int, ...]]:
        """(value, line) of the best move at the current depth, or if there is none yet, at the one before.

        An unfinished depth is reliable, since it began with the previous best move, unless its values fail low.
        """
        value = float(self.search.nodes[0]["best"])
        return (value, best_line(self.search)) if value > self.low else self.best
