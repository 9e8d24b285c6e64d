"""What a shell completes when TAB is pressed: games, agents, their parameters and values, and the folders of runs.

A shell closes an open quote and goes on to the next word where there is one candidate.  So there are two where a word
may go on, as `uct(exploration=` and `uct(exploration=0.4`: it is completed as far as they agree.
"""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

REGISTRIES = {"games": "games.core.game", "agents": "agents.core.agent", "agents.learning": "agents.learning.learner"}
STORE = "tournament.sqlite"
MOST_TOLD = 60  # characters
PLACES = ("", "runs/")  # where runs are looked for
EXAMPLES = {"playouts": "1000", "nodes": "10000", "depth": "4", "seconds": "0.1"}  # of parameters without a default


def complete_game(incomplete: str) -> list[tuple[str, str]]:
    """Games, or parameters of the one that is typed."""
    return _specs("games", incomplete)


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Agents, or parameters of the one that is typed."""
    return _specs("agents", incomplete)


def complete_learner(incomplete: str) -> list[tuple[str, str]]:
    """Learners, or parameters of the one that is typed."""
    return _specs("agents.learning", incomplete)


def complete_run(incomplete: str) -> list[str]:
    """Folders that hold a run, and folders on the way there."""
    found = set()
    root, typed = Path("/" if incomplete.startswith("/") else ""), _escaped(incomplete.lstrip("/"))
    for place in PLACES if "/" not in incomplete else ("",):
        for below in ("", "*/"):
            found |= {str(path.parent) for path in root.glob(f"{place}{typed}*/{below}{STORE}")}
    return sorted(found)


def _escaped(text: str) -> str:
    import glob

    return glob.escape(text.removeprefix("./"))


def _brief(text: str) -> str:
    """What is told beside a candidate: one short line."""
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 1]}…"


def _known(package: str) -> dict[str, Any]:
    """What there is, from the index of names; where it has to be made, or lacks a plug-in, from the registry."""
    from games.core import index, plugins

    home = REGISTRIES[package]
    if not plugins.named() and home not in sys.modules and (found := index.read(package)) is not None:
        return found
    return importlib.import_module(home).registry.entries()


def _specs(package: str, incomplete: str) -> list[tuple[str, str]]:
    """Completions of a spec, each with what it is."""
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
    told = [(text, _brief(one.meaning)) for text, one in named]
    if len(named) == 1:
        text, one = named[0]
        told += [(f"{text}{value}", what) for value, what in _likely(one)[:1]]
    return told


def _parted(text: str) -> list[str]:
    """What stands between the commas that are not within brackets or quotes."""
    pieces = re.findall(r"\[[^]]*\]?|'[^']*'?|\"[^\"]*\"?|.", text)
    parts = [""]
    for piece in pieces:
        if piece == ",":
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _values(known: list, typed: str) -> list[tuple[str, str]]:
    """How `name=value` may go on: with a value that is likely, and where it is one, to the next or to the end."""
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
    """Values of a parameter, as they are typed, with what is to be said of each: its default first."""
    if one.type == "bool":
        choices = ["false", "true"]
    elif "|" in one.range:
        choices = [repr(word) if one.type == "str" else word for word in one.range.split(" | ")]
    else:
        choices = []
    default = _typed(one.default)
    if one.default is None:
        return [(EXAMPLES.get(one.name, "none"), "for example" if one.name in EXAMPLES else "the default")]
    return [(default, "the default"), *((choice, "") for choice in choices if choice != default)]


def _typed(default) -> str:
    """A default as it is typed in a spec."""
    if isinstance(default, tuple):
        return f"[{', '.join(map(_typed, default))}]"
    return str(default).lower() if isinstance(default, bool) else repr(default)
