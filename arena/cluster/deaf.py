"""What Dask loads in each worker of a local cluster: Ctrl-C, which a terminal sends to all processes, is the run's."""

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Called by Dask as the worker starts, in its main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
