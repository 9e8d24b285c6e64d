"""`arena evaluate`: a position by a game's evaluation functions."""

from typing import Annotated, NamedTuple

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Game, Moves, line_of
from arena.commands.output import answered, print_table, say

PART = 1 << 20  # playouts
FORMS = {"mean": "{:+.4f}", "error": "± {:.4f}", "deviation": "{:.4f}"}


@command(
    Panel.STUDY,
    examples="arena evaluate othello --moves 'd3 c3'\n"
    "arena evaluate \"chess(fen='r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1')\"\n"
    "arena evaluate chess --only 'queens=9, mobility=0.5'\n"
    "arena evaluate tictactoe --playouts 1000000\n"
    "arena evaluate othello --moves 'd3 c3' --playouts 10000",
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
    falls with the square root of their number.  Where the score says more than who won (discs, say), its mean for the
    player to move is there, too; in a game for one player the means are those of the score.
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
    if only and "=" not in only and only not in made.evaluations() and not only.startswith("file:"):
        known = f"--only {only}: {made} has {', '.join(made.evaluations()) or 'no other evaluation'}"
        raise typer.BadParameter(
            known + (f"; a term has a weight: --only '{only}=1'" if only in made.term_weights else "")
        )
    names = [only] if only else list(dict.fromkeys([made.evaluation, *made.evaluations()]))
    found = [_evaluated(made.with_evaluation(name), state) for name in names]
    tallies = _tallies(made, state, playouts, seed) if playouts else []
    means = [_row(made, tally) for tally in tallies]
    score = _score(made, state, tallies[-1]) if tallies else None
    if answered({"game": str(made), "evaluations": found, "playouts": means, "score": score}):
        return
    say(made.render(state))
    for one in found:
        _tell(one)
    if tallies:
        _tell_playouts(made, means, None if tallies[-1].only_results else score)


def _tell_playouts(game, means: list[dict], score: dict | None) -> None:
    what = "scores" if game.players == 1 else "results"
    title = f"Random playouts: the mean of their {what}, with its 95 % error"
    say("")
    print_table([row | _formed(row) for row in means], title, "playouts")
    if score and game.players == 2:
        words = "{mean} {error}, deviation {deviation}".format(**_formed(score))
        say(f"\nscore for the {score['player']} player: {words}")


def _formed(means: dict) -> dict[str, str]:
    return {name: form.format(means[name]) for name, form in FORMS.items()}


class Tally(NamedTuple):
    """Random playouts, summed up."""

    playouts: int = 0
    wins: int = 0  # of the first player
    losses: int = 0
    score: float = 0.0  # of the first player's
    squares: float = 0.0  # of the scores

    @property
    def only_results(self) -> bool:
        """Whether the scores are 1, 0 and -1, as far as their squares tell."""
        return self.squares == self.wins + self.losses


def _tallies(game, state, most: int, seed: int) -> list[Tally]:
    """The sums of the first 10, 100, ... playouts."""
    import math

    from arena.commands.progress import progress_line
    from arena.games.core.play.playout import playout_kernel
    from arena.games.core.random import stream

    rng, tallies, now = stream(seed), list[Tally](), Tally()
    with progress_line("playing out") as show:
        while now.playouts < most:
            until = min(most, 10 ** (1 + int(math.log10(max(1, now.playouts)) + 1e-9)))
            while now.playouts < until:  # in parts, so that Ctrl-C is heard
                count = min(until - now.playouts, PART)
                wins, draws, score, _, squares = playout_kernel(game, state, count, rng)
                part = Tally(count, wins, count - wins - draws, score, squares)
                now = Tally._make(one + more for one, more in zip(now, part))
                show(f"{now.playouts:,} playouts")
            tallies.append(now)
    return tallies


def _row(game, tally: Tally) -> dict:
    """playouts, and the mean of the first player's results, or of one player's scores."""
    by_score = tally.score, tally.squares
    sums = by_score if game.players == 1 else (tally.wins - tally.losses, tally.wins + tally.losses)
    return {"playouts": tally.playouts} | _mean(tally.playouts, *sums)


def _score(game, state, tally: Tally) -> dict:
    """The mean score for the player to move, or before an event of chance for the first player."""
    second = int(game.player(state)) == 1
    found = _mean(tally.playouts, -tally.score if second else tally.score, tally.squares)
    return {"player": "second" if second else "first"} | found


def _mean(count: int, total: float, squares: float) -> dict:
    """The mean of so many numbers, its error (95 %) and their deviation, by their sum and that of their squares."""
    import math

    from arena.results.statistics.elo import Z

    mean = total / count + 0.0  # never -0
    deviation = math.sqrt(max(0.0, squares / count - mean**2))
    return {"mean": mean, "error": Z * deviation / math.sqrt(count), "deviation": deviation}


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
