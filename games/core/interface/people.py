"""What a game may define for people and other programs: names of moves, pictures, and the formats of records."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from arena.games.core.boards.drawing import Board, Drawing, Look, read_board, svg, text_drawing
from arena.games.core.interface.lines import play_line_kernel
from arena.games.core.interface.rules import IllegalMove, Rules
from arena.games.core.shared.errors import listed, same_letters


@dataclass(frozen=True)
class People(Rules):
    """Text, drawings and notation, in plain Python only."""

    rules: ClassVar[str] = ""  # for one who does not know it: the aim, and what a move is, at most three sentences
    sizes: ClassVar[str] = ""  # the ranges of its parameters, in words; empty: as they are found
    status: ClassVar[str] = "exact"  # how its correctness was tested, in words
    compiles: ClassVar[bool] = True  # whether kernels can call its methods; if not, only agents without kernels play it
    sides: ClassVar[tuple[str, str]] = ("", "")  # what each player has, where `pieces` does not see it
    board_look: ClassVar[Look] = Look()  # how the board that `render` writes is drawn
    spot_height: ClassVar[float] = 0.0  # of what is clicked around a point of `move_paths`, where more than its width
    sgf_number: ClassVar[int | None] = None  # the game's GM in the Smart Game Format, if it has records there
    stable_names: ClassVar[bool] = False  # whether `move_name` does not look at the state
    scored_by_players: ClassVar[bool] = False  # whether they agree on what is dead: a record's result stands
    not_for_moves: ClassVar[Mapping[str, object]] = {}  # parameters that change no legal move, each with some value

    @property
    def move_names(self) -> dict[str, int]:
        """The moves by name, if a name means the same move in every position: lines of moves are then read faster."""
        return {}

    def pieces(self, side: int) -> str:
        """What a player has on the board: `sides`, or the letter that his first moves put there; "" if none is seen."""
        if any(self.sides):
            return self.sides[side]
        state = self.initial()
        while not self.is_over(state) and (mover := int(self.player(state))) in (0, 1):
            if mover == side:
                letters = set().union(*(self._letters_put(state, move) for move in self.moves(state)))
                return letters.pop() if len(letters) == 1 else ""
            self.play(state, self.moves(state)[0])
        return ""

    def _letters_put(self, state: np.ndarray, move: int) -> set[str]:
        after = state.copy()
        self.play(after, move)
        boards = [read_board(self.render(one)) for one in (state, after)]
        cells = [[] if board is None else itertools.chain.from_iterable(board.rows) for board in boards]
        return {new for old, new in zip(*cells) if old != new and new.isalpha()}

    def drawing(self, state: np.ndarray, moves: list[str]) -> Drawing:
        """The drawing for `svg`: by default the text of `render`, in the look `board_look` if it is a board.

        moves: the names of the moves that led to the position, or of the last one, as far as they are known.
        """
        return text_drawing(self.render(state), moves, self.board_look)

    def drawn_board(self, state: np.ndarray) -> Board | None:
        """The board that `drawing` draws, whose squares can be clicked; None if it draws none."""
        return read_board(self.render(state))

    def move_squares(self, state: np.ndarray, move: int) -> str:
        """The squares that a person clicks for a move, one after the other; `a1|a2` is any of the two, "" none."""
        return self.uci_name(state, move)

    def move_paths(self, state: np.ndarray, move: int) -> list[list[tuple[float, float]]]:
        """The ways to click a move on a drawing that is no board, each the points to click one after the other.

        Points are in the drawing's units; no way: the move has no place there.
        """
        return []

    def point_name(self, state: np.ndarray, point: tuple[float, float]) -> str:
        """A point of `move_paths` for readers who cannot see it; "": the moves that it begins."""
        return ""

    def picture(self, names: Iterable[str]) -> str:
        """An SVG picture of the position after the moves with these names; the last one is marked."""
        names = list(names)
        return svg(self, self.read_line(" ".join(names))[1], names)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows: the initial position."""
        return svg(self, self.initial(), title=str(self))

    # -- Reading moves -------------------------------------------------------------------------------------------

    def parse_move(self, state: np.ndarray, text: str) -> int:
        """The legal move of that name; IllegalMove if there is none."""
        name, legal = text.strip(), self.moves(state)
        like = self._last_named.get(name)
        if like in legal and self.move_name(state, like) == name:
            return like
        names = {self.move_name(state, move): move for move in legal}
        if name not in names:
            close = " or ".join(same_letters(text, names))
            meant = f" (did you mean {close}?)" if close else ""
            raise IllegalMove(f"{text!r} is not a legal move of {self} here{meant}; legal: {listed(names)}")
        self._last_named[name] = names[name]
        return names[name]

    @cached_property
    def _last_named(self) -> dict[str, int]:
        """The last move that a name meant, which it often means again: then the others need no names."""
        return {}

    def read_line(self, text: str, state: np.ndarray | None = None) -> tuple[list[int], np.ndarray]:
        """(moves, state after them) of a line of moves, from `state` or the initial position.

        Blanks separate the moves.  A word that is not a move is read as moves joined by `-`, or as moves of one letter
        each, as is common in Connect 4.  IllegalMove names a word that is neither.
        """
        if state is None:
            begun, words = self.from_line(text)
            text, state = " ".join(words), begun.initial()
        known = self._known_names(text)
        if known and self.compiles:
            after = state.copy()
            room = np.empty(self.max_moves, np.int32)
            if play_line_kernel(self, after, np.array(known, np.int32), room) == len(known):
                return known, after
        moves, state = [], state.copy()
        for word in text.split():
            for name in self._parts(state, word):
                try:
                    moves.append(self.parse_move(state, name))
                except IllegalMove as error:
                    raise error if name == word else IllegalMove(f"{word!r}: {error}") from None
                self.play(state, moves[-1])
        return moves, state

    def from_line(self, line: str) -> tuple[Self, list[str]]:
        """The game from the position that a line begins with, if the game can be set up, and the words of its moves.

        In a line of stored moves such a position is one word.  IllegalMove says what is wrong with it.
        """
        return self, line.split()

    def position_word(self) -> str:
        """The word that `from_line` reads as the initial position; "" if the game always begins from it."""
        return ""

    def _known_names(self, text: str) -> list[int] | None:
        """The moves of a line, if `move_names` has them all by name."""
        names, moves = self.move_names, []
        try:
            for word in text.split():
                moves += [names[word]] if word in names else [names[letter] for letter in word]
        except KeyError:
            return None
        return moves

    def _parts(self, state, word: str) -> list[str]:
        """The names of moves that a word of a line stands for."""
        joined = [part for part in word.split("-") if part]
        for parts in ([word], joined if len(joined) > 1 else [], list(word)):
            try:
                if parts and self.parse_move(state, parts[0]) is not None:
                    return parts
            except IllegalMove:
                pass
        return [word]

    def read_word(self, state: np.ndarray, word: str) -> list[int]:
        """The legal moves that a word of a record stands for, mostly one; IllegalMove if there are none."""
        return [self.parse_move(state, word)]

    # -- Other programs ------------------------------------------------------------------------------------------

    def sgf_properties(self) -> dict[str, object]:
        """The properties of the root of a game's SGF besides GM and the players: {"SZ": size}, say."""
        return {}

    def sgf_move(self, name: str) -> str:
        """The move with that name in SGF's notation, where sgf_number is not None."""
        return "" if name == "pass" else name

    def sgf_name(self, point: str) -> str:
        """The name of the move of an SGF; ValueError if it is none on this board."""
        return point or "pass"

    def from_sgf(self, root: Mapping[str, list[str]]) -> Self:
        """This game with the parameters that an SGF has: the values of its properties, with the points of B and W.

        ValueError if there is no such game.
        """
        width, _, height = root.get("SZ", [""])[0].strip().partition(":")
        text = width if height in ("", width) else f"{width}:{height}"
        if text and "size" in self.__dataclass_fields__:
            if not text.isdecimal():
                raise ValueError(f"has SZ[{text}], which is no size of {self}")
            changed: dict[str, Any] = {"size": int(text)}
            try:
                return replace(self, **changed)
            except ValueError as error:
                raise ValueError(f"has SZ[{text}]: {error}") from None
        if text and text != str(self.sgf_properties().get("SZ", text)):
            raise ValueError(f"has SZ[{text}], and not the board of {self}")
        return self

    def sgf_start(self, stones: Mapping[str, list[str]], mover: str) -> list[str]:
        """The moves that lead to a position, from its stones of colour B and W, as names of moves, and who moves first.

        ValueError if the game cannot begin there.
        """
        if any(stones.values()):
            raise ValueError(f"begins from a position (AB, AW), as {self} cannot")
        return []

    def uci_name(self, state: np.ndarray, move: int) -> str:
        """The move as UCI engines write it."""
        return self.move_name(state, move)

    @property
    def uci_start(self) -> str:
        """The initial position in the language of UCI."""
        return "startpos"

    @property
    def uci_options(self) -> dict[str, str]:
        """The UCI options that name the variant, set only in engines that declare them."""
        return {}

    def play_on(self, state: np.ndarray) -> bool:
        """Let a game of a record that ended by what players have to claim go on; returns whether it does."""
        return False

    def pgn_tags(self) -> dict[str, str]:
        """The tags of its games' PGN besides players and result: the starting position, say."""
        return {}

    def from_pgn_tags(self, tags: Mapping[str, str]) -> Self:
        """This game from the starting position of a PGN with these tags; ValueError if it cannot start there."""
        return self
