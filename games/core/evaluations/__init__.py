"""Networks that evaluate positions, and their files."""
