"""`arena curve`: how the best score grows during a search."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import BAD, Panel, command, complain
from arena.commands.options import Folder, Force
from arena.commands.output import check_free, picture_format, tell, write_picture
from results.kinds import PICTURES

Against = StrEnum("Against", ["playouts", "seconds"])


@command(
    Panel.READ,
    examples="arena curve runs/leftmove --output curve.svg\n"
    "arena curve runs/boards --instance 3 --against seconds --output board3.png",
)
def curve(
    folder: Folder,
    output: Annotated[Path, typer.Option("--output", "-o", help=f"The file to write: .{', .'.join(PICTURES)}.")],
    instance: Annotated[int, typer.Option(help="Which of the run's games for one player, from 1.")] = 1,
    against: Annotated[Against, typer.Option(help="The horizontal axis.")] = Against.playouts,
    force: Force = False,
) -> None:
    """Draw how the best score grows during a search.

    This is for games for one player and for agents that note when they find a better sequence, as nrpa and nmcs do.
    """
    import results

    if not picture_format(output):
        raise typer.BadParameter(f"--output {output}: a picture is one of .{', .'.join(PICTURES)}")
    check_free(output, force)
    run = results.load(folder)
    if not (run.single_player and 1 <= instance <= len(run.instances)):
        there = f"1 to {len(run.instances)}" if run.single_player else "none: its games are for two players"
        raise typer.BadParameter(f"--instance {instance} is out of range; this run has {there}")
    name = run.instances[instance - 1]
    improvements = run.improvements()
    noted = set(improvements["agent"][improvements["instance"] == name])
    shown = [agent for agent in run.names if agent in noted]
    if not shown:
        complain(f"no search of {name} has noted how its score grew; nrpa and nmcs do")
        raise typer.Exit(BAD)
    write_picture(output, run.plot.best_so_far(name, against.value).figure, force)
    tell(f"{output}: {', '.join(shown)}")
