"""Which compiled kernels run, for part of a test."""

from collections.abc import Iterator
from contextlib import contextmanager

from arena.games.core.shared.specialized import Setting, set_mode


@contextmanager
def specializing(mode: str) -> Iterator[None]:
    """Within it, this mode."""
    before = Setting.mode
    set_mode(mode)
    try:
        yield
    finally:
        set_mode(before)
