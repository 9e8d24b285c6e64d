"""A worker process: plays the games it is sent, one after the other, until it is told to stop.

A fork server that has preloaded this module and those of the run's games and agents (`arena.runner.staff`) starts
workers at once.
"""

import logging
import os
import socket

from arena.config.config import Config
from arena.config.sizes import in_bytes
from arena.runner import logs
from arena.runner.confinement import confine, limit_memory
from arena.runner.match import play_fixture, void_record
from arena.runner.messages import Failed, Play, Played, Probe, Probed, Ready, Warm, Warmed, WorkersEnd
from arena.runner.probe import fault_in_kernels
from arena.runner.rules import GameError
from arena.runner.warming import warm
from arena.runner.watch import Watch
from results.record import Reason

log = logging.getLogger("arena.runner.worker")


def main(end: socket.socket, confined: tuple, memory, resolved: dict) -> None:
    """Play every game that arrives and answer with its record, until there is no more.

    end: the worker's end of the connection; confined: what `confine` is given; memory: for its Watch; resolved:
    `Config.resolved()`.
    """
    confine(*confined)
    channel, watch = WorkersEnd(end), Watch(memory)
    config = _settle_in(channel, watch, resolved)
    if config is None:
        return
    process, warmed = os.getpid(), set[tuple[int, int]]()
    try:
        while isinstance(order := channel.receive(), Play | Probe):
            if isinstance(order, Probe):
                watch.begin(playing=True)
                channel.send(Probed(fault_in_kernels(config.conditions[order.condition].game) or ""))
                continue
            fixture = order.fixture
            # not when the worker starts, so that an agent that crashes here costs only its own games
            watch.begin(playing=False)
            for agent in sorted({*fixture.seats}):
                if (fixture.condition, agent) not in warmed:
                    _warm(config, config.conditions[fixture.condition], agent, watch)
                    warmed.add((fixture.condition, agent))
            watch.begin(playing=True)
            record = _play(config, fixture, watch)
            if os.getpid() != process:
                os._exit(1)  # an agent has forked, and this is the child
            _send(channel, config, fixture, record)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    except BaseException:
        log.exception("the worker ends")
        os._exit(1)


def warm_all(end: socket.socket, confined: tuple, memory, resolved: dict) -> None:
    """Compile, once for all workers, what each agent runs that arrives, and answer with Warmed."""
    confine(*confined)
    channel, watch = WorkersEnd(end), Watch(memory)
    config = _settle_in(channel, watch, resolved)
    if config is None:
        return
    try:
        while isinstance(order := channel.receive(), Warm):
            agent = order.agent
            seat, total, failure = config.conditions[0].seats[agent], 0.0, ""
            for game in config.instances:  # a run may be of many, and the limits are for each
                watch.begin(playing=False)
                with watch.of(agent, config.values["game_seconds"]):
                    seconds, failure = warm([game], seat, (BaseException,))
                total += seconds
                if failure:
                    break
            channel.send(Warmed(agent, total, failure))
    except EOFError:
        pass  # the parent is gone
    except BaseException:
        log.exception("the warming of kernels ends")
        os._exit(1)


def _settle_in(channel, watch, resolved) -> Config | None:
    """The configuration; None after sending why it cannot be made."""
    logs.send_by(channel)
    try:
        config = Config.restored(resolved)
        limit_memory(in_bytes(config.values["memory"]))
    except Exception as error:
        log.exception("the worker cannot start")
        channel.send(Failed(f"{type(error).__name__}: {error}"))
        return None
    watch.notice_compilations()
    channel.send(Ready())
    return config


def _warm(config, condition, agent, watch):
    """Load what an agent runs in a condition's game."""
    with watch.of(agent, config.values["game_seconds"]):
        warm([condition.game], condition.seats[agent], (BaseException,))


def _play(config, fixture, watch):
    """The game's record; a game whose rules fail is void, since they would fail again."""
    try:
        return play_fixture(config, fixture, watch)
    except GameError as error:
        log.exception("game %s: the rules failed", fixture.id)
        return void_record(config, fixture, Reason.RULES, f"the rules failed: {error}")


def _send(channel, config, fixture, record):
    """Send a record; one that holds what no message can, from the names of moves, say, is the game's fault."""
    try:
        channel.send(Played(record))
    except (TypeError, ValueError, OverflowError) as error:
        log.exception("game %s: its record cannot be sent", fixture.id)
        text = f"its record cannot be sent: {type(error).__name__}: {error}"
        channel.send(Played(void_record(config, fixture, Reason.RULES, text)))
