"""Tournaments: begun, stored, shown and resumed."""
