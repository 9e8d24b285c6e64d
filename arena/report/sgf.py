"""The Smart Game Format, FF[4] (Hollosi, "SGF File Format FF[4]", 2006), for games that support it.

The first player is Black; a game's `sgf_move` writes its moves.
"""

from arena.games.core.game import Game, registry
from arena.results.database.record import GameRecord, Reason

WITHOUT_SCORE = {  # in the format's letters
    Reason.RESIGNED: "R",
    Reason.ADJUDICATED_WIN: "R",  # by the loser's values
    Reason.TIME: "T",
    Reason.IMPORTED: "",
}


def games_with_sgf() -> list[str]:
    """The names of the games that support SGF."""
    return [name for name, cls in registry.classes().items() if issubclass(cls, Game) and cls.sgf_number is not None]


def to_sgf(game: Game, record: GameRecord) -> str:
    """A record as a game tree; ValueError if the game does not support SGF."""
    if game.sgf_number is None:
        raise ValueError(f"{game} has no records in SGF; those that have are {', '.join(games_with_sgf())}")
    root = {
        "FF": 4,
        "CA": "UTF-8",
        "GM": game.sgf_number,
        **game.sgf_properties(),
        "PB": record.first,
        "PW": record.second,
        "RE": _result(record),
        "GN": record.id,
        "GC": str(game),
        "C": f"{record.reason}. {record.detail}".strip(),
    }
    escaped = {name: str(value).replace("\\", "\\\\").replace("]", "\\]") for name, value in root.items()}
    nodes = [";" + "".join(f"{name}[{value}]" for name, value in escaped.items())]
    moves = [*record.opening_moves.split(), *record.moves.split()]
    nodes += [f";{'BW'[ply % 2]}[{game.sgf_move(name)}]" for ply, name in enumerate(moves)]
    return "(" + "\n".join("".join(nodes[i : i + 10]) for i in range(0, len(nodes), 10)) + ")\n"


def _result(record) -> str:
    """`B+3.5`, `B+R` for a resignation, `B+T` on time, else `B+F`; `0` is a draw and `Void` no result."""
    if record.outcome is None:
        return "Void"
    if record.outcome == 0.5:
        return "0"
    by = WITHOUT_SCORE.get(record.reason, "F") if record.score is None else f"{abs(record.score):g}"
    return f"{'B' if record.outcome == 1 else 'W'}+{by}"
