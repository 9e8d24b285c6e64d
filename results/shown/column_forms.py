"""How people read the columns of tables: one record a column.  Programs read the values as they are.

A column that is not entered here has its name for a heading and is written by `general`.  To show it in another way,
enter it in COLUMNS; in IN_KIND, where that holds in one kind of table alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from arena.agents.core.effort import Effort

MISSING = "-"
ELO = "Elo is counted from the mean of the pool, less the advantage of moving first, with its 95 % interval"
LOS = "LOS is how likely an agent is stronger than the next one"
LEGENDS = {  # of the columns of a kind of table
    "standings": f"{ELO}; {LOS}.",
    "ratings": f"{ELO}; {LOS}.",
    "pairs": "LL to WW are pairs of games with one opening, by what the first agent made of the two. Elo by "
    "score, from them, has the advantage of moving first in it.",
    "differences": "Differences of ratings in the whole pool, less the advantage of moving first, with 95 % intervals.",
    "ranks": "low and high are the 95 % interval of the rank; nash is the share in the equilibrium of naming an agent, "
    "alpha_rank how long a population is that agent.",
    "scores": "low and high are the 95 % interval of the mean.",
}


def percent(value: float, digits: int = 1, sign: str = " %") -> str:
    """A share of 1 in percent."""
    return f"{100 * value:.{digits}f}{sign}"


def signed(value: float) -> str:
    """A whole number with its sign, as Elo has it."""
    return f"{value:+.0f}" if round(value) else "0"


def count(value: float) -> str:
    """A whole number with commas."""
    return f"{value:,.0f}"


def points(value: float) -> str:
    """A score in a game for one player."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def seconds(value: float) -> str:
    """Seconds with more digits the fewer they are."""
    return f"{value:.{5 if value < 0.1 else 3 if value < 100 else 0}f}"


def likelihood(value: float) -> str:
    """A likelihood in percent, never quite certain."""
    if min(value, 1 - value) < 0.0005:
        return "> 99.9 %" if value > 0.5 else "< 0.1 %"
    return percent(value)


def general(value: Any) -> str:
    """Whatever has no other form: four digits, yes and no, or text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Column:
    """A column of a table as people read it.

    `rare` columns are left out while all their values are 0 or missing; `quiet` ones only where room is short.  Where
    it is shorter still, `implied` columns go, which the others tell, and at last the `spare` ones: those of 1 first.
    `long` columns have no room in any terminal or on any page.
    """

    name: str
    write: Callable[[Any], str] = general
    heading: str = ""  # the name, unless given
    rare: bool = False
    quiet: bool = False
    implied: bool = False
    spare: int = 0
    long: bool = False


COLUMNS: dict[str, Column] = {}
IN_KIND: dict[tuple[str, str], Column] = {}  # by kind of table and name


def column(name: str, kind: str | None = None) -> Column:
    """The column of this name in tables of a kind."""
    return (kind and IN_KIND.get((kind, name))) or COLUMNS.get(name) or Column(name)


def _enter(names: str, **how: Any) -> None:
    for name in names.split():
        COLUMNS[name] = replace(column(name), **how)


def _enter_in(kinds: str, names: str, **how: Any) -> None:
    for kind in kinds.split():
        IN_KIND.update({(kind, name): replace(column(name, kind), **how) for name in names.split()})


_enter("elo", write=signed, heading="Elo")
_enter("bootstrap_low bootstrap_high", write=signed)
_enter("nelo", write=signed, heading="nElo")
_enter("nelo_error", write="{:.0f}".format, heading="nElo error")
_enter("los", write=likelihood, heading="LOS")
_enter("score_first score_second blunder_rate", write=percent)
_enter("draw_ratio", write=percent, quiet=True)
_enter("pairs_ratio speed_up over_serial undisturbed clock", write="{:.2f}".format)
_enter("WL_DD", heading="WL+DD")
_enter("LD WD draws void forfeits failed", quiet=True)
_enter("seconds seconds_per_move", write=seconds)
_enter("playouts playouts_per_move nodes nodes_per_move per_second cpu_per_second", write=count)
_enter("playouts_per_second cpu_playouts_per_second", write=count)
_enter("ns_per_ply compile_seconds plies_per_game", write="{:.1f}".format)
_enter("value", write="{:+.3f}".format)
_enter("outcome", write={1.0: "1", 0.5: "1/2", 0.0: "0"}.get)
_enter("void forfeits failed clock candidates", rare=True)
_enter(" ".join(field.name for field in fields(Effort)), rare=True)

_enter_in("standings ratings pairs estimates", "score", write=percent)
_enter_in("standings ratings", "rank", implied=True)
_enter_in("standings ratings pairs", "losses", implied=True)
_enter_in("standings ratings", "draws wins", spare=1)
_enter_in("trials", "score", write=percent)
_enter_in("ranks", "rank low high", write="{:.0f}".format)
_enter_in("ranks", "nash alpha_rank", write=percent)
_enter_in("pairs", "elo", heading="Elo by score")
_enter_in("estimates", "elo", heading="Elo by score")
_enter_in("pairs", "LL LD WL_DD WD WW", spare=1)
_enter_in("pairs", "draws wins", spare=2)
_enter_in("pairs", "nelo nelo_error draw_ratio pairs_ratio", long=True)
_enter_in("games", "number condition opening opening_moves moves seed", long=True)
_enter_in("games", "score", implied=True)
_enter_in("games", "seconds", spare=1)
_enter_in("games", "reason", spare=2)
_enter_in("moves", "candidates", long=True)
_enter_in("runs", "agents", spare=1)
_enter_in("runs", "played", spare=2)
_enter_in("runs", "state", spare=3)
_enter_in("scores", "mean low high best median deviation", write=points)
_enter_in("playing", "seconds", write="{:.1f}".format)
_enter_in("candidates", "share", write=percent)
_enter_in("candidates", "visits", write=count)
bare_percent = partial(percent, sign="")
whole_percent = partial(percent, digits=0, sign="")
