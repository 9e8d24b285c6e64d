"""Last good reply: playouts answer a move with the reply that last won against it (P. Drake, "The last-good-reply
policy for Monte-Carlo Go", ICGA Journal 32, 2009; H. Baier & P. Drake, "The power of forgetting: improving the
last-good-reply policy in Monte Carlo Go", IEEE TCIAIG 2, 2010).

After a simulation each move of the winner becomes the reply to the previous move and to the previous two; the loser's
replies are forgotten.  A playout makes the reply to the last two moves if there is a legal one, else the one to the
last move, else a random move: LGRF-2, and with `two = false` LGRF-1.  With `forgetting = false`, LGR-1 and LGR-2, only
later replies replace a reply.  Moves with the same code are the same.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.montecarlo.averages import START, Averages, Averaging, joined, new_averages
from arena.agents.montecarlo.method import NONE
from arena.games.core.jit import helper

SIZE = 1 << 16  # of the table, where a reply may replace that to other moves


class Replies(NamedTuple):
    """The reply to each move and to each two moves, and the line of the simulation."""

    keys: np.ndarray  # uint64[SIZE]
    codes: np.ndarray  # int64[SIZE]
    line: Averages  # only its line is used
    moves: np.ndarray  # int32[max_moves]


@dataclass(frozen=True)
class Reply(Averaging):
    """two: whether there are replies to two moves
    forgetting: whether replies that lose are forgotten
    """

    two: bool = True
    forgetting: bool = True

    name: ClassVar[str] = "reply"
    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("draw the moves of playouts",)
    private: ClassVar[tuple[str, ...]] = ("line", "moves")

    def new_memory(self, game, nodes):
        replies = np.zeros(SIZE, np.uint64), np.zeros(SIZE, np.int64)
        return Replies(*replies, new_averages(game, 1), np.zeros(game.max_moves, np.int32))

    def averages(self, memory):
        return memory.line

    def learn(self, game, search, walk, result):
        memory, line = search.memory, search.memory.line
        if result == 0.0:
            return
        winner = 0 if result > 0.0 else 1
        for ply in range(1, line.length[0]):
            for before in range(1, min(ply, 2 if self.two else 1) + 1):
                key, code = key_before(line, ply, before), line.codes[ply]
                place = key % np.uint64(SIZE)
                if line.players[ply] == winner:
                    memory.keys[place], memory.codes[place] = key, code
                elif self.forgetting and memory.keys[place] == key and memory.codes[place] == code:
                    memory.keys[place] = 0

    def draws(self, game, search, walk, rng):
        memory, line = search.memory, search.memory.line
        count = game.legal_moves(walk.state, memory.moves)
        for before in range(min(line.length[0], 2 if self.two else 1), 0, -1):
            key = key_before(line, line.length[0], before)
            place = key % np.uint64(SIZE)
            if memory.keys[place] == key:
                for i in range(count):
                    if game.move_code(walk.state, memory.moves[i]) == memory.codes[place]:
                        return np.int64(memory.moves[i])
        return np.int64(NONE)


@helper
def key_before(line, ply, moves):
    """The key of the last `moves` moves before a ply."""
    key = START
    for i in range(ply - 1, ply - 1 - moves, -1):
        key = joined(key, line.codes[i])
    return key
