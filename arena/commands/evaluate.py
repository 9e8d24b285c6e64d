"""`arena evaluate`: a position by a game's evaluation functions."""

import json
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Game, Json, Moves, line_of
from arena.commands.output import print_table, say


@command(
    Panel.STUDY,
    examples="arena evaluate othello --moves 'd3 c3'\n"
    "arena evaluate \"chess(fen='r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1')\"",
)
def evaluate(
    game: Game,
    moves: Moves = "",
    only: Annotated[
        str, typer.Option(help="One evaluation by name, or file:PATH for a learned one. Default: all.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Evaluate a position by a game's evaluation functions.

    Values are estimates of the first player's result, from -1 to 1.  An evaluation that adds up counts shows each count
    for both players, with its weight.
    """
    import os
    import sys

    if "numba" not in sys.modules:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # plain Python evaluates one position sooner than Numba compiles
    from arena import games

    made = games.make(game)
    state = line_of(made, moves)[1]
    if made.is_over(state):
        raise typer.BadParameter(f"the game is over here, with score {float(made.score(state)):g}")
    if only and only not in made.evaluations() and not only.startswith("file:"):
        raise typer.BadParameter(f"--only {only}: {made} has {', '.join(made.evaluations()) or 'no other evaluation'}")
    names = [only] if only else list(dict.fromkeys([made.evaluation, *made.evaluations()]))
    found = [_evaluated(made.with_evaluation(name), state) for name in names]
    if as_json:
        typer.echo(json.dumps({"game": str(made), "evaluations": found}, indent=1))
        return
    say(made.render(state))
    for one in found:
        _tell(one)


def _evaluated(game, state) -> dict:
    """An evaluation's name, value and terms, and the sum of the terms."""
    terms = [
        {"term": name, "first": float(first), "second": float(second), "weight": weight}
        for name, first, second, weight in game.terms(state)
    ]
    total = sum(term["weight"] * (term["first"] - term["second"]) for term in terms)
    name = game.evaluation or "default"
    return {"evaluation": name, "value": float(game.evaluate(state)), "terms": terms, "sum": total if terms else None}


def _tell(found: dict) -> None:
    say(f"\n{found['evaluation']}: {found['value']:.4f}")
    if found["terms"]:
        import pandas as pd

        frame = pd.DataFrame(found["terms"])
        frame["points"] = frame["weight"] * (frame["first"] - frame["second"]) + 0.0  # never -0
        frame.attrs["kind"] = "terms"
        print_table(frame, as_json=False)
        say(f"sum of points: {found['sum']:.4g}")
