"""A non-deterministic problem: an agent acts, and the world answers with one of several outcomes (Russell & Norvig,
"Artificial Intelligence: a modern approach", section 4.3).  States and actions are hashable."""

from collections.abc import Hashable, Iterable


class Problem:
    """A problem for AND-OR search, in plain Python."""

    def initial(self) -> Hashable:
        raise NotImplementedError

    def is_goal(self, state) -> bool:
        """Whether nothing is left to do."""
        raise NotImplementedError

    def actions(self, state) -> Iterable:
        """In the order to try them; none in a dead end."""
        raise NotImplementedError

    def outcomes(self, state, action) -> Iterable[Hashable]:
        """The states that may follow, at least one; the agent sees which one does."""
        raise NotImplementedError
