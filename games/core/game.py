"""Games: `Game` is their base class; games/core/interface/rules.py says what a game must define, and what must hold."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from arena.games.core.interface.people import People
from arena.games.core.interface.rules import CHANCE as CHANCE
from arena.games.core.interface.rules import BrokenRules as BrokenRules
from arena.games.core.interface.rules import IllegalMove as IllegalMove
from arena.games.core.interface.speed import Speed
from arena.games.core.interface.strength import WEIGHTED, Strength, evaluator, weights_in
from arena.games.core.jit import Compilable
from arena.games.core.shared.prepared_file import FILE, PreparedFileError
from arena.games.core.shared.registry import Registry, spell

registry = Registry("game", "arena.games")

RULES = {"player", "legal_moves", "play", "is_over", "score", "chance"}
# methods that repeat rules, each with those; and conclusions from the rules
REPETITIONS = {
    "random_move": RULES,
    "random_playout": RULES,
    "lane_step": RULES | {"random_playout"},
    "key": {"state_size", "dtype"},
    "stable_names": {"move_name"},
}
CONCLUSIONS = ("foreseen", "sound_moves", "soonest_win", "soonest_loss", "plies_left", "symmetries", "colour_exchange")
TEXTS = {"rules": {"start", "move_name"}}  # texts about the rules, and what else they tell of


@dataclass(frozen=True)
class Game(Speed, Strength, People):
    """Base class of all games: rules, and defaults for the rest."""

    only_in_python: ClassVar[tuple[str, ...]] = (*Speed.only_in_python, *vars(People))
    forgotten: ClassVar[dict[str, list[str]]] = {}  # methods not inherited: the rules that the class replaces
    ranges: ClassVar[dict[str, tuple]] = {}  # of its parameters: see check_ranges
    choices: ClassVar[dict[str, Iterable]] = {}

    def __post_init__(self):
        check_ranges(self)

    def __new__(cls, *parameters: Any, evaluation: str = "", **named: Any) -> Self:
        """Checks the evaluation's name here, as games have a __post_init__ of their own."""
        instance = super().__new__(cls)
        if evaluation:
            if WEIGHTED in evaluation and not evaluation.startswith(FILE):
                weights_in(evaluation, cls.term_weights)
            elif not evaluation.startswith(FILE):
                check_choice("evaluation", evaluation, cls.evaluations())
            elif cls.grid is Game.grid:
                raise PreparedFileError(
                    f"evaluation = {evaluation!r}: {cls.name} does not say what its cells hold, as this needs"
                )
            own = getattr(cls, evaluator(evaluation)).__get__(instance)
            object.__setattr__(instance, "evaluate", own)  # for plain Python; kernels ask `function`
        return instance

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._forget_other_rules()
        registry.add(cls)

    @classmethod
    def _forget_other_rules(cls):
        """Do not inherit what holds only for a base's rules, unless it is defined again.

        A method that repeats rules goes when one of them is replaced; a conclusion from rules also when anything
        outside this interface is, such as the `prize` of Breakthrough, but not parameters and evaluations.
        """
        interface = set[str]().union(*(vars(base) for base in Game.__mro__ if base not in Compilable.__mro__))
        harmless = {*interface, *cls.__dataclass_fields__, *(f"evaluate_{name}" for name in cls.evaluations())} - RULES
        replaced = {name: cls._replaced(name) & repeated for name, repeated in REPETITIONS.items()}
        replaced |= {name: cls._replaced(name) - harmless for name in CONCLUSIONS}
        cls.forgotten = {}
        for name, others in replaced.items():
            attribute = "lane_bits" if name == "lane_step" else name
            if others and getattr(cls, attribute) != getattr(Game, attribute):
                setattr(cls, attribute, getattr(Game, attribute))
                cls.forgotten[name] = sorted(others)
        for name, told in TEXTS.items():
            if (others := cls._replaced(name)) - harmless or others & told:
                setattr(cls, name, getattr(Game, name))

    @classmethod
    def _replaced(cls, name: str) -> set[str]:
        bases = cls.__mro__[: cls.__mro__.index(Game)]
        place = next((place for place, base in enumerate(bases) if name in vars(base)), 0)
        before, after = (set[str]().union(*map(vars, part)) for part in (bases[:place], bases[place:]))
        return {other for other in before & after if not other.startswith("_")}

    def __str__(self):
        """The shortest spec of an equal game; `spell(game)` has all parameters."""
        return spell(self, every=False)


def check_range(name: str, value: float, low: float, high: float | None = None) -> None:
    """ValueError that names parameter and range, unless low <= value <= high; None is no limit."""
    if not (value >= low and (high is None or value <= high)):  # NaN, too
        raise ValueError(
            f"{name} = {value} is out of range: it can be {low} {'or more' if high is None else f'to {high}'}"
        )


def check_ranges(owner: Any) -> None:
    """ValueError unless each field, or product of fields, is None, or as `ranges` and `choices` of its classes say.

    ranges: field or product, such as "rows * columns" -> (low,) or (low, high); choices: field -> values.  A class may
    give others for a field of its base.
    """
    ranges, choices = dict[str, tuple](), dict[str, Iterable]()
    for cls in reversed(type(owner).__mro__):
        ranges |= vars(cls).get("ranges", {})
        choices |= vars(cls).get("choices", {})
    for name, limits in ranges.items():
        values = [getattr(owner, field) for field in name.split(" * ")]
        if None not in values:
            check_range(name, math.prod(values), *limits)
    for name, known in choices.items():
        check_choice(name, getattr(owner, name), known)


def check_rectangle(rows: int, columns: int, low: int, high: int) -> None:
    """ValueError unless both are in the range, or both 0: a square of `size`."""
    if rows or columns:
        given = {"rows": rows, "columns": columns}
        for name, value in given.items():
            if value:
                check_range(name, value, low, high)
        for name, value in given.items():
            if not value:
                raise ValueError(f"a rectangle needs rows and columns, and {name} is not given")


def check_choice(name: str, value, choices: Iterable) -> None:
    """ValueError that names parameter and choices, unless `value` is one."""
    known = list(choices)
    if value not in known:
        words = f"is not one of {', '.join(map(str, known))}" if known else "is not known: there is only the default"
        raise ValueError(f"{name} = {value!r} {words}")
