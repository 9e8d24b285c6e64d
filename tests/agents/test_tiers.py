"""Kernels that serve all games decide as those compiled for one game do, to the last bit of what they tell."""

from dataclasses import fields

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.agent import Decision
from arena.games.core.game import CHANCE
from arena.games.core.jit import COMPILED
from arena.games.core.jit import kernels as every_kernel
from arena.games.core.random import random_below, stream
from arena.games.core.shared.specialized import ALWAYS, NEVER
from tests.agents.test_matrix import BUDGET, SMALL, TOGETHER, variants
from tests.modes import specializing
from tests.shipped import AGENTS, GAMES

pytestmark = pytest.mark.skipif(not COMPILED, reason="kernels run as plain Python")
UNTIMED = [field.name for field in fields(Decision) if field.name not in ("seconds", "improvements", "game", "state")]
TIMED = ("workers=2)", "workers=2, lanes=4)", "parallel='leaf')", f"{TOGETHER})")  # threads, which meet in no order


def plain(value):
    """Arrays as bytes, to compare the last bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def decided(game, agent, mode):
    """Two decisions, the second after random moves."""
    found, state, rng = [], game.initial(), stream(3)
    with specializing(mode):
        player = agent.player(game, BUDGET)
        while not game.is_over(state) and len(found) < 2:
            moves = game.moves(state)
            if game.player(state) != CHANCE:
                decision = player.choose(state.copy(), rng)
                found.append([plain(getattr(decision, name)) for name in UNTIMED])
            move = moves[int(random_below(rng, len(moves)))]
            state = game.after(state, move)
            player.played(move)
        player.close(None)
    return found


def compare(spec, texts):
    """How many agents decide alike; the agents that do not."""
    game, same, different = games.make(spec + SMALL.get(spec, "")), 0, []
    for text in texts:
        agent = agents.make(text)
        if not agent.refuses(game):
            if decided(game, agent, NEVER) == decided(game, agent, ALWAYS):
                same += 1
            else:
                different.append(text)
    return same, different


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "spec, text",
    [
        pytest.param("tictactoe", "uct", marks=SLOW),
        pytest.param("breakthrough", "alphabeta", marks=SLOW),
        pytest.param("connect4", "dfpn", marks=SLOW),
        pytest.param("leftmove", "nrpa", marks=SLOW),
        pytest.param("hex", "ppa", marks=SLOW),
    ],
)
def test_an_agent_of_each_family_decides_alike(spec, text):
    assert compare(spec, [text]) == (1, [])


@pytest.mark.slow(minutes=30)
@pytest.mark.parametrize("spec", GAMES)
def test_every_agent_decides_alike(spec):
    """Compiles every agent for every game, which takes hours for all games; each says how many it was."""
    texts = [text for name in AGENTS for text in variants(name) if not text.endswith(TIMED) and name != "external"]
    same, different = compare(spec, texts)
    print(f"{spec}: {same} agents decide alike")
    assert same and not different


@pytest.mark.parametrize(
    "spec, one, other",
    [
        ("tictactoe", "uct", "uct(exploration=1.0)"),
        ("tictactoe", "uct", "uct(max_nodes=5000)"),
        pytest.param("tictactoe", "ppa", "ppa(alpha=0.3, temperature=2.0, exploration=0.8)", marks=SLOW),
        ("tictactoe", "alphabeta", "alphabeta(table=0, sound=false, foresee=false, order=['own'], aspiration=0.1)"),
        pytest.param(
            "tictactoe", "dfpn", "dfpn(epsilon=0.5, by_evaluation=true, evaluate_from=3, table=1)", marks=SLOW
        ),
        pytest.param("leftmove", "nrpa", "nrpa(alpha=0.5, iterations=20, temperature=0.5, level=2)", marks=SLOW),
        pytest.param("tictactoe", "grave", "grave(ref=5, bias=0.1)", marks=SLOW),
        pytest.param("tictactoe", "mast", "mast(temperature=1.0)", marks=SLOW),
        pytest.param("tictactoe", "tree(workers=2)", "tree(workers=3, virtual_loss=3.0, lot=4)", marks=SLOW),
        pytest.param("tictactoe", "uct(methods='implicit')", "uct(methods='implicit(alpha=0.7)')", marks=SLOW),
    ],
)
def test_numbers_that_do_not_shape_a_kernel_are_read_when_it_runs(spec, one, other):
    game = games.make(spec)
    decided(game, agents.make(one), NEVER)
    before = {kernel: list(kernel.signatures) for kernel in every_kernel}
    decided(game, agents.make(other), NEVER)
    assert {kernel.py_func.__name__ for kernel in every_kernel if list(kernel.signatures) != before[kernel]} == set()
