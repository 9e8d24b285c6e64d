"""Studies: speed, scaling, solved positions, grades, savings, and what is prepared for a game."""
