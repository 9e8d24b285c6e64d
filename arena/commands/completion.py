"""What a shell completes when TAB is pressed: games, agents, their parameters, and the folders of runs."""

import importlib
from pathlib import Path

STORE = "tournament.sqlite"
MOST_TOLD = 60  # characters
PLACES = ("", "runs/")  # where runs are looked for


def complete_game(incomplete: str) -> list[tuple[str, str]]:
    """Games, or parameters of the one that is typed."""
    return _specs("games.core.game", incomplete)


def complete_agent(incomplete: str) -> list[tuple[str, str]]:
    """Agents, or parameters of the one that is typed."""
    return _specs("agents.core.agent", incomplete)


def complete_run(incomplete: str) -> list[str]:
    """Folders that hold a run, and folders on the way there."""
    found = set()
    for place in PLACES if "/" not in incomplete else ("",):
        for path in Path().glob(f"{place}{_escaped(incomplete)}*/{STORE}"):
            found.add(str(path.parent))
        for path in Path().glob(f"{place}{_escaped(incomplete)}*/*/{STORE}"):
            found.add(str(path.parent))
    return sorted(found)


def _escaped(text: str) -> str:
    import glob

    return glob.escape(text.removeprefix("./"))


def _brief(text: str) -> str:
    """What is told beside a candidate: one short line."""
    return text if len(text) <= MOST_TOLD else f"{text[: MOST_TOLD - 1]}…"


def _specs(module: str, incomplete: str) -> list[tuple[str, str]]:
    """Completions of a spec, each with what it is."""
    from games.core.describe import about, parameters

    classes = importlib.import_module(module).registry.classes()
    name, bracket, rest = incomplete.partition("(")
    if not bracket:
        return [(known, _brief(about(cls))) for known, cls in classes.items() if known.startswith(name)]
    if name not in classes:
        return []
    before, comma, last = rest.rpartition(",")
    blanks = last[: len(last) - len(last.lstrip())]
    given = {part.partition("=")[0].strip() for part in before.split(",")}
    start = name + bracket + before + comma + blanks
    return [
        (f"{start}{one.name}=", _brief(one.meaning))
        for one in parameters(classes[name])
        if one.name.startswith(last.strip()) and one.name not in given
    ]
