"""Connects a run to a cluster: one that exists, or one started for the run."""

import asyncio
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from arena.config.config import Config
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.plugins import add_named

PATIENCE = 10.0  # seconds for a scheduler's answer
LOOK = 0.5  # seconds between looks at workers
BEAT, SILENT = 5.0, 6  # seconds between looks at heartbeats; looks without one that lose a worker
FAREWELL = 20.0  # seconds for stations to end
# a worker that cannot import a function ends, and may be others': a builtin asks it first
ASK, QUESTION = eval, "__import__('arena.cluster.tasks') and None"
NOT_THERE = "has no search-arena[cluster], or another version"
LOCAL = "local:"
MOST_LOCAL = 256  # workers
MISSING = (
    'playing on a cluster needs packages that are not installed ({}): pip install "search-arena[cluster]", here and on '
    "the cluster's workers"
)

loading = threading.Lock()  # Python 3.11 parses sources, for digests of kernels, in one thread at a time


class ClusterError(UserError, RuntimeError):
    """A cluster that cannot be used, or is gone; stored games are kept."""


class Link:
    """Submits tasks to a cluster (`client`: a `distributed.Client`; `where`: its name), collects results."""

    def __init__(self, client: Any, where: str):
        self.client, self.where = client, where
        self.run = f"arena-{uuid.uuid4().hex[:12]}"
        self.arrived: queue.SimpleQueue = queue.SimpleQueue()  # (key, result or exception); see also `watch`
        self._futures: dict[str, Any] = {}
        self._number = 0
        self._closed = threading.Event()
        self._beats: dict[str, tuple[float, int]] = {}  # a worker's last heartbeat, and for how many looks

    @property
    def dashboard(self) -> str | None:
        """The address of the dashboard."""
        return self.client.dashboard_link

    def submit(self, task: Callable, address: str, *arguments, resources: dict[str, float] | None = None) -> str:
        """Have a worker run a task; its result arrives under the returned key."""
        self._number += 1
        key = f"{task.__name__}-{self.run}-{self._number}"
        options = {"resources": resources} if resources else {}
        future = self.client.submit(task, *arguments, key=key, workers=[address], pure=False, retries=0, **options)
        self._futures[key] = future
        self.client.loop.add_callback(self._await, key, future)
        return key

    def drop(self, key: str) -> None:
        """Forget a task that has ended or is no longer wanted."""
        future = self._futures.pop(key)
        if not future.done():
            future.cancel(force=True)

    def watch(self) -> None:
        """Put (None, {address: slots}) of the living workers into `arrived` every LOOK seconds from now on.

        One not heard of for BEAT * SILENT seconds is left out: it is stopped, or cut off.
        """
        self.client.loop.add_callback(self._look)

    def halt(self) -> None:
        """Tell all stations to begin no more games."""
        from arena.cluster import tasks

        self.client.loop.add_callback(self._everywhere, tasks.halt)

    def close(self) -> None:
        """Cancel tasks under way, and end the stations."""
        from arena.cluster import tasks

        if self._closed.is_set():
            return
        self._closed.set()
        with suppress(Exception):  # the scheduler, or a worker, may be gone
            self.client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        with suppress(Exception):
            self.client.sync(self._everywhere, tasks.leave, callback_timeout=FAREWELL)

    async def _await(self, key, future):
        try:
            result = await future
        except asyncio.CancelledError:
            return
        except Exception as error:
            if future.cancelled():
                return
            result = error
        self.arrived.put((key, result))

    async def _look(self):
        looked = 0.0
        while not self._closed.is_set():
            try:
                slots = dict(await asyncio.wait_for(self.client.scheduler.ncores(), PATIENCE))
                if time.monotonic() - looked >= BEAT:
                    about = await asyncio.wait_for(self.client.scheduler.identity(), PATIENCE)
                    self._note_beats(about["workers"])
                    looked = time.monotonic()
            except Exception as error:
                if not self._closed.is_set():
                    self.arrived.put((None, error))
                return
            self.arrived.put((None, {one: n for one, n in slots.items() if self._beats.get(one, (0, 0))[1] < SILENT}))
            await asyncio.sleep(LOOK)

    def _note_beats(self, workers):
        """Count looks with the same heartbeat; clocks of machines are not compared."""
        before, self._beats = self._beats, {}
        for address, about in workers.items():
            last, times = before.get(address, (None, 0))
            self._beats[address] = (about["last_seen"], times + 1 if about["last_seen"] == last else 0)

    async def _everywhere(self, task):
        with suppress(Exception):  # from lost workers
            await self.client._run(task, self.run, on_error="ignore")


@contextmanager
def linked(cluster: Any, config: Config) -> Iterator[Link]:
    """A context with a link to a cluster, whose stations end with it.

    cluster: a scheduler's address, its scheduler file, `local:4`, an argument for `distributed.Client`, or a client.
    ClusterError if there is none.
    """
    with connected(cluster, max(_cores(agent) for _, agent in config.agents)) as client:
        link = Link(client, cluster if isinstance(cluster, str) else client.scheduler.address)
        try:
            yield link
        finally:
            link.close()


@contextmanager
def connected(cluster: Any, cores: int = 1) -> Iterator[Any]:
    """A `distributed.Client`, closed at the end unless it was given; `cores`: needed by a game."""
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    local = _local(cluster, cores) if isinstance(cluster, str) and cluster.startswith(LOCAL) else None
    try:
        client = _client(local or cluster)
        try:
            yield client
        finally:
            client.close()
    finally:
        if local is not None:
            local.close(timeout=FAREWELL)


def check_importable(client: Any, cluster: str) -> None:
    """ClusterError if a worker lacks search-arena."""
    for address, result in client.run(ASK, QUESTION, on_error="return").items():
        if isinstance(result, Exception):
            raise ClusterError(f"cluster {cluster}: worker {address} {NOT_THERE}: {type(result).__name__}: {result}")


def _distributed():
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(MISSING.format(error)) from None
    return distributed


def _local(text: str, cores: int):
    import logging

    number = text.removeprefix(LOCAL)
    if not number.isdecimal() or not 1 <= int(number) <= MOST_LOCAL:
        raise ClusterError(f"cluster {text}: {number!r} is no number of cores; it can be local:1 to local:{MOST_LOCAL}")
    threads = min(cores, int(number))
    return _distributed().LocalCluster(
        n_workers=int(number) // threads,
        threads_per_worker=threads,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
        preload=["arena.cluster.deaf"],
        memory_limit=0,
    )


def _client(cluster):
    Client = _distributed().Client
    try:
        if isinstance(cluster, str) and cluster.endswith(".json"):
            if not Path(cluster).exists():
                raise ClusterError(f"cluster {cluster}: there is no such scheduler file")
            return Client(scheduler_file=cluster, timeout=PATIENCE)
        return Client(cluster, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError, TypeError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(f"cluster {cluster}: no scheduler answers: {why}") from None


def _cores(agent) -> int:
    """The cores of an agent; 1 if its own code fails to say."""
    try:
        return max(1, int(agent.cores))
    except Exception:
        return 1


def made_here(game: str, agent: str, plugins: list[str], folder: str, digest: str) -> tuple:
    """(game, agent) made on a worker from specs; ClusterError if its sources do not have the digest."""
    from arena import agents, games
    from arena.workers.machine import digest_of_made

    if plugins:
        add_named(plugins, folder)
    with loading:
        made = games.make(game), agents.make(agent)
        if (ours := digest_of_made(*made)) != digest:
            raise ClusterError(f"a worker has other code of games and agents (digest {ours}, and here {digest})")
    return made
