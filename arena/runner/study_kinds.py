"""The kinds of what a folder holds, each told by a file of its own: studies that are played step by step, tournaments.

Who lists a folder, shows it or goes on with it asks here, and names no kind.
"""

import importlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from arena.results.database.store import FILE_NAME


class Kind(NamedTuple):
    """A kind of study, or the tournament.

    file: whose presence says that a folder holds one; what: in words; pieces: the class of its tables, figures and
    words; goes_on: the function of a command that plays the rest, "" for a tournament's.  Both are named as
    `module:name`, and imported when they are needed.
    """

    file: str
    what: str
    pieces: str
    goes_on: str = ""

    @staticmethod
    def named(place: str) -> Any:
        """What a text such as `pieces` names."""
        module, _, name = place.partition(":")
        return getattr(importlib.import_module(module), name)


SCHEMES = Kind(
    "plan.json", "study of schemes", "arena.report.of_schemes:PiecesOfSchemes", "arena.commands.study_schemes:go_on"
)
TUNING = Kind("tuning.json", "tuning", "arena.report.of_tuning:PiecesOfTuning", "arena.commands.tune:go_on")
TOURNAMENT = Kind(FILE_NAME, "tournament", "arena.report.pieces:PiecesOfRun")
KINDS = [SCHEMES, TUNING, TOURNAMENT]  # a study's file comes before the store of its games


def kind_of(folder: Path) -> Kind | None:
    """The kind of what a folder holds; None if that is nothing of ours."""
    try:
        return next((kind for kind in KINDS if (folder / kind.file).is_file()), None)
    except (OSError, ValueError):  # no such name can be
        return None


def home_of(folder: Path) -> Path:
    """The folder of the study that this one is a part of; else the folder itself."""
    above = folder.parent if folder.name not in ("", "..") else folder.resolve().parent  # "." is its own parent
    return above if has_parts(above) else folder


def is_study(folder: Path) -> bool:
    """Whether a folder holds a study, or a part of one."""
    return kind_of(home_of(folder)) not in (None, TOURNAMENT)


def has_parts(folder: Path) -> bool:
    """Whether a folder holds a study whose runs are in folders within."""
    return kind_of(folder) not in (None, TOURNAMENT) and not (folder / FILE_NAME).exists()


def runs_in(folder: Path) -> list[Path]:
    """The folders of the runs of a tournament or a study: itself, or those of its parts."""
    if (folder / FILE_NAME).exists():
        return [folder]
    return [path.parent for path in sorted(folder.glob(f"*/{FILE_NAME}"))]


def homes_in(folder: Path) -> dict[Path, tuple[Kind, list[Path]]]:
    """By folder, in this one and its subfolders: what it holds, and the folders of its parts.

    A tournament, or a study of one part, is its own part as soon as it has a run; others may have none yet.
    """
    there = dict[Path, set[str]]()
    for path, folders, files in os.walk(folder):
        folders.sort()
        there[Path(path)] = set(files)
    found: dict[Path, tuple[Kind, list[Path]]] = {}
    for place, names in there.items():
        own = next((kind for kind in KINDS if kind.file in names), None)
        if own is None:
            continue
        above = there.get(place.parent, set())
        part = FILE_NAME not in above and any(kind.file in above for kind in KINDS)
        _, parts = found.setdefault(place.parent if part else place, (own, []))
        parts += [place] if part or FILE_NAME in names else []
    return found
