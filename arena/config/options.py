"""The keys of a configuration that say who meets whom: their defaults, and what can be wrong with them."""

import math
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT, SPRT = "round_robin", "gauntlet", "swiss", "knockout", "sprt"
FORMATS = (ROUND_ROBIN, GAUNTLET, SWISS, KNOCKOUT, SPRT)
MAX_ROUNDS = 1000

# the formats that a key belongs to
HOMES = {"pairings": (ROUND_ROBIN,), "base": (GAUNTLET, SPRT), "rounds": (SWISS,), "sprt": (SPRT,)}
SOLO = ("format", *HOMES, "openings", "opening_plies")  # keys that games for one player do not have


class Table(BaseModel):
    """A table of a configuration: keys of exact types, and no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SprtTable(Table):
    """The hypotheses of a sequential test, and its chances of error; see `results.sprt`."""

    elo0: float = Field(0.0, description="elo0, the difference by H0, is a number")
    elo1: float = Field(5.0, description="elo1, the difference by H1, is a number above elo0")
    alpha: float = Field(0.05, description="alpha, the chance to accept H1 though H0 holds, is between 0 and 0.5")
    beta: float = Field(0.05, description="beta, the chance to accept H0 though H1 holds, is between 0 and 0.5")
    model: str = Field("normalized", description='model is "normalized" or "logistic"')


def format_of(values: dict, names: list[str]) -> dict:
    """The keys of a checked configuration's format, with defaults; none for a round robin.

    The base is the first agent, and rounds are as many as a knockout would have.
    """
    format = values["format"]
    found = {"format": format}
    if format in HOMES["base"]:
        found["base"] = values["base"] or names[0]
    if format == SWISS:
        found["rounds"] = values["rounds"] or math.ceil(math.log2(len(names)))
    if format == SPRT:
        found["sprt"] = values["sprt"]
    return found


def meeting(resolved: dict) -> str:
    """Who meets whom in a tournament of two players, in words."""
    games, base = resolved["games"], resolved.get("base")
    pairs = resolved.get("pairings")
    return {
        ROUND_ROBIN: f"{games} games for each {f'of {len(pairs)} pairs' if pairs else 'two of them'}",
        GAUNTLET: f"a gauntlet, {games} games of each against {base}",
        SWISS: f"a Swiss tournament of {resolved.get('rounds')} rounds, {games} games a match",
        KNOCKOUT: f"a knockout, {games} games a match",
        SPRT: f"a sequential test, at most {games} games of each against {base}",
    }[resolved.get("format", ROUND_ROBIN)]


def check_format(values: dict, names: list[str], add: Callable[[tuple, object, str], None]) -> None:
    """Tell `add(place, value, text)` what is wrong with the keys of the format, of those that have the right form."""
    format = values.get("format", ROUND_ROBIN)
    if not isinstance(format, str):
        return
    if format not in FORMATS:
        add(("format",), format, f"is no format; there are {', '.join(FORMATS)}")
        return
    for key, homes in HOMES.items():
        if values.get(key) and format not in homes:
            add((key,), values[key], f"is for the format {' or '.join(homes)}, and this is {format}")
    base = values.get("base")
    if isinstance(base, str) and base not in names:
        add(("base",), base, f"is the name of none of the agents: {', '.join(names)}")
    if format == SPRT and isinstance(values.get("sprt", {}), dict):
        _check_test(values.get("sprt", {}), add)


def _check_test(table, add):
    from results.sprt import Sprt

    try:
        Sprt(**SprtTable(**table).model_dump())
    except ValueError as error:
        if "validation error" not in str(error):  # else the form is wrong, which is said elsewhere
            add(("sprt",), table, str(error))
