"""What a shell completes when TAB is pressed: games, agents, their parameters and values, and the folders of runs.

A shell closes an open quote and starts the next word when there is only one candidate.  So a word that may go on, such
as `uct(exploration=` and `uct(exploration=0.4`, has two, and is completed as far as they agree.
"""

import glob
import importlib
import re
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
EXAMPLES = {"playouts": "1000", "nodes": "10000", "depth": "4", "seconds": "0.1"}  # of parameters without a default


def complete_game(incomplete: str) -> list[tuple[str, str]]:
    """Games, or parameters of the game already typed."""
    return _specs("arena.games", incomplete)


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Agents, or parameters of the agent already typed."""
    return _specs("arena.agents", incomplete)


def complete_learner(incomplete: str) -> list[tuple[str, str]]:
    """Learners, or parameters of the learner already typed."""
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


def _brief(text: str) -> str:
    """A description cut to one short line."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _known(package: str) -> dict[str, Any]:
    """The known entries, from the index of names; from the registry if the index is missing or plug-ins are named."""
    from arena.games.core import index, plugins

    home = REGISTRIES[package]
    if not plugins.named() and home not in sys.modules and (found := index.read(package)) is not None:
        return found
    return importlib.import_module(home).registry.entries()


def _specs(package: str, incomplete: str) -> list[tuple[str, str]]:
    """Completions of a spec, each with a description."""
    entries = _known(package)
    name, bracket, rest = incomplete.partition("(")
    if not bracket:
        return [(known, _brief(one.about)) for known, one in entries.items() if known.startswith(name)]
    if name not in entries:
        return []
    *before, last = _parted(rest)
    start = incomplete.removesuffix(last.lstrip()) + (" " if before and not last else "")
    given = {part.partition("=")[0].strip() for part in before}
    known = [one for one in entries[name].parameters if one.name not in given]
    if "=" in last:
        return [(start + text, about) for text, about in _values(known, last.lstrip())]
    named = [(f"{start}{one.name}=", one) for one in known if one.name.startswith(last.strip())]
    found = [(text, _brief(one.meaning)) for text, one in named]
    if len(named) == 1:
        text, one = named[0]
        found += [(f"{text}{value}", what) for value, what in _likely(one)[:1]]
    return found


def _parted(text: str) -> list[str]:
    """The text split at the commas that are outside brackets and quotes."""
    pieces = re.findall(r"\[[^]]*\]?|'[^']*'?|\"[^\"]*\"?|.", text)
    parts = [""]
    for piece in pieces:
        if piece == ",":
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _values(known: list, typed: str) -> list[tuple[str, str]]:
    """Continuations of `name=value`: likely values, then the next parameter or the end."""
    name, _, value = typed.partition("=")
    one = next((one for one in known if one.name == name.strip()), None)
    if one is None:
        return []
    if value.endswith(")"):
        return [(typed, "")]
    likely = [(text, what) for text, what in _likely(one) if text.startswith(value)]
    found = [(f"{name}={text}", what) for text, what in likely]
    if len(found) > 1:
        return found
    whole = found[0][0] if found else typed
    return [(f"{whole})", "the last one"), (f"{whole},", "and others")] if found or value else []


def _likely(one) -> list[tuple[str, str]]:
    """Values of a parameter as a user types them, each with a remark: the default first."""
    if one.type == "bool":
        choices = ["false", "true"]
    elif "|" in one.range:
        choices = [repr(word) if one.type == "str" else word for word in one.range.split(" | ")]
    else:
        choices = []
    if one.default is None:
        return [(EXAMPLES.get(one.name, "none"), "for example" if one.name in EXAMPLES else "the default")]
    default = typed(one.default)
    return [(default, "the default"), *((choice, "") for choice in choices if choice != default)]


def typed(default) -> str:
    """A default as it is typed in a spec."""
    if isinstance(default, tuple):
        return f"[{', '.join(map(typed, default))}]"
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else repr(default)
