"""Memory that players leave to others changes no decision."""

import dataclasses

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core import reuse, transposition_table
from arena.games.core.jit.identity import digest
from arena.games.core.random import stream
from tests.agents.positions import random_position

SEARCHES = [
    "uct(playouts=400)",
    "uct(playouts=400, solver=true)",
    "uct(playouts=200, keep_tree=true)",
    "alphabeta(depth=5)",
    "alphabeta(depth=8, table=0.1)",
    "alphabeta(nodes=60000, table=4, scheme='big')",
    "minimax(depth=3, table=1)",
    *(pytest.param(spec, marks=pytest.mark.slow) for spec in ("grave(playouts=200)", "dfpn(nodes=2000)")),
    pytest.param("pdspn(nodes=2000)", marks=pytest.mark.slow),  # compiles for nine seconds
]


def decided(agent, game, state) -> dict:
    decision = agent.choose(game, state, seed=3)
    facts = dataclasses.asdict(dataclasses.replace(decision, seconds=0.0, game=None, state=None))
    return {name: str(value) for name, value in facts.items()}


@pytest.mark.parametrize("text", SEARCHES)
def test_decisions_do_not_depend_on_what_was_left(text, monkeypatch):
    """Nor do their counts: alone, after searches of other positions, and after one too large to be emptied by rows."""
    game, agent = games.make("connect4"), agents.make(text)
    states = [random_position(game, seed, 6) for seed in range(4)]
    fresh = []
    for state in states:
        monkeypatch.setattr(reuse.left, "by_kind", {})
        fresh.append(decided(agent, game, state))
    assert reuse.left.by_kind, "nothing is left to others: this compares nothing"
    for _ in range(2):
        assert [decided(agent, game, state) for state in states] == fresh


@pytest.mark.parametrize("scheme", transposition_table.SCHEMES)
@pytest.mark.parametrize("rows", [10, 1000])
def test_a_table_that_was_left_is_empty(scheme, rows, monkeypatch):
    monkeypatch.setattr(reuse.left, "by_kind", {})
    monkeypatch.setattr(transposition_table, "FIRST_ROWS", 200)
    first, rng = transposition_table.new_table(0.25, scheme), np.random.default_rng(5)
    for key in rng.integers(1, 2**63, rows).astype(np.uint64):
        transposition_table.store(first, key, 1, 2, 3)
    assert transposition_table.filled(first) > 0 and (transposition_table.filled(first) > 200) == (rows > 200)
    transposition_table.leave_table(first)
    again = transposition_table.new_table(0.25, scheme)
    assert again.words is first.words
    assert (
        not again.words.any()
        and transposition_table.filled(again) == 0
        and not again.counts.any()
        and again.generation[0] == 1
    )


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(reuse.left, "by_kind", {})
    for kind in range(100):
        for _ in range(10):
            reuse.leave(kind, object(), 1)
        assert len(reuse.left.by_kind) <= reuse.MOST_KINDS
    reuse.leave("large", object(), reuse.MOST_BYTES + 1)
    assert "large" not in reuse.left.by_kind
    assert all(len(things) <= reuse.MOST_OF_A_KIND for things in reuse.left.by_kind.values())


def test_what_players_left_is_no_part_of_the_names_of_compiled_code(monkeypatch):
    """Otherwise nothing that an agent compiles after another has played is kept."""
    monkeypatch.setattr(reuse.left, "by_kind", {})
    before = digest(reuse.taken, anew=True)
    reuse.leave("kind", object(), 1)
    assert digest(reuse.taken, anew=True) == before


@pytest.mark.parametrize("text", SEARCHES)
def test_a_player_that_is_closed_twice_leaves_its_memory_once(text, monkeypatch):
    monkeypatch.setattr(reuse.left, "by_kind", {})
    game = games.make("connect4")
    player = agents.make(text).player(game)
    player.choose(game.initial(), stream(1))
    player.close(None)
    player.close(None)
    assert [len(things) for things in reuse.left.by_kind.values()] == [1]
