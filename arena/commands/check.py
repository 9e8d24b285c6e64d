"""`arena check`: whether a stored run, or an archive of one, is intact."""

import tempfile
import zipfile
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
    plies.  The exit code is 1 if anything is wrong.  Of an archive that arena study archive has written, files are
    compared with their digests, and its tables with those that its games give today.

    With --deterministic, a tournament is played with 1, 2 and 5 workers, by each way to start processes, interrupted
    and resumed, with no compiled code at hand, compiled for another processor, and on a local cluster. The agent that
    decides otherwise, and the game, are named, and the exit code is 1.
    """
    if deterministic:
        if no_replay or mend or trust:
            raise typer.BadParameter("--deterministic goes with --json alone")
        return _check_determinism(folder)
    if zipfile.is_zipfile(folder):
        if mend:
            raise typer.BadParameter(f"--mend: {folder} is an archive, which stays as it was published")
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
    """Unpack an archive, and check its files, its games, and whether these give its tables."""
    from arena.report import archive
    from arena.results.database.store import Store

    with tempfile.TemporaryDirectory(prefix="arena-") as scratch:
        place = Path(scratch)
        names = archive.unpack(file, place)
        games, wrong = 0, []
        for run in archive.runs_in(place):
            trust_run(run, trust)
            with Store.open(run) as store:
                damage, count = _examined(store, _replayed(store) if replay else None)
            games += count
            wrong += [*damage.faults, *(f"game {name} {why}" for name, why in damage.games.items())]
        with progress_line() as show:
            different = [] if wrong else archive.different_tables(place, names, show)
        made = archive.made_by(place)
    report = {"archive": str(file), "files": len(names), "games": games, "damaged": wrong, "different": different}
    if not answered(report | {"made_by": made}):
        for text in (*wrong, *different):
            complain(f"{file}: {text}")
        by = f"made by search-arena {made['project']}, sources {made['source_digest']}"
        say(f"{file} ({by}): {_verdict(len(names), games, replay, wrong, different)}")
    if wrong or different:
        raise typer.Exit(VOID)


def _verdict(files: int, games: int, replay: bool, wrong: list[str], different: list[str]) -> str:
    if wrong:
        return f"damaged: {len(wrong)} of its games are wrong, or their store is"
    if different:
        return f"its {games:,} games are sound, but give other tables by this code: {len(different)} differ"
    how = ", replayed by the rules," if replay else ""
    return f"whole: {files} files and {games:,} games{how} are as they were published, and give the same tables today"


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
    from arena.results.database.store import StoreError
    from arena.study.verifying import looks
    from arena.workers.machine import cores

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
