"""`arena study`: studies of searches, each by one command."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.application import Panel, command, group
from arena.commands.options import (
    Json,
    ResumeAlone,
    RunFolder,
    Specialize,
    agents_option,
    check_resumed,
    free_folder,
    games_option,
)
from arena.commands.output import print_table, tell, write_picture, write_whole
from arena.commands.progress import progress_line

SUFFIXES = {"csv": "csv", "latex": "tex"}

studies = group("study", Panel.STUDY, "Compare searches of one kind on many positions.")


Games = Annotated[list[str] | None, games_option("A game; may be repeated. Default: eight games on small boards.")]
Searches = Annotated[
    list[str] | None,
    agents_option("A search without a budget; may be repeated. Default: all serial ones, with variants."),
]
Memory = Annotated[
    str | None, typer.Option(help="Comma-separated sizes, in MiB, of a search's table or trees. Default: 0.125,1,16.")
]
Positions = Annotated[int | None, typer.Option("--positions", "-n", help="Positions of each game. Default: 5.")]
Nodes = Annotated[int | None, typer.Option(help="Nodes that a search has for a position. Default: 1000000.")]
Part = Annotated[
    str | None,
    typer.Option(
        help="Which part of random games the positions come from: two shares of the length. Default: 0.1,0.5."
    ),
]
Seed = Annotated[int | None, typer.Option(help="The seed of the random games. Default: 0.")]


@command(
    group=studies,
    examples="arena study proof --out runs/proof\n"
    "arena study proof --positions 50 --nodes 10000000 --memory 1,16,256 --out runs/long\n"
    'arena study proof --game connect4 --agent pds --agent "dfpn(weak=true)" --part 0.4,0.7\n'
    "arena study proof --out runs/long --resume",
)
def proof(
    context: typer.Context,
    game: Games = None,
    agent: Searches = None,
    memory: Memory = None,
    positions: Positions = None,
    nodes: Nodes = None,
    part: Part = None,
    seed: Seed = None,
    out: RunFolder = None,
    resume: ResumeAlone = False,
    specialize: Specialize = None,
    as_json: Json = False,
) -> None:
    """Compare proof-number searches, with several sizes of memory.

    Every search gets the same positions of several games, and as many nodes for each.  Results are stored line by line;
    --resume continues a study that was stopped.  Tables and figures (solved.csv, solved.tex, games.csv, games.tex,
    solved.svg, solved.png) are written beside them: how many positions were solved, in how many nodes and processor
    seconds, with how much memory.
    """
    check_resumed(context, out, resume)
    from arena.study.proving import ProofStudy, run
    from results.proving import by_game, figure, table

    values = {
        "games": tuple(game) if game else None,
        "searches": tuple(agent) if agent else None,
        "memory": None if memory is None else _numbers(memory, "--memory"),
        "positions": positions,
        "nodes": nodes,
        "part": None if part is None else _two(_numbers(part, "--part")),
        "seed": seed,
    }
    given: dict[str, Any] = {key: value for key, value in values.items() if value is not None}
    study = None if resume else ProofStudy(**given)
    out = out or free_folder("proof")
    with progress_line() as show:
        rows = run(study, out, resume, show)
    tables = {"solved": table(rows), "games": by_game(rows)}
    write_files(out, tables, "solved", figure(rows))
    if as_json:
        print_json(tables)
        return
    print_table(tables["solved"], False, "Solved; nodes and seconds over the positions that all searches solved")
    print_table(tables["games"], False, "Solved, by game")
    tell(f"\nThe study is stored in {out}, the figure in {out / 'solved.svg'}")


def _numbers(text: str, option: str) -> tuple[float, ...]:
    """`1,16` -> (1.0, 16.0)."""
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{option} {text!r} is not a list of numbers such as 0.1,0.5") from None


def _two(numbers: tuple[float, ...]) -> tuple[float, float]:
    """Two numbers."""
    if len(numbers) != 2:
        raise typer.BadParameter(f"--part has {len(numbers)} numbers; it takes two, such as 0.1,0.5")
    return numbers[0], numbers[1]


def write_files(out: Path, tables: dict, name: str, figure, formats: Iterable[str] = ("csv", "latex")) -> None:
    """Write tables, by name, and a figure into a study's folder."""
    for table, frame in tables.items():
        for format in formats:
            write_whole(out / f"{table}.{SUFFIXES[format]}", rendered(frame, format).encode(), force=True)
    for format in ("svg", "png"):
        write_picture(out / f"{name}.{format}", figure, force=True)


def print_json(tables: dict) -> None:
    """Print an object of tables."""
    typer.echo(json.dumps({name: json.loads(rendered(frame, "json")) for name, frame in tables.items()}, indent=1))


def rendered(frame, format: str) -> str:
    """A table in one of the formats that are text."""
    from results.export import render

    return str(render(frame, format))
