"""`arena study`: studies of searches, each by one command."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.application import Panel, command, group
from arena.commands.options import Json, RunFolder, Specialize, free_folder, games_option
from arena.commands.output import print_table, tell, write_picture, write_whole
from arena.commands.progress import progress_line

studies = group("study", Panel.STUDY, "Compare searches of one kind on many positions.")


Games = Annotated[list[str] | None, games_option("A game; may be repeated. Default: eight games on small boards.")]
Searches = Annotated[
    list[str] | None,
    typer.Option(
        "--agent", "-a", help="A search without a budget; may be repeated. Default: all serial ones, with variants."
    ),
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
ResumeAlone = Annotated[bool, typer.Option("--resume", help="Continue the study in --out; needs nothing else.")]


@command(
    group=studies,
    examples="arena study proof --out runs/proof\n"
    "arena study proof --positions 50 --nodes 10000000 --memory 1,16,256 --out runs/long\n"
    'arena study proof --game connect4 --agent pds --agent "dfpn(weak=true)" --part 0.4,0.7\n'
    "arena study proof --out runs/long --resume",
)
def proof(
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
    """Compare proof-number searches on positions of several games, with several sizes of memory.

    Every search gets the same positions, and as many nodes for each.  Results are stored line by line; --resume
    continues a study that was stopped.  Tables and figures (solved.csv, solved.tex, games.csv, games.tex, solved.svg,
    solved.png) are written beside them: how many positions were solved, in how many nodes and processor seconds, with
    how much memory.
    """
    from arena.study.proving import ProofStudy, run

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
    if resume and (out is None or given):
        raise typer.BadParameter("--resume continues the study in --out, and needs nothing else")
    study = None if resume else ProofStudy(**given)
    out = out or free_folder("proof")
    with progress_line() as show:
        rows = run(study, out, resume, show)
    _write(rows, out)
    _print(rows, out, as_json)


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


def _write(rows, out: Path) -> None:
    """Write tables and figures beside the rows."""
    from results.export import render
    from results.proof_tables import by_game, figure, table

    for name, frame in (("solved", table(rows)), ("games", by_game(rows))):
        for format, suffix in (("csv", "csv"), ("latex", "tex")):
            text = render(frame, format)
            write_whole(out / f"{name}.{suffix}", text.encode() if isinstance(text, str) else text, force=True)
    drawn = figure(rows)
    for format in ("svg", "png"):
        write_picture(out / f"solved.{format}", drawn, force=True)


def _print(rows, out: Path, as_json: bool) -> None:
    """Print the tables."""
    from results.export import render
    from results.proof_tables import by_game, table

    frames = {"solved": table(rows), "games": by_game(rows)}
    if as_json:
        typer.echo(json.dumps({name: json.loads(str(render(frame, "json"))) for name, frame in frames.items()}))
        return
    print_table(frames["solved"], False, "Solved; nodes and seconds over the positions that all searches solved")
    print_table(frames["games"], False, "Solved, by game")
    tell(f"\nThe study is stored in {out}, the figure in {out / 'solved.svg'}")
