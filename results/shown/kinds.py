"""The kinds of tables of a run and their formats; imports nothing, so that help is quick."""

KINDS = ("standings", "crosstable", "pairs", "differences", "ranks", "games", "moves", "win_rates")
SINGLE_PLAYER_KINDS = ("scores", "games", "moves", "improvements")
SEVERAL_KINDS = ("study", "ratings")  # of several games or budgets, besides
SCALING_KINDS = ("scaling", "throughput")  # of a study of schemes
TRIALS = "trials"  # of a tuning
TABLES = tuple(dict.fromkeys((*SEVERAL_KINDS, *KINDS, *SINGLE_PLAYER_KINDS, *SCALING_KINDS, TRIALS)))
OF_SCHEMES = ("speedup", "equal_time", "equal_playouts", "throughput", "budgets", "parameter", "schemes")  # figures
OF_TUNING = ("tuning", "tuning_pairs", "path")  # figures
# explained by the run's notes
NOTED = ("study", "standings", "ratings", "crosstable", "pairs", "differences", "ranks", "scores")
FORMATS = ("text", "csv", "markdown", "latex", "html", "json", "parquet")
PICTURES = ("svg", "png", "pdf")
