"""Proof-number search: it settles who wins, and nothing else."""
