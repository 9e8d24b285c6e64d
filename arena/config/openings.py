"""Openings: random, or lines of moves from a file or a list, or all openings of some number of plies.

In a configuration: `openings = "book.txt"`, `openings = { file = "book.pgn", plies = 8, count = 500 }`,
`openings = ["2a3a 5b4b", ...]` or `openings = { plies = 2, all = true }`.  Each becomes a list of lines: a stored run
needs no file.  In chess, a line can begin with a position in FEN.
"""

import logging
from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.games.core.game import Game, IllegalMove
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError
from arena.results.files import opening_files
from arena.results.files.outcomes import short
from arena.results.printable import one_line

log = logging.getLogger("arena.openings")

MAX_LINES = 10_000
TRIES = 1000  # draws, before giving up on one that does not end the game
FORMS = "openings is a file's name, { file = 'book.pgn', plies = 8 }, { plies = 2, all = true }, or a list of lines"
OF_LISTS = ("order", "seed", "count")  # keys of the table: which openings of a file, or of all, in which order
ORDERS = ("given", "random")


class OpeningError(UserError, ValueError):
    """A game that always ends within a random opening."""


class BadOpenings(ValueError):
    """`problems` has a line for each fault."""

    def __init__(self, *problems: str):
        self.problems = tuple(map(one_line, problems))
        super().__init__("\n".join(self.problems))


def beside(value, folder: Path):
    """The key with its file, if any, relative to the configuration's folder."""
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, dict) and isinstance(value.get("file"), str):
        return value | {"file": str(folder / value["file"])}
    return value


class Opening(NamedTuple):
    """Where a game begins."""

    game: Game  # which begins from the opening's position, if it has one
    moves: list[int]
    position: str = ""  # the word for that position


def opening_of(game: Game, line: str) -> Opening:
    """The opening that a line stands for; IllegalMove says what is wrong with it."""
    begun, words = game.from_line(line)
    return Opening(begun, begun.read_line(" ".join(words))[0], _position(game, begun))


def _position(game: Game, begun: Game) -> str:
    """The word for the position of `begun`, if it is another one than the game's."""
    return "" if np.array_equal(begun.initial(), game.initial()) else begun.position_word()


def lines_of(value, game: Game) -> list[str]:
    """The lines of the key `openings`, checked; BadOpenings says what is wrong."""
    if isinstance(value, str):
        value = {"file": value}
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return _checked(game, [(f"line {i + 1}", line) for i, line in enumerate(value)])
    if not isinstance(value, dict):
        raise BadOpenings(FORMS)
    chosen = _choice({key: value[key] for key in OF_LISTS if key in value})
    of = set(value) - set(OF_LISTS)
    if of == {"plies", "all"} and value["all"] is True:
        return [line for _, line in _chosen([("", line) for line in every(game, value["plies"])], **chosen)]
    if {"file"} <= of <= {"file", "plies"} and isinstance(value["file"], str):
        return _from_file(Path(value["file"]), game, value.get("plies"), **chosen)
    raise BadOpenings(FORMS)


def _choice(given: dict[str, Any]) -> dict[str, Any]:
    """`order`, `seed` and `count`, checked."""
    order, seed, most = given.get("order", ORDERS[0]), given.get("seed", 0), given.get("count")
    if order not in ORDERS:
        raise BadOpenings(f"order = {order!r} is not one of {', '.join(ORDERS)}")
    if type(seed) is not int or not 0 <= seed < 2**63:
        raise BadOpenings(f"seed = {seed!r} is not a whole number from 0 to 2^63 - 1")
    if most is not None and (type(most) is not int or not 1 <= most <= MAX_LINES):
        raise BadOpenings(f"count = {most!r} is out of range: it can be 1 to {MAX_LINES}")
    return {"order": order, "seed": seed, "most": most}


def _chosen(lines: list[tuple[str, str]], order: str, seed: int, most: int | None) -> list[tuple[str, str]]:
    if order == "random":
        lines = [lines[i] for i in np.random.default_rng(seed).permutation(len(lines))]
    return lines[:most]


def _from_file(path: Path, game: Game, plies, **chosen) -> list[str]:
    """The openings of a file; of those that are cut after `plies` moves, each once."""
    if plies is not None and (type(plies) is not int or plies < 0):
        raise BadOpenings(f"plies = {plies!r} is not a whole number from 0")
    kind = path.suffix.lower()
    try:
        if kind == ".bin":
            if plies is None or chosen["most"] is None:
                raise BadOpenings(f"{path} is drawn from: say how often and how deep, as by plies = 8, count = 500")
            return [_spelled(game, line) for _, line in _chosen(_drawn(path, game, plies, chosen), **chosen)]
        read = opening_files.READERS.get(kind, opening_files.plain)
        lines = list(read(opening_files.text_of(path), game))
    except OSError as error:
        raise BadOpenings(f"{path} cannot be read: {error.strerror or error}") from None
    except (opening_files.BadFile, IllegalMove) as error:
        raise BadOpenings(f"{path}: {error}") from None
    if not lines:
        raise BadOpenings(f"{path} holds no opening")
    if plies is not None:
        cut = dict[str, str]()
        for place, line in lines:
            cut.setdefault(_cut(game, line, plies), place)
        lines = [(place, line) for line, place in cut.items()]
    return _checked(game, [(f"{path}, {place}", line) for place, line in _chosen(lines, **chosen)])


def _drawn(path: Path, game: Game, plies: int, chosen: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines drawn from a Polyglot book; those that end the game are told, and others take their places."""
    lines, faults = list[tuple[str, str]](), list[str]()
    for place, line in opening_files.polyglot(path, game, plies, chosen["most"], chosen["seed"]):
        if fault := _fault(game, line):
            faults.append(one_line(f"{path}, {place}: {fault}"))
        else:
            lines.append((place, line))
        if len(lines) == chosen["most"]:
            break
    if not lines:
        raise BadOpenings(*faults[:1] or [f"{path} holds no opening"])
    if faults:
        log.warning("lines that are left out: %d; the first: %s", len(faults), faults[0])
    return lines


def _cut(game, line: str, plies: int) -> str:
    """A line after that many moves; its position, if any, stays."""
    words = line.split()
    place = len(words) - len(game.from_line(line)[1]) + plies
    return " ".join(words[:place])


def _checked(game, lines: Sequence[tuple[str, str]]) -> list[str]:
    if not lines:
        raise BadOpenings("there is no opening; give one or more lines of moves")
    if len(lines) > MAX_LINES:
        so_many = f'order = "random", count = {MAX_LINES} takes so many'
        text = f"there are {len(lines)} openings; there can be {MAX_LINES}: {so_many}"
        raise BadOpenings(text)
    problems = [f"{place}: {fault}" for place, line in lines if (fault := _fault(game, line))]
    if problems:
        more = [f"and {len(problems) - 5} more lines that are wrong"] if len(problems) > 5 else []
        raise BadOpenings(*problems[:5], *more)
    return [_spelled(game, line) for _, line in lines]


def _spelled(game, line: str) -> str:
    """The line as it is stored: a position, if any, as one word."""
    begun, words = game.from_line(line)
    return " ".join([_position(game, begun), *words]).strip()


def _fault(game, line) -> str | None:
    try:
        _, state = game.read_line(line)
    except IllegalMove as error:
        return str(error)
    if not game.is_over(state):
        return None
    plies = len(game.from_line(line)[1]) - 1
    return f"{game} is over after {short(line)}" + (f"; plies = {plies} would cut it" if plies > 0 else "")


def remarks(lines: Sequence[str] | None, games: int | None) -> list[str]:
    """What to know, before play, of a run with these openings and so many games of each two agents in a condition."""
    if not lines or not games:
        return []
    pairs, different = games // 2, len(set(lines))
    found = []
    if different < len(lines):
        found.append(f"{len(lines) - different} of {len(lines)} openings repeat another one")
    if pairs < len(lines):
        found.append(f"games = {games} are {pairs} pairs: the first {pairs} of {len(lines)} openings are played")
    if pairs > len(lines):
        found.append(f"games = {games} are {pairs} pairs for {len(lines)} openings, which begin again")
    return found


def every(game: Game, plies: int) -> list[str]:
    """All openings of `plies` plies as lines, outcomes of chance included; one for each state that they lead to.

    BadOpenings if there is none, or more than MAX_LINES.
    """
    if type(plies) is not int or not 0 <= plies <= game.max_plies:
        raise BadOpenings(f"plies = {plies!r} is out of range: it can be 0 to {game.max_plies}")
    lines = {b"": ("", game.initial())}
    for _ in range(plies):
        longer: dict[bytes, tuple[str, np.ndarray]] = {}
        for line, state in lines.values():
            for move in game.moves(state):
                after = game.after(state, move)
                if not game.is_over(after):
                    longer.setdefault(after.tobytes(), (f"{line} {game.move_name(state, move)}".strip(), after))
            if len(longer) > MAX_LINES:
                raise BadOpenings(f"there are more than {MAX_LINES} openings of {plies} plies; fewer plies have fewer")
        lines = longer
    if not lines:
        raise BadOpenings(f"{game} is over within {plies} plies; fewer leave something to play")
    return [line for line, _ in lines.values()]


def random_opening(game, seed: int, k: int, plies: int) -> list[int]:
    """The moves of a tournament's opening `k`: `plies` random legal ones (outcomes of chance by probability).

    Openings that end the game are redrawn; OpeningError after TRIES draws.  Two may coincide.
    """
    rng = stream(seed, "opening", k)
    if plies < game.max_plies:
        for moves in islice((random_line(game, plies, rng) for _ in count()), TRIES):
            if moves is not None:
                return moves
    raise OpeningError(f"{game} is over within {plies} random plies; fewer opening_plies leave something to play")


def random_line(game, plies, rng):
    """`plies` random moves from the initial position; None if they end the game."""
    state, line, scratch = game.initial(), [], np.empty(game.max_moves, np.int32)
    while len(line) < plies and not game.is_over(state):
        line.append(int(game.random_move(state, scratch, rng)))
        game.play(state, line[-1])
    return None if game.is_over(state) else line
