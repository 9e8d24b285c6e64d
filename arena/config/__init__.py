"""The configuration of a tournament: its keys, its openings and instances, and what is wrong with them in words."""
