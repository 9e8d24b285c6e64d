"""Knowledge prepared before the game: opening books and end-game tables."""
