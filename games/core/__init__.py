"""The interface of games, and code that several games use."""
