"""Searches that play out in lanes, or several times."""

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core import chunks
from arena.games.core.lanes.lane_playout import play_side_by_side
from arena.games.core.lanes.lanes import LaneStream, Width, seeded
from arena.games.core.play.playout import reward_of
from arena.games.core.random import stream
from tests.agents.naive import Grave, search, ucb1
from tests.agents.positions import random_position
from tests.agents.test_montecarlo import assert_same_tree
from tests.agents.test_parallel import assert_whole, columns, counted

EACH = 8


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=4)", "grundy(heaps=[9, 8])"])
def test_uct_with_several_playouts_of_a_leaf_equals_its_twin(spec):
    """In lanes, and one by one where the game has none."""
    game, rng = games.make(spec), stream(9)
    state, room = random_position(game, 8, 4), np.empty(game.max_moves, np.int32)
    player = agents.make(f"uct(lanes={EACH}, playouts=485)").player(game)
    decision = player.choose(state, stream(9))
    if game.lanes:
        width = Width(EACH, game.lane_bits)
        lanes = LaneStream(width, seeded(width.words, rng))

    def play_out(leaf, moves):
        if game.is_over(leaf):
            return np.sign(game.score(leaf))
        if game.lanes:
            with np.errstate(over="ignore"):
                return 2 * play_side_by_side(game, leaf, lanes)[0] / EACH - 1
        rewards = [reward_of.py_func(game.random_playout(leaf.copy(), room, rng)[0]) for _ in range(EACH)]
        return 2 * sum(rewards) / EACH - 1

    assert bool(game.lanes) == ("connect4" in spec) and decision.playouts == 480
    assert_same_tree(player.tree, search(game, state, 60, ucb1(0.4), rng, play_out=play_out, each=EACH))


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=4)", "breakthrough(rows=5, columns=4)"])
@pytest.mark.parametrize("ref", [0, 20])
def test_grave_with_several_playouts_of_a_leaf_equals_its_twin(spec, ref):
    """Which learns from them one by one, each with the moves in the tree before it."""
    game, rng, grave = games.make(spec), stream(9), Grave(ref, 1e-3)
    state, room, played = random_position(game, 8, 2), np.empty(game.max_moves, np.int32), []

    def play_out(leaf, moves):
        played.clear()
        for _ in range(EACH):
            end, line = leaf.copy(), []
            while not game.is_over(end):
                move = int(game.random_move(end, room, rng))
                line.append((int(game.player(end)), int(game.move_code(end, move))))
                game.play(end, move)
            played.append((line, game.score(end)))
        return sum(score for _, score in played) / EACH

    def learn(path, line, score):
        for more, result in played:
            grave.learn(path, line + more, result)

    player = agents.make(f"grave(lanes={EACH}, ref={ref}, bias=0.001, playouts=803)").player(game)
    assert player.choose(state, stream(9)).playouts == 800
    assert_same_tree(player.tree, search(game, state, 100, grave.select, rng, learn, play_out, EACH))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=4)", "grundy(heaps=[9, 8])"])
@pytest.mark.parametrize("more", ["", ", lock='local'", ", wu=true"])
def test_one_thread_of_a_shared_tree_with_lanes_searches_as_uct_does(spec, more):
    game, state = games.make(spec), random_position(games.make(spec), 8, 2)
    serial = agents.make(f"uct(lanes={EACH}, playouts=4003)").player(game)
    player = agents.make(f"tree(workers=1, lanes={EACH}, playouts=4003{more})").player(game)
    expected, decision = serial.choose(state, stream(3)), player.choose(state, stream(3))
    assert decision.playouts == expected.playouts == 4000 and decision.value == expected.value
    assert columns(*counted(player.tree)) == columns(*counted(serial.tree))


@pytest.mark.plain
@pytest.mark.parametrize(
    "spec",
    [
        "tree(lot=4",
        *(pytest.param(f"tree({words}", marks=pytest.mark.slow) for words in ("lot=1", "lock='local'")),
        "gscpm(grain=70",
    ],
)
def test_threads_with_lanes_lose_no_visit(spec, kernels):
    game = games.make("connect4(rows=4, columns=5)")
    playouts, seeds = (40_000, 3) if kernels == "compiled" else (800, 1)
    for seed in range(seeds):
        player = agents.make(f"{spec}, workers=8, lanes={EACH}, playouts={playouts + 6}, total=true)").player(game)
        decision = player.choose(game.initial(), stream(seed))
        assert decision.playouts == player.tree.visits[0] == playouts
        assert_whole(player, at_once=playouts)


@pytest.mark.plain
def test_flat_shares_its_playouts_out_evenly_and_in_any_chunks(monkeypatch):
    """Two rounds of 64 lanes after each of three moves, and the rest one by one."""
    game, found = games.make("matches(count=9)"), []
    for first, long in ((1, 0.0), (10**9, 1.0)):
        monkeypatch.setattr(chunks, "FIRST", first)
        monkeypatch.setattr(chunks, "LONG", long)
        found.append(agents.make("flat(playouts=500)").choose(game, game.initial(), seed=1).statistics)
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)
    assert found[0].playouts.tolist() == [167, 167, 166]


@pytest.mark.slow
def test_flat_means_are_those_of_playouts():
    game, state = games.make("connect4(rows=4, columns=4)"), games.make("connect4(rows=4, columns=4)").initial()
    table = agents.make("flat(playouts=40000)").choose(game, state, seed=2).statistics
    for move, mean, deviation, count in zip(table.moves, table.means, table.deviations, table.playouts):
        summary = games.playouts(game, 10_000, seed=3, state=game.after(state, move))
        expected = (summary.wins - summary.losses) / summary.playouts
        assert abs(mean - expected) < 4.5 * deviation * (1 / count + 1 / 10_000) ** 0.5


def test_flat_wins_where_a_move_ends_the_game():
    """A playout in lanes after the last move of a game is its result."""
    game = games.make("connect4(rows=4, columns=4)")
    _, state = game.read_line("1 2 1 2 1 2")
    decision = agents.make("flat(playouts=4000)").choose(game, state, seed=1)
    assert game.move_name(state, decision.move) == "1" and decision.value == 1.0


@pytest.mark.parametrize("name", ["uct", "grave", "tree", "gscpm"])
def test_lanes_are_a_power_of_two(name):
    with pytest.raises(games.SpecError, match="lanes = 6 is not one of 1, 2, 4, 8, 16, 32, 64"):
        agents.make(f"{name}(lanes=6)")


def test_simulated_workers_have_no_lanes():
    with pytest.raises(games.SpecError, match="lanes = 8: simulated workers make one playout of each leaf"):
        agents.make("tree(lanes=8, simulated=true)")
