"""Learners, written as `td(plies=2)`: frozen dataclasses of everything but the seed that decides what is learned.

Learners are found by name in this folder's modules.  `arena.study.learning` drives their kernels, with checkpoints and
matches.
"""

from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar

from arena.agents.learning.trainer import Trainer
from arena.games.core.evaluations.network import Network
from arena.games.core.game import Game, check_ranges
from arena.games.core.shared.registry import Registry

registry = Registry("learner", "arena.agents.learning")

Kernel = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Learner:
    """Base class of all learners.

    tuples: shapes of tuples, such as '3x3 2x4 lines'; empty for those that suit the board
    stages: phases of the game, by stones on the board, each with its own tables
    step: scales all changes of weights; at 1, the first ones overshoot
    """

    name: ClassVar[str]  # under which it is registered and typed
    unit: ClassVar[str] = "games"  # of counts: what it learns from
    policy: ClassVar[bool] = False  # whether it learns a policy, not an evaluation
    usual_games: ClassVar[int] = 200_000
    usual_agent: ClassVar[str] = "alphabeta(seconds=0.01)"  # for matches
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    tuples: str = ""
    stages: int = 1
    step: float = 1.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registry.add(cls)

    ranges: ClassVar[dict] = {"stages": (1, 64), "step": (1e-6, 100)}

    def __post_init__(self):
        check_ranges(self)

    def prepare(self) -> None:
        """Do nothing: files are read when the game is known."""

    def files(self, game: Game) -> list[str]:
        """The paths of the files that affect what is learned."""
        return []

    def kernel(self, game: Game, network: Network, trainer: Trainer) -> Kernel:
        """A function that learns until a number of games are done; UserError if the game does not suit."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class SelfPlaying(Learner):
    """Base class of learners that play against themselves.

    explore: the share of random moves
    opening: the most random moves at the start of a game
    """

    explore: float = 0.1
    opening: int = 6

    ranges: ClassVar[dict] = {"explore": (0, 1), "opening": (0, 1000)}
