"""One game: asks the players for moves, judges them, and decides how it ends."""
