"""`arena check`: whether a stored run is whole."""

import json
from typing import Annotated

import typer

from arena.commands.application import VOID, Panel, command, complain
from arena.commands.options import Folder, Json
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
    as_json: Json = False,
) -> None:
    """Check that a run is intact, and list damaged games.

    Every row is compared with its digest, and every game is replayed by the rules, which must give its outcome, score
    and plies.  The exit code is 1 if anything is wrong.
    """
    from arena.study.checking import replayer
    from results.integrity import examine
    from results.integrity import mend as made_anew
    from results.store import Store, StoreError

    with Store.open(folder, write=mend) as store:
        try:
            config = store.meta.get("config")
        except StoreError:
            config = None
        replayed = replayer(config) if config and not no_replay else lambda record: ""
        count = 0
        with progress_line() as show:

            def told(record):
                nonlocal count
                count += 1
                if count % 100 == 0:
                    show(f"{count:,} games checked")
                return replayed(record)

            damage = examine(store, told)
        report = {"folder": str(folder), "sound": count, "replayed": bool(config) and not no_replay}
        report |= {"damaged": damage.games, "faults": damage.faults}
        if as_json:
            typer.echo(json.dumps(report, indent=1))
        else:
            _tell(report)
        if mend and damage:
            typer.echo(made_anew(store, damage), err=True)
    if damage:
        raise typer.Exit(VOID)


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
