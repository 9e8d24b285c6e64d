"""The Smart Game Format (Hollosi, "SGF File Format FF[4]", 2006), in and out, of every game that has a number there.

Read is what programs have written since FF[1]: property names with small letters between (`BlacK[ee]`), passes as `tt`,
set-up stones, other sets of characters, text around the games.  A game is the main line of its tree.  The first player
is Black, or whoever moves first.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from arena.games.core.game import Game, registry
from arena.results.database.record import GameRecord, Reason
from arena.results.files.exchange import ImportedGame, leave_out, numbered
from arena.results.files.extras import comments_of, kept, pair_of, round_of, tags_of
from arena.results.files.legality import Wanted, by_rules, made, replayed, same, spelled
from arena.results.files.outcomes import short

START = re.compile(r"\(\s*;")
ROOT = re.compile(r"\(\s*;\s*(?:FF|GM|GaMe)\s*\[")  # of another game, also where a bracket is missing before it
MOVE = re.compile(r"([BW])\[([a-z]{0,2})\]")
TOKEN = re.compile(
    r"(;\s*[BW]\[[a-z]{0,2}\](?:\s*;\s*[BW]\[[a-z]{0,2}\])*+)|([()])|([A-Za-z]{1,40})\s*(?:((?:\[(?:\\.|[^\]\\])*+\]\s*)++)|\[)",
    re.DOTALL,
)  # what repeats is never given back, which would take memory for each letter
VALUE = re.compile(r"\[((?:\\.|[^\]\\])*+)\]", re.DOTALL)
ESCAPED = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)  # a line break is no part of the text
SET_UP = ("AB", "AW", "AE")
TAGS = {"EV": "Event", "PC": "Site", "DT": "Date", "RO": "Round"}  # that mean what PGN's do
HELD = {"FF", "CA", "GM", "SZ", "PB", "PW", "GN", "AB", "AW", "AE", "PL", "B", "W", "C", "ST", "AP"}  # or of no use
ENDINGS = ("resign", "forfeit", "timeout")  # written as a move
OTHER = {"B": "W", "W": "B"}
EXCHANGED = {colour + what: other + what for colour, other in OTHER.items() for what in "RTS"}  # ranks, teams, species
RESULT = re.compile(r"(B|W|black|white)(?:\s*(?:\+|wins?\b|won\b)\s*(.*))?", re.IGNORECASE)
RESIGNED = re.compile(r"(black|white)\s+(?:resign|forfeit|los[et])", re.IGNORECASE)
NUMBER, PROPERTY = re.compile(r"\d+(?:\.\d*)?|\.\d+"), re.compile("[A-Z]+")
CORNER, MOST_STONES = re.compile("[a-z]{2}"), 1000
HEX = 11
LITTLE_GOLEM = "littlegolem"  # whose Hex has no GM, and the first player, PB, moves as W
DRAWN, UNKNOWN = {"0", "draw", "drawn", "jigo", "tie", "="}, {"", "?", "void", "unknown", "unfinished"}
WITHOUT_SCORE = {  # in the format's letters
    Reason.RESIGNED: "R",
    Reason.ADJUDICATED_WIN: "R",  # by the loser's values
    Reason.TIME: "T",
    Reason.IMPORTED: "",
}


class Tree(NamedTuple):
    """The main line of a game as it stands in the text."""

    place: str
    root: Mapping[str, list[str]]  # properties but moves, of all nodes
    moves: list[tuple[str, str]]  # colour and point
    comments: dict[int, str]  # behind the move of each ply, from 0; -1: before the first
    fault: str  # why the game cannot be read, or ""

    def said(self, name: str) -> str:
        """The first value of a property in one line; "" if there is none."""
        return " ".join(self.root.get(name, [""])[0].split())


# -- In --------------------------------------------------------------------------------------------------------------


def from_sgf(
    text: str,
    wanted: Wanted | None = None,
    left_out: list[str] | None = None,
    notes: list[str] | None = None,
    conditions: dict[str, int] | None = None,
) -> list[GameRecord]:
    """The games with a result, by the rules of the games that they name, or of the wanted one.

    left_out, notes, conditions: as of `from_pgn`
    """
    games, pairs = list[ImportedGame](), dict[tuple, int]()
    for tree in trees(text):
        try:
            game, start, names, first, state = _line(tree, wanted)
            said, stated, score = _result(tree, first)
            outcome, note = by_rules(game, state, stated, said)
        except ValueError as error:
            leave_out(f"{tree.place}: {error}", left_out)
            continue
        if note and notes is not None:
            notes.append(f"{tree.place}: {note}")
        players = tree.said("P" + first), tree.said("P" + OTHER[first])
        tags = _tags(tree, first)
        if made(tags.get("GC", "")) is not None:
            del tags["GC"]
        pair = pair_of(tags, *players, pairs)
        comments = {ply + len(start) * (ply >= 0): text for ply, text in tree.comments.items()}
        line = " ".join(start), " ".join(names)
        score = score if outcome == stated else None
        games.append(
            ImportedGame(tree.place, *players, outcome, spelled(game), pair, *line, kept(tags, comments), score)
        )
    return numbered(games, left_out, conditions)


def _tags(tree: Tree, first: str) -> dict[str, str]:
    """What the game says besides, of the first player as Black."""
    tags = {TAGS.get(name, name): tree.said(name) for name in tree.root if name not in HELD}
    if first == "W":
        tags = {EXCHANGED.get(name, name): value for name, value in tags.items()}
        if (said := RESULT.fullmatch(tags.get("RE", ""))) and len(said[1]) == 1:
            tags["RE"] = OTHER[said[1].upper()] + tags["RE"][1:]
    return tags


def openings(text: str, game: Game) -> Iterator[tuple[str, str]]:
    """Where each game with moves stands, and its line, in `game`; ValueError if it is of another one."""
    wanted = Wanted.moves_of(game)
    for tree in trees(text):
        try:
            _, start, names, *_ = _line(tree, wanted)
        except ValueError as error:
            raise ValueError(f"{tree.place}: {error}") from None
        if start or names:
            yield tree.place, " ".join([*start, *names])


def first_game(text: str, game: Game) -> tuple[Game, list[str], list[str]]:
    """The first game of a text, one like `game` with parameters of its own: it, the moves that set up, and the moves.

    ValueError if there is none.
    """
    tree = next(trees(text), None)
    if tree is None:
        raise ValueError("there is no game in SGF")
    found, start, names, *_ = _line(tree, Wanted(game, frozenset()))
    return found, start, names


def trees(text: str) -> Iterator[Tree]:
    """The games of a text; what stands between them is left out."""
    at = number = 0
    while begin := START.search(text, at):
        number += 1
        tree, at = _main_line(text, begin.start(), f"game {number}")
        yield tree


def _main_line(text: str, begin: int, place: str) -> tuple[Tree, int]:
    """A game, and where the text goes on."""
    tree = Tree(place, dict[str, list[str]](), [], {}, "")
    depth, ended = 0, False
    for token in TOKEN.finditer(text, begin):
        run, bracket, name, values = token.groups()
        if bracket == "(":
            if depth and ROOT.match(text, token.start()):
                return tree._replace(fault="does not end: a bracket is missing"), token.start()
            depth += 1
        elif bracket:
            depth, ended = depth - 1, True
            if depth == 0:
                return tree, token.end()
        elif run:
            tree.moves.extend(() if ended else MOVE.findall(run))
        elif values is None:
            break
        elif not ended:
            if fault := _property(tree, _capitals(name), [_plain(value) for value in VALUE.findall(values)]):
                tree = tree._replace(fault=tree.fault or fault)
    return tree._replace(fault="does not end: a bracket is missing"), len(text)


@functools.cache
def _capitals(name: str) -> str:
    return "".join(letter for letter in name if letter.isupper())


def _plain(value: str) -> str:
    return (
        value
        if "\\" not in value
        else ESCAPED.sub(lambda found: "" if found[1].isspace() and found[1] != " " else found[1], value)
    )


def _property(tree: Tree, name: str, values: list[str]) -> str:
    """Note a property; returns what is wrong with it, or ""."""
    assert isinstance(tree.root, dict)
    if name in ("B", "W"):
        tree.moves.append((name, values[0].strip()))
    elif name == "C":
        if (text := " ".join(values[0].split())).isprintable() and text:
            tree.comments.setdefault(len(tree.moves) - 1, text)
    elif name in SET_UP:
        if tree.moves:
            return f"sets stones up ({name}) after {len(tree.moves)} moves"
        tree.root.setdefault(name, []).extend(values)
    elif name:
        tree.root.setdefault(name, values)
    return ""


def _line(tree: Tree, wanted: Wanted | None) -> tuple[Game, list[str], list[str], str, np.ndarray]:
    """The game; the moves that set its position up, and those played; the first player's colour; the state at the end.

    ValueError says why the record is none of the wanted game, or of one that is here.
    """
    if tree.fault:
        raise ValueError(tree.fault)
    game = _game(tree, wanted)
    moves = [move for move in tree.moves if move[1].lower() not in ENDINGS]
    if _is_little_golem(tree) and game.sgf_number == HEX and moves and moves[0][0] == "W":
        moves = [(OTHER[colour], point) for colour, point in moves]
    stones, moves = _stones(game, tree, moves)
    mover = moves[0][0] if moves else tree.said("PL")[:1].upper() or "B"
    start = game.sgf_start(stones, mover)
    first = "B" if start else mover
    words, fault = _words(game, start, moves, first)
    if fault and game.scored_by_players:
        raise ValueError(fault)
    try:
        names, state = replayed(game, words)
    except ValueError as error:
        raise ValueError(fault or str(error)) from None
    return game, start, names[len(start) :], first, state


def _words(game: Game, start: list[str], moves: list[tuple[str, str]], first: str) -> tuple[list[str], str]:
    """The names of the moves with a pass where a player moves twice, and which move that is, or ""."""
    named, words, fault = _named(game), list(start), ""
    for colour, point in moves:
        if (colour == first) == len(words) % 2:
            fault = fault or f"{colour}[{point}] is move {len(words) + 1}, which is the other player's"
            words.append("pass")  # where a player must pass, it need not be written
        words.append(named[point])
    return words, fault


class _Named(dict):
    """The names of the moves of a game by their points, as they are met."""

    def __init__(self, game: Game):
        self.game = game

    def __missing__(self, point: str) -> str:
        self[point] = name = self.game.sgf_name(point)
        return name


_named = functools.lru_cache(_Named)


def _game(tree: Tree, wanted: Wanted | None) -> Game:
    """The game that a record is of; ValueError if there is none, or another one is wanted."""
    number = tree.said("GM")
    if not number and _is_little_golem(tree) and "KM" not in tree.root:
        if wanted is None and not tree.said("EV").startswith("hex"):
            raise ValueError("does not say which game it is of (GM): name it by --game")
        number = str(HEX) if wanted is None else ""
    game = made(tree.said("GC"))
    if game is None or str(game.sgf_number) != number:
        kind = wanted.game if wanted and number in ("", str(wanted.game.sgf_number)) else _of_number(number or "1")
        points = {colour: [point for _, point in tree.moves] for colour in "BW"}
        game = same(kind.from_sgf({**tree.root, **points}))
    if wanted and game.name != wanted.game.name:
        raise ValueError(f"is of {game.name} (GM[{game.sgf_number}]), and not of {wanted.game}")
    if wanted:
        wanted.check(game)
    return game


def _is_little_golem(tree: Tree) -> bool:
    return LITTLE_GOLEM in tree.said("SO")


@functools.cache
def _of_number(number: str) -> Game:
    for name in games_with_sgf():
        game = registry.make(name)
        if isinstance(game, Game) and str(game.sgf_number) == number:
            return game
    raise ValueError(f"is of a game that is not here: GM[{number}]; known: {', '.join(games_with_sgf())}")


def _stones(game: Game, tree: Tree, moves: list[tuple[str, str]]) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """The stones of each colour that stand at the beginning, by the names of their moves, and the moves.

    Handicap is also written as moves of Black, one after the other.
    """
    stones = {colour: _points(tree.root.get("A" + colour, ())) for colour in "BW"}
    handicap = int(tree.said("HA")) if tree.said("HA").isdecimal() else 0
    if handicap > 1 and not stones["B"]:
        placed = [point for colour, point in moves[:handicap] if colour == "B"]
        if len(placed) < handicap:
            raise ValueError(f"has HA[{handicap}], and not so many stones of Black before White's first move")
        stones["B"], moves = placed, moves[handicap:]
    emptied = set(_points(tree.root.get("AE", ())))
    named = _named(game)
    return {c: [named[one] for one in points if one not in emptied] for c, points in stones.items()}, moves


def _points(values: Iterable[str]) -> list[str]:
    """The points of values; `aa:cc` are those of a rectangle."""
    found = list[str]()
    for value in values:
        begin, colon, end = value.strip().partition(":")
        if colon and not (CORNER.fullmatch(begin) and CORNER.fullmatch(end)):
            raise ValueError(f"has {short(value)}, which is no rectangle of points")
        if colon:
            columns, rows = (range(ord(begin[i]), ord(end[i]) + 1) for i in (0, 1))
            found += [chr(column) + chr(row) for row in rows for column in columns]
        else:
            found.append(begin)
        if len(found) > MOST_STONES:
            raise ValueError(f"sets up more than {MOST_STONES} stones")
    return found


def _result(tree: Tree, first: str) -> tuple[str, float | None, float | None]:
    """The result as it is said, and the first player's outcome and score, each None if it is not known."""
    said = tree.said("RE")
    if not said and tree.moves and tree.moves[-1][1].lower() in ENDINGS:
        winner = tree.moves[-1][0] if _is_little_golem(tree) else OTHER[tree.moves[-1][0]]
        return tree.moves[-1][1], float(winner == first), None
    if said.lower() in DRAWN:
        return said, 0.5, 0.0
    if said.lower() in UNKNOWN:
        return said, None, None
    if resigned := RESIGNED.match(said):
        return said, float(resigned[1][0].upper() != first), None
    if not (found := RESULT.fullmatch(said)):
        raise ValueError(f"has the result {short(said)}, which is not one of B+3.5, W+R, B+T, W+F, 0, Draw, Jigo, Void")
    sign = 1.0 if found[1][0].upper() == first else -1.0
    points = (found[2] or "").replace(",", ".")
    return said, 0.5 + sign / 2, sign * float(points) if NUMBER.fullmatch(points) else None


# -- Out -------------------------------------------------------------------------------------------------------------


def games_with_sgf() -> list[str]:
    """The names of the games that support SGF."""
    return [name for name, cls in registry.classes().items() if issubclass(cls, Game) and cls.sgf_number is not None]


def to_sgf(game: Game, record: GameRecord) -> str:
    """A record as a game tree; ValueError if the game does not support SGF."""
    if game.sgf_number is None:
        raise ValueError(f"{game} has no records in SGF; those that have are {', '.join(games_with_sgf())}")
    imported = record.reason == Reason.IMPORTED
    tags, comments = (tags_of(record.detail), comments_of(record.detail)) if imported else ({}, {})
    opening, moves = record.opening_moves.split(), record.moves.split()
    set_up = _set_up(game, opening) if imported and opening else {}
    root = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": game.sgf_number,
        **{name: value for name, value in game.sgf_properties().items() if name == "SZ" or not imported},
        "PB": record.first,
        "PW": record.second,
        "RE": _result_said(record, tags.pop("RE", "")),
        "RO": round_of(record),
        "GN": record.id,
        "GC": str(game),
        **{own: tags[name] for own, name in TAGS.items() if name in tags},
        **{name: value for name, value in tags.items() if PROPERTY.fullmatch(name)},
        "C": comments.get(-1, "") if imported else f"{record.reason}. {record.detail}".strip(),
    }
    nodes = [";" + "".join(f"{name}[{_escaped(value)}]" for name, value in root.items() if value != "")]
    nodes[0] += "".join(f"{name}{''.join(f'[{point}]' for point in points)}" for name, points in set_up.items())
    for ply, name in enumerate([*opening, *moves]):
        if ply >= len(opening) or not set_up:
            comment = f"C[{_escaped(comments[ply])}]" if ply in comments else ""
            nodes.append(f";{'BW'[ply % 2]}[{_escaped(game.sgf_move(name))}]{comment}")
    return "(" + "\n".join("".join(nodes[i : i + 10]) for i in range(0, len(nodes), 10)) + ")\n"


def _escaped(value) -> str:
    return str(value).replace("\\", "\\\\").replace("]", "\\]")


def _set_up(game: Game, opening: list[str]) -> dict[str, list[str]]:
    """The properties of the stones that an opening sets up; none if it is one of moves."""
    stones = {colour: [name for name in opening[side::2] if name != "pass"] for side, colour in enumerate("BW")}
    mover = "BW"[len(opening) % 2]
    if game.sgf_start(stones, mover) != opening:
        return {}
    points = {f"A{colour}": [game.sgf_move(name) for name in names] for colour, names in stones.items() if names}
    return {**points, "PL": [mover]}


def _result_said(record: GameRecord, said: str) -> str:
    """What an imported record said, else `B+3.5`, `B+R` for a resignation, `B+T` on time, `B+F`; `0` and `Void`."""
    found = RESULT.fullmatch(said)
    if found and record.outcome == float(found[1][0].upper() == "B"):
        return said
    if record.outcome is None:
        return "Void"
    if record.outcome == 0.5:
        return "0"
    by = WITHOUT_SCORE.get(record.reason, "F") if record.score is None else f"{abs(record.score):g}"
    return f"{'B' if record.outcome == 1 else 'W'}+{by}"
