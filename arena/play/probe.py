"""Decides whether an exception in an agent's kernel is the game's fault, by running the game's own kernels.

An agent's kernels contain the game's methods, so one that Numba cannot compile, or that raises when compiled, looks
like a failure of its caller.
"""

import inspect
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numba.core.errors import NumbaError

from arena.games.core.game import CHANCE, Game
from arena.games.core.jit import kernel
from arena.games.core.play.playout import playout_kernel
from arena.games.core.random import random_below, stream

LINES = 100  # random games, with a look at every answer, for SECONDS at most; also playouts, if the game has its own
SECONDS = 1.0
SPARE = 64  # moves above max_moves that do no harm

SUSPECT = (NumbaError, ArithmeticError, IndexError)  # compiled code may raise these without naming a file


def game_fault(game: Game, state: np.ndarray | None, error: BaseException, trusted: bool = False) -> str | None:
    """The fault of the game behind an agent's exception; None if there is none.

    state: the position in which it failed, None for the initial one
    trusted: an agent that makes no illegal move, so that exceptions from the game's module are the game's fault
    """
    if trusted and any(_comes_from(game, one) for one in _chain(error)):
        return f"its rules raised {type(error).__name__}: {error}"
    return fault_in_kernels(game, state) if is_of_rules(game, error) else None


def is_of_rules(game: Game, error: BaseException) -> bool:
    """Whether an exception may come from the game's rules."""
    return any(_comes_from(game, one) or _is_suspect(one) for one in _chain(error))


def fault_in_kernels(game: Game, state: np.ndarray | None = None) -> str | None:
    """The failure of the game's own kernels, from `state` or the initial position; None if they run."""
    try:
        return _try_kernels(game, game.initial() if state is None else state.copy())
    except Exception as fault:
        return f"its kernels fail: {type(fault).__name__}: {fault}"


def _is_suspect(error) -> bool:
    """Compiled code may raise it for a method, such as one that returns None at times."""
    return isinstance(error, SUSPECT) or (isinstance(error, TypeError) and str(error).endswith(", got None"))


def _comes_from(game, error) -> bool:
    """Whether a method of the game was running, compiled ones included, which Numba names too."""
    own = [base for base in type(game).__mro__ if base.__module__ in sys.modules and not _is_shared(base)]
    places = {(_ending(inspect.getsourcefile(base) or ""), name) for base in own for name in vars(base)}
    return any(place in places for place in _places(error))


def _ending(file: str) -> tuple[str, ...]:
    """A file's folder and name: kept code names the file that it was made from, which may lie in another checkout."""
    return Path(file).parts[-2:]


def _is_shared(base):
    return base.__module__ == "builtins" or base.__module__.startswith("arena.games.core.")


def _chain(error) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    while error is not None and len(seen) < 20:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return iter(seen)


def _places(error) -> Iterator[tuple[tuple[str, ...], str]]:
    """(end of the file's path, function) of every frame that the exception passed."""
    trace = error.__traceback__
    while trace is not None:
        yield _ending(trace.tb_frame.f_code.co_filename), trace.tb_frame.f_code.co_name
        trace = trace.tb_next


def _try_kernels(game, root) -> str | None:
    rng, until = stream(0, "probe"), float("inf")
    for line in range(LINES):
        plies, count, _ = line_kernel(game, root, rng)
        if plies > game.max_plies:
            return f"a random game of its kernels is not over after its max_plies = {game.max_plies}"
        if not 1 <= count <= game.max_moves:
            return f"its kernels list {count} legal moves; its max_moves is {game.max_moves}"
        if line == 0:
            until = time.monotonic() + SECONDS  # from here on, as the first line may wait for the compiler
        if time.monotonic() > until:
            break
    if type(game).random_playout is not Game.random_playout:
        playout_kernel(game, root, LINES, rng)
    return None


@kernel
def line_kernel(game, root, rng):
    """Play one random game, with all calls that searches make.

    Returns its plies, at most max_plies + 1; the last number of legal moves, which ends the game if out of bounds; and
    a sum that keeps the compiler from leaving calls out.
    """
    state, moves = root.copy(), np.empty(game.max_moves + SPARE, np.int32)
    plies, count, total = 0, 1, 0.0
    while plies <= game.max_plies and not game.is_over(state):
        plies += 1
        player = game.player(state)
        if player == CHANCE:
            game.play(state, game.random_outcome(state, rng))
            continue
        count = game.legal_moves(state, moves)
        if count < 1 or count > game.max_moves:
            return plies, count, total
        move = moves[random_below(rng, count)]
        total += game.evaluate(state) + game.move_order(state, move) + game.is_unstable(state, move)
        total += float(game.key(state) & 1) + game.move_code(state, move)
        game.play(state, move)
    if plies <= game.max_plies:
        total += game.score(state)
    return plies, count, total
