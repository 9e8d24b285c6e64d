"""A game in progress on a page: the moves made, and the squares picked of the next one."""

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from arena import games
from arena.games.core.drawing import SQUARE, Board
from arena.games.core.errors import UserError
from arena.games.core.game import CHANCE, Game
from arena.games.core.random import stream
from arena.lab.searcher import Found, for_first
from arena.play.game_calls import result_of
from arena.results.database.record import GameRecord, MoveRecord, Reason

Place = tuple[float, float]  # row and column; on a drawing that is no board, x and y
STEP = re.compile(rf"(?:{SQUARE.pattern})(?:\|(?:{SQUARE.pattern}))*")  # one square, or any of several
OVER = -2  # in place of the side to move


class Step(NamedTuple):
    """A move that was made, by whom, and what its search has found."""

    name: str
    side: int  # 0, 1, or CHANCE
    found: Found | None = None
    seconds: float = 0.0


class Line:
    """The moves from a game's beginning; `state` is the position after them.  UserError for a spec or a move that is
    none.
    """

    def __init__(self, game: str, moves: str = "", seed: int = 0):
        begun, words = _set_up(games.make(game), moves)
        self.game: Game = begun
        self.opening = self.game.position_word()
        self.seed, self.began = seed, time.perf_counter()
        self.resigned: int | None = None  # the side
        self.steps: list[Step] = []
        self._go_to([self.game.move_name(state, move) for state, move in _walked(begun, " ".join(words))])

    def _go_to(self, names: Sequence[str], steps: Sequence[Step] = ()) -> None:
        self.state, self.steps = self.game.initial(), []
        self._forget()
        for number, name in enumerate(names):
            self._make(steps[number] if number < len(steps) else Step(name, int(self.game.player(self.state))))

    def _make(self, step: Step) -> None:
        self.game.play(self.state, self.game.parse_move(self.state, step.name))
        self.steps.append(step)
        self._forget()

    # -- The game -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The moves by name."""
        return [step.name for step in self.steps]

    @property
    def words(self) -> list[str]:
        """What `games.read_line` reads as this line: the position it begins with, if it is set up, and the moves."""
        return [self.opening] * bool(self.opening) + self.names

    @property
    def side(self) -> int:
        """Who is to move: 0, 1 or CHANCE; OVER once the game is over."""
        return OVER if self.is_over else int(self.game.player(self.state))

    @property
    def is_over(self) -> bool:
        """Whether it has ended, by the rules or since a side has resigned."""
        return self.resigned is not None or bool(self.game.is_over(self.state))

    @property
    def result(self) -> str:
        """How it has ended, in words."""
        outcome, score, *_ = self._ending()
        if self.game.players == 1:
            return "over" if score is None else f"score {score:g}"
        return {1.0: "the first player wins", 0.0: "the second player wins"}.get(outcome, "a draw")

    def _ending(self) -> tuple:
        if self.resigned is None:
            return result_of(self.game, self.state)
        return float(self.resigned), None, Reason.RESIGNED, f"{('first', 'second')[self.resigned]} resigned"

    def play(self, name: str, found: Found | None = None, seconds: float = 0.0) -> None:
        """Make the move of that name; IllegalMove if there is none."""
        name = self.game.move_name(self.state, self.game.parse_move(self.state, name))
        self._make(Step(name, self.side, found, seconds))

    def resign(self, side: int) -> None:
        """End the game: that side has given up."""
        self.resigned = side
        self._forget()

    def _forget(self) -> None:
        """Drop what is of the last position."""
        self.picked: list[Place] = []
        vars(self).pop("ways", None)

    def throw(self) -> None:
        """Let chance move, as the seed has it."""
        rng = stream(self.seed, "chance", len(self.steps))
        self.play(self.game.move_name(self.state, int(self.game.random_outcome(self.state, rng))))

    def back_to(self, ply: int) -> None:
        """Take back all moves but the first `ply`."""
        self.resigned = None
        kept = self.steps[:ply]
        self._go_to([step.name for step in kept], kept)

    def record(self, players: Sequence[str]) -> GameRecord:
        """The game so far, for a file; `players` are the names of first and second."""
        outcome, score, reason, detail = self._ending() if self.is_over else (None, None, Reason.UNFINISHED, "")
        decisions = [
            MoveRecord(
                ply, step.side, step.name, step.found and for_first(step.found.value, step.side), seconds=step.seconds
            )
            for ply, step in enumerate(self.steps)
            if step.side != CHANCE
        ]
        second = players[1] if self.game.players == 2 else None
        return GameRecord(
            "lab-0001",
            0,
            0,
            0,
            self.seed,
            players[0],
            second,
            outcome,
            score,
            reason,
            detail,
            self.opening,
            " ".join(self.names),
            len(self.steps),
            time.perf_counter() - self.began,
            tuple(decisions),
        )

    # -- Clicks ---------------------------------------------------------------------------------------------------

    @cached_property
    def board(self) -> Board | None:
        return self.game.drawn_board(self.game.initial())

    @cached_property
    def ways(self) -> dict[str, list[set[Place]]]:
        """For each legal move, the squares to click one after the other, each any of a set; nothing for a move that
        names none.
        """
        if self.is_over:
            return {}
        board = self.game.drawn_board(self.state)
        moves = list(map(int, self.game.moves(self.state)))
        return {self.game.move_name(self.state, move): self._way(board, move) for move in moves}

    def _way(self, board: Board | None, move: int) -> list[set[Place]]:
        if board is not None:
            return clicked(board, self.game.move_squares(self.state, move))
        point = self.game.move_point(self.state, move)
        return [] if point is None else [{point}]

    @property
    def unclicked(self) -> list[str]:
        """The legal moves that name no square: buttons of their own."""
        return [name for name, places in self.ways.items() if not places]

    def fitting(self) -> list[str]:
        """The moves that begin with the squares picked."""
        picked = self.picked
        return [
            name
            for name, places in self.ways.items()
            if len(places) >= len(picked) and all(place in one for place, one in zip(picked, places))
        ]

    def complete(self) -> list[str]:
        """The moves that the squares picked name in full; several where they differ in more, as promotions do."""
        return [name for name in self.fitting() if self.picked and len(self.ways[name]) == len(self.picked)]

    def next_steps(self) -> list[set[Place]]:
        """The squares that may be picked next, each any of a set."""
        following = (self.ways[name][len(self.picked) :] for name in self.fitting())
        return [rest[0] for rest in following if rest]

    def next_places(self) -> set[Place]:
        """All these squares."""
        return set().union(*self.next_steps())

    def going_on(self) -> set[Place]:
        """Those after which another square must be picked."""
        ways = (self.ways[name][len(self.picked) :] for name in self.fitting())
        return set().union(*(rest[0] for rest in ways if len(rest) > 1))

    def pick(self, place: Place) -> str:
        """Pick a square; one that no move goes over begins anew.  Returns the only move that it leaves, or ""."""
        if place not in self.next_places():
            self.picked = []
        if place in self.next_places():
            self.picked.append(place)
        fitting = self.fitting()
        return fitting[0] if fitting == self.complete() and len(fitting) == 1 else ""


def clicked(board: Board, squares: str) -> list[set[Place]]:
    """The squares that a text names on a board; of a column, any of its cells."""
    if squares in board.column_names:
        column = board.column_names.index(squares)
        return [{(row, column) for row in range(len(board.rows))}]
    steps = (board.places(several) for several in STEP.findall(squares))
    return [set[Place](places) for places in steps if places]


def furthest(game: str, moves: str, seed: int = 0) -> tuple[Line, str]:
    """The line of an address up to its first move that is none, and what is wrong with that, or "".

    UserError for a game that is none.
    """
    fault, words = "", moves.split()
    for kept in range(len(words), 0, -1):
        try:
            return Line(game, " ".join(words[:kept]), seed), fault
        except (UserError, ValueError) as error:
            fault = fault or str(error)
    return Line(game, "", seed), fault


def _set_up(game: Game, text: str) -> tuple[Game, list[str]]:
    """The game from the position that a text begins with, as records or a FEN have it, and the words of its moves."""
    with suppress(ValueError, KeyError):
        if (begun := game.from_pgn_tags({"FEN": text.strip()})) != game:
            return begun, []
    return game.from_line(text)


def _walked(game: Game, moves: str) -> Iterable[tuple]:
    """(state, move) of each move of a line."""
    state = game.initial()
    for move in game.read_line(moves)[0]:
        yield state, move
        game.play(state, move)
