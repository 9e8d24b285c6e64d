"""Files of openings: lines of moves, EPD, PGN, SGF, and Polyglot books, by the end of their names."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from arena.games.core.errors import UserError
from arena.games.core.files import TEXT_BYTES, read_bounded
from arena.games.core.game import Game
from arena.games.core.random import random_below, stream
from arena.results.files.decoding import decoded
from arena.results.files.pgn_reader import games_in

MOST_BYTES = 1 << 28
TRIES = 20  # draws from a book for each opening that is asked for
TOKEN = re.compile(r"[();]|([A-Za-z]+)\s*((?:\[(?:\\.|[^\]\\])*\]\s*)+)", re.DOTALL)
VALUE = re.compile(r"\[((?:\\.|[^\]\\])*)\]", re.DOTALL)
SET_UP = {"AB", "AW", "AE", "PL"}

Line = tuple[str, str]
"""Where an opening stands, and its line: a position if it begins from one, then moves."""


class BadFile(UserError, ValueError):
    """A file of openings that cannot be read."""


def plain(text: str, game: Game) -> Iterator[Line]:
    """A line is an opening; empty lines and those that begin with # are none."""
    for number, line in enumerate(text.splitlines(), 1):
        if (word := line.strip()) and not word.startswith("#"):
            yield f"line {number}", word


def epd(text: str, game: Game) -> Iterator[Line]:
    """A line is a position; what an engine should find there is left out."""
    for place, line in plain(text, game):
        words = line.split()
        whole = len(words) > 5 and all(word.isdecimal() for word in words[4:6])
        yield place, "_".join(words[: 6 if whole else 4])


def pgn(text: str, game: Game) -> Iterator[Line]:
    """The moves of each game that has some, or a position, with or without a result."""
    for found in games_in(text):
        place = f"line {found.line}"
        if found.fault:
            raise BadFile(f"{place}: {found.fault}")
        if line := " ".join([found.tags.get("FEN", "").replace(" ", "_"), *found.moves]).strip():
            yield place, line


def sgf(text: str, game: Game) -> Iterator[Line]:
    """The main line of each game: it ends where the first bracket closes."""
    if game.sgf_number is None:
        raise BadFile(f"{game} has no records in SGF")
    depth = number = 0
    ended, moves, named = False, list[tuple[str, str]](), set[str]()
    for token in TOKEN.finditer(text):
        if token[0] == "(":
            if depth == 0:
                ended, moves, named, number = False, [], set(), number + 1
            depth += 1
        elif token[0] == ")":
            depth, ended = depth - 1, True
            if depth == 0:
                yield f"game {number}", _sgf_line(game, moves, named, number)
        elif token[1] and not ended:
            named.add(token[1])
            if token[1] in ("B", "W"):
                moves.append((token[1], VALUE.findall(token[2])[0]))
    if depth:
        raise BadFile(f"game {number} does not end: a bracket is missing")


def _sgf_line(game: Game, moves: list[tuple[str, str]], named: set[str], number: int) -> str:
    if found := sorted(named & SET_UP):
        raise BadFile(f"game {number} sets stones up ({', '.join(found)}); an opening has moves alone")
    state, names = game.initial(), list[str]()
    for ply, (colour, point) in enumerate(moves):
        if colour != "BW"[ply % 2]:
            raise BadFile(f"game {number}: {colour} makes move {ply + 1}, which is the other's turn")
        by_point = {game.sgf_move(name): name for name in (game.move_name(state, move) for move in game.moves(state))}
        if point not in by_point:
            raise BadFile(f"game {number}: {colour}[{point}] is no legal move of {game} after {ply} moves")
        names.append(by_point[point])
        game.play(state, game.parse_move(state, names[-1]))
    return " ".join(names)


def polyglot(path: Path, game: Game, plies: int, count: int, seed: int) -> Iterator[Line]:
    """Different lines, drawn by the weights of a book's moves; python-chess reads it."""
    if game.name != "chess":
        raise BadFile(f"Polyglot books are of chess, not of {game}")
    try:
        import chess
        from chess.polyglot import open_reader
    except ImportError:
        raise BadFile("Polyglot books are read by python-chess: pip install chess") from None
    start, rng, seen = game.pgn_tags().get("FEN", chess.STARTING_FEN), stream(seed, "opening"), set[str]()
    with open_reader(path) as book:
        for _ in range(TRIES * count):
            board, names = chess.Board(start), list[str]()
            while len(names) < plies and (entries := [one for one in book.find_all(board) if one.weight > 0]):
                ends = np.cumsum([one.weight for one in entries])
                chosen = entries[int(np.searchsorted(ends, random_below(rng, int(ends[-1])), side="right"))].move
                names.append(board.san(chosen))
                board.push(chosen)
            if names and (line := " ".join(names)) not in seen:
                seen.add(line)
                yield f"opening {len(seen)}", line
            if len(seen) == count:
                return


READERS: dict[str, Callable[[str, Game], Iterator[Line]]] = {".epd": epd, ".fen": epd, ".pgn": pgn, ".sgf": sgf}


def text_of(path: Path) -> str:
    """The file's text; OSError if it cannot be read."""
    return decoded(read_bounded(path, MOST_BYTES if path.suffix.lower() in READERS else TEXT_BYTES))
