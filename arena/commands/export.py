"""`arena export`: records of games for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.output import write_whole

Record = StrEnum("Record", ["jsonl", "pgn", "sgf"])


@command(
    examples="arena export runs/first --output games.jsonl\n"
    "arena export runs/first --format pgn\narena export runs/go --format sgf --output games.sgf"
)
def export(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    format: Annotated[Record, typer.Option(help="jsonl holds everything; sgf is for go, hex, othello.")] = Record.jsonl,
    output: Annotated[Path | None, typer.Option(help="A file to write to, instead of the terminal.")] = None,
) -> None:
    """Write the records of all games of a run."""
    from results.conditions import conditions_of
    from results.exchange import to_jsonl, to_pgn
    from results.store import Store

    with Store.open(folder) as store:
        if format is not Record.jsonl and store.meta.get("config", {}).get("format") == "single_player":
            raise typer.BadParameter(f"--format {format} is for games of two players; jsonl holds those for one too")
        if format is Record.jsonl:
            text = "".join(map(to_jsonl, store.records()))
        elif format is Record.pgn:
            conditions = conditions_of(store.meta["config"]) if "config" in store.meta else []
            events = [condition.spec for condition in conditions] or ["?"]
            text = "".join(to_pgn(record, events[record.condition]) for record in store.records())
        else:
            text = _sgf(store)
    if output:
        write_whole(output, text.encode())
    else:
        typer.echo(text, nl=False)


def _sgf(store) -> str:
    from arena.config.config import game_of
    from arena.report.sgf import to_sgf

    config = store.config
    try:
        return "".join(to_sgf(game_of(config, record.condition), record) for record in store.records())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
