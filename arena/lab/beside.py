"""Runs side by side: what differs in their settings, and their curves; read in the process of `apart.READING`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import TEXT_BYTES, read_plain
from arena.lab.reading import MOST_CELL, MOST_ROWS, Cells, check_size, held, loaded, pairs_beside, unmet
from arena.report import along
from arena.report.page import from_home
from arena.report.pieces import pieces_of
from arena.results.papers import paper_figures
from arena.results.printable import printable
from arena.results.shown import plots
from arena.runner.study_kinds import TOURNAMENT, kind_of

WIDTH = 6.8  # inches
LINES = ("-", "--", ":", "-.")  # a run's; an agent has a colour


class Beside(NamedTuple):
    """What runs have side by side."""

    pairs: Cells
    settings: Cells
    agents: tuple[str, ...]  # that the tournaments share, in the order of the first one's standings
    studies: dict[str, str]  # by folder: the kind of its main figure


def side_by_side(folders: list[Path]) -> Beside:
    """All of a page but its figures."""
    rated = _rated(folders)
    shared = loaded(rated[0]).order if rated else []
    for folder in rated[1:]:
        names = set(loaded(folder).names)
        shared = [name for name in shared if name in names]
    others = [folder for folder in folders if kind_of(folder) is not TOURNAMENT]
    studies = {str(folder): kind for folder in others if (kind := _figure(folder))}
    return Beside(pairs_beside(folders), settings(folders), tuple(shared), studies)


def _rated(folders: list[Path]) -> list[Path]:
    """The tournaments whose agents have ratings."""
    return [folder for folder in folders if kind_of(folder) is TOURNAMENT and not unmet(folder)]


def _figure(folder: Path) -> str:
    """The main figure of a study; "" of one that has begun and has none yet, or cannot be read."""
    try:
        return next(iter(pieces_of(folder, loaded).figures()), "")
    except UserError:
        return ""


# -- Settings ------------------------------------------------------------------------------------------------------


def settings(folders: list[Path]) -> Cells:
    """A row for each key of the configurations or plans whose values differ, or which some lack."""
    found, below = list[dict[str, str]](), list[str]()
    for folder in folders:
        try:
            found.append(dict(_flat(_values(folder))))
        except (ValueError, RecursionError):
            found.append({})
            below.append(f"The plan of {folder.name} cannot be read.")
        else:
            below += [] if found[-1] else [f"{folder.name} was imported, and has no configuration."]
    known = [one for one in found if one]
    keys = dict.fromkeys(key for one in known for key in one)
    rows = [
        tuple(printable(from_home(text))[:MOST_CELL] for text in (key, *(one.get(key, "-") for one in found)))
        for key in keys
        if len({one.get(key) for one in known}) > 1
    ]
    if not rows and len(known) > 1:
        below.append("Their settings are the same.")
    heads = [(str(number), printable(folder.name), False) for number, folder in enumerate(folders)]
    return Cells([("key", "setting", False), *heads], rows[:MOST_ROWS], list(map(printable, below)), len(rows))


def _values(folder: Path) -> Any:
    kind = kind_of(folder)
    if kind in (None, TOURNAMENT):
        return loaded(folder).meta.get("config") or {}
    return json.loads(read_plain(folder / kind.file, TEXT_BYTES))


def _flat(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Keys such as `budget.playouts`, and their values as texts; of a list of tables, by their names or numbers."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        value = {str(one.get("name", number)): one for number, one in enumerate(value)}
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _flat(one, f"{at}.{key}" if at else str(key))
    else:
        yield at, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- Curves --------------------------------------------------------------------------------------------------------


def curves(folders: list[Path], agents: list[str]) -> bytes:
    """Elo of these agents while games came in, a line for each of the tournaments and agent, as SVG."""
    runs = _rated(folders)
    frames = []
    for folder in runs:
        check_size(held(folder))
        frames.append(along.ratings(loaded(folder)))
    names = [f"{agent}, {folder.name}" for folder in runs for agent in agents]
    height = paper_figures.SHAPE * WIDTH + paper_figures.LEGEND * -(-len(names) // 2)
    return paper_figures.picture(lambda figure: _draw(figure, frames, agents, names), (WIDTH, height), "svg")


def _draw(figure: Figure, frames: list[pd.DataFrame], agents: list[str], names: list[str]) -> None:
    ax, labels = figure.subplots(), iter(plots.labels(names))
    for number, frame in enumerate(frames):
        for place, agent in enumerate(agents):
            own = frame[(frame["agent"] == agent) & frame["error"].notna()]
            look = plots.look(number) | {"linestyle": LINES[number % len(LINES)]}
            if len(agents) > 1:
                look["color"] = plots.look(place)["color"]
            games, elo, error = (own[column].to_numpy(float) for column in ("games", "elo", "error"))
            ax.plot(games, elo, label=next(labels), markersize=3, linewidth=1, markevery=plots.MARKED, **look)
            ax.fill_between(games, elo - error, elo + error, color=look["color"], alpha=0.1, linewidth=0)
    ax.set(xlabel="games that have ended", ylabel="Elo, with its 95 % interval")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid()
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small")
