"""`arena import`: results of games played elsewhere."""

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.commands.application import VOID, Panel, command
from arena.commands.options import games_option
from arena.commands.output import print_table, tell
from arena.commands.progress import progress_line

if TYPE_CHECKING:
    from arena.results.files.sources import Source

OF_KIND = {".pdn": "checkers", ".wtb": "othello"}  # the games of files that are of one game
MOST_NAMED = 5  # games that are left out, in the closing lines

Files = Annotated[
    list[Path],
    typer.Argument(
        help="Files .csv, .pgn, .sgf, .pdn, .wtb or .jsonl, also packed (.gz, .bz2, .xz, .zst), archives (.zip, .tar), "
        "folders of them; - for PGN or SGF from standard input.",
        metavar="FILE",
    ),
]
Columns = Annotated[
    str,
    typer.Option(
        help="Which columns of a CSV file hold what, where that cannot be guessed: first=white_id,second=black_id,"
        "outcome=winner.",
        metavar="NAME=COLUMN,...",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Store nothing unless every game can be stored.")]


@command(
    Panel.READ,
    examples="arena import results.csv --out runs/elsewhere\narena import games.pgn --game chess --out runs/chess\n"
    "arena import archive/ --game chess --strict\narena import games.sgf --out runs/go\n"
    "arena import table.csv --columns first=home,second=guest --out runs/table\n"
    "zcat games.pgn.gz | arena import - --out runs/archive",
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
    columns: Columns = "",
    strict: Strict = False,
) -> None:
    """Store the results of games that were played elsewhere.

    They are rated and shown like those of a run.  A CSV file has a heading with first, second and outcome, which is the
    first player's: 1-0, 1, 0.5, draw, white ..., or with scores, or wins, draws and losses; other names of columns are
    guessed and told.  From PGN come White, Black, Result and the moves, and for `arena export` the other tags and
    comments; with --game, every move must be legal.  SGF is of the game that it names, or must be of that of --game,
    where its parameters say which.  A game that cannot be stored is left out and counted, with exit code 1.  A file has
    at most 256 MiB.
    """
    from arena import results
    from arena.results.files.exchange import joined
    from arena.results.files.sources import sources

    left_out, notes, conditions = list[str](), list[str](), dict[str, int]()
    places = sources(files)
    wanted = _wanted(game, places) if game else None
    named, parts = _named_columns(columns), []
    if named and not any(place.kind == ".csv" for place in places):
        raise typer.BadParameter(f"--columns is for files .csv, and {places[0].name} is none")
    for place in places:
        with progress_line(f"reading {Path(place.name).name}"):
            told, noted = (None if strict else list[str]()), list[str]()
            parts.append(_read_whole(place, wanted, told, noted, conditions, named))
            before = f"{Path(place.name).name}, " if len(places) > 1 else ""
            left_out += [before + text for text in told or ()]
            notes += [before + text for text in noted]
    records = joined(parts)
    if not records:
        raise typer.BadParameter(f"{files[0]} holds no game with a result{_named(left_out)}")
    folder = out or Path("runs", _stem(files[0]))
    imported = {"file": files[0].name}
    tells = game or all(place.kind not in (".csv", ".pgn", ".txt") for place in places)
    known = tells and all(map(_is_game, conditions))
    _store(folder, imported | ({"games": list(conditions)} if known else {}), records)
    count = len(records)
    del parts, records  # what follows reads the store
    run = results.load(folder)
    print_table(run.table("standings"))
    tell(*run.notes(), *_shortened(notes))
    _tell_stored(folder, count, left_out)


def _is_game(spec: str) -> bool:
    """Whether a file names a game that there is here."""
    from arena import games
    from arena.games.core.shared.registry import SpecError

    try:
        return bool(spec and games.make(spec))
    except SpecError:
        return False


def _tell_stored(folder: Path, count: int, left_out: list[str]) -> None:
    """The closing lines; exit code 1 if games were left out."""
    stored = f"{count:,} {'games are' if count > 1 else 'game is'} stored in {folder}"
    if left_out:
        total = count + len(left_out)
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
    from arena.results.printable import one_line

    more = len(lines) - MOST_NAMED
    named = [one_line(line.partition("; legal:")[0]) for line in lines[:MOST_NAMED]]
    return named + ([f"and {more:,} more"] if more > 0 else [])


def _stem(file: Path) -> str:
    name = file.name if str(file) != "-" else "standard-input"
    return name.partition(".")[0] or "imported"


def _named_columns(text: str) -> dict[str, str]:
    """`--columns` as what columns hold, and their names."""
    pairs = [part.partition("=") for part in text.split(",")] if text else []
    if wrong := [name for name, sign, column in pairs if not (sign and column.strip())]:
        raise typer.BadParameter(f"--columns: {wrong[0]!r} names no column, as first=white_id does")
    return {name.strip(): column.strip() for name, _, column in pairs}


def _read_whole(source: "Source", *options):
    """What `_read` returns; BadParameter names the source that cannot be read."""
    from arena.results.files.exchange import ExchangeError

    gc.disable()  # records have no cycles, and to look for some takes a tenth of the time
    try:
        return _read(source, *options)
    except ExchangeError as error:
        raise typer.BadParameter(f"{source.name}: {error}") from None
    finally:
        gc.enable()


def _read(source: "Source", wanted, left_out: list[str] | None, notes: list[str], conditions: dict[str, int], columns):
    """The games of a source that have a result."""
    from arena.results.files.csv_reader import from_csv
    from arena.results.files.decoding import declared, decoded
    from arena.results.files.exchange import from_jsonl
    from arena.results.files.pgn_reader import from_pgn
    from arena.results.files.sources import kind_of

    data = source.read()
    kind = kind_of(source, data)
    if kind == ".sgf":
        from arena.results.files.sgf import from_sgf

        return from_sgf(declared(data), wanted, left_out, notes, conditions)
    judge = _judge(wanted or OF_KIND.get(kind))
    if kind == ".wtb":
        from arena.results.files.thor import from_thor

        return from_thor(data, judge, left_out, notes, conditions, source.beside)
    text = decoded(data)
    if kind in (".pgn", ".pdn"):
        first = "Black" if kind == ".pdn" else "White"
        return from_pgn(text, judge, left_out, notes, conditions, first)
    if kind == ".csv":
        return from_csv(text, left_out, conditions, columns, notes, judge)
    return from_jsonl(text, conditions) if kind else []


def _wanted(spec: str, places: "list[Source]"):
    """What the games of the files must be."""
    from arena.results.files.legality import Wanted

    if other := [source.name for source in places if source.kind == ".jsonl"]:
        raise typer.BadParameter(f"--game is for files with results and moves, and {other[0]} holds whole records")
    return Wanted.by_spec(spec)


def _judge(wanted):
    """What replays games by the rules of what is wanted, a spec or more; None if nothing is."""
    from arena.results.files.legality import Wanted, judge_of

    return wanted and judge_of(Wanted.by_spec(wanted) if isinstance(wanted, str) else wanted)
