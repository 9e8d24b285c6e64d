"""The page of all runs in a folder, as `arena report --serve` shows it."""

from pathlib import Path
from urllib.parse import quote

from arena.report.listing import Known, runs_in
from arena.report.page import own_file, sheet, template


def render_index(folder: Path, stored: str, known: Known | None = None) -> str:
    """HTML: a row for each run with date, games, agents, leader, progress, and a link to its page.

    stored: the server's word for the runs' state, by which a page knows that it is old; known: as in `runs_in`
    """
    rows, unread = runs_in(folder, known)
    return template("index.html").render(
        folder=folder.name or str(folder),
        stored=stored,
        runs=[_shown(row, folder) for row in rows],
        unread=[fault | {"run": _name(fault, folder)} for fault in unread],
        style=sheet(),
        live=own_file("live.js"),
    )


def _name(row, folder: Path) -> str:
    return Path(row["run"]).relative_to(folder).as_posix()


def _shown(row, folder: Path) -> dict:
    name, stored, total = _name(row, folder), row["stored"], row["total"]
    far = f"{stored:,}" if total in (None, stored) else f"{stored:,} of {total:,}"
    return row | {"name": name, "link": f"run/{quote(name)}/", "played": row["played"][:16], "far": far}
