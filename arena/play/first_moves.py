"""Compiles what agents run on a game before play, so that no move pays for it."""

import logging
import time
from collections.abc import Iterable

from agents.core.agent import Agent, Budget, closing
from arena.config.config import Seat
from arena.play.referee import FAULTS, in_words
from games.core.game import CHANCE, Game
from games.core.jit import import_closure
from games.core.random import stream

log = logging.getLogger("arena.warming")

_SMALLEST = {"playouts": 1, "nodes": 1, "depth": 1, "seconds": 0.001}
PLIES = 3  # of play, so that what an agent does with a tree from its last move runs too


def warm(games: Iterable[Game], seat: Seat, faults: tuple[type[BaseException], ...] = FAULTS) -> tuple[float, str]:
    """Compile, or load, all that a seat runs: it plays all sides' first moves with the smallest of its budgets.

    Returns the seconds that it took, and the exception that the agent raised, in words, or "".  One that raises is
    logged and passed over: its games will show it.  An agent that kills its process kills this one.  `faults` are the
    exceptions that count as the agent's.
    """
    start, failure = time.perf_counter(), ""
    try:
        for game in games:
            for budget in _budgets(seat):
                _play_first_moves(game, seat, budget)
    except faults as error:
        failure = in_words(error)
        log.exception("%s failed while its kernels were being compiled", seat.name)
    return time.perf_counter() - start, failure


def weight(agent: Agent) -> int:
    """How long an agent's kernels take to compile, roughly: the bytes of the sources that they may be made of.

    On a game, seconds of compiling follow it closely enough to tell what to begin with (correlation 0.8).
    """
    return sum(path.stat().st_size for path in import_closure(type(agent).__module__))


def _budgets(seat) -> list[Budget]:
    """The smallest budget of the kinds that a seat has.

    Where it has none, since its search ends by itself or since its budget comes with each move, there is one of each
    kind: with another kind, a search may run other kernels.
    """
    given = {kind: _SMALLEST[kind] for kind in seat.budget.given() if kind != "clock"}  # which comes with seconds
    if given or not seat.agent.budgets:
        return [Budget.of(given)]
    return [Budget.of({kind: _SMALLEST[kind]}) for kind in seat.agent.budgets]


def _play_first_moves(game, seat, budget):
    """One player moves for all sides."""
    state, rng = game.initial(), stream(0, "warm")
    with closing(seat.agent.new_player(game, budget)) as player:
        player.start(game, state.copy(), [])
        for _ in range(PLIES):
            while not game.is_over(state) and game.player(state) == CHANCE:
                state = _after(game, state, int(game.random_outcome(state, rng)), player)
            if not game.is_over(state):
                state = _after(game, state, int(player.choose(state.copy(), rng).move), player)


def _after(game, state, move, player):
    """The position after a move, of which the player is told."""
    state = game.after(state, move)
    player.played(move)
    return state
