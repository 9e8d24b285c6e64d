"""Games of a page as files: JSON lines, PGN and SGF."""

from arena.games.core.game import Game
from arena.results.database.record import GameRecord


def suffixes(game: Game) -> list[str]:
    """The formats that a game's records have."""
    return ["pgn", "jsonl", *(["sgf"] if game.sgf_number is not None else [])]


def text_of(game: Game, record: GameRecord, suffix: str) -> bytes:
    """A record in a format of `suffixes`."""
    from arena.results.files.exchange import to_jsonl
    from arena.results.files.pgn import to_pgn
    from arena.results.files.sgf import to_sgf

    if suffix == "jsonl":
        return to_jsonl(record, str(game)).encode()
    if suffix == "sgf":
        return to_sgf(game, record).encode()
    return to_pgn(record, str(game), tags_of_game=game.pgn_tags()).encode()
