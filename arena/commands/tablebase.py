"""`arena tablebase`: a file of solved end-games."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Force, Game, Moves, OutputFile, at_least
from arena.commands.output import check_free, say, write_whole
from arena.commands.progress import progress_line


@command(
    Panel.STUDY,
    examples='arena tablebase "nim(heaps=[1, 3, 5, 7])" --output nim.table\n'
    'arena tablebase "breakthrough(rows=5, columns=5)" --pieces 4 --output end.table\n'
    'arena solve "breakthrough(rows=5, columns=5)" --agent "dfpn(tablebase=\'end.table\')" --moves "2a3a"',
)
def tablebase(
    game: Game,
    output: OutputFile,
    moves: Moves = "",
    pieces: Annotated[int | None, typer.Option(help="Instead of moves: all end-games of at most N pieces.")] = None,
    most: Annotated[
        int, typer.Option(callback=at_least(1), help="The most positions that the table may hold, at 13 bytes each.")
    ] = 10_000_000,
    force: Force = False,
) -> None:
    """Write a file of the exact values of end-games.

    Covers all positions that can follow from one, or all positions of a few pieces.  Agents use it as tablebase='FILE'.
    """
    from arena import games
    from arena.study.preparing import endgame_table

    if pieces is not None and moves:
        raise typer.BadParameter("--pieces and --moves contradict each other: give one of them")
    check_free(output, force)
    made = games.make(game)
    with progress_line(f"solving end-games of {made}"):
        data, positions = endgame_table(made, made.read_line(moves)[1], pieces, most)
    write_whole(output, data, force)
    say(f"{positions:,} positions of {made}, {len(data) / 2**20:.1f} MiB, in {output}")
