"""`arena verify`: a certificate checked by the rules."""

import time
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.output import answered, say
from arena.commands.progress import progress_line

SIDES = ("first", "second")


@command(Panel.STUDY, examples="arena verify b54.proof", as_json=True)
def verify(file: Annotated[Path, typer.Argument(help="A file that `arena solve --proof` wrote.")]) -> None:
    """Check a certificate of who wins by the rules alone.

    No solver takes part.  Every position that the loser can reach is visited, and every game must end as the
    certificate says.  Wins within a few plies, the certificate's horizon, are found by playing all moves.
    """
    from arena import games
    from arena.games.core.checks.certificate import read
    from arena.games.core.checks.certificate import verify as follow

    certificate = read(file)
    game = games.make(certificate.game)
    started = time.perf_counter()
    with progress_line("following the certificate"):
        wins = follow(game, certificate)
    seconds = time.perf_counter() - started
    side, moves, positions = SIDES[certificate.winner], len(certificate.moves), certificate.positions
    found = {"game": str(game), "after": certificate.line, "winner": side, "horizon": certificate.horizon}
    if answered(found | {"moves": moves, "positions": positions, "wins": wins, "seconds": seconds}):
        return
    say(f"{game}, after {certificate.line or 'no moves'}: the {side} player wins")
    say(f"{moves:,} moves hold in {positions:,} positions, in {seconds:.1f} s")
    within = f" or of wins within {certificate.horizon} plies" if certificate.horizon else ""
    say(f"they lead to {wins:,} ends of games{within}")
