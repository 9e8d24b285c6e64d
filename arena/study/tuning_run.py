"""Plays a tuning: its file, its steps in a store, and what was found, in words and as a table."""

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from arena import results
from arena.config.config import ConfigError
from arena.config.loading import import_plugins_of, text_of, values_in
from arena.formats.base import Way
from arena.results.database.store import FILE_NAME
from arena.results.shown.kinds import TRIALS
from arena.results.statistics.elo import Z
from arena.runner.running import QUIETLY, Playing
from arena.runner.steps import Grown, play_steps
from arena.study import cells
from arena.study.space import space_of
from arena.study.tuning import RECOMMENDED, START, Findings, Pairs, PlayedPair, Step, Tuning
from arena.study.tuning_steps import next_step

STEPS = "steps.jsonl"
TYPES = {"agents": list, "trials": list, "matches": list, "kind": str}
BEST = 10  # trials for a person
AT_THE_END = 0.01  # of a range: a point of its hundred
SHOWN = 5  # steps, after which the best region is told: it takes a second to find


def read_file(path: Path) -> Tuning:
    """The tuning of a TOML file; ConfigError says what is wrong."""
    return from_keys(values_in(text_of(path), path), str(path))


def from_keys(values: Mapping[str, Any], source: str = "tune") -> Tuning:
    """The tuning of these keys, the file's; those of a run go to its configuration."""
    own = {one.name for one in fields(Tuning) if one.name != "run"}
    given = {key: value for key, value in values.items() if key in own}
    if isinstance(against := given.get("against"), str):
        given["against"] = (against,)
    given["run"] = {key: value for key, value in values.items() if key not in own}
    tuning = Tuning.from_values(given, source)
    import_plugins_of(tuning.run, source)  # which may have the agent
    space_of(tuning.agent, tuning.parameters, source)
    return tuning


def run(tuning: Tuning | None, out, resume: bool = False, playing: Playing = QUIETLY) -> Findings:
    """Search, confirm, and return what was found; TuningError if games cannot tell values apart.

    With `resume`, continue the stored tuning, or the given one if it `extends` that.
    """
    folder = Path(out)
    tuning = Tuning.begin(tuning, folder, resume)
    with cells.growing(folder / STEPS, TYPES) as (stored, add):
        play_steps(_steps(tuning, list(map(_step, stored)), add, folder), folder, playing)
    return load(folder)


def _steps(tuning: Tuning, steps: list[Step], add: Callable[[dict], None], folder: Path) -> Iterator[Grown]:
    """What is left of the stored steps, then those that results ask for, each stored before it is played."""
    if steps:
        yield Grown(tuning.config(steps))
    while (step := next_step(found := Findings(tuning, steps, _stored_pairs(folder)))) is not None:
        steps = [*steps, step]
        config = tuning.config(steps)  # nothing is written that cannot be played
        add(asdict(step))
        yield Grown(config, _about(found, step))


def tune(
    file: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "",
    *,
    workers: int | None = None,
    resume: bool = False,
    cluster: Any = None,
    changed: bool = False,
    **keys: Any,
) -> Findings:
    """Tune an agent and return what was found: `.recommended`, `.estimate` of the confirming match, `.surface`.

        arena.tune(game="connect4", agent="uct(playouts=1000)", parameters={"exploration": [0.1, 2.0]}, out="runs/tune")

    file: a TOML file, or None if `keys` are those of such a file; out: the folder; else as of `arena.run`
    """
    tuning = read_file(Path(file)) if file is not None else from_keys(keys) if keys else None
    if file is not None and keys:
        raise TypeError(f"a file is complete: it takes no {', '.join(keys)} besides")
    return run(tuning, out, resume, Playing(workers, cluster, changed))


def load(folder) -> Findings:
    """What the tuning in a folder has found so far; ConfigError if there is none."""
    folder = Path(folder)
    return Findings(Tuning.read(folder), list(map(_step, cells.rows(folder / STEPS, TYPES))), _stored_pairs(folder))


def _step(row: dict[str, Any]) -> Step:
    try:
        return msgspec.convert(row, Step)
    except msgspec.ValidationError as error:
        raise ConfigError([f"{STEPS}: is damaged: {error}"]) from None


def _stored_pairs(folder: Path) -> Pairs:
    """The results of a run so far, by the pairs of agents in the order of the configuration."""
    if not (folder / FILE_NAME).exists():
        return {}
    played = results.load(folder)
    place = {agent["name"]: number for number, agent in enumerate(played.agents)}
    columns = ["condition", "opening", "first", "second", "outcome", "opening_moves", "moves", "reason"]
    halves: dict[tuple, dict[int, tuple]] = {}
    repeats = played.repeats if len(played.repetitions) else [False] * len(played)
    for row, again in zip(played.games[columns].itertuples(index=False), repeats):
        side = int(place[row.first] > place[row.second])
        pair = (row.second, row.first) if side else (row.first, row.second)
        points = None if row.outcome is None or math.isnan(row.outcome) else abs(row.outcome - side)
        way = Way(row.opening_moves, row.moves, row.reason)
        halves.setdefault((*pair, row.condition, row.opening), {})[side] = (points, way, bool(again))
    found: Pairs = {}
    for (one, other, condition, opening), both in halves.items():
        if len(both) == 2:
            points, ways, again = zip(both[0], both[1])
            found.setdefault((one, other), {})[condition, opening] = PlayedPair(points, ways, all(again))
    return found


# -- Words and tables -------------------------------------------------------------------------------------------------


def _about(found: Findings, step: Step) -> str:
    tuning, number = found.tuning, len(found.steps) + 1
    if step.kind == "confirm":
        name, begin, end = found.confirming or (step.matches[0][0], 0, 0)
        return f"step {number}: {name} against {START}, {2 * (end - begin) * tuning.conditions:,} games so far"
    where = f"; {regions(found)}" if len(found.searched) % SHOWN == SHOWN - 1 else ""
    return f"step {number}: {found.games:,} of {tuning.games:,} games{where}"


def regions(found: Findings) -> str:
    """Where the best values are, as far as known: `exploration 0.31 to 0.55`."""
    if found.tuning.sampler == "spsa":
        return ", ".join(f"{own.name} {own.shown(place)}" for own, place in zip(found.space.parameters, found.path[-1]))
    return ", ".join(_region(found, number) for number in range(len(found.space.parameters)))


def _region(found: Findings, number: int) -> str:
    own = found.space.parameters[number]
    if own.choices:
        likely = found.surface.likely(number).items()
        return f"{own.name} {' or '.join(f'{own.choices[choice]} ({100 * share:.0f} %)' for choice, share in likely)}"
    return f"{own.name} {' to '.join(own.shown(place) for place in found.surface.region(number))}"


def summary(found: Findings) -> list[str]:
    """What was found, in sentences."""
    tuning, start, lines = found.tuning, found.space.start(), []
    for number, own in enumerate(found.space.parameters):
        line = f"{own.name}: {found.best[own.name]} (before: {start[own.name]})"
        if tuning.sampler != "spsa":
            line += f", 95 % region {_region(found, number).removeprefix(own.name + ' ')}"
            if not _matters(found, number):
                line += f"; {found.games:,} games do not show that it matters"
            elif not own.choices and min(found.peak[number], 1 - found.peak[number]) < AT_THE_END:
                line += "; the end of its range: better values may lie beyond"
        lines.append(line + ".")
    return [*lines, verdict(found)]


def _matters(found: Findings, number: int) -> bool:
    """Whether some value of a parameter is worse than the best, the others at their best, by twice its error."""
    size = found.space.sizes[number]
    points = np.repeat(found.peak[None], size or 11, axis=0)
    points[:, number] = np.arange(size) if size else np.linspace(0, 1, 11)
    below, error = found.surface.elo(points, found.peak)
    return bool((below < -2 * error).any())


def verdict(found: Findings) -> str:
    """Whether the confirming match confirmed, in a sentence; before that, how far the tuning is."""
    if not found.is_searched:
        return f"{found.played:,} of {max(found.games, found.tuning.games):,} games of the search are played."
    if not found.confirming:
        if found.nothing_better:
            return "Nothing better than the agent as it is was found: keep it."
        return "The search is over; the match that is to confirm what it found has not begun."
    test, estimate, wanted = found.test, found.estimate, found.tuning.test
    elo = "no Elo yet"
    if estimate.elo is not None:
        elo = f"{estimate.bound or ''}{estimate.elo:+.0f}{'' if estimate.bound else f' ± {estimate.error:.0f}'} Elo"
    games = f"{elo} against the agent as it is, in {sum(test.counts):,} pairs of games from other openings"
    if not found.is_over:
        return f"Not confirmed yet: {games}; the match goes on."
    if test.no_verdict:
        return f"Not confirmed: {games}; {test.no_verdict}."
    if test.state.verdict == "H1":
        return f"Confirmed: {games}; H1 accepted (normalized Elo {wanted.elo1:g}, not {wanted.elo0:g})."
    why = "H0 accepted" if test.state.verdict == "H0" else "no verdict after all games"
    return f"Not confirmed: {games}; {why}. Keep the values as they were."


def result(found: Findings) -> dict[str, Any]:
    """What was found, as plain values: for each parameter its value before, at the peak and recommended; the region.

    Until the confirming match has confirmed the best values, what is recommended is the agent as it is.
    """
    spsa, confirmed = found.tuning.sampler == "spsa", found.test.state.verdict if found.confirming else None
    rows: dict[str, dict[str, Any]] = {}
    for number, own in enumerate(found.space.parameters):
        of = {"start": found.space.start(), "best": found.best, "recommended": found.recommended}
        rows[own.name] = {what: values[own.name] for what, values in of.items()}
        if own.choices and not spsa:
            rows[own.name]["shares"] = dict(zip(map(str, own.choices), found.surface.shares(number).tolist()))
        elif not spsa:
            rows[own.name]["low"], rows[own.name]["high"] = map(own.value, found.surface.region(number))
    estimate = found.estimate if found.confirming else None
    return {
        "agent": found.space.spec(found.recommended),
        "parameters": rows,
        "games": found.games,
        "verdict": confirmed,
        "pairs": sum(found.test.counts),
        "elo": estimate and estimate.elo,
        "error": estimate and estimate.error,
        "text": summary(found),
    }


def table(found: Findings) -> pd.DataFrame:
    """A row for each agent that was tried: step, trial, its values, games, score (NaN without games) and Elo.

    The best by the surface is first, since the one with most points was lucky.  Elo is the surface's, over the agent as
    it is, with its 95 % error; of SPSA, whose agents meet each other alone, there is none.
    """
    met: dict[str, list[float]] = {}
    for one, other in found.matches:
        met.setdefault(one, []).extend(pair.won for pair in found.of(one, other).values())
    names = list(dict.fromkeys(name for step in found.searched for name, _ in step.trials))
    came = {name: number for number, step in reversed([*enumerate(found.searched, 1)]) for name, _ in step.trials}
    frame = pd.DataFrame(
        [
            {"trial": name, "step": came[name], **found.values[name], "games": 2 * len(met.get(name, ()))}
            for name in names
        ]
    )
    frame["score"] = [sum(met[name]) / (2 * len(met[name])) if met.get(name) else math.nan for name in names]
    if found.tuning.sampler != "spsa" and len(found.results.one):
        points = np.array([found.space.point(found.values[name]) for name in names])
        elo, error = found.surface.elo(points, np.array(found.space.point(found.space.start())))
        frame["elo"], frame["error"], frame["bound"] = elo, Z * error, ""
        frame = frame.sort_values("elo", ascending=False, kind="stable", ignore_index=True)
    frame.attrs["kind"] = TRIALS
    return frame


def best(found: Findings) -> tuple[pd.DataFrame, str]:
    """The trials that a person looks at: the best by the surface, or of SPSA the last; and which they are."""
    frame = table(found)
    if "elo" in frame:
        return frame.head(BEST), f"The best of {len(frame)} trials"
    return frame.tail(BEST), f"The last of {len(frame)} trials"


def recommended_toml(found: Findings) -> str:
    """The recommended agent, as a table of a configuration."""
    spec = found.space.spec(found.recommended)
    return f"[[agents]]\nname = {json.dumps(RECOMMENDED)}\nagent = {json.dumps(spec, ensure_ascii=False)}\n"
