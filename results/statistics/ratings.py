"""Ratings of a pool of agents: joint maximum likelihood over all games (model: `likelihood`).

A rating is finite only in a group, among agents whose results tie them together both ways (Zermelo, Mathematische
Zeitschrift 29, 1929; Ford, American Mathematical Monthly 64, 1957): each is reached from each other along "did not lose
all games against".  Between groups, where one side won all games, there is at most a one-sided bound.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from arena.games.core.shared.errors import UserError
from arena.results.statistics.draws import LAWS, USUAL
from arena.results.statistics.elo import CONFIDENCE, ELO_PER_LOGIT, Z
from arena.results.statistics.likelihood import Fit, Games, fit
from arena.results.statistics.numeric import components, has_negative_cycle, normal_probabilities, reachable, root

WIN, DRAW, LOSS = 0, 1, 2
HALF = "half"
DRAWS = (*LAWS, HALF)
FARTHEST_ANCHOR = 10_000  # Elo
TAKEN_AS_0 = "The results do not tell the first player's advantage from strength: it is taken as 0."
NAMED = 5  # agents in a note, which then says how many more there are


def _error(elo: float) -> str:
    return f"± {elo:.0f}" if math.isfinite(elo) else "–"


class AnchorError(UserError, ValueError):
    """Anchors not among the agents, out of range, or contradicted by results that all went to one side."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of a pool, in Elo with 95 % errors; NaN is "not known": `bound` and `notes` say where and why."""

    agents: tuple[str, ...]
    elo: np.ndarray  # float[agents]: estimate, or the bound where `bound` is not empty
    error: np.ndarray  # float[agents]: half of the 95 % interval; NaN for bounds and anchors
    bound: tuple[str, ...]  # ">" higher than elo (95 %, one-sided), "<" lower, "" neither
    difference_error: np.ndarray  # float[agents, agents]: of each difference; NaN between groups
    superiority: np.ndarray  # float[agents, agents]: likelihood that the row's agent is stronger
    advantage: float  # of the first player, Elo: estimate, or the bound where `advantage_bound` is not empty
    advantage_error: float | None  # None if it is taken as 0, or bounded
    draw_rate: float  # between equals
    notes: list[str] = field(default_factory=list)
    advantage_bound: str = ""  # ">" or "<": the side that moves first won, or lost, every game

    def _repr_html_(self) -> str:
        columns = {"agent": self.agents, "elo": self.elo, "error": self.error, "bound": self.bound}
        frame = pd.DataFrame(columns).sort_values("elo", ascending=False, kind="stable")
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        shown = frame.to_html(index=False, formatters={"elo": "{:.0f}".format, "error": _error})
        return shown + notes

    def los(self, a: str, b: str) -> float:
        """The likelihood that `a` is stronger; NaN where no results compare them."""
        return float(self.superiority[self.agents.index(a), self.agents.index(b)])


def rate(
    agents: Sequence[str],
    results: np.ndarray | pd.DataFrame,
    distinct: np.ndarray | None = None,
    draws: str = USUAL,
    advantage: bool = True,
    anchors: Mapping[str, float] | None = None,
) -> Ratings:
    """The ratings of `agents`.

    `results` are the first player's results: counts[agents, agents, 3] of wins, draws and losses with the first
    player's index first, or a frame with columns first, second (names), wins, draws, losses.  `distinct` counts only
    games that do not repeat another; errors and bounds are based on these.  `draws` is a law of `draws`, or
    "half": half a win and half a loss.  Without `advantage`, the first player is taken to have none.  `anchors` are
    agents with their known Elo, to which the others are relative; AnchorError says which is impossible.

    Where the first player won every game, its advantage has a lower bound (95 %, one-sided), whatever the strengths,
    and these are not known.
    """
    if draws not in DRAWS:
        raise ValueError(f"draws = {draws!r} is not one of {', '.join(DRAWS)}")
    counts = _as_counts(agents, results)
    distinct = counts if distinct is None else _as_counts(agents, distinct)
    groups = _groups(counts)
    fixed = _anchor_strengths(agents, anchors or {}, counts, groups)
    between, inside = groups[:, None] != groups[None, :], _inside(groups, counts, draws)
    with_advantage = advantage and _advantage_is_finite(counts)
    model = fit(Games.of(inside, distinct), groups, with_advantage, LAWS.get(draws, LAWS[USUAL]), fixed)
    elo, bound = _place(counts, distinct, groups, model, fixed)
    known = with_advantage or not advantage
    notes = _notes(agents, counts, groups, elo, bound, known, [agents[agent] for agent in fixed])
    difference, error = _errors(groups, model)
    error[[mark != "" for mark in bound]] = math.nan
    error[np.isnan(elo)] = error[list(fixed)] = math.nan
    superiority, draw_rate = _superiority(distinct, groups, model), model.law.draw_rate_of(model.draws)
    first = model.advantage * ELO_PER_LOGIT
    first_error = Z * math.sqrt(model.covariance[-1, -1]) * ELO_PER_LOGIT if with_advantage else None
    swept = _swept(inside) if advantage else 0
    if swept:
        distinct = np.where(between[:, :, None], 0, distinct)
        first = swept * _least_advantage(distinct, model, WIN if swept > 0 else LOSS) * ELO_PER_LOGIT
        _forget(groups, elo, error, difference, superiority, list(fixed))
        notes[:] = [note for note in notes if note != TAKEN_AS_0] + [_swept_note(agents, swept, inside, first)]
    bounds = {1: ">", -1: "<", 0: ""}
    return Ratings(
        tuple(agents), elo, error, bound, difference, superiority, first, first_error, draw_rate, notes, bounds[swept]
    )


def tells_nothing(counts: np.ndarray, draws: str) -> bool:
    """Whether the first player won, or lost, every game that could tell how strong agents without an anchor are."""
    return bool(_swept(_inside(_groups(counts), counts, draws)))


def _inside(groups, counts, draws: str):
    """The results within groups."""
    inside = np.where((groups[:, None] != groups[None, :])[:, :, None], 0, counts)
    return inside @ [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 1]] if draws == HALF else inside


def _swept(inside) -> int:
    """1 if the first player won every game in the groups, -1 if it lost all, else 0."""
    won, drawn, lost = inside.sum(axis=(0, 1))
    return int(won > 0 == drawn == lost) - int(lost > 0 == drawn == won)


def _least_advantage(counts, model: Fit, column: int) -> float:
    """The least logits by which moving first wins (or loses, by the column) games of which it won (lost) all.

    A lesser advantage would give that a probability under 5 %, however strong the agents are.
    """
    from scipy.optimize import minimize  # for this rare case alone

    first, second = np.nonzero(counts[:, :, column])
    games, sign = counts[first, second, column], 1 if column == WIN else -1

    def log_probability(advantage):
        def cost(strengths):
            gaps = strengths[first] - strengths[second] + sign * advantage
            return -(games @ np.log(model.law.probabilities(gaps, model.draws)[0][:, column]))

        return -minimize(cost, np.zeros(len(counts))).fun

    return root(lambda advantage: log_probability(advantage) - math.log(1 - CONFIDENCE), -100, 100)


def _forget(groups, elo, error, difference, superiority, fixed: list[int]) -> None:
    """Make unknown what compares agents within groups, and the strengths that are not fixed."""
    several = np.bincount(groups)[groups] > 1
    unknown = several.copy()
    unknown[fixed] = False
    elo[unknown] = error[unknown] = math.nan
    within = (groups[:, None] == groups[None, :]) & ~np.eye(len(groups), dtype=bool)
    difference[within] = superiority[within] = math.nan


def _swept_note(agents, swept: int, inside, elo: float) -> str:
    did, than = ("won", "above") if swept > 0 else ("lost", "below")
    played = inside.sum(axis=(1, 2)) + inside.sum(axis=(0, 2)) > 0
    names = _list(np.array(list(agents), object)[played])
    return (
        f"The first player {did} all {int(inside.sum())} games among {names}: its "
        f"advantage is {than} {elo:+.0f} Elo, with 95 % confidence, and how strong they are is not known."
    )


def _anchor_strengths(agents, anchors, counts, groups) -> dict[int, float]:
    """Index -> logits; AnchorError for an impossible one."""
    parts = _parts(counts)
    fixed: dict[int, float] = {}
    for name, elo in anchors.items():
        if name not in agents:
            raise AnchorError(f"the anchor {name!r} is not among the agents {_list(agents)}")
        if not abs(elo) <= FARTHEST_ANCHOR:
            raise AnchorError(f"the anchor {name} = {elo} is out of range: -{FARTHEST_ANCHOR} to {FARTHEST_ANCHOR} Elo")
        index = list(agents).index(name)
        for other in fixed:
            if parts[other] == parts[index] and groups[other] != groups[index]:
                raise AnchorError(
                    f"the anchors {agents[other]} and {name} cannot both hold: all results between them, or between "
                    "those they have met, were won by one side"
                )
        fixed[index] = elo / ELO_PER_LOGIT
    return fixed


def count_results(agents: Sequence[str], games: pd.DataFrame) -> np.ndarray:
    """counts[agents, agents, 3] of games with an outcome (columns first, second, outcome; with games, a row is so
    many).
    """
    games = counted(games)
    counts = np.bincount(result_codes(agents, games), number(games), 3 * len(agents) ** 2)
    return counts.astype(int).reshape(len(agents), len(agents), 3)


def number(games: pd.DataFrame) -> np.ndarray:
    """int[rows]: how many games each row stands for."""
    return games["games"].to_numpy(int) if "games" in games else np.ones(len(games), int)


def counted(games: pd.DataFrame) -> pd.DataFrame:
    """The games that count for ratings: between two agents, with an outcome."""
    return games[games["outcome"].notna() & games["second"].notna()]


def result_codes(agents: Sequence[str], games: pd.DataFrame) -> np.ndarray:
    """int[games]: the index of each result in counts[agents, agents, 3], flattened."""
    index = pd.Index(list(agents))
    first, second = index.get_indexer(games["first"]), index.get_indexer(games["second"])
    result = (2 - 2 * games["outcome"].to_numpy(float)).astype(int)
    return (first * len(agents) + second) * 3 + result


def _as_counts(agents, results) -> np.ndarray:
    n = len(agents)
    if isinstance(results, pd.DataFrame):
        counts = np.zeros((n, n, 3))
        index = pd.Index(list(agents))
        where = index.get_indexer(results["first"]), index.get_indexer(results["second"])
        if min(where[0].min(initial=0), where[1].min(initial=0)) < 0:
            strangers = sorted(set(results["first"]).union(results["second"]) - set(agents))
            raise ValueError(f"results of {', '.join(strangers)}, which are not among the agents {', '.join(agents)}")
        np.add.at(counts, where, results[["wins", "draws", "losses"]].to_numpy(float))
    else:
        counts = np.asarray(results, float)
    if counts.shape != (n, n, 3) or not (counts >= 0).all():
        raise ValueError(f"results of {n} agents must be counts[{n}, {n}, 3], none negative; got {counts.shape}")
    return counts


def _not_worse(counts) -> np.ndarray:
    """bool[agents, agents]: the row's agent has won or drawn against the column's."""
    return (counts[:, :, WIN] + counts[:, :, DRAW] > 0) | (counts[:, :, LOSS] + counts[:, :, DRAW] > 0).T


def _groups(counts) -> np.ndarray:
    """int[agents]: the group of each."""
    return components(_not_worse(counts))


def _parts(counts) -> np.ndarray:
    """int[agents]: the part of the pool, of agents that have met, directly or not."""
    met = _not_worse(counts)
    return components(met | met.T)


def _advantage_is_finite(counts) -> bool:
    """Whether the likelihood has its maximum at a finite advantage.

    It has not if, with the advantage raised (or lowered) by 1, some change of strengths v makes no result less likely:
    v_first + 1 >= v_second where the first player did not lose every game, v_first + 1 <= v_second where it did not win
    every game.  Such inequalities can be met unless they add up to a negative cycle.
    """
    not_lost = counts[:, :, WIN] + counts[:, :, DRAW] > 0
    not_won = counts[:, :, LOSS] + counts[:, :, DRAW] > 0
    for change in (1.0, -1.0):
        forward = np.where(not_lost, change, math.inf)
        backward = np.where(not_won.T, -change, math.inf)
        if not has_negative_cycle(np.minimum(forward, backward)):
            return False
    return True


def _errors(groups, model: Fit) -> tuple[np.ndarray, np.ndarray]:
    """95 % errors in Elo: of each difference, and of each agent from its group's mean."""
    covariance = model.covariance[:-1, :-1]
    variance = np.diag(covariance)
    difference = Z * ELO_PER_LOGIT * np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0))
    difference[groups[:, None] != groups[None, :]] = math.nan
    error = Z * ELO_PER_LOGIT * np.sqrt(variance)
    error[np.bincount(groups)[groups] == 1] = math.nan  # alone in its group
    return difference, error


def _place(counts, distinct, groups, model: Fit, fixed) -> tuple[np.ndarray, tuple[str, ...]]:
    """elo[agents] and bounds, in each connected part of the pool relative to its anchors, or the mean of its largest
    group.

    Of several largest groups, it is the mean of all, taken as equally strong but for the one whose agents are bounded;
    so if one of two agents won every game, each gets half of the least difference.
    """
    elo, bound = np.full(len(groups), math.nan), [""] * len(groups)
    parts, reach = _parts(counts), reachable(_not_worse(counts))
    sizes = np.bincount(groups)[groups]
    for part in np.unique(parts):
        members = np.flatnonzero(parts == part)
        anchored = [agent for agent in members if agent in fixed]
        if anchored:
            reference = members[groups[members] == groups[anchored[0]]]
        else:
            reference = members[sizes[members] == sizes[members].max()]
        alone = len(np.unique(groups[reference])) == 1
        if alone and (len(reference) > 1 or anchored):
            elo[reference] = model.strengths[reference] * ELO_PER_LOGIT
        for group in np.unique(groups[members]):
            own = np.flatnonzero(groups == group)
            others = np.setdiff1d(reference, own)
            if len(others) == 0:
                continue
            sign = _side(reach, own[0], others)
            lead = _least_lead(distinct, model, own, others, sign) if sign else None
            if lead is not None:
                weight = len(others) / len(reference)  # the mean moves with the group if that is part of it
                elo[own] = (model.strengths[own] + sign * lead * weight) * ELO_PER_LOGIT
                for agent in own:
                    bound[agent] = ">" if sign > 0 else "<"
    return elo, tuple(bound)


def _side(reach, agent, others) -> int:
    """1 if `agent` is above all `others`, -1 if below all, 0 if neither is known.

    reach: bool[agents, agents], whether a chain leads from the row's to the column's agent, none worse than the next.
    """
    return int(reach[agent, others].all()) - int(reach[others, agent].all())


def _least_lead(counts, model: Fit, own, others, sign) -> float | None:
    """The least logits that `own` is above (sign 1) or below `others`; None without games.

    They won (or lost) all of them: a lesser lead would give that a probability under 5 %.
    """
    ahead, behind = (own, others) if sign > 0 else (others, own)
    as_first = counts[np.ix_(ahead, behind)][:, :, WIN]
    as_second = counts[np.ix_(behind, ahead)][:, :, LOSS].T
    if as_first.sum() + as_second.sum() == 0:
        return None
    gap = model.strengths[ahead][:, None] - model.strengths[behind][None, :]
    won, times = np.concatenate([gap[as_first > 0], gap[as_second > 0]]), (as_first > 0).sum()
    advantage = np.where(np.arange(len(won)) < times, model.advantage, -model.advantage)
    games = np.concatenate([as_first[as_first > 0], as_second[as_second > 0]])

    def log_probability(lead):
        ahead_moves_first, _ = model.law.probabilities(won + lead + advantage, model.draws)
        return games @ np.log(ahead_moves_first[:, WIN])

    return root(lambda lead: log_probability(lead) - math.log(1 - CONFIDENCE), -100, 100)


def _superiority(counts, groups, model: Fit) -> np.ndarray:
    """The superiority in a group, by the error of the difference; else by games: won n times to none, the chance is
    1 - 2^-(n + 1), from a uniform prior on the chance to win.
    """
    covariance = model.covariance[:-1, :-1]
    variance = np.diag(covariance)
    deviation = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0))
    difference = model.strengths[:, None] - model.strengths[None, :]
    los = np.full(difference.shape, 0.5)
    np.divide(difference, deviation, out=difference, where=deviation > 0)
    same = groups[:, None] == groups[None, :]
    los[same] = normal_probabilities(difference[same])
    np.fill_diagonal(los, 0.5)
    won = counts[:, :, WIN] + counts[:, :, LOSS].T
    sweep = np.where(won > 0, 1 - 0.5 ** (won + 1), 0.5 ** (won.T + 1))
    sweep[(won == 0) & (won.T == 0)] = math.nan
    return np.where(same, los, sweep)


def _notes(agents, counts, groups, elo, bound, with_advantage, anchored) -> list[str]:
    names = np.array(list(agents), dtype=object)
    played = counts.sum(axis=(1, 2)) + counts.sum(axis=(0, 2))
    notes = []
    if (played == 0).any():
        notes.append(f"No game counts for {_list(names[played == 0])}: no rating.")
    parts = _parts(counts)
    pools = [names[(parts == part) & (played > 0)] for part in np.unique(parts[played > 0])]
    if len(pools) > 1:
        more = f" with {len(pools) - NAMED} more groups" if len(pools) > NAMED else ""
        notes.append(
            f"No results connect {' with '.join(map(_list, pools[:NAMED]))}{more}: ratings compare only within each of "
            "these, and each is centred on its own mean."
        )
    bounded = np.array([mark != "" for mark in bound], dtype=bool)
    for mark, word in ((">", "won"), ("<", "lost")):
        chosen = np.array([each == mark for each in bound], dtype=bool)
        if chosen.any():
            notes.append(
                f"All games of {_list(names[chosen])} against the rest of the pool were {word}: a bound, "
                "with 95 % confidence, and no estimate."
            )
    unknown = np.isnan(elo) & (played > 0)
    if unknown.any():
        notes.append(f"The results so far do not place {_list(names[unknown])} in the pool: no rating yet.")
    if not anchored and (bounded | unknown).any() and (centre := ~bounded & ~np.isnan(elo)).any():
        notes.append(f"Ratings are centred on the mean of {_list(names[centre])}.")
    if anchored:
        notes.append(f"Ratings are measured from {_list(anchored)}, whose Elo is taken as known.")
    if not with_advantage and played.any():
        notes.append(TAKEN_AS_0)
    within = counts[groups[:, None] == groups[None, :]]
    if within.sum() > 0 and within[:, DRAW].sum() == within.sum():
        notes.append("Every game between comparable agents was drawn: errors assume the lowest likely draw rate.")
    return notes


def _list(names) -> str:
    if len(names) <= NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
