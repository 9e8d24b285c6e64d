"""Records of Go, Hex and Othello in the Smart Game Format, FF[4] (Hollosi, "SGF File Format FF[4]", 2006).

The first player is Black.  In Go and Othello a point is two letters, column and row from the upper left corner, and a
pass is empty; in Hex a move is a column's letter and a row's number, and the swap is `swap-pieces`, the stone that
changes its colour and is mirrored.
"""

from games.core.game import Game
from results.record import GameRecord

KINDS = {"go": 1, "othello": 2, "hex": 11}  # the property GM
PASS, SWAP = "pass", "swap"


def to_sgf(game: Game, record: GameRecord) -> str:
    """One game tree; ValueError for a game that has no SGF here."""
    if game.name not in KINDS:
        raise ValueError(f"{game} has no records in SGF; those that have are {', '.join(sorted(KINDS))}")
    root = {
        "FF": 4,
        "CA": "UTF-8",
        "GM": KINDS[game.name],
        "SZ": game.size,
        "PB": record.first,
        "PW": record.second,
        "RE": _result(record),
        "GN": record.id,
        "RU": str(game),
        "C": f"{record.reason}. {record.detail}".strip(),
    } | ({"KM": game.komi} if game.name == "go" else {})
    nodes = [";" + "".join(f"{name}[{_escaped(value)}]" for name, value in root.items())]
    moves = [*record.opening_moves.split(), *record.moves.split()]
    nodes += [f";{'BW'[ply % 2]}[{_point(game, name)}]" for ply, name in enumerate(moves)]
    return "(" + "\n".join("".join(nodes[i : i + 10]) for i in range(0, len(nodes), 10)) + ")\n"


def _result(record) -> str:
    """`B+3.5`, or `B+F` for a forfeit; `0` is a draw and `Void` no result."""
    if record.outcome is None:
        return "Void"
    if record.outcome == 0.5:
        return "0"
    by = "F" if record.score is None else f"{abs(record.score):g}"
    return f"{'B' if record.outcome == 1 else 'W'}+{by}"


def _point(game, name) -> str:
    if name == PASS:
        return ""
    if game.name == "hex":
        return "swap-pieces" if name == SWAP else name
    column, row = ord(name[0]) - ord("a"), int(name[1:]) - 1
    if game.name == "go":  # columns leave out i, and rows are counted from below
        column, row = column - (name[0] > "i"), game.size - 1 - row
    return chr(ord("a") + column) + chr(ord("a") + row)


def _escaped(value) -> str:
    return str(value).replace("\\", "\\\\").replace("]", "\\]")
