"""Distributed search: exact totals over processes, and what happens when one of them dies."""

import os
import signal
import sys
import time

import numpy as np
import pytest

import arena
from arena import agents, games
from arena.agents.core.agent import registry
from arena.agents.montecarlo.parallel import tds
from arena.agents.montecarlo.parallel.distributed import jobs_in
from arena.agents.montecarlo.parallel.shared import BEGUN, DONE, finished
from arena.games.core.random import stream

GAME = games.make("breakthrough(rows=5, columns=4)")


def local_search(workers, jobs, limit, max_nodes=100_000, seed=3):
    """The processes' parts, played in turn in this process, after the search; and the root's home."""
    agent = agents.make(f"distributed(workers={workers}, jobs={jobs})")
    shapes = tds.shapes(GAME, agent)
    memory = {name: bytearray(int(np.prod(shape)) * np.dtype(kind).itemsize) for name, (shape, kind) in shapes.items()}
    jobs = jobs_in(memory, shapes)
    processes = [tds.new_process(GAME, agent, jobs, i, max_nodes) for i in range(workers)]
    rngs = [stream(seed, i) for i in range(workers)]
    tds.set_out(GAME, jobs, GAME.initial(), limit)
    while jobs.counts[tds.RETIRED] < len(jobs.mode):
        for process, rng in zip(processes, rngs):
            tds.serve_kernel(GAME, process, rng, 5)
    return processes, int(tds.home_of(GAME, GAME.initial(), workers))


@pytest.mark.plain
@pytest.mark.parametrize("workers, jobs, limit", [(1, 1, 300), (1, 8, 1000), (3, 5, 2000), (2, 10, 7), (4, 2, 1)])
def test_totals_are_exact_at_every_node(workers, jobs, limit):
    processes, home = local_search(workers, jobs, limit)
    assert processes[home].jobs.own[:, tds.MADE].sum() == limit
    decision = tds.decision_at_root(GAME, processes[home], GAME.initial())
    assert decision.playouts == decision.statistics.playouts.sum() == limit
    for process in processes:
        tree = process.shard.tree
        nodes, used = tree.nodes, int(tree.nodes.size[0])
        begun, done = tree.counts[1:used, BEGUN], finished.py_func(tree.counts[1:used, DONE])
        assert np.array_equal(begun, done)  # nothing is left in flight
        for node in 1 + np.flatnonzero(nodes.children[1:used]):
            children = slice(nodes.first_child[node], nodes.first_child[node] + nodes.children[node])
            assert tree.counts[node, BEGUN] == tree.counts[children, BEGUN].sum()


@pytest.mark.plain
def test_a_position_has_one_home_and_one_node(kernels):
    shards = [process.shard for process in local_search(3, 4, 3000 if kernels == "compiled" else 1200)[0]]
    keys = [set(shard.keys[shard.rows != tds.EMPTY].tolist()) for shard in shards]
    assert all(len(of_one) == shard.taken[0] > 50 for of_one, shard in zip(keys, shards))
    assert len(set.union(*keys)) == sum(map(len, keys))
    tds.forget(shards[0])
    assert not shards[0].rows.any() and shards[0].taken[0] == 0 and shards[0].tree.nodes.size[0] == 1


@pytest.mark.plain
def test_a_full_tree_goes_on_without_new_nodes():
    processes, home = local_search(2, 3, 2000, max_nodes=200)
    assert processes[home].jobs.own[:, tds.MADE].sum() == 2000
    assert all(process.shard.tree.nodes.size[0] <= 200 for process in processes)


def test_processes_find_the_win():
    game = games.make("tictactoe")
    state = game.read_line("1a 2a 1b 2b")[1]  # 1c wins, and no other move leads to a sure win
    decision = agents.make("distributed(workers=2, playouts=300)").choose(game, state, seed=1)
    assert game.move_name(state, decision.move) == "1c" and decision.value > 0.8
    assert decision.playouts == 600 and 300 <= decision.playouts_each <= 600


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_search_and_the_next_one_has_new_ones():
    agent = agents.make("distributed(workers=2, seconds=200)")
    player = agent.player(GAME)
    pool, team = player.pool, list(player.pool.team)
    os.kill(team[1].process.pid, signal.SIGKILL)
    began = time.perf_counter()
    with pytest.raises(RuntimeError, match=r"a process of the distributed search died \(exit code -9\)"):
        player.choose(GAME.initial(), stream(1))
    assert time.perf_counter() - began < 100
    assert not any(one.process.is_alive() for one in team)
    del player
    assert agent.player(GAME).pool is not pool


@pytest.fixture
def forgotten():
    """The plugin's agent is registered in this process as well; no other test is to meet it."""
    yield
    registry._classes.pop("test_killer", None)
    sys.modules.pop("tests.agents.killer", None)


@pytest.mark.slow
@pytest.mark.usefixtures("forgotten")
def test_games_are_lost_only_where_a_process_died(tmp_path):
    """An agent that kills a process of its search in one game forfeits that game alone."""
    config = {
        "game": "breakthrough(rows=5, columns=4)",
        "games": 6,
        "seed": 2,
        "plugins": ["tests.agents.killer"],
        "agents": [
            {"agent": f"test_killer(workers=2, playouts=40, mark={str(tmp_path / 'killed')!r})", "name": "killer"},
            {"agent": "uct(playouts=40)"},
        ],
    }
    played = arena.run(config, tmp_path / "run", workers=2)
    reasons = played.games["reason"].value_counts().to_dict()
    assert reasons == {"played out": 5, "exception": 1}, played.games["detail"].tolist()
    assert "a process of the distributed search died" in played.games.set_index("reason").loc["exception", "detail"]
    moves = played.moves()
    searched = moves[moves["agent"].str.contains("killer")]
    assert (searched["playouts"] == 80).all() and searched["playouts_each"].between(40, 80).all()
