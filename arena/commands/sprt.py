"""`arena sprt`: the sequential probability ratio test."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from arena.commands.application import Panel, command
from arena.commands.counts import Pairs, Wdl, checked_counts, exactly_one
from arena.commands.options import OutFolder, Resume
from arena.commands.output import answered, quoted, say, tell
from arena.commands.playing import Where, exit_if_failed, run_shown

Model = StrEnum("Model", ["normalized", "logistic"])
ConfigFile = Annotated[Path | None, typer.Argument(help="A TOML file: play, instead of counts.", metavar="CONFIG.toml")]
Elo0 = Annotated[float | None, typer.Option(help="The difference under H0. Default: 0.")]
Elo1 = Annotated[float | None, typer.Option(help="The difference under H1. Default: 5.")]
Alpha = Annotated[float | None, typer.Option(help="Probability of accepting H1 when H0 holds. Default: 0.05.")]
Beta = Annotated[float | None, typer.Option(help="Probability of accepting H0 when H1 holds. Default: 0.05.")]
EloModel = Annotated[Model | None, typer.Option(help="The Elo of elo0 and elo1. Default: normalized.")]
LEARNED = (
    "A verdict is between the two hypotheses.  Of the difference, Elo and nElo are what was learned besides; after an "
    "early stop they lean away from zero."
)
ESTIMATED = ("score", "elo", "error", "nelo", "nelo_error", "bound")  # of counts, as JSON


class Hypotheses(NamedTuple):
    """The options of a test of counts; None where one is not given."""

    elo0: Elo0 = None
    elo1: Elo1 = None
    alpha: Alpha = None
    beta: Beta = None
    model: EloModel = None


@command(
    Panel.PLAY,
    examples="arena sprt --wdl 36433 68692 36027 --elo0 0 --elo1 2\n"
    "arena sprt --pairs 365 16618 36229 16974 390 --elo0 0 --elo1 2 --alpha 0.05 --beta 0.05 --model normalized\n"
    "arena sprt test.toml --out runs/test\narena sprt test.toml --out runs/test --resume",
    as_json=True,
)
def sprt(
    config: ConfigFile = None,
    *,
    wdl: Wdl = None,
    pairs: Pairs = None,
    hypotheses: Hypotheses,
    out: OutFolder = None,
    resume: Resume = False,
    where: Where,
) -> None:
    """Test which of two Elo differences holds, and stop early.

    This is the sequential probability ratio test, of counts of results, or live.  With a configuration that has
    format = "sprt", each candidate plays the base until its test ends.  There is no verdict before ten pairs of games,
    or twenty games, since the ratio needs an estimate of how often each result occurs.
    """
    exactly_one({"CONFIG.toml": config, "--wdl": wdl, "--pairs": pairs})
    given = {name: value for name, value in hypotheses._asdict().items() if value is not None}
    if config is None:
        if out or where.workers or where.cluster or resume:
            raise typer.BadParameter(
                "--out, --workers, --cluster and --resume are for CONFIG.toml: counts are not played"
            )
        _print_test(given, checked_counts(pairs or wdl))
    elif given:
        names = ", ".join(f"--{name}" for name in given)
        example = "sprt = { elo0 = 0, elo1 = 5 }"
        raise typer.BadParameter(f"{names} cannot be added to a file: say it in {config}, as {example}")
    else:
        _play_test(config, out or Path("runs", config.stem), where, resume)


def _print_test(options: dict, counts: tuple[int, ...]) -> None:
    """Print the state of a test after counts of games (wins, draws, losses) or of pairs, and their estimate."""
    from arena.formats.sequential import SprtTable
    from arena.results.statistics.elo import pentanomial, trinomial
    from arena.results.statistics.sprt import Sprt, in_words

    paired = len(counts) == 5
    try:
        test, ordered = Sprt(**SprtTable().plain() | options), counts if paired else counts[::-1]
        state = test.state(ordered)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    estimate = pentanomial(counts) if paired else trinomial(*counts)
    least = f"{test.min_pairs} pairs of games" if paired else f"{2 * test.min_pairs} games"
    text = f"None before {least}: play on." if test.too_few(ordered) else in_words(state.verdict, test.elo0, test.elo1)
    known = {name: getattr(estimate, name) for name in ESTIMATED}
    if answered(asdict(state) | {"min_pairs": test.min_pairs} | known | {"text": text}):
        return
    samples = f"{sum(counts):,} {'pairs of games' if paired else 'games'}"
    say(f"Tested     H0: {test.model} Elo {test.elo0:g}, against H1: {test.elo1:g}, on {samples}")
    say(f"LLR        {state.llr:.2f} ({state.lower:.2f} to {state.upper:.2f})")
    say(f"Verdict    {text}")
    _say_estimate(estimate)
    if state.verdict != "continue":
        tell(LEARNED)


def _say_estimate(estimate) -> None:
    if estimate.bound:
        say(f"Elo        {estimate.bound} {estimate.elo:+.2f}: a perfect score has a bound (95 %), no estimate")
    else:
        say(f"Elo        {estimate.elo:+.2f} ± {estimate.error:.2f} (95 %)")
    if estimate.nelo is not None:
        say(f"nElo       {estimate.nelo:+.2f} ± {estimate.nelo_error:.2f} (95 %)")


def _play_test(path: Path, out: Path, where: Where, resume: bool) -> None:
    from arena.config.loading import load
    from arena.formats.schedule import Schedule
    from arena.formats.sequential import SequentialTest

    config = load(path)
    if config.format != SequentialTest.name:
        wanted = f'a sequential test has format = "{SequentialTest.name}"'
        raise typer.BadParameter(f"{path} has the format {config.format}; {wanted}")
    played = run_shown(config, out, where, resume)
    schedule = Schedule.of(played)
    reports = schedule.reports() if schedule else []
    if not answered((reports[0] if len(reports) == 1 else {}) | {"tests": reports}):
        say(*(schedule.lines() if schedule else []))
        if any(report["verdict"] != "continue" for report in reports):
            tell(f"elo0 and elo1 are in {config.values['sprt']['model']} Elo.  {LEARNED}")
        if any(report["verdict"] == "continue" and not report["no_verdict"] for report in reports):
            tell(f"To go on where there is no verdict: give more games in {path}, and --resume.")
    tell(*played.notes(), f"\nThe run is stored in {out}. Its tables: arena table {quoted(out)} --kind pairs")
    exit_if_failed(played)
