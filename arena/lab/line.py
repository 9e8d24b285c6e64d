"""A game in progress on a page: the moves made, and the squares picked of the next one."""

import re
from contextlib import suppress
from functools import cached_property

from arena import games
from arena.games.core.boards.drawing import PIECES, SQUARE, Board
from arena.games.core.game import Game
from arena.games.core.shared.errors import UserError
from arena.lab.searcher import Found, for_first
from arena.play.recorded_game import RecordedGame
from arena.results.database.record import MoveRecord

Place = tuple[float, float]  # row and column; on a drawing that is no board, x and y
Way = list[set[Place]]  # the squares to click for a move one after the other, each any of a set
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

    @cached_property
    def letters(self) -> tuple[str, str]:
        """What each side's pieces are in the board's text; "" where it is not known."""
        return self.game.pieces(0), self.game.pieces(1)

    @cached_property
    def colours(self) -> tuple[str, ...]:
        """What each side has on the board, in words."""
        looks = (PIECES if self.board else {}) | dict(self.game.board_look.pieces)
        return tuple(looks.get(one, "").partition(" ")[0] or one for one in self.letters)

    def counted(self) -> str:
        """How many pieces each side has, in a sentence, in a game that begins with some."""
        if self.board is None or "" in self.letters or any(self._count(self.board, one) == 0 for one in self.letters):
            return ""
        board = self.game.drawn_board(self.state) or self.board
        first, second = (f"{colour} {self._count(board, one)}" for colour, one in zip(self.colours, self.letters))
        return f" On the board: {first}, {second}."

    @staticmethod
    def _count(board: Board, letter: str) -> int:
        return sum(row.count(letter) for row in board.rows)

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
    def ways(self) -> dict[str, list[Way]]:
        """For each legal move, the ways to click it; none for a move that names no square."""
        if self.is_over:
            return {}
        board = self.game.drawn_board(self.state)
        moves = list(map(int, self.game.moves(self.state)))
        return {self.game.move_name(self.state, move): self._ways_of(board, move) for move in moves}

    def _ways_of(self, board: Board | None, move: int) -> list[Way]:
        if board is None:
            return [[{point} for point in path] for path in self.game.move_paths(self.state, move)]
        way = clicked(board, self.game.move_squares(self.state, move))
        return [way] if way else []

    @property
    def unclicked(self) -> list[str]:
        """The legal moves that name no square: buttons of their own."""
        return [name for name, ways in self.ways.items() if not ways]

    def rests(self) -> list[tuple[str, Way]]:
        """The moves that begin with the squares picked, with what is left of each way to click them."""
        picked = self.picked
        return [
            (name, way[len(picked) :])
            for name, ways in self.ways.items()
            for way in ways
            if len(way) >= len(picked) and all(place in one for place, one in zip(picked, way))
        ]

    def complete(self) -> list[str]:
        """The moves that the squares picked name in full; several where they differ in more, as promotions do."""
        return list(dict.fromkeys(name for name, rest in self.rests() if not rest))

    def next_steps(self) -> list[set[Place]]:
        """The squares that may be picked next, each any of a set."""
        return [rest[0] for _, rest in self.rests() if rest]

    def next_places(self) -> set[Place]:
        """All these squares."""
        return set().union(*self.next_steps())

    def going_on(self) -> set[Place]:
        """Those after which another square must be picked."""
        return set().union(*(rest[0] for _, rest in self.rests() if len(rest) > 1))

    def pick(self, place: Place) -> str:
        """Pick a square; one that does not go on takes the place of the last ones, as many as it must.

        Returns the only move that it leaves, or "".
        """
        while place not in self.next_places() and self.picked:
            self.picked.pop()
        if place in self.next_places():
            self.picked.append(place)
        complete = self.complete()
        return complete[0] if complete and {name for name, _ in self.rests()} == {complete[0]} else ""


def clicked(board: Board, squares: str) -> Way:
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
