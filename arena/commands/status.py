"""`arena status`: the progress of a run."""

import time
from pathlib import Path

from arena.commands.application import Panel, command
from arena.commands.options import Folder
from arena.commands.output import answered, print_table, quoted, records_of, say
from arena.commands.playing import tell_notes
from arena.games.core.shared.errors import UserError


@command(Panel.READ, examples="arena status runs/first\narena status runs/first --json", as_json=True)
def status(folder: Folder) -> None:
    """Show the progress of a run, and who leads.

    It works from any terminal at any time, and says whether the run is being played.
    """
    from arena.runner.study_kinds import has_parts

    if has_parts(folder):
        return _of_parts(folder)
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
    if answered(state | {"table": records_of(run.table()), "parts": []}):
        return
    say(_state_in_words(state))
    print_table(run.table())
    tell_notes(run)


def _of_parts(folder: Path) -> None:
    """Of a study whose runs are in folders within: the games of all, and each."""
    from arena.report.listing import runs_in
    from arena.runner import study_kinds

    listed = runs_in(folder)
    if listed.unread:
        raise UserError("; ".join(f"{row['run']}: {row['error']}" for row in listed.unread))
    (row,) = (row for row in listed.rows if row["run"] == str(folder))
    parts = [str(part) for part in study_kinds.runs_in(folder)]
    state = {"folder": str(folder), "state": row["state"], "stored": row["stored"], "total": row["total"]}
    if answered(state | {"running": row["state"] == "running", "parts": parts}):
        return
    games = f"{row['stored']} games of a {row['format']} of several runs"
    say(f"{folder}: {games}; {_now(row['state'], folder)}", *(f"  arena status {quoted(part)}" for part in parts))


def _state_in_words(state: dict) -> str:
    stored, total = state["stored"], state["total"]
    # rounded down, so that 100 % means all
    share = f"{stored} of {total} games, {1000 * stored // total / 10} %" if total else f"{stored} games, imported"
    now = _now(state["state"], Path(state["folder"]))
    if state["running"]:
        now += f"; the last game was stored {state['seconds_since_last_game']:.0f} s ago"
    return f"{state['folder']}: {share}; {now}"


def _now(state: str, folder: Path) -> str:
    from arena.runner.study_kinds import home_of

    if state != "stopped":
        return {"running": "being played"}.get(state, state)
    return f"not being played; to continue: arena run --out {quoted(home_of(folder))} --resume"
