"""Any program as an agent, spoken to by JSON lines, GTP, UCI or xboard's protocol over its standard streams."""

import atexit
import hashlib
import os
import shlex
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Agent, Budget, Decision, IllegalAnswer, OutOfTime, Player, Unsuited
from arena.agents.core.needs import Needs
from arena.agents.outside.process import TO_BE_FOUND, Bounds, EngineError, Silent, Surroundings, lacking
from arena.agents.outside.protocol import PROTOCOLS, Conversation, options_of, pairs_of, protocol_named
from arena.games.core.game import IllegalMove, check_choice
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import next_word
from arena.games.core.shared import system
from arena.games.core.shared.errors import listed

WHOLE = {"gtp": "GTP", "xboard": "xboard's protocol"}  # whose times have whole seconds


@dataclass(frozen=True)
class External(Agent):
    """A program that is started once in each worker, kept from game to game, and killed if it fails.

    command: starts the program; split into words as by a shell, but run without one
    protocol: the program's language
    options: "name=value; name=value", set as the protocol does
    cores: processor cores that it keeps busy while it thinks
    memory: the most that each of its processes may take, in MiB; 0 is no limit
    processes: the most that it may have at a time, including itself; 0 is no limit
    margin: seconds beyond a budget of seconds after which it is killed and loses on time
    patience: seconds allowed without a budget of seconds, and for getting ready
    log: a file to which its error stream is appended
    folder: its working folder, in which a command such as ./engine is looked for
    environment: "NAME=value; NAME=value", added to the variables that it gets
    """

    command: str = ""
    protocol: str = "json"
    options: str = ""
    cores: int = 1
    memory: int = 0
    margin: float = 1.0
    patience: float = 60.0
    log: str = ""
    processes: int = 0
    folder: str = ""
    environment: str = ""
    playouts: int | None = None
    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None

    name: ClassVar[str] = "external"
    budgets: ClassVar[tuple[str, ...]] = ("playouts", "nodes", "depth", "seconds")
    program_fields: ClassVar[tuple[str, ...]] = ("command",)
    needs: ClassVar[Needs] = Needs(players=(1, 2), kernels=False)
    ranges: ClassVar[dict] = {
        "cores": (1, 4096),
        "memory": (0, 1 << 24),
        "processes": (0, 1 << 22),
        "margin": (0,),
        "patience": (0.001, 86_400),
    }

    def __post_init__(self):
        super().__post_init__()
        check_choice("protocol", self.protocol, PROTOCOLS)
        options_of(self.options)
        pairs_of("environment", self.environment)
        try:
            shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"command = {self.command!r} cannot be split into words: {error}") from None
        self._check_budget(self.own_budget())

    def misfit(self, game):
        if not self.command:
            return "external needs a program: external(command='./engine')"
        return protocol_named(self.protocol).refuses(game)

    def budget(self, default=None):
        spoken, own = protocol_named(self.protocol), self.own_budget()
        offered = own.given() or (default or Budget()).given()
        kinds = {*spoken.kinds, "clock"}  # every protocol can express a clock
        usable = Budget(**{kind: amount for kind, amount in offered.items() if kind in kinds})
        if not usable.given() and spoken.needs_budget:
            kinds = ", ".join(spoken.kinds)
            raise Unsuited(f"external with protocol={self.protocol!r} needs a budget: {kinds}; for example nodes=1000")
        self._check_budget(usable)
        return usable

    def new_player(self, game, budget):
        return ExternalPlayer(self, game, budget)

    def identity(self):
        """The program's answer to a greeting, or its failure, which its games will show."""
        try:
            engine = Engines.take(self)
        except (EngineError, OSError) as error:
            return f"a program that fails: {error}"
        engine.close()
        return " ".join(engine.identity).strip() or "a program without a name"

    def outside(self):
        """`identity`, and digests of the files that its command names."""
        words = [Path(self.folder, word) for word in shlex.split(self.command)]
        sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in words if path.is_file()]
        return " ".join([self.identity(), *sums])

    def lacks(self):
        fault = lacking(self.command, self.surroundings)
        return fault and f"{fault}; {TO_BE_FOUND}"

    def warnings(self):
        unlimited = "memory: this system keeps no limit, so programs have none"
        left = "this system does not end a process that a program leaves behind, outside its process group"
        found = ((self.memory and not system.limits_memory(), unlimited), (not system.gathers_orphans(), left))
        return [text for holds, text in found if holds]

    @property
    def surroundings(self) -> Surroundings:
        """Where the program runs."""
        return Surroundings(self.folder, tuple(pairs_of("environment", self.environment).items()))

    def _check_budget(self, budget):
        kinds = protocol_named(self.protocol).kinds
        if wrong := [kind for kind in budget.given() if kind not in (*kinds, "clock")]:
            raise Unsuited(f"protocol={self.protocol!r} cannot express {wrong[0]}; it knows {', '.join(kinds)}")
        seconds = None if budget.clock else budget.seconds
        if self.protocol in WHOLE and seconds is not None and seconds != int(seconds):
            raise Unsuited(f"seconds = {budget.seconds:g}: {WHOLE[self.protocol]} knows whole seconds alone")


class ExternalPlayer(Player):
    """Sends every move to the program, and asks it for its own."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.position, self.begun = GameInProgress(game), False
        self.engine = Engines.take(agent)
        self._leave = weakref.finalize(self, Engines.give_back, agent, self.engine)
        self._leave.atexit = False

    def start(self, game, state, moves):
        self.position = GameInProgress(game, moves)
        self._begin()

    def played(self, move):
        self.position.push(move)
        if self.begun and not self.position.is_over:
            self.engine.ask("tell", self.position, self._soon())

    def close(self, result):
        if self.begun and not self.engine.process.closed:
            self.engine.ask("game_over", self.position, result, self._soon())
        self._leave()

    def decide(self, state, rng):
        if not np.array_equal(self.position.state, state):
            raise EngineError("cannot be asked: it does not know how the game came to this position")
        if not self.begun:
            self._begin()
        seed, limit = int(next_word(rng)) >> 32, self._limit()
        begun = time.monotonic()
        until = self._soon() if limit is None else begun + limit + self.agent.margin
        try:
            answer = self.engine.ask("choose", self.position, self.budget, seed, until)
        except Silent as error:
            if limit is None:
                raise
            allowed = f"{limit:g} s and a margin of {self.agent.margin:g} s"
            said = f"; it {error.said}" if error.said else ""
            waited = time.monotonic() - begun
            raise OutOfTime(f"had not answered after {waited:.3f} s; allowed: {allowed}{said}") from None
        return self._decision(answer)

    def _limit(self) -> float | None:
        """Seconds for the decision: with a clock, all that is left, which the program divides itself."""
        if clock := self.budget.clock:
            return max(0.0, clock.left)
        seconds = self.budget.seconds
        return None if seconds is None else max(seconds, self.engine.least_seconds)

    def _decision(self, answer) -> Decision:
        legal = self.position.legal
        if answer.move not in legal:
            self.engine.process.close()  # its board is not ours
            raise IllegalAnswer(f"answered the move {answer.move[:100]!r}; legal: {listed(legal)}")
        return Decision(
            legal[answer.move],
            value=answer.value,
            principal_variation=self._moves(answer.line if answer.line[:1] == (answer.move,) else (answer.move,)),
            playouts=answer.playouts,
            nodes=answer.nodes,
            depth=answer.depth,
        )

    def _begin(self):
        self.begun = True
        self.engine.ask("new_game", self.position, self.budget, self._soon())

    def _soon(self) -> float:
        return time.monotonic() + self.agent.patience

    def _moves(self, names) -> tuple[int, ...]:
        """The moves with these names, up to the first illegal one."""
        state, moves = self.position.state.copy(), list[int]()
        for name in names:
            try:
                moves.append(self.game.parse_move(state, name))
            except IllegalMove:
                break
            self.game.play(state, moves[-1])
        return tuple(moves)


class Engines:
    """This process's programs without a player; they end with it in any case."""

    free: ClassVar[dict[tuple, list[Conversation]]] = {}

    @classmethod
    def take(cls, agent: External) -> Conversation:
        """A free program, or a new one."""
        waiting = cls.free.get(cls._key(agent), [])
        if waiting:
            return waiting.pop()
        bounds, spoken = Bounds(agent.memory, agent.processes), (agent.command, agent.protocol, agent.options)
        return Conversation(*spoken, bounds, agent.log, agent.patience, agent.surroundings)

    @classmethod
    def give_back(cls, agent: External, engine: Conversation) -> None:
        """Make it available to another player, if it still runs."""
        if not engine.process.closed:
            cls.free.setdefault(cls._key(agent), []).append(engine)

    @classmethod
    def close(cls) -> None:
        """End the free ones of this process."""
        for key, waiting in cls.free.items():
            while waiting and key[0] == os.getpid():
                waiting.pop().close()

    @staticmethod
    def _key(agent: External) -> tuple:
        bounds = agent.memory, agent.processes, agent.log, agent.surroundings
        # a process forked from this one must not take this one's
        return os.getpid(), agent.command, agent.protocol, agent.options, *bounds


atexit.register(Engines.close)
