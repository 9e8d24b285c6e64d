"""What a shell completes when TAB is pressed: the names of games and agents, and the folders of runs."""

import glob
import importlib
import sys
from pathlib import Path
from typing import Any

REGISTRIES = {
    "arena.games": "arena.games.core.game",
    "arena.agents": "arena.agents.core.agent",
    "arena.agents.learning": "arena.agents.learning.learner",
}
STORE = "tournament.sqlite"
LONGEST = 60  # characters of a description
PLACES = ("", "runs/")  # folders to look for runs in


def complete_game(incomplete: str) -> list[tuple[str, str]]:
    """Games, each with a description."""
    return _specs("arena.games", incomplete)


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Agents, each with a description."""
    return _specs("arena.agents", incomplete)


def complete_learner(incomplete: str) -> list[tuple[str, str]]:
    """Learners, each with a description."""
    return _specs("arena.agents.learning", incomplete)


def complete_run(incomplete: str) -> list[str]:
    """Folders that hold a run, and folders that lead to one."""
    found = set()
    root = Path("/" if incomplete.startswith("/") else "")
    start = glob.escape(incomplete.lstrip("/").removeprefix("./"))
    for place in PLACES if "/" not in incomplete else ("",):
        for below in ("", "*/"):
            found |= {str(path.parent) for path in root.glob(f"{place}{start}*/{below}{STORE}")}
    return sorted(found)


def _known(package: str) -> dict[str, Any]:
    """The known entries, from the index of names; from the registry if the index is missing or plug-ins are named."""
    from arena.games.core.shared import index, plugins

    home = REGISTRIES[package]
    if not plugins.named() and home not in sys.modules and (found := index.read(package)) is not None:
        return found
    return importlib.import_module(home).registry.entries()


def _specs(package: str, incomplete: str) -> list[tuple[str, str]]:
    found = {name: one.about for name, one in _known(package).items() if name.startswith(incomplete)}
    return [(name, text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") for name, text in found.items()]
