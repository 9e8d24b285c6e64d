"""The report of a stored run: one HTML file that holds everything it shows."""

from arena.report.page import write_report

__all__ = ["write_report"]
