"""Alarms that ring while the compiler works wait until it is done: an exception of their handler would leave it half
done, perhaps with a lock taken for good."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2")


@contextmanager
def deferred() -> Iterator[None]:
    """A context after which the handlers of alarms that rang within it are called; only the main thread hears any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    handlers = {number: handler for number in numbers if callable(handler := signal.getsignal(number))}
    rung: dict[int, FrameType | None] = {}
    for number in handlers:
        signal.signal(number, rung.__setitem__)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in rung.items():
            handlers[number](number, frame)
