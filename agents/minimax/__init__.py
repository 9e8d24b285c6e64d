"""Depth-first search with an evaluation function."""
