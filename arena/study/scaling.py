"""How parallel searches scale: matches against the serial search, played as one tournament.

With each number of workers, every scheme meets the serial search with the playouts of one worker (equal time) and with
those of all workers (search overhead); then, in rounds, with the factor in between that
`results.strength_scaling.next_factor` asks for, until each strength speed-up is enclosed.  Results alone decide which
matches follow, so a resumed study gives the same matches.  All games are in one store, which every other command reads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from arena import agents, games, results
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.uct import UCT
from arena.config.config import ConfigError
from arena.config.loading import from_values
from arena.games.core.registry import parse_spec
from arena.results import strength_scaling
from arena.results.store import FILE_NAME, StoreExists
from arena.runner import tournament
from arena.runner.events import Events
from arena.study import kept

FILE = "plan.json"
LEAST, MOST = 0.25, 2.0  # the smallest factor tried; the largest, as a multiple of the number of workers


@dataclass(frozen=True)
class ScalingStudy:
    """The plan of a study.

    schemes: specs without workers and budget; playouts: of each worker, for a move; games: of each match, an even
    number; threads: real threads instead of simulated workers, so that results depend on their timing
    """

    game: str
    schemes: tuple[str, ...]
    workers: tuple[int, ...]
    playouts: int = 100
    games: int = 200
    opening_plies: int = 2
    seed: int = 0
    threads: bool = False
    serial: str = "uct"

    def check(self) -> None:
        """ConfigError with everything that is wrong."""
        problems = [f"workers = {n}: is out of range; it can be 1 or more" for n in self.workers if n < 1]
        problems += [f"{key}: is missing; give one or more" for key in ("schemes", "workers") if not getattr(self, key)]
        if self.playouts < 1 / LEAST:
            problems.append(f"playouts = {self.playouts}: is out of range; it can be {1 / LEAST:.0f} or more")
        if games.make(self.game).players != 2:
            problems.append(f"game = {self.game!r}: is for one player; parallel searches are compared in matches")
        problems += [text for spec in self.schemes for text in self._scheme_problems(spec)]
        problems += self._serial_problems()
        if problems:
            raise ConfigError([f"scaling: {problem}" for problem in problems])
        from_values(self.config(_first_pairings(self)), "scaling")

    def _scheme_problems(self, spec) -> list[str]:
        _, unnamed, named = parse_spec(spec)
        given = {"workers", "playouts", "seconds", "total", "simulated"} & set(named)
        if unnamed:
            return [f"scheme {spec}: {unnamed[0]} needs its parameter's name, such as virtual_loss=0"]
        if given:
            return [f"scheme {spec}: {', '.join(sorted(given))} cannot be given in it; the study sets them"]
        if not isinstance(agents.make(spec), Scheme):
            schemes = [name for name in agents.names() if isinstance(agents.make(name), Scheme)]
            return [f"scheme {spec}: is not a parallel search; there are {', '.join(schemes)}"]
        try:
            for workers in self.workers:
                if workers >= 1:
                    self.parallel(spec, workers)
        except ValueError as error:
            return [f"scheme {spec}: {error}"]
        return []

    def _serial_problems(self) -> list[str]:
        if {"playouts", "seconds"} & set(parse_spec(self.serial)[2]):
            return [f"serial {self.serial}: a budget cannot be given in it; the study sets it"]
        if not isinstance(agents.make(self.serial), UCT):
            return [f"serial {self.serial}: is not a form of uct, whose parallel forms the schemes are"]
        return []

    def parallel(self, spec: str, workers: int):
        """The agent of a scheme with `workers` workers."""
        return replace(agents.make(spec), workers=workers, playouts=self.playouts, simulated=not self.threads)

    def factors(self) -> list[float]:
        """The factors of the serial search that may be needed: powers of two, and the numbers of workers."""
        highest = math.floor(math.log2(MOST * max(self.workers)))
        powers = {2.0**k for k in range(round(math.log2(LEAST)), highest + 1)}
        return sorted(powers | {float(n) for n in self.workers})

    def points(self) -> list[tuple[str, int]]:
        """Every scheme with every number of workers."""
        return [(spec, workers) for spec in self.schemes for workers in sorted(set(self.workers))]

    def config(self, pairings: list) -> dict:
        """The tournament's configuration, with these pairs of names as its pairings."""
        serial = agents.make(self.serial)
        entries = [
            {"name": serial_name(factor), "agent": str(replace(serial, playouts=round(factor * self.playouts)))}
            for factor in self.factors()
        ] + [{"name": name(*point), "agent": str(self.parallel(*point))} for point in self.points()]
        return {
            "game": self.game,
            "games": self.games,
            "opening_plies": self.opening_plies,
            "seed": self.seed,
            "agents": entries,
            "pairings": pairings,
        }


def name(scheme: str, workers: int) -> str:
    """The name of a scheme with `workers` workers in the tournament."""
    return f"{scheme} x{workers}"


def serial_name(factor: float) -> str:
    """The name of the serial search with `factor` times a worker's playouts."""
    return f"serial {factor:g}"


def run(
    study: ScalingStudy | None,
    out,
    workers: int | None = None,
    resume: bool = False,
    events: Events | None = None,
    tell: Callable[[str], None] = lambda text: None,
    cluster: Any = None,
) -> pd.DataFrame:
    """Play the study's matches; returns the table of `results.strength_scaling.table`.

    With `resume` and without a study, continue the stored one.  `tell` is called with a line before each round; the
    other parameters and the errors are those of `arena.run`.
    """
    folder = Path(out)
    if study is not None and not resume and (folder / FILE_NAME).exists():
        raise StoreExists(f"{folder} holds a tournament already")
    study = kept.begin(study, folder / FILE, ScalingStudy, "scaling", resume)
    pairings, number = _stored_pairings(folder), 0
    wanted = pairings if pairings else _first_pairings(study)
    while True:
        number += 1
        tell(f"round {number}: {len(wanted) - len(pairings)}{' more' if pairings else ''} matches")
        pairings = wanted
        tournament.run(from_values(study.config(pairings), str(folder)), folder, workers, True, events, cluster)
        more = _next_pairings(study, folder)
        if not more:
            return load(folder)
        wanted = [*pairings, *more]


def load(folder) -> pd.DataFrame:
    """The table of a stored study, finished or not; see `results.strength_scaling.table`."""
    played, study = results.load(folder), read_study(folder)
    matches, times = _matches(study, played), _times(study, played)
    return strength_scaling.table(
        [
            {
                "scheme": scheme,
                "workers": count,
                "matches": matches[scheme, count],
                "time": times.get((scheme, count), math.nan),
            }
            for scheme, count in study.points()
        ]
    )


def read_study(folder) -> ScalingStudy:
    """The study that a folder holds; ConfigError if it holds none."""
    return kept.plan(Path(folder) / FILE, ScalingStudy, "scaling")


def _first_pairings(study) -> list:
    """Each point against the serial search with the playouts of one worker, and of all workers."""
    return [
        [name(*point), serial_name(factor)] for point in study.points() for factor in sorted({1.0, float(point[1])})
    ]


def _stored_pairings(folder) -> list:
    """The matches of a stored run; none without one."""
    return results.load(folder).meta["config"]["pairings"] if (folder / FILE_NAME).exists() else []


def _next_pairings(study, folder) -> list:
    """The matches that follow from the results."""
    matches = _matches(study, results.load(folder))
    factors = {point: strength_scaling.next_factor(matches[point], LEAST, MOST * point[1]) for point in study.points()}
    return [[name(*point), serial_name(factor)] for point, factor in factors.items() if factor is not None]


def _matches(study, played) -> dict:
    """{point: {factor: pairs of games}} of the matches played."""
    counts = strength_scaling.counts_by_pair(played.pairs())
    return {
        point: {
            factor: counts[key]
            for factor in study.factors()
            if (key := (name(*point), serial_name(factor))) in counts and counts[key].sum() > 0
        }
        for point in study.points()
    }


def _times(study, played) -> dict:
    """{point: virtual time of its moves}, as a multiple of the serial search's with the playouts of one worker.

    Only for schemes whose playouts take one unit of time, as those of the serial search do.
    """
    moves = played.moves()
    mean = moves.groupby("agent")["virtual_time"].mean()
    return {
        point: mean[name(*point)] / study.playouts
        for point in study.points()
        if name(*point) in mean and study.parallel(*point).playout_time == "constant"
    }
