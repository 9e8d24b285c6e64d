"""Commands on runs of games for one player: curve; and how `show` tells of such a run."""

import io
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import BAD, command, complain, tell, write_whole

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
        there = f"1 to {len(tournament.instances)}" if tournament.single_player else "none: its games are for two players"
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


def show_run(game, record, ply) -> None:
    """Tell of one run: what the search found and when, the board, and whether the rules agree with what is stored."""
    names = record.moves.split()
    typer.echo(f"Run {record.id} of {game}, seed {record.seed}\nAgent: {record.first}\n")
    for one in record.improvements[-10:]:
        typer.echo(f"  {one.score:>14,.6g}  after {one.playouts:,} playouts, {one.seconds:.2f} s")
    if record.improvements:
        typer.echo("")
    shown = names if ply is None else names[:ply]
    typer.echo(f"Moves: {' '.join(shown) or 'none'}")
    typer.echo(f"\nAfter {len(shown)} of {record.plies} moves:\n\n{game.render(game.after_all(' '.join(shown)))}\n")
    if record.score is None:
        typer.echo(f"Broken off ({record.reason}): {record.detail}")
        return
    end = game.after_all(" ".join(names))
    score = float(game.score(end)) if game.is_over(end) else None
    if score != record.score:
        found = "no end" if score is None else f"the score {score:g}"
        complain(f"the rules give {found}, and {record.score:g} is stored")
        raise typer.Exit(BAD)
    typer.echo(f"Score {score:,.10g} after {record.plies} moves, verified by the rules.")
