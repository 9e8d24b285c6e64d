"""`arena sprt`: the sequential probability ratio test."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.counts import Pairs, Wdl, checked_counts, exactly_one
from arena.commands.options import Json, LogLevel, OutFolder, Verbose, Workers
from arena.commands.output import say, tell
from arena.commands.playing import exit_if_void, run_shown, tell_notes

Model = StrEnum("Model", ["normalized", "logistic"])


@command(
    Panel.PLAY,
    examples="arena sprt --wdl 36433 68692 36027 --elo0 0 --elo1 2\n"
    "arena sprt --pairs 365 16618 36229 16974 390 --elo0 0 --elo1 2 --alpha 0.05 --beta 0.05 --model normalized\n"
    "arena sprt test.toml --out runs/test\narena sprt test.toml --out runs/test --resume",
)
def sprt(
    config: Annotated[
        Path | None, typer.Argument(help="A TOML file: play, instead of counts.", metavar="CONFIG.toml")
    ] = None,
    wdl: Wdl = None,
    pairs: Pairs = None,
    elo0: Annotated[float | None, typer.Option(help="The difference by H0. Default: 0.")] = None,
    elo1: Annotated[float | None, typer.Option(help="The difference by H1. Default: 5.")] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Probability of accepting H1 although H0 holds. Default: 0.05.")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(help="Probability of accepting H0 although H1 holds. Default: 0.05.")
    ] = None,
    model: Annotated[Model | None, typer.Option(help="The Elo of elo0 and elo1. Default: normalized.")] = None,
    out: OutFolder = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Of CONFIG.toml: continue the run in --out.")] = False,
    verbose: Verbose = 0,
    log_level: LogLevel = None,
    as_json: Json = False,
) -> None:
    """Test which of two Elo differences holds, and stop early.

    This is the sequential probability ratio test: of counts of results, or live.  With a configuration that has
    format = "sprt", each candidate plays the base until its test ends.
    """
    exactly_one({"CONFIG.toml": config, "--wdl": wdl, "--pairs": pairs})
    options = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta, "model": model and model.value}
    given = {name: value for name, value in options.items() if value is not None}
    if config is None:
        if out or workers or resume:
            raise typer.BadParameter("--out, --workers and --resume are for CONFIG.toml: counts are not played")
        _print_test(given, checked_counts(pairs or wdl), as_json)
    elif given:
        names = ", ".join(f"--{name}" for name in given)
        example = "sprt = { elo0 = 0, elo1 = 5 }"
        raise typer.BadParameter(f"{names} cannot be added to a file: say it in {config}, as {example}")
    else:
        _play_test(config, out or Path("runs", config.stem), workers, resume, as_json)


def _print_test(options: dict, counts: tuple[int, ...], as_json: bool) -> None:
    """Print the state of a test after counts of games (wins, draws, losses) or of pairs."""
    from arena.formats.sprt import SprtTable
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
    say(f"LLR {state.llr:.2f} ({bounds}), {test.model} Elo {test.elo0:g} against {test.elo1:g}")
    say(_verdict_in_words(state.verdict, test.elo0, test.elo1))


def _verdict_in_words(verdict: str, elo0: float, elo1: float) -> str:
    return {
        "H0": f"H0 is accepted: the difference is {elo0:g}, or less.",
        "H1": f"H1 is accepted: the difference is {elo1:g}, or more.",
        "continue": "Neither is accepted: play on.",
    }[verdict]


def _play_test(path: Path, out: Path, workers: int | None, resume: bool, as_json: bool) -> None:
    """Play until every test has ended, and tell the verdicts."""
    from arena.config.loading import load
    from arena.formats.schedule import Schedule
    from arena.formats.sprt import SequentialTest

    config = load(path)
    if config.format != SequentialTest.name:
        wanted = f'a sequential test has format = "{SequentialTest.name}"'
        raise typer.BadParameter(f"{path} has the format {config.format}; {wanted}")
    played = run_shown(config, out, workers, resume)
    test, schedule = config.values["sprt"], Schedule.of(played)
    reports = schedule.reports() if schedule else []
    if as_json:
        typer.echo(json.dumps((reports[0] if len(reports) == 1 else {}) | {"tests": reports}, indent=1))
    else:
        for report in reports:
            verdict = _verdict_in_words(report["verdict"], test["elo0"], test["elo1"])
            if report["verdict"] == "continue":
                played_out = f"Neither is accepted after {config.values['games']} games"
                verdict = f"{played_out}; --resume continues with more games in {path}."
            where = f"{report['condition']}: " if "condition" in report else ""
            say(f"{where}{report['candidate']} against {report['base']}, {test['model']} Elo: {verdict}")
    tell_notes(played)
    tell(f"\nThe run is stored in {out}. Its tables: arena table {out} --kind pairs")
    exit_if_void(played)
