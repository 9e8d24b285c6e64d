"""What can be done with any game: playouts, looking ahead, games in progress."""
