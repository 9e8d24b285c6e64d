"""Loaded by Dask in each worker of a local cluster: ignores Ctrl-C, which is for the run but reaches all processes."""

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Called by Dask in the worker's main thread as it starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
