"""Golden searches: what every search decided once, from a seed, which a change that is to change nothing repeats.

The tree's first level is stored to the last bit: moves, visits and values.  As plain Python in the default run,
compiled in the long one; both must repeat the same file, on every processor, system and Python.  A change that is
meant to change decisions writes it again, and says so: `python -m tests.agents.test_golden`.
"""

import functools
import json
import math
from pathlib import Path

import pytest

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.montecarlo.method import registry as method_registry
from arena.games.core.random import stream
from tests.agents.test_matrix import variants
from tests.shipped import AGENTS

FILE = Path(__file__).with_name("golden.json")
POSITIONS = {
    "connect4(rows=4, columns=5)": "3 3 2",
    "breakthrough(rows=5, columns=4)": "",
    "samegame(rows=5, columns=5, colours=3)": "",
}
BUDGET = Budget(playouts=24, nodes=150, depth=2)
TOGETHER = [f"{name}(workers=2, simulated=true, search='grave')" for name in ("root", "leaf", "tree", "gscpm")]


def searches() -> list[str]:
    """Every search that decides by its seed, schemes with a search of their own, and uct with each method alone."""
    every = [*(text for name in AGENTS if name != "external" for text in variants(name)), *TOGETHER]
    found = [text for text in every if "workers" not in text or "simulated=true" in text]
    return found + [f"uct(methods={name!r})" for name in method_registry.classes()]


def golden(text: str, position: str) -> dict | None:
    """The decision of a search; None if it does not play the game."""
    agent, game = agents.make(text), games.make(position)
    if agent.refuses(game):
        return None
    state = game.read_line(POSITIONS[position])[1]
    player = agent.player(game, BUDGET)
    decision = player.choose(state, stream(7))
    player.close(None)
    columns = [] if decision.statistics is None else [each.tolist() for each in decision.statistics if each is not None]
    return {
        "move": int(decision.move),
        "value": _plain(decision.value),
        "line": list(map(int, decision.principal_variation)),
        "nodes": decision.nodes,
        "playouts": decision.playouts,
        "moves": [list(map(_plain, row)) for row in zip(*columns)],
    }


def _plain(value):
    return None if isinstance(value, float) and math.isnan(value) else value


def written() -> dict:
    """{search: {position: decision}}."""
    return {text: {place: found for place in POSITIONS if (found := golden(text, place))} for text in searches()}


@functools.cache
def stored() -> dict:
    return json.loads(FILE.read_text())


def test_every_search_is_there():
    assert list(stored()) == searches()


@pytest.mark.plain
@pytest.mark.parametrize("text", searches())
def test_what_was_decided_is_decided_again(text):
    assert {place: found for place in POSITIONS if (found := golden(text, place))} == stored()[text]


if __name__ == "__main__":
    rows = [f"{json.dumps(text)}: {json.dumps(found)}" for text, found in written().items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
