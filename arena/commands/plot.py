"""`arena plot`: a figure of a stored run, for a paper."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import FILES, Folder, Force, output_option
from arena.commands.output import check_free, or_elsewhere, tell, write_whole
from arena.commands.progress import progress_line
from arena.games.core.shared import files
from arena.results.shown.kinds import ALL_FIGURES, PICTURES

Figures = StrEnum("Figures", ALL_FIGURES)  # type: ignore[misc]  # members known to results alone
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
    width: Width = "3.4in",
    height: Height = None,
    font: Font = None,
    style: Style = None,
    against: HorizontalAxis = Against.playouts,
    instance: Instance = None,
    panels: Panels = False,
    format: PictureFormat = None,
    output: Drawing = None,
    force: Force = False,
) -> None:
    """Draw a figure of a run, at the size it will be printed.

    Kinds are ratings, crosstable, cycles (scores less what Elo expects), study, strength (Elo against effort), sides
    (moving first), lengths, time and depth along the game; progress (ratings while games came in) and llr (of
    sequential tests); curves (the best score so far) for games of one player.  Of arena study schemes: speedup,
    equal_time and equal_playouts (Elo), throughput (playouts a second by threads), schemes, which has all of these,
    budgets (speed-up against playouts, where there are several numbers) and parameter (against the one that its schemes
    differ in, as of tree(virtual_loss=[0, 1, 3, 10])). Of arena tune: tuning (values against Elo), tuning_pairs (two
    parameters at once) and path (of SPSA).
    The colours can be told apart with any colour vision, and in grey print by markers and lines.
    """
    from arena.report.pieces import pieces_of
    from arena.results.papers import paper_figures

    chosen = _format(format, output)
    try:
        size = paper_figures.inches(width), paper_figures.inches(height) if height else None
    except ValueError as error:
        raise typer.BadParameter(f"--width or --height: {error}; it is such as 3.4in, 86mm or 246pt") from None
    check_free(output, force)
    with progress_line("drawing"):
        drawing, suits = pieces_of(folder).figure(kind.value, size[0], against.value, instance, panels)
        shape = size[0], size[1] or suits
        data = _picture(drawing, shape, chosen, style, font)
    target = output or folder / "plots" / f"{kind.value}.{chosen}"
    if output:
        write_whole(output, data, force)
    else:
        with or_elsewhere():
            files.write_whole(target, data, folder)
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
