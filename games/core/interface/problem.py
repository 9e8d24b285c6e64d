"""A non-deterministic problem: an agent acts, and the world answers with one of several outcomes (Russell & Norvig,
"Artificial Intelligence: a modern approach", section 4.3).  States and actions are hashable."""

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

from arena.games.core.shared.registry import Registry

registry = Registry("problem", "arena.games.problems")


class Problem:
    """A problem for AND-OR search, in plain Python.

    A frozen dataclass with a `name` is made by that name: `arena plan NAME`.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        registry.add(cls)  # type: ignore[arg-type]  # it becomes a dataclass after this

    def prepare(self) -> None:
        """Read files that parameters name; ValueError if one is bad."""

    def initial(self) -> Hashable:
        raise NotImplementedError

    def is_goal(self, state) -> bool:
        """Whether nothing is left to do."""
        raise NotImplementedError

    def actions(self, state) -> Iterable:
        """The actions in the order to try them; none in a dead end."""
        raise NotImplementedError

    def outcomes(self, state, action) -> Iterable[Hashable]:
        """The states that may follow, at least one; the agent sees which one does."""
        raise NotImplementedError
