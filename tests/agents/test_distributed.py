"""Distributed search: exact totals over processes, and what happens when one of them dies."""

import os
import signal
import sys
import time

import numpy as np
import pytest

import agents
import arena
import games
from agents.core.agent import registry
from agents.montecarlo.parallel import tds
from agents.montecarlo.parallel.distributed import Crew, desk_in, options_of
from games.core.random import stream

GAME = games.make("breakthrough(rows=5, columns=4)")


def local_search(workers, jobs, limit, max_nodes=100_000, seed=3):
    """The processes' parts, played in turn in this process: desk, shards, and the root's home."""
    agent = agents.make(f"distributed(workers={workers}, jobs={jobs})")
    shapes = tds.shapes(GAME, agent)
    memory = {name: bytearray(int(np.prod(shape)) * np.dtype(kind).itemsize) for name, (shape, kind) in shapes.items()}
    desk = desk_in(memory, shapes)
    shards = [tds.new_shard(GAME, max_nodes) for _ in range(workers)]
    rngs = [stream(seed, i) for i in range(workers)]
    tds.set_out(GAME, desk, GAME.initial(), limit)
    while desk.counts[tds.RETIRED] < len(desk.mode):
        for i in range(workers):
            tds.serve_kernel(GAME, shards[i], desk, options_of(agent), i, rngs[i], 5)
    return desk, shards, int(tds.home_of(GAME, GAME.initial(), workers))


@pytest.mark.parametrize("workers, jobs, limit", [(1, 1, 300), (1, 8, 1000), (3, 5, 2000), (2, 10, 7), (4, 2, 1)])
def test_totals_are_exact_at_every_node(workers, jobs, limit):
    desk, shards, home = local_search(workers, jobs, limit)
    assert desk.own[:, tds.MADE].sum() == limit
    decision = tds.decision_at_root(GAME, shards[home], desk, GAME.initial())
    assert decision.playouts == decision.statistics.playouts.sum() == limit
    for shard in shards:
        tree, used = shard.tree, int(shard.tree.size[0])
        begun, done = tree.shared[1:used, 0], tree.shared[1:used, 1] & 0xFFFFFFFF
        assert np.array_equal(begun, done)  # nothing is left in flight
        for node in 1 + np.flatnonzero(tree.children[1:used]):
            children = slice(tree.first_child[node], tree.first_child[node] + tree.children[node])
            assert tree.shared[node, 0] == tree.shared[children, 0].sum()


def test_a_position_has_one_home_and_one_node():
    _, shards, _ = local_search(3, 4, 3000)
    keys = [set(shard.keys[shard.index != tds.EMPTY].tolist()) for shard in shards]
    assert all(len(of_one) == shard.taken[0] > 50 for of_one, shard in zip(keys, shards))
    assert len(set.union(*keys)) == sum(map(len, keys))
    tds.forget(shards[0])
    assert not shards[0].index.any() and shards[0].taken[0] == 0 and shards[0].tree.size[0] == 1


def test_a_full_tree_goes_on_without_new_nodes():
    desk, shards, _ = local_search(2, 3, 2000, max_nodes=200)
    assert desk.own[:, tds.MADE].sum() == 2000
    assert all(shard.tree.size[0] <= 200 for shard in shards)


def test_processes_find_the_win():
    game = games.make("tictactoe")
    state = game.read_line("2b 1a 2c 1b")[1]  # 2a wins
    decision = agents.make("distributed(workers=2, playouts=300)").choose(game, state, seed=1)
    assert game.move_name(state, decision.move) == "2a" and decision.value > 0.8
    assert decision.playouts == 600 and 300 <= decision.playouts_each <= 600


def test_a_process_that_is_killed_ends_the_search_and_the_next_one_has_new_ones():
    agent = agents.make("distributed(workers=2, seconds=20)")
    player = agent.player(GAME)
    crew = player.crew
    os.kill(crew.processes[1].pid, signal.SIGKILL)
    began = time.perf_counter()
    with pytest.raises(RuntimeError, match=r"a process of the distributed search died \(exit code -9\)"):
        player.choose(GAME.initial(), stream(1))
    assert time.perf_counter() - began < 10
    assert not any(process.is_alive() for process in crew.processes)
    del player
    assert Crew.take(GAME, agent) is not crew


@pytest.fixture
def forgotten():
    """The plugin's agent is registered in this process as well; no other test is to meet it."""
    yield
    registry._classes.pop("test_killer", None)
    sys.modules.pop("tests.agents.killer", None)


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
