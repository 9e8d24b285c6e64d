"""Commands that calculate: elo and sprt."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import Json, Workers, command, print_table, tell

MOST_GAMES = 10**12
KEYS = ("elo", "error", "nelo", "nelo_error", "los", "draw_ratio", "pairs_ratio")  # of an estimate, as JSON
POOL = ("advantage", "advantage_error", "draw_rate")  # of a run's ratings

Draws = StrEnum("Draws", {"davidson": "davidson", "rao_kupper": "rao-kupper", "half": "half"})
Model = StrEnum("Model", ["normalized", "logistic"])
Wdl = Annotated[tuple[int, int, int] | None, typer.Option("--wdl", metavar="W D L", help="Wins, draws, losses.")]
Pairs = Annotated[
    tuple[int, int, int, int, int] | None,
    typer.Option("--pairs", metavar="LL LD M WD WW", help="Pairs of games by their results; M are WL and DD."),
]


@command(
    examples="arena elo --wdl 136 111 96\narena elo --pairs 43 61 144 55 37\narena elo runs/first\n"
    'arena elo runs/first --draws rao-kupper --anchor "uct=1500" --bootstrap 200'
)
def elo(
    folder: Annotated[Path | None, typer.Argument(help="A run's folder, instead of counts.", metavar="DIR")] = None,
    wdl: Wdl = None,
    pairs: Pairs = None,
    draws: Annotated[Draws, typer.Option(help="Of a run: a law of draws, or draws as half a win.")] = Draws.davidson,
    no_advantage: Annotated[bool, typer.Option("--no-advantage", help="Of a run: the first player has none.")] = False,
    anchor: Annotated[list[str] | None, typer.Option(help="Of a run: an agent of known Elo, as NAME=ELO.")] = None,
    bootstrap: Annotated[int, typer.Option(help="Of a run: errors from so many resamplings, too.")] = 0,
    as_json: Json = False,
) -> None:
    """Elo with its error: of two players from counts of games or of pairs, or of all agents of a run."""
    _exactly_one({"DIR": folder, "--wdl": wdl, "--pairs": pairs})
    if folder is None:
        if anchor or bootstrap or no_advantage or draws is not Draws.davidson:
            raise typer.BadParameter("--draws, --no-advantage, --anchor and --bootstrap are for a run's folder")
        _print_estimate(_estimate(wdl, pairs), "pairs" if pairs else "games", as_json)
    else:
        if bootstrap < 0:
            raise typer.BadParameter(f"--bootstrap {bootstrap} is out of range: it can be 0 or more")
        anchors = dict(map(_anchor, anchor or []))
        options = {"draws": draws.value, "advantage": not no_advantage, "anchors": anchors}
        _print_ratings(folder, options, bootstrap, as_json)


@command(
    examples="arena sprt --wdl 36433 68692 36027 --elo0 0 --elo1 2\n"
    "arena sprt --pairs 365 16618 36229 16974 390 --elo0 0 --elo1 2 --alpha 0.05 --beta 0.05 --model normalized\n"
    "arena sprt test.toml --out runs/test\narena sprt test.toml --out runs/test --resume"
)
def sprt(
    config: Annotated[
        Path | None, typer.Argument(help="A TOML file: play, instead of counts.", metavar="CONFIG.toml")
    ] = None,
    wdl: Wdl = None,
    pairs: Pairs = None,
    elo0: Annotated[float | None, typer.Option(help="The difference by H0; 0 when left out.")] = None,
    elo1: Annotated[float | None, typer.Option(help="The difference by H1; 5 when left out.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Chance to accept H1 though H0 holds; 0.05.")] = None,
    beta: Annotated[float | None, typer.Option(help="Chance to accept H0 though H1 holds; 0.05.")] = None,
    model: Annotated[Model | None, typer.Option(help="What elo0 and elo1 are; normalized when left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to store the run; runs/NAME when left out.")] = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option(help="Of CONFIG: go on with the run that is there.")] = False,
    as_json: Json = False,
) -> None:
    """The sequential probability ratio test between two Elo differences: may one stop, and with which verdict?

    Of counts; or live, of a configuration with format = "sprt": each candidate plays the base until its test ends.
    """
    _exactly_one({"CONFIG.toml": config, "--wdl": wdl, "--pairs": pairs})
    given = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta, "model": model and model.value}
    given = {name: value for name, value in given.items() if value is not None}
    if config is None:
        if out or workers or resume:
            raise typer.BadParameter("--out, --workers and --resume are for CONFIG.toml: counts are not played")
        _print_test(given, _checked(pairs or wdl), as_json)
    elif given:
        names = ", ".join(f"--{name}" for name in given)
        example = "sprt = { elo0 = 0, elo1 = 5 }"
        raise typer.BadParameter(f"{names} cannot be added to a file: say it in {config}, as {example}")
    else:
        _play_test(config, out or Path("runs", config.stem), workers, resume, as_json)


def _print_test(options, counts, as_json) -> None:
    """The state of a test, from counts of games (wins, draws, losses) or of pairs."""
    from arena.config.options import SprtTable
    from results.sprt import Sprt

    try:
        test = Sprt(**SprtTable().model_dump() | options)
        state = test.state(counts if len(counts) == 5 else counts[::-1])
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if as_json:
        typer.echo(json.dumps(asdict(state)))
        return
    bounds = f"{state.lower:.2f} to {state.upper:.2f}"
    typer.echo(f"LLR {state.llr:.2f} ({bounds}), {test.model} Elo {test.elo0:g} against {test.elo1:g}")
    typer.echo(_verdict_in_words(state.verdict, test.elo0, test.elo1))


def _verdict_in_words(verdict, elo0, elo1) -> str:
    return {
        "H0": f"H0 is accepted: the difference is {elo0:g}, or less.",
        "H1": f"H1 is accepted: the difference is {elo1:g}, or more.",
        "continue": "Neither is accepted: play on.",
    }[verdict]


def _play_test(path, out, workers, resume, as_json) -> None:
    """Play until every test has ended, and tell the verdicts."""
    from arena.commands.play import exit_if_void, run_shown, tell_notes
    from arena.config.config import load
    from arena.config.options import SPRT
    from arena.formats.formats import Plan

    config = load(path)
    if config.format != SPRT:
        raise typer.BadParameter(f'{path} has the format {config.format}; a sequential test has format = "{SPRT}"')
    played = run_shown(config, out, workers, resume)
    reports = Plan.of(played).rounds.reports()
    if as_json:
        typer.echo(json.dumps((reports[0] if len(reports) == 1 else {}) | {"tests": reports}, indent=1))
    else:
        for report in reports:
            verdict = _verdict_in_words(report["verdict"], config.sprt.elo0, config.sprt.elo1)
            if report["verdict"] == "continue":
                verdict = f"Neither is accepted after {config.games} games; --resume goes on with more games in {path}."
            typer.echo(f"{report['candidate']} against {report['base']}, {config.sprt.model} Elo: {verdict}")
    tell_notes(played)
    tell(f"\nThe run lies in {out}. Its tables: arena table {out} --kind pairs")
    exit_if_void(played)


def _exactly_one(given: dict) -> None:
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        what = f"{' and '.join(named)} cannot be given together" if named else "nothing is given"
        raise typer.BadParameter(f"{what}: give one of {', '.join(given)}")


def _checked(counts):
    if not all(0 <= count <= MOST_GAMES for count in counts):
        raise typer.BadParameter(f"counts {' '.join(map(str, counts))} are out of range: each can be 0 to {MOST_GAMES}")
    if not any(counts):
        raise typer.BadParameter("all counts are 0: there is nothing to estimate from")
    return counts


def _anchor(text):
    """`uct=1500` -> ("uct", 1500.0); a name may hold "=" too."""
    name, _, elo_text = text.rpartition("=")
    try:
        return name.strip(), float(elo_text)
    except ValueError:
        raise typer.BadParameter(f"--anchor {text!r} is not of the form NAME=ELO") from None


def _estimate(wdl, pairs):
    from results.elo import pentanomial, trinomial

    return pentanomial(_checked(pairs)) if pairs else trinomial(*_checked(wdl))


def _plain(estimate) -> dict:
    """An estimate as JSON; `bound` is there only where elo is one, because the score is perfect."""
    values = asdict(estimate)
    return {key: values[key] for key in KEYS} | ({"bound": estimate.bound} if estimate.bound else {})


def _print_estimate(estimate, of, as_json) -> None:
    if as_json:
        typer.echo(json.dumps(_plain(estimate)))
        return
    if estimate.bound:
        bound = f"{estimate.bound} {estimate.elo:+.2f}"
        typer.echo(f"Elo          {bound}: a perfect score has a bound (95 %), no estimate")
    else:
        typer.echo(f"Elo          {estimate.elo:+.2f} ± {estimate.error:.2f}")
    if estimate.nelo is not None:
        typer.echo(f"nElo         {estimate.nelo:+.2f} ± {estimate.nelo_error:.2f}")
    typer.echo(f"LOS          {100 * estimate.los:.2f} %")
    typer.echo(f"Draw ratio   {100 * estimate.draw_ratio:.2f} %, of {of}")
    if estimate.pairs_ratio is not None:
        typer.echo(f"Pairs ratio  {estimate.pairs_ratio:.2f}")


def _print_ratings(folder, options, samples, as_json) -> None:
    import results
    from results.ratings import AnchorError
    from results.tables import differences, standings

    tournament = results.load(folder)
    try:
        ratings = tournament.rate(**options)
    except AnchorError as error:
        raise typer.BadParameter(str(error)) from None
    frame = standings(tournament.names, tournament.games, ratings)
    if samples:
        resampled = tournament.bootstrap(samples, **options).drop(columns="error")
        frame = frame.merge(resampled.rename(columns={"low": "bootstrap_low", "high": "bootstrap_high"}), on="agent")
    pool = {"draws": options["draws"]} | {name: getattr(ratings, name) for name in POOL}
    notes = tournament.notes_of(ratings)
    if as_json:
        tables = {"ratings": frame, "differences": differences(ratings), "pairs": tournament.pairs()}
        rows = {name: _records(table) for name, table in tables.items()}
        typer.echo(json.dumps(pool | rows | {"notes": notes}, indent=1))
        return
    frame.attrs["kind"] = "standings"
    print_table(frame, as_json=False, title="Ratings")
    typer.echo(_advantage_in_words(pool))
    print_table(_estimated(tournament.pairs()), as_json=False, title="\nPairs")
    for note in notes:
        tell(note)


def _records(frame) -> list[dict]:
    """Rows in plain values, None where one is missing."""
    from results.export import render

    return json.loads(render(frame, "json"))


def _advantage_in_words(pool) -> str:
    if pool["advantage_error"] is None:
        advantage = "The first player's advantage is taken as 0"
    else:
        advantage = f"The first player's advantage is {pool['advantage']:+.0f} ± {pool['advantage_error']:.0f} Elo"
    if pool["draws"] == Draws.half:
        return f"{advantage}; draws count as half a win and half a loss."
    return f"{advantage}; {100 * pool['draw_rate']:.1f} % of games of equals are drawn."


def _estimated(pairs):
    """The table of pairs with what is estimated of each, instead of its counts."""
    from results.tables import ESTIMATED

    frame = pairs[["a", "b", "games", "score", *ESTIMATED]].copy()
    frame.attrs["kind"] = "estimates"
    return frame
