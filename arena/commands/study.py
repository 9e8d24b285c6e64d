"""`arena study`: studies of searches, one command each."""

from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands import options
from arena.commands.application import Panel, command, group
from arena.commands.output import answered, as_picture, print_table, records_of, tell
from arena.commands.progress import progress_line

TITLES = {"solved": "Solved; nodes and seconds over the positions that all searches solved", "games": "Solved, by game"}
SUFFIXES = {"csv": "csv", "latex": "tex"}

studies = group("study", Panel.STUDY, "Compare searches of one kind, and archive what was found.")


Games = Annotated[
    list[str] | None, options.games_option("A game; may be repeated. Default: eight games on small boards.")
]
Searches = Annotated[
    list[str] | None,
    options.agents_option("A search without a budget; may be repeated. Default: all serial ones, with variants."),
]
Memory = Annotated[
    str | None, typer.Option(help="Comma-separated sizes, in MiB, of a search's table or trees. Default: 0.125,1,16.")
]
Positions = Annotated[int | None, typer.Option("--positions", "-n", help="Positions of each game. Default: 5.")]
Nodes = Annotated[int | None, typer.Option(help="Nodes that a search has for a position. Default: 1000000.")]
Part = Annotated[
    str | None,
    typer.Option(
        help="The part of random games that positions come from, as two shares of the length. Default: 0.1,0.5."
    ),
]
Seed = Annotated[int | None, typer.Option(help="The seed of the random games. Default: 0.")]


@command(
    group=studies,
    examples="arena study proof --out runs/proof\n"
    "arena study proof --positions 50 --nodes 10000000 --memory 1,16,256 --out runs/long\n"
    'arena study proof --game connect4 --agent pds --agent "dfpn(weak=true)" --part 0.4,0.7\n'
    "arena study proof --out runs/long --resume",
    as_json=True,
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
    out: options.RunFolder = None,
    resume: options.ResumeAlone = False,
) -> None:
    """Compare proof-number searches, with several sizes of memory.

    Every search gets the same positions of several games, with the same number of nodes for each.  Results are stored
    line by line; --resume continues a stopped study.  Tables and figures (solved.csv, solved.tex, games.csv, games.tex,
    solved.svg, solved.png) are written beside them: positions solved, nodes, processor seconds, memory.
    """
    options.check_resumed(context, out, resume)
    from arena.results.papers.proof_tables import by_game, figure, table
    from arena.study.proof_study import ProofStudy

    values: dict[str, Any] = {"games": tuple(game or ()), "searches": tuple(agent or ()), "positions": positions}
    values |= {"memory": _numbers(memory, "--memory"), "part": _numbers(part, "--part")}
    values |= {"nodes": nodes, "seed": seed}
    study = None if resume else ProofStudy(**{key: one for key, one in values.items() if one not in (None, ())})
    out = out or options.free_folder("proof")
    with progress_line() as show:
        rows = ProofStudy.run(study, out, resume, show)
    tables = {"solved": table(rows), "games": by_game(rows)}
    publish(out, tables, ("solved", figure(rows)), TITLES)


def _numbers(text: str | None, option: str) -> tuple[float, ...] | None:
    """`1,16` -> (1.0, 16.0); None where the option is not given."""
    try:
        return None if text is None else tuple(float(word) for word in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{option} {text!r} is not a list of numbers such as 0.1,0.5") from None


def publish(out: Path, tables: dict, drawn: tuple[str, Any], titles: dict[str, str]) -> None:
    """Write a study's tables and its named figure; print the tables that have titles."""
    from arena.games.core.shared.files import write_whole

    name, figure = drawn
    for table, frame in tables.items():
        for format in ("csv", "latex"):
            write_whole(out / f"{table}.{SUFFIXES[format]}", rendered(frame, format).encode(), out)
    for format in ("svg", "png"):
        write_whole(out / f"{name}.{format}", as_picture(figure, format), out)
    if answered({name: records_of(frame) for name, frame in tables.items()}):
        return
    for table, title in titles.items():
        print_table(tables[table], title)
    tell(f"\nThe study is stored in {out}, the figure in {out / name}.svg")


def rendered(frame, format: str) -> str:
    """A table in a text format."""
    from arena.results.shown.export import render

    return str(render(frame, format))
