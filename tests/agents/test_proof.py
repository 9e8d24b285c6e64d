"""Solvers: their answers against plain minimax, their trees against naive twins, and known values of games."""

import re
from functools import cache

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.solve import NEVER, Goal, Unsolved, goal_for, solve, solver_of
from arena.agents.knowledge import tablebase
from arena.agents.knowledge.tablebase import no_endgames
from arena.agents.proof.bestfirst import ROOT
from arena.agents.proof.numbers import (
    FALSE,
    INFINITE,
    MOST,
    NODES,
    OPEN,
    TRUE,
    Task,
    combine,
    first_numbers,
    new_counts,
    verdict,
)
from arena.games.core.random import stream
from tests.agents import naive_proof as naive
from tests.agents.positions import after_names, random_position, small_positions

SOLVERS = [
    "pns", "pns(mobility=false)", "pns(graph=false)", "pns(symmetries=true, weak=true)",
    "pn2", "pn2(a=0, b=1)", "pn2(graph=false, weak=true)", "pn2(a=0, b=1, symmetries=true)",
    "dfpn", "dfpn(epsilon=0)", "dfpn(symmetries=true)", "dfpn(table=0.01)", "dfpn(workers=3)", "dfpn(weak=true)",
    "dfpn(table=0.01, scheme='collect')", "dfpn(table=0.01, replace_by='depth', by_evaluation=true, evaluate_from=4)",
    "pnstar", "pnstar(epsilon=0.5, weak=true)", "pds", "pds(epsilon=0.25, weak=true, table=0.01, scheme='collect')",
    "parapds(workers=3)", "parapds(workers=1)", "parapds(workers=40, simulated=true)",
    "dfpn(workers=40, simulated=true)", "spdfpn(workers=9, simulated=true, job=20)",
    "pdspn", "pdspn(second=20)", "pdspn(keep_tree=false, weak=true)", "pdspn(second=50, symmetries=true, table=0.05)",
    "rppns", "rppns(workers=3, distance=5)", "rppns(symmetries=true, weak=true)",
    "alphabeta", "alphabeta(deepening=true)", "minimax",
]  # fmt: skip
LARGER = "breakthrough(rows=5, columns=4)", "connect4(rows=4, columns=5)"
COMPILED = {"dfpn": pytest.mark.compiled}
NOTES = "2a3a 5a4a 2b3b 4a3b 2c3b 6a5a 3a4a 5b4a 3b4a 6b5b 4a5b 6c5b 1a2a 5a4a 2a3a 5b4b 3a4b 5c4b 1b2b"
FIRST_WINS = Goal(1.0)


def made(spec, game):
    return solver_of(agents.make(spec), game)


@cache
def known(spec, count):
    """Small positions of a game: each with its value, the fewest plies and the best moves."""
    game = games.make(spec)
    states = small_positions(agents.make("minimax(nodes=1)").player(game), count, nodes=300)
    exact = [(state, *naive.exact(game, state)) for state in states]
    return [(*one, naive.best_moves(game, *one)) for one in exact]


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", *(pytest.param(spec, marks=pytest.mark.slow) for spec in LARGER)])
@pytest.mark.parametrize("agent", [pytest.param(spec, marks=COMPILED.get(spec, ())) for spec in SOLVERS])
def test_every_solver_agrees_with_minimax(agent, spec, kernels):
    """Value, fewest plies, all best moves, and a line of play that keeps them; in plain Python, of fewer positions."""
    game = games.make(spec)
    solver = made(agent, game)
    for state, value, plies, best in known(spec, 8 if kernels == "compiled" else 3):
        quick = solve(solver, state, moves="one")
        assert (quick.value, quick.plies, quick.unsolved) == (value, None, "")
        assert quick.best[0] in game.moves(state)
        full = solve(solver, state, shortest=True)
        assert (full.value, full.plies) == (value, plies if value else None)
        assert list(full.best) == best
        end = after_names(game, state, full.principal_variation)
        score = game.score(end) * (1 if game.player(state) == 0 else -1)
        assert game.is_over(end) and (score > 0) - (score < 0) == value
        assert full.plies in (None, len(full.principal_variation))
        assert full.goals == {"win": value == 1} | ({"draw": value >= 0} if game.has_draws else {})
        assert (full.nodes > 0 or game.foreseen(state)[0]) and full.peak_bytes > 0


def search_of(spec, game, state, goal):
    """A search that has not begun, and its counts."""
    agent, counts = agents.make(spec), new_counts(None)
    return agent.new_search(game, agent.new_memory(game), state, agent.task(goal, no_endgames()), counts), counts


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "breakthrough(rows=5, columns=4)"])
@pytest.mark.parametrize("goal", [FIRST_WINS, Goal(0.5), Goal(0.5, 5, True)])
def test_pns_equals_its_twin(spec, goal, kernels):
    game = games.make(spec)
    for seed in range(4 if kernels == "compiled" else 2):
        state = random_position(game, seed, 2 * seed)
        search, _ = search_of("pns(graph=false)", game, state, goal)
        while 0 not in search.numbers() and search.tree.size[0] < 3000:
            search.run(1)  # one expansion
            expansions = int(np.count_nonzero(search.tree.children[: search.tree.size[0]]))
        root, nodes = naive.pns(game, goal, state, expansions)
        assert (search.tree.size[0], search.numbers()) == (nodes, finite(root.numbers))
        moves, proof, disproof = search.moves()
        assert moves.tolist() == naive.sound_moves(game, state)
        assert list(zip(proof, disproof)) == [finite(child.numbers) for child in root.children]


def finite(numbers):
    return tuple(INFINITE if number == naive.INFINITE else number for number in numbers)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "breakthrough(rows=5, columns=4)"])
@pytest.mark.parametrize("symmetries", [False, True])
@pytest.mark.parametrize("goal", [FIRST_WINS, Goal(0.5, 5, True)])
def test_pns_in_a_graph_equals_its_twin(spec, goal, symmetries):
    """The twin takes symmetric positions for one; without symmetries, it has a game that knows none."""
    game = games.make(spec)
    plain = game if symmetries else Plain(game)
    for seed in range(4):
        state = random_position(game, seed, 2 * seed)
        search, _ = search_of(f"pns(symmetries={symmetries})", game, state, goal)
        twin = naive.Graph(plain, goal, state)
        for _ in range(40):
            assert (search.tree.size[0], search.numbers()) == (twin.rows, finite(twin.root.numbers))
            if 0 in search.numbers():
                break
            search.run(1)
            twin.expand()
        search.run(300)  # many expansions at a time: the next descent begins where the last update ended
        while 0 not in twin.root.numbers and twin.rows < search.tree.size[0]:
            twin.expand()
        assert (search.tree.size[0], search.numbers()) == (twin.rows, finite(twin.root.numbers))


class Plain:
    """A game without its symmetries."""

    symmetries = 1

    def __init__(self, game):
        self.game = game

    def __getattr__(self, name):
        return getattr(self.game, name)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "breakthrough(rows=5, columns=4)"])
@pytest.mark.parametrize("epsilon, weak", [(0.0, False), (0.25, False), (0.25, True)])
def test_dfpn_equals_its_twin(spec, epsilon, weak):
    game = games.make(spec)
    for seed in range(4):
        state = random_position(game, seed, 3 if spec == "tictactoe" else 14)
        twin = naive.DepthFirst(game, FIRST_WINS, epsilon, weak)
        numbers = finite(twin.search(state))
        search, counts = search_of(f"dfpn(epsilon={epsilon}, weak={weak})", game, state, FIRST_WINS)
        while search.run(7):
            pass
        assert (search.numbers(), counts[NODES]) == (numbers, twin.nodes)


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
def test_leaves_of_enough_moves_are_evaluated_and_others_begin_by_mobility(kernels):
    """The nine moves of an empty board, whose evaluation is 0."""
    game = games.make("tictactoe")
    for least, numbers in ((9, (7, 7)), (10, (1, 9))):
        task = Task(FIRST_WINS, no_endgames(), True, by_evaluation=True, evaluate_from=least)
        assert first_numbers(game, task, game.initial(), OPEN, np.zeros(9, np.int32)) == numbers


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
@pytest.mark.parametrize("plies, found", [(3, TRUE), (2, FALSE)])
def test_a_win_of_a_table_counts_within_the_plies_of_a_goal(plies, found, kernels):
    """Three heaps of one: the first player takes the last in three plies."""
    game = games.make("nim(heaps=[1, 1, 1])")
    task = Task(Goal(1.0, plies), tablebase.build(game, game.initial()), False)
    for ply in (0, 5):
        later = task._replace(goal=Goal(1.0, plies + ply))
        assert verdict(game, later, game.initial(), ply, new_counts(None)) == found


def test_numbers_of_nodes():
    """Sums stay below infinity; one child settles a node, and all of them do."""

    def of(children, or_node, weak=False):
        proof, disproof = (np.array(column, np.int32) for column in zip(*children))
        return combine.py_func(proof, disproof, 0, len(children), or_node, weak)

    assert of([(3, 5), (2, 7)], True) == (2, 12) and of([(3, 5), (2, 7)], False) == (5, 5)
    assert of([(3, MOST), (2, MOST)], True) == (2, MOST) and of([(MOST, 1), (MOST, 2)], False) == (MOST, 1)
    assert of([(0, INFINITE), (2, 7)], True) == (0, INFINITE) and of([(0, INFINITE), (2, 7)], False) == (2, 7)
    assert of([(INFINITE, 0), (2, 7)], True) == (2, 7) and of([(INFINITE, 0), (2, 7)], False) == (INFINITE, 0)
    assert of([(3, 5), (2, 7), (4, 0)], True, weak=True) == (2, 8)
    assert of([(3, 5), (2, 7), (4, 1)], False, weak=True) == (6, 1)
    assert of([(3, MOST), (2, MOST)], True, weak=True) == (2, MOST)
    assert of([(0, INFINITE), (2, 7)], True, weak=True) == (0, INFINITE)
    assert of([(INFINITE, 0)] * 2, True, weak=True) == (INFINITE, 0)
    assert of([(INFINITE, 0)] * 2, True) == (INFINITE, 0) and of([(0, INFINITE)] * 2, False) == (0, INFINITE)


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec, value", [("tictactoe", 0), ("breakthrough(rows=4, columns=4)", -1), ("othello(size=4)", -1)]
)
def test_known_values(spec, value):
    """Published, or computed by others; see each game."""
    game = games.make(spec)
    assert solve(made("dfpn", game), game.initial(), moves="none").value == value


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["pns", "pn2", "dfpn", "pnstar", "pds", "parapds", "pdspn", "rppns"])
def test_all_solve_nogo(agent):
    """NoGo 4x4 is a win for the second player; seconds each, but 18 s for pn2."""
    game = games.make("nogo(rows=4, columns=4)")
    assert solve(made(f"{agent}(symmetries=true)", game), game.initial(), moves="none").value == -1


@pytest.mark.plain
@pytest.mark.parametrize("agent", ["pns", "dfpn"])
@pytest.mark.parametrize("spec", ["breakthrough(rows=6, columns=4)"])
def test_a_lost_looking_race_in_breakthrough(agent, spec):
    """The lecture notes' game on 6x4 after 19 plies: Black, to move, wins in five, by either of two captures."""
    game = games.make(spec)
    state = game.read_line(NOTES)[1]
    solution = solve(made(agent, game), state, shortest=True)
    assert (solution.value, solution.plies) == (1, 5)
    assert [game.move_name(state, move) for move in solution.best] == ["4b3b", "4a3b"]


@pytest.mark.plain
@pytest.mark.parametrize("agent", ["pns", "pn2", "dfpn", "dfpn(workers=2)", "pds", "rppns", "alphabeta"])
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_what_a_budget_does_not_suffice_for_is_said(agent, spec):
    game = games.make(spec)
    separator = ", " if "(" in agent else "("
    limited = f"{agent.rstrip(')')}{separator}nodes=200)"
    solution = solve(made(limited, game), game.initial())
    assert (solution.value, solution.best, solution.goals) == (None, (), {"win": None})
    assert solution.nodes <= 200 and "the budget of 200 nodes is spent" in solution.unsolved
    timed = solve(made(limited.replace("nodes=200", "seconds=0.05"), game), game.initial())
    assert timed.value is None and timed.seconds < 60 and "0.05 seconds is spent" in timed.unsolved


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_a_full_tree_is_said(spec):
    game = games.make(spec)
    with pytest.raises(Unsolved, match="of max_nodes = 1000, and is not settled"):
        made("pns(max_nodes=1000)", game).prove(game.initial(), goal_for(0, 1))


@pytest.mark.plain
@pytest.mark.parametrize("agent", [pytest.param("dfpn", marks=pytest.mark.slow), "parapds"])
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_threads_take_all_their_marks_back(agent, spec, kernels):
    game, share = games.make(spec), 2000 if kernels == "compiled" else 40
    search, counts = search_of(f"{agent}(workers=4)", game, game.initial(), FIRST_WINS)
    for _ in range(20):
        search.run(share)
        assert not search.busy.any()
    assert counts[NODES] == sum(own.counts[NODES] for own in search.searches) > 10 * share


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
@pytest.mark.parametrize("workers", [1, 300])
def test_virtual_time_of_workers_in_one_table(workers, spec, kernels):
    """It is a function of the options, and does not depend on how much is done in one go; between their turns workers
    stay where they are, each with a mark for every node on its way."""
    game, found, marks = games.make(spec), [], 0
    seed, plies, first, least = (2, 2, 700, 50_000) if kernels == "compiled" else (8, 8, 10, 500)
    state, workers = random_position(game, seed, plies), workers if kernels == "compiled" else min(workers, 60)
    for share in (first, 40_000):
        search, counts = search_of(f"dfpn(workers={workers}, simulated=true)", game, state, FIRST_WINS)
        while search.run(share) and 0 not in search.numbers():
            assert search.busy.sum() == sum(own.line.place[0] for own in search.searches)
            marks += search.busy.sum()
        found.append((search.numbers(), int(counts[NODES]), search.virtual_time()))
    assert found[0] == found[1]
    numbers, nodes, time = found[0]
    assert 0 in numbers and nodes / (1 + workers) < time <= nodes and nodes > least and marks > workers
    assert (time == nodes) == (workers == 1)


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_simulated_workers_share_a_budget_of_nodes(spec, kernels):
    """To the last positions: it is not cut into shares that are too small for all."""
    game, (workers, nodes) = games.make(spec), (1024, 20_000) if kernels == "compiled" else (50, 1000)
    found = solve(made(f"dfpn(workers={workers}, simulated=true, nodes={nodes})", game), game.initial(), moves="none")
    assert nodes - 2 * game.max_moves < found.nodes <= nodes and f"{nodes} nodes is spent" in found.unsolved
    with pytest.raises(agents.Unsuited, match="needs a budget of nodes: their time is virtual"):
        agents.make("dfpn(workers=4, simulated=true)").budget(agents.Budget(seconds=0.1))


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_a_shared_tree_is_whole(spec, kernels):
    """After a search by threads, every expanded node has the numbers that its children give it, and a position has
    the same in all its rows."""
    game = games.make(spec)
    search, _ = search_of("rppns(workers=4)", game, game.initial(), FIRST_WINS)
    for _ in range(20):
        search.run(5000 if kernels == "compiled" else 60)
    tree, waiting, shared = search.tree, [(ROOT, game.initial())], 0
    while waiting:
        node, state = waiting.pop()
        first, count = int(tree.first_child[node]), int(tree.children[node])
        if count:
            numbers = combine.py_func(tree.proof, tree.disproof, first, count, int(game.player(state)) == 0, False)
            assert numbers == (tree.proof[node], tree.disproof[node])
            for child in range(first, first + count):
                held = int(tree.positions.first[child])
                assert (tree.proof[held], tree.disproof[held]) == (tree.proof[child], tree.disproof[child])
                shared += held != child
                if held == child:
                    waiting.append((child, game.after(state, int(tree.move[child]))))
    assert shared > 10 and tree.size[0] > 50 and search.lock[0] == 0


@pytest.mark.plain
@pytest.mark.parametrize("agent", ["pns", "dfpn", "pds"])
@pytest.mark.parametrize("spec", ["tictactoe"])
def test_they_play_what_they_prove_and_by_their_numbers_else(agent, spec):
    game, player = games.make(spec), agents.make(f"{agent}(nodes=20000)").player(games.make(spec))
    winning, lost = game.read_line("1a 2a 1b 2b")[1], game.read_line("2b 1b 1a 1c")[1]
    assert player.choose(winning, stream(1)).value == 1
    assert game.move_name(winning, player.choose(winning, stream(1)).move) == "1c"
    assert player.choose(game.initial(), stream(1)).value == 0
    assert player.choose(game.after(lost, game.parse_move(lost, "2a")), stream(1)).value == -1
    short = agents.make(f"{agent}(nodes=30)").player(game).choose(game.initial(), stream(1))
    assert short.value is None and short.move in game.moves(game.initial())


@pytest.mark.plain
def test_one_goal_alone():
    game = games.make("tictactoe")
    win = solve(made("dfpn", game), game.initial(), goal="win")
    assert (win.value, win.goals, win.best) == (None, {"win": False, "draw": None}, ())
    draw = solve(made("dfpn", game), game.initial(), goal="draw")
    assert (draw.value, draw.goals["draw"], len(draw.best)) == (None, True, 9)
    with pytest.raises(agents.Unsuited, match="has no draws: its only goal is win"):
        solve(made("dfpn", games.make("nim")), games.make("nim").initial(), goal="draw")
    with pytest.raises(agents.Unsuited, match="goal = 'lose' is not one of win, draw"):
        solve(made("dfpn", game), game.initial(), goal="lose")


@pytest.mark.parametrize("spec", ["breakthrough(rows=5, columns=4)"])
def test_progress_is_told(spec):
    game, told = games.make(spec), []
    solver = made("dfpn(nodes=200000)", game)
    solver.progress = told.append
    solve(solver, game.initial())
    assert told[-1].nodes > 100_000 and told[-1].proof > 1 and told[-1].disproof > 1 and told[-1].seconds > 0


def test_goals():
    assert goal_for(0, 1) == Goal(1.0, NEVER, False) and goal_for(0, 0) == Goal(0.5, NEVER, False)
    assert goal_for(1, 1, 4) == Goal(0.5, 4, True) and goal_for(1, 0) == Goal(1.0, NEVER, True)


@pytest.mark.parametrize(
    "spec, message",
    [
        ("dfpn(table=0)", "table = 0 MiB is out of range"),
        ("dfpn(table=1e6)", "table = 1e+06 MiB is out of range"),
        ("dfpn(table=130000)", "is more than the memory of this machine"),
        ("dfpn(epsilon=-1)", "epsilon = -1.0 is out of range: it can be 0 to 10"),
        ("dfpn(workers=65)", "workers = 65 is out of range: it can be 1 to 64"),
        ("dfpn(scheme='old')", "scheme = 'old' is not one of new, big, two_big, collect"),
        ("dfpn(replace_by='age')", "replace_by = 'age' is not one of work, depth"),
        ("pds(scheme='new', replace_by='depth')", "replace_by = 'depth' means nothing with scheme = 'new'"),
        ("parapds(scheme='collect')", "scheme = 'collect' goes with workers = 1, not 2"),
        ("dfpn(scheme='collect', workers=2)", "scheme = 'collect' goes with workers = 1, not 2"),
        ("pns(evaluate_from=5)", "evaluate_from = 5 goes with by_evaluation = true"),
        ("pn2(graph=false, symmetries=true)", "symmetries = true goes with graph = true"),
        ("pns(max_nodes=5)", "max_nodes = 5 is out of range"),
        ("pn2(b=0)", "b = 0.0 is out of range"),
        ("pdspn(second=1)", "second = 1 is out of range"),
        ("rppns(distance=-1)", "distance = -1 is out of range"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=re.escape(message)):
        agents.make(spec)


@pytest.mark.parametrize(
    "agent, game, message",
    [
        ("uct", "tictactoe", "uct does not solve; agents that do: alphabeta, dfpn, jlpns, minimax"),
        ("dfpn", "pig", "dfpn plays games without chance"),
        ("dfpn", "leftmove", "dfpn plays games for two players"),
        ("alphabeta(depth=3)", "tictactoe", "leave depth out"),
        ("dfpn(tablebase='none')", "tictactoe", "'none' cannot be read: No such file"),
    ],
)
def test_who_cannot_solve_says_why(agent, game, message):
    with pytest.raises(agents.Unsuited, match=re.escape(message)):
        made(agent, games.make(game))
