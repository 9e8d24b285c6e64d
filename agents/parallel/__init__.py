"""Parallel Monte-Carlo tree search, on threads and with simulated workers."""
