"""A distributed agent, for the tests of the arena, that kills a process of its own search once."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from arena.agents.montecarlo.parallel.distributed import Distributed, DistributedPlayer


@dataclass(frozen=True)
class Killer(Distributed):
    """Kills at its fifth move of some game (when its kernels are warmed, it makes three); a file `mark` tells that it
    was done."""

    mark: str = ""

    name = "test_killer"

    def new_player(self, game, budget):
        return KillerPlayer(self, game, budget)


class KillerPlayer(DistributedPlayer):
    """See Killer."""

    moves = 0

    def decide(self, state, rng):
        self.moves += 1
        if self.moves == 5:
            try:
                Path(self.agent.mark).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(self.pool.team[0].process.pid, signal.SIGKILL)
        return super().decide(state, rng)
