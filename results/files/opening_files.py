"""Files of openings: lines of moves, EPD, PGN, SGF, and Polyglot books, by the end of their names."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from arena.games.core.game import Game
from arena.games.core.random import random_below, stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import TEXT_BYTES, read_bounded, write_whole
from arena.results.files.decoding import declared, decoded
from arena.results.files.pgn_reader import games_in

MOST_BYTES = 1 << 28
ENTRY = np.dtype([("position", ">u8"), ("move", "V8")])  # of a Polyglot book
TRIES = 20  # draws from a book for each opening that is asked for

OpeningLine = tuple[str, str]
"""Where an opening stands, and its line: a position if it begins from one, then moves."""


class BadFile(UserError, ValueError):
    """A file of openings that cannot be read."""


def plain(text: str, game: Game) -> Iterator[OpeningLine]:
    """A line is an opening; empty lines and those that begin with # are none."""
    for number, line in enumerate(text.splitlines(), 1):
        if (word := line.strip()) and not word.startswith("#"):
            yield f"line {number}", word


def epd(text: str, game: Game) -> Iterator[OpeningLine]:
    """A line is a position; what an engine should find there is left out."""
    for place, line in plain(text, game):
        words = line.split()
        whole = len(words) > 5 and all(word.isdecimal() for word in words[4:6])
        yield place, "_".join(words[: 6 if whole else 4])


def pgn(text: str, game: Game) -> Iterator[OpeningLine]:
    """The moves of each game that has some, or a position, with or without a result."""
    for found in games_in(text):
        place = f"line {found.line}"
        if found.fault:
            raise BadFile(f"{place}: {found.fault}")
        try:
            game.from_pgn_tags(found.tags)
        except ValueError as error:
            raise BadFile(f"{place}: {error}") from None
        if line := " ".join([found.tags.get("FEN", "").replace(" ", "_"), *found.moves]).strip():
            yield place, line


def sgf(text: str, game: Game) -> Iterator[OpeningLine]:
    """The main line of each game that has moves."""
    from arena.results.files.sgf import openings

    if game.sgf_number is None:
        raise BadFile(f"{game} has no records in SGF")
    try:
        yield from openings(text, game)
    except ValueError as error:
        raise BadFile(str(error)) from None


def polyglot(path: Path, game: Game, plies: int, count: int, seed: int) -> Iterator[OpeningLine]:
    """Different lines, drawn by the weights of a book's moves, at most TRIES * count times; python-chess reads it."""
    if game.name != "chess":
        raise BadFile(f"Polyglot books are of chess, not of {game}")
    try:
        import chess
        from chess.polyglot import open_reader
    except ImportError:
        raise BadFile("Polyglot books are read by python-chess: pip install chess") from None
    start, rng, seen = game.pgn_tags().get("FEN", chess.STARTING_FEN), stream(seed, "opening"), set[str]()
    with TemporaryDirectory() as folder:
        ordered = Path(folder, "book.bin")
        write_whole(ordered, _by_position(read_bounded(path, MOST_BYTES)))
        with open_reader(ordered) as book:
            for _ in range(TRIES * count):
                board, names = chess.Board(start), list[str]()
                while len(names) < plies and (entries := list(book.find_all(board))):
                    ends = np.cumsum([one.weight for one in entries])
                    chosen = entries[int(np.searchsorted(ends, random_below(rng, int(ends[-1])), side="right"))].move
                    names.append(board.san(chosen))
                    board.push(chosen)
                if names and (line := " ".join(names)) not in seen:
                    seen.add(line)
                    yield f"opening {len(seen)}", line


def _by_position(data: bytes) -> bytes:
    """A Polyglot book in the order in which positions are looked up: joined books have another one."""
    if len(data) % ENTRY.itemsize:
        raise BadFile(f"is no Polyglot book, or damaged: {len(data):,} bytes are no whole number of entries")
    entries = np.frombuffer(data, ENTRY)
    return entries[np.argsort(entries["position"], kind="stable")].tobytes()


READERS: dict[str, Callable[[str, Game], Iterator[OpeningLine]]] = {".epd": epd, ".fen": epd, ".pgn": pgn, ".sgf": sgf}


def text_of(path: Path) -> str:
    """The file's text; OSError if it cannot be read."""
    data = read_bounded(path, MOST_BYTES if path.suffix.lower() in READERS else TEXT_BYTES)
    return declared(data) if path.suffix.lower() == ".sgf" else decoded(data)
