"""`arena tablebase`: a file of solved end-games."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Force, Game, Moves, Out, at_least
from arena.commands.output import check_free, say, write_whole


@command(
    Panel.STUDY,
    examples='arena tablebase "nim(heaps=[1, 3, 5, 7])" --out nim.table\n'
    'arena tablebase "breakthrough(rows=5, columns=5)" --pieces 4 --out end.table\n'
    'arena solve "breakthrough(rows=5, columns=5)" --agent "dfpn(tablebase=\'end.table\')" --moves "2a3a"',
)
def tablebase(
    game: Game,
    out: Out,
    moves: Moves = "",
    pieces: Annotated[int | None, typer.Option(help="Instead of moves: all end-games of at most N pieces.")] = None,
    most: Annotated[
        int, typer.Option(callback=at_least(1), help="The most positions that the table may have; each takes 13 bytes.")
    ] = 10_000_000,
    force: Force = False,
) -> None:
    """Write a file of the exact values of end-games.

    They are all positions that can follow from one, or all of a few pieces.  Agents use it as tablebase='FILE'.
    """
    import games
    from arena.study.preparing import endgame_table

    if pieces is not None and moves:
        raise typer.BadParameter("--pieces and --moves say two different things: give one of them")
    check_free(out, force)
    made = games.make(game)
    data, positions = endgame_table(made, made.read_line(moves)[1], pieces, most)
    write_whole(out, data, force)
    say(f"{positions:,} positions of {made}, {len(data) / 2**20:.1f} MiB, in {out}")
