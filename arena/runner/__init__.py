"""Runs: games played by worker processes, supervised, stored and shown."""
