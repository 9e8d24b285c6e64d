"""What several games are built on: boards of chess pieces, groups of stones, rows to make."""
