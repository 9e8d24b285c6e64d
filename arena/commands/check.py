"""`arena check`: whether a stored run, or an archive of one, is intact."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import VOID, Panel, command, complain
from arena.commands.options import Folder, Trust, trust_run
from arena.commands.output import answered, say, tell, wants_json
from arena.commands.progress import progress_line

Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="DIR is a configuration file: play it in each setting that there is, and compare the games.",
    ),
]


@command(
    Panel.READ,
    examples="arena check runs/first\narena check runs/first --mend\narena check study.zip\n"
    "arena check --deterministic tournament.toml",
    as_json=True,
)
def check(
    folder: Folder,
    deterministic: Deterministic = False,
    no_replay: Annotated[
        bool, typer.Option("--no-replay", help="Only compare rows with their digests, which is quicker.")
    ] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="Remove damaged games; arena run --resume plays them again.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Check that a run is intact, and list damaged games.

    Every row is compared with its digest, and every game is replayed: the rules must give the stored outcome, score and
    plies.  The exit code is 1 if anything is wrong.  Of an archive that arena study archive has written, the
    games are replayed, and its tables compared with those that they give today; its other files are as its own list of
    digests says, which whoever changes them can rewrite. Compare its SHA-256, which is printed, with the published one.

    With --deterministic, a tournament is played with 1, 2 and 5 workers, by each way to start processes, interrupted
    and resumed, with no compiled code at hand, compiled for another processor, and on a local cluster. The agent that
    decides otherwise, and the game, are named, and the exit code is 1.
    """
    if deterministic:
        if no_replay or mend or trust:
            raise typer.BadParameter("--deterministic goes with --json alone")
        return _check_determinism(folder)
    if not folder.is_dir() and (folder.suffix == ".zip" or folder.exists()):
        if mend:
            raise typer.BadParameter(f"--mend: {folder} is no folder; an archive stays as it was published")
        return _check_archive(folder, not no_replay, trust)
    from arena.results.database.integrity import mend as mended
    from arena.results.database.store import Store

    trust_run(folder, trust)
    with Store.open(folder, write=mend) as store:
        replayed = None if no_replay else _replayed(store)
        damage, count = _examined(store, replayed)
        report = {"folder": str(folder), "sound": count, "replayed": bool(replayed)}
        report |= {"damaged": damage.games, "faults": damage.faults}
        if not answered(report):
            _tell(report)
        if mend and damage:
            tell(mended(store, damage))
    if damage:
        raise typer.Exit(VOID)


def _check_archive(file: Path, replay: bool, trust: bool) -> None:
    """Unpack an archive, replay its games, compute its tables anew, and say which files nothing proves."""
    from arena.report import archive
    from arena.results.database.store import FILE_NAME, Store
    from arena.runner.study_kinds import runs_in

    with tempfile.TemporaryDirectory(prefix="arena-") as scratch:
        place = Path(scratch)
        names = archive.unpack(file, place)
        report: dict = {"archive": str(file), "sha256": archive.digest_of(file), "files": len(names)}
        games, replayed, wrong, proven = 0, 0, [], set()
        for run in runs_in(place):
            trust_run(run, trust)
            with Store.open(run) as store:
                looks = _replayed(store) if replay else None
                damage, count = _examined(store, looks)
            games += count
            if looks:
                replayed += count
                proven.add((run / FILE_NAME).relative_to(place).as_posix())
            wrong += [*damage.faults, *(f"game {name} {why}" for name, why in damage.games.items())]
        tables = [] if wrong else archive.tables_among(names)
        with progress_line() as show:
            different = [] if wrong else archive.different_tables(place, tables, show)
        report |= {"games": games, "replayed": replayed, "tables": tables}
        report |= {"unproven": [name for name in names if name not in proven.union(tables)]}
        report |= {"damaged": wrong, "different": different, "made_by": archive.made_by(place)}
    if not answered(report):
        for text in (*wrong, *different):
            complain(f"{file}: {text}")
        say(
            f"{file}: {_verdict(report)}",
            _unproven(report),
            f"SHA-256, to compare with the published one: {report['sha256']}",
        )
    if wrong or different:
        raise typer.Exit(VOID)


def _verdict(report: dict) -> str:
    """What was found of an archive's games and tables."""
    games, replayed = report["games"], report["replayed"]
    if report["damaged"]:
        return f"damaged: {len(report['damaged'])} of its games are wrong, or their store is"
    how = f"{replayed:,} of {games:,} games were replayed by the rules, and are legal"
    how = how if replayed else f"none of its {games:,} games was replayed"
    if report["different"]:
        return f"{how}, but they give other tables by this code: {len(report['different'])} differ"
    return f"{how}; {len(report['tables'])} tables were computed anew from the games, and agree"


def _unproven(report: dict) -> str:
    """What an archive says of itself, in words."""
    first, made = sorted(report["unproven"], key=lambda name: (name.count("/"), name))[:5], report["made_by"]
    more = len(report["unproven"]) - len(first)
    return (
        f"Not proven: {', '.join(first)}{f' and {more} more' if more else ''} are as its own list says, which whoever "
        f"changes them can rewrite; nor who played the games, which it says search-arena {made['project']} did, "
        f"sources {made['source_digest']}."
    )


def _check_determinism(config: Path) -> None:
    """Play a configuration in each setting, and print a line for each; exit code 1 if games differ."""
    from arena.config.loading import load
    from arena.study.determinism import compare

    seats = [seat for condition in load(config).conditions for seat in condition.seats]
    timed = {seat.name for seat in seats if seat.budget.seconds is not None}
    rows: list[dict] = []
    with progress_line() as show:

        def after(row, found):
            if not wants_json():
                same = f", {row['different']} differ" if row["different"] else ", all the same" if rows else ""
                say(f"{row['setting']}: {row['games']} games{same} ({row['seconds']:.1f} s)")
            rows.append(row | {"differences": [asdict(each) for each in found]})
            for each in found:
                why = ". It thinks by the clock, so it repeats nothing" if each.agent in timed else ""
                complain(f"game {each.game}: {each.agent and f'{each.agent}, '}{each.text}{why}")

        same = compare(config, lambda name: show(f"playing {name}"), after)
    if not answered({"config": str(config), "deterministic": same, "settings": rows}):
        say(f"The games are {'a' if same else 'no'} function of the configuration.")
    if not same:
        raise typer.Exit(VOID)


def _replayed(store) -> Iterator | None:
    """Looks at all games, checked by the rules; None if the run has no readable configuration."""
    from arena.games.core.shared.system import cores
    from arena.results.database.store import StoreError
    from arena.study.verifying import looks

    try:
        config = store.meta.get("config")
    except StoreError:
        return None
    return looks(store, config, cores()) if config else None


def _examined(store, looks: Iterable | None) -> tuple:
    """(damage, number of games) of a store whose games are looked at so, or only by their digests."""
    from arena.results.database.integrity import Look, examine, records

    count = 0
    with progress_line() as show:

        def counted() -> Iterator[Look]:
            nonlocal count
            for look in looks or (Look.at(name, record) for name, record in records(store)):
                count += look.record is not None
                if count % 100 == 0:
                    show(f"{count:,} games checked")
                yield look

        return examine(store, counted()), count


def _tell(report: dict) -> None:
    for fault in report["faults"]:
        complain(f"{report['folder']}: {fault}")
    for name, wrong in report["damaged"].items():
        complain(f"game {name} {wrong}")
    how = "are as they were stored" + (", and replayed by the rules" if report["replayed"] else "")
    if report["damaged"] or report["faults"]:
        say(f"{report['folder']} is damaged: {len(report['damaged'])} games are wrong")
    else:
        say(f"{report['folder']} is whole: {report['sound']:,} games {how}")
