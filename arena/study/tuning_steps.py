"""Which matches of a tuning come next: a function of those played, and of their results, alone."""

from dataclasses import replace
from typing import Any

import numpy as np

from arena import agents
from arena.study import samplers
from arena.study.space import Values
from arena.study.tuning import BEST, RECOMMENDED, START, Findings, Step, TuningError

LEAST_CONFIRMED, MORE = 64, 4  # pairs of a batch of the confirming match, or one in MORE of those played
SURE, ENOUGH = 0.97, 100  # share of points at which an opponent tells nothing, after so many games
TRIED = 64  # values, before a space is taken to hold nothing but the agent as it is
BUDGETS = ("playouts", "nodes", "seconds")


def next_step(found: Findings) -> Step | None:
    """The next matches; None when the tuning is over.  TuningError if no opponent tells anything."""
    tuning = found.tuning
    if found.searched:
        _check_opponents(found)
    if not found.is_searched:
        return _spsa(found) if tuning.sampler == "spsa" else _trials(found)
    return _more_of_match(found) if found.confirming else _first_of_match(found)


def _spsa(found: Findings) -> Step:
    number, space, half = len(found.searched), found.space, found.tuning.half
    made: list[tuple[str, str]] = []
    trials: list[tuple[str, Values]] = []
    matches: list[tuple[str, str, int, int]] = []
    for i, one in enumerate(found.iterations_of(number, found.path[-1])):
        names = found.of_iteration(number, i)
        for name, point in zip(names, (one.plus, one.minus)):
            values = space.values(point)
            made.append((name, space.spec(values)))
            trials.append((name, values))
        matches.append((*names, number * half, (number + 1) * half))
    return Step("search", made, trials, matches)


def _trials(found: Findings) -> Step:
    tuning, space, number = found.tuning, found.space, len(found.searched)
    asked = samplers.proposed(tuning.sampler, space, found.trials, tuning.seed, number, tuning.at_once)
    opponents = [_best(found)] if BEST in tuning.against else [*tuning.against]
    if not found.searched and START not in opponents:
        asked[0] = space.start()  # in place of one that is spread evenly
    names = {space.spec(values): name for name, values in found.values.items()}
    survivors = _survivors(found)
    if not survivors and len(opponents) == 1 and all(names.get(space.spec(one)) == opponents[0] for one in asked):
        asked = [_another(found, opponents[0]), *asked]
    made: list[tuple[str, str]] = []
    trials: list[tuple[str, Values]] = []
    for values in asked:
        spec = space.spec(values)
        if spec not in names:
            names[spec] = f"trial {len(found.values) + len(made)}"
            made.append((names[spec], spec))
        trials.append((names[spec], values))
    playing = dict.fromkeys([*survivors, *(name for name, _ in trials)])
    openings = number * tuning.half, (number + 1) * tuning.half
    matches = [(name, other, *openings) for name in playing for other in opponents if name != other]
    return Step("search", made, trials, matches)


def _another(found: Findings, opponent: str) -> Values:
    """Values that are not the opponent's: nobody plays itself.  TuningError if none are found."""
    space, own = found.space, found.space.spec(found.values[opponent])
    for values in samplers.evenly(space, found.tuning.seed, 0, TRIED):
        if space.spec(values) != own:
            return values
    raise TuningError(f"{own} is what all values in the ranges come to: there is nothing to search")


def _survivors(found: Findings) -> list[str]:
    """Trials of the last step that go on: those that are not worse than its best, pair by pair."""
    if not found.searched:
        return []
    number = len(found.searched) - 1
    of_step = [trial for trial in found.trials if trial.step == number]
    trials = {name: one for (name, _), one in zip(found.searched[-1].trials, of_step)}
    return [
        name
        for name, trial in trials.items()
        if trial.pairs and not samplers.hopeless(trial, [one for one in trials.values() if one.pairs])
    ]


def _best(found: Findings) -> str:
    """The agent whose point is the best of those played, on the surface."""
    if not found.searched:
        return START
    names = list(found.values)
    points = np.array([found.space.point(found.values[name]) for name in names])
    return names[int(found.surface.at(points)[0].argmax())]


def _first_of_match(found: Findings) -> Step | None:
    spec = found.space.spec(found.best)
    names = {found.space.spec(values): name for name, values in found.values.items()}
    before = sum(name.startswith(RECOMMENDED) for step in found.steps for name, _ in step.agents)
    name = names.get(spec, f"{RECOMMENDED} {before + 1}" if before else RECOMMENDED)
    if name == START:
        return None
    begin = max(end for step in found.steps for *_, end in step.matches)
    made = [] if spec in names else [(name, spec)]
    return Step("confirm", made, [], [(name, START, begin, begin + _openings(found, 0))])


def _more_of_match(found: Findings) -> Step | None:
    name, begin, end = found.confirming or ("", 0, 0)
    more = _openings(found, end - begin)
    if found.test.is_over or more <= 0:
        return None
    return Step("confirm", [], [], [(name, START, end, end + more)])


def _openings(found: Findings, played: int) -> int:
    """Openings of the confirming match's next batch."""
    return min(max(LEAST_CONFIRMED // found.tuning.conditions, played // MORE, 1), found.tuning.most_confirmed - played)


def _check_opponents(found: Findings) -> None:
    """TuningError if all opponents always win or lose."""
    told = []
    for other in dict.fromkeys(other for _, other in found.matches):
        pairs = [pair.won for one, met in found.matches if met == other for pair in found.of(one, other).values()]
        share = sum(pairs) / (2 * len(pairs)) if pairs else 0.5
        if 2 * len(pairs) < ENOUGH or 1 - SURE < share < SURE:
            return
        told.append(
            f"{other} {'lost' if share > 0.5 else 'won'} {max(share, 1 - share):.0%} of the points"
            f"{_instead(other, stronger=share > 0.5)}"
        )
    raise TuningError("; ".join(told) + ": such games do not tell values apart")


def _instead(spec: str, stronger: bool) -> str:
    """Words that name a stronger, or a weaker, opponent."""
    try:
        agent: Any = agents.make(spec)
    except ValueError:
        return ""
    own = next((key for key in BUDGETS if getattr(agent, key, None)), None)
    if own is None:
        return f"; take a {'stronger' if stronger else 'weaker'} one, or 'start'"
    now = getattr(agent, own)
    amount = 4 * now if stronger else now / 4 if isinstance(now, float) else max(1, now // 4)
    return f"; take a {'stronger' if stronger else 'weaker'} one, such as {replace(agent, **{own: amount})}"
