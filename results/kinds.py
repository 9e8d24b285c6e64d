"""The kinds of tables of a run and the formats that they are written in; imports nothing, so that help is quick."""

KINDS = ("standings", "crosstable", "pairs", "differences", "games", "moves", "win_rates")
SINGLE_PLAYER_KINDS = ("scores", "games", "moves", "improvements")
SEVERAL_KINDS = ("study", "ratings")  # of runs of several games or budgets, besides
SCALING_KINDS = ("scaling", "throughput")  # of what `arena study schemes` has stored, besides
OF_SCHEMES = ("speedup", "equal_time", "equal_playouts", "throughput", "budgets", "schemes")  # figures of it
# the run's notes explain them
NOTED = ("study", "standings", "ratings", "crosstable", "pairs", "differences", "scores")
FORMATS = ("text", "csv", "markdown", "latex", "html", "json", "parquet")
PICTURES = ("svg", "png", "pdf")
