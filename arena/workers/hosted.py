"""A host: a process in which one agent plays, that is not of this package, as a worker asks it to."""

import faulthandler
import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Budget, Decision, Player
from arena.config.config import Config, make_games
from arena.config.sizes import in_bytes
from arena.games.core.game import Game
from arena.games.core.random import WORD, Stream
from arena.games.core.shared.system import limit_memory
from arena.play import watch as watching
from arena.play.probe import fault_in_kernels, is_of_rules
from arena.play.referee import REASONS, in_words, text_of
from arena.play.watch import Watch
from arena.results.database import candidates
from arena.results.database.record import numbers_of
from arena.workers import logs
from arena.workers.confinement import confine
from arena.workers.hosting_messages import (
    HEARD,
    READY,
    BestScore,
    Choose,
    Chosen,
    Close,
    Compiling,
    Did,
    NewPlayer,
    ProbeRules,
    Raised,
    Stale,
    Start,
    Took,
    orders,
)
from arena.workers.machine import sources_of
from arena.workers.messages import SLOW_SECONDS, WorkersEnd

log = logging.getLogger("arena.workers.hosted")


def main(end: socket.socket, confined: tuple, resolved: dict, own: list[str], sources: str) -> None:
    """Carry out and answer every order that arrives, until there is no more.

    end: of the connection; confined: its output and what it inherits, for `confine`; resolved: a configuration of this
    agent alone; own: the plug-ins that its classes are of; sources: what `sources_of` it is in the worker, without
    values
    """
    confine(*confined)
    channel, watch = WorkersEnd(end, orders), Watch()
    logs.send_by(channel)
    watch.on_compiling = lambda begins: channel.send(Compiling(begins))
    watch.notice_compilations()
    limit_memory(in_bytes(resolved["memory"]))
    config, process = _restored(resolved, own, sources), os.getpid()
    if config is None:
        return channel.send(Stale())
    players = AgentPlayers(config, watch, lambda score: channel.send(BestScore(score)))
    channel.send(Did(READY))
    try:
        while True:
            order = channel.receive()
            answer = players.answer(order)
            if os.getpid() != process:
                os._exit(1)  # the agent has forked, and this is the child
            channel.send(answer)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the worker is gone
    except BaseException:
        log.exception("the host ends")  # an alarm of the agent's, say, that rang while it waited
        os._exit(watching.EXIT)


def _restored(resolved: dict, own: list[str], sources: str) -> Config | None:
    """The configuration, with its own plug-ins if these are enough, since thirty take long; None if its code is not
    that of the worker."""
    with suppress(Exception):  # where a plug-in needs others that it does not import
        config = Config.restored({**resolved, "plugins": own})
        if sources_of(config, values=False) == sources:
            return config
    config = Config.restored(resolved)
    return config if sources_of(config, values=False) == sources else None


class GamePlayer(NamedTuple):
    """A player, its game, and whether it is made to compile kernels."""

    player: Player
    game: Game
    dtype: np.dtype  # of its positions
    warming: bool


class AgentPlayers:
    """The players of an agent."""

    def __init__(self, config: Config, watch: Watch, note_best: Callable[[float], None]):
        self._watch, self._note_best, self._agent = watch, note_best, config.agents[0][1]
        self._games = {str(game): game for game in config.instances}  # and those from other positions
        self._players: dict[int, GamePlayer] = {}

    def answer(self, order):
        """Do what is asked; what the agent raises is the answer."""
        game = self._game(order.game) if isinstance(order, NewPlayer | ProbeRules) else self._players[order.player].game
        try:
            return self._do(order, game)
        except BaseException as error:
            return _raised(order.number, error, game)

    def _game(self, text: str) -> Game:
        if text not in self._games:
            self._games[text] = make_games([text])[0]
        return self._games[text]

    def _do(self, order, game):
        if isinstance(order, ProbeRules):
            state = np.frombuffer(order.state, game.initial().dtype).copy()
            return Did(order.number, fault=fault_in_kernels(game, state) or "")
        if isinstance(order, NewPlayer):
            with slow_calls(self._watch, order.warming):
                return self._new_player(order, game)
        player, _, dtype, warming = self._players[order.player]
        with slow_calls(self._watch, warming):
            if isinstance(order, Choose):
                return self._choose(player, game, order, np.frombuffer(order.state, dtype).copy())
            if isinstance(order, Took):
                player.played(order.move)
            elif isinstance(order, Start):
                player.start(game, np.frombuffer(order.state, dtype).copy(), order.moves)
            elif isinstance(order, Close):
                player.close(order.result)
            return Did(order.number)

    def _new_player(self, order, game) -> Did:
        for number in order.gone:
            del self._players[number]
        player = self._agent.player(game, Budget(**order.budget))
        if game.players == 1:
            player.note_best = self._note_best  # type: ignore
        self._players[order.player] = GamePlayer(player, game, game.initial().dtype, order.warming)
        own = [name for name in HEARD if getattr(getattr(player, name), "__func__", None) is not getattr(Player, name)]
        return Did(order.number, hears=own)

    def _choose(self, player, game, order, state) -> Chosen:
        if order.allotted is not None:
            player.allot(Budget(**order.allotted))
        rng = np.array([order.random], WORD).view(Stream)
        decision = player.choose(state, rng)
        if not isinstance(decision, Decision):
            raise TypeError(f"choose returned {decision!r}, which is no Decision")
        move, fault = decision.move, None
        best: candidates.Best | None = None
        numbers: dict = {}
        improvements: list[tuple[int, float, float]] = []
        is_move = isinstance(move, int | np.integer) and not isinstance(move, bool) and -(2**63) <= move < 2**63
        try:
            if decision.statistics is not None:
                best = candidates.best(decision.statistics, decision.move)
            numbers = numbers_of(decision)
            improvements = [(int(one.playouts), float(one.seconds), float(one.score)) for one in decision.improvements]
        except BaseException as error:
            fault = _raised(order.number, error, game)
        known = int(move) if is_move else None
        shown = "" if is_move else repr(move)[:200]
        found = None if best is None else (best.total, best.moves, best.visits, best.values)
        return Chosen(order.number, known, shown, int(rng[0]), numbers, found, improvements, fault)


@contextmanager
def slow_calls(watch: Watch, told: bool = True) -> Iterator[Callable[[], None]]:
    """A context in which a call that takes SLOW_SECONDS, besides compiling, prints where it is; and what to call before
    the next one."""
    if not told:
        yield lambda: None
        return

    told_before = watch.on_compiling

    def wait(compiling: bool | None = None):
        if compiling:
            faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(SLOW_SECONDS, file=2)
        if compiling is not None and told_before:
            told_before(compiling)

    watch.on_compiling = wait
    wait()
    try:
        yield wait
    finally:
        watch.on_compiling = told_before
        faulthandler.cancel_dump_traceback_later()


def _raised(number: int, error: BaseException, game) -> Raised:
    kind = next((kind.__name__ for kind in REASONS if isinstance(error, kind)), "")
    return Raised(number, kind, text_of(error) if kind else in_words(error), is_of_rules(game, error))
