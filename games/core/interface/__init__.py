"""What a game is, and what it may define: rules, speed, strength, people."""
