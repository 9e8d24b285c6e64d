"""`arena tree`: the tree that a depth-first search explores."""

import dataclasses
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command, renamed
from arena.commands.options import Force, Game, Moves, at_least
from arena.commands.output import check_free, say, tell, write_whole
from arena.commands.progress import progress_line

BARE = {"table": 0.0, "order": (), "scout": False, "sound": False, "scores": True}  # the algorithm without its aids


@command(
    Panel.STUDY,
    examples="arena tree tree\n"
    "arena tree \"tree(nodes='[[3, 12, 8], [2, 4, 6], [2, 5, 14]]')\" --output tree.svg\n"
    "arena tree tictactoe --moves '1a 2b 3c 3a' --depth 3 --agent minimax",
    modern=renamed({"--svg": "--output"}),
)
def tree(
    game: Game,
    depth: Annotated[
        int | None, typer.Option(callback=at_least(1), help="Plies to search. Default: to the end.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help='alphabeta or minimax, with options: "alphabeta(scout=true)".')
    ] = "alphabeta",
    moves: Moves = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="An SVG file to draw the tree to.")] = None,
    force: Force = False,
    limit: Annotated[int, typer.Option(callback=at_least(1), help="The most nodes that are shown.")] = 1000,
) -> None:
    """Print the tree that a depth-first search explores.

    Each node has its value, its window (alpha, beta), and the moves that were cut off.  Values are those of MAX, the
    first player.  `alphabeta` is the bare algorithm here: the aids that the agent's options do not name are off, moves
    are tried in the game's order, and ends are worth their scores.
    """
    check_free(output, force)
    if "numba" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # so few nodes are searched in plain Python before a compiler is done
    import games
    from agents.core.tree_drawing import as_svg, as_text
    from agents.minimax.trace import explore

    made = games.make(game)
    searcher = _bare(agent, depth)
    try:
        _, state = made.read_line(moves)
    except games.IllegalMove as error:
        raise typer.BadParameter(f"--moves: {error}") from None
    with progress_line("searching"):
        root = explore(searcher, made, state, limit)
    for line in as_text(root):
        say(line)
    tell(f"\n{root.nodes} nodes; {_cut_off(root)} moves cut off")
    if output:
        write_whole(output, as_svg(root, f"{searcher.name} on {made}").encode(), force)
        tell(f"drawn in {output}")


def _bare(spec: str, depth: int | None):
    """The agent of a spec, with the aids off that it does not name."""
    import agents
    from games.core.registry import parse_spec

    agent, given = agents.make(spec), parse_spec(spec)[2]
    known = {field.name for field in dataclasses.fields(agent)}
    off = {name: value for name, value in BARE.items() if name in known and name not in given}
    if depth is not None and "depth" in known:
        off["depth"] = depth
    return dataclasses.replace(agent, **off)


def _cut_off(node) -> int:
    """How many moves were cut off below a node."""
    return len(node.pruned) + sum(_cut_off(child) for child in node.children)
