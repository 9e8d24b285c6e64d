"""Commands that hand records of games to other programs and take theirs: export and import."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import command, print_table, tell, write_whole

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
    from results.exchange import to_jsonl, to_pgn
    from results.store import Store

    with Store.open(folder) as store:
        if format is not Record.jsonl and store.meta.get("config", {}).get("format") == "single_player":
            raise typer.BadParameter(f"--format {format} is for games of two players; jsonl holds those for one too")
        if format is Record.jsonl:
            text = "".join(map(to_jsonl, store.records()))
        elif format is Record.pgn:
            event = store.meta.get("config", {}).get("instances", ["?"])[0]
            text = "".join(to_pgn(record, event) for record in store.records())
        else:
            text = _sgf(store)
    if output:
        write_whole(output, text.encode())
    else:
        typer.echo(text, nl=False)


@command(examples="arena import results.csv --out runs/elsewhere\narena import games.pgn --out runs/chess")
def import_(
    file: Annotated[Path, typer.Argument(help="A file .csv, .pgn or .jsonl.", metavar="FILE")],
    out: Annotated[Path | None, typer.Option(help="Where to store the results; runs/NAME when left out.")] = None,
) -> None:
    """Store the results of games played elsewhere, so that they are rated and shown like a run's.

    A CSV file has a heading with first, second and outcome (1, 0.5, 0 or 1-0, 1/2-1/2, 0-1, of the first player);
    of a PGN file the headers White, Black and Result are read, and the moves.
    """
    import results
    from results.exchange import players
    from results.store import Store

    records = _read(file)
    if not records:
        raise typer.BadParameter(f"{file} holds no game with a result")
    folder = out or Path("runs", file.stem)
    agents = [{"name": name, "spec": "unknown"} for name in players(records)]
    with Store.create(folder, {"imported": {"file": file.name}}, agents) as store:
        try:
            store.add_all(records)
        except BaseException:
            store.path.unlink()
            raise
    tournament = results.load(folder)
    print_table(tournament.table("standings"), as_json=False)
    for note in tournament.notes():
        tell(note)
    tell(f"\n{len(records)} games are stored in {folder}. What reads a run reads them: arena elo {folder}")


def _read(file):
    from results.exchange import ExchangeError, from_csv, from_jsonl, from_pgn

    readers = {".csv": from_csv, ".pgn": from_pgn, ".jsonl": from_jsonl}
    if file.suffix.lower() not in readers:
        raise typer.BadParameter(f"{file} is not a file {', '.join(readers)}")
    try:
        data = file.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if file.suffix.lower() != ".pgn":
            raise typer.BadParameter(f"{file}: byte {error.start} is not UTF-8") from None
        text = data.decode("latin-1")  # the character set of the format's own standard
    try:
        return readers[file.suffix.lower()](text)
    except ExchangeError as error:
        raise typer.BadParameter(f"{file}: {error}") from None


def _sgf(store) -> str:
    from arena.config.config import make_all
    from arena.report.sgf import to_sgf

    config = store.config
    game, _ = make_all(config["plugins"], config["instances"][0], [], config["plugin_path"])
    try:
        return "".join(to_sgf(game, record) for record in store.records())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
