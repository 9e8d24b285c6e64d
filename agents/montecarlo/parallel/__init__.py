"""Parallel Monte-Carlo tree search: one scheme in each file."""
