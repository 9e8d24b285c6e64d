"""Results given as counts, which `elo` and `sprt` take instead of a run."""

from typing import Annotated

import typer

MOST_GAMES = 10**12

Wdl = Annotated[tuple[int, int, int] | None, typer.Option("--wdl", metavar="W D L", help="Wins, draws, losses.")]
Pairs = Annotated[
    tuple[int, int, int, int, int] | None,
    typer.Option("--pairs", metavar="LL LD M WD WW", help="Pairs of games by their results; M counts WL and DD."),
]


def exactly_one(given: dict) -> None:
    """BadParameter unless exactly one of the values is given."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        what = f"{' and '.join(named)} cannot be given together" if named else "nothing is given"
        raise typer.BadParameter(f"{what}: give one of {', '.join(given)}")


def checked_counts(counts: tuple[int, ...] | None) -> tuple[int, ...]:
    """The counts, or BadParameter if they are out of range or all 0."""
    counts = counts or ()
    if not all(0 <= count <= MOST_GAMES for count in counts):
        raise typer.BadParameter(f"counts {' '.join(map(str, counts))} are out of range: each can be 0 to {MOST_GAMES}")
    if not any(counts):
        raise typer.BadParameter("all counts are 0: there is nothing to estimate from")
    return counts
