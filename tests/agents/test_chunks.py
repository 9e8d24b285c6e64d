"""What a search with a counted budget finds must not depend on how fast the machine is: its chunks do."""

import pytest

import agents
import games
from agents.core import chunks
from games.core.random import stream
from tests.agents.positions import random_position
from tests.shipped import AGENTS

BUDGETS = {"playouts": 150, "nodes": 150}
GAME = "tictactoe"


def decisions(monkeypatch, name, first, long):
    """Two decisions of a player, and what it has drawn, with chunks of these sizes."""
    monkeypatch.setattr(chunks, "FIRST", first)
    monkeypatch.setattr(chunks, "LONG", long)
    game, agent, rng = games.make(GAME), agents.make(name), stream(3)
    kind = next(kind for kind in agent.budgets if kind in BUDGETS)
    player, found = agent.player(game, agents.Budget(**{kind: BUDGETS[kind]})), []
    for seed, plies in ((5, 1), (6, 3), (7, 5)):
        decision = player.choose(random_position(game, seed, plies), rng)
        found.append((decision.move, decision.value, decision.playouts, decision.nodes, decision.depth))
        player = agent.player(game, agents.Budget(**{kind: BUDGETS[kind]}))
    return found, rng.tolist()


@pytest.mark.parametrize("name", [name for name in AGENTS if set(agents.make(name).budgets) & set(BUDGETS)])
def test_a_decision_does_not_depend_on_its_chunks(name, monkeypatch):
    agent, game = agents.make(name), games.make(GAME)
    if agent.cores > 1 or agent.refuses(game):
        pytest.skip("threads meet in no order" if agent.cores > 1 else agent.refuses(game))
    one_by_one = decisions(monkeypatch, name, 1, 0.0)
    assert one_by_one == decisions(monkeypatch, name, 10**9, 1.0)
