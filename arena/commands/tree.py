"""`arena tree`: the tree that a search explores, as text, as a picture and as JSON."""

import dataclasses
import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_agent
from arena.commands.options import Force, Game, Moves, at_least, line_of, output_option
from arena.commands.output import answered, check_free, say, tell, write_whole
from arena.commands.progress import progress_line

# parameters that leave the algorithm without its aids
BARE = {"table": 0.0, "order": (), "scout": False, "sound": False, "scores": True, "mobility": False, "graph": False}
PLAIN = ("alphabeta", "minimax", "expectiminimax", "expectimax", "ubfm", "uct", "pns", "pn2")
QUICK = 1000  # iterations that take plain Python less time than compiling
MOST_STEPS, MOST_NODES = 100, 20_000
LONGEST = 40  # letters of a game's spec in a title


class Goal(StrEnum):
    """What a proof-number search tries to prove."""

    WIN = "win"
    DRAW = "draw"


Depth = Annotated[int | None, typer.Option(callback=at_least(1), help="Plies to search. Default: to the end.")]
Searcher = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        help="alphabeta, minimax, expectiminimax, expectimax, ubfm, uct, grave, ppa, mast, pns or pn2, with "
        'options: "alphabeta(scout=true)".',
        autocompletion=complete_agent,
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        "-n",
        callback=at_least(1, 1_000_000),
        help="Stop after N positions of a depth-first search, expansions of ubfm, pns and pn2, or playouts of "
        "uct. Default: at the end, or while the tree is small.",
    ),
]
Each = Annotated[bool, typer.Option("--each", help="Show the tree after each iteration, not just the last.")]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="LEAST GREATEST", help="The game's least and greatest value; a node with the best one ends."),
]
ToProve = Annotated[
    Goal | None, typer.Option(help="What pns and pn2 try to prove for the player to move. Default: win.")
]
Seed = Annotated[int | None, typer.Option(callback=at_least(0), help="The seed of uct and ubfm. Default: 1.")]
Drawing = Annotated[Path | None, output_option("An SVG file to draw the tree to.", ".svg")]
Limit = Annotated[
    int | None,
    typer.Option(
        callback=at_least(1, MOST_NODES), help="The most nodes shown. Default: 1000; of uct, the 30 most visited."
    ),
]


@command(
    Panel.STUDY,
    examples="arena tree tree\n"
    "arena tree \"tree(nodes='[[3, 12, 8], [2, 4, 6], [2, 5, 14]]')\" --output tree.svg\n"
    "arena tree tictactoe --moves '1a 2b 3c 3a' --depth 3 --agent minimax\n"
    "arena tree tictactoe --moves '1a 2a 1b' --agent pns --iterations 5 --each\n"
    "arena tree tictactoe --agent uct --iterations 500\n"
    "arena tree coin --agent expectiminimax --bounds -2 2",
    as_json=True,
)
def tree(
    game: Game,
    *,
    agent: Searcher = "alphabeta",
    moves: Moves = "",
    depth: Depth = None,
    iterations: Iterations = None,
    bounds: Bounds = None,
    goal: ToProve = None,
    seed: Seed = None,
    limit: Limit = None,
    each: Each = False,
    output: Drawing = None,
    force: Force = False,
) -> None:
    """Print the tree that a search explores.

    Depth-first searches show each node's value, its window (alpha, beta), and the moves cut off; chance shows the mean.
    Proof-number searches show proof and disproof numbers, the frontier and the most-proving node.  Best-first minimax
    and UCT show values and visits.  Values are those of MAX, the first player.  The algorithms are bare: aids that the
    agent does not name are off, moves are tried in the game's order, and finished games are worth their scores.
    """
    check_free(output, force)
    _check(bounds, each, iterations)
    _plain_if_quick(agent, iterations)
    from arena import games
    from arena.agents.pictures import View

    made = games.make(game)
    searcher = _bare(agent, depth)
    state = line_of(made, moves)[1]
    view = View(iterations, bounds, None if goal is None else int(goal is Goal.WIN), seed, limit)
    shown = _searched(searcher, made, state, view, range(1, (iterations or 0) + 1) if each else (iterations,))
    head = {"game": str(made), "agent": str(searcher), "moves": moves}
    if not answered(head | _data(shown, each)):
        print_trees(_captions(shown, each), shown)
    if output:
        _draw(output, searcher, made, _captions(shown, each), shown, force)


def _plain_if_quick(agent: str, iterations: int | None) -> None:
    """Search few nodes in plain Python, which beats compiling; Numba must not have been imported yet."""
    if "numba" not in sys.modules and agent.partition("(")[0].strip() in PLAIN and (iterations or 0) <= QUICK:
        os.environ["NUMBA_DISABLE_JIT"] = "1"


def _captions(shown: list[Any], each: bool) -> list[str]:
    """The caption of each tree: its number of iterations, if there are several trees."""
    from arena.agents.core.tree_node import counted

    return [f"After {counted(one.iterations, 'iteration')}" if each else "" for one in shown]


def _check(bounds: tuple[float, float] | None, each: bool, iterations: int | None) -> None:
    """BadParameter for options that do not go together."""
    if bounds is not None and not bounds[0] < bounds[1]:
        raise typer.BadParameter(f"--bounds: {bounds[0]:g} is not less than {bounds[1]:g}")
    if each and not iterations:
        raise typer.BadParameter("--each: say how many, by --iterations")
    if each and iterations and iterations > MOST_STEPS:
        raise typer.BadParameter(f"--each: {iterations} trees are too many to be shown; {MOST_STEPS} are not")


def _searched(searcher, game, state, view, steps: Iterable[int | None]) -> list[Any]:
    """The trees after these numbers of iterations, up to the end of the search."""
    from arena.agents.pictures import Shown, show

    shown = list[Shown]()
    with progress_line("searching") as report:
        for step in steps:
            report(f"searching, iteration {step}" if step else "searching")
            found = show(searcher, game, state, dataclasses.replace(view, iterations=step))
            if shown and found.iterations == shown[-1].iterations:
                break
            shown.append(found)
    return shown


def _draw(output: Path, searcher, game, captions: list[str], shown: list[Any], force: bool) -> None:
    from arena.agents.core.tree_drawing import as_strip
    from arena.games.core.shared.registry import spell

    spelled = spell(game, every=False)
    title = f"{searcher.name} on {spelled if len(spelled) <= LONGEST else game.name}"
    frames = [(caption, one.root) for caption, one in zip(captions, shown)]
    write_whole(output, as_strip(frames, title).encode(), force)
    tell(f"drawn in {output}")


def print_trees(captions: list[str], shown: list[Any]) -> None:
    """Print trees as text, and the remark on the last one."""
    from arena.agents.core.tree_node import as_text

    for caption, one in zip(captions, shown):
        say(*([f"{caption}:"] if caption else []), *as_text(one.root), *([""] if caption else []))
    tell(("" if captions[-1] else "\n") + shown[-1].remark)


def _data(shown: list[Any], each: bool) -> dict:
    """The tree, or with `each` all steps, as plain values."""
    from arena.agents.core.tree_node import as_data

    found = [
        {"iterations": one.iterations, "remark": one.remark, "nodes": one.root.nodes, "root": as_data(one.root)}
        for one in shown
    ]
    return {"steps": found} if each else found[0]


def _bare(spec: str, depth: int | None):
    """The agent of a spec, without the aids that the spec does not name."""
    from arena import agents
    from arena.games.core.shared.registry import parse_spec

    agent, given = agents.make(spec), parse_spec(spec)[2]
    known = {field.name for field in dataclasses.fields(agent)}
    off = {name: value for name, value in BARE.items() if name in known and name not in given}
    if depth is not None and "depth" not in known:
        raise typer.BadParameter(f"--depth: {agent.name} has none; say --iterations")
    if depth is not None:
        off["depth"] = depth
    return dataclasses.replace(agent, **off)
