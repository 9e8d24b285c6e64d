"""Formats: the games of a tournament."""
