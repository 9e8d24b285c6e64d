"""`arena export`: records of games for other programs."""

from enum import StrEnum
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force, Output
from arena.commands.output import check_free, write_text

Record = StrEnum("Record", ["jsonl", "pgn", "sgf"])


@command(
    Panel.READ,
    examples="arena export runs/first --output games.jsonl\n"
    "arena export runs/first --format pgn\narena export runs/go --format sgf --output games.sgf",
)
def export(
    folder: Folder,
    format: Annotated[
        Record,
        typer.Option("--format", "-f", help="jsonl holds everything; pgn the moves; sgf is for go, hex and othello."),
    ] = Record.jsonl,
    output: Output = None,
    force: Force = False,
) -> None:
    """Write the records of a run's games for other programs."""
    check_free(output, force)
    from results.conditions import conditions_of
    from results.exchange import to_jsonl, to_pgn
    from results.store import Store

    with Store.open(folder) as store:
        config = store.meta.get("config", {})
        if format is not Record.jsonl and config.get("format") == "single_player":
            raise typer.BadParameter(f"--format {format} is for games of two players; jsonl holds those for one, too")
        if format is Record.jsonl:
            text = "".join(map(to_jsonl, store.records()))
        elif format is Record.pgn:
            events = [condition.spec for condition in conditions_of(config)] if config else ["?"]
            text = "".join(to_pgn(record, events[record.condition]) for record in store.records())
        else:
            text = _sgf(store)
    write_text(text, output, force)


def _sgf(store) -> str:
    from arena.config.config import game_of
    from arena.report.sgf import to_sgf

    config = store.config
    try:
        return "".join(to_sgf(game_of(config, record.condition), record) for record in store.records())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
