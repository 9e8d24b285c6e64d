"""The kinds of tables and figures of a run and their formats; imports little, so that help is quick."""

from typing import NamedTuple

KINDS = ("standings", "crosstable", "pairs", "differences", "ranks", "games", "moves", "win_rates")
SINGLE_PLAYER_KINDS = ("scores", "games", "moves", "improvements")
SEVERAL_KINDS = ("study", "ratings")  # of several games or budgets, besides
SCALING_KINDS = ("scaling", "throughput")  # of a study of schemes
TRIALS = "trials"  # of a tuning
TABLES = tuple(dict.fromkeys((*SEVERAL_KINDS, *KINDS, *SINGLE_PLAYER_KINDS, *SCALING_KINDS, TRIALS)))


class FigureKind(NamedTuple):
    """A kind of figure of a tournament.

    method: of `Tournament.plot`, which draws it; "" where it is drawn by more than tables; of: the method's quantity,
    AGAINST where a person chooses it; title, below: on a report's page, if it is there; rows: it is as high as it has
    rows; legend: it has a line for each agent; with_all: of several games, all together have a panel, too
    """

    method: str = ""
    of: str = ""
    title: str = ""
    below: str = ""
    rows: bool = False
    legend: bool = True
    with_all: bool = False


AGAINST = "against"
FIGURES = {  # in the order in which they are named; of a tournament for one player, those of SINGLE_PLAYER_FIGURES
    "ratings": FigureKind(
        "ratings", "", "Ratings", "Elo with 95 % errors. An arrow is a one-sided bound.", rows=True, with_all=True
    ),
    "crosstable": FigureKind(
        "crosstable", "", "Crosstable", "Score of each row against each column, in %.", rows=True, with_all=True
    ),
    "cycles": FigureKind("cycles", rows=True, with_all=True),
    "study": FigureKind("study", title="Scores", below="Every cell of the table with its 95 % interval.", rows=True),
    "strength": FigureKind(
        "strength", AGAINST, "Elo against {of}",
        "What strength costs: Elo against {of} a move. Up and to the left is better.",
    ),
    "sides": FigureKind("sides", "", "Moving first", "Each agent's score as first and as second player.", rows=True),
    "lengths": FigureKind("lengths", "", "Length of games", "How many plies games took, by who won.", legend=False),
    "time": FigureKind("moves", "seconds", "Time along the game", "Mean seconds of a move, by ply."),
    "depth": FigureKind("moves", "depth", "Depth along the game", "Mean depth of a move, by ply."),
    "progress": FigureKind(),
    "llr": FigureKind(),
    "curves": FigureKind("best_so_far", AGAINST, legend=False),
}  # fmt: skip
SINGLE_PLAYER_FIGURES = ("curves", "study")
OF_SCHEMES = ("speedup", "equal_time", "equal_playouts", "throughput", "budgets", "parameter", "schemes")  # figures
OF_TUNING = ("tuning", "tuning_pairs", "path")  # figures
ALL_FIGURES = (*FIGURES, *OF_SCHEMES, *OF_TUNING)
# explained by the run's notes
NOTED = ("study", "standings", "ratings", "crosstable", "pairs", "differences", "ranks", "scores")
FORMATS = ("text", "csv", "markdown", "latex", "html", "json", "parquet")
PICTURES = ("svg", "png", "pdf")
