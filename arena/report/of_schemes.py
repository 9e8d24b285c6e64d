"""What the folder of a study of schemes has: speed-ups, speeds, their figures, and its run, or those of its parts."""

import math
from functools import cached_property

import pandas as pd

from arena.games.core.shared.errors import UserError
from arena.report.pieces import First, NotedTable, Part, PiecesOfRun
from arena.results.database.store import FILE_NAME
from arena.results.papers import strength_scaling
from arena.results.shown.export import DATA
from arena.results.shown.kinds import OF_SCHEMES, SCALING_KINDS
from arena.study import schemes

CAPTION = "Each scheme against its own search with one worker; bars are 95 % intervals, arrows bounds."


class PiecesOfSchemes(PiecesOfRun):
    """What a study of schemes has; its folder has the run, too, if it is of one game and budget."""

    @cached_property
    def speeds(self) -> pd.DataFrame | None:
        from arena.study.throughput import stored

        return stored(self.folder)

    @cached_property
    def points(self) -> pd.DataFrame:
        return schemes.load(self.folder)

    def _measured(self, asked: str) -> pd.DataFrame:
        if self.speeds is None:
            raise UserError(f"{asked}: the speed on threads was not measured in {self.folder}")
        return self.speeds

    def tables(self):
        of_run = super().tables() if (self.folder / FILE_NAME).exists() else ()
        return (*SCALING_KINDS[: 1 + (self.speeds is not None)], *of_run)

    def table(self, kind=None, format="text"):
        if (kind or SCALING_KINDS[0]) not in SCALING_KINDS:
            return super().table(kind, format)
        versions = schemes.versions(self.folder)
        of_speeds = kind == "throughput"
        frame = self._measured(f"--kind {kind}") if of_speeds else self.points
        readable = (strength_scaling.shown_speeds if of_speeds else strength_scaling.shown)(frame)
        return NotedTable(frame if format in DATA else readable, [*readable.attrs["notes"], *versions], versions)

    def figures(self):
        return tuple(kind for kind in OF_SCHEMES if kind != "throughput" or self.speeds is not None)

    def figure(self, kind, width, *options, **named):
        from arena.results.papers import paper_figures, parameter_axis

        if kind not in OF_SCHEMES:
            return super().figure(kind, width, *options, **named)
        speeds, frame = self._measured(kind) if kind == "throughput" else self.speeds, self.points
        if kind == "budgets" and frame["playouts"].nunique() < 2:
            raise UserError(f"budgets: the study in {self.folder} has one number of playouts")
        if kind == "parameter":
            try:
                frame = parameter_axis.along(frame)
            except ValueError as error:
                raise UserError(f"parameter: of the study in {self.folder}, {error}") from None
        return paper_figures.of_schemes(frame, speeds, kind, width)

    def first(self, width):
        from arena.results.papers import strength_figures

        panels = [name for name in strength_figures.PANELS if name != "throughput"]
        drawn = strength_figures.drawing(self.points, None, panels, width, least=width, page=math.inf)
        table, notes = strength_scaling.shown(self.points), strength_scaling.notes(self.points)
        return First(table.attrs["caption"], table, CAPTION, *drawn, notes, int(self.points["games"].sum()))

    def parts(self):
        for cell, place in schemes.places(schemes.SchemesStudy.read(self.folder), self.folder):
            own = self.points[(self.points["game"] == cell.game) & (self.points["playouts"] == cell.each)]
            if len(own):
                title = f"{cell.game}, {cell.each} playouts of each worker"
                yield Part(title, place, strength_scaling.shown(own))
