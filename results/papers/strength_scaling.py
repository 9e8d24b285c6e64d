"""How a parallel search compares with the serial one: Elo against workers, and the strength speed-up.

A search with `workers` workers meets its serial search with `factor` times each worker's playouts: at equal time as
many as fit in the scheme's; at factor = workers the same in all (search overhead).  The **strength speed-up** (Chaslot,
Winands & van den Herik, "Parallel Monte-Carlo tree search", 2008) is the factor at which the two are even.
"""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.results.shown.column_forms import MISSING, signed
from arena.results.shown.export import elo_with_error
from arena.results.shown.summary import side_by_side
from arena.results.shown.tables import PAIR_SCORES
from arena.results.statistics.elo import pentanomial
from arena.results.statistics.even_factor import even_factor

OPEN = "open"  # an end of an interval
ONE = "by definition"


def counts_by_pair(pairs: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """int[5] for each two agents in both orders: pairs of games by the first one's score, LL to WW.

    pairs: that table of `shown.tables`
    """
    found = {}
    for row in pairs.itertuples():
        counts = np.array([getattr(row, name) for name in PAIR_SCORES])
        found[row.a, row.b], found[row.b, row.a] = counts, counts[::-1]
    return found


def table(points: list[dict]) -> pd.DataFrame:
    """One row a game, number of playouts, scheme and number of workers.

    `points` hold game, playouts (of each worker), scheme, workers, serial (the search compared with), is_serial
    (whether the scheme decides as it does, so that its speed-up is 1, and what is estimated here shows chance), matches
    (counts by factor), time (of a move, over the serial search's with the playouts of one worker; NaN if not known),
    equal (the factor of equal time; None if not known) and nodes_per_playout (of the scheme: new positions in a
    playout).  Columns: those but matches and equal, then games; score, elo, error, bound at equal time; those with
    `total_` for the same playouts in all; speed_up, low, high, speed_up_bound, as of `even_factor`, with NaN for open
    ends; efficiency: speed_up over workers.
    """
    rows = []
    for point in points:
        matches = point["matches"]
        row = {key: value for key, value in point.items() if key not in ("matches", "equal")}
        row["games"] = 2 * int(sum(np.sum(counts) for counts in matches.values()))
        for prefix, factor in (("", point["equal"]), ("total_", float(point["workers"]))):
            estimate = pentanomial([int(n) for n in matches.get(factor, np.zeros(5))])
            for name in ("score", "elo", "error"):
                value = getattr(estimate, name)
                row[prefix + name] = math.nan if value is None else value
            row[prefix + "bound"] = estimate.bound
        found = even_factor(matches)
        row |= {"speed_up": found.value, "low": found.low, "high": found.high, "speed_up_bound": found.bound}
        row |= {end: row[end] if 0 < row[end] < math.inf else math.nan for end in ("low", "high")}
        rows.append(row | {"efficiency": found.value / point["workers"]})
    frame = pd.DataFrame(rows)
    frame.attrs["kind"] = "scaling"
    return frame


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of `table` for people: strings, with errors beside their values.

    What is the same in all rows stands in its caption; in LaTeX, games and schemes are headings of blocks.
    """
    several = [name for name in ("game", "playouts") if frame[name].nunique() > 1]
    columns = frame[[*several, "scheme", "workers"]].copy()
    columns["scheme"] = labels(frame["scheme"])
    columns["time"] = [_rounded(value, 1) for value in frame["time"]]
    certain = by_definition(frame)
    for heading, prefix in (("Elo at equal time", ""), ("Elo at equal playouts", "total_")):
        rated = certain[[prefix + name for name in ("elo", "error", "bound")]]
        columns[heading] = elo_with_error(*(_or_none(rated[name]) for name in rated))
    found = list(zip(frame["speed_up"], frame["low"], frame["high"], frame["speed_up_bound"]))
    columns["strength speed-up"] = ["1" if one else _speed_up(*each) for one, each in zip(frame["is_serial"], found)]
    columns["95 %"] = [ONE if one else _range(*each) for one, each in zip(frame["is_serial"], found)]
    times = columns["time"].unique().tolist()
    once = columns.drop(columns="time") if len(times) == 1 else columns
    once.attrs |= {"kind": "scaling", "caption": _constants(frame, times), "notes": notes(frame)}
    headings = [_cell(**dict(zip(several, row))) for row in frame[several].itertuples(index=False)] if several else []
    headed = ["scheme"] if frame.duplicated(["game", "playouts", "scheme"]).any() else []
    if headings or headed:
        inner = once["scheme"].tolist() if headed else []
        once.attrs |= {"headed": [*several, *headed], "blocks": list(zip(*filter(None, (headings, inner))))}
    return once


def _cell(game: str = "", playouts: int = 0) -> str:
    return ", ".join([*([game] if game else []), *([f"{playouts} playouts of each worker"] if playouts else [])])


def _constants(frame, times: list[str]) -> str:
    """What a table does not repeat in each row: `connect4, 8 playouts of each worker, against uct; time 1.0`."""
    one = {name: frame[name].iloc[0] for name in ("game", "playouts") if frame[name].nunique() == 1}
    serials = frame["serial"].unique()
    against = f"against {serials[0]}" if len(serials) == 1 else "each scheme against its own search"
    time = f"; time {times[0]}" if len(times) == 1 and times[0] != MISSING else ""
    return f"{_cell(**one) or 'Parallel schemes'}, {against}{time}"


def by_definition(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of `table` with what is known of schemes that are the serial search: 0 Elo, and a speed-up of 1."""
    frame, same_match = frame.copy(), frame["elo"] == frame["total_elo"]
    for prefix, rows in (("", frame["is_serial"] & same_match), ("total_", frame["is_serial"])):
        frame.loc[rows, [prefix + name for name in ("score", "elo", "error", "bound")]] = 0.5, 0.0, math.nan, ""
    names = ["speed_up", "low", "high", "speed_up_bound", "efficiency"]
    frame.loc[frame["is_serial"], names] = 1.0, 1.0, 1.0, "", 1.0
    return frame


def notes(frame: pd.DataFrame) -> list[str]:
    """What readers of a table of `table` need to know."""
    bounds = frame[~frame["is_serial"]][["bound", "total_bound", "speed_up_bound"]]
    found = [_check_of_intervals(frame[frame["is_serial"]])]
    found += ["> and < stand before one-sided 95 % bounds."] if (bounds != "").any(axis=None) else []
    found += [side_by_side(int(frame[~frame["is_serial"]][["error", "total_error", "low"]].notna().sum().sum()))]
    return list(filter(None, found))


def _check_of_intervals(own: pd.DataFrame) -> str:
    """What matches of a search with itself say of the intervals; empty without any."""
    rated, enclosed = own[own["total_error"] > 0], own[own["speed_up_bound"] == ""].fillna({"low": 0, "high": math.inf})
    if rated.empty:
        return "One worker is the serial search: its speed-up is 1." if len(own) else ""
    weights = 1 / rated["total_error"] ** 2
    pooled = f"{signed(np.average(rated['total_elo'], weights=weights))} ± {1 / math.sqrt(weights.sum()):.0f}"
    holding = (rated["total_elo"].abs() <= rated["total_error"]).sum()
    enclosing = ((enclosed["low"] <= 1) & (enclosed["high"] >= 1)).sum()
    return (
        f"One worker is the serial search: its speed-up is 1.  What its matches say is a check of the intervals: "
        f"{holding} of {len(rated)} hold 0 Elo ({pooled} together), {enclosing} of {len(enclosed)} a speed-up of 1."
    )


def _speed_up(value, low, high, bound) -> str:
    """The value, or the bound that its 95 % interval gives."""
    limit = low if bound == ">" else high
    if not bound:
        return _rounded(value, 2)
    return "not enclosed" if math.isnan(limit) else f"{bound} {limit:.2f}"


def _range(value, low, high, bound) -> str:
    """The interval; `0.40 to open`."""
    if bound or math.isnan(value):
        return MISSING
    return "open" if math.isnan(low) and math.isnan(high) else f"{_rounded(low, 2, OPEN)} to {_rounded(high, 2, OPEN)}"


def labels(schemes: Sequence[str]) -> list[str]:
    """`root(search='grave')` as `root(grave)`, with either quotes; unchanged if two became one."""
    short = [re.sub(r"search=(['\"])(\w+)\1", r"\2", scheme) for scheme in schemes]
    return short if len(set(short)) == len(set(schemes)) else list(schemes)


def shown_speeds(frame: pd.DataFrame) -> pd.DataFrame:
    """`study.throughput` for people; * where other programs disturbed every measurement."""
    columns = frame[[name for name in ("game", "scheme", "threads") if name != "game" or frame[name].nunique() > 1]]
    columns = columns.assign(scheme=labels(frame["scheme"]))
    marks = ["" if share else " *" for share in frame["undisturbed"]]
    columns["playouts a second"] = [f"{rate:,.0f}{mark}" for rate, mark in zip(frame["playouts_per_second"], marks)]
    for heading, name in (("times one thread", "speed_up"), ("times serial", "over_serial")):
        columns[heading] = [_rounded(value, 2) for value in frame[name]]
    disturbed = "* Other programs disturbed all decisions: the speed is too low.  Measure again on an idle machine."
    columns.attrs |= {"kind": "throughput", "notes": [disturbed] if (frame["undisturbed"] == 0).any() else []}
    return columns


def _or_none(column) -> list:
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column]


def _rounded(value, digits, missing=MISSING) -> str:
    return missing if math.isnan(value) else f"{value:.{digits}f}"
