"""Games and agents that misbehave, for the tests: a plugin as a user's own module would be."""

import logging
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.agents.core.agent import Agent, Decision, Player
from arena.games.core.random import random_below, random_unit
from tests.heap import Heap

log = logging.getLogger("a.plugin")


@dataclass(frozen=True)
class Nim(Heap):
    """Sound rules."""

    name = "test_nim"


@dataclass(frozen=True)
class FaultyNim(Nim):
    """The same with rules that fail."""

    fault: str = "none"  # "raises" or "endless"
    name = "test_faulty_nim"

    def play(self, state, move):
        if self.fault == "raises" and state[0] <= 4:
            raise ZeroDivisionError("these rules are broken")
        if self.fault == "exits" and state[0] <= 4 and multiprocessing.parent_process() is not None:
            os._exit(0)
        if self.fault != "endless" or state[0] > 4:
            state[0] -= np.uint64(move)
        state[1] = 1 - state[1]


@dataclass(frozen=True)
class UnspeakableNim(Nim):
    """The same with a name of a move that UTF-8 cannot write."""

    name = "test_unspeakable_nim"

    def move_name(self, state, move):
        return f"\ud800{move}"


@dataclass(frozen=True)
class Puzzle(FaultyNim):
    """A game for one player."""

    name = "test_puzzle"
    players = 1

    def player(self, state):
        return 1 if self.fault == "two players" else 0


@dataclass(frozen=True)
class Odd(Agent):
    """Plays at random, slowly if told so, until it fails in the way `how`, at its decision number `at`."""

    how: str = "never"
    at: int = 1
    odds: float = 1.0  # with this probability, drawn from the game's own stream
    once: str = ""  # a file that is made at the first failure, and prevents others
    pause: float = 0.0  # seconds a decision
    name = "test_odd"

    def new_player(self, game, budget):
        return OddPlayer(self, game)


@dataclass(frozen=True)
class OddSoloist(Odd):
    """The same for one player."""

    name = "test_odd_solo"

    def refuses(self, game):
        return None


class OddPlayer(Player):
    def __init__(self, agent, game):
        self.agent, self.game, self.decisions = agent, game, 0
        if agent.how == "raises at once":
            raise RuntimeError("no player today")

    def decide(self, state, rng):
        self.decisions += 1
        time.sleep(self.agent.pause)
        moves = self.game.moves(state)
        move = moves[random_below(rng, len(moves))]
        due = self.agent.how != "never" and self.decisions == self.agent.at
        if due and random_unit(rng) < self.agent.odds and self._first_time():
            return self._fail(self.agent.how, move, state)
        return Decision(move, value=np.float32(0.25), playouts=np.int64(7))

    def played(self, move):
        if self.agent.how == "raises when told":
            raise RuntimeError("I do not want to know")

    def _first_time(self):
        if not self.agent.once:
            return True
        try:
            Path(self.agent.once).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _fail(self, how, move, state):
        in_worker = multiprocessing.parent_process() is not None
        if how == "exit" and in_worker:
            os._exit(3)
        if how == "kill" and in_worker:
            os.kill(os.getpid(), signal.SIGKILL)
        if how in STOPS and in_worker:
            STOPS[how]()
        if how == "deaf" and in_worker:
            os.closerange(3, 1 << 16)  # the worker's pipe has any number: a test process has many files open
        if how == "hang" and in_worker:
            time.sleep(3600)
        if how == "log":
            log.info("a record of the plugin, %s", "formatted")
        if how == "chatter":
            for _ in range(10):  # longer than what a pipe takes in one piece
                log.info("%s", "chatter " * 700)
        if how == "write":
            state[:] = 0
        if how == "recursion":
            return self._fail(how, move, state)
        if how in _ERRORS:
            raise _ERRORS[how]("on purpose")
        return _ANSWERS.get(how, Decision(move))


STOPS = {  # its own process
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "raise stop": lambda: signal.raise_signal(signal.SIGSTOP),
    "stop its group": lambda: os.killpg(0, signal.SIGSTOP),
}


class Untold(Exception):
    """Cannot say what is wrong."""

    def __str__(self):
        raise ValueError("no words")


class Bare(BaseException):
    """No Exception."""


_ERRORS = {"raise": ValueError, "memory": MemoryError, "sysexit": sys.exit, "untold": Untold, "bare": Bare}
_ANSWERS = {
    "none": None,
    "range": Decision(99),
    "negative": Decision(-1),
    "float": Decision(1.0),
    "bool": Decision(True),
    "text": Decision("1"),
    "value": Decision(1, value="high"),
    "fewer than no playouts": Decision(1, playouts=-5),
    "half a node": Decision(1, nodes=0.5),
    "a depth in words": Decision(1, depth="3"),
    "less than no time": Decision(1, virtual_time=-0.5),
    "a value of nine": Decision(1, value=9.0),
    "a value below a loss": Decision(1, value=np.float32(-1.001)),
}


@dataclass(frozen=True)
class Late(Agent):
    """Exceeds its budget of seconds by `by`."""

    by: float = 0.0
    seconds: float | None = None
    name = "test_late"
    budgets = ("seconds",)

    def new_player(self, game, budget):
        return LatePlayer(game, budget.seconds + self.by)


class LatePlayer(Player):
    def __init__(self, game, pause):
        self.game, self.pause = game, pause

    def decide(self, state, rng):
        time.sleep(self.pause)
        return Decision(self.game.moves(state)[0])


@dataclass(frozen=True)
class Sleeper(Agent):
    """Sleeps for `part` of its seconds and for `more`, and says what it had, in microseconds: as playouts
    its share, as nodes the opponent's clock."""

    part: float = 1.0
    more: float = 0.0
    seconds: float | None = None
    name = "test_sleeper"
    budgets = ("seconds",)

    def new_player(self, game, budget):
        return SleepingPlayer(self, game, budget)


class SleepingPlayer(Player):
    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget

    def decide(self, state, rng):
        time.sleep(self.agent.part * self.budget.seconds + self.agent.more)
        opponent = self.budget.clock and self.budget.clock.opponent
        return Decision(
            self.game.moves(state)[0],
            playouts=int(1e6 * self.budget.seconds),
            nodes=None if opponent is None else int(1e6 * opponent),
        )


@dataclass(frozen=True)
class Sayer(Agent):
    """Plays the first legal move; its values are `values`, one after the other, the last one again and again."""

    values: str = "0"
    name = "test_sayer"

    def new_player(self, game, budget):
        return SayingPlayer(game, [None if word == "-" else float(word) for word in self.values.split()])


class SayingPlayer(Player):
    def __init__(self, game, values):
        self.game, self.values = game, values

    def decide(self, state, rng):
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        return Decision(self.game.moves(state)[0], value=value)


@dataclass(frozen=True)
class Wide(Agent):
    """Notes in `folder` how many cores are taken while it decides, by all of its kind."""

    folder: str = "."
    cores: int = 1
    name = "test_wide"

    def new_player(self, game, budget):
        return WidePlayer(game, Path(self.folder), self.cores)


class WidePlayer(Player):
    def __init__(self, game, folder, cores):
        self.game, self.folder, self.cores = game, folder, cores

    def decide(self, state, rng):
        here = self.folder / f"{os.getpid()}.{self.cores}"
        here.touch()
        time.sleep(0.02 if self.cores == 1 else 0.002)  # long enough for two games to meet
        taken = "+".join(sorted(path.suffix[1:] for path in self.folder.iterdir()))
        here.unlink()
        log.info("cores taken: %s.", taken)
        return Decision(self.game.moves(state)[0])


@dataclass(frozen=True)
class Picky(Agent):
    """Refuses every game, and knows no budget but nodes."""

    name = "test_picky"
    budgets = ("nodes",)

    def refuses(self, game):
        return f"test_picky does not like {game}"
