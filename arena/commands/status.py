"""`arena status`: the progress of a run."""

import time

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
    from arena.results.database.record import Reason
    from arena.results.database.store import FILE_NAME, busy

    run = results.load(folder)
    schedule = Schedule.of(run)
    files = [path for path in folder.glob(f"{FILE_NAME}*") if path.suffix != ".sqlite-shm"]
    state = {
        "folder": str(folder),
        "running": busy(folder),
        "stored": len(run),
        "total": None if schedule is None else len(schedule),
        "void": int(run.tallies["games"][run.tallies["reason"].isin(Reason.VOIDS)].sum()),
        "seconds_since_last_game": round(time.time() - max(path.stat().st_mtime for path in files), 1),
    }
    if answered(state | {"table": records_of(run.table())}):
        return
    say(_state_in_words(state))
    print_table(run.table())
    tell_notes(run)


def _state_in_words(state: dict) -> str:
    stored, total = state["stored"], state["total"]
    # rounded down, so that 100 % means all
    share = f"{stored} of {total} games, {1000 * stored // total / 10} %" if total else f"{stored} games, imported"
    if state["running"]:
        now = f"being played; the last game was stored {state['seconds_since_last_game']:.0f} s ago"
    elif total is None or stored >= total:
        now = "finished"
    else:
        now = f"not being played; to continue: arena run --out {quoted(state['folder'])} --resume"
    return f"{state['folder']}: {share}; {now}"
