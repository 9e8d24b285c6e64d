"""Memory of several workers on one tree: each has its own copy of one simulation's data."""

from typing import Any

import numpy as np
from numba.typed import List

from arena.agents.core.tree_arrays import Walk
from arena.games.core.jit import COMPILED, helper, kernel

MARGIN = 128  # bytes on both sides of a thread's data: two cache lines, since processors fetch them in pairs


def zeros_apart(shape, dtype) -> np.ndarray:
    """Zeros that share no cache line with anything else."""
    size, margin = int(np.prod(shape)), MARGIN // np.dtype(dtype).itemsize
    return np.zeros(size + 2 * margin, dtype)[margin : margin + size].reshape(shape)


def with_own(memory: Any, names: tuple[str, ...]) -> Any:
    """The memory, a NamedTuple, with copies of these fields; `line.codes` is the field `codes` of the field `line`."""
    for name in names:
        field, _, inner = name.partition(".")
        value = getattr(memory, field)
        memory = memory._replace(**{field: with_own(value, (inner,)) if inner else copied(value)})
    return memory


def copied(value: Any) -> Any:
    """A copy of an array, or of a NamedTuple and its arrays."""
    if isinstance(value, np.ndarray):
        copy = zeros_apart(value.shape, value.dtype)
        if value.any():  # zeros cost nothing before they are written to
            copy[...] = value
        return copy
    return type(value)(*map(copied, value)) if isinstance(value, tuple) else value


def own_fields(part: Any, policy: bool) -> tuple[str, ...]:
    """The fields of a method's memory that each worker has for itself, with `policy` those of policies, too."""
    return (part.private or ()) + (part.policy if policy else ())


def new_walks(game, root: np.ndarray, count: int) -> Walk:
    """Walks from one root: every array but the root has a first axis, of `count`."""
    path, movers = np.zeros((count, game.max_plies + 1), np.int32), np.zeros((count, game.max_plies + 1), np.int64)
    states, moves = np.zeros((count, len(root)), root.dtype), np.zeros((count, game.max_moves), np.int32)
    return Walk(root, states, moves, path, movers, np.zeros((count, 2), np.int64))


@helper
def walk_of(walks, i):
    """Walk i of several; only for helpers, which do not count references to the arrays that they return."""
    return Walk(walks.root, walks.state[i], walks.moves[i], walks.path[i], walks.movers[i], walks.length[i])


def listed(game, items: list) -> Any:
    """The items, which have one Numba type, as a list that kernels read."""
    if not COMPILED:
        return items
    found = list_of_one(game, items[0])
    for each in items[1:]:
        append_kernel(game, found, each)
    return found


@kernel
def list_of_one(game, item):
    """A list for kernels with its first item, which gives the type."""
    found = List()
    found.append(item)
    return found


@kernel
def append_kernel(game, items, item):
    """Add an item of the same type."""
    items.append(item)
