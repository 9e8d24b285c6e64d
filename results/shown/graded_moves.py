"""Tables of how well moves were chosen, by values known for certain; pure functions of data frames.

Values are 1 (win), 0 (draw) and -1 (loss) for the mover, with best play from there on.  A move's loss is the value
before it less that after it: 0 for a best move, 1 or 2 for a blunder.  Blunders are counted against moves that had
something to lose: in a lost position every move is a best one.
"""

import pandas as pd


def losses(moves: pd.DataFrame) -> pd.DataFrame:
    """The moves with the column loss, from before and after: values, missing where not found."""
    return moves.assign(loss=moves["before"] - moves["after"])


def by_agent(moves: pd.DataFrame) -> pd.DataFrame:
    """The agent of least blunders first; see `_summary`."""
    table = _summary(moves, "agent")
    return table.sort_values(["blunder_rate", "mean_loss", "agent"], na_position="last", ignore_index=True)


def by_ply(moves: pd.DataFrame) -> pd.DataFrame:
    """One row an agent and ply, from 0; see `_summary`."""
    return _summary(moves, ["agent", "ply"])


def _summary(moves: pd.DataFrame, by) -> pd.DataFrame:
    """One row a group: moves; graded, of known values; chances, with something to lose; blunders; blunder_rate, of the
    chances; mean_loss, of the graded.

    `moves` has columns agent, ply, before, after.  Rates are missing where there is nothing to divide by.
    """
    graded = losses(moves)
    flags = graded.assign(
        graded=graded["loss"].notna(),
        chances=graded["loss"].notna() & (graded["before"] > -1),
        blunders=graded["loss"] > 0,
    )
    groups = flags.groupby(by, sort=True)
    table = groups[["graded", "chances", "blunders"]].sum().astype(int)
    table.insert(0, "moves", groups.size())
    table["blunder_rate"] = table["blunders"] / table["chances"].where(table["chances"] > 0)
    table["mean_loss"] = groups["loss"].mean()
    return table.astype({"blunder_rate": float, "mean_loss": float}).reset_index()
