"""The compiled kernels on disk: where they are, how many, and how to remove or make them."""

import importlib
import pkgutil
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NamedTuple

import agents
import games
from agents.core.agent import Budget
from arena.config.config import Seat
from arena.runner import warming
from games.core import index
from games.core.errors import UserError
from games.core.jit import KERNEL_PACKAGES, kernels
from games.core.plugins import import_named

LEAST = Budget(playouts=1, nodes=1, depth=1)


class CompilingError(UserError, RuntimeError):
    """A process that compiled kernels has died."""


def folders() -> list[Path]:
    """The folders in which Numba keeps this project's kernels."""
    for package in KERNEL_PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
            importlib.import_module(module.name)
    return sorted({Path(kernel.stats.cache_path) for kernel in kernels if kernel.stats.cache_path})


def files() -> list[Path]:
    """Every index and every compiled kernel."""
    return [path for folder in folders() for path in sorted(folder.glob("*.nb[icm]"))]


def info() -> list[dict]:
    """A row for each folder: folder, kernels (compiled versions), megabytes."""
    rows = []
    for folder in folders():
        found = [path for path in files() if path.parent == folder]
        size = sum(path.stat().st_size for path in found)
        versions = sum(path.suffix == ".nbc" for path in found)
        rows.append({"folder": str(folder), "kernels": versions, "megabytes": round(size / 1e6, 3)})
    return rows


def clear() -> int:
    """Remove every compiled kernel, and what is known of them; the number of files of kernels."""
    found = files()
    for path in [*found, *index.files()]:
        path.unlink(missing_ok=True)
    return len(found)


class Part(NamedTuple):
    """What one process compiles at a time: what agents of one class, which share kernels, run on one game."""

    game: str
    agents: tuple[str, ...]


def parts(game_specs: Iterable[str], agent_specs: Iterable[str]) -> list[Part]:
    """What is to be compiled, without the agents that refuse a game; what takes longest comes first."""
    made, found = [agents.make(spec) for spec in agent_specs], []
    for game in map(games.make, game_specs):
        classes: dict[type, list[str]] = {}
        for agent in made:
            if not agent.refuses(game):
                classes.setdefault(type(agent), []).append(str(agent))
        found += [Part(str(game), tuple(specs)) for specs in classes.values()]
    weights = {str(agent): warming.weight(agent) for agent in made}
    return sorted(found, key=lambda part: -weights[part.agents[0]])


def warm(wanted: Sequence[Part], workers: int, after: Callable[[str, str, float, str], None]) -> None:
    """Compile, or load, what each part needs, in so many processes.

    `after(game, agent, seconds, failure)` is called for each agent when its part is done.  CompilingError if a process
    dies.
    """
    with ProcessPoolExecutor(min(workers, max(1, len(wanted))), initializer=_begin_process) as pool:
        tasks = [pool.submit(warm_part, part) for part in wanted]
        try:
            for task in as_completed(tasks):
                for row in task.result():
                    after(*row)
        except BrokenProcessPool as error:
            raise CompilingError("a process that compiled kernels has died, and the others were stopped") from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin_process() -> None:
    """Ctrl-C ends a process that compiles, without a word: it is for the parent, which tells it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import_named()


def warm_part(part: Part) -> list[tuple[str, str, float, str]]:
    """Compile a part here: (game, agent, seconds, failure in words or "") of each agent."""
    game, rows = games.make(part.game), []
    for agent in map(agents.make, part.agents):
        seat = Seat(str(agent), agent, agent.budget(LEAST))
        rows.append((part.game, seat.name, *warming.warm([game], seat)))
    return rows
