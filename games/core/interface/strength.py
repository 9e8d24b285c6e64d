"""What a game may define for strength: evaluations, move orders, what is foreseen, and features for learning."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from arena.games.core.evaluations.network import Network, sigmoid, sign_of, tuple_sum
from arena.games.core.evaluations.network_file import load_network
from arena.games.core.interface.rules import Rules
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import FILE, named_files
from arena.games.core.shared.registry import UNLISTED

WEIGHTED = "="  # in the text of an evaluation of one's own weights
NETWORK_ARRAYS = {"network_weights": np.int32, "network_places": np.int32, "network_layout": np.int64}


class WeightsError(UserError, ValueError):
    """Weights of terms that a game does not have, or that are no numbers."""


@dataclass(frozen=True)
class Strength(Rules):
    """Knowledge of a game besides its rules; by default there is none."""

    evaluation: str = field(default="", kw_only=True, metadata=UNLISTED)  # NAME: `evaluate` is `evaluate_NAME`

    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files to read
    colour_exchange: ClassVar[str] = ""  # "swap": exchanging the players, in `planes` and to move, negates the result
    # "turn": it does if the rows of `grid` are reversed, too; "": it does not
    soonest_win: ClassVar[int] = 1  # unless an exact end is foreseen, the player to move wins in no fewer plies,
    soonest_loss: ClassVar[int] = 1  # and loses in no fewer
    quick_keys: ClassVar[bool] = False  # making a move and its key take less time than a load from memory: solvers
    # then load what their tables have of all moves beforehand
    term_weights: ClassVar[Mapping[str, float]] = {}  # the terms that `counts` counts, each with its usual weight
    term_scale: ClassVar[float] = 8.0  # a sum f of weighted terms is worth f / (term_scale + |f|)
    summed: ClassVar[str | None] = None  # the evaluation that depends on this sum with the usual weights, if one does

    def evaluate(self, state: np.ndarray) -> float:
        """An estimate of the first player's result, strictly between -1 and 1, while the game is not over.

        A game may have others, as methods `evaluate_NAME`; the parameter `evaluation` names one to replace this one.
        """
        return 0.0

    def counts(self, state: np.ndarray, side: int) -> tuple[int, ...]:
        """A player's counts of `term_weights`, in their order."""
        raise NotImplementedError

    def weighted_value(self, state: np.ndarray) -> float:
        """The evaluation of one's own weights, in place of `evaluate`."""
        first, second, total = self.counts(state, 0), self.counts(state, 1), 0.0
        for i in range(len(first)):
            total += self.own_weights[i] * (first[i] - second[i])
        return total / (self.term_scale + abs(total))

    @cached_property
    def own_weights(self) -> np.ndarray:
        """float64[terms]: the weights of `evaluation = "term=weight, ..."`; terms without one count nothing."""
        return weights_in(self.evaluation, self.term_weights)

    def terms(self, state: np.ndarray) -> list[tuple[str, float, float, float]]:
        """The terms of its evaluation, in plain Python: (term, the first player's count, the second's, weight).

        Empty if the evaluation is not such a sum, or the game does not list its terms.
        """
        if WEIGHTED in self.evaluation:
            weights = self.own_weights.tolist()
        elif self.evaluation == self.summed:
            weights = list(self.term_weights.values())
        else:
            return []
        return list(zip(self.term_weights, self.counts(state, 0), self.counts(state, 1), weights))

    def move_order(self, state: np.ndarray, move: int) -> int:
        """A small integer, larger for legal moves that look better: depth-first searches try these first."""
        return 0

    def move_orders(self, state: np.ndarray, moves: np.ndarray, count: int, orders: np.ndarray) -> None:
        """Write the move_order of each of the first `count` moves, which are legal, into `orders: int64[max_moves]`."""
        for i in range(count):
            orders[i] = self.move_order(state, moves[i])

    def is_unstable(self, state: np.ndarray, move: int) -> bool:
        """True for a legal move, such as a capture, that makes an evaluation of the state unreliable."""
        return False

    # -- What is known of the end ------------------------------------------------------------------------------

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

    def endgames(self, pieces: int) -> np.ndarray:
        """dtype[n, state_size]: all positions with at most `pieces` pieces that are not over, for end-game tables.

        ValueError if there are none, or if the game does not list them.
        """
        raise ValueError(f"{self} does not list its end-games by pieces")

    # -- What policies and learned evaluations see -------------------------------------------------------------

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
        """Write the feature_code of each of the first `count` moves, which are legal, into `codes`."""
        for i in range(count):
            codes[i] = self.feature_code(state, moves[i])

    def bias(self, state: np.ndarray, move: int) -> float:
        """The weight (float) of a legal move in a policy that has learned nothing yet; its odds are exp(weight)."""
        return 0.0

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

    @property
    def plane_bytes(self) -> int:
        """How many bytes of each word of `planes` hold cells."""
        return int(self.grid.max()) // 8 + 1

    # -- Which evaluation it is ----------------------------------------------------------------------------------

    @classmethod
    def evaluations(cls) -> list[str]:
        """The names of its evaluation functions besides `evaluate`."""
        return sorted(name.removeprefix("evaluate_") for name in dir(cls) if name.startswith("evaluate_"))

    def with_evaluation(self, name: str) -> Self:
        """This game with the evaluation function of that name in place of `evaluate`; "" is `evaluate` itself.

        `file:PATH` is a learned one; PreparedFileError if the file does not hold one.
        """
        changed = replace(self, evaluation=name)
        changed.prepare()
        return changed

    def files(self) -> list[str]:
        """The paths of the files that it reads; a run is resumed only if their data are the same."""
        return named_files(self)

    def with_network(self, network: Network) -> Self:
        """This game with a learned evaluation from memory."""
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

    def network_value(self, state: np.ndarray) -> float:
        """The learned evaluation, in place of `evaluate`."""
        return sigmoid(self.network_units(state, self.network_weights, self.network_places, self.network_layout))

    def network_units(self, state: np.ndarray, weights: np.ndarray, places: np.ndarray, layout: np.ndarray) -> np.int64:
        """The sum (int64) of a network with these arrays, for the first player."""
        words, side = self.planes(state), np.int64(self.player(state))
        return sign_of(layout, side) * tuple_sum(self, weights, places, layout, words, side)

    @property
    def kernel_arrays(self) -> dict[str, type]:
        if WEIGHTED in self.evaluation:
            return {**self.arrays, "own_weights": np.float64}
        return {**self.arrays, **NETWORK_ARRAYS} if self.evaluation.startswith(FILE) else self.arrays

    def compiled_parameter(self, name: str) -> Any:
        """A parameter as kernels know it: all files with evaluations share kernels, and all weights."""
        value = getattr(self, name)
        if name != "evaluation":
            return value
        return FILE if value.startswith(FILE) else WEIGHTED if WEIGHTED in value else value

    def function(self, name: str) -> Callable[..., Any]:
        """The function that a call of the method `name` runs in a kernel."""
        return getattr(type(self), evaluator(self.evaluation) if name == "evaluate" else name)


def evaluator(evaluation: str) -> str:
    """The name of the method that takes the place of `evaluate`."""
    if evaluation.startswith(FILE):
        return "network_value"
    if WEIGHTED in evaluation:
        return "weighted_value"
    return f"evaluate_{evaluation}" if evaluation else "evaluate"


def weights_in(text: str, known: Iterable[str]) -> np.ndarray:
    """float64: the weights in `term=weight, ...` of all terms of a game; WeightsError says what is wrong."""
    weights, allowed = dict.fromkeys(known, 0.0), ", ".join(known) or "none"
    given = [(name.strip(), value.strip()) for name, _, value in (part.partition(WEIGHTED) for part in text.split(","))]
    for name, value in given:
        if name not in weights:
            raise WeightsError(f"evaluation = {text!r}: {name!r} is no term of this game; its terms: {allowed}")
        try:
            weights[name] = float(value)
        except ValueError:
            raise WeightsError(f"evaluation = {text!r}: {value!r}, the weight of {name}, is no number") from None
        if not np.isfinite(weights[name]):
            raise WeightsError(f"evaluation = {text!r}: the weight of {name} is not finite")
    if len({name for name, _ in given}) < len(given):
        raise WeightsError(f"evaluation = {text!r}: a term is given twice")
    return np.array(list(weights.values()))
