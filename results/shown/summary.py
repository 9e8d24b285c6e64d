"""The results of a tournament in sentences: the winner, the margin, and how sure that is."""

import math

import pandas as pd

from arena.results.database.record import Reason
from arena.results.statistics.numeric import normal_quantile
from arena.results.statistics.ratings import Ratings, number

CONFIDENT, BEYOND_DOUBT = 0.95, 0.999
MANY = 10  # from this many intervals on, a note says that some will miss


def verdict(standings: pd.DataFrame, ratings: Ratings) -> dict[str, str]:
    """`who` leads, `how_much` over the next, and `how_sure`; empty if nothing was played."""
    played = standings[standings["games"] > 0]
    if len(played) < 2:
        return {}
    first, second = played["agent"].iloc[:2]
    a, b = (ratings.agents.index(name) for name in (first, second))
    error, los = ratings.difference_error[a, b], ratings.superiority[a, b]
    if not math.isnan(error):
        how_much = f"{ratings.elo[a] - ratings.elo[b]:+.0f} ± {error:.0f} Elo over {second}"
    elif math.isnan(los):
        how_much = f"no results compare it with {second}"
    else:
        how_much = f"{'won' if los > 0.5 else 'lost'} every game against {second}: a bound, no estimate"
    return {"who": first, "how_much": how_much, "how_sure": certainty(los)}


def side_by_side(intervals: int) -> str:
    """The note on `intervals` intervals of 95 % beside each other; empty if they are few."""
    if intervals < MANY:
        return ""
    miss = 1 - CONFIDENT**intervals
    return (
        f"{intervals} intervals of 95 % stand side by side: if they were independent, at least one would miss with "
        f"probability {100 * miss:.0f} %. For all to hold at once with 95 %, each must be "
        f"{_widening(intervals):.2f} times as wide (Šidák)."
    )


def intervals_in(frame: pd.DataFrame) -> int:
    """How many intervals a table shows: errors of Elo, or intervals from low to high.

    Of two agents in both orders a difference is one.
    """
    name = next((name for name in ("low", "error") if name in frame), None)
    if name is None:
        return 0
    shown = int(frame[name].notna().sum())
    return shown // 2 if "against" in frame else shown


def _widening(intervals: int) -> float:
    """The factor for each interval, if all independent ones are to hold with 95 %."""
    return normal_quantile((1 + CONFIDENT ** (1 / intervals)) / 2) / normal_quantile((1 + CONFIDENT) / 2)


def certainty(los: float) -> str:
    """A likelihood of superiority in words."""
    if math.isnan(los):
        return "unknown"
    percent = "> 99.9 %" if los > BEYOND_DOUBT else f"{100 * los:.1f} %"
    if los > BEYOND_DOUBT:
        return f"beyond doubt ({percent} likely to be stronger)"
    if los >= CONFIDENT:
        return f"with confidence ({percent} likely to be stronger)"
    return f"not yet ({percent} likely to be stronger; 95 % is the usual mark)"


def summary(standings: pd.DataFrame, games: pd.DataFrame, ratings: Ratings, instances: int = 1) -> list[str]:
    """Sentences on `instances` different games; `games` are rows as in `tables`."""
    found = verdict(standings, ratings)
    if not found:
        return ["No results are stored yet."]
    leader = standings.iloc[0]
    share = f"{100 * leader['score']:.1f} % of the points"
    where = f"its {leader['games']} games" + (f" of {instances} kinds" if instances > 1 else "")
    sentences = [f"{found['who']} is first, with {share} in {where}."]
    if close := _not_told_apart(standings["agent"].tolist(), standings["los"].tolist()):
        sentences.append(f"Not told apart with confidence: {'; '.join(close)}.")
    else:
        sentences.append("Each agent is told apart from the next one with at least 95 % confidence.")
    return [*sentences, _advantage(ratings), _draws_and_length(games, instances)]


def _not_told_apart(agents: list[str], los: list[float]) -> list[str]:
    """Neighbours in the standings, `a and b`, or `a to d, each from the next`."""
    begin, found = 0, []
    for end, likelihood in enumerate(los):
        if not likelihood >= CONFIDENT and end < len(agents) - 1:  # nor if nothing compares them
            continue
        if end - begin == 1:
            found.append(f"{agents[begin]} and {agents[end]}")
        elif end > begin:
            found.append(f"{agents[begin]} to {agents[end]}, each from the next")
        begin = end + 1
    return found


def _draws_and_length(games, instances) -> str:
    """How often games were drawn, and, for one instance alone, their length: over several, a mean says nothing."""
    played = games[games["outcome"].notna()]
    counts = number(played)
    share = counts[played["outcome"] == 0.5].sum() / counts.sum()
    drawn = f"{100 * share:.1f} % of the games were drawn" if share else "No game was drawn"
    whole = played[~played["reason"].isin(Reason.FORFEITS)]
    if instances > 1 or whole.empty:
        return f"{drawn}."
    length = whole["plies"].sum() / number(whole).sum()
    which = "a game" if len(whole) == len(played) else "one without a forfeit"
    return f"{drawn}; {which} took {length:.1f} plies on average."


def _advantage(ratings: Ratings) -> str:
    if ratings.advantage_bound:
        won, than = ("won", "above") if ratings.advantage > 0 else ("lost", "below")
        return f"The first player {won} every game: its advantage is {than} {ratings.advantage:+.0f} Elo."
    if ratings.advantage_error is None:
        return "The first player's advantage cannot be separated from strength."
    size = f"{ratings.advantage:+.0f} ± {ratings.advantage_error:.0f} Elo"
    if abs(ratings.advantage) < ratings.advantage_error:
        return f"Moving first makes no difference that these games can show ({size})."
    return f"Moving first is {'an advantage' if ratings.advantage > 0 else 'a disadvantage'} ({size})."
