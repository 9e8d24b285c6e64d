"""`arena elo`: Elo with its error."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_run
from arena.commands.counts import Pairs, Wdl, checked_counts, exactly_one
from arena.commands.options import at_least
from arena.commands.output import answered, print_table, records_of, say, tell
from arena.commands.progress import progress_line

KEYS = ("elo", "error", "nelo", "nelo_error", "los", "draw_ratio", "pairs_ratio")  # of an estimate, as JSON
POOL = ("advantage", "advantage_error", "advantage_bound", "draw_rate")  # of a run's ratings, as JSON
MOST_SAMPLES = 100_000  # of --bootstrap, each a fit of all ratings

Draws = StrEnum("Draws", {"logistic": "logistic", "davidson": "davidson", "rao_kupper": "rao-kupper", "half": "half"})


@command(
    Panel.READ,
    examples="arena elo --wdl 136 111 96\narena elo --pairs 43 61 144 55 37\narena elo runs/first\n"
    'arena elo runs/first --draws rao-kupper --anchor "uct=1500" --bootstrap 200',
    as_json=True,
)
def elo(
    folder: Annotated[
        Path | None,
        typer.Argument(help="A run's folder, instead of counts.", metavar="DIR", autocompletion=complete_run),
    ] = None,
    wdl: Wdl = None,
    pairs: Pairs = None,
    draws: Annotated[
        Draws, typer.Option(help="For a run: the model of draws, or draws as half a win.")
    ] = Draws.logistic,
    no_advantage: Annotated[
        bool, typer.Option("--no-advantage", help="For a run: assume no advantage of the first player.")
    ] = False,
    anchor: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ELO", help="For a run: an agent of known Elo; may be repeated.")
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(callback=at_least(0, MOST_SAMPLES), help="For a run: also find errors from N resamplings.")
    ] = 0,
) -> None:
    """Estimate Elo, with its 95 % error.

    Counts of games or of pairs give the difference between two players; a run's folder gives the ratings of its agents.
    """
    exactly_one({"DIR": folder, "--wdl": wdl, "--pairs": pairs})
    if folder is None:
        if anchor or bootstrap or no_advantage or draws is not Draws.logistic:
            raise typer.BadParameter("--draws, --no-advantage, --anchor and --bootstrap are for a run's folder")
        _print_estimate(_estimate(wdl, pairs), "pairs" if pairs else "games")
    else:
        anchors = dict(map(_anchor, anchor or []))
        options = {"draws": draws.value, "advantage": not no_advantage, "anchors": anchors}
        _print_ratings(folder, options, bootstrap)


def _anchor(text: str) -> tuple[str, float]:
    """`uct=1500` -> ("uct", 1500.0); a name may contain "=", too."""
    name, _, elo_text = text.rpartition("=")
    try:
        return name.strip(), float(elo_text)
    except ValueError:
        raise typer.BadParameter(f"--anchor {text!r} is not of the form NAME=ELO") from None


def _estimate(wdl, pairs):
    from arena.results.statistics.elo import pentanomial, trinomial

    return pentanomial(checked_counts(pairs)) if pairs else trinomial(*checked_counts(wdl))


def _print_estimate(estimate, of: str) -> None:
    values = asdict(estimate)
    perfect = {"bound": estimate.bound} if estimate.bound else {}  # of a perfect score
    if answered({key: values[key] for key in KEYS} | perfect):
        return
    if estimate.bound:
        bound = f"{estimate.bound} {estimate.elo:+.2f}"
        say(f"Elo          {bound}: a perfect score has a bound (95 %), no estimate")
    else:
        say(f"Elo          {estimate.elo:+.2f} ± {estimate.error:.2f}")
    if estimate.nelo is not None:
        say(f"nElo         {estimate.nelo:+.2f} ± {estimate.nelo_error:.2f}")
    say(f"LOS          {100 * estimate.los:.2f} %")
    say(f"Draw ratio   {100 * estimate.draw_ratio:.2f} %, of {of}")
    if estimate.pairs_ratio is not None:
        say(f"Pairs ratio  {estimate.pairs_ratio:.2f}")


def _print_ratings(folder: Path, options: dict, samples: int) -> None:
    """Print the ratings of a run, and an estimate for each pair."""
    from arena import results
    from arena.results.shown.summary import intervals_in, side_by_side
    from arena.results.shown.tables import ESTIMATED, differences

    run = results.load(folder)
    ratings = run.rate(**options)
    frame = _rated(run, ratings, options, samples)
    pool = {"draws": options["draws"]} | {name: getattr(ratings, name) for name in POOL}
    pairs = run.pairs()
    many = side_by_side(intervals_in(frame) + intervals_in(pairs))
    notes = [*run.versions, *run.notes_of(ratings), *filter(None, [many])]
    tables = {"ratings": frame, "differences": differences(ratings), "pairs": pairs}
    rows = {name: records_of(table) for name, table in tables.items()}
    if answered(pool | rows | {"notes": notes}):
        return
    print_table(frame, "Ratings", "standings")
    say(_advantage_in_words(pool))
    print_table(pairs[["a", "b", "games", "score", *ESTIMATED]].copy(), "\nPairs", "estimates")
    tell(*notes)


def _rated(run, ratings, options: dict, samples: int):
    from arena.results.shown.tables import standings

    frame = standings(run.names, run.tallies, ratings)
    if not samples:
        return frame
    with progress_line(f"resampling {samples:,} times"):
        resampled = run.bootstrap(samples, **options).drop(columns="error")
    return frame.merge(resampled.rename(columns={"low": "bootstrap_low", "high": "bootstrap_high"}), on="agent")


def _advantage_in_words(pool: dict) -> str:
    if pool["advantage_bound"]:
        than = "above" if pool["advantage_bound"] == ">" else "below"
        advantage = f"The first player's advantage is {than} {pool['advantage']:+.0f} Elo"
    elif pool["advantage_error"] is None:
        advantage = "The first player's advantage is taken as 0"
    else:
        advantage = f"The first player's advantage is {pool['advantage']:+.0f} ± {pool['advantage_error']:.0f} Elo"
    if pool["draws"] == Draws.half:
        return f"{advantage}; draws count as half a win and half a loss."
    return f"{advantage}; {100 * pool['draw_rate']:.1f} % of games of equals are drawn."
