"""The interface of a game, on one page.

A game is a frozen dataclass of its parameters.  It holds no position: a position is a one-dimensional array
`state: dtype[state_size]`, a move an integer 0 <= move < move_limit.  The methods below that take a state run in plain
Python and, unchanged, compiled in kernels; those "for people" run in plain Python only.  Fields and properties are
constants in kernels, so masks and tables belong in properties; an `__init__` or `__post_init__` may only check.  Data
known only when a game is played, such as the distances of an instance, belong in its `arrays`, which kernels read.  A
class with a method that makes arrays needs `may_allocate = True`, which makes all its methods a little slower.

What must hold, for every state s that play can reach (`games.check` tests it):

    legal_moves(s, moves) writes n distinct moves, and n > 0 unless is_over(s)
    play(s, m) changes s alone, and depends on s and m alone
    player(s) is the player to move: 0 (the first player), 1, or CHANCE, whose moves are outcomes of chance:
        chance(s, moves, probabilities) lists them as legal_moves does, with probabilities that sum to 1, and
        random_outcome(s, rng) draws one
    score(s), once s is over, is above 0 if the first player has won, 0 for a draw, below 0 for a loss; its size is up
        to the game (discs, say), and it is never 0 unless has_draws; in a game for one player it is any number, to be
        maximised
    key(s) == key(t) if and only if s and t are the same position (as far as 64 bits can tell)
    move_code(s, m) differs for the legal moves of s, and between the players
    parse_move(s, move_name(s, m)) == m
    a game is over after at most max_plies moves, and no state has more than max_moves legal ones
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from games.core.drawing import Drawing, Look, svg, text_drawing
from games.core.errors import UserError, listed
from games.core.jit import Compilable
from games.core.lanes import WIDE
from games.core.lines import play_line_kernel
from games.core.network import Network, sigmoid, sign_of, tuple_sum
from games.core.network_file import load_network
from games.core.prepared import FILE, PreparedFileError, named_files
from games.core.random import GAMMA, mix, random_below
from games.core.registry import UNLISTED, Registry, spell

registry = Registry("game", "games")

RULES = {"player", "legal_moves", "play", "is_over", "score", "chance"}
# For `_forget_other_rules`: methods that repeat rules, each with those it repeats; and conclusions from the rules
REPETITIONS = {
    "random_move": RULES,
    "random_playout": RULES,
    "lane_step": RULES | {"random_playout"},
    "key": {"state_size", "dtype"},
}
CONCLUSIONS = ("foreseen", "sound_moves", "soonest_win", "soonest_loss", "plies_left", "symmetries", "colour_exchange")
NETWORK_ARRAYS = {"network_weights": np.int32, "network_places": np.int32, "network_layout": np.int64}
CHANCE = -1  # the player of a state in which chance moves


class BrokenRules(UserError, ValueError):
    """A game's own rules break the interface; the message names the method and its fault."""


class IllegalMove(UserError, ValueError):
    """A move that the rules do not allow, or text that names no legal move; the message lists what is legal."""


@dataclass(frozen=True)
class Game(Compilable):
    """Base class of all games: what a game must define, and defaults for the rest."""

    evaluation: str = field(default="", kw_only=True, metadata=UNLISTED)  # NAME: `evaluate` is `evaluate_NAME`

    has_table: ClassVar[bool] = True
    name: ClassVar[str]  # the name by which the game is registered and written
    players: ClassVar[int] = 2  # 1: a puzzle whose score is to be maximised
    dtype: ClassVar[type[np.generic]] = np.uint64  # of a state
    state_size: ClassVar[int]  # words in a state
    move_limit: ClassVar[int]  # every move is below it
    max_moves: ClassVar[int]  # no state has more legal moves
    max_plies: ClassVar[int]  # no game is longer
    symmetries: ClassVar[int] = 1  # how many, including the identity, which is number 0
    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files to read
    uniform_playouts: ClassVar[bool] = True  # whether random_playout scores as uniformly random moves do
    playout_policy: ClassVar[str] = "uniform"  # the moves that random_playout draws from, in words
    has_tabu_moves: ClassVar[bool] = False  # whether it has `random_move_tabu`
    lane_bits: ClassVar[int] = 0  # the bits of a word in `lane_step`, 16, 32 or 64; 0: the game has no lanes
    sgf_number: ClassVar[int | None] = None  # the game's GM in the Smart Game Format, if it has records there
    has_draws: ClassVar[bool] = True  # whether it can end in a draw
    has_chance: ClassVar[bool] = False  # whether there are states with player CHANCE
    compiles: ClassVar[bool] = True  # whether kernels can call its methods; if not, only agents without kernels play it
    sizes: ClassVar[str] = "one size"  # the ranges of its parameters, in words
    status: ClassVar[str] = "exact"  # how its correctness was tested, in words
    colour_exchange: ClassVar[str] = ""  # "swap": exchanging the players, in `planes` and to move, negates the result
    # "turn": it does if the rows of `grid` are reversed, too; "": it does not
    board_look: ClassVar[Look] = Look()  # how the board that `render` writes is drawn
    soonest_win: ClassVar[int] = 1  # unless an exact end is foreseen, the player to move wins in no fewer plies,
    soonest_loss: ClassVar[int] = 1  # and loses in no fewer

    def __new__(cls, *parameters: Any, evaluation: str = "", **named: Any) -> Self:
        """Check the name of the evaluation: here, because games have a __post_init__ of their own."""
        instance = super().__new__(cls)
        if evaluation:
            if not evaluation.startswith(FILE):
                check_choice("evaluation", evaluation, cls.evaluations())
            elif cls.grid is Game.grid:
                raise PreparedFileError(
                    f"evaluation = {evaluation!r}: {cls.name} does not say what its cells hold, as this needs"
                )
            own = getattr(cls, _evaluator(evaluation)).__get__(instance)
            object.__setattr__(instance, "evaluate", own)  # for plain Python; kernels ask `function`
        return instance

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._forget_other_rules()
        registry.add(cls)

    @classmethod
    def _forget_other_rules(cls):
        """Do not inherit what holds only for the rules of a base, unless the class defines it again.

        A method that repeats rules goes when one of them is replaced.  A conclusion from the rules goes also when
        anything outside this interface is replaced: the `prize` of Breakthrough, say, is part of its rules.  Parameters
        and evaluations are not.
        """
        harmless = {*vars(Game), *cls.__dataclass_fields__, *(f"evaluate_{name}" for name in cls.evaluations())}
        for name, repeated in REPETITIONS.items():
            if cls._replaced(name) & repeated:
                setattr(cls, *("lane_bits", 0) if name == "lane_step" else (name, vars(Game)[name]))
        for name in CONCLUSIONS:
            if any(other in RULES or other not in harmless for other in cls._replaced(name)):
                setattr(cls, name, vars(Game)[name])

    @classmethod
    def _replaced(cls, name: str) -> set[str]:
        """The names that the class replaces from the base that defines `name`, and from the bases of that one."""
        bases = cls.__mro__[: cls.__mro__.index(Game)]
        place = next((place for place, base in enumerate(bases) if name in vars(base)), 0)
        before, after = (set[str]().union(*map(vars, part)) for part in (bases[:place], bases[place:]))
        return {other for other in before & after if not other.startswith("_")}

    # -- A game must define these ------------------------------------------------------------------------------

    def player(self, state: np.ndarray) -> int:
        """The player to move: 0, 1 or CHANCE."""
        raise NotImplementedError

    def legal_moves(self, state: np.ndarray, moves: np.ndarray) -> int:
        """Write the legal moves into `moves: int32[max_moves]` and return their number."""
        raise NotImplementedError

    def play(self, state: np.ndarray, move: int) -> None:
        """Make a legal move, in place."""
        raise NotImplementedError

    def is_over(self, state: np.ndarray) -> bool:
        """True if the game has ended."""
        raise NotImplementedError

    def score(self, state: np.ndarray) -> float:
        """The first player's result (float) of a game that is over: its sign tells the winner."""
        raise NotImplementedError

    # -- and these, which run in plain Python only: `start`, and those for people ---------------------------------

    def start(self, state: np.ndarray) -> None:
        """Write the initial position into `state`."""
        raise NotImplementedError

    def move_name(self, state: np.ndarray, move: int) -> str:
        """The move in the game's traditional notation, without blanks."""
        raise NotImplementedError

    def render(self, state: np.ndarray) -> str:
        """The board with its coordinates, as lines of text."""
        raise NotImplementedError

    # -- A game may replace these: for strength, for policies, or for speed ---------------------------------------

    def chance(self, state: np.ndarray, moves: np.ndarray, probabilities: np.ndarray) -> int:
        """If the player is CHANCE: write outcomes and their probabilities (float64[max_moves]); return their number."""
        return 0

    def random_outcome(self, state: np.ndarray, rng: np.ndarray) -> int:
        """If the player is CHANCE: an outcome, drawn by its probability."""
        return 0

    def evaluate(self, state: np.ndarray) -> float:
        """An estimate of the first player's result, strictly between -1 and 1, while the game is not over.

        A game may have others, as methods `evaluate_NAME`; the parameter `evaluation` names one to replace this one.
        """
        return 0.0

    def move_order(self, state: np.ndarray, move: int) -> int:
        """A small integer, larger for legal moves that look better: depth-first searches try these first."""
        return 0

    def move_orders(self, state: np.ndarray, moves: np.ndarray, count: int, orders: np.ndarray) -> None:
        """Write the move_order of each of the first `count` moves, which are legal, into `orders: int64[max_moves]`."""
        for i in range(count):
            orders[i] = self.move_order(state, moves[i])

    def planes(self, state: np.ndarray) -> tuple[np.uint64, ...]:
        """Sets of cells, as bits, for learned evaluations: the first player's, the second's, and others.

        No two sets share a cell.  A game with planes also defines `grid`, and may define `colour_exchange`.
        """
        raise NotImplementedError

    @property
    def grid(self) -> np.ndarray:
        """int64[rows, columns]: the bit of each cell in `planes`, or -1 for none; empty if the game has no planes."""
        return np.zeros((0, 0), np.int64)

    @property
    def has_planes(self) -> bool:
        """Whether the game has `planes`, and so can have learned evaluations and policies."""
        return self.grid.size > 0

    def is_unstable(self, state: np.ndarray, move: int) -> bool:
        """True for a legal move, such as a capture, that makes an evaluation of the state unreliable."""
        return False

    def foreseen(self, state: np.ndarray) -> tuple[int, bool]:
        """(plies, exact): how a game that is not over will end, as far as is known without search.

        plies > 0: the player to move can win within that many plies; plies < 0: the other player can win within -plies;
        0: nothing is known.  exact: whether best play by both takes exactly that many; if not, it may take fewer.
        """
        return 0, True

    def plies_left(self, state: np.ndarray) -> int:
        """The most plies that the game can still take from here."""
        return self.max_plies

    def sound_moves(self, state: np.ndarray, moves: np.ndarray) -> int:
        """Like legal_moves, but may leave out moves that are certainly no better than one that is listed.

        No better: looking two plies ahead, the result is no better, a win comes no sooner and a loss no later.
        """
        return self.legal_moves(state, moves)

    def move_code(self, state: np.ndarray, move: int) -> int | np.int64:
        """int64 below code_limit: identifies the move for learned policies, by the same code in every position."""
        return np.int64(move) + self.move_limit * max(self.player(state), 0)

    @property
    def code_limit(self) -> int:
        """Every move_code is below this."""
        return self.players * self.move_limit

    def feature_code(self, state: np.ndarray, move: int) -> int | np.int64:
        """int64 of any size: a move_code that also depends on features, such as captures or the neighbourhood."""
        return self.move_code(state, move)

    def move_codes(self, state: np.ndarray, moves: np.ndarray, count: int, codes: np.ndarray) -> None:
        """Write the move_code of each of the first `count` moves, which are legal, into `codes: int64[max_moves]`."""
        for i in range(count):
            codes[i] = self.move_code(state, moves[i])

    def feature_codes(self, state: np.ndarray, moves: np.ndarray, count: int, codes: np.ndarray) -> None:
        """The same with the feature_code of each."""
        for i in range(count):
            codes[i] = self.feature_code(state, moves[i])

    def bias(self, state: np.ndarray, move: int) -> float:
        """The weight (float) of a legal move in a policy that has learned nothing yet; its odds are exp(weight)."""
        return 0.0

    def key(self, state: np.ndarray) -> np.uint64:
        """uint64: a hash of the position, for transposition tables."""
        word = np.uint64(0)
        for i in range(self.state_size):
            word = mix(word + np.uint64(state[i]) + GAMMA)
        return word

    def transform(self, state: np.ndarray, symmetry: int, target: np.ndarray) -> None:
        """Write the image of `state` under a symmetry, 0 <= symmetry < symmetries, into `target`."""
        for i in range(self.state_size):
            target[i] = state[i]

    def transform_move(self, move: int, symmetry: int) -> int:
        """The image of a move under the same symmetry."""
        return move

    def play_into(self, state: np.ndarray, move: int, target: np.ndarray) -> None:
        """Write the position after a legal move into `target: dtype[state_size]`."""
        for i in range(self.state_size):
            target[i] = state[i]
        self.play(target, move)

    def least_key(self, state: np.ndarray, image: np.ndarray) -> tuple[np.uint64, int]:
        """(the least key among the images of a state under the symmetries, the symmetry that gives it).

        So symmetric positions share a key.  `image: dtype[state_size]` is scratch space.
        """
        least, symmetry = self.key(state), 0
        for i in range(1, self.symmetries):
            self.transform(state, i, image)
            key = self.key(image)
            if key < least:
                least, symmetry = key, i
        return least, symmetry

    def random_move(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """A uniformly random legal move, or an outcome of chance by its probability.

        `moves: int32[max_moves]` is scratch space.
        """
        if self.has_chance and self.player(state) == CHANCE:
            return self.random_outcome(state, rng)
        return moves[random_below(rng, self.legal_moves(state, moves))]

    def random_step(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Make and return the move that random_move would draw; games replace this if drawing is half of making it."""
        move = self.random_move(state, moves, rng)
        self.play(state, move)
        return move

    def random_playout(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> tuple[float, int]:
        """Play uniformly random moves to the end and return (score, plies); `state` is used up.

        A faster replacement must score as random moves would; one with a better policy sets uniform_playouts to False.
        """
        plies = 0
        while not self.is_over(state):
            self.random_step(state, moves, rng)
            plies += 1
        return self.score(state), plies

    @property
    def lanes(self) -> int:
        """The number of random playouts that run side by side, a power of two; 0: the game has no lanes."""
        return WIDE // self.lane_bits if self.lane_bits > 0 else 0

    def lane_start(self, state: np.ndarray, zero: Any) -> tuple[Any, ...]:
        """For games with lanes (games/core/lanes.py): a position that is not over as a tuple of lanes, all alike.

        `zero` is 0 in every lane; the caller chooses the number of lanes.
        """
        raise NotImplementedError

    def lane_step(self, words: tuple[Any, ...], rng: Any) -> tuple[tuple[Any, ...], Any, Any, Any]:
        """Make one uniformly random move, or more, in every lane; return (words, plies, over, score).

        words: as from lane_start; plies: how many moves were made, a number or lanes; over: the mask of the lanes whose
        game has ended; score: lanes with the scores of the games that have ended, whole numbers.  A lane may wait.
        What a lane does after the end of its game does not matter, except for plies: -1 takes a move back.
        """
        raise NotImplementedError

    def random_move_tabu(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Like random_move, but only from moves that the game does not hold back; where has_tabu_moves is true."""
        raise NotImplementedError

    def random_step_tabu(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Make the move that random_move_tabu would draw, and return it; where has_tabu_moves is true."""
        move = self.random_move_tabu(state, moves, rng)
        self.play(state, move)
        return move

    @property
    def move_names(self) -> dict[str, int]:
        """The moves by name, if a name means the same move in every position: lines of moves are then read faster."""
        return {}

    def terms(self, state: np.ndarray) -> list[tuple[str, float, float, float]]:
        """The terms of its evaluation, in plain Python: (term, the first player's count, the second's, weight).

        Empty if the evaluation is not such a sum, or the game does not list its terms.
        """
        return []

    def endgames(self, pieces: int) -> np.ndarray:
        """dtype[n, state_size]: all positions with at most `pieces` pieces that are not over, for end-game tables.

        ValueError if there are none, or if the game does not list them.
        """
        raise ValueError(f"{self} does not list its end-games by pieces")

    def sgf_properties(self) -> dict[str, object]:
        """The properties of the root of a game's SGF besides GM and the players: {"SZ": size}, say."""
        return {}

    def sgf_move(self, name: str) -> str:
        """The move with that name in SGF's notation, where sgf_number is not None."""
        raise NotImplementedError

    def drawing(self, state: np.ndarray, moves: list[str]) -> Drawing:
        """The drawing for `svg`: by default the text of `render`, in the look `board_look` if it is a board.

        moves: the names of the moves that led to the position, or of the last one, as far as they are known.
        """
        return text_drawing(self.render(state), moves, self.board_look)

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

    def pgn_tags(self) -> dict[str, str]:
        """The tags of its games' PGN besides players and result: the starting position, say."""
        return {}

    def from_pgn_tags(self, tags: Mapping[str, str]) -> Self:
        """The same game from the starting position of a PGN with these tags; ValueError if it cannot start there."""
        return self

    # -- Derived, in plain Python ------------------------------------------------------------------------------

    @classmethod
    def evaluations(cls) -> list[str]:
        """The names of its evaluation functions besides `evaluate`."""
        return sorted(name.removeprefix("evaluate_") for name in dir(cls) if name.startswith("evaluate_"))

    def with_evaluation(self, name: str) -> Self:
        """The same game with the evaluation function of that name in place of `evaluate`; "" is `evaluate` itself.

        `file:PATH` is a learned one; PreparedFileError if the file does not hold one.
        """
        changed = replace(self, evaluation=name)
        changed.prepare()
        return changed

    def files(self) -> list[str]:
        """The paths of the files that it reads; a run is resumed only if their data are the same."""
        return named_files(self)

    def with_network(self, network: Network) -> Self:
        """The same game with a learned evaluation from memory."""
        changed = replace(self, evaluation=FILE)
        object.__setattr__(changed, "network", network)
        return changed

    def prepare(self) -> None:
        """Read the file of its evaluation, if there is one; PreparedFileError if it cannot be used."""
        if self.evaluation.startswith(FILE):
            _ = self.network

    @cached_property
    def network(self) -> Network:
        """The learned evaluation, from its file."""
        return load_network(self.evaluation.removeprefix(FILE), replace(self, evaluation=""))

    @property
    def network_weights(self) -> np.ndarray:
        """The network's weights as kernels see them; see `Network`."""
        return self.network.weights

    @property
    def network_places(self) -> np.ndarray:
        """The network's places as kernels see them; see `Network`."""
        return self.network.places

    @property
    def network_layout(self) -> np.ndarray:
        """The network's layout as kernels see it; see `Network`."""
        return self.network.layout

    @property
    def plane_bytes(self) -> int:
        """How many bytes of each word of `planes` hold cells."""
        return int(self.grid.max()) // 8 + 1

    def network_value(self, state: np.ndarray) -> float:
        """The learned evaluation, in place of `evaluate`."""
        return sigmoid(self.network_units(state, self.network_weights, self.network_places, self.network_layout))

    def network_units(self, state: np.ndarray, weights: np.ndarray, places: np.ndarray, layout: np.ndarray) -> np.int64:
        """The sum (int64) of a network with these arrays, for the first player."""
        words, side = self.planes(state), np.int64(self.player(state))
        return sign_of(layout, side) * tuple_sum(self, weights, places, layout, words, side)

    @property
    def kernel_arrays(self) -> dict[str, type]:
        return {**self.arrays, **NETWORK_ARRAYS} if self.evaluation.startswith(FILE) else self.arrays

    def compiled_parameter(self, name: str) -> Any:
        """A parameter as kernels know it: all files with evaluations share kernels."""
        value = getattr(self, name)
        return FILE if name == "evaluation" and value.startswith(FILE) else value

    def function(self, name: str) -> Callable[..., Any]:
        """The function that a call of the method `name` runs in a kernel."""
        return getattr(type(self), _evaluator(self.evaluation) if name == "evaluate" else name)

    def parse_move(self, state: np.ndarray, text: str) -> int:
        """The legal move of that name; IllegalMove if there is none."""
        names = {self.move_name(state, move): move for move in self.moves(state)}
        if text.strip() not in names:
            raise IllegalMove(f"{text!r} is not a legal move of {self} here; legal: {listed(names)}")
        return names[text.strip()]

    def initial(self) -> np.ndarray:
        """A fresh array with the initial position."""
        state = np.zeros(self.state_size, self.dtype)
        self.start(state)
        return state

    def moves(self, state: np.ndarray) -> list[int]:
        """The legal moves, none when the game is over; BrokenRules if their number is out of range."""
        if self.is_over(state):
            return []
        moves = np.empty(self.max_moves, np.int32)
        try:
            count = int(self.legal_moves(state, moves))
        except IndexError as error:
            raise BrokenRules(f"legal_moves of {self} writes beyond max_moves = {self.max_moves}: {error}") from error
        if not 0 <= count <= self.max_moves:
            raise BrokenRules(f"legal_moves of {self} returns {count}; it can be 0 to max_moves = {self.max_moves}")
        return moves[:count].tolist()

    def after(self, state: np.ndarray, move: int) -> np.ndarray:
        """A fresh array with the position after a legal move; IllegalMove if it is not legal."""
        legal = self.moves(state)
        if move not in legal:
            names = listed([self.move_name(state, other) for other in legal])
            raise IllegalMove(f"{move!r} is not a legal move of {self} here; legal: {names}")
        state = state.copy()
        self.play(state, move)
        return state

    def read_line(self, text: str, state: np.ndarray | None = None) -> tuple[list[int], np.ndarray]:
        """(moves, state after them) of a line of moves, from `state` or the initial position.

        Blanks separate the moves.  A word that is not a move is read as moves joined by `-`, or as moves of one letter
        each, as is common in Connect 4.  IllegalMove names a word that is neither.
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

    def picture(self, names: Iterable[str]) -> str:
        """An SVG picture of the position after the moves with these names; the last one is marked."""
        names = list(names)
        return svg(self, self.read_line(" ".join(names))[1], names)

    def __str__(self):
        return spell(self)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows: the initial position."""
        return svg(self, self.initial(), title=str(self))


def _evaluator(evaluation: str) -> str:
    """The name of the method that takes the place of `evaluate`."""
    if evaluation.startswith(FILE):
        return "network_value"
    return f"evaluate_{evaluation}" if evaluation else "evaluate"


def check_range(name: str, value: float, low: float, high: float | None = None) -> None:
    """ValueError that names the parameter and its range, unless low <= value <= high; None is no upper limit."""
    if not (value >= low and (high is None or value <= high)):  # refuses NaN, too
        raise ValueError(
            f"{name} = {value} is out of range: it can be {low} {'or more' if high is None else f'to {high}'}"
        )


def check_rectangle(rows: int, columns: int, low: int, high: int) -> None:
    """ValueError unless both are in the range, or both 0: a square of the game's `size`."""
    if rows or columns:
        given = {"rows": rows, "columns": columns}
        for name, value in given.items():
            if value:
                check_range(name, value, low, high)
        for name, value in given.items():
            if not value:
                raise ValueError(f"a rectangle needs rows and columns, and {name} is not given")


def check_choice(name: str, value, choices: Iterable) -> None:
    """ValueError that names the parameter and what it can be, unless `value` is one of the choices."""
    known = list(choices)
    if value not in known:
        words = f"is not one of {', '.join(map(str, known))}" if known else "is not known: there is only the default"
        raise ValueError(f"{name} = {value!r} {words}")
