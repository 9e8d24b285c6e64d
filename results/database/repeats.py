"""Games that repeat another one, move for move, because their agents are deterministic: they add no information.

That a short game of agents that draw random numbers comes out the same is part of their results.  So two agents count
as deterministic only if they never followed one opening in two ways, in any condition.  The same moves in two
conditions are no repetition.
"""

import pandas as pd

SETTING = ["condition", "first", "second", "opening_moves"]


def repeated(games: pd.DataFrame) -> pd.Series:
    """bool[games]: this game repeats an earlier one of two deterministic agents.

    `games` has columns condition, first, second, outcome, opening_moves, moves.  Void games, and those of unknown
    moves, repeat nothing.
    """
    known = games[games["outcome"].notna() & games["second"].notna() & (games["moves"] != "")]
    ways = known[~known.duplicated([*SETTING, "moves", "outcome"])]
    several = ways.loc[ways.duplicated(SETTING), ["first", "second"]].drop_duplicates()
    random = {frozenset(pair) for pair in several.itertuples(index=False)}
    again = known[known.duplicated(SETTING)]
    again = again[[frozenset(pair) not in random for pair in zip(again["first"], again["second"])]]
    return pd.Series(games.index.isin(again.index), games.index)


def tallied(tallies: pd.DataFrame) -> pd.DataFrame:
    """From `tallies`: rows of first, second, outcome and games, the number that repeats others."""
    pairs = pd.Series([frozenset(pair) for pair in zip(tallies["first"], tallies["second"])], tallies.index, object)
    random = set(pairs[tallies["otherwise"] > 0])
    found = tallies[(tallies["again"] > 0) & ~pairs.isin(random)]
    return found[["first", "second", "outcome"]].assign(games=found["again"])


def notes(repetitions: pd.DataFrame) -> list[str]:
    """A warning for each two agents that repeat themselves (rows of `tallied`)."""
    pairs = pd.Series(
        [" and ".join(sorted(pair)) for pair in zip(repetitions["first"], repetitions["second"])],
        repetitions.index,
        object,
    )
    return [
        f"{number} games between {pair} repeat earlier ones move for move: errors count each game once. More random "
        "opening_plies make games differ."
        for pair, number in repetitions["games"].groupby(pairs).sum().items()
    ]
