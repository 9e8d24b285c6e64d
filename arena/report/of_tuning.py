"""What the folder of a tuning has: its trials, their figures, its verdict, and its run."""

from contextlib import suppress
from functools import cached_property

from arena.games.core.shared.errors import UserError
from arena.report import tuned
from arena.report.pieces import First, NotedTable, PiecesOfRun
from arena.results.shown.kinds import TRIALS
from arena.study import tuning_run

CAPTION = "Trials, the surface with its 95 % band, the region of the best value; dotted: before."


class PiecesOfTuning(PiecesOfRun):
    """What a tuning has, besides its run."""

    @cached_property
    def found(self):
        return tuning_run.load(self.folder)

    def tables(self):
        return (TRIALS, *super().tables())

    def table(self, kind=None, format="text"):
        if kind not in (None, TRIALS):
            return super().table(kind, format)
        return NotedTable(tuning_run.table(self.found), tuning_run.summary(self.found), self.run.versions)

    def leader(self):
        with suppress(UserError):  # it has no result yet
            return self.found.space.spec(self.found.best)
        return None

    def summary(self):
        with suppress(UserError):
            return tuning_run.summary(self.found)
        return []

    def figures(self):
        return (*tuned.kinds(self.found), *super().figures())

    def figure(self, kind, width, *options, **named):
        if drawn := tuned.kinds(self.found).get(kind):
            return lambda figure: drawn(figure, self.found), tuned.height(self.found, kind, width)
        return super().figure(kind, width, *options, **named)

    def first(self, width):
        frame, which = tuning_run.best(self.found)
        caption = " ".join([*tuning_run.summary(self.found), which])
        return First(caption, frame, CAPTION, *self.figure(next(iter(tuned.kinds(self.found))), width), standings=False)
