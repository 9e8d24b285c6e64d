"""Thousands of games side by side, for programs that learn by playing: one kernel steps them, on several cores."""

from collections.abc import Callable

import numpy as np

from arena.agents.core.threads import Threads
from arena.games.core.game import CHANCE, Game, IllegalMove, check_range
from arena.games.core.jit import kernel
from arena.games.core.play.playout import copy_state
from arena.games.core.random import random_below, stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import cores
from arena.interop.observations import check_observation, plane_shape

MOST = 1_000_000  # games
LEAST_SHARE = 256  # games of a thread


class NotVectors(UserError, ValueError):
    """A game whose rules kernels cannot call."""


class VectorEnvironment:
    """Games that are played at the same time; one that ends begins anew in the same step.

        environment = arena.VectorEnvironment(arena.games.make("connect4"), 4096, seed=1)
        while learning:
            results, ended = environment.step(policy(environment.planes(), environment.masks))

    states: dtype[count, state_size]; players: int8[count], who is to move, 0 or 1
    masks: bool[count, move_limit], the legal moves; moves, moves_of: int32[count, max_moves], int32[count]: the same as
        lists, and their lengths
    The arrays are the environment's own: they change with each step, and must not be written.
    threads: by default one for each core that the process may use, as far as there are games enough for them
    """

    def __init__(self, game: Game, count: int, *, seed: int, threads: int | None = None):
        check_range("count", count, 1, MOST)
        if not game.compiles:
            raise NotVectors(f"{game} has rules in plain Python, which no kernel can call")
        self.game, self.count = game, count
        most = max(1, min(cores(), count // LEAST_SHARE)) if threads is None else threads
        check_range("threads", most, 1)
        self._threads, parts = Threads(most), np.linspace(0, count, most + 1).astype(int)
        self._shares = list(zip(parts[:-1].tolist(), parts[1:].tolist()))
        self._rngs = np.array([stream(seed, "vector", i) for i in range(count)])
        self._start = game.initial()
        self.states = np.empty((count, game.state_size), game.dtype)
        self.players = np.zeros(count, np.int8)
        self.masks = np.zeros((count, game.move_limit), np.bool_)
        self.moves, self.moves_of = np.zeros((count, game.max_moves), np.int32), np.zeros(count, np.int32)
        self.reset()

    def reset(self) -> None:
        """Begin all games anew; chance goes on with its random numbers."""
        self._run(lambda begin, end: reset_kernel(self.game, self._start, *self._arrays(), begin, end))

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Make a move in each game, actions: int[count], and let chance move.

        Returns (results, ended): float64[count], the first player's result, 1, 0 or -1, or the score in a game for one
        player, of games that ended in this step, else 0; and bool[count].  IllegalMove if a move is not legal; then no
        move is made.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.count,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions: {actions.dtype}{actions.shape} should be whole numbers of shape ({self.count},)"
            )
        actions = actions.astype(np.int32)
        within = (actions >= 0) & (actions < self.game.move_limit)
        legal = within & self.masks[np.arange(self.count), np.where(within, actions, 0)]
        if not legal.all():
            place = int(np.flatnonzero(~legal)[0])
            known = self.moves[place, : self.moves_of[place]].tolist()
            raise IllegalMove(f"actions[{place}] = {actions[place]} is not legal; legal: {known}")
        results, ended = np.zeros(self.count), np.zeros(self.count, np.bool_)
        self._run(
            lambda begin, end: step_kernel(self.game, self._start, *self._arrays(), actions, results, ended, begin, end)
        )
        return results if self.game.players == 1 else np.sign(results), ended

    def random_actions(self) -> np.ndarray:
        """int32[count]: a random legal move in each game."""
        actions = np.empty(self.count, np.int32)
        self._run(
            lambda begin, end: random_kernel(self.game, self.moves, self.moves_of, self._rngs, actions, begin, end)
        )
        return actions

    def planes(self) -> np.ndarray:
        """int8[count, planes, rows, columns]: the boards as the players to move see them.

        See `arena.interop.observations.planes_of`; NoObservation if the game has no planes.
        """
        check_observation(self.game, "planes")
        found = np.zeros((self.count, *plane_shape(self.game)), np.int8)
        grid = np.ascontiguousarray(self.game.grid)
        self._run(lambda begin, end: planes_kernel(self.game, self.states, self.players, grid, found, begin, end))
        return found

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.states, self.players, self.masks, self.moves, self.moves_of, self._rngs

    def _run(self, work: Callable[[int, int], object]) -> None:
        self._threads.run(lambda i: work(*self._shares[i]))


@kernel(tables=False)
def reset_kernel(game, start, states, players, masks, moves, moves_of, rngs, begin, end):
    """Begin the games from `begin` to `end`."""
    for i in range(begin, end):
        copy_state(game, start, states[i])
        settle_kernel(game, states, players, masks, moves, moves_of, rngs, i)


@kernel(tables=False)
def step_kernel(game, start, states, players, masks, moves, moves_of, rngs, actions, results, ended, begin, end):
    """Make the moves of the games from `begin` to `end`."""
    for i in range(begin, end):
        game.play(states[i], actions[i])
        while not game.is_over(states[i]) and game.player(states[i]) == CHANCE:
            game.play(states[i], game.random_outcome(states[i], rngs[i]))
        if game.is_over(states[i]):
            results[i], ended[i] = game.score(states[i]), True
            copy_state(game, start, states[i])
        settle_kernel(game, states, players, masks, moves, moves_of, rngs, i)


@kernel(tables=False)
def settle_kernel(game, states, players, masks, moves, moves_of, rngs, i):
    """Let chance move in a game that begins, and list the legal moves."""
    state, known = states[i], moves[i]
    for k in range(moves_of[i]):
        masks[i, known[k]] = False
    while game.player(state) == CHANCE:
        game.play(state, game.random_outcome(state, rngs[i]))
    players[i], moves_of[i] = game.player(state), game.legal_moves(state, known)
    for k in range(moves_of[i]):
        masks[i, known[k]] = True


@kernel(tables=False)
def random_kernel(game, moves, moves_of, rngs, actions, begin, end):
    """Draw a legal move in each of the games from `begin` to `end`."""
    for i in range(begin, end):
        actions[i] = moves[i, random_below(rngs[i], moves_of[i])]


@kernel(tables=False)
def planes_kernel(game, states, players, grid, found, begin, end):
    """Write the planes of the games from `begin` to `end`, as the players to move see them."""
    for i in range(begin, end):
        words, side = game.planes(states[i]), players[i]
        for plane in range(len(words)):
            place = 1 - plane if side == 1 and plane < 2 else plane
            for row in range(grid.shape[0]):
                for column in range(grid.shape[1]):
                    if grid[row, column] >= 0:
                        bit = np.uint64(words[plane]) >> np.uint64(grid[row, column]) & np.uint64(1)
                        found[i, place, row, column] = np.int8(bit)
        found[i, len(words)] = np.int8(1 - side)
