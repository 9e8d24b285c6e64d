"""Studies of searches, and files prepared for a game."""
