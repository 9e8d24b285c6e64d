"""The configuration of a tournament: keys, openings, instances, and error messages."""
