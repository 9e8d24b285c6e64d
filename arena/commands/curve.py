"""`arena curve`: how the best score grows during a search."""

import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import BAD, command, complain
from arena.commands.output import tell, write_whole

Against = StrEnum("Against", ["playouts", "seconds"])

FORMATS = (".svg", ".png", ".pdf")


@command(
    examples="arena curve runs/leftmove --output curve.svg\n"
    "arena curve runs/boards --instance 3 --against seconds --output board3.png"
)
def curve(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    output: Annotated[Path, typer.Option(help="The file to write: .svg, .png or .pdf.")],
    instance: Annotated[int, typer.Option(help="Which of the run's games for one player, from 1.")] = 1,
    against: Annotated[Against, typer.Option(help="What the best score is drawn against.")] = Against.playouts,
) -> None:
    """Draw how the best score of the agents that play by themselves grows while they search."""
    import results

    if output.suffix not in FORMATS:
        raise typer.BadParameter(f"--output {output}: a picture is one of {', '.join(FORMATS)}")
    tournament = results.load(folder)
    if not (tournament.single_player and 1 <= instance <= len(tournament.instances)):
        there = (
            f"1 to {len(tournament.instances)}" if tournament.single_player else "none: its games are for two players"
        )
        raise typer.BadParameter(f"--instance {instance} is out of range; of this run there are {there}")
    name = tournament.instances[instance - 1]
    improvements = tournament.improvements()
    noted = set(improvements["agent"][improvements["instance"] == name])
    shown = [agent for agent in tournament.names if agent in noted]
    if not shown:
        complain(f"no search of {name} has noted how its score grew; nrpa and nmcs do")
        raise typer.Exit(BAD)
    drawing = io.BytesIO()
    axes = tournament.plot_best_so_far(name, against.value)
    undated = {"metadata": {"Date": None}} if output.suffix == ".svg" else {}
    axes.figure.savefig(drawing, format=output.suffix[1:], dpi=150, **undated)
    write_whole(output, drawing.getvalue())
    tell(f"{output}: {', '.join(shown)}")
