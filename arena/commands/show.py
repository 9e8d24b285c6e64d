"""`arena show`: one stored game."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import BAD, command, complain
from arena.commands.options import Json
from arena.commands.output import print_table, write_whole


@command(
    examples="arena show runs/first 2v1-0007\narena show runs/first 2v1-0007 --ply 12\n"
    "arena show runs/morpion 1on1-0003 --picture grid.svg"
)
def show(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    id: Annotated[str, typer.Argument(help="A game's id, as `arena table DIR --kind games` lists it.", metavar="ID")],
    ply: Annotated[
        int | None, typer.Option(help="Draw the board after this many plies; the last one when left out.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="A file for the game's own drawing of that position (.svg), if it makes one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show one game: its moves, what the agents thought of them, and the board."""

    from arena.config.config import game_of
    from results.store import Store

    with Store.open(folder) as store:
        record = store.record(id)
        if as_json:
            typer.echo(json.dumps(asdict(record), indent=1))
            return
        config = store.config
    if ply is not None and not 0 <= ply <= record.plies:
        raise typer.BadParameter(f"--ply {ply} is out of range: the game has 0 to {record.plies} plies")
    game = game_of(config, record.condition)
    line = [*record.opening_moves.split(), *record.moves.split()][: record.plies if ply is None else ply]
    if picture:
        _draw(game, line, picture)
    if record.second is None:
        show_run(game, record, ply)
        return
    typer.echo(f"Game {record.id} of {game}, opening {record.opening}, seed {record.seed}")
    typer.echo(f"First: {record.first}\nSecond: {record.second}\nOpening: {record.opening_moves or 'none'}\n")
    if record.decisions:
        print_table(_decisions_frame(record), as_json=False)
    typer.echo(f"\nAfter {len(line)} of {record.plies} plies:\n\n{game.render(game.read_line(' '.join(line))[1])}\n")
    typer.echo(_result_in_words(record))


def _draw(game, line, path) -> None:
    """Write the game's own drawing of the position after a line."""
    drawing = game.picture(line)
    if drawing is None:
        raise typer.BadParameter(f"--picture: {game} makes no drawings; leave it out to see the board as text")
    write_whole(path, drawing.encode())


def _decisions_frame(record):
    """The decisions of a game as a table of moves, side by name."""

    import pandas as pd

    frame = pd.DataFrame([asdict(decision) for decision in record.decisions])
    frame["side"] = frame["side"].map({0: record.first, 1: record.second})
    counts = [name for name in ("playouts", "nodes", "depth") if frame[name].notna().any()]
    frame = frame.astype(dict.fromkeys(counts, "Int64")).rename(columns={"side": "agent"})
    frame = frame[["ply", "agent", "move", "value", *counts, "seconds"]]
    frame.attrs["kind"] = "moves"
    return frame


def _result_in_words(record) -> str:
    if record.outcome is None:
        return f"Void ({record.reason}): {record.detail}"
    winner = {1.0: f"{record.first} wins", 0.5: "Draw", 0.0: f"{record.second} wins"}[record.outcome]
    return f"{winner} ({record.reason}{': ' + record.detail if record.detail else ''}), after {record.plies} plies."


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
    typer.echo(f"\nAfter {len(shown)} of {record.plies} moves:\n\n{game.render(game.read_line(' '.join(shown))[1])}\n")
    if record.score is None:
        typer.echo(f"Broken off ({record.reason}): {record.detail}")
        return
    end = game.read_line(" ".join(names))[1]
    score = float(game.score(end)) if game.is_over(end) else None
    if score != record.score:
        found = "no end" if score is None else f"the score {score:g}"
        complain(f"the rules give {found}, and {record.score:g} is stored")
        raise typer.Exit(BAD)
    typer.echo(f"Score {score:,.10g} after {record.plies} moves, verified by the rules.")
