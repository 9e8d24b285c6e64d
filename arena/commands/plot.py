"""`arena plot`: a figure of a stored run, for a paper."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from arena.commands.application import BAD, Panel, command, complain
from arena.commands.options import FILES, Folder, Force, output_option
from arena.commands.output import check_free, tell, write_whole
from arena.commands.progress import progress_line
from arena.results.shown.kinds import OF_SCHEMES, PICTURES

Figures = StrEnum(  # type: ignore[misc]  # members known to results alone
    "Figures",
    ["ratings", "crosstable", "study", "strength", "sides", "lengths", "time", "depth", "curves", *OF_SCHEMES],
)
Against = StrEnum("Against", ["playouts", "seconds", "nodes"])
Picture = StrEnum("Picture", PICTURES)  # type: ignore[misc]  # members known to results alone

Kind = Annotated[Figures, typer.Argument(help="The figure.", metavar="KIND")]
Width = Annotated[str, typer.Option(help="Such as 3.4in, 86mm or 246pt.")]
Height = Annotated[str | None, typer.Option(help="Likewise. Default: to suit the width, or the rows.")]
Font = Annotated[str | None, typer.Option(help="serif, sans, or a family's name. Default: the style's.")]
Style = Annotated[
    str | None, typer.Option(help="A style of matplotlib: a file .mplstyle, or a name. Default: our own.")
]
HorizontalAxis = Annotated[Against, typer.Option(help="For strength and curves: the horizontal axis.")]
Instance = Annotated[
    int | None, typer.Option(help="For curves: the number of one of the run's games, from 1. Default: the mean of all.")
]
Panels = Annotated[bool, typer.Option("--panels", help="For curves: a panel for each game.")]
PictureFormat = Annotated[
    Picture | None, typer.Option("--format", "-f", help="Default: the output's, or pdf.", rich_help_panel=FILES)
]
Drawing = Annotated[Path | None, output_option("The file to write. Default: DIR/plots/KIND.FORMAT.")]


class Print(NamedTuple):
    """The options of how a figure is printed."""

    width: Width = "3.4in"
    height: Height = None
    font: Font = None
    style: Style = None


class Axes(NamedTuple):
    """The options of what stands on the axes of curves."""

    against: HorizontalAxis = Against.playouts
    instance: Instance = None
    panels: Panels = False


@command(
    Panel.READ,
    examples="arena plot runs/first ratings\n"
    "arena plot runs/first crosstable --width 3.4in --font serif --format pdf\n"
    "arena plot runs/boards curves --panels --output curves.pdf\n"
    "arena plot runs/schemes speedup --style mine.mplstyle",
)
def plot(
    folder: Folder,
    kind: Kind,
    print: Print,
    axes: Axes,
    format: PictureFormat = None,
    output: Drawing = None,
    force: Force = False,
) -> None:
    """Draw a figure of a run, at the size it will be printed.

    Kinds are ratings, crosstable, study, strength (Elo against effort), sides (moving first), lengths, time and depth
    along the game; curves (the best score so far) for games of one player.  Of arena study schemes: speedup,
    equal_time and equal_playouts (Elo), throughput (playouts a second by threads), schemes, which has all of these,
    budgets (speed-up against playouts, where there are several numbers) and parameter (against the one that its schemes
    differ in, as of tree(virtual_loss=[0, 1, 3, 10])).
    The colours can be told apart with any colour vision, and in grey print by markers and lines.
    """
    from arena.results.papers import paper_figures

    chosen = _format(format, output)
    try:
        size = paper_figures.inches(print.width), paper_figures.inches(print.height) if print.height else None
    except ValueError as error:
        raise typer.BadParameter(f"--width or --height: {error}; it is such as 3.4in, 86mm or 246pt") from None
    check_free(output, force)
    with progress_line("drawing"):
        drawing, suits = _drawing(folder, kind, size[0], **axes._asdict())
        shape = size[0], size[1] or suits
        data = _picture(drawing, shape, chosen, print.style, print.font)
    target = output or folder / "plots" / f"{kind.value}.{chosen}"
    target.parent.mkdir(exist_ok=True)
    write_whole(target, data, force=force or output is None)
    tell(f"{target}: {kind.value}, {shape[0]:.1f} inches wide")


def _picture(drawing, shape: tuple[float, float], format: str, style: str | None, font: str | None) -> bytes:
    """The file of a figure; BadParameter if there is no such style."""
    from arena.results.papers import paper_figures

    try:
        return paper_figures.picture(drawing, shape, format, style or paper_figures.STYLE, font)
    except OSError as error:
        if style is None:
            raise
        raise typer.BadParameter(f"--style {style}: {error}") from None


def _format(format: Picture | None, output: Path | None) -> str:
    """The format to write: by --format, or by the output's name."""
    named = output.suffix.lower().removeprefix(".") if output else ""
    if output and named not in PICTURES:
        raise typer.BadParameter(f"--output {output}: a picture is one of .{', .'.join(PICTURES)}")
    if format and named and format.value != named:
        raise typer.BadParameter(f"--format {format.value} and --output {output} contradict each other")
    return (format.value if format else "") or named or "pdf"


def _drawing(folder: Path, kind: Figures, width: float, **options):
    """The function that draws the figure, and the height that suits it."""
    from arena.results.papers import paper_figures

    if kind.value in OF_SCHEMES:
        from arena.study.schemes import load
        from arena.study.throughput import stored

        speeds = stored(folder)
        if kind.value == "throughput" and speeds is None:
            raise typer.BadParameter(f"throughput: the speed on threads was not measured in {folder}")
        frame = load(folder)
        if kind.value == "budgets" and frame["playouts"].nunique() < 2:
            raise typer.BadParameter(f"budgets: the study in {folder} has one number of playouts")
        if kind.value == "parameter":
            from arena.results.papers.parameter_axis import along

            try:
                frame = along(frame)
            except ValueError as error:
                raise typer.BadParameter(f"parameter: of the study in {folder}, {error}") from None
        return paper_figures.of_schemes(frame, speeds, kind.value, width)
    return _of_run(folder, kind.value, width, **options)


def _of_run(folder: Path, kind: str, width: float, **options):
    """The function that draws a figure of a run, and the height that suits it."""
    from arena import results
    from arena.results.papers import paper_figures

    run = results.load(folder)
    if kind not in paper_figures.kinds(run):
        raise typer.BadParameter(f"{kind} is not drawn of this run; there are {', '.join(paper_figures.kinds(run))}")
    against, instance = options["against"], options["instance"]
    if kind == "curves":
        _check_curves(run, against, instance)
        options["instance"] = run.instances[instance - 1] if instance else None
    elif kind == "strength" and not run.win_rates()[f"{against}_per_move"].gt(0).any():
        raise typer.BadParameter(f"--against {against}: no agent of this run has counted them")
    return paper_figures.draw(run, kind, options), paper_figures.height(run, kind, width)


def _check_curves(run, against: str, instance: int | None) -> None:
    if against == "nodes":
        raise typer.BadParameter("--against nodes is for strength; curves are against playouts or seconds")
    if instance is not None and not 1 <= instance <= len(run.instances):
        raise typer.BadParameter(f"--instance {instance} is out of range; this run has 1 to {len(run.instances)}")
    if run.improvements().empty:
        complain("no search has noted how its score grew; nrpa and nmcs do")
        raise typer.Exit(BAD)
