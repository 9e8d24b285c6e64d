"""Every agent on every game that it does not refuse: `pytest -m slow -n 1 -rP tests/agents/test_matrix.py`, for long.

A test is a game, so that one process compiles its kernels.  Parallel agents search with two threads and, where they
can, with two simulated workers.
"""

from dataclasses import fields

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import registry
from arena.games.core.game import CHANCE
from arena.games.core.random import random_below, stream
from tests.agents.positions import after_names
from tests.shipped import AGENTS, GAMES

SMALL = {
    "amazons": "(size=6)",
    "atarigo": "(size=4)",
    "ataxx": "(size=4, horizon=40)",
    "backgammon": "(horizon=30)",
    "breakthrough": "(rows=5, columns=4)",
    "checkers": "(quiet=10)",
    "clobber": "(rows=4, columns=4)",
    "connect4": "(rows=4, columns=5)",
    "domineering": "(rows=4, columns=4)",
    "go": "(size=5)",
    "hex": "(size=4)",
    "kalah": "(houses=3, seeds=2)",
    "knightthrough": "(rows=6, columns=5)",
    "leftmove": "(depth=8)",
    "loa": "(size=5, horizon=60)",
    "misere_breakthrough": "(rows=5, columns=4)",
    "misere_domineering": "(rows=4, columns=4)",
    "misere_knightthrough": "(rows=6, columns=5)",
    "misere_nogo": "(size=4)",
    "mnk": "(rows=4, columns=4, k=3)",
    "morpion": "(variant='4D')",
    "nogo": "(size=4)",
    "othello": "(size=4)",
    "pentalath": "(size=3, length=4, swap=true, horizon=40)",
    "pig": "(target=10, horizon=20)",
    "samegame": "(rows=5, columns=5, colours=3)",
    "tsptw": "(cities=5)",
    "weakschur": "(parts=2)",
    "y": "(size=4)",
}
TOGETHER = "workers=2, search='uct(methods=\"pn + history + decisive\")'"
OPTIONS = {
    "expectimax": ["", "scores=true"],
    "flat": ["", "scores=true"],
    "nmcs": ["", "workers=2", "level=2, workers=2, parallel='leaf'", "playout='tabu'"],
    "nrpa": ["", "workers=2", "level=2, workers=2, parallel='leaf'"],
    "sp_mcts": ["", "workers=2, size=5, playout='tabu'"],
    "dfpn": ["", "workers=2"],
    "distributed": ["workers=2"],
    "uct": [
        "",
        "lanes=4",
        "methods='implicit + history + nst + halving(below=4)'",
        "methods='pn + bounds + decisive + widening + informed(depth=2, width=4)'",
        "methods='graph(d2=0) + puct + reply + gumbel'",
    ],
    "grave": ["", "lanes=4"],
    **{name: ["workers=2", "workers=2, simulated=true", "workers=2, lanes=4", TOGETHER] for name in ("tree", "gscpm")},
    "root": ["workers=2", "workers=2, simulated=true", "workers=2, search='ppa'"],
    "leaf": ["workers=2", "workers=2, simulated=true", "workers=2, search='grave'"],
    "alphabeta": ["", "quiescence=true", "symmetries=true", "symmetries=true, table=0"],
}
BUDGET = agents.Budget(playouts=12, nodes=150, depth=2)
LATER = 2  # plies from one decision to the next


def variants(name: str) -> list[str]:
    """The agents to try of one name."""
    known = {field.name for field in fields(registry.classes()[name])}
    parallel = ["workers=2", "workers=2, simulated=true"] if "simulated" in known else ["workers=2"]
    return [f"{name}({text})" for text in OPTIONS.get(name, parallel if "workers" in known else [""])]


def checked(game, player, state, rng):
    """What a player decides, after the checks that hold for every decision."""
    kept = state.copy()
    decision = player.choose(state, rng)
    assert decision.move in game.moves(state) and np.array_equal(state, kept)
    assert decision.value is None or game.players == 1 or -1 <= decision.value <= 1
    if not game.has_chance:
        after_names(game, state, decision.principal_variation)
    return decision


def decisions_of(game, agent):
    """One decision from the start, or after what chance begins with, and one after two plies more."""
    player, rng, state, decisions, plies = agent.player(game, BUDGET), stream(1), game.initial(), [], 0
    while not game.is_over(state) and len(decisions) < 2:
        moves = game.moves(state)
        if game.player(state) != CHANCE and (not decisions or plies >= LATER):
            decisions.append(checked(game, player, state, rng))
            move = decisions[-1].move
        else:
            move = moves[int(random_below(rng, len(moves)))]
        plies += len(decisions) > 0
        state = game.after(state, move)
        player.played(move)
    assert decisions
    return decisions


@pytest.mark.slow(minutes=10)
@pytest.mark.parametrize("spec", [name + SMALL.get(name, "") for name in GAMES])
def test_every_agent_on_every_game(spec):
    game, tried, refused, failed = games.make(spec), [], [], []
    for text in [text for name in AGENTS for text in variants(name)]:
        agent = agents.make(text)
        if reason := agent.refuses(game):
            refused.append(reason)
            continue
        tried.append(text)
        try:
            decisions_of(game, agent)
        except Exception as error:  # whatever an agent or a compiler raises is what this test is for
            failed.append(f"{text}: {type(error).__name__}: {str(error)[:300]}")
    print(f"{spec}: {len(tried)} agents tried, {len(refused)} refused, {len(failed)} failed")
    print(*(f"    refused: {reason}" for reason in refused), *(f"    failed: {text}" for text in failed), sep="\n")
    assert tried and not failed
