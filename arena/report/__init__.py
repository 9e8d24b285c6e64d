"""The report of a stored run: one self-contained HTML file."""

from arena.report.page import write_report

__all__ = ["write_report"]
