"""The compiled kernels on disk: where they are, how many, and how to remove or make them."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path

import agents
import games
from agents.core.agent import Budget
from arena.config.config import Seat
from arena.runner import warming
from games.core.jit import KERNEL_PACKAGES, kernels

LEAST = Budget(playouts=1, nodes=1, depth=1)


def folders() -> list[Path]:
    """The folders in which Numba keeps this project's kernels."""
    for package in KERNEL_PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
            importlib.import_module(module.name)
    return sorted({Path(kernel.stats.cache_path) for kernel in kernels if kernel.stats.cache_path})


def files() -> list[Path]:
    """Every index and every compiled kernel."""
    return [path for folder in folders() for path in sorted(folder.glob("*.nb[ic]"))]


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
    """Remove every compiled kernel; the number of files removed."""
    found = files()
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def warm(game_spec: str, agent_specs: Iterable[str], before: Callable, after: Callable) -> None:
    """Compile, or load, what the agents run on a game; agents that refuse it are left out.

    `before(name)` and `after(name, seconds, failure)` are called for each agent.
    """
    game, made = games.make(game_spec), [agents.make(spec) for spec in agent_specs]
    seats = [Seat(str(agent), agent, agent.budget(LEAST)) for agent in made if not agent.refuses(game)]
    for seat in seats:
        before(seat.name)
        after(seat.name, *warming.warm([game], seat))
