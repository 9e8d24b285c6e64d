"""Files of positions with known scores, to check solvers against."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arena.agents.core.solve import Solver, solve_all
from arena.games.core.game import Game, IllegalMove
from arena.games.core.random import random_below, stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_bounded
from arena.games.core.shared.registry import spell

TOGETHER = 64  # positions of a file that are solved before progress is shown
MOST_NAMED = 10  # wrong lines that a message names


@dataclass(frozen=True)
class Known:
    """A position with its score."""

    line: int
    moves: str
    score: int


@dataclass(frozen=True)
class Checked:
    """A solver's answer; `found` is None if its budget was too small."""

    known: Known
    found: int | None
    nodes: int
    seconds: float


def read_positions(path: Path) -> list[Known]:
    """The positions of a file in the format of the Connect 4 tests: each line has moves, a space, and the score.

    UserError names the first lines of another form by number.
    """
    found, bad = [], []
    text = read_bounded(path).decode(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            found.append(Known(number, " ".join(words[:-1]), int(words[-1])))
        except ValueError:
            bad.append(f"{path}:{number}: {line[:80]!r} is not of the form: moves score")
    if bad or not found:
        more = [f"and {len(bad) - MOST_NAMED} more lines"] if len(bad) > MOST_NAMED else []
        raise UserError("\n".join([*bad[:MOST_NAMED], *more]) or f"{path} holds no positions")
    return found


def check_positions(solver: Solver, known: list[Known], path: Path, after: Callable[[Checked], None]) -> list[Checked]:
    """Solve every position of a file, and call `after` on each; UserError names a line with illegal moves."""
    states, checked = states_of(solver.game, known, path), list[Checked]()
    solver.warm(states[0][1])
    solve_all(solver, [])  # which compiles what solves many
    for first in range(0, len(states), TOGETHER):
        part = states[first : first + TOGETHER]
        for (entry, _, plies), one in zip(part, solve_all(solver, [state for _, state, _ in part])):
            found = None if one.value is None else score_of(solver.game, one.value, plies + (one.plies or 0))
            checked.append(Checked(entry, found, one.nodes, one.seconds))
            after(checked[-1])
    return checked


def states_of(game: Game, known: list[Known], path: Path) -> list[tuple[Known, np.ndarray, int]]:
    """Each position, state and plies; UserError if there is nothing to solve."""
    states = []
    for entry in known:
        try:
            line, state = game.read_line(entry.moves)
        except IllegalMove as error:
            raise UserError(f"{path}:{entry.line}: {error}") from None
        if game.is_over(state):
            raise UserError(f"{path}:{entry.line}: the game is over after {entry.moves!r}: there is nothing to solve")
        states.append((entry, state, len(line)))
    return states


def names_of(game: Game, moves: Iterable[int], state: np.ndarray | None = None) -> list[str]:
    """The names of moves made one after the other, from `state` or the initial position."""
    names, at = [], game.initial() if state is None else state
    for move in moves:
        names.append(game.move_name(at, move))
        at = game.after(at, move)
    return names


def score_of(game: Game, value: int, end: int) -> int:
    """The score, as the Connect 4 tests count it, of a game with this value that ends after `end` plies.

    One more than the stones (half the board's) that the winner has left: positive if the player to move wins, negative
    if it loses, 0 for a draw.
    """
    return value * (game.max_plies // 2 + 1 - (end + 1) // 2)


def random_positions(game: Game, rng: np.ndarray, plies: int | None = None) -> list[tuple[list[int], np.ndarray]]:
    """(moves, state) of a random game's positions in turn, to its end or for some plies."""
    found: list[tuple[list[int], np.ndarray]] = [([], game.initial())]
    with np.errstate(over="ignore"):  # where the rules run as plain Python
        while len(found) - 1 != plies and not game.is_over(found[-1][1]):
            line, state = found[-1]
            legal = game.moves(state)
            move = legal[int(random_below(rng, len(legal)))]
            found.append(([*line, move], game.after(state, move)))
    return found


def is_open(game: Game, state: np.ndarray) -> bool:
    """Whether a position is neither over nor foreseen to be won or lost."""
    with np.errstate(over="ignore"):
        return not game.is_over(state) and not game.foreseen(state)[0]


def random_position(
    game: Game, seed: int, number: int, where: int | tuple[float, float]
) -> tuple[list[int], np.ndarray]:
    """(moves, state) of position `number`: so many plies into a random game, or within that part of one; not foreseen
    to be won or lost.

    UserError if a thousand games offer none.
    """
    rng = stream(seed, spell(game), number)
    for _ in range(1000):
        if isinstance(where, int):
            plies, played = where, random_positions(game, rng, where)
        else:
            played = random_positions(game, rng)
            first, last = (int(share * (len(played) - 1)) for share in where)
            plies = first + int(random_below(rng, last - first + 1))
        if plies < len(played) and is_open(game, played[plies][1]):
            return played[plies]
    place = f"after {where} plies" if isinstance(where, int) else f"in the part {where}"
    raise UserError(f"{game}: no position {place} of a thousand random games that is not foreseen to end")
