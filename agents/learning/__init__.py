"""Evaluations and policies that are learned, from a game's rules or from stored games."""
