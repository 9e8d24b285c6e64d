"""Openings: random, or lines of moves from a file or a list, or all openings of some number of plies.

In a configuration: `openings = "book.txt"`, `openings = { file = "book.txt" }`, `openings = ["2a3a 5b4b", ...]` or
`openings = { plies = 2, all = true }`.  Each becomes a list of lines: a stored run needs no file.
"""

from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path

import numpy as np

from arena.games.core.errors import UserError
from arena.games.core.files import read_bounded
from arena.games.core.game import Game, IllegalMove
from arena.games.core.random import stream

MAX_LINES = 10_000
TRIES = 1000  # draws, before giving up on one that does not end the game
FORMS = "openings is a file's name, a list of lines of moves, or { plies = 2, all = true }"


class OpeningError(UserError, ValueError):
    """A game that always ends within a random opening."""


class BadOpenings(ValueError):
    """`problems` has a line for each fault."""

    def __init__(self, *problems: str):
        self.problems = problems
        super().__init__("\n".join(problems))


def beside(value, folder: Path):
    """The key with its file, if any, relative to the configuration's folder."""
    if isinstance(value, str):
        return str(folder / value)
    if isinstance(value, dict) and isinstance(value.get("file"), str):
        return value | {"file": str(folder / value["file"])}
    return value


def lines_of(value, game: Game) -> list[str]:
    """The lines of the key `openings`, checked; BadOpenings says what is wrong."""
    if isinstance(value, str):
        return _from_file(value, game)
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return _checked(game, [(f"line {i + 1}", line) for i, line in enumerate(value)])
    if isinstance(value, dict) and isinstance(value.get("file"), str) and len(value) == 1:
        return _from_file(value["file"], game)
    if isinstance(value, dict) and set(value) == {"plies", "all"} and value["all"] is True:
        return every(game, value["plies"])
    raise BadOpenings(FORMS)


def _from_file(name, game) -> list[str]:
    try:
        text = read_bounded(name).decode("utf-8-sig")
    except OSError as error:
        raise BadOpenings(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadOpenings(f"{name}: byte {error.start} is not UTF-8 text") from None
    numbered = [(f"{name}, line {i}", line.strip()) for i, line in enumerate(text.splitlines(), 1)]
    return _checked(game, [(place, line) for place, line in numbered if line and not line.startswith("#")])


def _checked(game, lines: Sequence[tuple[str, str]]) -> list[str]:
    if not lines:
        raise BadOpenings("there is no opening; give one or more lines of moves")
    if len(lines) > MAX_LINES:
        raise BadOpenings(f"there are {len(lines)} openings; there can be {MAX_LINES}")
    problems = [f"{place}: {fault}" for place, line in lines if (fault := _fault(game, line))]
    if problems:
        more = [f"and {len(problems) - 5} more lines that are wrong"] if len(problems) > 5 else []
        raise BadOpenings(*problems[:5], *more)
    return [" ".join(line.split()) for _, line in lines]


def _fault(game, line) -> str | None:
    try:
        _, state = game.read_line(line)
    except IllegalMove as error:
        return str(error)
    return f"{game} is over after {line!r}" if game.is_over(state) else None


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
