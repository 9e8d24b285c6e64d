"""A worker process: plays the games it is sent, one after the other, until it is told to stop.

Importing this module imports every game and every agent, so that a fork server that has preloaded it
(`multiprocessing.set_forkserver_preload(["arena.runner.worker"])`) starts workers at once.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import connection as pipes

import agents
import games
from arena.config.config import Config
from arena.runner import logs
from arena.runner.match import play_fixture, void_record
from arena.runner.rules import GameError
from arena.runner.warming import warm
from results.record import Reason

log = logging.getLogger("arena.runner.worker")

games.names()
agents.names()

READY = "ready"  # the first message of a worker that can play; one that cannot sends a Failed
ALIVE = "alive"  # a warmer has done with one more game
BEGUN = "begun"  # the kernels of a game's agents are loaded: from here on its time counts


class Failed(str):
    """Why a worker could not start."""


def main(pipe, log_queue, resolved: dict) -> None:
    """Play every Fixture that arrives on `pipe` and answer with BEGUN and its GameRecord; None ends the process.

    pipe: the worker's end of a duplex pipe; log_queue: where log records go; resolved: `Config.resolved()`.
    """
    config = _settle_in(pipe, log_queue, resolved)
    if config is None:
        return
    warmed: set[tuple[int, int]] = set()
    try:
        while (fixture := pipe.recv()) is not None:
            condition = config.conditions[fixture.condition]
            seats = {(fixture.condition, i) for i in fixture.seats}
            # not when the worker starts, so that an agent that crashes here costs only its own games
            warm([condition.game], [condition.seats[i] for _, i in sorted(seats - warmed)])
            warmed |= seats
            pipe.send(BEGUN)
            pipe.send(_play(config, fixture))
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone
    except BaseException:
        log.exception("the worker ends")
        os._exit(1)


def warm_all(pipe, log_queue, resolved: dict, seats: list[int]) -> None:
    """Compile, once for all workers, what the agents of these numbers run.

    (number,) and then (number, seconds, failure) are sent for each; in between a sign of life after each game, since a
    run may be of many.
    """
    config = _settle_in(pipe, log_queue, resolved)
    try:
        for i in seats if config else ():
            pipe.send((i,))
            warm(
                _counted_out(config.instances, pipe),
                [config.conditions[0].seats[i]],
                after=lambda _, *result, i=i: pipe.send((i, *result)),
            )
    except BaseException:
        log.exception("the warming of kernels ends")
        os._exit(1)


def _counted_out(games, pipe):
    """The games, one after the other; the pipe is told when the next one is asked for."""
    for game in games:
        yield game
        pipe.send(ALIVE)


def _settle_in(pipe, log_queue, resolved):
    """Set up the process; returns the configuration, or None after sending why it cannot be made."""
    _leave_signals_to_the_parent()
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    logs.send_to(log_queue)
    sys.stdout = sys.stderr  # what an agent prints must not mix with the tables of the parent
    try:
        config = Config.restored(resolved)
    except Exception as error:
        log.exception("the worker cannot start")
        pipe.send(Failed(f"{type(error).__name__}: {error}"))
        return None
    pipe.send(READY)
    return config


def _play(config, fixture):
    """The game's record; a game whose rules fail is void, since they would fail again."""
    try:
        return play_fixture(config, fixture)
    except GameError as error:
        log.exception("game %s: the rules failed", fixture.id)
        return void_record(config, fixture, Reason.CRASH, f"the rules failed: {error}")


def _leave_signals_to_the_parent():
    """Ctrl-C reaches the whole process group; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _die_with_the_parent():
    """Wait for the parent's death, then end this process whatever it is doing."""
    pipes.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)
