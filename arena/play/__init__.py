"""A game: who is asked for moves, what is answered, and how it ends."""
