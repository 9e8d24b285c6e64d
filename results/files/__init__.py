"""Games as other programs write and read them: PGN, CSV and JSON lines."""
