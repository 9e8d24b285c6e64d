"""The report of a stored run: one self-contained HTML file, or shown in a notebook."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.report.page import show as show
    from arena.report.page import write_report as write_report

__all__ = ["show", "write_report"]

if not TYPE_CHECKING:

    def __getattr__(name):
        # matplotlib is loaded only when a report is drawn: lists and tables of runs are quick
        if name in __all__:
            from arena.report import page

            return getattr(page, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
