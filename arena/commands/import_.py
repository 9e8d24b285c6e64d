"""`arena import`: results of games played elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.output import print_table, tell


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
