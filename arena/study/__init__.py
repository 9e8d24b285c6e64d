"""Studies: speed, scaling, solving, grading, and what prepares and compares searches."""
