"""Whether a game keeps its promises, and whether a proof of its value holds."""
