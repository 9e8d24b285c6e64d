"""The games of a run: their records, in one SQLite file, how that is kept sound, and what a run's folder held."""
