"""`arena plan`: a plan that reaches the goal whatever the world does."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_game
from arena.commands.options import Force, Moves, at_least, line_of, output_option
from arena.commands.output import answered, check_free, say, tell, write_whole
from arena.commands.progress import progress_line

NONE = 1  # the exit code without a plan
DRAWN = 1000  # nodes

ProblemName = Annotated[
    str, typer.Argument(help="The problem vacuum, or a game to win.", metavar="PROBLEM", autocompletion=complete_game)
]
Above = Annotated[float, typer.Option(help="In a game, the goal is a score above this one, for the player to move.")]
Nodes = Annotated[int, typer.Option(callback=at_least(1, 10_000_000), help="Stop after N nodes.", metavar="N")]
Drawing = Annotated[Path | None, output_option("An SVG file to draw the search to.", ".svg")]


@command(
    Panel.STUDY,
    examples="arena plan vacuum\narena plan vacuum --output vacuum.svg\narena plan tictactoe --moves '1a 1b'",
    as_json=True,
)
def plan(
    problem: ProblemName,
    moves: Moves = "",
    above: Above = 0.0,
    nodes: Nodes = 200_000,
    output: Drawing = None,
    force: Force = False,
) -> None:
    """Find a plan that works whatever the world does: AND-OR search.

    At an OR node the agent needs one action that works; at an AND node every outcome has to.  In a game, the agent is
    the player to move, and the world is the other player and chance.  A problem of your own is named by --plugin.  The
    exit code is 1 if there is no plan, or none without loops.
    """
    check_free(output, force)
    if "numba" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # rules in plain Python are called one by one
    from arena.agents.minimax.andor import Search
    from arena.agents.minimax.trace import TooLarge

    made, what = _made(problem, moves, above)
    with progress_line("searching"):
        search = Search(made, nodes)
        try:
            found, root = search.run()
        except TooLarge as error:
            raise TooLarge(f"{error}; --nodes sets the limit of nodes") from None
    data = {"problem": what, "plan": found and found.data(), "found": found is not None, "nodes": search.visits}
    if not answered(data | {"depth": found and found.depth()}):
        say(str(found) if found else "There is no plan without loops: some outcome always keeps the goal away.")
        tell(f"\n{f'at most {found.depth():,} actions; ' if found else ''}{search.visits:,} nodes visited")
    if output:
        _draw(output, root, search.visits, what, force)
    if found is None:
        raise typer.Exit(NONE)


def _made(spec: str, moves: str, above: float):
    """The problem, and its name."""
    from arena import games
    from arena.games.core.interface.problem import registry
    from arena.games.core.shared.registry import SpecError, parse_spec
    from arena.games.problems.winning import Winning

    name = parse_spec(spec)[0]
    if registry.named(name):
        if moves or above:
            raise typer.BadParameter(f"--moves and --above are for games: {name} is a problem of its own")
        return registry.make(spec), spec
    try:
        game = games.make(spec)
    except SpecError as error:
        raise SpecError(f"{error}; problems: {', '.join(registry.classes())}") from None
    line, state = line_of(game, moves)
    if game.is_over(state):
        raise typer.BadParameter(f"the game is over after {moves!r}: there is nothing to plan")
    return Winning(game, state, above), str(game) + (f" after {len(line)} plies" if line else "")


def _draw(output: Path, root, nodes: int, what: str, force: bool) -> None:
    from arena.agents.core.tree_drawing import as_svg

    if nodes > DRAWN:
        raise typer.BadParameter(f"--output: {nodes:,} nodes cannot be drawn; {DRAWN:,} can")
    write_whole(output, as_svg(root, f"AND-OR search: {what}").encode(), force)
    tell(f"drawn in {output}")
