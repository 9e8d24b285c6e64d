"""The report of a stored run: one self-contained HTML file, or shown in a notebook."""

from arena.report.page import show, write_report

__all__ = ["show", "write_report"]
