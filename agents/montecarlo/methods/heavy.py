"""Heavy playouts: moves of playouts are drawn by prior knowledge, not uniformly (S. Gelly, Y. Wang, R. Munos & O.
Teytaud, "Modification of UCT with patterns in Monte-Carlo Go", INRIA RR-6062, 2006; P. Drake & S. Uurtamo, "Move
ordering vs heavy playouts: where should heuristics be applied in Monte Carlo Go?", GameOn North America 2007).

    P(m) = exp(h(m) / t) / sum over the moves of exp(h / t)

h is that of PUCT (agents/montecarlo/methods/puct.py), in the position of the playout.  With the probability `epsilon` a
move is drawn uniformly instead.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.learned import Learned
from arena.agents.montecarlo.method import NONE
from arena.agents.montecarlo.priors import Guided, probabilities
from arena.games.core.random import random_unit


class Drawing(NamedTuple):
    """Room for the moves of a position."""

    moves: np.ndarray  # int32[max_moves]
    chances: np.ndarray  # float64[max_moves], their probabilities
    learned: Learned
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class Heavy(Guided):
    """temperature: t of the probabilities
    epsilon: the probability of a uniform draw
    prior: source of the probabilities: "order", "evaluation", or file:PATH of a learned policy
    """

    temperature: float = 0.5
    epsilon: float = 0.0
    prior: str = "order"

    name: ClassVar[str] = "heavy"
    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("draw the moves of playouts",)
    data_fields: ClassVar[tuple[str, ...]] = ("temperature", "epsilon")
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = ("moves", "chances", "state")
    priors: ClassVar[tuple[str, ...]] = ("order", "evaluation")
    ranges: ClassVar[dict] = {"temperature": (0.01,), "epsilon": (0, 1)}

    def new_memory(self, game, nodes):
        room = np.zeros(game.max_moves, np.int32), np.zeros(game.max_moves)
        return Drawing(*room, self.learned(game), np.zeros(game.state_size, game.dtype))

    def draws(self, game, search, walk, rng):
        if random_unit(rng) < search.options.epsilon:
            return NONE
        moves, chances = search.memory.moves, search.memory.chances
        count = game.legal_moves(walk.state, moves)
        for i in range(count):
            chances[i] = self.hint(game, search, walk.state, moves[i])
        probabilities(chances, 0, count, search.options.temperature, self.is_relative)
        left = random_unit(rng)
        for i in range(count - 1):
            left -= chances[i]
            if left < 0.0:
                return np.int64(moves[i])
        return np.int64(moves[count - 1])
