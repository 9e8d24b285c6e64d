"""`arena study schemes`: parallel schemes of tree search against their serial searches."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import command
from arena.commands.completion import complete_agent
from arena.commands.output import answered, print_table, quoted, records_of, tell
from arena.commands.playing import Where, playing_study
from arena.commands.progress import progress_line
from arena.commands.study import rendered, studies

StudyFile = Annotated[Path | None, typer.Argument(help="A TOML file that describes the study.", metavar="FILE.toml")]
SeveralGames = Annotated[list[str] | None, options.games_option("A game; may be repeated, each a study of its own.")]
Schemes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AGENT",
        help="A parallel search such as tree or \"root(search='grave', workers=1..8)\"; may be repeated. Default: six.",
        autocompletion=complete_agent,
    ),
]
Sizes = Annotated[str, typer.Option(help="Workers of schemes that do not say their own.")]
Playouts = Annotated[str, typer.Option(help="Playouts of each worker for a move; several budgets by commas.")]
Games = Annotated[int, typer.Option("--games", "-n", help="Games of each match, an even number.")]
OpeningPlies = Annotated[int, typer.Option(help="Random plies before the searches begin.")]
Seed = Annotated[int, typer.Option(help="The seed of openings and searches.")]
Serial = Annotated[
    str,
    typer.Option(
        help="A search to compare all schemes with. Default: each with its own.", autocompletion=complete_agent
    ),
]
Threads = Annotated[bool, typer.Option("--threads", help="Play with real threads instead of simulated workers.")]
SpeedSeconds = Annotated[
    float, typer.Option(callback=options.at_least(0), help="Seconds of each measurement of speed; 0: none.")
]
SECONDS = 0.5
RESUMED = options.WITH_RESUME | {"file"}  # what may be given with --resume: a file can extend the study


@command(
    group=studies,
    examples='arena study schemes --game connect4 --game "breakthrough(rows=6, columns=6)" --out runs/schemes\n'
    "arena study schemes schemes.toml\n"
    "arena study schemes --game connect4 --scheme root --scheme \"tree(search='grave', workers=1..8)\" --playouts 64\n"
    "arena study schemes --out runs/schemes --resume",
    as_json=True,
)
def schemes(
    context: typer.Context,
    file: StudyFile = None,
    *,
    game: SeveralGames = None,
    scheme: Schemes = None,
    sizes: Sizes = "1,2,4,8,16",
    playouts: Playouts = "100",
    games: Games = 200,
    opening_plies: OpeningPlies = 2,
    seed: Seed = 0,
    threads: Threads = False,
    serial: Serial = "",
    speed_seconds: SpeedSeconds = SECONDS,
    out: options.RunFolder = None,
    resume: options.ResumeAlone = False,
    where: Where,
) -> None:
    """Compare parallel schemes of tree search with their serial searches.

    For each game and budget: Elo at equal time and at equal playouts (search overhead), strength speed-up, efficiency,
    speed on threads. Simulated workers give the same result on any machine. A file has the options' words as keys; with
    --resume it may have more games, instances, schemes, workers or playouts than what was played, which is kept.
    """
    given = options.given(context, context.params.keys() - RESUMED)
    if file and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be added to a file: say it in {file}")
    if resume and (given or (out is None and file is None)):
        raise typer.BadParameter("--resume continues the study in --out, and needs nothing else, but for a file")
    if not (resume or file or game):
        raise typer.BadParameter("give a --game, or a file, or --resume with --out")
    from arena.study.schemes import SCHEMES, SchemesStudy, read_file

    study = None
    if file:
        study = read_file(file)
    elif not resume:
        several = tuple(game or ()), tuple(scheme or SCHEMES), options.sizes_of(sizes)
        numbers = games, opening_plies, seed
        study = SchemesStudy(*several, _budgets(playouts), *numbers, threads, serial)
    out = out or (Path("runs", file.stem) if file else options.free_folder("schemes"))
    _play(study, out, resume, where, speed_seconds)


def go_on(out: Path, where: Where) -> None:
    """Play the rest of a stored study."""
    _play(None, out, True, where, SECONDS)


def _play(study, out: Path, resume: bool, where: Where, speed_seconds: float) -> None:
    from arena.study.schemes import run

    with playing_study(out, where) as playing:
        run(study, out, resume, playing)
    _publish(out, speed_seconds)


def _budgets(text: str) -> tuple[int, ...]:
    """`100,400` -> (100, 400), of --playouts."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--playouts {text!r} is not a number, or a list such as 100,400") from None


def _publish(out: Path, speed_seconds: float) -> None:
    """Measure the speed on threads; write and print the results."""
    from arena.games.core.shared.files import write_whole
    from arena.results.papers.paper_figures import of_schemes, picture
    from arena.results.papers.strength_figures import WIDTH
    from arena.results.papers.strength_scaling import shown, shown_speeds
    from arena.results.shown.kinds import PICTURES
    from arena.study.schemes import SchemesStudy, load

    study = SchemesStudy.read(out)
    frame, speeds = load(out), _speeds(study, out, speed_seconds)
    draw, height = of_schemes(frame, speeds, "schemes", WIDTH)
    for format in PICTURES:
        write_whole(out / f"schemes.{format}", picture(draw, (WIDTH, height), format), out)
    write_whole(out / "scaling.csv", rendered(frame, "csv").encode(), out)
    readable = {"scaling": shown(frame)} | ({} if speeds is None else {"throughput": shown_speeds(speeds)})
    for name, table in readable.items():
        write_whole(out / f"{name}.tex", rendered(table, "latex").encode(), out)
    throughput = {} if speeds is None else {"throughput": records_of(speeds)}
    if not answered({"points": records_of(frame)} | throughput):
        _print(frame, speeds, out, study)


def _speeds(study, out: Path, seconds: float):
    """The table of speeds on threads, each measured once and stored; None without one."""
    from arena.games.core.shared.files import write_whole
    from arena.study.throughput import FILE, missing, stored, throughput

    known = stored(out)
    if not seconds or not missing(study, known):
        return known
    with progress_line() as show:
        table = throughput(study, seconds, lambda text: show(f"measuring {text}"), known)
    write_whole(out / FILE, rendered(table, "csv").encode(), out)
    return table


def _print(frame, speeds, out: Path, study) -> None:
    from arena.results.papers.strength_scaling import notes, shown, shown_speeds
    from arena.study.schemes import versions
    from arena.study.throughput import missing

    for number, (_, cell) in enumerate(frame.groupby(["game", "playouts"], sort=False)):
        table = shown(cell)
        print_table(table, f"{chr(10) * (number > 0)}{table.attrs['caption']}")
    if study.threads and frame["time"].isna().any():
        tell("Time is not known where there are more threads than cores: that is no measure of time.")
    tell(*notes(frame), *study.notes(), *versions(out))
    if speeds is not None:
        table = shown_speeds(speeds)
        print_table(table, "\nSpeed on threads")
        tell(*table.attrs["notes"])
        left = dict.fromkeys(scheme for schemes in missing(study, speeds).values() for scheme in schemes)
        tell(*[f"Not measured for all games and threads: {', '.join(left)}."] * bool(left))
    tell(f"\nThe study is stored in {out}, the figure in {out / 'schemes.pdf'}, the table in {out / 'scaling.tex'}.")
    for kind in ("speedup", "equal_time"):
        tell(f"  arena plot {quoted(out)} {kind}")
    tell(f"  arena table {quoted(out)} --kind scaling --format markdown")
