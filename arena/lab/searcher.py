"""A process that searches for one panel of a page: its own code, run by `searches.Search`.

Orders and answers are tuples of plain values over a pipe.  Orders: first (agent, game), then ("go",
moves, seed, endless), ("tree", moves, iterations), ("solve", moves), ("stop",).
Answers: ("ready", seconds), ("thought", Found), ("decided", Found),
("tree", Drawn), ("solved", Solved), ("best", score), ("error", text).
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from arena import agents, games
from arena.agents.core.agent import Budget, Decision
from arena.agents.core.pool import die_with_the_parent
from arena.agents.outside.server import Server
from arena.agents.outside.thinking import Reporter, Thinking
from arena.config.config import Seat
from arena.games.core.shared.errors import UserError
from arena.play.duel import usual_budget
from arena.play.warming import warm

EVERY, CHUNK = 0.2, 0.05  # seconds between thoughts, and between looks at whether to stop
NICE = 5  # so that pages are answered though searches keep every core busy
MOST = 12  # candidates that are sent


class Candidate(NamedTuple):
    """A move that a search has looked at."""

    move: str
    playouts: int
    value: float  # -1 to 1, for the first player; NaN if unknown


class Found(NamedTuple):
    """What a search has found so far, or at its end."""

    move: str
    value: float | None  # for the first player
    line: tuple[str, ...]  # the moves that it expects
    candidates: tuple[Candidate, ...]
    depth: int | None
    nodes: int | None
    playouts: int | None
    seconds: float
    position: tuple[str, ...]  # the moves that led to where it searched
    players: int = 2


def for_first(value: Any, side: int) -> Any:
    """A value for a side as one for the first player, as all pages have it; and the other way round."""
    return value if value is None or side != 1 else -value


def whose(players: int) -> str:
    """The heading of a value: whose it is stands beside it."""
    return "value for the first player" if players == 2 else "value"


class Solved(NamedTuple):
    """The exact value of a position, as far as it was found."""

    value: int | None  # 1 win, 0 draw, -1 loss, for the player to move
    best: tuple[str, ...]  # the moves that keep it
    nodes: int
    seconds: float
    unsolved: str  # why not
    position: tuple[str, ...]


class Drawn(NamedTuple):
    """The tree that an agent has searched."""

    agent: str
    root: Any  # a tree_node.Node
    remark: str
    position: tuple[str, ...]  # the moves that led to its root


class Searcher(Server):
    """One agent on one game, which thinks in a thread and tells of it."""

    def __init__(self, agent, game, pipe: Connection):
        super().__init__(agent, game, 0)
        self.pipe, self.thinking, self.sending = pipe, Thinking(CHUNK), threading.Lock()
        self.limit = Budget(**usual_budget(agent))  # type: ignore[arg-type]  # counts are whole

    def new_player(self):
        """A player that tells of the best score it has found, in a game for one player."""
        player = super().new_player()
        if self.game.players == 1:
            player.note_best = lambda score: self.send("best", float(score))  # type: ignore[method-assign]
        return player

    def send(self, *answer: Any) -> None:
        with self.sending:
            self.pipe.send(answer)

    def obey(self, order: tuple) -> None:
        """Carry out an order, at once or in the thread; the last search has ended before."""
        kind, *rest = order
        self.thinking.stop()
        self.thinking.join()
        if kind == "go":
            names, seed, endless = rest
            start = time.perf_counter()
            told = Reporter(
                lambda: self.player, lambda one, seconds: self.send("thought", self.found(one, seconds)), EVERY
            )
            self.thinking.start(lambda: self._reported(self._search, names, seed, start), endless, told.look)
        elif kind == "solve":
            self.thinking.start(lambda: self._reported(self._solve, *rest), False, lambda: None)
        elif kind == "tree":
            self.thinking.start(lambda: self._reported(self._tree, *rest), False, lambda: None)

    def _reported(self, work: Callable[..., None], *arguments: Any) -> None:
        """Do a piece of work; what is wrong with it, or with a user's code, becomes its one answer."""
        try:
            work(*arguments)
        except UserError as error:
            self.send("error", str(error))
        except Exception as error:
            logging.exception("%s on %s", self.agent, self.game)
            self.send("error", f"{type(error).__name__}: {error}")

    def _search(self, names: list[str], seed: int, start: float) -> None:
        self.follow(names)
        self.send("decided", self.found(self.decide(seed), time.perf_counter() - start))

    def _solve(self, names: list[str]) -> None:
        from arena.agents.core.solve import solve, solver_of

        state, solver = self.game.read_line(" ".join(names))[1], solver_of(self.agent, self.game)
        solve(self.agent.new_solver(self.game, Budget(nodes=1)), state, moves="none")  # to compile is no search
        found = solve(solver, state)
        best = tuple(self.game.move_name(state, move) for move in found.best)
        self.send("solved", Solved(found.value, best, found.nodes, found.seconds, found.unsolved, tuple(names)))

    def _tree(self, names: list[str], iterations: int | None) -> None:
        from arena.agents.pictures import View, show

        state = self.game.read_line(" ".join(names))[1]
        shown = show(self.agent, self.game, state, View(iterations))
        self.send("tree", Drawn(str(self.agent), shown.root, shown.remark, tuple(names)))

    def found(self, decision: Decision, seconds: float) -> Found:
        """A decision as plain values, its candidates from the most visited on."""
        known, candidates = decision.statistics, list[Candidate]()
        side = int(self.game.player(self.position.state)) if self.game.players == 2 else 0
        if known is not None:
            for i in np.argsort(-known.playouts, kind="stable")[:MOST]:
                name = self.name_of(self.position.state, int(known.moves[i]))
                candidates.append(Candidate(name, int(known.playouts[i]), for_first(float(known.means[i]), side)))
        value = None if decision.value is None else for_first(float(decision.value), side)
        line = tuple(self.names_of(decision.principal_variation or (decision.move,)))
        depth, nodes, playouts = (
            None if number is None else int(number) for number in (decision.depth, decision.nodes, decision.playouts)
        )
        where, move = tuple(self.position.names), line[0] if line else ""
        return Found(move, value, line, tuple(candidates), depth, nodes, playouts, seconds, where, self.game.players)


def main(pipe: Connection, memory: int) -> None:
    """Serve orders until the pipe is closed, or the parent is gone: the first names the agent and the game."""
    from arena.games.core.shared.plugins import import_named
    from arena.games.core.shared.system import limit_memory

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=die_with_the_parent, daemon=True).start()
    try:
        agent, game = pipe.recv()
    except (EOFError, ConnectionResetError):
        return
    limit_memory(memory)
    os.nice(NICE)
    try:
        import_named()
        searcher = Searcher(agents.make(agent), games.make(game), pipe)
        budget = searcher.agent.budget(searcher.limit)
        seconds, failure = warm([searcher.game], Seat(agent, searcher.agent, budget))
        if failure:
            raise UserError(failure)
    except Exception as error:  # of a user's code, too
        logging.exception("%s on %s", agent, game)
        pipe.send(("error", str(error)))
        return
    searcher.send("ready", seconds)
    try:
        while True:
            order = pipe.recv()
            if order == ("stop",):
                searcher.thinking.stop()
            else:
                searcher.obey(order)
    except (EOFError, ConnectionResetError):
        searcher.close()
