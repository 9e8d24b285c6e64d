"""Parallel schemes: exact totals, determinism where it is promised, and one worker's search equal to the serial one."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.tree_arrays import LEAF, ROOT
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.parallel.shared import BEGUN, DONE, SharedTree, finished, reward_sum
from arena.agents.montecarlo.parallel.together import BUSY, PER_LOT, TogetherPlayer
from arena.games.core.random import stream
from tests.agents.naive import uct_in_lots
from tests.agents.specs import made
from tests.shipped import AGENTS

GAME = games.make("breakthrough(rows=5, columns=4)")
STATE = GAME.initial()
SCHEMES = [name for name in AGENTS if isinstance(agents.make(name), Scheme)]
SIMULATED = [name for name in SCHEMES if name != "distributed"]
LOCKS = "lock='local'", "lock='global'"
ON_ONE_TREE = [
    pytest.param("tree", marks=pytest.mark.compiled),
    *(pytest.param(f"tree({words})", marks=pytest.mark.slow) for words in ("lot=1", *LOCKS, "wu=true")),
    "gscpm(grain=7)",
    "pipeline",
    "leaf",
]


def searched(agent, seed=3):
    """A player that has decided on a move in STATE, its second decision in a game, and that decision."""
    player = agent.player(GAME)
    player.choose(GAME.read_line("2a3a")[1], stream(seed + 1))
    return player, player.choose(STATE, stream(seed))


def columns(tree, visits, value):
    """What a tree holds of its nodes but for the root's value, which means nothing; first children of leaves as 0."""
    used = tree.size[0]
    first_child = np.where(tree.children[:used] == LEAF, 0, tree.first_child[:used])
    return [column[:used].tolist() for column in (visits, tree.move, tree.children)] + [
        first_child.tolist(),
        value[1:used].tolist(),
    ]


def counted(tree):
    """(tree, visits, value): of a SharedTree as its words say, which must hold no mark or lock."""
    if not isinstance(tree, SharedTree):
        return tree, tree.visits, tree.value
    used, done = tree.nodes.size[0], tree.counts[:, DONE]
    assert not tree.locks[:used].any() and np.array_equal(finished.py_func(done[:used]), tree.counts[:used, BEGUN])
    return tree.nodes, tree.counts[:, BEGUN], reward_sum.py_func(done)


def assert_whole(player, at_once):
    """Every node's children add up, but for `at_once` visits while it was a leaf; nothing is left in flight."""
    tree, visits, value = counted(player.tree)
    reached = [ROOT]
    for node in reached:
        children = slice(tree.first_child[node], tree.first_child[node] + tree.children[node])
        if tree.children[node] != LEAF:
            reached += range(children.start, children.stop)
            assert 0 <= visits[node] - visits[children].sum() <= at_once
            assert np.all(value[children] <= visits[children])
    if isinstance(player, TogetherPlayer):
        assert not any(each.any() for each in (player.company.lock, player.company.locks, player.company.flying))


@pytest.mark.plain
@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize(
    "spec",
    [
        "tree",
        "tree(lock='local')",
        "tree(lock='global')",
        "tree(wu=true)",
        "tree(virtual_loss=0)",
        "leaf",
        "pipeline(tokens=1)",
    ],
)
def test_one_worker_searches_as_uct_does_node_for_node(spec, simulated, kernels):
    playouts = 700 if kernels == "compiled" else 120
    serial, expected = searched(agents.make(f"uct(playouts={playouts})"))
    player, decision = searched(made(spec, workers=1, playouts=playouts, simulated=simulated))
    assert columns(*counted(player.tree)) == columns(*counted(serial.tree))
    assert (decision.move, decision.value, decision.playouts) == (expected.move, expected.value, expected.playouts)


@pytest.mark.plain
def test_lots_equal_their_twin():
    """One thread that makes lots, as it does beside others."""
    lot, rng = 3, stream(9)
    twin = uct_in_lots(GAME, STATE, 1000, stream(9), lot, PER_LOT, BUSY)
    player = agents.make("tree(workers=2, playouts=1000)").player(GAME)
    player.company = player.company._replace(lot=lot)
    player.company.size[0] = 1
    player.open(STATE, rng)
    assert player.run(STATE, 0, rng)(1000) == 1000
    tree, waiting, deep = player.tree, [(ROOT, twin)], 0
    while waiting:
        node, other = waiting.pop()
        assert tree.visits[node] == other.visits and tree.children[node] == len(other.children)
        assert node == ROOT or tree.value[node] == other.value
        waiting += [(tree.first_child[node] + i, child) for i, child in enumerate(other.children)]
        deep += other.visits >= BUSY * lot
    assert deep > 2


@pytest.mark.plain
def test_one_worker_of_root_is_uct(kernels):
    """Ties too, which are most of what a few playouts give."""
    for playouts in (1, 2, 5, 12, 700 if kernels == "compiled" else 250):
        _, expected = searched(agents.make(f"uct(playouts={playouts})"))
        for more in ({}, {"vote": "majority"}, {"share_every": 100}, {"simulated": True}):
            _, decision = searched(made("root", workers=1, playouts=playouts, **more))
            assert (decision.move, decision.value) == (expected.move, expected.value)
            assert decision.playouts == playouts
            for one, other in zip(decision.statistics, expected.statistics):
                assert np.array_equal(one, other)


OF_ONE_WORKER = [
    *("root", "root(vote='majority')", "root(share_every=10)", "leaf", "tree", "tree(lot=1)", "tree(virtual_loss=3)"),
    *("tree(wu=true)", "tree(lanes=8)", *(f"tree({words})" for words in LOCKS), "pipeline", "pipeline(tokens=1)"),
]


@pytest.mark.plain
@pytest.mark.parametrize("spec", OF_ONE_WORKER)
def test_schemes_know_whether_they_are_their_search(spec):
    agent = made(spec, workers=1, playouts=100)
    one, other = searched(agent)[1], searched(agents.make("uct(playouts=100)"))[1]
    alike = [np.array_equal(*both) for both in zip(one.statistics[:3], other.statistics[:3])]
    assert all(alike) == agent.is_serial() and not replace(agent, workers=2).is_serial()


@pytest.mark.plain
@pytest.mark.parametrize("spec", ON_ONE_TREE)
def test_threads_lose_no_visit(spec, kernels):
    """Eight threads on one tree: the root's visits are exact, every node's children add up, no mark or lock is left."""
    playouts, seeds = 2_000 if spec == "leaf" else 20_000, 3  # whose threads meet at every leaf
    if kernels == "plain":
        playouts, seeds = 400, 1
    for seed in range(seeds):
        player, decision = searched(made(spec, workers=8, playouts=playouts, total=True), seed)
        assert decision.playouts == counted(player.tree)[1][ROOT] == playouts
        free = getattr(player, "free", False)  # others pass through a leaf until it is open, however long that takes
        assert_whole(player, at_once=playouts if free else 8)


@pytest.mark.plain
@pytest.mark.parametrize("playout_time", ["constant", "plies"])
@pytest.mark.parametrize(
    "spec", [*SIMULATED, "tree(wu=true)", "root(vote='majority')", "root(share_every=20)", "gscpm(grain=7)"]
)
def test_simulated_workers_are_deterministic(spec, playout_time, kernels):
    counts, playouts = ((2, 7, 64), 60) if kernels == "compiled" else ((4,), 25)
    for workers in counts:
        agent = made(spec, workers=workers, playouts=playouts, simulated=True, playout_time=playout_time)
        (_, first), (_, second) = searched(agent), searched(agent)
        assert (first.move, first.value, first.nodes) == (second.move, second.value, second.nodes)
        assert first.playouts == first.statistics.playouts.sum() == playouts * workers
        assert agent.cores == 1
        assert first.virtual_time == second.virtual_time and first.playouts_each >= playouts
        assert playout_time == "plies" or first.virtual_time >= first.playouts_each


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["root", "root(share_every=50)", "leaf"])
def test_threads_and_simulated_workers_agree_where_order_does_not_matter(spec, kernels):
    results, playouts = [], 200 if kernels == "compiled" else 80
    for simulated in (False, True):
        _, decision = searched(made(spec, workers=3, playouts=playouts, simulated=simulated))
        results.append((decision.move, decision.value, decision.statistics.playouts.tolist()))
    assert results[0] == results[1]


@pytest.mark.plain
@pytest.mark.parametrize("name", [*SIMULATED, pytest.param("distributed", marks=pytest.mark.slow)])  # on processes
def test_budgets(name):
    agent = made(name, workers=3, playouts=50)
    decision = searched(agent)[1]
    assert agent.cores == 3 and decision.playouts == 150 and 50 <= decision.playouts_each <= 150
    assert decision.virtual_time is None
    together = searched(made(name, workers=3, playouts=51, total=True))[1]
    assert together.playouts == 51
    timed = searched(made(name, workers=2, seconds=0.03))[1]
    assert timed.playouts > 0 and timed.seconds < 60


@pytest.mark.plain
def test_virtual_loss_spreads_simulated_workers():
    """64 workers in the first round: without virtual loss they all go where the first one went."""
    visited = {
        loss: np.count_nonzero(
            searched(made("tree", workers=64, playouts=1, virtual_loss=loss, simulated=True))[1].statistics.playouts
        )
        for loss in (0.0, 1.0)
    }
    assert visited[0.0] == 1 and visited[1.0] == len(GAME.moves(STATE))


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
def test_a_leaf_takes_as_long_as_its_slowest_playout(monkeypatch, kernels):
    game, plies = games.make("tictactoe"), itertools.cycle([3, 7, 5])
    monkeypatch.setattr(type(game), "random_playout", lambda game, state, moves, rng: (0.0, next(plies)))
    agent = made("leaf", workers=3, playouts=4, simulated=True, playout_time="plies")
    assert agent.choose(game, game.initial(), seed=1).virtual_time == 4 * 7


@pytest.mark.parametrize(
    "spec, message",
    [
        ("tree(workers=0)", "workers = 0 is out of range: it can be 1 to 64"),
        ("tree(workers=65)", "workers = 65 is out of range"),
        ("tree(workers=1025, simulated=true)", "workers = 1025 is out of range: it can be 1 to 1024"),
        ("tree(simulated=true, seconds=1.0)", "seconds have no meaning for simulated workers"),
        ("tree(playout_time='plies')", "playout_time is for simulated workers"),
        ("tree(playout_time='long')", "playout_time = 'long' is not one of constant, plies"),
        ("tree(lock='none')", "lock = 'none' is not one of free, local, global"),
        ("tree(virtual_loss=-1)", "virtual_loss = -1.0 is out of range"),
        ("tree(lot=0)", "lot = 0 is out of range: it can be 1 to 1024"),
        ("root(vote='most')", "vote = 'most' is not one of sum, majority"),
        ("root(share_every=-5)", "share_every = -5 is out of range"),
        ("root(share_every=5, seconds=1)", "share_every needs a budget of playouts"),
        ("gscpm(grain=0)", "grain = 0 is out of range"),
        ("pipeline(tokens=-1)", "tokens = -1 is out of range"),
        ("pipeline(tokens=4097)", "tokens = 4097 is out of range: it can be 1 to 4096"),
        ("pipeline(stage_time=-1)", "stage_time = -1.0 is out of range"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=re.escape(message)):
        agents.make(spec)


def test_a_pipeline_has_up_to_4096_tokens():
    assert agents.make("pipeline(tokens=4096)").tokens == 4096


def test_simulated_workers_need_playouts():
    with pytest.raises(agents.Unsuited, match="with simulated workers needs a budget of playouts"):
        agents.make("tree(simulated=true)").budget(agents.Budget(seconds=1.0))
    assert agents.make("tree(simulated=true)").budget(agents.Budget(playouts=5, seconds=1.0)) == agents.Budget(
        playouts=5
    )
