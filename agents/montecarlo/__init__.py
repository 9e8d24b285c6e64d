"""Monte-Carlo search."""
