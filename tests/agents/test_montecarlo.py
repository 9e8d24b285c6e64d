"""Monte-Carlo tree search against its naive twins, and what its solver proves."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Budget, closing
from arena.agents.core.selection import UNVISITED
from arena.agents.core.tree_arrays import ROOT, UNPROVEN, new_tree, proven_result
from arena.agents.montecarlo.decision import best_of_proven
from arena.agents.montecarlo.search import Search, search_kernel
from arena.agents.montecarlo.ucb1 import UCB1, Numbers
from arena.games.core.random import stream
from tests import samples
from tests.agents.naive import Grave, search, solve, uct
from tests.agents.positions import GAMES, random_position

# the notes of a course give this line of Breakthrough on 6 rows and 4 columns, after which Black wins
WON_LINE = "2a3a 5a4a 2b3b 4a3b 2c3b 6a5a 3a4a 5b4a 3b4a 6b5b 4a5b 6c5b 1a2a 5a4a 2a3a 5b4b 3a4b 5c4b 1b2b"


def assert_same_tree(tree, twin):
    """Node for node: moves, visits, values."""
    waiting = [(ROOT, twin)]
    while waiting:
        node, other = waiting.pop()
        assert tree.visits[node] == other.visits and tree.children[node] == len(other.children)
        assert node == ROOT or (tree.move[node], tree.value[node]) == (other.move, other.value)
        waiting += [(tree.first_child[node] + i, child) for i, child in enumerate(other.children)]


@pytest.mark.plain
@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize(
    "exploration, urgency", [pytest.param(0.4, None, marks=pytest.mark.compiled), (2.0, None), (0.4, 0.6), (1.0, 0.0)]
)
def test_uct_equals_its_twin(spec, exploration, urgency, kernels):
    game, parts = games.make(spec), (150, 250) if kernels == "compiled" else (60, 100)
    state = random_position(game, 8, 2)
    twin = uct(game, state, sum(parts), exploration, stream(9), urgency)
    tree, rng = new_tree(10_000), stream(9)
    rule, search = UCB1(urgency=urgency is not None), Search(tree, (), Numbers(exploration, urgency or 0.0))
    for simulations in parts:
        search_kernel(game, rule, search, state, simulations, rng)
    assert_same_tree(tree, twin)


@pytest.mark.plain
@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("ref", [0, 20])
def test_grave_equals_its_twin(spec, ref, kernels):
    game, playouts = games.make(spec), 300 if kernels == "compiled" else 150
    state = random_position(game, 8, 2)
    grave = Grave(ref, 1e-3)
    twin = search(game, state, playouts, grave.select, stream(9), grave.learn)
    player = agents.make(f"grave(ref={ref}, bias=0.001, playouts={playouts})").player(game)
    player.choose(state, stream(9))
    assert_same_tree(player.tree, twin)


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec, plies",
    [
        ("tictactoe", 1),
        pytest.param("connect4(rows=4, columns=4)", 7, marks=pytest.mark.slow),
        pytest.param("breakthrough(rows=4, columns=3)", 1, marks=pytest.mark.slow),
    ],
)
def test_the_solver_proves_what_is_true(spec, plies, kernels):
    game = games.make(spec)
    known, proved, positions = {}, 0, 25 if kernels == "compiled" else 16
    for seed in range(positions):
        state = random_position(game, seed, plies + seed % 8)
        player = agents.make("uct(solver=true, playouts=3000)").player(game)
        decision = player.choose(state, stream(seed))
        if player.tree.proven[ROOT] != UNPROVEN:
            proved += 1
            result = proven_result(player.tree.proven[ROOT])
            assert result == solve(game, state, known) == solve(game, game.after(state, decision.move), known)
            assert decision.value == (result if game.player(state) == 0 else -result)
    assert proved > positions // 2


@pytest.mark.plain
def test_the_solver_wins_what_is_won():
    game = games.make("breakthrough(rows=6, columns=4)")
    state = game.read_line(WON_LINE)[1]
    decision = agents.make("uct(solver=true, playouts=20000)").choose(game, state, seed=1)
    assert decision.value == 1.0 and decision.playouts < 20_000
    assert game.move_name(state, decision.move) in ("4a3b", "4b3b")


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
@pytest.mark.parametrize("player", [0, 1])
def test_what_is_proven_is_played_before_what_is_not(player, kernels):
    """Proofs are for the first player: 1 a loss, 2 a draw, 3 a win; 0: none."""
    loss, win = (1, 3) if player == 0 else (3, 1)
    for proofs, visits, chosen in [
        ((loss, 2, loss), (9, 3, 2), 1),  # a draw is better than losses
        ((loss, 2, 0), (9, 3, 4), 2),
        ((loss, 2, 0), (9, 4, 3), 1),
        ((loss, loss, loss), (2, 9, 3), 1),
        ((0, loss, win), (9, 3, 2), 2),
        ((2, 0, loss), (9, 3, 2), 0),
    ]:
        means, best = np.full(3, 0.1), int(np.argmax(visits))
        assert best_of_proven(np.array(proofs, np.int8), np.array(visits), means, best, player) == chosen
        known = {loss: -1.0, 2: 0.0, win: 1.0, 0: 0.1}
        assert means.tolist() == [known[proof] for proof in proofs]


@pytest.mark.plain
def test_a_kept_root_that_was_foreseen_has_moves_to_choose_from(kernels):
    """The game foresees the win, by two threats, from the other player's turn on."""
    game = games.make("connect4(rows=4, columns=4)")
    agent = agents.make("uct(solver=true, keep_tree=true, playouts=300)")
    for seed in range(10 if kernels == "compiled" else 3):
        player, state = agent.player(game), random_position(game, seed, 6)
        while not game.is_over(state):
            decision = player.choose(state, stream(seed))
            player.played(decision.move)
            side = 1 - 2 * game.player(state)
            state = game.after(state, decision.move)
            assert decision.value < 1.0 or solve(game, state, {}) == side


@pytest.mark.slow
def test_the_solver_wins_endings_of_connect4(data_folder):
    """In at least 95 % of up to 200 positions that the side to move wins, within 20,000 playouts."""
    lines = [line.split() for line in (data_folder / samples.CONNECT4).read_text().splitlines()]
    won = [moves for moves, score in lines if int(score) > 0][:200]
    game, agent = games.make("connect4"), agents.make("uct(solver=true, playouts=20000)")
    found = [agent.choose(game, game.read_line(" ".join(moves))[1], seed=1).value == 1.0 for moves in won]
    assert len(found) >= 15 and sum(found) >= 0.95 * len(found)


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec",
    [
        "uct",
        "uct(lanes=2)",
        "root(workers=2, share_every=50)",
        "tree(search='uct', simulated=true)",
        "gscpm(search='uct', simulated=true)",
    ],
)
@pytest.mark.parametrize("game", ["connect4", pytest.param("nim", marks=pytest.mark.slow)])
def test_what_the_selection_reads_is_what_has_been_counted(spec, game, kernels):
    """Means and 1 / sqrt(visits), of a search, of one that shares statistics, and with virtual losses."""
    game = games.make(game)
    budget = Budget(playouts=600 if kernels == "compiled" else 120)
    with closing(agents.make(spec).player(game, budget)) as player:
        player.choose(game.initial(), stream(3))
        trees = [one.tree for one in getattr(player, "searches", [player])]
    for tree in trees:
        visits, value, bounds = (column[1 : tree.size[0]] for column in (tree.visits, tree.value, tree.bounds))
        used = np.concatenate([np.arange(first, first + n) for first, n in zip(*expanded(tree))]) - 1
        visits, value, bounds = visits[used], value[used], bounds[used]
        seen = visits > 0
        assert seen.sum() > 10 and np.all(bounds[~seen, 0] == UNVISITED)
        assert bounds[seen, 0] == pytest.approx(value[seen] / visits[seen], rel=1e-6)
        assert bounds[seen, 1] == pytest.approx(visits[seen] ** -0.5, rel=1e-6)


def expanded(tree):
    """First children and their numbers of the nodes that have any, from the root down."""
    rows = [ROOT]
    for node in rows:
        rows += range(tree.first_child[node], tree.first_child[node] + tree.children[node])
    rows = [node for node in rows if tree.children[node]]
    return tree.first_child[rows], tree.children[rows]
