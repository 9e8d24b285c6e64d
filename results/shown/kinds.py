"""The kinds of tables of a run and their formats; imports nothing, so that help is quick."""

KINDS = ("standings", "crosstable", "pairs", "differences", "ranks", "games", "moves", "win_rates")
SINGLE_PLAYER_KINDS = ("scores", "games", "moves", "improvements")
SEVERAL_KINDS = ("study", "ratings")  # of several games or budgets, besides
PLAN_OF_SCHEMES = "plan.json"  # in the folder of a study of schemes
SCALING_KINDS = ("scaling", "throughput")  # of `arena study schemes`, besides
OF_SCHEMES = (
    "speedup",
    "equal_time",
    "equal_playouts",
    "throughput",
    "budgets",
    "parameter",
    "schemes",
)  # figures of it
PLAN_OF_TUNING = "tuning.json"  # in the folder of a tuning
TRIALS = "trials"  # its table
OF_TUNING = ("tuning", "tuning_pairs", "path")  # its figures
# explained by the run's notes
NOTED = ("study", "standings", "ratings", "crosstable", "pairs", "differences", "ranks", "scores")
FORMATS = ("text", "csv", "markdown", "latex", "html", "json", "parquet")
PICTURES = ("svg", "png", "pdf")
