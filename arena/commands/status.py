"""`arena status`: the progress of a run."""

import time
from pathlib import Path

from arena.commands.application import Panel, command
from arena.commands.options import Folder
from arena.commands.output import answered, print_table, quoted, records_of, say
from arena.commands.playing import tell_notes


@command(Panel.READ, examples="arena status runs/first\narena status runs/first --json", as_json=True)
def status(folder: Folder) -> None:
    """Show the progress of a run, and who leads.

    It works from any terminal at any time, and says whether the run is being played.
    """
    from arena import results
    from arena.formats.schedule import Schedule
    from arena.report.listing import state_of
    from arena.results.database.record import Reason
    from arena.results.database.store import FILE_NAME

    run = results.load(folder)
    schedule = Schedule.of(run)
    total = None if schedule is None else len(schedule)
    now = state_of(run, total)
    files = [path for path in folder.glob(f"{FILE_NAME}*") if path.suffix != ".sqlite-shm"]
    state = {
        "folder": str(folder),
        "state": now,
        "running": now == "running",
        "stored": len(run),
        "total": total,
        "void": int(run.tallies["games"][run.tallies["reason"].isin(Reason.VOIDS)].sum()),
        "seconds_since_last_game": round(time.time() - max(path.stat().st_mtime for path in files), 1),
    }
    if answered(state | {"table": records_of(run.table())}):
        return
    say(_state_in_words(state))
    print_table(run.table())
    tell_notes(run)


def _state_in_words(state: dict) -> str:
    from arena.runner.study_kinds import home_of

    stored, total = state["stored"], state["total"]
    # rounded down, so that 100 % means all
    share = f"{stored} of {total} games, {1000 * stored // total / 10} %" if total else f"{stored} games, imported"
    if state["running"]:
        now = f"being played; the last game was stored {state['seconds_since_last_game']:.0f} s ago"
    elif state["state"] == "finished":
        now = "finished"
    else:
        now = f"not being played; to continue: arena run --out {quoted(home_of(Path(state['folder'])))} --resume"
    return f"{state['folder']}: {share}; {now}"
