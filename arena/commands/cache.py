"""`arena cache`: the compiled kernels on disk."""

import os
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command, group
from arena.commands.options import Workers, agents_option, games_option, registered, restore
from arena.commands.output import print_table, say, tell
from arena.commands.progress import progress_line
from arena.games.core.shared.cache import PLACE, folder

cache = group("cache", Panel.MACHINE, "Inspect, clear or fill the cache of compiled kernels.")


@command(group=cache, examples="arena cache info", as_json=True)
def info() -> None:
    """Show the folders of compiled kernels, what is in them, and for which versions.

    ARENA_CACHE_DIR names another folder than the system's for caches, and ARENA_CACHE_PATH more to read from. Beyond
    ARENA_CACHE_MEGABYTES, by default 500, what was used least lately is removed.
    """
    from arena.study import kernel_cache

    print_table(kernel_cache.info())


@command(group=cache, examples="arena cache clear")
def clear() -> None:
    """Remove all compiled kernels from the folder where they are kept.

    Each is compiled again when it is next needed.
    """
    from arena.study import kernel_cache

    typer.echo(f"{kernel_cache.clear()} files removed")


@command(
    group=cache,
    examples='arena cache warm\narena cache warm --game "connect4(rows=6, columns=7)" --agent uct\n'
    "arena cache warm --to /opt/arena-kernels",
)
def warm(
    context: typer.Context,
    game: Annotated[list[str] | None, games_option("A game; may be repeated. Default: all.")] = None,
    agent: Annotated[list[str] | None, agents_option("An agent; may be repeated. Default: all.")] = None,
    workers: Workers = None,
    to: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Keep them in this folder, for others' ARENA_CACHE_PATH."),
    ] = None,
) -> None:
    """Compile kernels ahead of time, on all cores.

    A run compiles what it needs by itself; this does it in advance.
    """
    if to:
        _keep_in(to, context)
    from arena.games.core.shared.system import cores
    from arena.study import kernel_cache

    wanted = kernel_cache.parts(game or registered("games"), agent or registered("agents"))
    if not any(wanted):
        return tell("nothing to compile: none of these agents plays any of these games")
    total, done = sum(len(part.agents) * len(part.games) for step in wanted for part in step), 0
    with progress_line(f"compiled: 0 of {total}") as show:

        def show_done(game_name, name, seconds, failure):
            nonlocal done
            done += 1
            say(f"{name} on {game_name}: {failure or f'{seconds:.1f} s'}")
            show(f"compiled: {done} of {total}")

        kernel_cache.warm(wanted, workers or cores(), show_done)


def _keep_in(to: Path, context: typer.Context) -> None:
    """Have this command and its processes keep what they compile in a folder; BadParameter where that cannot be."""
    before = os.environ.get(PLACE)
    context.call_on_close(lambda: restore(PLACE, before))
    os.environ[PLACE] = str(to.absolute())
    if folder() is None:
        raise typer.BadParameter(f"nothing can be kept in {to}", param_hint="--to")
