"""`arena perft`: how many sequences of moves, games and positions a game has."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Game, Moves, line_of
from arena.commands.output import answered, print_table, say
from arena.commands.progress import progress_line

HEADINGS = {
    "games": "games over",
    "classes": "positions*",
    "sequences_of_classes": "sequences*",
    "games_of_classes": "games*",
}


@command(
    Panel.STUDY,
    examples="arena perft chess --depth 4\n"
    "arena perft tictactoe --depth 9 --positions\n"
    "arena perft chess --moves e4 --depth 3 --divide",
    as_json=True,
)
def perft(
    game: Game,
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, max=1000, help="Plies to count.")] = 4,
    moves: Moves = "",
    positions: Annotated[bool, typer.Option("--positions", help="Count different positions, too.")] = False,
    divide: Annotated[bool, typer.Option("--divide", help="Count the sequences that begin with each move.")] = False,
) -> None:
    """Count the sequences of moves of a game, ply by ply.

    Such counts, called perft, are compared between programs to find faults of rules.  With
    --positions, different positions are counted, and all again up to symmetry.
    """
    from arena import games

    made = games.make(game)
    state = line_of(made, moves)[1]
    if divide:
        _divide(made, state, depth)
        return
    from arena.study.counting import levels

    with progress_line("counting sequences") as show:
        found, seconds = levels(made, state, depth, positions, lambda what: show(f"counting {what}"))
    nodes = sum(level.sequences for level in found)
    rows = [level._asdict() for level in found]
    if answered({"game": str(made), "seconds": seconds, "nodes": nodes, "levels": rows}):
        return
    _print(found)
    if found[0].classes is not None:
        say("* up to symmetry")
    say(_in_all(found, nodes, seconds))


def _print(found) -> None:
    import pandas as pd

    frame = pd.DataFrame(found).dropna(axis="columns").astype(int)
    if not frame["games"].any():
        frame = frame.drop(columns=["games", "games_of_classes"], errors="ignore")
    print_table(frame.rename(columns=HEADINGS), kind="perft")


def _in_all(found, nodes: int, seconds: float) -> str:
    several = found[0].classes is not None
    parts = [f"{nodes:,} nodes in {seconds:.2g} s, {nodes / max(seconds, 1e-9):,.3g} a second"]
    if over := sum(level.games for level in found):
        parts.append(f"{over:,} games" + (f", {_sum(found, 'games_of_classes')} up to symmetry" if several else ""))
    if found[0].positions is not None:
        some = f", {_sum(found, 'classes')} up to symmetry" if several else ""
        parts.append(f"{_sum(found, 'positions')} positions, counted at each depth{some}")
    return "In all: " + "; ".join(parts)


def _sum(found, name: str) -> str:
    return f"{sum(getattr(level, name) for level in found):,}"


def _divide(game, state, depth: int) -> None:
    """Print the number of sequences behind each move, as other programs do to find where theirs differs."""
    from arena.games.core.play.playout import perft as count

    if depth < 1:
        raise typer.BadParameter("--divide needs a --depth of 1 or more")
    with progress_line("counting sequences"):
        rows = {
            game.move_name(state, move): count(game, depth - 1, game.after(state, move)) for move in game.moves(state)
        }
    if answered({"game": str(game), "depth": depth, "moves": rows, "sum": sum(rows.values())}):
        return
    for name, sequences in rows.items():
        say(f"{name}: {sequences:,}")
    say(f"{len(rows)} moves, {sum(rows.values()):,} sequences of {depth} plies")
