"""A worker process: plays the games and compiles the kernels it is asked for, one after the other, until dismissed.

A fork server that has loaded this module and the run's games and agents (`arena.workers.starting`) starts it at once.
"""

import logging
import os
import socket
from multiprocessing.heap import Arena
from time import monotonic

from arena.config.config import Config
from arena.config.keys import HOSTS
from arena.config.sizes import in_bytes
from arena.formats.fixture import Fixture
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import limit_memory
from arena.play.game_calls import GameError
from arena.play.match import Openings, forfeit_record, play_fixture, void_record
from arena.play.probe import fault_in_kernels
from arena.play.referee import GRACE, HostEnded, storable
from arena.play.warming import warm
from arena.play.watch import Watch
from arena.results.database.record import GameRecord, Reason
from arena.workers import logs
from arena.workers.batches import NEWS_SECONDS
from arena.workers.confinement import confine
from arena.workers.hosted import slow_calls
from arena.workers.hosting import Hosted, Hosts
from arena.workers.machine import sources_of
from arena.workers.messages import (
    Failed,
    Harmed,
    Leave,
    Order,
    Play,
    Played,
    Probe,
    Probed,
    Ready,
    Serve,
    Warm,
    Warmed,
    WorkersEnd,
)

TRIES_KILLED = 8  # times that a game is played if an agent's process seems to be killed from outside
TRIES_LATE = 3  # the same, if it does not begin in time

log = logging.getLogger("arena.workers.worker_main")

LOADING_SECONDS = 10.0  # at least, for an agent's first decision in a process

CHANGED = (
    "the code of games or agents is not what the run began with: a file has been edited since, or a class was changed "
    "in memory before; run it again, with --changed to go on with the new code"
)


def main(end: socket.socket, confined: tuple, memory: Arena, resolved: dict, sources: str) -> None:
    """Carry out and answer every order that arrives, until there is no more.

    end: of the connection; confined: its output and what it inherits, for `confine`; memory: for its Watch; resolved:
    the configuration; sources: what `sources_of` it is where the run began, without values
    """
    output, descriptors = confined
    confine(output, descriptors, starts=resolved.get("hosts", HOSTS) > 0)
    channel, watch = WorkersEnd(end), Watch(memory)
    logs.send_by(channel)
    watch.notice_compilations()
    order: Order = Serve(resolved, sources)
    handler: OrderHandler | None = None
    try:
        while not isinstance(order, Leave):
            if isinstance(order, Serve):
                if (settled := _settle_in(channel, watch, order)) is None:
                    return
                if handler is not None:
                    handler.hosts.close()
                handler = OrderHandler(settled, channel, watch)
            elif handler is not None:
                handler.do(order)
            order = channel.receive()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
    except BaseException:
        log.exception("the worker ends")
        os._exit(1)
    finally:
        if handler is not None:
            handler.hosts.close()


def _warmed(config, watch, agent) -> Warmed:
    """Compile an agent's kernels for all games, once for all workers."""
    seat, total, failure, harm = config.conditions[0].seats[agent], 0.0, "", None
    for game in config.instances:  # one by one, since the limits are for each
        watch.begin(playing=False)
        try:
            seconds, failure = _first_moves(config, watch, game, seat, agent)
        except HostEnded as fault:
            seconds, failure, harm = 0.0, f"none: {fault}", None if fault.again else (fault.reason, str(fault))
        total += seconds
        if failure:
            break
    return Warmed(agent, total, failure, harm, watch.has_compiled)


def _first_moves(config, watch, game, seat, agent) -> tuple[float, str]:
    """`warm`; each decision has a move's time besides compiling; of a slow one the log has which line runs."""
    limit = _first_limit(config.values, seat.budget)
    is_here = not isinstance(seat.agent, Hosted)
    with slow_calls(watch, is_here) as wait, watch.of(agent, limit):

        def before():
            watch.enter(agent, limit)
            wait()

        return warm([game], seat, (BaseException,), before)


def _first_limit(values, budget) -> float:
    """Seconds that a first decision may take besides compiling: as a move of a game, but it loads kernels, too."""
    own = values["move_seconds"] if budget.seconds is None else budget.seconds + values["time_margin"] + GRACE
    return min(values["game_seconds"], max(LOADING_SECONDS, own))


def _settle_in(channel, watch, order: Serve) -> Config | None:
    """The run's configuration; None, after sending the reason, if it cannot be made."""
    try:
        config = Config.restored(order.resolved)
        if sources_of(config, values=False) != order.sources:  # tables may have filled where the run began
            raise UserError(CHANGED)
        limit_memory(in_bytes(config.values["memory"]))
    except Exception as error:
        log.exception("the worker cannot start")
        channel.send(Failed(str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"))
        return None
    channel.send(Ready())
    return config


class OrderHandler:
    """Plays the games of a worker's orders, one after the other."""

    def __init__(self, config: Config, channel: WorkersEnd, watch: Watch):
        self._channel, self._watch = channel, watch
        self.hosts = Hosts(config, watch, channel.send)
        self._config = self.hosts.config()
        self._openings, self._process = Openings(config), os.getpid()
        self._warmed = set[tuple[int, int]]()  # conditions and agents

    def do(self, order: Play | Probe | Warm) -> None:
        """Carry out an order, and send what comes of it."""
        if isinstance(order, Play):
            self.play(order)
        elif isinstance(order, Warm):
            with self.hosts.compiling():
                self._channel.send(_warmed(self._config, self._watch, order.agent))
        else:
            self._watch.begin(playing=True)
            game = self._config.conditions[order.condition].game
            self._channel.send(Probed(fault_in_kernels(game) or ""))

    def play(self, order: Play) -> None:
        """Send the records: the first always, the others while there is time."""
        begun = sent = monotonic()
        records: list[tuple[Fixture, GameRecord]] = []
        for number, fixture in enumerate(order.fixtures):
            now = monotonic()
            if number and (now > begun + order.seconds or self._watch.halted()):
                break
            if now > sent + NEWS_SECONDS:
                self._send(records, over=False)
                records, sent = [], now
            self._watch.take(number)
            records.append((fixture, self._play(fixture)))
        self._send(records, over=True)

    def _play(self, fixture) -> GameRecord:
        tries = 0
        while True:
            tries += 1
            self._watch.forgives = tries < TRIES_KILLED
            self.hosts.begin(frozenset(fixture.seats))
            try:
                record = self._played(fixture)
                break
            except HostEnded as fault:
                tries = max(tries, TRIES_KILLED - TRIES_LATE + 1) if fault.reason == Reason.TIME else tries
                log.warning("game %s is played again: %s", fixture.id, fault)
        if os.getpid() != self._process:
            os._exit(1)  # an agent has forked, and this is the child
        return record

    def _played(self, fixture) -> GameRecord:
        """HostEnded if the game is to be played again."""
        try:
            # an agent that crashes here costs only its own games
            self._watch.begin(playing=False)
            for agent in sorted({*fixture.seats}):
                if (fixture.condition, agent) not in self._warmed:
                    try:
                        self._warm(self._config.conditions[fixture.condition], agent)
                    except HostEnded as fault:
                        return self._harmed(fixture, agent, fault)
                    self._warmed.add((fixture.condition, agent))
            self._watch.begin(playing=True)
            return play_fixture(self._config, fixture, self._watch, self._openings)
        except GameError as error:
            log.exception("game %s: the rules failed", fixture.id)
            return void_record(self._config, fixture, Reason.RULES, f"the rules failed: {error}")

    def _harmed(self, fixture, agent: int, fault: HostEnded) -> GameRecord:
        """Of a game whose agent has ended its process before play: a loss, unless the rules did it."""
        if fault.again and self._watch.forgives:
            raise fault
        condition = self._config.conditions[fixture.condition]
        if text := condition.seats[agent].agent.fault_of_rules(condition.game, None):
            raise GameError(f"{condition.game}: {storable(text)}")
        self._channel.send(Harmed(agent))
        text = f"{condition.seats[agent].name}, before play: {fault}"
        log.error("game %s: %s", fixture.id, text)
        return forfeit_record(self._config, fixture, agent, fault.reason, text)

    def _warm(self, condition, agent):
        with self.hosts.compiling():
            _first_moves(self._config, self._watch, condition.game, condition.seats[agent], agent)

    def _send(self, played, over):
        """Send the records; if names of moves, say, cannot be encoded, the game is at fault."""
        try:
            self._channel.send(Played([record for _, record in played], over))
        except (TypeError, ValueError, OverflowError) as error:
            if played[1:]:
                for one in played[:-1]:
                    self._send([one], over=False)
                return self._send(played[-1:], over)
            fixture = played[0][0]
            log.exception("game %s: its record cannot be sent", fixture.id)
            text = f"its record cannot be sent: {type(error).__name__}: {error}"
            self._channel.send(Played([void_record(self._config, fixture, Reason.RULES, text)], over))
        return None
