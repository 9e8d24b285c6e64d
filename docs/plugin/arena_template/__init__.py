"""A template: a game and an agent for search-arena in a package of their own."""
