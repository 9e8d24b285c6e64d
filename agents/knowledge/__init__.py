"""What is known before the game: opening books and end-game tables."""
