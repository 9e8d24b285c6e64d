"""Two decisions of every agent on every game, a line each, to compare processors, systems and Pythons with diff:

    python -m tests.agents.decisions > here.txt
    python -m tests.agents.decisions hex go          # of games with such a word in their names

A line has the game, the agent, and digests of what it decided: moves, values, visits, nodes, to the last bit. With
ARENA_PLAIN=1, kernels are plain Python, which is compared in a third of the time.
"""

import hashlib
import os
import sys

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Decision
from tests.agents.test_matrix import SMALL, decisions_of, variants
from tests.plain import run_as_python
from tests.shipped import AGENTS, GAMES


def digest(decision: Decision) -> str:
    """Ten letters of the SHA-256 of all that does not depend on time."""
    value = None if decision.value is None else float(decision.value).hex()
    tables = [] if decision.statistics is None else [one.tobytes() for one in decision.statistics if one is not None]
    said = (int(decision.move), value, [*map(int, decision.principal_variation)], decision.nodes, decision.playouts)
    return hashlib.sha256(repr((said, tables)).encode()).hexdigest()[:10]


def main() -> None:
    """Print the lines; agents whose threads share a tree decide by chance, and are left out."""
    words = sys.argv[1:]
    np.seterr(over="ignore")  # words wrap around
    if os.environ.get("ARENA_PLAIN"):
        run_as_python(pytest.MonkeyPatch())
    for spec in [name + SMALL.get(name, "") for name in GAMES if not words or any(word in name for word in words)]:
        for text in [text for name in AGENTS for text in variants(name)]:
            game, agent = games.make(spec), agents.make(text)
            if not (agent.refuses(game) or ("workers" in text and "simulated" not in text)):
                print(spec, text, *map(digest, decisions_of(game, agent)), flush=True)


if __name__ == "__main__":
    main()
