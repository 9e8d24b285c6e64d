"""Games and openings as other programs write and read them: a reader for each format."""
