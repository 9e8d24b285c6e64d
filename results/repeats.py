"""Games that repeat another one, move for move, because their agents are deterministic: they tell nothing new.

Equal games of agents that draw random numbers are no repetitions: that a short game comes out the same again is part of
what their results say.  So two agents count as deterministic only if they never followed one opening in two ways, in
any condition.  The same moves in two conditions are no repetition.
"""

import pandas as pd

SETTING = ["condition", "first", "second", "opening_moves"]


def repeated(games: pd.DataFrame) -> pd.Series:
    """bool[games]: this game repeats an earlier one of two deterministic agents.

    `games` has columns condition, first, second, outcome, opening_moves, moves.  Void games repeat nothing, nor do
    games whose moves are not known.
    """
    known = games[games["outcome"].notna() & games["second"].notna() & (games["moves"] != "")]
    ways = known[~known.duplicated([*SETTING, "moves", "outcome"])]
    several = ways.loc[ways.duplicated(SETTING), ["first", "second"]].drop_duplicates()
    random = {frozenset(pair) for pair in several.itertuples(index=False)}
    again = known[known.duplicated(SETTING)]
    again = again[[frozenset(pair) not in random for pair in zip(again["first"], again["second"])]]
    return pd.Series(games.index.isin(again.index), games.index)


def notes(games: pd.DataFrame, repeats: pd.Series) -> list[str]:
    """A warning, in a sentence for each two agents that repeat themselves."""
    found = games[repeats]
    pairs = pd.Series([" and ".join(sorted(pair)) for pair in zip(found["first"], found["second"])], dtype=object)
    return [
        f"{number} games between {pair} repeat earlier ones move for move: errors count each game once. More random "
        "opening_plies make games differ."
        for pair, number in pairs.value_counts(sort=False).items()
    ]
