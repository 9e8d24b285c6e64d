"""`python -m tests.agents.footprint AGENT GAME...` measures an agent in a process of its own: for each game that it
does not refuse, a line `MEBIBYTES MILLISECONDS GAME`.

The first is the most memory that a player takes for its decisions, beyond what the process had before; the second is by
how much a decision of 20 ms takes longer, the least of three, since other processes disturb.  Compilation counts for
neither.  Agents without a budget of seconds decide by a small one of another kind.
"""

import gc
import sys
import time

from arena import agents, games
from arena.games.core.game import CHANCE
from arena.games.core.random import stream

SECONDS = 0.02
SMALL = agents.Budget(playouts=1, nodes=50, depth=1)


def resident(name: str) -> float:
    """The process's memory in MiB: VmRSS now, VmHWM at most."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def forget_peak() -> None:
    """Let VmHWM begin again from now."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")


def footprint(agent, game) -> tuple[float, float]:
    """(MiB, milliseconds) of decisions in the first position that asks for one."""
    state = game.initial()
    while game.player(state) == CHANCE:
        state = game.after(state, game.moves(state)[0])
    budget = agents.Budget(seconds=SECONDS) if "seconds" in agent.budgets else SMALL
    decide(agent, game, state, SMALL)
    decide(agent, game, state, budget)  # which may call kernels that the other does not
    forget_peak()
    before, late = resident("VmRSS"), min(decide(agent, game, state, budget) for _ in range(3))
    return resident("VmHWM") - before, 1000 * max(0.0, late - SECONDS)


def decide(agent, game, state, budget) -> float:
    """The seconds of a new player's decision."""
    player = agent.player(game, budget)
    start = time.perf_counter()
    player.choose(state.copy(), stream(1))
    seconds = time.perf_counter() - start
    player.close(None)
    return seconds


if __name__ == "__main__":
    agent = agents.make(sys.argv[1])
    for game in map(games.make, sys.argv[2:]):
        if not agent.refuses(game):
            print(*(f"{number:.0f}" for number in footprint(agent, game)), game.name, flush=True)
