"""Searches that play out in lanes, or several times."""

import numpy as np
import pytest

import agents
import games
from agents.core import chunks
from games.core.lane_playout import play_side_by_side
from games.core.lanes import Width, lane_stream
from games.core.playout import reward_of
from games.core.random import stream
from tests.agents.naive import search, ucb1
from tests.agents.positions import random_position
from tests.agents.test_montecarlo import assert_same_tree

EACH = 8


@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=4)", "grundy(heaps=[9, 8])"])
def test_uct_with_several_playouts_of_a_leaf_equals_its_twin(spec):
    """In lanes, and one by one where the game has none."""
    game, rng = games.make(spec), stream(9)
    state, room = random_position(game, 8, 4), np.empty(game.max_moves, np.int32)
    player = agents.make(f"uct(lanes={EACH}, playouts=485)").player(game)
    decision = player.choose(state, stream(9))
    if game.lanes:
        lanes = lane_stream(Width(EACH, game.lane_bits), rng)

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


def test_lanes_are_a_power_of_two():
    with pytest.raises(games.SpecError, match="lanes = 6 is not one of 1, 2, 4, 8, 16, 32, 64"):
        agents.make("uct(lanes=6)")
