"""Compiles agents' kernels for a game before play, so that no move pays for it."""

import logging
import time
from collections.abc import Callable, Iterable

from arena.agents.core.agent import Agent, Budget, closing
from arena.config.config import Seat
from arena.games.core.game import CHANCE, Game
from arena.games.core.jit import Walk
from arena.games.core.random import stream
from arena.play.referee import FAULTS, HostEnded, in_words

log = logging.getLogger("arena.warming")

_SMALLEST = {"playouts": 1, "nodes": 1, "depth": 1, "seconds": 0.001}
PLIES = 3  # so that agents also reuse a tree from their last move


def warm(
    games: Iterable[Game],
    seat: Seat,
    faults: tuple[type[BaseException], ...] = FAULTS,
    before: Callable[[], object] = lambda: None,
) -> tuple[float, str]:
    """Compile, or load, a seat's kernels: it plays all sides' first moves with the smallest of its budgets.

    `before` is called ahead of each decision, and of making a player.  Returns the seconds, and the agent's exception
    in words, or "": one among `faults` is logged, as games will show it.
    An agent that kills its process kills this one, or raises HostEnded if that is its own.
    """
    start, failure = time.perf_counter(), ""
    try:
        for game in games:
            for budget in _budgets(seat):
                play_first_moves(game, seat, budget, before)
    except HostEnded:
        raise
    except faults as error:
        failure = in_words(error)
        log.exception("%s failed while its kernels were being compiled", seat.name)
    return time.perf_counter() - start, failure


def weight(kind: type[Agent]) -> int:
    """A rough measure of compile time: the functions that a class of agents reaches."""
    return len(Walk().through(kind).seen)


def _budgets(seat) -> list[Budget]:
    """The smallest budget of a seat's kinds.

    A seat without a budget (its search ends by itself, or budgets come with moves) gets one of each kind: kinds may run
    different kernels.
    """
    given = {kind: _SMALLEST[kind] for kind in seat.budget.given() if kind != "clock"}  # a clock comes with seconds
    if given or not seat.agent.budgets:
        return [Budget.of(given)]
    return [Budget.of({kind: _SMALLEST[kind]}) for kind in seat.agent.budgets]


def play_first_moves(game, seat, budget, before) -> None:
    """All sides' first moves; see `warm`."""
    state, rng = game.initial(), stream(0, "warm")
    before()
    with closing(seat.agent.new_player(game, budget)) as player:
        player.start(game, state.copy(), [])
        for _ in range(PLIES):
            while not game.is_over(state) and game.player(state) == CHANCE:
                state = _after(game, state, int(game.random_outcome(state, rng)), player)
            if not game.is_over(state):
                before()
                state = _after(game, state, int(player.choose(state.copy(), rng).move), player)


def _after(game, state, move, player):
    state = game.after(state, move)
    player.played(move)
    return state
