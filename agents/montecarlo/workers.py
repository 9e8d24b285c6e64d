"""Memory of several workers on one tree: each has its own copy of one simulation's data."""

from typing import Any

import numpy as np

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
