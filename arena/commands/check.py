"""`arena check`: whether a stored run is intact."""

import json
from collections.abc import Callable
from typing import Annotated

import typer

from arena.commands.application import VOID, Panel, command, complain
from arena.commands.options import Folder, Json, Trust, trust_run
from arena.commands.progress import progress_line


@command(Panel.READ, examples="arena check runs/first\narena check runs/first --mend")
def check(
    folder: Folder,
    no_replay: Annotated[
        bool, typer.Option("--no-replay", help="Only compare rows with their digests, which is quicker.")
    ] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="Remove damaged games; arena run --resume plays them again.")
    ] = False,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Check that a run is intact, and list damaged games.

    Every row is compared with its digest, and every game is replayed: the rules must give the stored outcome, score and
    plies.  The exit code is 1 if anything is wrong.
    """
    from arena.results.integrity import mend as mended
    from arena.results.store import Store

    trust_run(folder, trust)
    with Store.open(folder, write=mend) as store:
        replayed = None if no_replay else _replayer(store)
        damage, count = _examined(store, replayed or (lambda record: ""))
        report = {"folder": str(folder), "sound": count, "replayed": bool(replayed)}
        report |= {"damaged": damage.games, "faults": damage.faults}
        if as_json:
            typer.echo(json.dumps(report, indent=1))
        else:
            _tell(report)
        if mend and damage:
            typer.echo(mended(store, damage), err=True)
    if damage:
        raise typer.Exit(VOID)


def _replayer(store) -> Callable | None:
    """The function that checks a game by the rules; None if the run has no readable configuration."""
    from arena.results.store import StoreError
    from arena.study.checking import replayer

    try:
        config = store.meta.get("config")
    except StoreError:
        return None
    return replayer(config) if config else None


def _examined(store, replayed: Callable) -> tuple:
    """(damage, number of games) of a store whose games are checked by `replayed`."""
    from arena.results.integrity import examine

    count = 0
    with progress_line() as show:

        def looked_at(record):
            nonlocal count
            count += 1
            if count % 100 == 0:
                show(f"{count:,} games checked")
            return replayed(record)

        return examine(store, looked_at), count


def _tell(report: dict) -> None:
    for fault in report["faults"]:
        complain(f"{report['folder']}: {fault}")
    for name, wrong in report["damaged"].items():
        complain(f"game {name} {wrong}")
    how = "are as they were stored" + (", and replayed by the rules" if report["replayed"] else "")
    if report["damaged"] or report["faults"]:
        typer.echo(f"{report['folder']} is damaged: {len(report['damaged'])} games are wrong")
    else:
        typer.echo(f"{report['folder']} is whole: {report['sound']:,} games {how}")
