"""Hosts, as a worker sees them: processes in which agents of somebody else play, each in one of its own.

What an agent does to its process is its own loss: nobody else is in it.  Its answers are read as data, and judged as
those of any agent.
"""

import itertools
import logging
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import forkserver
from time import monotonic
from typing import Any

import msgspec
import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, Improvement, Player
from arena.config.config import Config
from arena.config.keys import HOSTS
from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.games.core.shared.plugins import source_of
from arena.games.core.shared.system import is_stopped
from arena.play.referee import REASONS, HostEnded, HostFault, Judged
from arena.play.watch import Watch
from arena.results.database.candidates import MOST, Best
from arena.results.database.record import Reason
from arena.workers import hosted
from arena.workers.child import PRINTED, Child
from arena.workers.hosting_messages import (
    READY,
    BestScore,
    Choose,
    Chosen,
    Close,
    Compiling,
    Did,
    NewPlayer,
    Order,
    ProbeRules,
    Raised,
    Stale,
    Start,
    Took,
    answers,
)
from arena.workers.logs import LONGEST_RECORD
from arena.workers.machine import classes_of, classes_of_made, sources_of
from arena.workers.messages import Hosting, Junk, Logged
from arena.workers.worker import STOP, STOPPED_SECONDS

log = logging.getLogger("arena.workers.hosting")

LOOK = 0.1  # seconds between looks at the clocks of a host
LOADING_SECONDS = 300.0  # for a host to begin
PROBE_SECONDS = 60.0  # for the kernels of a game without an agent
KINDS = {kind.__name__: kind for kind in REASONS}


class Hosts:
    """The hosts of a worker: one for each agent that is not of this package; the one used least recently ends first.

    tell: called with what the supervisor should know, as a message
    """

    def __init__(self, config: Config, watch: Watch, tell: Callable[[msgspec.Struct], None]):
        self.most = config.values.get("hosts", HOSTS)
        self._config, self._watch, self._tell = config, watch, tell
        self._hosts: dict[int, Host] = {}  # by agent, the one used last at the end
        self._needed: frozenset[int] = frozenset()
        self._sources: dict[int, str] = {}
        self._players = itertools.count(1)
        self._warming = False  # whether calls compile kernels

    def config(self) -> Config:
        """The configuration with agents whose players are in hosts."""
        if not self.most:
            return self._config
        agents = [
            (name, agent if _is_ours(agent) else Hosted(agent, number, self))
            for number, (name, agent) in enumerate(self._config.agents)
        ]
        return Config(self._config.instances, tuple(agents), self._config.values)  # type: ignore[arg-type]

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """A context in which calls compile kernels, before play: of a slow one the log has which line runs."""
        self._warming = True
        try:
            yield
        finally:
            self._warming = False

    def begin(self, agents: frozenset[int]) -> None:
        """A game of these agents begins: others' hosts may have to end."""
        self._needed = agents
        self._trim(0)

    def close(self) -> None:
        """End all."""
        for agent in list(self._hosts):
            self.end(agent)

    def end(self, agent: int) -> None:
        """End the host of an agent, if any, with all the processes of its group."""
        if host := self._hosts.pop(agent, None):
            host.kill()
            self._tell(Hosting(-host.pid))

    def player(self, agent: int, game: Game, budget: Budget) -> "HostedPlayer":
        """A player of an agent; HostFault if it cannot be made."""
        number = next(self._players)
        host = self._host(agent)
        gone, host.gone = host.gone, []
        done = host.ask(NewPlayer(host.next(), number, str(game), budget.given(), self._warming, gone), Did)
        return HostedPlayer(host, number, done.hears)

    def fault_of_rules(self, agent: int, game: Game, state: np.ndarray) -> str:
        """What is wrong with the kernels of a user's game, run in a process without a player; or ""."""
        self.end(agent)
        if type(game).__module__.startswith("arena."):
            return ""
        try:
            with self._watch.loading():
                host = self._host(agent)
                try:
                    return host.ask(ProbeRules(host.next(), str(game), state.tobytes()), Did, PROBE_SECONDS).fault
                except HostFault as fault:
                    return f"its kernels, run without an agent: {fault.text}"
        except HostEnded:
            return ""  # it could not begin, which is not the rules' doing
        finally:
            self.end(agent)

    def _host(self, agent: int) -> "Host":
        if (host := self._hosts.pop(agent, None)) is not None and host.ended:
            host.kill()
            self._tell(Hosting(-host.pid))
            host = None
        if host is None:
            self._trim(1)
            with self._watch.loading():
                alone = self._alone(agent)
                host = Host(alone, self._sources[agent], self._watch, self._tell)
                self._hosts[agent] = host
                self._tell(Hosting(host.pid))
                host.begin()
        self._hosts[agent] = host
        return host

    def _alone(self, agent: int) -> Config:
        """The configuration of one agent."""
        values = {**self._config.values, "agents": [self._config.values["agents"][agent]]}
        alone = Config(self._config.instances, (self._config.agents[agent],), values)
        if agent not in self._sources:
            self._sources[agent] = sources_of(alone, values=False)
        return alone

    def _trim(self, more: int) -> None:
        for agent in [agent for agent in self._hosts if agent not in self._needed]:
            if len(self._hosts) + more > max(self.most, len(self._needed)):
                self.end(agent)


def crowd(config: Config) -> str:
    """That more agents want a host than a worker keeps, and what to do about it; or ""."""
    number, most = sum(not _is_ours(agent) for _, agent in config.agents), config.values.get("hosts", HOSTS)
    if not most or number <= most:
        return ""
    waits = f"{number} agents of plug-ins take turns in {most} processes of each worker, and games wait for their start"
    return f"{waits}; hosts = {number} needs more memory and is faster"


def _own_plugins(config: Config) -> list[str]:
    """The plug-ins that the classes of a configuration are of."""
    modules = [cls.__module__ for cls in classes_of(config)]
    named = [(plugin, source_of(plugin).module) for plugin in config.values["plugins"]]
    return [plugin for plugin, name in named if any(f"{module}.".startswith(f"{name}.") for module in modules)]


def _is_ours(agent: Agent) -> bool:
    """Whether an agent, with all that its text names, is of this package; a program has its own process already."""
    return all(cls.__module__.startswith("arena.") for cls in classes_of_made([agent]))


class Hosted:
    """An agent whose players are in a host."""

    def __init__(self, agent: Agent, number: int, hosts: Hosts):
        self._agent, self._number, self._hosts = agent, number, hosts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def __str__(self) -> str:
        return str(self._agent)

    def player(self, game: Game, budget: Budget | None = None) -> "HostedPlayer":
        """A player for one game, as of `Agent.player`."""
        return self._hosts.player(self._number, game, budget or Budget())

    new_player = player

    def fault_of_rules(self, game: Game, state: np.ndarray | None) -> str:
        """What is wrong with a game's kernels, run in a process without the agent; or ""."""
        return self._hosts.fault_of_rules(self._number, game, game.initial() if state is None else state)


class HostedPlayer(Player):
    """A player in a host, told of what it hears; its methods raise HostFault for what happens there."""

    def __init__(self, host: "Host", number: int, hears: list[str]):
        self._host, self._number, self._hears = host, number, hears
        self._allotted: dict[str, Any] | None = None
        if "played" in hears:
            self.played = self._took  # type: ignore[method-assign]

    def start(self, game, state, moves):
        if "start" in self._hears:
            self._host.ask(Start(self._host.next(), self._number, state.tobytes(), [int(move) for move in moves]), Did)

    def _took(self, move):
        self._host.ask(Took(self._host.next(), self._number, int(move)), Did)

    def allot(self, budget):
        self._allotted = budget.given()

    def choose(self, state: np.ndarray, rng: np.ndarray | int) -> Decision:
        """The decision, with all that a record keeps of it."""
        host, rng = self._host, rng if isinstance(rng, np.ndarray) else stream(rng)
        host.note_best = self.note_best
        asked = Choose(host.next(), self._number, state.tobytes(), int(rng[0]), self._allotted)
        chosen = host.ask(asked, Chosen)
        rng[0] = chosen.random
        best = None if chosen.candidates is None else Best(*chosen.candidates)
        fault = None if chosen.fault is None else _fault(chosen.fault)
        if best and not (len(best.moves) == len(best.visits) == len(best.values) <= MOST and best.total >= 0):
            fault = HostFault(Reason.EXCEPTION, f"its statistics are {best!r:.200}")
        return Decision(
            move=Shown(chosen.shown) if chosen.move is None else chosen.move,  # type: ignore[arg-type]
            statistics=Judged(best, fault),  # type: ignore[arg-type]
            improvements=tuple(Improvement(*one) for one in chosen.improvements),
            **chosen.numbers,  # type: ignore[arg-type]
        )

    def close(self, result):
        self._host.gone.append(self._number)
        if "close" in self._hears and not self._host.ended:
            self._host.ask(Close(self._host.next(), self._number, result), Did)


class Shown:
    """A move that is none, as its agent's process has shown it."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


class Host(Child):
    """A process of an agent."""

    def __init__(self, config: Config, sources: str, watch: Watch, tell: Callable[[msgspec.Struct], None]):
        self._watch, self._tell, self._compile_seconds = watch, tell, config.values["compile_seconds"]
        ((self.name, _),) = config.agents
        self.note_best: Callable[[float], None] = lambda score: None
        self.ended = False
        self.gone: list[int] = []  # players that are no longer needed
        more = config.resolved(), _own_plugins(config), sources
        with _same_server():
            super().__init__(f"host of {self.name}", hosted.main, more, answers, self._print)
        self._numbers = itertools.count(1)
        self._prints, self._poll = self.printed.fileno(), select.poll()
        for descriptor in (self.end.fileno(), self.process.sentinel, self._prints):
            self._poll.register(descriptor, select.POLLIN)
        self._asked, self._compiling = READY, 0.0
        self._call = Call(0.0)

    def begin(self) -> None:
        """Wait until it can be asked: that is not the agent's time."""
        self._call = Call(LOADING_SECONDS)
        try:
            with self._watch.left_to_host():
                self._answer(Did)
        except HostEnded as fault:
            fault.again = True
            raise
        except Junk as junk:
            raise self._over(Reason.DIED, f"its process sent {junk}", again=True) from None

    def next(self) -> int:
        """The number of the next order."""
        self._asked = next(self._numbers)
        return self._asked

    def ask(self, order: Order, kind: type, seconds: float | None = None) -> Any:
        """The answer, within these seconds or the limit of the call that goes on.

        HostFault if it raises, HostEnded if it must end.
        """
        if self.ended:
            raise HostEnded(Reason.DIED, "its process has ended")
        try:
            with self._watch.left_to_host() as limit:
                self._call = Call(seconds or limit)
                self.end.send(order)  # type: ignore[arg-type]
                answer = self._answer(kind)
        except Junk as junk:
            raise self._over(Reason.DIED, f"its process sent {junk}") from None
        except OSError:
            raise self._died() from None
        finally:
            self._note_compiling(False)
        if isinstance(answer, Raised):
            raise _fault(answer)
        return answer

    def _answer(self, kind: type) -> Any:
        answer = None
        while answer is None:
            if ready := [descriptor for descriptor, _ in self._poll.poll(LOOK * 1000)]:
                messages, open_ = self.end.receive()
                if self._prints in ready:
                    self.printed.read()
                    if self.printed.closed:
                        self._poll.unregister(self._prints)
                for message in messages:
                    if answer is None and isinstance(message, kind | Raised) and message.number == self._asked:  # type: ignore[union-attr]
                        answer = message
                    else:
                        self._take(message)
                if answer is None and (not open_ or (not messages and self.dead())):
                    raise self._died()
            if answer is None:
                self._look()
        return answer

    def _take(self, message) -> None:
        """Take what nobody has asked for."""
        if isinstance(message, Logged):
            self._tell(Logged(message.level, message.name, f"{self.name}: {message.text}"[:LONGEST_RECORD]))
        elif isinstance(message, Compiling):
            self._note_compiling(message.begins)
        elif isinstance(message, BestScore):
            self.note_best(message.score)
        elif isinstance(message, Stale) and self._asked == READY:  # no worker can start that has the new code
            log.error("the host of %s has other code than this worker, which ends", self.name)
            self.kill()
            self._watch.end_process()
        else:
            raise Junk(f"{message!r:.200} out of turn")

    def _print(self, text: str) -> None:
        self._tell(Logged(logging.INFO, PRINTED, f"{self.name}: {text}"))

    def _note_compiling(self, begins: bool) -> None:
        """Let the worker's clocks say that this process compiles."""
        if self._compiling:
            seconds = monotonic() - self._compiling
            self._call.compiled += seconds
            self._watch.note_compiling(0.0, seconds)
        self._compiling = monotonic() if begins else 0.0
        if begins:
            self._watch.note_compiling(self._compiling, 0.0)

    def _look(self) -> None:
        """Keep the limits of the call."""
        call, now = self._call, monotonic()
        passed = now - call.looked
        if passed < LOOK:
            return
        call.looked = now
        if passed > LOOK + STOP:  # this process was stopped, the host perhaps too
            call.paused += passed
        elif is_stopped(self.pid):
            call.paused += passed
            call.stopped += passed
            if call.stopped > STOPPED_SECONDS:
                raise self._over(Reason.TIME, f"its process was stopped for {call.stopped:.0f} s")
        compiling = call.compiled + (now - self._compiling if self._compiling else 0.0)
        if compiling - call.paused > self._compile_seconds:
            late = f"its kernels were not compiled after compile_seconds = {self._compile_seconds:g}"
            raise self._over(Reason.TIME, late)
        if now - call.begun - call.paused - compiling > call.limit:
            raise self._over(Reason.TIME, f"was not over after {call.limit:g} s")

    def _died(self) -> HostEnded:
        if not self.ends_within(1.0):
            return self._over(Reason.DIED, "its process closed its connection")
        failure = self.death()
        return self._over(Reason.DIED, failure.fate.replace("the worker", "its process"), again=failure.outside)

    def _over(self, reason: str, text: str, again: bool = False) -> HostEnded:
        """End the process; what to raise."""
        self.kill()
        return HostEnded(reason, text, again)

    def kill(self) -> None:
        """Kill the process and its group, which has all that it has started."""
        self.ended = True
        super().kill()
        self.close()


@dataclass
class Call:
    """What is known of a call of a host, in seconds."""

    limit: float
    begun: float = field(default_factory=monotonic)
    looked: float = field(default_factory=monotonic)
    compiled: float = 0.0
    stopped: float = 0.0
    paused: float = 0.0  # in which the host, or this process, was stopped


def _fault(raised: Raised) -> BaseException:
    if kind := KINDS.get(raised.kind):
        return kind(raised.text)
    return HostFault(Reason.EXCEPTION, raised.text, raised.suspect)


@contextmanager
def _same_server() -> Iterator[None]:
    """A context in which a worker starts processes by the fork server that has started it, and not by one of its own.

    Python's own does not know in such a process that it runs.
    """
    server = forkserver._forkserver
    known = getattr(server, "_forkserver_address", None) and getattr(server, "_forkserver_alive_fd", None)
    if not known or getattr(server, "_forkserver_pid", None) is not None or sys.version_info >= (3, 14):
        yield
        return
    server.ensure_running = lambda: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        del server.ensure_running
