"""What a game may define for people and other programs: names of moves, pictures, and the formats of records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from arena.games.core.drawing import Drawing, Look, svg, text_drawing
from arena.games.core.errors import listed
from arena.games.core.lines import play_line_kernel
from arena.games.core.rules import IllegalMove, Rules


@dataclass(frozen=True)
class People(Rules):
    """Text, drawings and notation, in plain Python only."""

    sizes: ClassVar[str] = "one size"  # ranges of parameters, in words
    status: ClassVar[str] = "exact"  # how it was tested, in words
    compiles: ClassVar[bool] = True  # if false, only agents without kernels play it
    board_look: ClassVar[Look] = Look()  # how the board that `render` writes is drawn
    sgf_number: ClassVar[int | None] = None  # its GM in the Smart Game Format, if it has records there

    @property
    def move_names(self) -> dict[str, int]:
        """The moves by name, if names mean the same in every position: lines are then read faster."""
        return {}

    def drawing(self, state: np.ndarray, moves: list[str]) -> Drawing:
        """The drawing for `svg`: by default the text of `render`, in `board_look` if it is a board.

        moves: the names of the moves so far, or of the last one, as far as known.
        """
        return text_drawing(self.render(state), moves, self.board_look)

    def picture(self, names: Iterable[str]) -> str:
        """An SVG picture after these moves; the last one is marked."""
        names = list(names)
        return svg(self, self.read_line(" ".join(names))[1], names)

    def _repr_svg_(self) -> str:
        return svg(self, self.initial(), title=str(self))

    # -- Reading moves -------------------------------------------------------------------------------------------

    def parse_move(self, state: np.ndarray, text: str) -> int:
        """The legal move of that name; IllegalMove if there is none."""
        names = {self.move_name(state, move): move for move in self.moves(state)}
        if text.strip() not in names:
            raise IllegalMove(f"{text!r} is not a legal move of {self} here; legal: {listed(names)}")
        return names[text.strip()]

    def read_line(self, text: str, state: np.ndarray | None = None) -> tuple[list[int], np.ndarray]:
        """(moves, state after them) of a line of moves, from `state` or the initial position.

        Blanks separate moves, or words of moves joined by `-`, or of one letter each, as is common in Connect 4.
        IllegalMove names a word that is neither.
        """
        known = self._known_names(text)
        if known and self.compiles:
            after = self.initial() if state is None else state.copy()
            room = np.empty(self.max_moves, np.int32)
            if play_line_kernel(self, after, np.array(known, np.int32), room) == len(known):
                return known, after
        moves, state = [], self.initial() if state is None else state.copy()
        for word in text.split():
            for name in self._parts(state, word):
                try:
                    moves.append(self.parse_move(state, name))
                except IllegalMove as error:
                    raise error if name == word else IllegalMove(f"{word!r}: {error}") from None
                self.play(state, moves[-1])
        return moves, state

    def _known_names(self, text: str) -> list[int] | None:
        names, moves = self.move_names, []
        try:
            for word in text.split():
                moves += [names[word]] if word in names else [names[letter] for letter in word]
        except KeyError:
            return None
        return moves

    def _parts(self, state, word: str) -> list[str]:
        joined = [part for part in word.split("-") if part]
        for parts in ([word], joined if len(joined) > 1 else [], list(word)):
            try:
                if parts and self.parse_move(state, parts[0]) is not None:
                    return parts
            except IllegalMove:
                pass
        return [word]

    # -- Other programs ------------------------------------------------------------------------------------------

    def sgf_properties(self) -> dict[str, object]:
        """The SGF root's properties besides GM and the players: {"SZ": size}, say."""
        return {}

    def sgf_move(self, name: str) -> str:
        """The move in SGF's notation, where sgf_number is not None."""
        raise NotImplementedError

    def uci_name(self, state: np.ndarray, move: int) -> str:
        """The move as UCI engines write it."""
        return self.move_name(state, move)

    @property
    def uci_start(self) -> str:
        """The initial position in UCI's words."""
        return "startpos"

    @property
    def uci_options(self) -> dict[str, str]:
        """UCI options for the variant, set only in engines that declare them."""
        return {}

    def pgn_tags(self) -> dict[str, str]:
        """PGN tags besides players and result: the starting position, say."""
        return {}

    def from_pgn_tags(self, tags: Mapping[str, str]) -> Self:
        """The same game from the start in these tags; ValueError if it cannot start there."""
        return self
