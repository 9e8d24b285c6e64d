"""Formats: which games a tournament consists of."""
