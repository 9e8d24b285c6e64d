"""Prior knowledge of moves, and the softmax that turns it into probabilities.

    P(m) = exp(h(m) / t) / sum of exp(h(m') / t) over the legal moves m'

h is the game's hint for a move, or its logit in a learned policy (agents/core/learned.py).
"""

from typing import Any, ClassVar

from arena.agents.core.learned import NOT_LEARNED, Learned, learned_in, logit_after
from arena.agents.montecarlo.method import Method
from arena.agents.montecarlo.outlook import reward_after
from arena.games.core.game import check_choice
from arena.games.core.jit import helper
from arena.games.core.numbers.elementary import exp
from arena.games.core.shared.prepared_file import FILE, PreparedFileError


@helper
def softmax(values, first, end, temperature):
    """Turn the numbers from `first` to `end` into probabilities, in place."""
    high, total = values[first], 0.0
    for i in range(first, end):
        high = max(high, values[i])
    for i in range(first, end):
        values[i] = exp((values[i] - high) / temperature)
        total += values[i]
    for i in range(first, end):
        values[i] /= total


@helper
def probabilities(values, first, end, temperature, relative):
    """Turn the numbers into probabilities; if `relative`, the lowest number counts as 0 and the highest as 1."""
    low, high = values[first], values[first]
    for i in range(first, end):
        low, high = min(low, values[i]), max(high, values[i])
    softmax(values, first, end, temperature * max(high - low, 1e-9) if relative else temperature)


class Guided(Method):
    """Base of the methods with prior knowledge: a name in `priors`, with a method `hint_NAME`, or a learned policy."""

    priors: ClassVar[tuple[str, ...]]
    asked: ClassVar[str] = "prior"  # the parameter that names the source

    @property
    def source(self) -> str:
        return getattr(self, self.asked)

    @property
    def is_learned(self) -> bool:
        return self.source.startswith(FILE)

    @property
    def is_relative(self) -> bool:
        """Whether hints are on the game's own scale, and only compare the moves of a position."""
        return self.source == "order"

    def __post_init__(self):
        super().__post_init__()
        if not self.is_learned:
            check_choice(self.asked, self.source, (*self.priors, FILE + "PATH"))

    def compiled_parameter(self, name: str) -> Any:
        """Kernels are shared between all files with policies."""
        return FILE if name == self.asked and self.is_learned else getattr(self, name)

    def misfit(self, game):
        try:
            self.learned(game)
        except PreparedFileError as error:
            return f"{self.asked} = {self.source!r}: {error}"
        return None

    def learned(self, game) -> Learned:
        return learned_in(self.source.removeprefix(FILE), game) if self.is_learned else NOT_LEARNED

    def function(self, name: str):
        if name == "hint":
            name = f"hint_{'file' if self.is_learned else self.source}"
        return super().function(name)

    def known(self, search):
        """The part of the search's memory with the policy as `learned`, and a scratch `state`."""
        return search.memory

    def hint(self, game, search, state, move):
        """The prior knowledge of a move: float64; called by plain Python."""
        return self.function("hint")(self, game, search, state, move)

    def hint_order(self, game, search, state, move):
        return float(game.move_order(state, move))

    def hint_evaluation(self, game, search, state, move):
        """The evaluation after the move, 0 to 1 for the player who makes it."""
        return reward_after(game, state, move, game.player(state), self.known(search).state)

    def hint_file(self, game, search, state, move):
        known = self.known(search)
        return logit_after(game, known.learned, state, move, known.state)
