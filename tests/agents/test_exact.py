"""Exact values by null windows, against exhaustive search and other solvers."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.solve import Solver, solve, solve_all, solver_of
from arena.agents.minimax import solver as solver_module
from arena.agents.minimax.exact import ALONE, TABLE_ROW_BYTES, ask_kernel, exact_kernel
from arena.agents.minimax.solver import FARTHEST, ExactSolver
from arena.study.positions import Known, check_positions
from tests.agents import naive_proof as naive
from tests.agents.positions import random_line, small_positions

GAME = "breakthrough(rows=5, columns=4)"
VARIANTS = [
    "alphabeta", "alphabeta(foresee=false, sound=false)", "alphabeta(order=[])", "alphabeta(symmetries=true)",
    "alphabeta(table=0)", "alphabeta(table=0.001)", "alphabeta(workers=2)", "alphabeta(workers=3, sharing='lazy')",
    "alphabeta(workers=3, sharing='ybwc')",
]  # fmt: skip
# Minimax, which is exhaustive, is compared on fewer and smaller positions (test_proof.py).
SOLVERS = [
    "alphabeta", "alphabeta(deepening=true)", "pns", "pn2", "pnstar", "pds", "pdspn", "dfpn", "parapds(workers=1)",
    "rppns(workers=1)", "spdfpn(workers=9, simulated=true, job=20)", "jlpns(workers=9, simulated=true)",
    "ppn2(workers=9, simulated=true)",
]  # fmt: skip


def made(spec, game) -> ExactSolver:
    return solver_of(agents.make(spec), games.make(game))


def test_alphabeta_solves_by_null_windows_unless_it_deepens():
    assert isinstance(made("alphabeta", "tictactoe"), ExactSolver)
    assert not isinstance(made("alphabeta(deepening=true)", "tictactoe"), ExactSolver)


@pytest.mark.plain
def test_value_and_plies_are_those_of_minimax():
    """With tables from none to two rows to large, which keep what earlier positions left."""
    solvers = [made(spec, GAME) for spec in VARIANTS]
    for state in small_positions(agents.make("minimax(nodes=1)").player(solvers[0].game), 12, nodes=300):
        expected = naive.exact(solvers[0].game, state)
        for solver in solvers:
            solver.begin()
            value, plies = solver.exact(state)
            assert (value, plies) == expected and solver.value(state) == value


@pytest.mark.plain
def test_many_positions_at_once_are_solved_as_one_by_one():
    """By each solver; with a budget of nodes, where some are not solved, and by chunks that end within a position."""
    game = "connect4(rows=4, columns=4)"
    states = [random_line(games.make(game), seed)[9] for seed in range(8)]
    values = [made("alphabeta", game).exact(state) for state in states]
    for spec in (*VARIANTS, "dfpn(table=1)", "alphabeta(nodes=50)", "alphabeta(seconds=60)"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(solver_module, "FIRST_CHUNK", 7)
            found = solve_all(made(spec, game), states)
        if "workers" not in spec:
            singly = Solver.exact_all(made(spec, game), states)
            assert [each[:3] for each in found] == [each[:3] for each in singly]
        unsolved = [each.value is None for each in found]
        assert any(unsolved) == ("nodes" in spec) and not all(unsolved)
        assert [each[:2] for each in found] == [(None, None) if un else one for un, one in zip(unsolved, values)]
    assert solve_all(made("alphabeta", GAME), []) == []
    over = games.make("tictactoe").read_line("1a 1b 2a 2b 3a")[1]
    with pytest.raises(ValueError, match="the game is over"):
        solve_all(made("alphabeta", "tictactoe"), [games.make("tictactoe").initial(), over])


@pytest.mark.plain
def test_a_file_is_solved_once_and_progress_tells_of_the_position_in_work(tmp_path, monkeypatch):
    """What compiles the kernels leaves the first position to solve."""
    monkeypatch.setattr(solver_module, "FIRST_CHUNK", 7)
    solver, told = made("alphabeta", "connect4(rows=4, columns=4)"), []
    solver.progress = lambda progress: told.append(progress.nodes)
    (one,) = check_positions(solver, [Known(1, "1 2 3 4 1 2 3 4", 0)], tmp_path, lambda one: None)
    assert one.nodes > 50 and told[-1] == one.nodes and any(0 < nodes < one.nodes for nodes in told)


@pytest.mark.plain
def test_a_value_that_equals_the_threshold_ends_a_node():
    """The first move wins: three positions are visited, and none after the second move."""
    solver = made("alphabeta(table=0, order=[])", "tree(nodes='[[1, 1], [1, 1]]')")
    assert solver.value(solver.game.initial()) == 1 and solver.nodes == 3


@pytest.mark.slow
def test_questions_are_answered_with_bounds():
    """Whether the score is at least a threshold, for every threshold."""
    solver = made("alphabeta", GAME)
    for state in random_line(solver.game, 3)[-6:]:
        score = solver.score(state, -FARTHEST, FARTHEST)
        for threshold in range(-12, 13):
            assert (solver.score(state, threshold - 1, threshold) >= threshold) == (score >= threshold)


@pytest.mark.slow
def test_steps_lead_to_the_same_as_all_at_once():
    whole, steps = made("alphabeta", GAME).search, made("alphabeta", GAME).search
    shape = games.make(GAME)
    state = random_line(shape, 5)[3]
    for search in (whole, steps):
        ask_kernel(shape, search, state, -FARTHEST, FARTHEST, False)
    exact_kernel(shape, ALONE, whole, 1 << 62)
    until = 0
    while steps.counts[0]["low"] < steps.counts[0]["high"]:
        until += 11
        exact_kernel(shape, ALONE, steps, until)
    assert steps.counts.tolist() == whole.counts.tolist() and whole.counts[0]["nodes"] > 50


@pytest.mark.slow
def test_memory_is_counted_as_it_is_taken():
    solver = made("alphabeta(table=0.05)", GAME)
    before = solver.peak_bytes()
    solver.value(random_line(solver.game, 5)[3])
    rows = int(np.count_nonzero(solver.search.words[:, 1]))
    assert rows > 100 and solver.peak_bytes() - before == TABLE_ROW_BYTES * rows


@pytest.mark.parametrize("sharing", [pytest.param(name, marks=pytest.mark.slow) for name in ("lazy", "abdada", "ybwc")])
def test_threads_find_the_value_of_one(sharing):
    """From the start, where the second player wins; the memory told is what the table has taken.

    Two threads that take a row at the same moment both count it, hence the margin.
    """
    shared = made(f"alphabeta(workers=4, sharing='{sharing}')", GAME)
    start = shared.game.initial()
    assert shared.value(start) == -1
    assert shared.nodes > 10_000 and min(int(search.counts[0]["nodes"]) for search in shared.searches) > 0
    rows = int(np.count_nonzero(shared.search.words[:, 1]))
    assert abs(sum(int(search.counts[0]["taken"]) for search in shared.searches) - rows) < rows / 20


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    [
        "tictactoe", "connect4(rows=4, columns=5)", GAME, "misere_breakthrough(rows=4, columns=3)",
        "knightthrough(rows=6, columns=4)", "domineering(rows=5, columns=5)", "misere_domineering(rows=4, columns=4)",
        "othello(size=4)", "hex(size=4)", "clobber(rows=4, columns=4)", "nogo(size=3)", "nim(heaps=[2, 3, 4])",
        "atarigo(size=4)",
    ],
)  # fmt: skip
def test_solvers_agree_on_thousands_of_positions(game):
    """Values by all solvers, along random games, beside a search without foresight and sound moves."""
    plain = made("alphabeta(foresee=false, sound=false)", game)
    solvers, met, seed = [made(spec, game) for spec in SOLVERS], 0, 0
    while met < 4200:
        states = random_line(plain.game, seed)
        for state in states[len(states) // 3 :]:
            plain.begin()
            expected = plain.value(state)
            for solver in solvers:
                solver.begin()
                assert solver.value(state) == expected
            met += 1
        seed += 1


@pytest.mark.plain
def test_a_budget_ends_it():
    solver = made("alphabeta(nodes=1000)", GAME)
    found = solve(solver, solver.game.initial(), moves="none")
    assert found.value is None and found.nodes == 1000 and "budget of 1000 nodes" in found.unsolved
