"""Files prepared for a game: end-game tables, and opening books from stored runs."""

from pathlib import Path

from arena.agents.knowledge import book, tablebase
from arena.config import config as configuration
from arena.games.core.game import Game
from arena.results.database.record import Reason
from arena.results.database.store import StoreError

ENDINGS = (Reason.PLAYED_OUT, Reason.RESIGNED, *Reason.ADJUDICATED)  # games whose moves led to their results


def endgame_table(game: Game, state, pieces: int | None, most: int) -> tuple[bytes, int]:
    """(the file's bytes, number of positions) of the end-games of at most `pieces` pieces.

    If `pieces` is None, the table has all positions that can follow from `state`.  TablebaseError if the game cannot
    list such end-games, or there are more than `most` positions.
    """
    if pieces is None:
        roots, about = state, f"all that can follow from the position {game.render(state)!r}"
    else:
        try:
            roots, about = game.endgames(pieces), f"all positions of at most {pieces} pieces"
        except ValueError as error:
            raise tablebase.TablebaseError(str(error)) from error
    table = tablebase.build(game, roots, most)
    return tablebase.to_bytes(game, table, about), tablebase.positions(table)


def opening_book(folder: Path, plies: int, least: int) -> tuple[bytes, int, int]:
    """(the file's bytes, number of positions, number of games) of a book from a stored run.

    It has the moves of the first `plies` plies made in at least `least` of the games that reached their end.
    """
    from arena import results

    run = results.load(folder)
    game = game_of(run)
    played = run.games[run.games["reason"].isin(ENDINGS)]
    records = zip((played["opening_moves"] + " " + played["moves"]).tolist(), played["outcome"].tolist())
    made = book.build(game, records, plies, least)
    about = f"moves made {least} times or more in the first {plies} plies of {len(played)} games"
    return book.to_bytes(game, made, about), len(made), len(played)


def game_of(run) -> Game:
    """The two-player game of a stored run, whose plugins are imported.

    StoreError if the run is of one-player games or imported.
    """
    config = run.meta.get("config")
    if not config or run.single_player:
        what = "is of games for one player" if run.single_player else "holds results alone"
        raise StoreError(f"the run in {run.folder} {what}; this needs the moves of a game for two")
    if len(set(config["instances"])) > 1:
        raise StoreError(
            f"the run in {run.folder} is of {len(config['instances'])} games; this needs a run of one game"
        )
    return configuration.game_of(config)
