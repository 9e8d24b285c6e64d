"""Renders the report's page."""

import html
import json
import os
import re
from importlib import resources
from pathlib import Path

import jinja2
import numpy as np

from arena import results
from arena.formats.schedule import Schedule
from arena.games.core.boards.drawing import STYLE
from arena.games.core.shared.files import write_whole
from arena.report.figures import MOST_ROWS, WIDTH, Drawn, draw, of_study
from arena.report.pieces import First, pieces_of
from arena.report.replay import sample
from arena.results.shown.export import display_columns
from arena.results.shown.fitting import Shown
from arena.results.shown.summary import verdict
from arena.runner.study_kinds import has_parts

PAGE_NAME = "report.html"
FIGURES_NAME = "figures"
HOMES = r"(?:/home|/Users|/var/home)/[^/\s\"']+|/root"


def write_report(folder, page: Path | None = None, write=write_whole) -> Path:
    """Write the report of the run in `folder`, with its figures as SVG and PNG in a folder; returns its path.

    A study of schemes of several games or budgets has a page with all of them, and one in the folder of each.

    page: the HTML file, by default `report.html` in the run's folder; write: called with each path, its bytes, and the
    folder that no link may lead out of.
    StoreError if the run is unreadable.
    """
    page = Path(page or Path(folder) / PAGE_NAME)
    home = page.parent
    if has_parts(Path(folder)):
        figures = _write_study(Path(folder), page, write)
    else:
        tournament = results.load(folder)
        first = _first(tournament)
        figures = draw(tournament, first)
        write(page, render(tournament, figures, first).encode(), home)
    for figure in figures:
        write(home / FIGURES_NAME / f"{figure.name}.svg", figure.svg.encode(), home)
        write(home / FIGURES_NAME / f"{figure.name}.png", figure.png, home)
    return page


def _write_study(folder: Path, page: Path, write) -> list[Drawn]:
    """Write the page of a study of several parts, and the reports of each; returns the page's figures."""
    own = pieces_of(folder)
    first, cells = own.first(WIDTH), []
    assert first is not None
    figure = of_study(first)
    for part in own.parts():
        link = os.path.relpath(write_report(part.place, None, write), page.parent)
        cells.append({"title": part.title, "table": display_columns(part.frame), "link": link})
    about = {"title": folder.resolve().name, "games": first.games, "cells": cells, "notes": first.notes}
    write(page, template("study.html").render(about, figure=figure, style=sheet()).encode(), page.parent)
    return [figure]


class Framed(str):
    """A page that a notebook shows in a frame of its own, so that neither's style reaches the other."""

    height: int

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{html.escape(self)}" style="{style}" title="report"></iframe>'


def show(tournament, height: int = 800) -> Framed:
    """The report of a tournament in a notebook, `height` pixels high: tables, figures, and games to step through."""
    first = _first(tournament)
    page = Framed(render(tournament, draw(tournament, first), first))
    page.height = height
    return page


def _first(tournament) -> First | None:
    """What the study has whose run this is."""
    return pieces_of(tournament.folder, lambda _: tournament).first(WIDTH)


def render(tournament, figures, first: First | None) -> str:
    """The page of a tournament (`results.Tournament`) with its figures, as self-contained HTML."""
    config, schedule = tournament.meta.get("config"), Schedule.of(tournament)
    replayed = sample(tournament)
    by_name = {figure.name: figure for figure in figures}
    single = tournament.single_player
    about = _about_scores(tournament) if single else _about_games(tournament)
    if first is not None:
        about |= {"verdict": {}, "summary": [], "crosstable": []}  # of agents that met one or two others
        about |= {} if first.standings else {"standings": [], "effort": None}
    return template("report.html").render(
        about,
        single=single,
        title=tournament.folder.name if config is None else ", ".join(tournament.instances),
        config=config,
        agents=len(tournament.names),
        stored=len(tournament),
        total=len(schedule) if schedule is not None else len(tournament),
        notes=[
            *(schedule.lines() if schedule is not None else []),
            *(first.notes if first is not None else []),
            *(tournament.versions if first is not None else tournament.notes_on(tournament.table())),
        ],
        study=_study(tournament, by_name["study"], first) if "study" in by_name else None,
        figures=[figure for name, figure in by_name.items() if name not in ("study", "ratings", "crosstable")],
        games=from_home(_for_script(replayed)),
        shown=len(replayed["games"]),
        machine=_machine(tournament.meta.get("machine", {})),
        configuration=from_home(as_toml(config)) if config else "",
        style=sheet(),
        script=own_file("report.js"),
    )


def template(name: str) -> jinja2.Template:
    """A template of this package; missing names are errors."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("arena.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def _about_games(tournament) -> dict:
    standings = tournament.standings()
    return {
        "verdict": verdict(standings, tournament.ratings),
        "summary": tournament.summary(),
        "effort": _effort(tournament.win_rates(), standings["agent"]),  # before _standings, which names its kind
        "standings": _standings(standings),
        "crosstable": _crosstable(tournament.crosstable()) if len(tournament.names) <= MOST_ROWS else [],
        "scores": None,
    }


def _about_scores(tournament) -> dict:
    frame = tournament.table("scores")
    nothing: dict = {"verdict": {}, "standings": [], "crosstable": [], "effort": None}
    if tournament.games.empty:
        return nothing | {"summary": ["No results are stored yet."], "scores": None}
    games = tournament.games.dropna(subset="score").sort_values("score", ascending=False, kind="stable")
    labels = {one.number: one.label for one in tournament.conditions}
    sentences = [
        f"{labels[row.condition]}: the best score is {row.score:,.10g}, by {row.first} (run {row.id})."
        for row in games.drop_duplicates("condition").sort_values("condition").itertuples()
    ]
    return nothing | {"summary": sentences, "scores": display_columns(frame)}


def _machine(values: dict) -> dict[str, str]:
    known = {key: value for key, value in values.items() if value is not None}
    if "memory_bytes" in known:
        known["memory"] = f"{known.pop('memory_bytes') / 2**30:.1f} GiB"
    return {key.replace("_", " "): from_home(str(value)) for key, value in known.items()}


def _study(tournament, figure, first: First | None) -> dict:
    if first is not None:
        return {"caption": first.caption, "table": display_columns(first.frame), "figure": figure, "ratings": None}
    table = tournament.table("study")
    ratings = None if tournament.single_player else display_columns(tournament.table("ratings"))
    return {"caption": table.attrs["caption"], "table": display_columns(table), "figure": figure, "ratings": ratings}


def sheet() -> str:
    """The style sheet of every page."""
    return f"{own_file('report.css')}\n{STYLE}"


def own_file(name: str) -> str:
    """The text of a file of this package."""
    return resources.files("arena.report").joinpath(name).read_text()


def _for_script(games) -> str:
    """JSON without `<`, which could end the script element."""
    return json.dumps(games, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def as_toml(config: dict) -> str:
    """A configuration as TOML without empty keys.  JSON's values are TOML's too."""

    def value(thing):
        if isinstance(thing, dict):
            return "{ " + ", ".join(f"{key} = {value(one)}" for key, one in thing.items() if one is not None) + " }"
        if isinstance(thing, list | tuple):
            return "[" + ", ".join(map(value, thing)) + "]"
        return json.dumps(thing, ensure_ascii=False)

    tables = {key: one for key, one in config.items() if isinstance(one, list) and one and isinstance(one[0], dict)}
    lines = [f"{key} = {value(one)}" for key, one in config.items() if one is not None and key not in tables]
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{key}]]", *(f"{name} = {value(one)}" for name, one in row.items() if one is not None)]
    return "\n".join(lines) + "\n"


def from_home(text: str) -> str:
    """The text with the paths of homes cut to `~`: a page is for others, too."""
    here = str(Path.home())
    homes = HOMES if here == "/" else f"{re.escape(here)}|{HOMES}"
    return re.sub(rf"(?<![\w.~/])({homes})(?=[/\"'\s]|$)", "~", text)


def _effort(win_rates, order) -> list[Shown]:
    frame = win_rates.set_index("agent").loc[order].reset_index()
    frame.attrs["kind"] = "win_rates"
    return display_columns(frame)


def _standings(frame) -> list[dict]:
    """The standings as readers see them; `bar` places estimate and error on a common scale, 0 to 100."""
    frame.attrs["kind"] = "standings"
    cells = {column.heading: column.cells for column in display_columns(frame)}
    error = frame["error"].fillna(0)
    low, high = (frame["elo"] - error).min(), (frame["elo"] + error).max()
    width = max(high - low, 1.0) if len(frame) else 1.0

    def place(elo):
        return None if np.isnan(elo) else round(5 + 90 * (elo - low) / width, 2)

    rows = []
    for number, row in enumerate(frame.itertuples()):
        bar = {"at": place(row.elo), "bound": row.bound}
        if not np.isnan(row.error):
            bar |= {"low": place(row.elo - row.error), "high": place(row.elo + row.error)}
        rows.append({heading.replace(" ", "_"): strings[number] for heading, strings in cells.items()} | {"bar": bar})
    return rows


def _crosstable(frame) -> list[dict]:
    """Per agent: name, and for each opponent score in % and the colour's distance from that of 50 %."""

    def cell(score):
        if np.isnan(score):
            return None
        share = round(abs(200 * score - 100))
        return {"percent": f"{100 * score:.0f}", "towards": "win" if score > 0.5 else "loss", "share": share}

    return [
        {"agent": name, "scores": [cell(score) for score in scores]}
        for name, scores in zip(frame.index, frame.to_numpy(float))
    ]
