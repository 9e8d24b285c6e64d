"""Records to fill stores with."""

from arena.results.database.record import GameRecord, MoveRecord, Reason


def configuration(*instances, budgets=({},), format="round_robin"):
    """A resolved configuration as far as results read it."""
    return {"instances": list(instances), "budgets": list(budgets), "format": format, "games": 4}


AGENTS = [{"name": name, "spec": f"{name}()"} for name in ("ann", "bob_%&", "cy")]
META = {"config": configuration("tictactoe"), "version": "0.1.0"}


def make_game(id="0-0-a", number=0, first="ann", second="bob_%&", outcome=1.0, **changes):
    """A record; its decisions take 0.5 s a move for side 0 and 0.25 s for side 1, with 100 playouts for side 0."""
    values = dict(
        id=id,
        number=number,
        condition=0,
        opening=0,
        seed=2**64 - 1 - number,
        first=first,
        second=second,
        outcome=outcome,
        score=None if outcome is None else 2 * outcome - 1,
        reason=Reason.PLAYED_OUT,
        detail="",
        opening_moves="a1",
        moves="b2 c3 a2",
        plies=4,
        seconds=1.25,
        decisions=(
            MoveRecord(1, 1, "b2", -0.25, nodes=50, depth=3, seconds=0.25),
            MoveRecord(2, 0, "c3", 0.5, playouts=100, playouts_each=50, virtual_time=50.0, seconds=0.5),
            MoveRecord(3, 1, "a2", nodes=70, depth=4, seconds=0.25),
        ),
    )
    return GameRecord(**(values | changes))
