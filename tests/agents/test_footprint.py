"""What a worker needs for its agents: memory, and time beyond a budget."""

import os
import subprocess
import sys

import pytest

from arena import agents, games
from arena.agents.core.agent import closing
from arena.games.core.interface.rules import Rules
from arena.games.core.random import stream
from tests.agents.footprint import SMALL
from tests.shipped import AGENTS, GAMES

MEBIBYTES = 250  # of a player; the interpreter and compiled code take as much again
VARIANTS = [f"uct(methods='{name}')" for name in ("mast", "ppa", "nst", "history", "reply")]


def measured(agent: str, *names: str, **environment: str) -> list[tuple[int, int, str]]:
    """(MiB, milliseconds, game) of an agent in a process of its own."""
    command = [sys.executable, "-m", "tests.agents.footprint", agent, *names]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [(int(size), int(late), name) for size, late, name in map(str.split, done.stdout.splitlines())]


@pytest.mark.parametrize("agent", [pytest.param("mast", marks=pytest.mark.slow), "ppa(features=true)"])
def test_a_policy_takes_memory_for_the_codes_met_and_not_for_the_longest_game(agent):
    """As plain Python, whose arrays are the same: backgammon's games have up to 10,000 plies of up to 5,220 moves."""
    ((size, _, _),) = measured(agent, "backgammon", NUMBA_DISABLE_JIT="1")
    assert size < MEBIBYTES


@pytest.mark.slow(minutes=10)
@pytest.mark.parametrize("agent", [name for name in AGENTS if name != "external"] + VARIANTS)
def test_every_agent_takes_little_memory(agent):
    """pytest -m slow -n 1 -rP shows the largest of each agent, and how late it was, which other processes disturb."""
    rows = measured(agent, *GAMES)
    size, late = max(rows), max(rows, key=lambda row: row[1])
    print(f"{agent}: {size[0]} MiB in {size[2]}, {late[1]} ms late in {late[2]}, of {len(rows)} games")
    assert size[0] < MEBIBYTES


PROCESSES = ("distributed", "jlpns", "ppn2", "spdfpn")  # which start some


@pytest.mark.plain
@pytest.mark.parametrize("agent", [name for name in AGENTS if name not in ("external", "random", *PROCESSES)])
def test_no_decision_lists_moves_in_plain_python(agent):
    """In Amazons that takes 15 ms, outside the budget."""
    agent, listed = agents.make(agent), []
    game = next(game for game in map(games.make, ("tictactoe", "leftmove")) if not agent.refuses(game))
    with closing(agent.player(game, SMALL)) as player:
        sys.setprofile(lambda frame, *_: listed.append(frame.f_code) if frame.f_code is Rules.moves.__code__ else None)
        try:
            player.choose(game.initial(), stream(1))
        finally:
            sys.setprofile(None)
    assert listed == []
