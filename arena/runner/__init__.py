"""Tournaments: starts, stores, shows and resumes them."""
