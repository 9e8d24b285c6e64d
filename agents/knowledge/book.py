"""Opening books: the results of opening moves in recorded games.

For each position, by its key, a book has the moves made in it, how often, and the points that each brought the player:
1 for a win, 1/2 for a draw.  The move with the best average is played; ties go to the move made more often.
"""

import json
import os
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from arena.agents.core.children import moves_of
from arena.games.core.shared.prepared_file import pack, stamp, unpack, wrong

KIND = "opening book"

Book = dict[int, dict[int, tuple[int, float]]]  # key of a position -> move -> (games, points)


def key_of(game, state) -> int:
    """A position's key in plain Python, where the hash wraps as in kernels."""
    with np.errstate(over="ignore"):
        return int(game.key(state))


def build(game, records: Iterable[tuple[str, float]], plies: int, least: int) -> Book:
    """A book of the first `plies` plies of games, with the moves made in at least `least` games.

    records: for each game (the names of its moves, separated by blanks, the first player's points)
    """
    counts: dict[int, dict[int, list[float]]] = {}
    for moves, points in records:
        begun, names = game.from_line(moves)
        state = begun.initial()
        for name in names[:plies]:
            move, player = game.parse_move(state, name), int(game.player(state))
            entry = counts.setdefault(key_of(game, state), {}).setdefault(move, [0, 0.0])
            entry[0] += 1
            entry[1] += points if player == 0 else 1.0 - points
            state = game.after(state, move)
    kept = {key: {move: (int(n), p) for move, (n, p) in moves.items() if n >= least} for key, moves in counts.items()}
    return {key: moves for key, moves in kept.items() if moves}


def to_bytes(game, book: Book, about: str) -> bytes:
    """The contents of the book's file; `about` describes the source."""
    lines = [
        json.dumps([key, [[move, *entry] for move, entry in sorted(moves.items())]])
        for key, moves in sorted(book.items())
    ]
    return pack(KIND, game, {"about": about, "positions": len(book)}, "\n".join(lines).encode())


def load(path: str | os.PathLike, game) -> Book:
    """The book in a file; PreparedFileError if it is unreadable, damaged, or for another game."""
    return _load(game, *stamp(path))


@lru_cache(maxsize=4)
def _load(game, path, changed, size) -> Book:
    header, data = unpack(KIND, game, path)
    made: Book = {}
    for number, line in enumerate(data.split(b"\n") if data else (), 2):
        try:
            key, rows = json.loads(line)
            moves = {move: (games, points) for move, games, points in rows}
            right = type(key) is int and 0 <= key < 1 << 64 and len(moves) == len(rows) > 0
            right = right and all(_is_entry(game, *row) for row in rows)
        except (ValueError, TypeError, RecursionError):
            right = False
        if not right or key in made:
            raise wrong(KIND, path, f"line {number} is no position with its moves, or one that is there already")
        made[key] = moves
    if header.get("positions") != len(made):
        raise wrong(KIND, path, f"it holds {len(made)} positions, of {header.get('positions')!r:.20}")
    return made


def _is_entry(game, move, games, points) -> bool:
    whole = type(move) is int and type(games) is int and isinstance(points, int | float)
    return whole and 0 <= move < game.move_limit and 0 < games < 1 << 63 and 0 <= points <= games


def best_move(game, book: Book, state) -> tuple[int, float] | None:
    """(the legal move to play, its average of points); None if the book lacks the position."""
    legal = set(moves_of(game, state)) if (known := book.get(key_of(game, state))) else set()
    moves = {move: entry for move, entry in (known or {}).items() if move in legal}
    if not moves:
        return None
    move = max(moves, key=lambda move: (moves[move][1] / moves[move][0], moves[move][0]))
    return move, moves[move][1] / moves[move][0]
