"""Plays a tournament with its display, for `run`, `demo`, `sprt` and `scaling`."""

import os
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from arena.commands import options
from arena.commands.application import BAD, INTERRUPTED, VOID, complain
from arena.commands.output import print_table, quoted, tell
from arena.commands.progress import progress_line
from arena.games.core.shared.files import read_bounded

if TYPE_CHECKING:
    from arena.runner.running import Playing


class Where(NamedTuple):
    """The options of where and how games are played: on some cores of this machine, or on a cluster."""

    workers: options.Workers = None
    cluster: options.Cluster = None
    changed: options.Changed = False
    verbose: options.Verbose = 0

    def check(self) -> None:
        """BadParameter if both are given."""
        if self.workers is not None and self.cluster is not None:
            raise typer.BadParameter(f"--workers counts processes here; --cluster {self.cluster} has its own workers")


def play_shown(config, out: Path, where: Where, resume: bool) -> None:
    """Play a tournament with its display, then print the standings and what to do next.

    `config` is a path or a configuration's keys.
    """
    played = run_shown(config, out, where, resume)
    table = played.table()
    print_table(table)
    tell_notes(played, table)
    tell(f"\nThe run is stored in {out}. What you can do with it:", *(f"  {hint}" for hint in _hints(played, out)))
    exit_if_failed(played)


def run_shown(config, out: Path, where: Where, resume: bool):
    """Play a tournament with its display and return its results; on failure, say why and exit."""
    where.check()
    from arena.games.core.shared.plugins import named
    from arena.workers.starting import begin_start, use_fork_server

    if modules := named():
        if not isinstance(config, dict):
            raise typer.BadParameter(f"--plugin cannot be added to a file: write plugins = {modules} in {config}")
        config["plugins"] = list(dict.fromkeys([*config.get("plugins", []), *modules]))
        config["plugin_path"] = config.get("plugin_path") or os.getcwd()
    use_fork_server(_modules_of(config))
    if where.cluster is None:
        begin_start()
    with progress_line("loading games and agents"):
        from rich.console import Console

        from arena.config.loading import from_values, load
        from arena.runner import running
        from arena.runner.display import watch

        if isinstance(config, dict):
            config = from_values(config, str(out) if resume else "the command line")
        elif isinstance(config, Path):
            config = load(config)
    with reporting_end(out, where.cluster):
        return running.run(
            config, out, where.workers, resume, watch(Console(stderr=True)), where.cluster, where.changed
        )


def _modules_of(config) -> list[str]:
    """The modules that every worker needs; errors in the configuration are reported when it is read in full."""
    from arena.workers.starting import modules_of

    if not isinstance(config, Path):
        return modules_of(config if isinstance(config, dict) else config.values)
    if not config.is_file():  # a pipe, say, can be read only once
        return []
    try:
        return modules_of(tomllib.loads(read_bounded(config).decode()))
    except (OSError, ValueError, RecursionError):
        return []


@contextmanager
def playing_study(out: Path, where: Where) -> Iterator["Playing"]:
    """A context in which a study plays its run with a display, on one cluster; it says what to type if that ends."""
    where.check()
    from rich.console import Console

    from arena.cluster.link import connected
    from arena.runner.display import watch
    from arena.runner.running import Playing
    from arena.workers.starting import use_fork_server

    use_fork_server()
    console = Console(stderr=True)
    with reporting_end(out, where.cluster), ExitStack() as stack:
        cluster = stack.enter_context(connected(where.cluster)) if where.cluster else None  # once for all rounds
        events, tell = (lambda: watch(console)), (lambda text: console.print(text, markup=False, highlight=False))
        yield Playing(where.workers, cluster, where.changed, events, tell)


@contextmanager
def reporting_end(out: Path, cluster: str | None = None) -> Iterator[None]:
    """A context in which a run that exists or is interrupted ends the command, and says what to type next."""
    from arena.results.database.store import StoreExists
    from arena.runner.running import Interrupted
    from arena.runner.study_kinds import kind_of

    again = f"arena run --out {quoted(out)} --resume" + (f" --cluster {quoted(cluster)}" if cluster else "")
    try:
        yield
    except KeyboardInterrupt:  # between two steps of a study, or before the first
        if kind_of(out) is not None:
            complain(f"interrupted. To play the rest: {again}")
            raise typer.Exit(INTERRUPTED) from None
        raise
    except StoreExists:
        complain(f"{out} holds a run already. To continue it: --resume. To keep it and start another: --out FOLDER")
        raise typer.Exit(BAD) from None
    except Interrupted as stop:
        if stop.why:
            complain(f"stopped: {stop.why}")
        complain(f"{stop.stored} of {stop.total} games are stored. To play the rest: {again}")
        raise typer.Exit(INTERRUPTED) from None


def tell_notes(played, table=None) -> None:
    """Print the state of the format, and the notes on the tables, or on this one."""
    from arena.formats.schedule import Schedule

    schedule = Schedule.of(played)
    notes = played.notes() if table is None else played.notes_on(table)
    tell(*(schedule.lines() if schedule is not None else []), *notes)


def exit_if_failed(played) -> None:
    """Exit with the code for failures if games are void, or were lost without a move, which the last lines tell."""
    from arena.results.database.record import Reason

    unmoved = played.unmoved()
    for lost, what in (unmoved, "without a move on record"), (played.raised(), "by an exception"):
        for agent, games, detail in lost.itertuples(index=False):
            of = played.tallies.loc[(played.tallies[["first", "second"]] == agent).any(axis=1), "games"].sum()
            tell(f"{agent} lost {games} of its {of} games {what}; the first: {detail}")
    if len(unmoved) or played.tallies["reason"].isin(Reason.VOIDS).any():
        raise typer.Exit(VOID)


def _hints(played, out: Path) -> list[str]:
    place = quoted(out)
    if played.single_player:
        best = played.games.sort_values("score", ascending=False)["id"].iloc[0]
        return [
            f"arena table {place} --format markdown",
            f"arena table {place} --kind improvements --format csv --output improvements.csv",
            f"arena plot {place} curves",
            f"arena show {place} {best}",
        ]
    study = [f"arena table {place} --kind study --format latex"] if played.kinds[0] == "study" else []
    return [
        *study,
        f"arena table {place} --kind crosstable",
        f"arena table {place} --kind win_rates --format markdown",
        f"arena table {place} --kind moves --format csv --output moves.csv",
        f"arena show {place} {played.first_id()}",
        f"arena plot {place} ratings",
        f"arena report {place}",
        f"arena lab {place}",
    ]
