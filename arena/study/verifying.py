"""Checks stored games by the rules, on several cores where there are many."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from arena.agents.core.pool import CONTEXT, WorkerError, die_with_the_parent
from arena.config.config import stored_games
from arena.games.core.game import Game, IllegalMove
from arena.play.game_calls import GameError, answered, by_rules, result_of, started
from arena.results.database.integrity import Look, batch, ranges
from arena.results.database.record import GameRecord, Reason
from arena.results.database.store import Store

FEW = 10  # ranges of games that are replayed before processes for others are started

_own: list[tuple[Store, Callable[[GameRecord], str]]] = []  # of a process that replays


def replayer(config: Mapping[str, Any]) -> Callable[[GameRecord], str]:
    """A function: what is wrong with a game by a resolved configuration's rules, or ""."""
    games = stored_games(config)
    return lambda record: replayed(games[record.condition], record)


def looks(store: Store, config: Mapping[str, Any], workers: int) -> Iterator[Look]:
    """All games of a store for `integrity.examine`, replayed by `workers` processes if they are many.

    Those of plug-ins, which only this process may import, are replayed in this process.
    """
    check, spans = replayer(config), ranges(store)
    here = FEW if workers > 1 and not config["plugins"] else len(spans)
    looked_at_here = (look for span in spans[:here] for look in _looks(store, check, span))
    return chain(looked_at_here, _elsewhere(store.path.parent, config, spans[here:], workers))


def _looks(store: Store, check: Callable[[GameRecord], str], span: tuple[int, int]) -> Iterator[Look]:
    for name, record in batch(store, *span):
        yield Look.at(name, record, check(record) if record is not None else "")


def _elsewhere(folder: Path, config: Mapping[str, Any], spans: list, workers: int) -> Iterator[Look]:
    """Replay ranges of games in processes, few at a time, so that their answers do not pile up."""
    if not spans:
        return
    waiting = deque[Future[list[Look]]]()
    try:
        with ProcessPoolExecutor(workers, CONTEXT, _begin, (folder, dict(config))) as pool:
            for span in spans:
                waiting.append(pool.submit(_answer, span))
                if len(waiting) > 2 * workers:
                    yield from waiting.popleft().result()
            for work in waiting:
                yield from work.result()
    except BrokenProcessPool:
        raise WorkerError("a process that replays games has died, perhaps for want of memory") from None


def _begin(folder: Path, config: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends this process
    threading.Thread(target=die_with_the_parent, daemon=True).start()
    _own.append((Store.open(folder), replayer(config)))


def _answer(span: tuple[int, int]) -> list[Look]:
    """The games of a range, without what only their digests cover, which would be long to send."""
    found = _looks(*_own[0], span)
    return [look._replace(record=look.record and replace(look.record, decisions=(), improvements=())) for look in found]


def replayed(game: Game, record: GameRecord) -> str:
    """What is wrong with its moves, plies and, if the rules ended it, outcome and score; "" if nothing."""
    try:
        game, record = started(game, record)
    except IllegalMove as error:
        return f"is not by the rules: {error}"
    names = [*record.opening_moves.split(), *record.moves.split()]
    if len(names) != record.plies:
        return f"has {len(names)} moves, but {record.plies} plies are stored"
    state = game.initial()
    try:
        for name in names:
            move = by_rules(game, "parse_move", state, name)
            by_rules(game, "play", state, move)
        if record.reason != Reason.PLAYED_OUT:
            return ""
        if not answered(bool, game, "is_over", state):
            return f"is not over by the rules after {record.plies} plies, but stored as played out"
        found = result_of(game, state)[:2]
    except GameError as error:
        if isinstance(error.__cause__, IllegalMove):
            return f"is not by the rules: {error.__cause__}"
        return f"cannot be replayed: {error}"
    if found != (record.outcome, record.score):
        return f"has outcome and score {found} by the rules, but {record.outcome, record.score} are stored"
    return ""
