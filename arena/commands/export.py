"""`arena export`: records of games for other programs."""

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force, Output, Trust, trust_run
from arena.commands.output import check_free, tell, write_text
from arena.commands.progress import progress_line
from arena.games.core.shared.files import read_plain

Record = StrEnum("Record", ["jsonl", "pgn", "sgf"])


@command(
    Panel.READ,
    examples="arena export runs/first --output games.jsonl\n"
    "arena export runs/first --format pgn\narena export runs/go --format sgf --output games.sgf\n",
)
def export(
    folder: Folder,
    format: Annotated[
        Record,
        typer.Option(
            "--format", "-f", help="jsonl holds everything, pgn and sgf the moves. SGF has go, hex, othello and others."
        ),
    ] = Record.jsonl,
    output: Output = None,
    force: Force = False,
    trust: Trust = False,
) -> None:
    """Write the records of a run's games for other programs."""
    check_free(output, force)
    trust_run(folder, trust)
    from arena.results.database.store import Store
    from arena.results.files.exchange import to_jsonl
    from arena.results.shown.tables import notes_on_versions

    with Store.open(folder) as store:
        config = store.meta.get("config", {})
        if format is not Record.jsonl and config.get("format") == "single_player":
            raise typer.BadParameter(f"--format {format} is for games of two players; jsonl holds those for one, too")
        with progress_line("writing records"):
            if format is Record.jsonl:
                played = _games(store)
                text = "".join(to_jsonl(record, played.get(record.condition, "")) for record in store.records())
            elif format is Record.pgn:
                text = "".join(_pgn(store, config, folder))
            else:
                text = _sgf(store)
        notes = notes_on_versions(store.meta.get("versions", []))
    write_text(text, output, force)
    tell(*notes)


def _games(store) -> dict[int, str]:
    """The game of each condition, as `arena import` takes it: none where two conditions differ by their budgets."""
    from arena.results.database.conditions import conditions_of

    config = store.meta.get("config")
    specs = [each.spec for each in conditions_of(config)] if config else store.meta.get("imported", {}).get("games", [])
    return dict(enumerate(specs)) if len(set(specs)) == len(specs) else {}


def _pgn(store, config: dict, folder: Path) -> Iterator[str]:
    """The games in PGN, dated by the first line of the run's log."""
    from arena.results.database.conditions import conditions_of
    from arena.results.files.pgn import to_pgn

    if not config:
        yield from (to_pgn(record, "?") for record in store.records())
        return
    conditions, specs = conditions_of(config), {entry["name"]: entry["agent"] for entry in config["agents"]}
    date, tags = _begun(folder), [_pgn_tags(config, i) for i in range(len(conditions))]
    for record in store.records():
        condition = conditions[record.condition]
        controls = _time_control(record, 0, specs, condition), _time_control(record, 1, specs, condition)
        yield to_pgn(record, condition.spec, date, controls, tags[record.condition])


def _time_control(record, side: int, specs: dict[str, str], condition) -> str:
    """The time control of a side: the run's, without its clock if the agent uses none."""
    from arena.results.files.pgn import time_control

    own = [decision.clock for decision in record.decisions if decision.side == side]
    without = own and all(clock is None for clock in own)
    limits = {kind: limit for kind, limit in condition.limits.items() if kind != "clock" or not without}
    return time_control(specs[(record.first, record.second)[side]], limits)


def _begun(folder: Path) -> str | None:
    try:
        found = re.match(rb"\d{4}-\d\d-\d\d", read_plain(folder / "log.txt"))
    except OSError:
        return None
    return found[0].decode() if found else None


def _pgn_tags(config, condition: int) -> dict[str, str]:
    """The PGN tags of a condition's game; none if the game's code is not installed."""
    from arena.config.config import game_of
    from arena.config.trust import TrustError
    from arena.games.core.shared.errors import UserError

    try:
        return game_of(config, condition).pgn_tags()
    except TrustError:
        raise
    except UserError:
        return {}


def _sgf(store) -> str:
    """The games in SGF, for which their rules are needed."""
    from arena.config.config import games_played
    from arena.results.files.sgf import to_sgf

    games = games_played(store.meta)
    try:
        return "".join(to_sgf(games[record.condition], record) for record in store.records())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
