"""The user's cache folder: lists, removes and makes what is in it."""

import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena import agents, games
from arena.agents.core.agent import Agent, Budget
from arena.config.config import Seat
from arena.games.core.jit.kept import OTHER_VERSION
from arena.games.core.shared import cache
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.plugins import import_named
from arena.play import warming

LEAST = Budget(playouts=1, nodes=1, depth=1)


def info() -> list[dict]:
    """A row for each folder that is read, the user's own first, and for each of the versions that its code is for.

    folder; versions: of Numba and Python; kernels, methods: numbers of files, the latter of games' methods; megabytes.
    """
    rows = []
    for place in cache.places():
        found: dict[str, list[Path]] = {}
        for path in cache.files(place):
            if path.suffix != cache.INDEX:
                found.setdefault(_versions(path), []).append(path)
        for versions, paths in sorted(found.items()) or [("", [])]:
            kernels, size = sum(path.suffix == cache.CODE for path in paths), sum(path.stat().st_size for path in paths)
            counts = {"kernels": kernels, "methods": len(paths) - kernels, "megabytes": round(size / 1e6, 1)}
            rows.append({"folder": str(place), "versions": versions, **counts})
    return rows


def _versions(path) -> str:
    with open(path, "rb") as file:
        line = file.readline(100)
    return line.decode(errors="replace").strip().partition(", ")[2] if line.startswith(OTHER_VERSION) else "damaged"


def clear() -> int:
    """Empty the user's cache folder; returns the number of files."""
    place = cache.folder()
    found = cache.files(place) if place else []
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


class Part(NamedTuple):
    """What one process compiles at a time: agents on games."""

    games: tuple[str, ...]
    agents: tuple[str, ...]


def parts(game_specs: Iterable[str], agent_specs: Iterable[str]) -> list[list[Part]]:
    """What to compile, in two steps, without agents that refuse a game.

    First the kernels, shared by agents of a class and games of one dtype of states, the slowest first; then each game's
    methods.
    """
    made, known = [agents.make(spec) for spec in agent_specs], [games.make(spec) for spec in game_specs]
    classes: dict[type, list[Agent]] = {}
    for agent in sorted(made, key=lambda agent: warming.weight(type(agent)), reverse=True):
        classes.setdefault(type(agent), []).append(agent)
    kernels = [Part(_samples(group, known), tuple(map(str, group))) for group in classes.values()]
    done = {(game, agent) for part in kernels for game in part.games for agent in part.agents}
    left = {str(game): [str(agent) for agent in made if not agent.refuses(game)] for game in known}
    methods = [Part((game,), tuple(each for each in left[game] if (game, each) not in done)) for game in left]
    return [[part for part in step if part.games and part.agents] for step in (kernels, methods)]


def _samples(group, known) -> tuple[str, ...]:
    played: dict[str, str] = {}
    for game in known:
        if not any(agent.refuses(game) for agent in group):
            played.setdefault(np.dtype(game.dtype).name, str(game))
    return tuple(played.values())


def warm(wanted: Sequence[Sequence[Part]], workers: int, after: Callable[[str, str, float, str], None]) -> None:
    """Compile, or load, each part of each step, in at most `workers` processes.

    `after(game, agent, seconds, failure)` is called for each agent and game of a finished part.  UserError if a
    process dies.
    """
    with ProcessPoolExecutor(min(workers, max(map(len, wanted))), initializer=_begin_process) as pool:
        try:
            for step in wanted:
                for task in as_completed([pool.submit(warm_part, part) for part in step]):
                    for row in task.result():
                        after(*row)
        except BrokenProcessPool as error:
            raise UserError("a compiling process has died, and the others were stopped") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin_process() -> None:
    """Let Ctrl-C end this process silently: the parent reports it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import_named()


def warm_part(part: Part) -> list[tuple[str, str, float, str]]:
    """Compile a part here: (game, agent, seconds, failure in words or "") for each agent on each game."""
    rows = []
    for game in map(games.make, part.games):
        for agent in map(agents.make, part.agents):
            seat = Seat(str(agent), agent, agent.budget(LEAST))
            rows.append((str(game), seat.name, *warming.warm([game], seat)))
    return rows
