"""A game that raises an exception while several threads search: the search ends with it, and nothing waits for ever."""

import subprocess
import sys
import textwrap

import pytest

from arena.games.core import jit

pytestmark = pytest.mark.skipif(not jit.COMPILED, reason="exceptions in plain Python leave no lock taken")

SCRIPT = """
    import sys, threading
    from dataclasses import dataclass
    from typing import ClassVar
    import numpy as np
    from arena import agents
    from arena.agents.core.solve import solve, solver_of
    from arena.games.core.random import stream
    from tests.heap import Heap

    @dataclass(frozen=True)
    class Everywhere(Heap):
        name: ClassVar[str] = "everywhere"
        heap: int = 60

        def play(self, state, move):
            if state[0] <= self.heap - 30 and state[0] % 7 == 3:
                raise ValueError("the heap has fallen over")
            state[0], state[1] = state[0] - np.uint64(move), np.uint64(1) - state[1]

    @dataclass(frozen=True)
    class InTrees(Heap):
        name: ClassVar[str] = "in_trees"
        heap: int = 60

        def play(self, state, move):
            if state[0] == self.heap - 8:
                raise ValueError("the heap has fallen over")
            state[0], state[1] = state[0] - np.uint64(move), np.uint64(1) - state[1]

        def evaluate(self, state):
            if state[0] < self.heap - 4:
                raise ValueError("the heap has fallen over")
            return 0.0

        def random_playout(self, state, moves, rng):
            return (1.0 if rng[0] & np.uint64(1) else -1.0), 1

    def decide(spec):
        game, agent = {"everywhere": Everywhere, "in_trees": InTrees}[sys.argv[1]](), agents.make(spec)
        if spec.startswith("alphabeta"):
            solver = solver_of(agent, game)
            choose = lambda: solve(solver, game.initial())
        else:
            player = agent.player(game, agent.budget())
            choose = lambda: player.choose(game.initial(), stream(1))
        for _ in range(2):  # nor is a lock left taken for the next decision
            try:
                choose()
            except ValueError as error:
                print(spec, error)

    for spec in sys.argv[2:]:
        decide(spec)
"""
TREES = [  # one kernel of each kind of lock
    "tree(workers=3, lock='local', playouts=20000)", "leaf(workers=3, playouts=20000)",
    "pipeline(workers=3, playouts=20000)",
]  # fmt: skip
OTHERS = [  # all kernels for threads on trees, and for what waits for others
    *(f"tree(workers=3, lock='{lock}', playouts=20000)" for lock in ("free", "global")),
    "tree(workers=3, search=\"uct(methods='implicit')\", playouts=20000)", "gscpm(workers=3, playouts=20000)",
    "pipeline(workers=3, seconds=60)", "tree(workers=3, seconds=60)", "root(workers=3, playouts=20000)",
    "rppns(workers=3, nodes=100000)", "alphabeta(workers=3, sharing='ybwc')",
    "tree(workers=3, search='grave', playouts=20000)", "leaf(workers=3, search='grave', playouts=20000)",
    "leaf(workers=3, search=\"uct(methods='implicit')\", playouts=20000)", "alphabeta(workers=3, sharing='lazy')",
]  # fmt: skip


@pytest.mark.parametrize("where, specs", [
    pytest.param("everywhere", TREES, marks=pytest.mark.slow, id="everywhere"),
    pytest.param("in_trees", TREES, marks=pytest.mark.slow, id="in trees"),
    pytest.param("everywhere", OTHERS, marks=pytest.mark.slow, id="everywhere, the others"),
    pytest.param("in_trees", OTHERS, marks=pytest.mark.slow, id="in trees, the others"),
])  # fmt: skip
def test_an_exception_in_a_thread_ends_the_search(where, specs):
    """Also one that is raised while a lock is held, since playouts raise none."""
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), where, *specs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{spec} the heap has fallen over" for spec in specs for _ in range(2)]
