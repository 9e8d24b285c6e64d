"""Chess positions in Forsyth-Edwards notation (Edwards, "Portable Game Notation", 1994, section 16.1) and as a drawing;
and the first ranks of Chess960.

Castling as in X-FEN: KQkq for the outermost rooks, others by their files.
"""

import re
from typing import NamedTuple

from arena.games.core.boards.board import point_name

LETTERS = "PNBRQK"
SIDES = "wb"
FILES = "abcdefgh"
MOST = 10_000  # of a clock, where more than 100 are 100, and of the move's number


class Position(NamedTuple):
    """The contents of a FEN; squares are numbered from a1 along ranks."""

    men: str  # 64 letters, white men in capitals; `.` for a free square
    side: int  # 0 if White is to move, 1 if Black
    rooks: frozenset[int]  # squares of rooks that may still castle
    passant: int | None  # the square just passed by a pawn
    clock: int  # plies since the last capture or pawn's move
    number: int  # of the move, from 1


def read_fen(text: str) -> Position:
    """The last fields may be left out; ValueError says which field is wrong."""
    fields = text.split()
    if not 1 <= len(fields) <= 6:
        raise ValueError(
            f"FEN {text!r} has {len(fields)} fields; it has 6: men, side, castling, en passant, two numbers"
        )
    board, side, castling, passant, clock, number = fields + ["w", "-", "-", "0", "1"][len(fields) - 1 :]
    men = _men(board)
    if side not in SIDES:
        raise ValueError(f"FEN: the side to move is {side!r}; it can be w or b")
    _check_men(men)
    if not clock.isdecimal() or int(clock) > MOST:
        raise ValueError(f"FEN: plies without capture or pawn's move are {clock!r}; they can be 0 to {MOST}")
    if not number.isdecimal() or int(number) > MOST:
        raise ValueError(f"FEN: the number of the move is {number!r}; it can be 0 to {MOST}, where 0 is read as 1")
    rooks = frozenset(_rook(letter, men) for letter in castling) if castling != "-" else frozenset()
    counts = min(int(clock), 100), max(int(number), 1)
    return Position(men, SIDES.index(side), rooks, _passant(passant, side, men), *counts)


def write_fen(position: Position) -> str:
    """The FEN of a position."""
    ranks = [position.men[8 * row : 8 * row + 8] for row in reversed(range(8))]
    board = re.sub(r"\.+", lambda free: str(len(free[0])), "/".join(ranks))
    passant = "-" if position.passant is None else point_name(position.passant, 8)
    return f"{board} {SIDES[position.side]} {_castling(position)} {passant} {position.clock} {position.number}"


def _men(board: str) -> str:
    ranks = [re.sub("[1-8]", lambda free: "." * int(free[0]), rank) for rank in board.split("/")]
    wrong = next((rank for rank in ranks if not re.fullmatch(rf"(?i)[.{LETTERS}]{{8}}", rank)), None)
    if wrong is not None or "." in board or len(ranks) != 8:
        raise ValueError(f"FEN: the board {board!r} is not 8 ranks separated by /, each of 8 squares: {LETTERS} or 1-8")
    return "".join(reversed(ranks))


def _check_men(men: str) -> None:
    """ValueError for men that play cannot lead to."""
    for side in (str.upper, str.lower):
        king, pawn = side("k"), side("p")
        if men.count(king) != 1:
            raise ValueError(f"FEN: there are {men.count(king)} of {king}; each side has one king")
        if pawn in men[:8] + men[56:]:
            raise ValueError(f"FEN: {pawn} stands on the first or the last rank")
        promoted = sum(max(0, men.count(side(man)) - most) for man, most in (("n", 2), ("b", 2), ("r", 2), ("q", 1)))
        if men.count(pawn) + promoted > 8:
            raise ValueError(f"FEN: {men.count(pawn)} of {pawn} and {promoted} promoted men are more than 8 pawns make")


def _rook(letter: str, men: str) -> int:
    """The square of the rook that a castling letter means."""
    white = letter.isupper()
    rank, rook = (0, "R") if white else (56, "r")
    files = [i for i in range(8) if men[rank + i] == rook]
    king = men.find("K" if white else "k") - rank
    wanted = {"K": [i for i in files if i > king][-1:], "Q": [i for i in files if i < king][:1]}.get(
        letter.upper(), [i for i in files if FILES[i] == letter.lower()]
    )
    if not 0 <= king < 8 or not wanted:
        raise ValueError(f"FEN: castling by {letter!r} needs a king and a rook on the first rank of its side")
    return rank + wanted[0]


def _castling(position: Position) -> str:
    words = []
    for rank, rook in ((0, "R"), (56, "r")):
        men = position.men[rank : rank + 8]
        king = men.find("K" if rank == 0 else "k")
        for file in sorted((square - rank for square in position.rooks if square // 56 == rank // 56), reverse=True):
            outer = men[file + 1 :] if file > king else men[:file]
            letter = FILES[file] if rook in outer else ("k" if file > king else "q")
            words.append(letter.upper() if rank == 0 else letter)
    return "".join(words) or "-"


def _passant(text: str, side: str, men: str) -> int | None:
    if text == "-":
        return None
    square = 8 * (int(text[1]) - 1) + FILES.index(text[0]) if re.fullmatch("[a-h][36]", text) else -1
    step, pawn, rank = (-8, "p", 5) if side == "w" else (8, "P", 2)
    if square // 8 != rank or (men[square - step], men[square], men[square + step]) != (".", ".", pawn):
        raise ValueError(f"FEN: no pawn can have passed {text!r} by two squares in the last move")
    return square


def first_rank(number: int) -> str:
    """The FEN of a start of Chess960, numbered 0 to 959 (Reinhard Scharnagl's)."""
    rank = ["."] * 8
    rest, light = divmod(number, 4)
    rest, dark = divmod(rest, 4)
    knights, queen = divmod(rest, 6)
    rank[2 * light + 1] = rank[2 * dark] = "B"
    rank[_free(rank)[queen]] = "Q"
    first, second = [(i, j) for i in range(5) for j in range(i + 1, 5)][knights]
    free = _free(rank)
    rank[free[first]] = rank[free[second]] = "N"
    for file, man in zip(_free(rank), "RKR"):
        rank[file] = man
    men = "".join(rank)
    return f"{men.lower()}/pppppppp/8/8/8/8/PPPPPPPP/{men} w KQkq - 0 1"


def _free(rank: list[str]) -> list[int]:
    return [file for file in range(8) if rank[file] == "."]
