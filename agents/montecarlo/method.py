"""Methods change plain UCT at some points of a simulation, as in `uct(methods="implicit(alpha=0.2) + halving")`.

A method is a frozen dataclass of its numbers, in its own file in `agents/montecarlo/methods`, where it is found
automatically.  It replaces some of the functions of `Method` below, which do nothing by default; kernels call them, and
functions that are not replaced cost nothing:

    expansion       expand, expanded        transpositions; first statistics of new nodes
    selection       look, takes, mean, explore, bonus       the eligible children, and the terms of their bounds
    allocation      goes_to                 the next child, whatever the bounds, at the root or anywhere
    playout         plays, decides, draws, amends, made, stops, estimate, played   moves, an end before the game's own
    result          result                  the value of a playout's end
    back-up         arrive, learn           values, bounds and proof numbers of nodes
    last choice     choose                  the move to play (in Python)

In all of them `search` has the tree, the method's own arrays as `search.memory`, and as `search.options` its numbers:
the fields listed in the class's `data_fields`.  These are not constants in kernels, so one compiled search serves all
their values; other fields are constants.  Methods that replace the same function apply in the order in which they are
written, those with `sorts` first.
"""

import ast
import functools
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import Budget
from arena.agents.core.needs import Needs
from arena.agents.core.tree_arrays import Tree
from arena.games.core.game import check_ranges
from arena.games.core.jit import Compilable
from arena.games.core.shared.prepared_file import named_files
from arena.games.core.shared.registry import Registry, SpecError

registry = Registry("method", "arena.agents.montecarlo.methods")

NONE = -1  # no move or child
LONGEST = 200  # characters of a text repeated in a message


@dataclass(frozen=True)
class Method(Compilable):
    """Base class of all methods."""

    name: ClassVar[str]  # under which it is typed
    part: ClassVar[str]  # the part of a search that it changes
    needs: ClassVar[Needs] = Needs()  # of a game
    alone: ClassVar[tuple[str, ...]] = ()  # actions, in words, that only one method of a search may do
    apart: ClassVar[tuple[str, ...]] = ()  # other methods that exclude it
    sorts: ClassVar[bool] = False  # whether it reorders new children, before other methods see them
    steps: ClassVar[bool] = False  # whether it acts on single moves of playouts, which slows them
    proves: ClassVar[bool] = False  # whether it proves results, as with `solver`
    keeps: ClassVar[bool] = True  # whether it allows a tree to be kept from move to move
    own_visits: ClassVar[bool] = False  # whether its own counts of visits conflict with other trees'
    per_node: ClassVar[tuple[str, ...]] = ()  # arrays of its memory with a row for each node
    # fields of its memory that belong to one simulation, since a playout writes them: of several workers on one tree,
    # each has its own.  None: unknown, so that a method that `steps` cannot be used there
    private: ClassVar[tuple[str, ...] | None] = None
    policy: ClassVar[tuple[str, ...]] = ()  # fields with a learned policy, each worker's or common
    lockless: ClassVar[bool] = False  # whether threads on one tree may call it at the same time, on shared arrays
    unshared: ClassVar[str] = ""  # why it allows no other simulations in flight: "counts ..."
    file_fields: ClassVar[tuple[str, ...]] = ()  # the parameters that are paths of files to read
    ranges: ClassVar[dict] = {}  # of its own parameters: see check_ranges
    Options: ClassVar[Any]  # a NamedTuple of its `data_fields`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if taken := [name for name in vars(cls).get("__annotations__", {}) if callable(getattr(Method, name, None))]:
            raise TypeError(f"{cls.__name__} has a field {taken[0]!r}, which is a function of methods")
        registry.add(cls)
        names = [(name, float) for name in cls.data_fields]
        # where the loader of a compiled kernel looks for it
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
        """Why it does not suit a game that meets its needs, for example because of a file; None if it does."""
        return None

    def new_memory(self, game, nodes: int) -> tuple:
        """A NamedTuple of its arrays in one game, for trees of up to `nodes` nodes: `search.memory`."""
        return ()

    def fitted(self, game, playouts: int) -> "Method":
        """Itself, with tables no larger than searches of so many playouts can fill."""
        return self

    def forget(self, memory: tuple) -> None:
        """Prepare the arrays for a new tree, which has only a root."""

    def forget_own(self, memory: tuple) -> None:
        """Prepare a worker's own arrays alone for a new tree."""

    def begin_search(self, game, memory: tuple, budget: Budget, rng: np.ndarray) -> None:
        """Called before the search for each move."""

    def unsuited(self, budget: Budget) -> str | None:
        """Why it cannot use a budget; None if it can."""
        return None

    def choose(self, tree: Tree, memory: tuple) -> int | None:
        """The last choice: the child of the root to play; None leaves it to the visits."""
        return None

    def leaf_playouts(self) -> int:
        """The playouts of each leaf; `played` prepares for the next one."""
        return 1

    def with_room(self, game, memory: tuple) -> tuple:
        """The arrays, or larger ones with the same content if they might be full."""
        return memory

    def of_worker(self, memory: tuple, workers: int) -> tuple:
        """The memory of one of several workers, whose private arrays are its own."""
        return memory

    def grows(self, game) -> bool:
        """Whether `with_room` may return other arrays; workers can share only those of its policy then."""
        return type(self).with_room is not Method.with_room

    def compiled(self, game) -> "Method":
        """The method as kernels know it: with its `data_fields` at their defaults."""
        constants = [field for field in fields(self) if field.name not in self.data_fields]
        values = {field.name: field.default for field in fields(self) if field.name in self.data_fields}
        return replace(self, **values, **{field.name: self.compiled_parameter(field.name) for field in constants})

    def for_threads(self) -> "Method":
        """The compiled method where several threads call it at the same time."""
        return self

    # -- In kernels: the node is the last one of the walk; walk.state is its position until the playout ----------

    def has_room(self, game, search):
        """Whether the arrays have room for another simulation; if not, `with_room` is called."""
        return True

    def expand(self, game, search, walk, node):
        """Give a leaf its children, if the method does so itself; returns whether it did."""
        return False

    def expanded(self, game, search, walk, node):
        """Called when a leaf has got its children."""

    def look(self, game, search, walk):
        """Called before the children of a node are compared."""

    def takes(self, game, search, walk, child):
        """Whether a child may be selected; at least one must."""
        return True

    def mean(self, game, search, walk, child, mean):
        """Replaces a child's mean reward, 0 to 1, for the player who moves to it; unvisited: the urgency or 0."""
        return mean

    def explore(self, game, search, walk, child, term, constant):
        """Replaces a child's exploration term, FIRST or 0 if it is unvisited; constant: UCB1's."""
        return term

    def bonus(self, game, search, walk, child):
        """A term added to a child's bound."""
        return 0.0

    def goes_to(self, game, search, walk):
        """The next child, whatever the bounds, or NONE."""
        return NONE

    def arrive(self, game, search, walk):
        """Called when the walk reaches its leaf, which may have been visited before, and may end the game."""

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
        """Play to the end and return the score: replaces single moves if no other method acts on them."""
        return 0.0

    def played(self, game, search, walk, result):
        """Called at the end of each playout.  With several playouts of a leaf, it resets walk.state to the leaf."""

    def stops(self, game, search, walk, plies):
        """Whether a playout ends here after `plies` plies, in a position that is not over."""
        return False

    def estimate(self, game, search, walk):
        """The first player's result, -1 to 1, of a playout that the method has stopped."""
        return 0.0

    def result(self, game, search, score, result):
        """Replaces the first player's result, 1, 0 or -1, of a game that has ended with `score`."""
        return result

    def learn(self, game, search, walk, result):
        """Called when a simulation's result, for the first player, has been backed up along the path."""


@functools.cache
def methods_of(text: str) -> tuple[Method, ...]:
    """The methods written as `name + name(number=value)`; ValueError names any mistake."""
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
    """Raise ValueError if two of the methods cannot be combined."""
    names = [method.name for method in chosen]
    for i, method in enumerate(chosen):
        if method.name in names[:i]:
            raise SpecError(f"methods: {method.name} is there twice")
        for other in chosen[:i]:
            if other.name in method.apart or method.name in other.apart:
                raise SpecError(f"methods: {other.name} and {method.name} exclude each other")
            if several := [one.name for one in (other, method) if one.leaf_playouts() > 1]:
                raise SpecError(f"methods: {several[0]} with lanes above 1 goes with no other method")
            if common := [action for action in method.alone if action in other.alone]:
                raise SpecError(f"methods: {other.name} and {method.name} both {common[0]}; only one method can")
