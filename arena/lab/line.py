"""A game in progress on a page: the moves made, and the squares picked of the next one."""

import re
from contextlib import suppress
from functools import cached_property

from arena import games
from arena.games.core.drawing import SQUARE, Board
from arena.games.core.errors import UserError
from arena.games.core.game import Game
from arena.lab.searcher import Found, for_first
from arena.play.recorded_game import RecordedGame
from arena.results.database.record import MoveRecord

Place = tuple[float, float]  # row and column; on a drawing that is no board, x and y
STEP = re.compile(rf"(?:{SQUARE.pattern})(?:\|(?:{SQUARE.pattern}))*")  # one square, or any of several


class Line(RecordedGame):
    """A game that a page shows.  UserError for a spec or a move that is none.

    moves: names, or a position and names; seed: of the dice
    """

    def __init__(self, game: str, moves: str = "", seed: int = 0):
        begun, words = _set_up(games.make(game), moves)
        self.picked: list[Place] = []
        super().__init__(begun, begun.read_line(" ".join(words))[0], seed=seed)

    @property
    def spec(self) -> str:
        """The game, without the position that it is set up to begin from."""
        return self.game.name if self.game.position_word() else str(self.game)

    @property
    def result(self) -> str:
        """How it has ended, in words."""
        outcome, score, *_ = self.ending or (None, None)
        if self.game.players == 1:
            return "over" if score is None else f"score {score:g}"
        return {1.0: "the first player wins", 0.0: "the second player wins"}.get(outcome, "a draw")  # type: ignore[arg-type]

    @property
    def values(self) -> list[float | None]:
        """The value of each decision, for the first player."""
        return [for_first(one.value, one.side) if one else None for one in self.decisions]

    def decide(self, found: Found) -> None:
        """Make the move that a search has found."""
        known = {"value": for_first(found.value, self.side), "depth": found.depth, "nodes": found.nodes}
        known |= {"playouts": found.playouts, "seconds": found.seconds}
        move = self.game.parse_move(self.state, found.move)
        self.push(move, MoveRecord(len(self.moves), self.side, found.move, **known))

    def changed(self) -> None:
        """Drop what is of the last position."""
        super().changed()
        self.picked = []
        vars(self).pop("ways", None)

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
