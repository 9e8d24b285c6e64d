"""Parallel schemes against the serial search: for each game and budget, matches in one store of their own.

Each scheme meets its own search with one worker: at equal time, with the playouts of all workers together (search
overhead), then with the factors of `even_factor.next_factor` until each strength speed-up has an interval.
Results alone decide which matches follow, so a resumed study gives the same ones.
"""

import json
import math
import os
import re
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pandas as pd
from msgspec import Meta

from arena import agents, games, results
from arena.agents.core.agent import Agent
from arena.agents.core.agent_check import random_line
from arena.agents.montecarlo.method_search import TreeSearch
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.uct import UCT
from arena.config.config import ConfigError
from arena.config.keys import MAX_COUNT
from arena.config.loading import from_values, text_of, values_in
from arena.config.several import RangeError, spelled_out
from arena.games.core.game import CHANCE
from arena.games.core.random import stream
from arena.games.core.shared.files import read_plain, write_whole
from arena.games.core.shared.registry import parse_spec
from arena.games.core.shared.system import cores
from arena.results.database.store import FILE_NAME, StoreExists, busy
from arena.results.papers import strength_scaling
from arena.results.statistics.even_factor import FINE, next_factor
from arena.runner import study_kinds
from arena.runner.running import QUIETLY, Playing
from arena.runner.steps import Grown, play_steps
from arena.study.cells import Count, Games, Plan, Seed

TIMES = "times.json"
SCHEMES = ("root", "leaf", "tree", "tree(virtual_loss=0)", "tree(wu=true)", "pipeline")
WORKERS = (1, 2, 4, 8, 16)
LEAST, MOST = 0.25, 4.0  # the least factor tried; the largest, over the number of workers
TIMED = 40  # positions timed before play
ENOUGH = 50  # playouts of a worker for each search under way
NEAR = 0.025  # share of the serial search's time that counts as equal
OWN_WORKERS = re.compile(r",?\s*\bworkers\s*=\s*(\d{1,4})\b")
MOST_SCHEMES = 10_000
Playouts = Annotated[int, Meta(ge=round(1 / LEAST), le=MAX_COUNT)]


class Point(NamedTuple):
    """A scheme, without workers and budget, with a number of workers."""

    scheme: str
    workers: int

    @property
    def name(self) -> str:
        """Its name in the tournament."""
        return f"{self.scheme} x{self.workers}"


@dataclass(frozen=True)
class SchemesStudy(Plan):
    """A study: all schemes on each game at each budget.

    instances: the games; schemes: specs without budget, with or without numbers of workers; workers: for those without;
    playouts: of each worker for a move, a study for each; games: of each match, an even number; threads: real threads
    instead of simulated workers, so that results depend on timing; serial: the search to compare with, "" for each its
    own
    """

    instances: Annotated[tuple[str, ...], Meta(min_length=1)]
    schemes: Annotated[tuple[str, ...], Meta(min_length=1)] = SCHEMES
    workers: Annotated[tuple[Count, ...], Meta(min_length=1)] = WORKERS
    playouts: Annotated[tuple[Playouts, ...], Meta(min_length=1)] = (100,)
    games: Games = 200
    opening_plies: int = 2
    seed: Seed = 0
    threads: bool = False
    serial: str = ""

    FILE, WHAT = study_kinds.SCHEMES.file, "schemes"
    GROWS = "add games, instances, schemes, workers or playouts to what it has"
    ALSO = {"game": "instances"}

    # -- What is wrong --------------------------------------------------------------------------------------------

    def faults(self):
        found = [
            f"game = {game!r}: is for one player; parallel searches are compared in matches"
            for game in self.instances
            if games.make(game).players != 2
        ]
        found += self._problems_of_schemes() + self._serial_problems()
        for cell in self.cells() if not found else ():
            from_values(cell.config(cell.matches([], cell.first_pairings({})), {}), "schemes")
        return found

    def _problems_of_schemes(self) -> list[str]:
        problems = []
        for spec in self.schemes:
            try:
                every = spelled(spec)
            except RangeError as error:
                problems.append(f"scheme {spec}: {error}")
                continue
            problems += next(filter(None, (self._problems_of(spec, *one) for one in every)), [])
        return problems

    def _problems_of(self, spec: str, bare: str, own: int | None) -> list[str]:
        _, unnamed, named = parse_spec(bare)
        given = {"playouts", "seconds", "total", "simulated"} & set(named)
        if unnamed:
            return [f"scheme {spec}: {unnamed[0]} needs its parameter's name, such as virtual_loss=0"]
        if given:
            return [f"scheme {spec}: {', '.join(sorted(given))} cannot be given in it; the study sets them"]
        if not isinstance(agents.make(bare), Scheme):
            schemes = [name for name in agents.names() if isinstance(agents.make(name), Scheme)]
            return [f"scheme {spec}: is not a parallel search; there are {', '.join(schemes)}"]
        try:
            for workers in self.workers if own is None else [own]:
                self._with(bare, workers, max(self.playouts))
        except ValueError as error:
            real = "; give --threads" if "simulated" in str(error) and not self.threads else ""
            return [f"scheme {spec}: {error}{real}"]
        return []

    def _serial_problems(self) -> list[str]:
        if not self.serial:
            return []
        if {"playouts", "seconds"} & set(parse_spec(self.serial)[2]):
            return [f"serial {self.serial}: a budget cannot be given in it; the study sets it"]
        if not isinstance(agents.make(self.serial), TreeSearch):
            return [f"serial {self.serial}: is not a search of one tree, such as uct, grave, ppa or mast"]
        return []

    # -- Its parts ------------------------------------------------------------------------------------------------

    def cells(self) -> list["SchemesStudy"]:
        """The studies of one game and one budget."""
        return [replace(self, instances=(game,), playouts=(n,)) for game in self.instances for n in self.playouts]

    def points(self) -> list[Point]:
        """Every scheme with every number of workers, each once."""
        found = []
        for spec in self.schemes:
            counts: dict[str, set[int]] = {}
            for bare, own in spelled(spec):
                counts.setdefault(bare, set()).update(self.workers if own is None else [own])
            found += [Point(bare, workers) for bare, every in counts.items() for workers in sorted(every)]
        return list(dict.fromkeys(found))

    def notes(self) -> list[str]:
        """Sentences on schemes for which the budget is too small, or whose threads take turns."""
        agents_of: dict[str, Any] = {point.scheme: agents.make(point.scheme) for point in self.points()}
        locking = {
            scheme: agent.searcher().locking()
            for scheme, agent in agents_of.items()
            if getattr(agent, "lock", "") == "free" and getattr(agent, "search", "")
        }
        turns = [
            f"{scheme}: on threads there is one lock for all but the playout, since {', '.join(names)} "
            f"{'keeps' if len(names) == 1 else 'keep'} more than sums."
            for scheme, names in locking.items()
            if names
        ]
        jobs = {scheme: getattr(agent, "jobs", 0) for scheme, agent in agents_of.items()}
        return turns + [
            f"{scheme}: {n} searches of each worker are under way at a time; with fewer than {n * ENOUGH} playouts of "
            "each worker, what it costs to choose before they are known is most of what is seen."
            for scheme, n in jobs.items()
            if n * ENOUGH > min(self.playouts)
        ]

    def extends(self, other):
        """Whether all that the other plays is part of this."""
        lists = {"instances", "playouts"}
        more = all(set(getattr(other, key)) <= set(getattr(self, key)) for key in lists) and self.games >= other.games
        grown = {key: getattr(self, key) for key in lists | {"games", "schemes", "workers"}}
        return more and set(other.points()) <= set(self.points()) and replace(other, **grown) == self

    # -- Of a study of one game and one budget --------------------------------------------------------------------

    @property
    def game(self) -> str:
        return self.instances[0]

    @property
    def each(self) -> int:
        """The playouts of each worker for a move."""
        return self.playouts[0]

    def parallel(self, point: Point) -> Any:
        """The agent of a scheme with so many workers."""
        return self._with(point.scheme, point.workers, self.each)

    def _with(self, scheme: str, workers: int, playouts: int) -> Any:
        return replace(agents.make(scheme), workers=workers, playouts=playouts, simulated=not self.threads)

    def own_serial(self, scheme: str) -> Any:
        """The search that a scheme is compared with, without a budget."""
        return agents.make(self.serial) if self.serial else search_of(scheme)

    def is_serial(self, point: Point) -> bool:
        """Whether a scheme is the search that it is compared with, so that its speed-up is 1."""
        own = self.own_serial(point.scheme) == search_of(point.scheme)
        return own and self.parallel(point).is_serial()

    def serial_name(self, scheme: str, factor: float) -> str:
        """The name of a scheme's serial search with `factor` times a worker's playouts."""
        return self._named(self.own_serial(scheme), factor)

    def _named(self, own: Agent, factor: float) -> str:
        return f"{own}, {round(factor * self.each)} playouts"

    def factors(self, point: Point, times: dict[str, float]) -> list[float]:
        """Its serial search's factors: those of `next_factor`, its workers, and equal time."""
        most = max(count for scheme, count in self.points() if scheme == point.scheme)
        equal = equal_factor(times.get(point.name, math.nan), self.each)
        known = {float(point.workers)} | ({equal} if equal else set())
        lowest, highest = min(LEAST, *known), max(MOST * most, *known)  # matches lie within, or between two known ones
        steps = range(math.ceil(FINE * math.log2(lowest)), math.floor(FINE * math.log2(highest)) + 1)
        return sorted({max(1, round(2.0 ** (k / FINE) * self.each)) / self.each for k in steps} | known)

    def matches(self, known: list, pairs: Iterable[tuple[str, str]]) -> list:
        """The listed matches of these pairs, after those known: what is added changes no game of theirs."""
        ends: dict[tuple[str, str], int] = {}
        for one, other, _, end in known:
            ends[one, other] = max(end, ends.get((one, other), 0))
        return known + [[*pair, 0, self.games // 2] for pair in pairs if ends.get(pair, 0) < self.games // 2]

    def config(self, matches: list, times: dict[str, float], begun: Iterable[str] = ()) -> dict:
        """The tournament's configuration, with these listed matches; the agents of a run that has begun come first."""
        serials: dict[str, Agent] = {}
        for point in self.points():
            own = self.own_serial(point.scheme)
            for factor in self.factors(point, times):
                serials[self._named(own, factor)] = replace(own, playouts=round(factor * self.each))
        made = serials | {point.name: self.parallel(point) for point in self.points()}
        names = dict.fromkeys([*(name for name in begun if name in made), *made])
        return {
            "game": self.game,
            "format": "matches",
            "opening_plies": self.opening_plies,
            "seed": self.seed,
            "agents": [{"name": name, "agent": str(made[name])} for name in names],
            "matches": matches,
        }

    def first_pairings(self, times: dict[str, float]) -> list[tuple[str, str]]:
        """Each point against the playouts of all its workers, and at equal time if known."""
        found = []
        for point in self.points():
            equal = equal_factor(times.get(point.name, math.nan), self.each)
            factors = sorted({float(point.workers)} | ({equal} if equal else set()))
            found += [(point.name, self.serial_name(point.scheme, factor)) for factor in factors]
        return found


def search_of(scheme: str) -> Any:
    """What a scheme makes parallel."""
    agent: Any = agents.make(scheme)
    return agent.searcher() if hasattr(agent, "searcher") else UCT(exploration=agent.exploration)


def spelled(spec: str) -> list[tuple[str, int | None]]:
    """`tree(workers=1..2, wu=true)` -> [("tree(wu=true)", 1), ("tree(wu=true)", 2)]; None without workers."""
    return [_split(one) for one in spelled_out(spec, MOST_SCHEMES, lists=True)]


def _split(scheme: str) -> tuple[str, int | None]:
    found = OWN_WORKERS.search(scheme)
    if not found:
        return scheme, None
    bare = re.sub(r"\(\s*,\s*", "(", scheme[: found.start()] + scheme[found.end() :])
    return re.sub(r"\(\s*\)", "", bare), int(found[1])


def equal_factor(time: float, playouts: int) -> float | None:
    """How many of a worker's playouts fit in a scheme's time, which is over the serial search's with one worker's
    playouts; None if unknown.
    """
    if math.isnan(time):
        return None
    return 1.0 if abs(time - 1) <= NEAR else max(round(time * playouts), 1) / playouts


# -- Files --------------------------------------------------------------------------------------------------------


def read_file(path: Path) -> SchemesStudy:
    """The study of a TOML file; ConfigError says what is wrong."""
    return from_keys(values_in(text_of(path), path), str(path))


def from_keys(given: Mapping[str, Any], source: str) -> SchemesStudy:
    """The study of a file's keys; ConfigError says what is wrong in `source`.  `game` is one of `instances`."""
    values, game = dict(given), given.get("game")
    if values.pop("game", None) is not None and isinstance(others := values.get("instances", ()), list | tuple):
        values["instances"] = [game, *others]
    if isinstance(each := values.get("playouts"), int):
        values["playouts"] = [each]
    return SchemesStudy.from_values(values, source)


def places(study: SchemesStudy, folder) -> Iterator[tuple[SchemesStudy, Path]]:
    """Studies of one game and budget, with folders: the study's own if there is one.  ConfigError if one is a link."""
    cells = study.cells()
    for cell in cells:
        place = Path(folder) if len(cells) == 1 else Path(folder, slug(cell))
        if len(cells) > 1 and place.is_symlink():
            raise ConfigError([f"{place} is a symbolic link, and a study's games are played in its folder"])
        yield cell, place


def slug(cell: SchemesStudy) -> str:
    """The name of the folder of a study of one game and budget, within one of several."""
    return re.sub(r"\W+", "-", f"{cell.game}-{cell.each}").strip("-")


def begun(study: SchemesStudy | None, folder: Path, resume: bool) -> SchemesStudy:
    """`SchemesStudy.begin`; a study of one game and budget that is to have several gives its run a folder within.

    The run's plan is copied first, and its games are moved last: a kill in between leaves the rest to the next call.
    """
    in_own = (folder / FILE_NAME).exists()
    if in_own and study is not None and len(study.cells()) > 1 and study.extends(stored := SchemesStudy.read(folder)):
        if busy(folder):
            raise ConfigError([f"{folder} is in play"])
        if len(stored.cells()) == 1:
            SchemesStudy.begin(stored, folder / slug(stored), True)
    study = SchemesStudy.begin(study, folder, resume)
    if in_own and len(study.cells()) > 1:
        (place,) = (path.parent for path in folder.glob(f"*/{SchemesStudy.FILE}"))
        of_run = [path for path in folder.iterdir() if path.is_file() and path.name != SchemesStudy.FILE]
        for path in sorted(of_run, key=lambda path: path.name == FILE_NAME):
            path.replace(place / path.name)
    return study


# -- Playing ------------------------------------------------------------------------------------------------------


def run(study: SchemesStudy | None, out, resume: bool = False, playing: Playing = QUIETLY) -> pd.DataFrame:
    """Play the study's matches; returns the table of `results.papers.strength_scaling.table`.

    With `resume`, continue the stored study, or the given one if it `extends` that.
    """
    folder = Path(out)
    if study is not None and not resume and (folder / FILE_NAME).exists():
        raise StoreExists(f"{folder} holds a tournament already")
    study = begun(study, folder, resume)
    for cell, place in places(study, folder):
        if place != folder:
            SchemesStudy.begin(cell, place, True)
    for cell, place in places(study, folder):
        play_steps(_rounds(cell, place, playing.tell), place, playing)
    return load(folder)


def schemes(
    file: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    processes: int | None = None,
    resume: bool = False,
    cluster: Any = None,
    changed: bool = False,
    **keys: Any,
) -> pd.DataFrame:
    """Compare parallel schemes; returns a row for each game, budget, scheme and number of workers.

        arena.schemes(game="connect4", schemes=["root", "tree(workers=1..8)"], playouts=100, out="runs/schemes")

    file: a TOML file, or None if `keys` are those of such a file
    out: the folder of the study; None makes a temporary one
    processes: the cores to use; None uses all that this process may use
    resume, cluster, changed, errors: as of `arena.run`; with `resume`, a study may have more games of a match, and
    more instances, schemes, workers and playouts: what was played is not played again
    """
    if file is not None and keys:
        raise TypeError(f"a file is complete: it takes no {', '.join(keys)} besides")
    study = read_file(Path(file)) if file is not None else from_keys(keys, "schemes")
    return run(study, out or tempfile.mkdtemp(prefix="arena-schemes-"), resume, Playing(processes, cluster, changed))


def _rounds(cell: SchemesStudy, folder: Path, tell) -> Iterator[Grown]:
    """What is left of the stored matches with those that a study has at least, then those that results ask for."""
    times = _times(cell, folder, tell)
    names, known = _stored(folder)
    pairs = [*((one, other) for one, other, *_ in known), *cell.first_pairings(times)]
    for number in count(1):
        matches = cell.matches(known, dict.fromkeys(pairs))
        more = f"{len(matches) - len(known)}{' more' if known else ''} matches"
        config = from_values(cell.config(matches, times, names), str(folder))
        yield Grown(config, f"{cell.game}, {cell.each} playouts, round {number}: {more}")
        names, known = [name for name, _ in config.agents], matches
        if not (pairs := _next_pairings(cell, folder, times)):
            return


def _stored(folder) -> tuple[list[str], list]:
    """The names of a stored run's agents, and its matches; nothing if none has begun."""
    if not (folder / FILE_NAME).exists():
        return [], []
    config = results.load(folder).meta["config"]
    if "matches" not in config:
        raise ConfigError([f"{folder} was begun by a version that played studies as round robins; play it anew"])
    return [agent["name"] for agent in config["agents"]], config["matches"]


def _next_pairings(cell, folder, times) -> list[tuple[str, str]]:
    matches = _matches(cell, results.load(folder), times)
    factors = {point: next_factor(matches[point], LEAST, MOST * point.workers, cell.each) for point in cell.points()}
    return [
        (point.name, cell.serial_name(point.scheme, factor)) for point, factor in factors.items() if factor is not None
    ]


def _matches(cell, played, times) -> dict:
    """{point: {factor: pairs of games}} of the matches played."""
    counts = strength_scaling.counts_by_pair(played.pairs())
    return {
        point: {
            factor: counts[key]
            for factor in cell.factors(point, times)
            if (key := (point.name, cell.serial_name(point.scheme, factor))) in counts and counts[key].sum() > 0
        }
        for point in cell.points()
    }


# -- Time ---------------------------------------------------------------------------------------------------------


def _times(cell: SchemesStudy, folder: Path, tell) -> dict[str, float]:
    """{name of a point: time of a move over its serial search's}, measured once."""
    found = _stored_times(folder)
    if not (lacking := [point for point in cell.points() if point.name not in found]):
        return found
    tell(f"{cell.game}, {cell.each} playouts: measuring the time of a move")
    found |= {point.name: _time(cell, point) for point in lacking}
    known = {name: None if math.isnan(time) else time for name, time in found.items()}
    write_whole(folder / TIMES, json.dumps(known, indent=1).encode(), folder)
    return found


def _stored_times(folder: Path) -> dict[str, float]:
    """What has been measured; nothing if nothing was."""
    try:
        found = json.loads(read_plain(folder / TIMES))
        return {name: math.nan if time is None else float(time) for name, time in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ConfigError([f"{folder / TIMES}: is damaged: {error}"]) from None


def _time(cell: SchemesStudy, point: Point) -> float:
    """The time of a point's move over its serial search's; NaN with more threads than cores, which measures nothing.

    In virtual time the serial search is the scheme with one worker and one simulation in flight.
    """
    agent = cell.parallel(point)
    if cell.threads:
        serial = replace(cell.own_serial(point.scheme), playouts=cell.each)
        measured = "seconds"
        if point.workers > cores():
            return math.nan
    else:
        serial = replace(agent, workers=1, **({"tokens": 1} if hasattr(agent, "tokens") else {}))
        measured = "virtual_time"
    one, other = (_typical(cell, each, measured) for each in (agent, serial))
    return one / other


def _typical(cell: SchemesStudy, agent, measured: str) -> float:
    game, times = games.make(cell.game), []
    player = agent.player(game)
    player.choose(game.initial(), stream(cell.seed, "time"))  # compiles
    for number in range(TIMED):
        state, line = game.initial(), random_line(game, cell.seed + number)
        for move in line[: len(line) * number // TIMED]:
            game.play(state, move)
        if game.player(state) != CHANCE:
            times.append(getattr(player.choose(state, stream(cell.seed, "time", number)), measured))
    player.close(None)
    return statistics.fmean(times)


# -- Results ------------------------------------------------------------------------------------------------------


def load(folder) -> pd.DataFrame:
    """The table of a stored study, finished or not; see `results.papers.strength_scaling.table`.

    ConfigError if there is none in the folder, or none of its games has begun.
    """
    points = [
        row
        for cell, place in places(SchemesStudy.read(Path(folder)), folder)
        if (place / FILE_NAME).exists()
        for row in _rows(cell, place)
    ]
    if not points:
        raise ConfigError([f"{folder}: the study holds no match yet; to play it: arena run --out {folder} --resume"])
    return strength_scaling.table(points)


def versions(folder) -> list[str]:
    """Sentences on code that changed while matches of a stored study were played."""
    stored = [place for _, place in places(SchemesStudy.read(Path(folder)), folder) if (place / FILE_NAME).exists()]
    return list(dict.fromkeys(f"{place.name}: {text}" for place in stored for text in results.load(place).versions))


def _rows(cell: SchemesStudy, folder: Path) -> list[dict]:
    played, times = results.load(folder), _stored_times(folder)
    matches = _matches(cell, played, times)
    moves = played.moves().groupby("agent")[["nodes", "playouts"]].sum(min_count=1)
    return [
        {
            "game": cell.game,
            "playouts": cell.each,
            "scheme": point.scheme,
            "workers": point.workers,
            "serial": str(cell.own_serial(point.scheme)),
            "is_serial": cell.is_serial(point),
            "matches": matches[point],
            "time": times.get(point.name, math.nan),
            "equal": equal_factor(times.get(point.name, math.nan), cell.each),
            "nodes_per_playout": _ratio(moves, point.name),
        }
        for point in cell.points()
    ]


def _ratio(moves, name: str) -> float:
    if name not in moves.index or not moves.loc[name, "playouts"]:
        return math.nan
    return float(moves.loc[name, "nodes"] / moves.loc[name, "playouts"])
