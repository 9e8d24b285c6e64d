"""Solving by depth-first search: to the end of the game, or to depth 1, 2, 3 and so on until what is asked is certain.

A value above 1 is a win and one below -1 a loss; a search that evaluates no leaf is certain, too.  A goal asks only
whether the value is above a threshold: a narrow window.  A win within d plies is found at depth d.

Minimax deepens; alpha-beta does with `deepening`.  Without it or a policy, alpha-beta asks by null windows, in searches
to the end (agents/minimax/exact.py).
"""

import numpy as np

from arena.agents.core.chunks import run_chunks
from arena.agents.core.sides import side_to_move
from arena.agents.core.solve import NEVER, Exact, Progress, Proof, Solver
from arena.agents.core.threads import Threads
from arena.agents.core.transposition_table import ROW_BYTES, filled
from arena.agents.minimax.brothers import YoungBrothersWait
from arena.agents.minimax.depthfirst import depth_first_kernel
from arena.agents.minimax.exact import (
    ALONE,
    BEGUN,
    FARTHEST,
    NODES,
    NOTHING,
    SCORE,
    TABLE_ROW_BYTES,
    ExactSearch,
    ask_kernel,
    exact_all_kernel,
    exact_kernel,
    new_exact_search,
    new_words,
)
from arena.agents.minimax.ordering import guide_of
from arena.agents.minimax.root_moves import put_root
from arena.agents.minimax.sharing import Abdada, Lazy
from arena.agents.minimax.stack import DONE, LEAST_TABLE, WIN, best_line, new_search, restart
from arena.games.core.random import stream

HALF = 0.5  # ends differ by 1 or more
SHARINGS = {"lazy": Lazy(), "abdada": Abdada(), "ybwc": YoungBrothersWait()}
FIRST_CHUNK = 4096  # nodes, about a millisecond


def noted(game, found: int, goals: dict | None) -> int:
    """The value that has been found; writes into `goals`, if it is given, which of them hold."""
    if goals is not None:
        goals |= {"win": found == 1} | ({"draw": found >= 0} if game.has_draws else {})
    return found


class DepthFirstSolver(Solver):
    """Settles goals by depth-first search, and keeps the table from goal to goal."""

    def __init__(self, agent, game, budget):
        options = agent.options()._replace(shortest=True, scores=False, quiescence=False)
        self.deepening = agent.deepening or not options.pruning
        self.search = new_search(game, game.max_plies + 1, agent.new_table(), options, agent.policy(game))
        self.guide = guide_of(options)
        super().__init__(game, budget)

    def value(self, state, goals=None):
        value, _ = self.deepen(state, self.game.max_plies, -1.0 - HALF, 1.0 + HALF)
        return noted(self.game, (value > 1.0) - (value < -1.0), goals)

    def prove(self, state, goal):
        side = side_to_move(self.game, state)
        threshold, depth = self.threshold(goal), min(goal.plies, self.game.max_plies)
        value, line = self.deepen(state, depth, side * threshold - HALF / 2, side * threshold + HALF / 2)
        holds = side * value > threshold
        return Proof(holds, line[0] if line and holds == (side > 0) else None)

    def threshold(self, goal) -> float:
        """The first player's value above which the goal holds."""
        if goal.plies == NEVER:
            return 1.0 + HALF if goal.least == 1.0 else -1.0 - HALF
        win = WIN - goal.plies - HALF
        return -win if goal.late else win

    def deepen(self, state, deepest, low, high) -> tuple[float, tuple[int, ...]]:
        """`run` to `deepest`, or if it deepens, to the least depth with a certain value."""
        for depth in range(1 if self.deepening else deepest, deepest + 1):
            value, line = self.run(state, depth, low, high)
            # what is foreseen may lie deeper, with a quicker end between
            seen = abs(value) > 1.0 and WIN - abs(value) <= depth
            settled = value >= max(high, 1.0 + HALF) or value <= min(low, -1.0 - HALF)
            if seen or settled or self.search.counts[0]["evaluated"] == 0:
                break
        return value, line

    def run(self, state, depth, low, high) -> tuple[float, tuple[int, ...]]:
        """(value for the player to move, line) of a search; a bound unless between low and high."""
        limit, seconds = self.left()
        put_root(self.game, self.search, state, stream(0))
        restart(self.search, depth, low, high)
        counts, before = self.search.counts[0], self.nodes

        def run(nodes):
            visited = int(counts["nodes"])
            depth_first_kernel(self.game, self.guide, self.search, visited + nodes)
            self.nodes = before + int(counts["nodes"])
            self.progress(Progress(self.nodes, None, None, self.seconds))
            return 0 if counts["ply"] == DONE else int(counts["nodes"]) - visited

        run_chunks(run, limit, seconds)
        if counts["ply"] != DONE:
            self.left()
        return float(self.search.nodes[0]["best"]), best_line(self.search)

    def peak_bytes(self):
        arrays = (array for array in self.search if isinstance(array, np.ndarray))
        return ROW_BYTES * filled(self.search.table) + sum(array.nbytes for array in arrays)


class ExactSolver(Solver):
    """Settles goals by null windows on scores, and keeps the table from goal to goal."""

    def __init__(self, agent, game, budget):
        words = new_words(agent.table or LEAST_TABLE)
        self.search = new_exact_search(game, words, agent.options()._replace(shortest=True, scores=False))
        super().__init__(game, budget)

    def value(self, state, goals=None):
        score = self.score(state, -FARTHEST, FARTHEST, weak=True)
        return noted(self.game, (score > 0) - (score < 0), goals)

    def exact(self, state):
        score, counts = self.score(state, -FARTHEST, FARTHEST), self.search.counts[0]
        return self._exact_of(score, int(counts["left"]), self.nodes, self.seconds)[:2]

    def exact_all(self, states):
        """As of any solver, but in few calls of a kernel: each has an even share of the time."""
        if self.budget.seconds is not None:
            return super().exact_all(states)
        self.begin()
        most, done = self.budget.nodes or np.iinfo(np.int64).max, 0
        found = np.zeros((len(states), 4), np.int64)

        def unfinished():
            return int(self.search.counts[0]["nodes"]) if done < len(states) and found[done, BEGUN] else 0

        def run(nodes):
            nonlocal done
            done = exact_all_kernel(self.game, ALONE, self.alone(), states, done, most, nodes, found)
            self.nodes = int(found[:done, NODES].sum()) + unfinished()
            self.progress(Progress(self.nodes, None, None, self.seconds))
            return nodes if done < len(states) else 0

        run_chunks(run, None, None, FIRST_CHUNK)
        found[done:, SCORE] = NOTHING  # if the search was stopped
        seconds = self.seconds / max(1, len(states))
        return [self._exact_of(*row, seconds) for row in found[:, :BEGUN].tolist()]

    @staticmethod
    def _exact_of(score, left, nodes, seconds) -> Exact:
        if score == NOTHING:
            return Exact(None, None, nodes, seconds)
        return Exact((score > 0) - (score < 0), left + 1 - abs(score) if score else None, nodes, seconds)

    def plies(self, state, winner):
        if self.game.is_over(state):
            return 0
        value, plies = self.exact(state)
        if value * side_to_move(self.game, state) != (1 if winner == 0 else -1):
            raise ValueError(f"player {winner} does not win in\n{self.game.render(state)}")
        return plies

    def prove(self, state, goal):
        first, threshold = int(self.game.player(state)) == 0, self.threshold(state, goal)
        asked = threshold if first else 1 - threshold
        reached = self.score(state, asked - 1, asked) >= asked
        move = int(self.search.counts[0]["move"])
        return Proof(reached == first, move if reached and move >= 0 else None)

    def threshold(self, state, goal) -> int:
        """The least score of the first player with which the goal holds."""
        left = int(self.game.plies_left(state))
        if goal.plies >= left:
            return 1 if goal.least == 1.0 else 0
        return goal.plies - left if goal.late else left + 1 - goal.plies

    def score(self, state, low, high, weak=False) -> int:
        """The score for the player to move if between low and high, else one of them; or only its sign."""
        limit, seconds = self.left()
        counts = self.search.counts[0]
        ask_kernel(self.game, self.search, state, low, high, weak)

        def run(nodes):
            ran = self.run(nodes)
            self.nodes += ran
            self.progress(Progress(self.nodes, None, None, self.seconds))
            return max(1, ran) if counts["low"] < counts["high"] else 0  # threads may end a question without a visit

        run_chunks(run, limit, seconds, FIRST_CHUNK)
        if counts["low"] < counts["high"]:
            self.left()
        return int(counts["low"])

    def run(self, nodes) -> int:
        """Visit up to `nodes` more positions; returns the number of visits."""
        counts = self.search.counts[0]
        visited = int(counts["nodes"])
        exact_kernel(self.game, ALONE, self.search, visited + nodes)
        return int(counts["nodes"]) - visited

    def alone(self) -> ExactSearch:
        """Its search for one thread, whatever threads the solver has."""
        self.search.stop[0] = 0
        return self.search._replace(shared=())

    def peak_bytes(self):
        rows = int(self.search.counts[0]["taken"])
        return TABLE_ROW_BYTES * rows + sum(array.nbytes for array in self.search[:7])


class SharedExactSolver(ExactSolver):
    """An exact solver whose threads search each question together."""

    exact_all = Solver.exact_all

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.threads, self.rule = Threads(agent.workers), SHARINGS[agent.sharing]
        self.search = self.search._replace(shared=self.rule.new_shared(game, agent.workers))
        shared = dict(stop=self.search.stop, shared=self.search.shared)
        others = [
            new_exact_search(game, self.search.words, self.search.options)._replace(**shared)
            for _ in range(1, agent.workers)
        ]
        self.searches = [self.search, *others]
        for number, search in enumerate(self.searches):
            search.counts[0]["thread"] = number

    def run(self, nodes):
        first, search = self.searches[0].counts[0], self.searches
        if first["ply"] == DONE:  # a new question
            for other in search[1:]:
                ask_kernel(self.game, other, search[0].states[0], first["low"], first["high"], bool(first["weak"]))
            search[0].stop[0] = 0
            self.rule.assemble(search[0].shared)
        self.rule.resume(search[0].shared)
        before = self.visited()
        share = max(1, nodes // len(search))
        until = [int(one.counts[0]["nodes"]) + share for one in search]
        words = self.rule.words(search[0].shared)
        self.threads.run(lambda i: exact_kernel(self.game, self.rule, search[i], until[i]), words)
        if search[0].stop[0]:
            for other in search[1:]:
                found = other.counts[0]
                if found["low"] > first["low"]:
                    first["low"], first["move"] = found["low"], found["move"]
                first["high"] = min(first["high"], found["high"])
            first["ply"] = DONE
        return self.visited() - before

    def visited(self) -> int:
        """The positions that all threads have visited for the question."""
        return sum(int(search.counts[0]["nodes"]) for search in self.searches)

    def peak_bytes(self):
        taken = sum(int(search.counts[0]["taken"]) for search in self.searches)
        rows = min(taken, len(self.search.words))  # two threads may count the same row
        own = sum(array.nbytes for search in self.searches for array in search[:7])
        shared = sum(array.nbytes for array in self.search.shared)
        return TABLE_ROW_BYTES * rows + own + shared
