"""Proof-number search: who wins, and no more than that."""
