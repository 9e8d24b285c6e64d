"""Runs a tournament, from its configuration to its store: starts, watches, stops and resumes it."""

import importlib
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.config import loading
from arena.config.complaints import complaint
from arena.config.config import Config, ConfigError, differences
from arena.config.trust import trust
from arena.formats.base import formats
from arena.games.core.jit import warn_of_changes
from arena.games.core.shared.prepared_file import changes
from arena.games.core.shared.system import cores
from arena.results.database.integrity import mend
from arena.results.database.store import FILE_NAME, Store
from arena.runner.desk import Desk
from arena.runner.events import Events
from arena.workers.codes import RULES, codes_of, is_ours, is_same, numbered
from arena.workers.crew import Crew
from arena.workers.engine import Engine
from arena.workers.logs import RunLog
from arena.workers.machine import classes_of, describe_run, sources_of
from arena.workers.supervisor import Supervisor

if TYPE_CHECKING:
    from arena.results.shown.tournament import Tournament

LOG_NAME = "log.txt"
OVER = "over"  # in the run of a study: whether it is over
_turns: dict[int, Any] = {}  # process -> lock of a run: workers of another would keep its descriptors open

log = logging.getLogger("arena.run")


class Interrupted(Exception):
    """A run was stopped before its last game; it can be resumed."""

    def __init__(self, stored: int, total: int, folder: Path, why: str = ""):
        self.stored = stored
        self.total = total
        self.folder = folder
        self.why = why  # unless a user stopped it
        what = f"stopped with {stored} of {total} games stored in {folder}; resume the run to play the rest"
        super().__init__(f"{why}: {what}" if why else what)


def run(
    config: str | os.PathLike[str] | Mapping[str, Any] | Config | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    resume: bool = False,
    events: Events | None = None,
    cluster: Any = None,
    changed: bool = False,
    **keys: Any,
) -> "Tournament":
    """Play a tournament and return its results; void games have their reason in `.games`.

        arena.run(game="connect4", agents=["uct(playouts=200)", "alphabeta(depth=4)"], games=50)

    config: a TOML file's path, a dict of its keys, or a Config; not needed if `keys` are complete
    keys: replace those in `config`; games, agents and budgets can be text or objects
    out: the folder for the store and the log; None makes a temporary one and prints its name
    workers: the cores to use; None uses all that this process may use
    resume: continue the run in `out`, if any: keys that its format lets grow, such as `games`, may have grown, keys
    that do not define a game, such as `game_seconds`, may differ; files read by games and agents must be unchanged
    events: receives the calls; None displays them below a notebook's cell, if the run is in one
    cluster: plays the games instead of this machine: a Dask scheduler's address, its scheduler file, "local:4", or a
    Dask client or cluster (docs/cluster.md)
    changed: resume with code of games or agents that has changed since; tables say from which game on

    Runs of several threads of a process, such as tasks of a Dask worker, take turns.
    In the main thread, Ctrl-C ends the run after the games in play; a second Ctrl-C, or SIGTERM, ends it at once.  Both
    raise Interrupted if games are missing.
    ConfigError: the configuration cannot be used, names a program that is not on this machine, or it or its files
    differ from the run to resume.  StoreExists: there is a run, and `resume` is false.  StoreError: the store cannot be
    written; games already stored are kept.  WorkerStartError: worker processes cannot start.  ClusterError: the cluster
    cannot be used, or is gone.
    """
    place = _place(workers, cluster)
    if resume and out is None:
        raise ValueError("resume = True needs out, the folder of the run to go on with")
    return _in_turn(_as_config(config, keys), out, place, resume, changed, events or _default_events())


def _in_turn(config: Config, *how) -> "Tournament":
    warn_of_changes(*classes_of(config))
    with _turns.setdefault(os.getpid(), threading.RLock()):
        return _run(config, *how)


class StudyStep(NamedTuple):
    """What a run is told that is a step of a study: the processes that stay, and what to note of it in the store.

    checked: whether this process has looked through the store already
    """

    crew: Crew
    about: Mapping[str, Any]
    checked: bool


class Playing(NamedTuple):
    """Where and how a study plays its run, which grows, and what it tells."""

    workers: int | None = None
    cluster: Any = None
    changed: bool = False
    events: Callable[[], Events] | None = None  # makes those of each time that the run goes on
    tell: Callable[[str], None] = lambda text: None  # gets a line before each of these

    def play(self, config: Config, folder: Path, step: StudyStep) -> "Tournament":
        """What is missing of a run."""
        place, events = _place(self.workers, self.cluster), self.events() if self.events else _default_events()
        return _in_turn(config, folder, place, True, self.changed, events, step)


QUIETLY = Playing()


def _run(
    config: Config, out, place, resume: bool, changed: bool, events: Events, step: StudyStep | None = None
) -> "Tournament":
    here, new = isinstance(place, int), _is_new(out, resume)
    if here and new:
        check_programs(config)
    folder = _folder(out)  # only with a sound configuration
    with ExitStack() as stack:
        link = None
        if not here:
            from arena.cluster.link import linked

            link = stack.enter_context(linked(place, config))
        last = stack.enter_context(ExitStack())  # ends after the display, log and store, which Ctrl-C does not disturb
        store = stack.enter_context(_open_store(config, folder, resume, step.about if step else {}))
        run_log = stack.enter_context(RunLog(folder / LOG_NAME, events.trouble))
        if resume and not (step and step.checked) and (mended := mend(store)):
            log.warning(mended)
            events.trouble(mended)
        for text in dict.fromkeys(text for _, agent in config.agents for text in agent.warnings()):
            log.warning(text)
            events.trouble(text)
        trust(config.values)  # imported already, because the user said so
        events.opened(config.resolved(), folder)
        stack.callback(events.ended)
        if link is not None:
            events.connected(link.where, link.dashboard)
        desk = Desk(store, config, folder, events)
        stack.callback(desk.notice.close)
        if not new:
            noted, others = _noted(store, config, desk, changed)
            if noted or store.config != config.resolved():  # the changes that a resume allows
                store.set_config(config.resolved(), noted, others)
        elif blind := store.meta["machine"].get("unwatched"):
            events.trouble(f"changes of these are not noticed when the run is resumed: {blind}")
        if here and not new and desk.left():
            check_programs(config)
        desk.engine = engine = _engine(
            config, desk, run_log, link or place, step.crew if step else stack.enter_context(Crew())
        )
        stack.enter_context(_loading_tables())
        last.enter_context(_signals())(engine)
        _play(engine, desk)
        if desk.left():
            raise Interrupted(len(desk.stored), len(desk.schedule), folder, desk.fault)
    from arena.results.shown.tournament import Tournament

    return Tournament.load(folder)


def _place(workers: int | None, cluster: Any) -> Any:
    """Processes here, or the cluster; ValueError if both or neither are possible."""
    if cluster is not None:
        if workers is not None:
            raise ValueError("workers are processes of this machine: with a cluster, that says how many there are")
        return cluster
    workers = cores() if workers is None else workers
    if workers < 1:
        raise ValueError(f"workers = {workers} is out of range: a run needs 1 or more")
    return workers


def _engine(config, desk: Desk, run_log, place, crew: Crew) -> Engine:
    receivers = {"on_stop": desk.events.stopping, "on_trouble": desk.events.trouble, "on_tick": desk.look}
    common = {"config": config, "following": desk.next, "run_log": run_log, "on_results": desk.add, **receivers}
    if isinstance(place, int):
        return Supervisor(workers=place, crew=crew, **common)
    from arena.cluster.dask_engine import ClusterEngine

    return ClusterEngine(link=place, left=desk.left, on_machine=desk.note_machine, **common)


def _default_events() -> Events:
    if "IPython" not in sys.modules:
        return Events()
    from arena.runner.notebook_display import notebook_display

    return notebook_display() or Events()


def _is_new(out, resume: bool) -> bool:
    return not (resume and (Path(out) / FILE_NAME).exists())


def _folder(out) -> Path:
    if out is not None:
        return Path(out)
    folder = tempfile.mkdtemp(prefix="arena-")
    stream = sys.stdout if "IPython" in sys.modules else sys.stderr  # which notebooks show like an error
    print(f"The run is stored in {folder}, a new temporary folder.", file=stream)
    return Path(folder)


def _as_config(config: str | os.PathLike[str] | Mapping[str, Any] | Config | None, keys: Mapping[str, Any]) -> Config:
    if isinstance(config, Config):
        if keys:
            raise TypeError(f"a Config is complete: it takes no {', '.join(keys)} besides")
        return config
    if config is None or isinstance(config, Mapping):
        return loading.from_values({**(config or {}), **keys}, "config")
    return loading.load(config, keys)


def check_programs(config: Config) -> None:
    """ConfigError if an agent's program is missing: it would forfeit every game."""
    lacking = [(i, agent, agent.lacks()) for i, (_, agent) in enumerate(config.agents)]
    if problems := [complaint(("agents", i, "agent"), str(agent), text) for i, agent, text in lacking if text]:
        raise ConfigError(problems)


def _open_store(config, folder, resume, more) -> Store:
    resolved = config.resolved()
    if _is_new(folder, resume):
        specs = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
        files = {"files": found} if (found := config.files()) else {}
        about = {"config": resolved, "machine": describe_run(config), "codes": codes_of(config), **files, **more}
        return Store.create(folder, about, specs)
    store = Store.open(folder, write=True)
    try:
        if lines := differences(store.config, resolved):
            raise ConfigError(
                [f"the run in {folder} cannot be resumed with this configuration: {line}" for line in lines]
            )
        if lines := changes(store.meta.get("files", {}), config.files()):
            raise ConfigError([f"the run in {folder} cannot be resumed: {line}" for line in lines])
        for key, value in more.items():
            if store.meta.get(key) != value:
                store.set_meta(key, value)
    except BaseException:
        store.close()
        raise
    return store


def _noted(store, config, desk: Desk, changed: bool) -> tuple[dict[str, Any], list[dict]]:
    """What to note of the code that plays from now on, and of agents that join; and agents that are others from now on.

    ConfigError if the code of those who have games left, or of the games, is not the run's, and the user has not said
    so; or, for agents that are not ours, if the format cannot have two agents in place of one.
    """
    met, now, codes = len(store.config["agents"]), sources_of(config), codes_of(config)
    was = store.meta.get("versions", [{"digest": store.meta["machine"]["source_digest"], "games": 0}])
    noted: dict[str, Any] = {}
    before = now
    if joined := [name for name, _ in config.agents[met:]]:
        before = sources_of(replace(config, agents=config.agents[:met]))
        came = {"agents": joined, "games": len(desk.stored), "digest": now}
        noted = {"joined": [*store.meta.get("joined", []), came], "versions": [*was[:-1], was[-1] | {"digest": now}]}
    stored = store.meta.get("codes", {})
    if stored and joined:
        noted["codes"] = stored | {name: codes[name] for name in joined}
    if was[-1]["digest"] == before or not desk.left():
        return noted, []
    due, renamed = desk.due_agents(), desk.renamed
    other = [name for name in due if is_same(stored, codes, renamed.get(name, name), name) is False]
    if stored and not other and is_same(stored, codes, RULES):
        return noted, []  # who has changed has no game left
    what = f"the code of {' and '.join(sorted(other))}" if other else "the code of games or agents"
    own = dict(config.agents)
    others = sorted(name for name in other if not is_ours(own[name]))
    text = f"{what} has changed since the run was started (digest {was[-1]['digest']}, now {before})"
    refused = f"the run in {store.path.parent} cannot be resumed: {text}"
    if not changed:
        how = "to go on with the new one, and have tables say from which game on: --changed (in Python, changed=True)"
        raise ConfigError([f"{refused}; {how}"])
    if others and not formats()[config.format].renames:
        how = f"and two codes are two agents, of which {config.format} cannot make one: go on with the code as it was"
        raise ConfigError([f"{refused}, {how}, or take it out of a pool: arena join DIR --drop NAME"])
    log.warning(text)
    desk.events.trouble(text)
    specs = {entry["name"]: entry["agent"] for entry in store.config["agents"]}
    new = {name: numbered(name, stored) for name in others}
    noted["codes"] = stored | noted.get("codes", {}) | {new[name]: codes[name] for name in others}
    same = {renamed.get(name, name): name for name in other if name not in others} | {RULES: RULES}
    noted["codes"] |= {name: codes[now] for name, now in same.items()} if stored else {}
    noted["renamed"] = renamed | new
    noted["versions"] = [*was, {"digest": now, "games": len(desk.stored), **({"agents": new} if new else {})}]
    desk.renamed = noted["renamed"]
    return noted, [{"name": new[name], "agent": specs[name]} for name in others]


def _play(engine: Engine, desk: Desk) -> None:
    """Compile and play; returns without workers left, after the last game or a stop."""
    if desk.left():
        engine.prepare(desk.events.warming, desk.events.warmed)
    if engine.stopped:
        log.warning("interrupted before the first game")
        return
    log.info("%d of %d games to play", desk.left(), len(desk.schedule))
    desk.begin()
    try:
        engine.run()
    finally:
        log.info("%d of %d games stored", len(desk.stored), len(desk.schedule))


@contextmanager
def _loading_tables():
    """A context in which a thread loads modules for tables, such as pandas, which take a while.

    Not if workers are forked from this process, which must have no threads then.
    """
    if multiprocessing.get_start_method() == "fork":
        yield
        return
    thread = threading.Thread(target=importlib.import_module, args=("arena.results.shown.export",), daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextmanager
def _signals():
    """Turn SIGINT and SIGTERM, in the main thread, into stop requests to the engine given to `direct`.

    Earlier signals are kept for it.  Nothing is raised: Python drops exceptions in some places, such as the calls after
    a fork, and elsewhere they could lose a process just started.  The former handlers return at the end.
    """
    engines: list[Engine] = []
    came: list[int] = []

    def handle(number, frame):
        came.append(number)
        for engine in engines:
            engine.request_stop(now=number == signal.SIGTERM)

    def direct(engine: Engine):
        engines.append(engine)
        for number in came:
            engine.request_stop(now=number == signal.SIGTERM)

    if threading.current_thread() is not threading.main_thread():
        yield direct
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield direct
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
