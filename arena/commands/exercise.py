"""`arena exercise`: what memory and symmetry save a depth-first search, and what the order of moves does."""

import json
import re
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Json, at_least, games_option, given, positive
from arena.commands.output import print_table, tell
from arena.commands.progress import progress_line

REMARK = """
Ends of the tree that alpha-beta visits. Theory: b^ceil(m/2) + b^floor(m/2) - 1 with the best move first (Knuth & Moore
1975), the expectation in random order (Pearl 1982), and b^m at most with the worst first. The exponent is x in ends =
b^(x m); the rule is what textbooks say of deep trees."""


Games = Annotated[
    list[str] | None,
    games_option(
        "A game; may be repeated. Default: tic-tac-toe and Connect 4 on two small boards; with --orders, tic-tac-toe."
    ),
]
Seconds = Annotated[float, typer.Option(callback=positive, help="Stop a search that takes longer for a game.")]
TableSize = Annotated[float, typer.Option(help="The size of the table in MiB.")]
Orders = Annotated[
    bool, typer.Option("--orders", help="Compare orders of moves instead: the best first, random, the worst first.")
]
Trees = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MOVESxPLIES",
        help="With --orders: random trees of so many moves in each node and so many plies, such as 3x8; may be "
        "repeated. Default: 2x12, 3x8, 4x6 and 8x4, without --game.",
    ),
]
Repeats = Annotated[
    int, typer.Option(callback=at_least(1, 10_000), help="With --orders: random trees, or random orders of a game.")
]
Seed = Annotated[int, typer.Option(callback=at_least(0), help="With --orders: of what is random.")]


@command(
    Panel.STUDY,
    examples="arena exercise\n"
    "arena exercise --game tictactoe --seconds 10 --json\n"
    "arena exercise --orders\n"
    "arena exercise --orders --tree 3x6 --tree 3x10 --repeats 50",
)
def exercise(
    context: typer.Context,
    game: Games = None,
    seconds: Seconds = 60.0,
    table: TableSize = 64.0,
    orders: Orders = False,
    tree: Trees = None,
    repeats: Repeats = 20,
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Measure what memory, symmetry and the order of moves save.

    Minimax and alpha-beta each play a game against themselves; nodes and processor time are counted.  With --orders,
    alpha-beta searches random trees, beside theory, and small games, and the ends that it visits are counted.
    """
    import pandas as pd

    for name in given(context, ("table",) if orders else ("tree", "repeats", "seed")):
        raise typer.BadParameter(f"--{name} has no meaning {'with' if orders else 'without'} --orders")
    with progress_line("counting" if orders else "compiling") as show:
        if orders:
            rows = _orders(tree, game, repeats, seed, seconds, show)
        else:
            from arena.study.exercise import GAMES, savings

            rows = savings(game or GAMES, seconds, table, show)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    frame = pd.DataFrame(rows)
    if orders and frame["ends"].max() >= 10_000:  # which a table would round to four digits
        for column in ("ends", "error", "theory"):
            frame[column] = frame[column].astype(float).round().astype("Int64")
    print_table(frame, as_json=False)
    if orders:
        tell("\n" + " ".join(REMARK.split()))


def _orders(tree, game, repeats: int, seed: int, seconds: float, show) -> list[dict]:
    """The rows of orders: of the trees and games that are named, or of some of both."""
    from arena.study.orders import GAMES, TREES, Limit, check_tree, orders

    trees = [_read_tree(text) for text in tree or ()]
    if not tree and not game:
        trees = list(TREES)
    for branching, depth in trees:
        try:
            check_tree(branching, depth)
        except ValueError as error:
            raise typer.BadParameter(f"--tree {error}") from None
    return orders(trees, game or (() if tree else GAMES), repeats, seed, Limit(seconds, show))


def _read_tree(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,6})x(\d{1,6})", text)
    if not found:
        raise typer.BadParameter(f"--tree {text}: say moves and plies, such as 3x8")
    return int(found[1]), int(found[2])
