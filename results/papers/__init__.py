"""Figures and tables as papers print them: of runs, and of the studies that `arena/study` runs."""
