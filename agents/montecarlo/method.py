"""Methods change plain UCT at some points of a simulation, as in `uct(methods="implicit(alpha=0.2) + halving")`.

A method is a frozen dataclass of its numbers, in a file of its own in `agents/montecarlo/methods`, where it is found
automatically.  It replaces some of the functions of `Method` below, which do nothing by default; kernels call them, and
those that are not replaced cost nothing there:

    expansion       expand, expanded        transpositions; first statistics of new nodes
    selection       look, takes, mean, explore, bonus       which children take part, and the terms of their bounds
    allocation      goes_to                 which child is simulated next, whatever the bounds, at the root or anywhere
    playout         plays, decides, draws, amends, made, stops, estimate, played   moves, an end before the game's own
    result          result                  what the end of a playout is worth
    back-up         arrive, learn           values, bounds and proof numbers of nodes
    last choice     choose                  the move to play (in Python)

In each of them `search` has the tree, the method's own arrays as `search.memory`, and its numbers as `search.options`:
the fields that the class lists in `data_fields`.  These are not constants in kernels, so one compiled search serves all
their values; other fields are constants.  If several methods replace one function, they apply in the order in which
they are written, those with `sorts` first.
"""

import ast
import functools
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.core.agent import Budget
from agents.core.needs import Needs
from agents.core.ranges import check_ranges
from agents.core.tree import Tree
from games.core.jit import Compilable
from games.core.prepared import named_files
from games.core.registry import Registry, SpecError

registry = Registry("method", "agents.montecarlo.methods")

NONE = -1  # no move, or no child
LONGEST = 200  # characters of a text that a message repeats


@dataclass(frozen=True)
class Method(Compilable):
    """Base class of all methods."""

    name: ClassVar[str]  # what it is written as
    part: ClassVar[str]  # the part of a search that it changes, in words
    needs: ClassVar[Needs] = Needs()  # what it requires of a game
    alone: ClassVar[tuple[str, ...]] = ()  # what it does that only one method of a search may do, in words
    apart: ClassVar[tuple[str, ...]] = ()  # methods that it cannot be combined with for other reasons
    sorts: ClassVar[bool] = False  # whether it changes the order of new children, before other methods see them
    steps: ClassVar[bool] = False  # whether it acts on single moves of playouts, which are then slower
    proves: ClassVar[bool] = False  # whether it proves results, as with `solver`
    keeps: ClassVar[bool] = True  # whether a tree can be kept from move to move with it
    own_visits: ClassVar[bool] = False  # whether it counts visits itself, which those of other trees would contradict
    per_node: ClassVar[tuple[str, ...]] = ()  # the arrays of its memory that have a row for each node
    # where several workers search one tree, the fields of its memory that each has for itself, since they belong to
    # one simulation: those that a playout writes; None: it does not say, and if it `steps` it takes no part there
    private: ClassVar[tuple[str, ...] | None] = None
    policy: ClassVar[tuple[str, ...]] = ()  # those in which it learns a policy, of each worker or of all
    unshared: ClassVar[str] = ""  # why it does not go with other simulations in flight: "counts ..."
    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files to read
    ranges: ClassVar[dict] = {}  # of its own parameters: see check_ranges
    Options: ClassVar[Any]  # a NamedTuple of its `data_fields`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if taken := [name for name in vars(cls).get("__annotations__", {}) if callable(getattr(Method, name, None))]:
            raise TypeError(f"{cls.__name__} has a field {taken[0]!r}, which is a function of methods")
        registry.add(cls)
        names = [(name, float) for name in cls.data_fields]
        # loading a compiled kernel looks for it there
        cls.Options = NamedTuple("Options", names)  # type: ignore[misc]
        cls.Options.__module__, cls.Options.__qualname__ = cls.__module__, f"{cls.__qualname__}.Options"

    def __post_init__(self):
        check_ranges(self)

    # -- In Python ---------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Do nothing: files are read when the game is known."""

    def files(self) -> list[str]:
        """The paths of the files that it reads."""
        return named_files(self)

    def options(self) -> tuple:
        """Its numbers: `search.options`."""
        return self.Options(*(getattr(self, name) for name in self.data_fields))

    def misfit(self, game) -> str | None:
        """Why it cannot be used in a game that meets its needs, for example because of a file; None if it can."""
        return None

    def new_memory(self, game, nodes: int) -> tuple:
        """A NamedTuple of the arrays that it keeps in one game, for trees with up to `nodes` nodes: `search.memory`.

        The system provides zeros only when they are first written to, so rows of nodes that a tree lacks cost nothing.
        """
        return ()

    def forget(self, memory: tuple) -> None:
        """Make the arrays ready for a new tree, which has only a root."""

    def begin_search(self, game, memory: tuple, budget: Budget, rng: np.ndarray) -> None:
        """Called before the search for each move."""

    def unsuited(self, budget: Budget) -> str | None:
        """Why it cannot use a budget; None if it can."""
        return None

    def choose(self, tree: Tree, memory: tuple) -> int | None:
        """The last choice: the child of the root to play; None leaves it to the visits."""
        return None

    def leaf_playouts(self) -> int:
        """How many playouts there are of each leaf; `played` makes the method ready for the next."""
        return 1

    def with_room(self, game, memory: tuple) -> tuple:
        """The arrays, or larger ones with the same content if they might be full."""
        return memory

    def grows(self, game) -> bool:
        """Whether `with_room` may return other arrays: those of its policy, or else workers cannot share them."""
        return type(self).with_room is not Method.with_room

    def compiled(self, game) -> "Method":
        """The same method as kernels know it: its `data_fields` at their defaults."""
        constants = [field for field in fields(self) if field.name not in self.data_fields]
        values = {field.name: field.default for field in fields(self) if field.name in self.data_fields}
        return replace(self, **values, **{field.name: self.compiled_parameter(field.name) for field in constants})

    # -- In kernels: the node is the last one of the walk; walk.state is its position until the playout ----------

    def has_room(self, game, search):
        """Whether there is room for another simulation in the arrays; if not, `with_room` is called."""
        return True

    def expand(self, game, search, walk, node):
        """Give a leaf its children, if the method does so itself; returns whether it did."""
        return False

    def expanded(self, game, search, walk, node):
        """Called when a leaf has been given children."""

    def look(self, game, search, walk):
        """Called before the children of a node are compared."""

    def takes(self, game, search, walk, child):
        """Whether a child takes part; at least one must."""
        return True

    def mean(self, game, search, walk, child, mean):
        """Replaces a child's mean reward, 0 to 1, for the player who moves to it.

        mean: without visits, the first play urgency, or 0
        """
        return mean

    def explore(self, game, search, walk, child, term, constant):
        """Replaces a child's exploration term.

        term: without visits, FIRST, or 0 with first play urgency; constant: UCB1's
        """
        return term

    def bonus(self, game, search, walk, child):
        """A term that is added to a child's bound."""
        return 0.0

    def goes_to(self, game, search, walk):
        """The child to go to next, whatever the bounds, or NONE."""
        return NONE

    def arrive(self, game, search, walk):
        """Called when the walk reaches its leaf, which may have been visited before, and where the game may be over."""

    def decides(self, game, search, walk, rng):
        """A move that a playout must make, whatever the policy would draw, or NONE."""
        return NONE

    def draws(self, game, search, walk, rng):
        """The next move of a playout, or NONE for a random one."""
        return NONE

    def amends(self, game, search, walk, move, rng):
        """Replaces a move that a playout is about to make, unless a method has decided on it."""
        return move

    def made(self, game, search, walk, move):
        """Called when a playout is about to make a move."""

    def plays(self, game, search, walk, rng):
        """Play to the end, and return the score: in place of single moves, if no other method acts on them."""
        return 0.0

    def played(self, game, search, walk, result):
        """Called at the end of each playout.  If there are several of a leaf, put it back into walk.state."""

    def stops(self, game, search, walk, plies):
        """Whether a playout ends here after `plies` plies, in a position that is not over."""
        return False

    def estimate(self, game, search, walk):
        """The first player's result, -1 to 1, where the method has stopped a playout."""
        return 0.0

    def result(self, game, search, score, result):
        """Replaces the first player's result, 1, 0 or -1, of a game that has ended with `score`."""
        return result

    def learn(self, game, search, walk, result):
        """Called when the result of a simulation, the first player's, has been backed up along the path."""


@functools.cache
def methods_of(text: str) -> tuple[Method, ...]:
    """The methods written as `name + name(number=value)`; ValueError says what is wrong with them."""
    terms: list[str] = []
    try:
        left = ast.parse(text.strip(), mode="eval").body if text.strip() else None
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            terms.insert(0, ast.unparse(left.right))
            left = left.left
        if left is not None:
            terms.insert(0, ast.unparse(left))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        form = "methods joined by +, as in 'implicit(alpha=0.2) + halving'"
        raise ValueError(f"methods = {shortened(text)!r} is not understood: it can be {form}") from None
    chosen = tuple(registry.make(term) for term in terms)
    check_together(chosen)
    return tuple(sorted(chosen, key=lambda method: not method.sorts))


def shortened(text: str) -> str:
    """The text, or the beginning of a long one."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def check_together(chosen: tuple[Method, ...]) -> None:
    """ValueError if two of the methods cannot be combined."""
    names = [method.name for method in chosen]
    for i, method in enumerate(chosen):
        if method.name in names[:i]:
            raise SpecError(f"methods: {method.name} is there twice")
        for other in chosen[:i]:
            if other.name in method.apart or method.name in other.apart:
                raise SpecError(f"methods: {other.name} and {method.name} exclude each other")
            if several := [one.name for one in (other, method) if one.leaf_playouts() > 1]:
                raise SpecError(f"methods: {several[0]} with lanes above 1 goes with no other method")
            if common := [what for what in method.alone if what in other.alone]:
                raise SpecError(f"methods: {other.name} and {method.name} both {common[0]}; only one method can")
