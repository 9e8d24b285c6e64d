"""Elo, ratings with their errors, and sequential tests: numbers in, numbers out; see each module for its source."""
