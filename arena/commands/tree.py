"""`arena tree`: the tree that a depth-first search explores."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.output import tell, write_whole

ALONE = {"table": 0.0, "order": (), "scout": False, "sound": False, "scores": True}


@command(
    examples="arena tree tree\n"
    "arena tree \"tree(nodes='[[3, 12, 8], [2, 4, 6], [2, 5, 14]]')\" --svg tree.svg\n"
    "arena tree tictactoe --moves '1a 2b 3c 3a' --depth 3 --agent minimax"
)
def tree(
    game: Annotated[str, typer.Argument(help="A game such as tictactoe.", metavar="GAME")],
    depth: Annotated[int | None, typer.Option(min=1, help="Plies to search; to the end, when left out.")] = None,
    agent: Annotated[str, typer.Option(help='alphabeta or minimax, or say "alphabeta(scout=true)".')] = "alphabeta",
    moves: Annotated[str, typer.Option(help="The moves before the root, parted by blanks.")] = "",
    svg: Annotated[Path | None, typer.Option(help="A file to draw the tree to, besides.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most nodes that are shown.")] = 1000,
) -> None:
    """Print the tree that a search explores: values, windows (alpha, beta), and the branches that it cuts off.

    Values are MAX's, the first player's.  Aids that the agent's options do not name are off here, moves come in the
    game's order, and ends are worth their scores; so `alphabeta` is the algorithm alone.
    """
    if "numba" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # plain Python is done with so few nodes before a compiler is
    import games
    from agents.minimax.trace import explore
    from arena.study.tree_drawing import as_svg, as_text

    made = games.make(game)
    searcher = _alone(agent, depth)
    try:
        state = made.read_line(moves)[1]
    except games.IllegalMove as error:
        raise typer.BadParameter(f"--moves: {error}") from None
    root = explore(searcher, made, state, limit)
    for line in as_text(root):
        typer.echo(line)
    tell(f"\n{root.nodes} nodes; {_cut_off(root)} moves cut off")
    if svg:
        write_whole(svg, as_svg(root, f"{searcher.name} on {made}").encode())
        tell(f"drawn in {svg}")


def _alone(spec: str, depth: int | None):
    """The agent of a spec, with the aids off that it does not name."""
    import dataclasses

    import agents
    from games.core.registry import parse_spec

    made, given = agents.make(spec), parse_spec(spec)[2]
    known = {field.name for field in dataclasses.fields(made)}
    off = {name: value for name, value in ALONE.items() if name in known and name not in given}
    if depth is not None and "depth" in known:
        off["depth"] = depth
    return dataclasses.replace(made, **off)


def _cut_off(node) -> int:
    return len(node.pruned) + sum(_cut_off(child) for child in node.children)
