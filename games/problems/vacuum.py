"""The vacuum world with an erratic machine (Russell & Norvig, section 4.3.1), an example for AND-OR search.

The goal is that both squares are clean.  `suck` cleans a dirty square, and sometimes the other one too; on a clean one
it sometimes drops dirt.  With `slippery`, `left` and `right` sometimes fail: then only plans with loops reach the goal.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from arena.games.core.interface.problem import Problem

LEFT, RIGHT = 0, 1


class World(NamedTuple):
    """The machine's place, and the dirty squares."""

    place: int
    dirty: tuple[bool, bool]

    def __str__(self):
        return " ".join(
            f"[{'machine' if square == self.place else ''}{'*' if self.dirty[square] else ''}]"
            for square in (LEFT, RIGHT)
        )


@dataclass(frozen=True)
class VacuumWorld(Problem):
    """The textbook's eight states; begins in its state 1: on the left, both squares dirty."""

    name: ClassVar[str] = "vacuum"
    slippery: bool = False

    def initial(self):
        return World(LEFT, (True, True))

    def is_goal(self, state):
        return not any(state.dirty)

    def actions(self, state):
        return ("suck", "right", "left")

    def outcomes(self, state, action):
        if action == "suck":
            here = state._replace(dirty=tuple(dirty and i != state.place for i, dirty in enumerate(state.dirty)))
            if state.dirty[state.place]:
                return list(dict.fromkeys((here, state._replace(dirty=(False, False)))))
            dropped = tuple(dirty or i == state.place for i, dirty in enumerate(state.dirty))
            return [state, state._replace(dirty=dropped)]
        moved = state._replace(place=RIGHT if action == "right" else LEFT)
        return list(dict.fromkeys((moved, state))) if self.slippery else [moved]
