"""Parallel Monte-Carlo tree search: one scheme a file."""
