"""How parallel searches scale: matches against the serial search, played as one tournament.

With each number of workers, every scheme meets the serial search with the playouts of one worker (equal time) and with
those of all workers (search overhead); then, in rounds, with the factor between them that
`results.strength_scaling.next_factor` asks for, until each strength speed-up is enclosed.  Results decide which matches
follow, and the study decides the results; so a study can be stopped and resumed, and gives the same matches again.  All
games are in one store, which every other command reads.
"""

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

import agents
import games
import results
from agents.montecarlo.parallel.scheme import Scheme
from agents.montecarlo.uct import UCT
from arena.config.config import ConfigError
from arena.config.loading import from_values
from arena.runner import tournament
from arena.runner.events import Events
from games.core.registry import parse_spec
from results import strength_scaling
from results.store import FILE_NAME, StoreExists

FILE = "plan.json"
LEAST, MOST = 0.25, 2.0  # the smallest factor that is tried; the largest, as a multiple of the number of workers


@dataclass(frozen=True)
class ScalingStudy:
    """What is compared.

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
        """ConfigError with everything that is wrong, except what the tournament's configuration tells as well."""
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
        """The agent of a scheme with so many workers."""
        return replace(agents.make(spec), workers=workers, playouts=self.playouts, simulated=not self.threads)

    def factors(self) -> list[float]:
        """The factors of the serial search that may be needed: powers of two and the numbers of workers."""
        highest = math.floor(math.log2(MOST * max(self.workers)))
        powers = {2.0**k for k in range(round(math.log2(LEAST)), highest + 1)}
        return sorted(powers | {float(n) for n in self.workers})

    def points(self) -> list[tuple[str, int]]:
        """Every scheme with every number of workers."""
        return [(spec, workers) for spec in self.schemes for workers in sorted(set(self.workers))]

    def config(self, pairings: list) -> dict:
        """The tournament's configuration, in which these pairs of names meet."""
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
    """The name in the tournament of a scheme with so many workers."""
    return f"{scheme} x{workers}"


def serial_name(factor: float) -> str:
    """The name of the serial search with `factor` times the playouts of a worker."""
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
    """Play what the study asks for, and return the table of `results.strength_scaling.table`.

    With `resume` and without a study, the stored one is continued.  `tell` is called with a line before each round; the
    other parameters and the errors are those of `arena.run`.
    """
    folder = Path(out)
    study = _begin(study, folder, resume)
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
    path = Path(folder) / FILE
    try:
        values = json.loads(path.read_text())
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return ScalingStudy(**values | lists)
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file; the folder holds no study of scaling"]) from None
    except (ValueError, TypeError) as error:
        raise ConfigError([f"{path}: does not describe a study of scaling: {error}"]) from None


def _begin(study, folder, resume) -> ScalingStudy:
    """The study to play; a new one is checked, and written before the first game."""
    if resume and (folder / FILE).exists():
        stored = read_study(folder)
        if study is not None and study != stored:
            keys = [key for key in asdict(stored) if getattr(study, key) != getattr(stored, key)]
            raise ConfigError([f"the study in {folder} was begun with other values of {', '.join(keys)}"])
        return stored
    if study is None:
        return read_study(folder)
    if (folder / FILE_NAME).exists():
        raise StoreExists(f"{folder} holds a tournament already")
    study.check()
    from_values(study.config(_first_pairings(study)), "scaling")
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{FILE}"
    part.write_text(json.dumps(asdict(study), indent=1))
    part.replace(folder / FILE)
    return study


def _first_pairings(study) -> list:
    """Each point against the serial search with the playouts of one worker, and with those of all workers."""
    return [
        [name(*point), serial_name(factor)] for point in study.points() for factor in sorted({1.0, float(point[1])})
    ]


def _stored_pairings(folder) -> list:
    """The matches of a stored run; none if there is no run."""
    return results.load(folder).meta["config"]["pairings"] if (folder / FILE_NAME).exists() else []


def _next_pairings(study, folder) -> list:
    """The matches that the results ask for."""
    matches = _matches(study, results.load(folder))
    factors = {point: strength_scaling.next_factor(matches[point], LEAST, MOST * point[1]) for point in study.points()}
    return [[name(*point), serial_name(factor)] for point, factor in factors.items() if factor is not None]


def _matches(study, played) -> dict:
    """point -> factor -> pairs of games, of the matches that were played."""
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
    """point -> the virtual time of its moves, divided by that of the serial search with the playouts of one worker.

    Only of schemes whose playouts take one unit of time, as those of the serial search do.
    """
    moves = played.moves()
    mean = moves.groupby("agent")["virtual_time"].mean()
    return {
        point: mean[name(*point)] / study.playouts
        for point in study.points()
        if name(*point) in mean and study.parallel(*point).playout_time == "constant"
    }
