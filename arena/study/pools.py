"""Pools of rated agents: an agent joins a stored run, and runs are merged into one.

Whom a newcomer meets follows from closed batches alone, as a tuning's steps do, and never from games in play.
"""

import math
import os
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arena import agents, results
from arena.config.config import Config, ConfigError
from arena.config.keys import composed
from arena.config.loading import from_values
from arena.config.trust import import_stored
from arena.formats.base import formats
from arena.formats.matches import ListedMatches
from arena.formats.schedule import Schedule
from arena.games.core.shared.errors import listed
from arena.games.core.shared.plugins import fixed, named
from arena.games.core.shared.registry import spell
from arena.results.database.record import GameRecord
from arena.results.database.store import Store
from arena.results.shown.tournament import Tournament
from arena.results.statistics.elo import ELO_PER_LOGIT, Z
from arena.runner.events import Events
from arena.runner.running import Playing
from arena.runner.steps import Grown, play_steps
from arena.workers.codes import RULES, codes_of, is_ours, is_same
from arena.workers.machine import sources_of

FIRST, PAIRS = 4, 10  # opponents of a newcomer's first batch, from the best to the worst, and pairs against each
POOLS = 1.5  # errors in the pool, over those against one agent, from which on most is the pool's
BEFORE_DROP = "before-drop.sqlite"
ONE_CODE = 'Of code that Git knows, both can meet: a plug-in "mine@REVISION as old"'
FEW = 3  # games in a message
CHUNK = 5  # pairs that are given to an opponent at once
SAME = ("instances", "budgets", "openings", "opening_plies", "resign", "draw")  # keys of runs that are one
TOLD = ("time_margin", "move_seconds")  # those that may differ


# -- An agent joins ---------------------------------------------------------------------------------------------------


def join(
    folder: str | os.PathLike[str],
    agent: str,
    error: float = 20.0,
    version: str = "",
    games: int = 10_000,
    workers: int | None = None,
    cluster: Any = None,
    changed: bool = False,
    events: Callable[[], Events] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Tournament:
    """Let an agent play agents of a stored run until its rating is known to ± `error` Elo (95 %).

    version: its name in the tables, by default its text; games: the most it plays.  Joining again goes on.
    ConfigError: the run is not complete, or of games for one player, or has an agent of that name.
    """
    place, playing = Path(folder), Playing(workers, cluster, changed, events, tell)
    played = _complete(place)
    import_stored(played.meta["config"])
    made = agents.make(agent)
    name, spec = composed(version or spell(made, every=False, typed=agent)), str(made)
    config = as_matches(played)
    newcomers = {one for came in played.meta.get("joined", []) for one in came["agents"]}
    known = {entry["name"]: entry["agent"] for entry in config["agents"]}
    same = [one for one, text in known.items() if agents.make(text) == made and one != name and not version]
    if same or (name in known and (name not in newcomers or known[name] != spec)):
        held = f"{name} is {same[0]}, which" if same else name
        raise ConfigError([f"{place}: {held} is in the pool already; for another version of it: --version NAME"])
    if config["format"] != played.meta["config"]["format"]:
        with Store.open(place, write=True) as store:
            store.set_config(config, {})
    _refuse_renamed(played)
    if more_plugins := [one for one in map(fixed, named()) if one not in config["plugins"]]:
        config["plugins"] = [*config["plugins"], *more_plugins]
        config["plugin_path"] = config["plugin_path"] or os.getcwd()
    if name not in known:
        config["agents"] = [*config["agents"], {"name": name, "agent": spec}]
    held, now = played.meta.get("codes", {}), codes_of(restored := Config.restored(config))
    gone = {
        one
        for one, agent in restored.agents
        if one != name and is_same(held, now, one) is False and not (changed and is_ours(agent))
    }
    if gone:
        text = f"the code of {' and '.join(sorted(gone))} is another one by now, so {name} does not meet them"
        if gone == known.keys() - {name}:
            raise ConfigError([f"{place}: {text}, and there is no other agent. {ONE_CODE}"])
        tell(f"{text}. {ONE_CODE}")
    play_steps(_batches(config, name, error, games, gone, place), place, playing)
    played = results.load(place)
    if why := limited(played, name, error):
        tell(why)
    return played


def _batches(config, name, error, games, gone, place) -> Iterator[Grown]:
    """The newcomer's batches, each asked for by the results of those before."""
    while more := next_batch(results.load(place), name, error, games, gone):
        config["matches"] = [*config["matches"], *more]
        wanted = ", ".join(f"{other} ({2 * (end - begin)})" for _, other, begin, end in more)
        checked = from_values({key: value for key, value in config.items() if key != "games"}, str(place))
        yield Grown(checked, f"{name} meets {wanted}")


def limited(played: Tournament, name: str, error: float) -> str:
    """Why more games of a newcomer would hardly make its error smaller, in words; "" if they would.

    Its own part of the error is that of its difference from the agent it is best compared with; the rest is the pool's.
    """
    ratings, place = played.ratings, [agent["name"] for agent in played.agents].index(name)
    own = np.nan_to_num(ratings.difference_error[place], nan=math.inf)
    own[place] = math.inf
    nearest = int(own.argmin())
    if not ratings.error[place] > max(error, POOLS * own[nearest]):
        return ""
    return (
        f"{name} is known to ± {ratings.error[place]:.0f} in the pool, and to ± {own[nearest]:.0f} against "
        f"{ratings.agents[nearest]}: "
        "the rest is what is not known of the pool, which more games of the others would tell"
    )


def _refuse_renamed(played: Tournament) -> None:
    """ConfigError for a run in which two codes of an agent share the games of one: nobody can meet the first."""
    for name, other in played.meta.get("renamed", {}).items():
        out = f"arena join {played.folder} --drop {shlex.quote(name)}"
        raise ConfigError([f"{played.folder}: {other} has played the rest of the games of {name}. Drop one: {out}"])


def drop(folder: str | os.PathLike[str], name: str) -> tuple[Tournament, Path]:
    """Take an agent and its games out of a stored run; returns the run, and where the store as it was is kept.

    ConfigError if there is no such agent, or if fewer than two others would be left.
    """
    played = _of_two(Path(folder))
    import_stored(played.meta["config"])
    left = [{"name": one["name"], "agent": one["spec"]} for one in played.agents if one["name"] != name]
    if len(left) == len(played.agents):
        raise ConfigError(
            [f"{folder}: has no agent {name}; its agents are {listed([one['name'] for one in played.agents])}"]
        )
    if len(left) < 2:
        raise ConfigError([f"{folder}: without {name} there would be no two agents that play each other"])
    names = {entry["name"]: entry["name"] for entry in left}
    records, matches = _renumbered([played], [names], list(names))
    config = _listed(played.meta["config"] | {"agents": left}, matches)
    with Store.open(folder, write=True) as store:
        stays = [name not in (record.first, record.second) for record in store.records()]
        meta = store.meta | {"config": config}
        for key in {"joined", "versions"} & meta.keys():  # which count the games that were stored before
            meta[key] = [one | {"games": sum(stays[: one["games"]])} for one in meta[key]]
        meta["joined"] = [one for one in meta.get("joined", []) if one["agents"] != [name]]
        meta["codes"] = {one: code for one, code in meta.get("codes", {}).items() if one != name}
        meta["renamed"] = {}  # the agents that are left are agents like others
        if _is_unchanged(played):
            meta["versions"] = [{"digest": sources_of(Config.restored(config)), "games": 0}]
        rest = [one for one in store.agents if one["name"] != name]
        kept = store.made_anew(records, BEFORE_DROP, meta, rest)
    return results.load(folder), kept


def _of_two(folder: Path) -> Tournament:
    """The run in a folder; ConfigError if nobody is rated by playing in it."""
    played = results.load(folder)
    if Schedule.of(played) is None:
        raise ConfigError([f"{folder}: its games were imported, without the agents that played them"])
    if played.single_player:
        raise ConfigError([f"{folder}: holds games for one player: nobody is rated"])
    return played


def _complete(folder: Path) -> Tournament:
    """The run in a folder; ConfigError if it cannot grow."""
    played = _of_two(folder)
    schedule = Schedule.of(played)
    assert schedule is not None
    if len(schedule) > len(played):
        missing = f"{len(schedule) - len(played):,} games are missing"
        first = f"to play them first: arena run --out {folder} --resume"
        cannot = "; if an agent cannot play them: arena join DIR --drop NAME"
        raise ConfigError([f"{folder}: {missing}; {first}{cannot}"])
    return played


def as_matches(played: Tournament) -> dict[str, Any]:
    """The configuration of a complete run as listed matches, whatever its format was."""
    values = dict(played.meta["config"])
    if values["format"] == ListedMatches.name:
        return values
    openings = played.games.groupby(["first", "second"], sort=False)["opening"].max()
    place = {entry["name"]: number for number, entry in enumerate(values["agents"])}
    most: dict[tuple[str, str], int] = {}
    for (one, other), last in openings.items():
        pair = (one, other) if place[one] < place[other] else (other, one)
        most[pair] = max(most.get(pair, 0), int(last) + 1)
    matches = [(*pair, 0, end) for pair, end in sorted(most.items(), key=lambda item: [place[one] for one in item[0]])]
    return _listed(values, matches)


def _listed(values: Mapping[str, Any], matches: Sequence) -> dict[str, Any]:
    own = {"games", "format", *formats()[values["format"]].Keys.model_fields}
    kept = {key: value for key, value in values.items() if key not in own}
    return from_values(
        kept | {"format": ListedMatches.name, "matches": [list(one) for one in matches]}, "pool"
    ).resolved()


def next_batch(played: Tournament, name: str, error: float, games: int, gone: Collection[str] = ()) -> list[list]:
    """The matches that a newcomer plays next; none if its rating is known well enough, or it has played enough.

    gone: agents that it cannot meet

    A pair of games tells most against opponents of its strength (p (1 - p) of the chance to win), and less the less is
    known of the opponent.  Chunks go where they tell most, until they would do, or are as many as were played so far.
    """
    numbers = {entry["name"]: number for number, entry in enumerate(played.agents)}
    ratings, conditions = played.ratings, len(played.conditions)
    met = _openings_met(played, name)
    others = [one for one in numbers if one != name and one not in gone and math.isfinite(ratings.elo[numbers[one]])]
    if not met:
        ranked = sorted(others, key=lambda one: -ratings.elo[numbers[one]])
        chosen = [ranked[round(place)] for place in np.linspace(0, len(ranked) - 1, min(FIRST, len(ranked)))]
        return [[name, one, 0, PAIRS] for one in dict.fromkeys(chosen)]
    own = ratings.elo[numbers[name]]
    now = ratings.error[numbers[name]] / Z / ELO_PER_LOGIT
    used = 2 * conditions * sum(met.values())
    if used >= games or limited(played, name, error) or (math.isfinite(now) and ratings.error[numbers[name]] <= error):
        return []
    place = np.array([numbers[one] for one in others])
    apart = (ratings.elo[place] - (own if math.isfinite(own) else 0.0)) / ELO_PER_LOGIT
    each = 2 * conditions / (2 + 2 * np.cosh(apart))  # information of a pair of games
    unsure = (np.nan_to_num(ratings.error[place], nan=400.0) / Z / ELO_PER_LOGIT) ** 2
    pairs = np.array([met.get(one, 0) for one in others], float)
    wanted, added = (Z * ELO_PER_LOGIT / error) ** 2, np.zeros(len(others), int)
    most = min(sum(met.values()), -(-(games - used) // (2 * conditions)))
    known = 1 / now**2 if math.isfinite(now) else 0.0
    while added.sum() < most and known < wanted:
        n = pairs + added
        gain = (n + CHUNK) * each / (1 + (n + CHUNK) * each * unsure) - n * each / (1 + n * each * unsure)
        best = int(gain.argmax())
        added[best] += CHUNK
        known += gain[best]
    return [[name, one, met.get(one, 0), met.get(one, 0) + int(more)] for one, more in zip(others, added) if more]


def _openings_met(played: Tournament, name: str) -> Counter:
    """Openings that an agent has played against each other one."""
    found: Counter = Counter()
    for one, other, _, end in played.meta["config"].get("matches", ()):
        if name in (one, other):
            rival = other if one == name else one
            found[rival] = max(found[rival], end)
    return found


# -- Runs are merged --------------------------------------------------------------------------------------------------


def merge(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], changed: bool = False
) -> tuple[Tournament, list[str]]:
    """One run of several of the same games and openings, and what differs between them, in sentences.

    An agent that two runs have is one if its text and its code are the same, else the later run's gets that run's name.
    changed: agents of this package, and the games, are the same though their code has changed.  ConfigError if runs
    cannot be merged.
    """
    runs = [_complete(Path(folder)) for folder in folders]
    for run in runs:
        import_stored(run.meta["config"])  # whose plug-ins are asked for
    first, told = runs[0].meta["config"], []
    for run in runs[1:]:
        for key in SAME:
            was, now = first.get(key), run.meta["config"].get(key)
            if was != now:
                raise ConfigError(
                    [f"{run.folder}: {key} = {now!r}, and {runs[0].folder} has {was!r}: not one tournament"]
                )
        told += [
            f"{run.folder} has {key} = {run.meta['config'].get(key)!r}, {runs[0].folder} {first.get(key)!r}"
            for key in TOLD
            if run.meta["config"].get(key) != first.get(key)
        ]
        told += _differences(runs[0], run)
        if is_same(runs[0].meta.get("codes"), run.meta.get("codes"), RULES) is False and not changed:
            raise ConfigError(
                [f"{run.folder}: its games have other rules than those of {runs[0].folder}, by their code"]
            )
    entries, names, codes = _entries(runs, told, changed)
    records, matches = _renumbered(runs, names, [entry["name"] for entry in entries])
    plugins = list(dict.fromkeys(plugin for run in runs for plugin in run.meta["config"]["plugins"]))
    config = _listed(first | {"agents": entries, "plugins": plugins}, matches)
    meta: dict[str, Any] = {"config": config, "machine": runs[0].meta["machine"]}
    meta["merged"] = [
        {"folder": str(run.folder), "games": len(run), "machine": run.meta["machine"], "versions": run.versions}
        for run in runs
    ]
    meta["codes"] = codes
    if all(_is_unchanged(run) for run in runs):
        meta["versions"] = [{"digest": sources_of(Config.restored(config)), "games": 0}]
    with Store.create(out, meta, [{"name": one["name"], "spec": one["agent"]} for one in entries]) as store:
        store.add_all(records)
    return results.load(out), told


def _differences(one: Tournament, other: Tournament) -> list[str]:
    mine, theirs = one.meta["machine"], other.meta["machine"]
    names = {"cpu": "processors", "numba": "versions of Numba", "project": "versions of this program"}
    return [
        f"{one.folder} and {other.folder} were played with other {what}: {mine.get(key)} and {theirs.get(key)}"
        for key, what in names.items()
        if mine.get(key) != theirs.get(key)
    ]


def _is_unchanged(run: Tournament) -> bool:
    """Whether its games and agents are as they were when it was played."""
    was = run.meta.get("versions", [{"digest": run.meta["machine"]["source_digest"]}])
    return len(was) == 1 and was[0]["digest"] == sources_of(Config.restored(run.meta["config"]))


def _entries(runs, told: list[str], changed: bool) -> tuple[list[dict], list[dict[str, str]], dict[str, dict]]:
    """The agents of all runs, for each run the new names of its own, and the codes of all.

    Agents of a name are one if their text and their code are the same.
    """
    specs: dict[str, str] = {}
    codes: dict[str, dict] = {}
    names: list[dict[str, str]] = []
    for run in runs:
        renamed, held = {}, run.meta.get("codes", {})
        for entry in run.agents:
            name, spec = composed(entry["name"]), entry["spec"]
            same = is_same(codes, held, name, entry["name"])
            if same is False and changed and is_ours(agents.make(spec)):
                told.append(f"{name} of {run.folder} has other code, and is taken for the same")
                same = True
            if (was := specs.get(name, spec)) != spec or same is False:
                what = f"is {spec}, another agent" if was != spec else "has other code, so it is another agent"
                name = f"{name} ({Path(run.folder).name})"
                told.append(f"{entry['name']} of {run.folder} {what}: here it is {name}")
            elif name in specs and same is None:
                told.append(f"whether {name} of {run.folder} has the code of the runs before is not known")
            if specs.setdefault(name, spec) != spec or (
                not same and is_same(codes, held, name, entry["name"]) is False
            ):
                raise ConfigError([f"{run.folder}: two agents would be called {name}"])
            if entry["name"] in held:
                codes.setdefault(name, held[entry["name"]])
            renamed[entry["name"]] = name
        names.append(renamed)
        codes |= {RULES: held[RULES]} if RULES in held else {}
    return [{"name": name, "agent": spec} for name, spec in specs.items()], names, codes


def _renumbered(runs, names, order: list[str]) -> tuple[list[GameRecord], list[tuple]]:
    """The games of all runs with new ids, and the matches that they are; games that two runs share are there once.

    names: for each run the new names of its agents; games of others are left out
    ConfigError if two runs have other results of a game.
    """
    place = {name: number for number, name in enumerate(order)}
    seen: dict[tuple, tuple] = {}  # of each game its result, and where it is
    against: list[str] = []
    places: dict[tuple[str, str, int], int] = {}
    records, matches, shift = [], [], 0
    for run, renamed in zip(runs, names):
        last: dict[tuple[str, str], tuple[int, int]] = {}
        conditions = len(run.conditions)
        with Store.open(run.folder) as store:
            for record in store.records():
                if not {record.first, record.second} <= renamed.keys():
                    continue
                one, other = renamed[record.first], renamed[str(record.second)]
                key = (one, other, record.condition, record.seed, record.opening_moves, record.moves)
                if known := seen.get(key):
                    if known[0] != record.outcome:
                        against.append(f"{known[1]} and {record.id} of {run.folder}")
                    continue
                seen[key] = record.outcome, f"{record.id} of {run.folder}"
                opening = record.opening + shift
                pair = (one, other) if place[one] < place[other] else (other, one)
                low, high = last.get(pair, (opening, opening))
                last[pair] = min(low, opening), max(high, opening)
                number = places.setdefault((*pair, opening), len(places))
                where = f"on{record.condition + 1}" if conditions > 1 else ""
                id = f"{place[one] + 1}v{place[other] + 1}{where}-{opening:04d}"
                number = (number * conditions + record.condition) * 2 + (place[one] > place[other])
                records.append(replace(record, id=id, number=number, opening=opening, first=one, second=other))
        matches += [(*pair, low, high + 1) for pair, (low, high) in last.items()]
        shift = max([shift, *(high + 1 for _, high in last.values())])
    if against:
        few = f"{len(against)} games have the same moves and other results: {'; '.join(against[:FEW])}"
        raise ConfigError([f"{few}; arena check DIR says of each run whether its results follow from its moves"])
    return records, matches
