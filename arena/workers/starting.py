"""Starts worker processes, by a fork server that loads what all of them need while this process does the same.

Nothing of Numba is imported here, so that the server starts first.
"""

import logging
import multiprocessing
import re
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import forkserver, resource_tracker
from typing import Any

from arena.games.core.shared import index
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import start_method
from arena.workers.confinement import safe_path

log = logging.getLogger("arena.workers.supervisor")


class WorkerStartError(UserError, RuntimeError):
    """Workers died before they could play."""


def use_fork_server(modules: Iterable[str] = ()) -> None:
    """Start workers by a fork server, since a process with threads must not be forked; without one, spawn them.

    The server loads the modules for all workers.
    """
    multiprocessing.set_start_method(start_method(), force=True)
    if start_method() == "forkserver":
        multiprocessing.set_forkserver_preload(["arena.workers.worker_main", *modules, "arena.workers.preloaded"])


def begin_start() -> None:
    """If workers use a fork server, start it, so that it can import meanwhile."""
    if multiprocessing.get_start_method() == "forkserver":
        with no_interrupt(), safe_path():
            forkserver.ensure_running()


def modules_of(values: Mapping[str, Any]) -> list[str]:
    """The modules of the games and agents in a configuration's keys, as far as the index knows them.

    Not plug-ins: their imports may do anything, which is for workers alone.
    """
    games = [values.get("game"), *_listed(values.get("instances"))]
    agents = [entry.get("agent") for entry in _listed(values.get("agents")) if isinstance(entry, Mapping)]
    return [
        module
        for package, specs in (("arena.games", games), ("arena.agents", agents))
        for module in _ours(package, specs)
    ]


def _listed(value) -> Iterable:
    return value if isinstance(value, list | tuple) else ()


def _ours(package, specs) -> list[str]:
    known = index.read(package) or {}
    names = {found[0] for spec in specs if isinstance(spec, str) and (found := re.match(r"\s*\w+", spec))}
    homes = {known[name.strip()].module for name in names if name.strip() in known}
    return sorted(home for home in homes if home.startswith(f"{package}."))


def start_process(process) -> None:
    """Retry if the fork server has just died and is being replaced."""
    for tries_left in (2, 1, 0):
        try:
            return process.start()
        except (ConnectionError, EOFError) as error:
            log.warning("the fork server does not answer: %r", error)
            if not tries_left:
                raise WorkerStartError(f"the fork server that starts workers does not answer: {error!r}") from error
            time.sleep(0.2)


@contextmanager
def having_children() -> Iterator[None]:
    """A context in which a daemonic process, as of a multiprocessing.Pool, can start others.

    Python forbids it since they would be left behind; workers end with the process that started them.
    """
    process = multiprocessing.current_process()
    daemonic = process.daemon
    if daemonic:
        process.daemon = False
    try:
        yield
    finally:
        if daemonic:
            process.daemon = True


@contextmanager
def no_interrupt() -> Iterator[None]:
    """A context in which new processes ignore Ctrl-C until they install a handler."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with safe_path():
        resource_tracker.ensure_running()  # whose start would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
