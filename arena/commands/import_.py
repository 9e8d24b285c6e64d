"""`arena import`: results of games played elsewhere."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import VOID, Panel, command
from arena.commands.options import games_option
from arena.commands.output import print_table, tell
from arena.commands.progress import progress_line

MOST_BYTES = 256 << 20  # of a file; reading one takes about ten times as much memory
SUFFIXES = (".csv", ".pgn", ".sgf", ".jsonl")
WITH_RULES = (".pgn", ".sgf")  # by which their games are replayed
PACKED = (".gz", ".bz2", ".xz", ".zst")
MOST_NAMED = 5  # games that are left out, in the closing lines

Files = Annotated[
    list[Path],
    typer.Argument(
        help="Files .csv, .pgn, .sgf or .jsonl, also packed (.gz, .bz2, .xz, .zst), or folders of them; - for PGN or "
        "SGF from standard input.",
        metavar="FILE",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Store nothing unless every game can be stored.")]


@command(
    Panel.READ,
    examples="arena import results.csv --out runs/elsewhere\narena import games.pgn --game chess --out runs/chess\n"
    "arena import archive/ --game chess --strict\nzcat games.pgn.gz | arena import - --out runs/archive",
    as_json=True,
)
def import_(
    files: Files,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run's folder. Default: runs/, with the first file's name.")
    ] = None,
    game: Annotated[
        str,
        games_option("Replay the games by the rules of this game, and leave out what is illegal, or of another game."),
    ] = "",
    strict: Strict = False,
) -> None:
    """Store the results of games that were played elsewhere.

    They are rated and shown like those of a run.  A CSV file has a heading with first, second and outcome, which is the
    first player's: 1, 0.5 or 0, or 1-0, 1/2-1/2 or 0-1.  From a PGN file come the headers White, Black and Result and
    the moves, and for `arena export` the other headers and comments; with --game, every move must be legal, starting
    from the header FEN if there is one.  A game that cannot
    be stored is left out and counted, with exit code 1.  A file has at most 256 MiB.
    """
    from arena import results
    from arena.results.files.exchange import ExchangeError, joined

    left_out, notes, conditions = list[str](), list[str](), dict[str, int]()
    places = _places(files)
    wanted = _wanted(game, places) if game else None
    parts = []
    for place in places:
        with progress_line(f"reading {place.name}"):
            told, noted = (None if strict else list[str]()), list[str]()
            try:
                parts.append(_read(place, wanted, told, noted, conditions))
            except ExchangeError as error:
                raise typer.BadParameter(f"{place}: {error}") from None
            before = f"{place.name}, " if len(places) > 1 else ""
            left_out += [before + text for text in told or ()]
            notes += [before + text for text in noted]
    records = joined(parts)
    if not records:
        raise typer.BadParameter(f"{files[0]} holds no game with a result{_named(left_out)}")
    folder = out or Path("runs", _stem(places[0]))
    imported = {"file": places[0].name}
    known = all(conditions) and all(_kind(place) in WITH_RULES for place in places)
    _store(folder, imported | ({"games": list(conditions)} if known else {}), records)
    count = len(records)
    del parts, records  # what follows reads the store
    run = results.load(folder)
    print_table(run.table("standings"))
    for note in run.notes():
        tell(note)
    for note in _shortened(notes):
        tell(note)
    total = count + len(left_out)
    stored = f"{count:,} games are stored in {folder}"
    if left_out:
        stored = f"{total:,} games, {count:,} stored in {folder}; {len(left_out):,} left out{_named(left_out)}"
    tell(f"\n{stored}. Commands that read runs read them, such as arena elo {folder}")
    if left_out:
        tell("--strict refuses files with such games.")
        raise typer.Exit(VOID)


def _store(folder: Path, imported: dict, records: list) -> None:
    """Store the games; what cannot be stored leaves no store."""
    from arena.results.database.store import Store
    from arena.results.files.exchange import players

    agents = [{"name": name, "spec": "unknown"} for name in players(records)]
    with Store.create(folder, {"imported": imported}, agents) as store:
        try:
            store.add_all(records)
        except BaseException:
            store.path.unlink()
            raise


def _named(left_out: list[str]) -> str:
    return ": " + "; ".join(_shortened(left_out)) if left_out else ""


def _shortened(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    lines, more = [line.partition("; legal:")[0] for line in lines], len(lines) - MOST_NAMED
    return lines[:MOST_NAMED] + ([f"and {more:,} more"] if more > 0 else [])


def _places(files: list[Path]) -> list[Path]:
    """The files, with those that folders hold in order; BadParameter if one is of no kind that is read."""
    found = []
    for file in files:
        inside = sorted(path for path in file.rglob("*") if _kind(path)) if file.is_dir() else [file]
        if file.is_dir() and not inside:
            raise typer.BadParameter(f"{file} holds no file {', '.join(SUFFIXES)}")
        found += inside
    for file in found:
        if not _kind(file):
            raise typer.BadParameter(f"{file} is not a file {', '.join(SUFFIXES)}, packed or not")
    if twice := [str(file) for file, times in Counter(found).items() if times > 1]:
        raise typer.BadParameter(f"{twice[0]} is named twice")
    return found


def _kind(file: Path) -> str:
    """The suffix that says how a file is read; empty if none does."""
    if str(file) == "-":
        return ".pgn"
    suffix = (file.with_suffix("") if file.suffix.lower() in PACKED else file).suffix.lower()
    return suffix if suffix in SUFFIXES else ""


def _stem(file: Path) -> str:
    name = file.name if str(file) != "-" else "standard-input"
    return name.partition(".")[0] or "imported"


def _read(file: Path, wanted, left_out: list[str] | None, notes: list[str], conditions: dict[str, int]):
    """The games of a file that have a result."""
    from arena.results.files.decoding import declared, decoded
    from arena.results.files.exchange import from_csv, from_jsonl
    from arena.results.files.pgn_reader import from_pgn

    data, kind = _bytes(file), _kind(file)
    if str(file) == "-" and data.lstrip().startswith(b"("):
        kind = ".sgf"
    if kind == ".sgf":
        from arena.results.files.sgf import from_sgf

        return from_sgf(declared(data), wanted, left_out, notes, conditions)
    text = decoded(data)
    if kind == ".pgn":
        return from_pgn(text, wanted and _judge(wanted), left_out, notes, conditions)
    return from_csv(text, left_out, conditions) if kind == ".csv" else from_jsonl(text)


def _bytes(file: Path) -> bytes:
    """The contents, unpacked; BadParameter if there are too many."""
    from arena.games.core.files import read_bounded
    from arena.results.files.decoding import unpacked

    if str(file) == "-":
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    else:
        try:
            data = unpacked(file.suffix.lower(), read_bounded(file, MOST_BYTES), MOST_BYTES + 1)
        except (ValueError, EOFError) as error:
            raise typer.BadParameter(f"{file} cannot be unpacked: {error}") from None
    if len(data) > MOST_BYTES:
        raise typer.BadParameter(f"{file} has more than {MOST_BYTES:,} bytes")
    return data


def _wanted(spec: str, places: list[Path]):
    """What the games of the files must be."""
    from arena.results.files.legality import Wanted

    if other := [str(file) for file in places if _kind(file) not in WITH_RULES]:
        raise typer.BadParameter(f"--game is for files {', '.join(WITH_RULES)}, and {other[0]} is none")
    return Wanted.by_spec(spec)


def _judge(wanted):
    from arena.results.files.legality import judge_of

    return judge_of(wanted)
