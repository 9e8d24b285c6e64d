"""The common part of the agents of proof-number search: their budget, their solver, and their decisions in a game.

A search settles one goal of one position (agents/core/solve.py).  To decide a move an agent tries to prove a win, then
a draw if the game has draws.  If the budget ends before that, it plays the move of least proof number in the last
search, ties going to the largest disproof number.  In a lost position it plays at random.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Decision, Player
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import run_chunks
from arena.agents.core.needs import Needs
from arena.agents.core.solve import Goal, Progress, Proof, Solver, Unsolved, goal_for
from arena.agents.knowledge import tablebase as tables
from arena.agents.knowledge.prepared import PreparedAgent
from arena.agents.proof.numbers import DRAWS, NODES, Task, new_counts
from arena.games.core.random import random_below

FIRST_CHUNK = 4096  # positions, about a millisecond


class Search:
    """The search for a proof of one goal in a position that is not over; `counts` as in agents/proof/numbers.py."""

    counts: np.ndarray

    def run(self, nodes: int) -> int:
        """Visit about that many more positions; returns how many: 0 if the goal is settled or the search is stuck."""
        raise NotImplementedError

    def numbers(self) -> tuple[int, int]:
        raise NotImplementedError

    def moves(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The moves, int[n], with their proof and disproof numbers; n is 0 until the root has been expanded."""
        raise NotImplementedError

    def bytes(self) -> int:
        """The most memory used, without what searches share, in bytes."""
        raise NotImplementedError

    def close(self) -> None:
        """End its workers; its results remain."""

    def virtual_time(self) -> int | None:
        """The time of its simulated workers, in nodes; None if it has none."""
        return None

    def full(self) -> str:
        """Why its memory does not let it continue, or ""."""
        return ""


class ProofSolver(Solver):
    """Settles each goal by a new search; searches share `memory`, such as a table."""

    def __init__(self, agent, game, budget):
        self.agent, self.memory = agent, agent.new_memory(game)
        self.endgames = tables.load(agent.tablebase, game) if agent.tablebase else tables.no_endgames()
        self.most_bytes = self.draws = 0
        super().__init__(game, budget)

    def begin(self):
        super().begin()
        self.virtual: int | None = None  # of all searches

    @property
    def virtual_time(self):
        return self.virtual

    def search(self, state, goal: Goal) -> Search:
        nodes, seconds = self.left()
        counts = new_counts(nodes)
        search = self.agent.new_search(self.game, self.memory, state, self.agent.task(goal, self.endgames), counts)
        before = self.nodes

        def run(count):
            ran = search.run(count)
            self.nodes = before + int(counts[NODES])
            self.progress(Progress(self.nodes, *search.numbers(), self.seconds))
            return ran

        try:
            run_chunks(run, nodes, seconds, FIRST_CHUNK)
        finally:
            search.close()
            self.nodes = before + int(counts[NODES])
        if (taken := search.virtual_time()) is not None:
            self.virtual = taken + (self.virtual or 0)
        self.draws += int(counts[DRAWS])
        self.most_bytes = max(self.most_bytes, search.bytes())
        return search

    def prove(self, state, goal):
        search = self.search(state, goal)
        proof, disproof = search.numbers()
        if proof and disproof:
            left, _ = self.left()  # raises Unsolved if the budget is spent
            raise Unsolved(
                search.full() or f"the budget of {self.budget.nodes} nodes is spent but for {left}: too few to go on"
            )
        return Proof(proof == 0, settling_move(search, int(self.game.player(state))))

    def may_draw(self):
        return self.draws > 0

    def peak_bytes(self):
        return self.most_bytes + self.agent.memory_bytes(self.memory)


def settling_move(search: Search, player: int) -> int | None:
    """A move that settles the goal in favour of the player to move, or None."""
    moves, proof, disproof = search.moves()
    won = np.flatnonzero((proof if player == 0 else disproof) == 0)
    return int(moves[won[0]]) if len(won) else None


@dataclass(frozen=True)
class ProofAgent(PreparedAgent):
    """Base of the agents that search for proofs; each adds its search and the search's parameters.

    mobility: begin with the number of a leaf's moves as its proof or disproof number, rather than with 1
    by_evaluation: begin with proof and disproof numbers that follow the game's evaluation of the leaf
    evaluate_from: the fewest moves of a leaf that is evaluated; the others begin by mobility, or with 1
    weak: take the largest number and the count of the other open children instead of the sum

    An end-game table's values are used wherever a search meets its positions.
    """

    nodes: int | None = None
    seconds: float | None = None
    mobility: bool = True
    by_evaluation: bool = False
    evaluate_from: int = 0
    weak: bool = False

    budgets: ClassVar[tuple[str, ...]] = ("nodes", "seconds")
    needs: ClassVar[Needs] = Needs(chance=False)
    solves: ClassVar[bool] = True
    ranges: ClassVar[dict] = {"evaluate_from": (0, 1_000_000)}

    def __post_init__(self):
        super().__post_init__()
        if self.evaluate_from and not self.by_evaluation:
            raise ValueError(f"evaluate_from = {self.evaluate_from} goes with by_evaluation = true")

    def task(self, goal: Goal, endgames) -> Task:
        task = Task(goal, endgames, self.mobility, by_evaluation=self.by_evaluation, weak=self.weak)
        return task._replace(evaluate_from=self.evaluate_from)

    def new_memory(self, game):
        """Memory shared by the searches of one game."""
        return ()

    def leave_memory(self, memory) -> None:
        """Leave that memory, which nobody uses any more, to other players."""

    def memory_bytes(self, memory) -> int:
        return 0

    def new_search(self, game, memory, state, task: Task, counts) -> Search:
        """A search for the proof of the task's goal in a position, which counts in `counts`."""
        raise NotImplementedError

    def new_solver(self, game, budget) -> ProofSolver:
        return ProofSolver(self, game, budget)

    def new_player(self, game, budget):
        return ProofPlayer(game, self.new_solver(game, budget))


class ProofPlayer(Player):
    """Keeps its searches' shared memory from move to move."""

    def __init__(self, game, solver: ProofSolver):
        self.game, self.solver = game, solver

    def allot(self, budget):
        self.solver.budget = budget

    def close(self, result):
        if (solver := vars(self).pop("solver", None)) is not None:  # closed once more, it has none
            solver.agent.leave_memory(solver.memory)

    def decide(self, state, rng):
        self.solver.begin()
        player, moves = int(self.game.player(state)), moves_of(self.game, state)
        for result in (1, 0):
            try:
                search = self.solver.search(state, goal_for(player, result))
            except Unsolved:  # the budget was spent on the first goal
                return self.decision(moves[int(random_below(rng, len(moves)))], None)
            achieved, denied = search.numbers()[:: 1 if player == 0 else -1]
            if achieved and denied:
                return self.decision(by_numbers(moves, search, player, rng), None)
            if achieved == 0:
                return self.decision(settling_move(search, player), float(result))
            if not (self.game.has_draws and self.solver.may_draw()):
                break
        return self.decision(moves[int(random_below(rng, len(moves)))], -1.0)

    def decision(self, move, value):
        return Decision(move=move, value=value, nodes=self.solver.nodes, principal_variation=(move,))


def by_numbers(legal: list[int], search: Search, player: int, rng) -> int:
    """The move of least proof number for the player to move; ties by largest disproof number, then at random."""
    moves, proof, disproof = search.moves()
    if not len(moves):
        moves = np.array(legal)
        proof = disproof = np.ones(len(moves), np.int64)
    own, other = (proof, disproof) if player == 0 else (disproof, proof)
    best = np.lexsort((-other, own))
    equal = [i for i in best if (own[i], other[i]) == (own[best[0]], other[best[0]])]
    return int(moves[equal[int(random_below(rng, len(equal)))]])
