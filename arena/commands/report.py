"""Commands that show a run as a whole: report and status."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import Json, command, print_table, tell, write_whole

Folder = Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")]


@command(examples="arena report runs/first\narena report runs/first --output first.html")
def report(
    folder: Folder, output: Annotated[Path | None, typer.Option(help="The page; DIR/report.html when left out.")] = None
) -> None:
    """Write a report of a stored run, finished or not: one HTML file, and its figures as SVG and PNG beside it."""
    from arena.report import write_report

    page = write_report(folder, output, write_whole)
    typer.echo(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures lie in {page.parent / 'figures'}")


@command(examples="arena status runs/first\narena status runs/first --json")
def status(folder: Folder, as_json: Json = False) -> None:
    """Tell how far a run is, whether it is being played, and who leads; from any terminal, at any time."""
    import json
    import time

    import results
    from arena.formats.formats import Plan
    from results.record import Reason
    from results.store import FILE_NAME, busy

    tournament = results.load(folder)
    plan = Plan.of(tournament)
    files = [path for path in folder.glob(f"{FILE_NAME}*") if path.suffix != ".sqlite-shm"]
    state = {
        "folder": str(folder),
        "running": busy(folder),
        "stored": len(tournament.games),
        "total": None if plan is None else len(plan),
        "void": int(tournament.games["reason"].isin(Reason.VOIDS).sum()),
        "seconds_since_last_game": round(time.time() - max(path.stat().st_mtime for path in files), 1),
    }
    if as_json:
        typer.echo(json.dumps(state))
        return
    typer.echo(_state_in_words(state))
    print_table(tournament.table(), as_json=False)
    for note in [*(plan.lines() if plan is not None else []), *tournament.notes()]:
        tell(note)


def _state_in_words(state) -> str:
    stored, total = state["stored"], state["total"]
    # a run that lacks a game is not at 100 %
    share = f"{stored} of {total} games, {1000 * stored // total / 10} %" if total else f"{stored} games, imported"
    if state["running"]:
        now = f"being played; the last game was stored {state['seconds_since_last_game']:.0f} s ago"
    elif total is None or stored >= total:
        now = "finished"
    else:
        now = f"not being played; to go on: arena run --out {state['folder']} --resume"
    return f"{state['folder']}: {share}; {now}"
