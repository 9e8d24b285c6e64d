"""`arena import`: results of games played elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Json, OutFolder, games_option
from arena.commands.output import print_table, tell
from arena.commands.progress import progress_line

MOST_BYTES = 256 << 20  # of a file; reading one takes about ten times as much memory


@command(
    Panel.READ,
    examples="arena import results.csv --out runs/elsewhere\narena import games.pgn --game chess --out runs/chess",
)
def import_(
    file: Annotated[Path, typer.Argument(help="A file .csv, .pgn or .jsonl.", metavar="FILE")],
    out: OutFolder = None,
    game: Annotated[
        str, games_option("Replay the games of a PGN file by the rules of this game, and refuse what is illegal.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Store the results of games that were played elsewhere.

    They are rated and shown like those of a run.  A CSV file has a heading with first, second and outcome, which is the
    first player's: 1, 0.5 or 0, or 1-0, 1/2-1/2 or 0-1.  From a PGN file come the headers White, Black and Result and
    the moves; with --game, every move must be legal, starting from the header FEN if there is one, and the header's
    result must agree with the rules.  A file has at most 256 MiB.
    """
    from arena import results
    from arena.results.exchange import players
    from arena.results.store import Store

    with progress_line(f"reading {file.name}"):
        records = _read(file, game)
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
    run = results.load(folder)
    print_table(run.table("standings"), as_json)
    for note in run.notes():
        tell(note)
    tell(
        f"\n{len(records)} games are stored in {folder}. Commands that read runs read them, such as arena elo {folder}"
    )


def _read(file: Path, game: str):
    """The games of a file that have a result, replayed if `game` is given."""
    from arena.games.core.files import read_bounded
    from arena.results.exchange import ExchangeError, from_csv, from_jsonl
    from arena.results.pgn import from_pgn

    readers = {".csv": from_csv, ".pgn": from_pgn, ".jsonl": from_jsonl}
    if file.suffix.lower() not in readers:
        raise typer.BadParameter(f"{file} is not a file {', '.join(readers)}")
    if game and file.suffix.lower() != ".pgn":
        raise typer.BadParameter(f"--game is for files .pgn, and {file} is none")
    judge = _judge(game) if game else None
    data = read_bounded(file, MOST_BYTES)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if file.suffix.lower() != ".pgn":
            raise typer.BadParameter(f"{file}: byte {error.start} is not UTF-8") from None
        text = data.decode("latin-1")  # the character set of the PGN standard
    try:
        return from_pgn(text, judge) if judge else readers[file.suffix.lower()](text)
    except ExchangeError as error:
        raise typer.BadParameter(f"{file}: {error}") from None


def _judge(spec: str):
    """A function for `from_pgn` that replays a game by these rules."""
    from arena import games
    from arena.results.exchange import OUTCOMES

    made = games.make(spec)

    def judge(tags, moves):
        game = made.from_pgn_tags(tags)
        state, names = game.initial(), []
        for name in moves:
            if game.is_over(state):
                raise ValueError(f"the game is over after {len(names)} plies, but {name} follows")
            move = game.parse_move(state, name)
            names.append(game.move_name(state, move))
            game.play(state, move)
        stated = OUTCOMES.get(tags["Result"])
        if stated is not None and game.is_over(state) and (score := float(game.score(state))) != 0.0:
            if stated != (1.0 if score > 0.0 else 0.0):
                raise ValueError(f"the result is {tags['Result']}, but by the rules the other side has won")
        return names

    return judge
