"""`arena tablebase`: a file of solved end-games."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Moves
from arena.commands.output import write_whole


@command(
    examples='arena tablebase "nim(heaps=[1, 3, 5, 7])" --out nim.table\n'
    'arena tablebase "breakthrough(rows=5, columns=5)" --pieces 4 --out end.table\n'
    'arena solve "breakthrough(rows=5, columns=5)" --agent "dfpn(tablebase=\'end.table\')" --moves "2a3a"'
)
def tablebase(
    game: Annotated[str, typer.Argument(help='A game such as "othello(size=4)".', metavar="GAME")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    moves: Moves = "",
    pieces: Annotated[
        int | None, typer.Option(help="Instead of moves: all end-games of at most so many pieces.")
    ] = None,
    most: Annotated[int, typer.Option(help="Positions that there may be; each takes 13 bytes.")] = 10_000_000,
) -> None:
    """Compute the exact value of every position of an end-game, and keep them in a file.

    Agents use it as tablebase='FILE'.
    """
    import games
    from arena.study.preparing import endgame_table

    if pieces is not None and moves:
        raise typer.BadParameter("--pieces and --moves say two different things: give one of them")
    if most < 1:
        raise typer.BadParameter(f"--most {most} is out of range: it can be 1 or more")
    made = games.make(game)
    data, positions = endgame_table(made, made.read_line(moves)[1], pieces, most)
    write_whole(out, data)
    typer.echo(f"{positions:,} positions of {made}, {len(data) / 2**20:.1f} MiB, in {out}")
