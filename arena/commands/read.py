"""Commands that read stored runs: table and show."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import Json, command, print_table, tell, terminal_width, write_whole
from arena.commands.solo import show_run

Kind = StrEnum(
    "Kind", ["standings", "crosstable", "pairs", "differences", "games", "moves", "win_rates", "scores", "improvements"]
)
Format = StrEnum("Format", ["text", "csv", "markdown", "latex", "html", "json", "parquet"])


@command(
    examples="arena table runs/first\n"
    "arena table runs/first --kind crosstable --format latex\n"
    "arena table runs/first --kind games --format parquet --output games.parquet"
)
def table(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    kind: Annotated[
        Kind | None, typer.Option(help="Which table; standings when left out, or scores of games for one player.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Leave out seconds, so that equal runs give equal tables.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="A file to write to, instead of the terminal.")] = None,
) -> None:
    """Print a table of a stored run, finished or not."""
    import results
    from results.export import render

    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not text: give --output FILE, or redirect the output")
    tournament = results.load(folder)
    kind = kind or Kind(tournament.kinds[0])
    if kind not in tournament.kinds:
        raise typer.BadParameter(f"--kind {kind}: of this run there are {', '.join(tournament.kinds)}")
    text = render(tournament.table(kind.value), format.value, times=not no_times, width=terminal_width())
    data = text if isinstance(text, bytes) else text.encode()
    if output:
        write_whole(output, data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    noted = (Kind.standings, Kind.crosstable, Kind.pairs, Kind.differences, Kind.scores)
    if kind in noted and format is Format.text:
        for note in tournament.notes():
            tell(note)


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
    from dataclasses import asdict

    from results.store import Store

    with Store.open(folder) as store:
        record = store.record(id)
        if as_json:
            typer.echo(json.dumps(asdict(record), indent=1))
            return
        config = store.config
    if ply is not None and not 0 <= ply <= record.plies:
        raise typer.BadParameter(f"--ply {ply} is out of range: the game has 0 to {record.plies} plies")
    game = _game_of(record, config)
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
    typer.echo(f"\nAfter {len(line)} of {record.plies} plies:\n\n{game.render(game.after_all(' '.join(line)))}\n")
    typer.echo(_result_in_words(record))


def _game_of(record, config):
    """The rules of a stored game."""
    from arena.config.config import make_all

    spec = config["instances"][record.condition]
    return make_all(config["plugins"], spec, [], config["plugin_path"])[0]


def _draw(game, line, path) -> None:
    """Write the game's own drawing of the position after a line."""
    drawing = game.picture(line)
    if drawing is None:
        raise typer.BadParameter(f"--picture: {game} makes no drawings; leave it out to see the board as text")
    write_whole(path, drawing.encode())


def _decisions_frame(record):
    """The decisions of a game as a table of moves, side by name."""
    from dataclasses import asdict

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
