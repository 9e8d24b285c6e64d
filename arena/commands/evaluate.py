"""`arena evaluate`: a position by a game's evaluation functions."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Game, Moves, line_of
from arena.commands.output import answered, print_table, say

PART = 1 << 20  # playouts


@command(
    Panel.STUDY,
    examples="arena evaluate othello --moves 'd3 c3'\n"
    "arena evaluate \"chess(fen='r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1')\"\n"
    "arena evaluate chess --only 'queens=9, mobility=0.5'\n"
    "arena evaluate tictactoe --playouts 1000000",
    as_json=True,
)
def evaluate(
    game: Game,
    moves: Moves = "",
    only: Annotated[
        str,
        typer.Option(
            help="One evaluation by name, file:PATH for a learned one, or your own weights of terms. Default: all."
        ),
    ] = "",
    playouts: Annotated[
        int, typer.Option(min=0, max=10**12, help="Random playouts to evaluate it by, too; their mean and error.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="The seed of the playouts.")] = 0,
) -> None:
    """Evaluate a position by evaluation functions or playouts.

    Values are estimates of the first player's result, from -1 to 1.  An evaluation that adds up counts shows each count
    for both players, with its weight.  With --playouts, a line for each power of ten shows how the error of the mean
    falls with the square root of their number.
    """
    import os
    import sys

    if "numba" not in sys.modules and not playouts:
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # plain Python evaluates one position sooner than Numba compiles
    from arena import games

    made = games.make(game)
    state = line_of(made, moves)[1]
    if made.is_over(state):
        raise typer.BadParameter(f"the game is over here, with score {float(made.score(state)):g}")
    if playouts and made.players == 1:
        raise typer.BadParameter(f"--playouts: {made} is for one player, and playouts count who wins")
    if only and "=" not in only and only not in made.evaluations() and not only.startswith("file:"):
        known = f"--only {only}: {made} has {', '.join(made.evaluations()) or 'no other evaluation'}"
        raise typer.BadParameter(
            known + (f"; a term has a weight: --only '{only}=1'" if only in made.term_weights else "")
        )
    names = [only] if only else list(dict.fromkeys([made.evaluation, *made.evaluations()]))
    found = [_evaluated(made.with_evaluation(name), state) for name in names]
    means = _means(made, state, playouts, seed) if playouts else []
    if answered({"game": str(made), "evaluations": found, "playouts": means}):
        return
    say(made.render(state))
    for one in found:
        _tell(one)
    if means:
        say("")
        forms = {"mean": "{:+.4f}", "error": "± {:.4f}", "deviation": "{:.4f}"}
        rows = [row | {name: form.format(row[name]) for name, form in forms.items()} for row in means]
        print_table(rows, "Random playouts: the mean of their results, with its 95 % error", "playouts")


def _means(game, state, most: int, seed: int) -> list[dict]:
    """playouts, mean of the first player's results, error (95 %) and deviation of the first 10, 100, ... playouts."""
    import math

    from arena.commands.progress import progress_line
    from arena.games.core.playout import playout_kernel
    from arena.games.core.random import stream
    from arena.results.statistics.elo import Z

    rng, rows, wins, losses, done = stream(seed), [], 0, 0, 0
    with progress_line("playing out") as show:
        while done < most:
            until = min(most, 10 ** (1 + int(math.log10(max(1, done)) + 1e-9)))
            while done < until:  # in parts, so that Ctrl-C is heard
                count = min(until - done, PART)
                won, drawn, *_ = playout_kernel(game, state, count, rng)
                wins, losses, done = wins + won, losses + count - won - drawn, done + count
                show(f"{done:,} playouts")
            mean = (wins - losses) / done
            deviation = math.sqrt(max(0.0, (wins + losses) / done - mean**2))
            row = {"playouts": done, "mean": mean, "error": Z * deviation / math.sqrt(done), "deviation": deviation}
            rows.append(row)
    return rows


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
        points = (one["weight"] * (one["first"] - one["second"]) + 0.0 for one in found["terms"])  # never -0
        print_table([one | {"points": each} for one, each in zip(found["terms"], points)], kind="terms")
        say(f"sum of points: {found['sum']:.4g}")
