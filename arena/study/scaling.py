"""How parallel searches scale: matches against the serial search, played as one tournament, and speeds on threads.

Every scheme meets, with each number of workers, the serial search with the playouts of one worker (equal time) and
with those of all (search overhead); then, round after round, the serial search with the factor between that
`results.scaling.next_factor` asks for, until each strength speed-up is enclosed.  Which matches are played follows
from the results of those before, and these from the configuration: so the whole is a function of the plan, can be
stopped and resumed, and lies in one store, which every other command reads.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pandas as pd

import agents
import games
import results
from agents.montecarlo.parallel.scheme import Scheme
from agents.montecarlo.uct import UCT
from arena.config.config import ConfigError, from_values
from arena.runner import tournament
from arena.runner.machine import cores
from arena.runner.tournament import Events
from games.core.random import stream
from games.core.registry import parse_spec
from results import scaling
from results.store import FILE_NAME, StoreExists

PLAN = "plan.json"
LEAST = 0.25  # the smallest factor that is tried, and over the number of workers the largest is MOST
MOST = 2.0
SPEED_ROUNDS, SPEED_PLAYOUTS = 3, 50_000  # of the measurements of speed, and of each worker for a decision


@dataclass(frozen=True)
class Plan:
    """What is to be compared.

    schemes: specs without workers and budget; playouts: of each worker, for a move; games: of each match, even;
    threads: real threads instead of simulated workers, so that results depend on how the threads meet
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
        """ConfigError with everything that is wrong and that the tournament's configuration would not tell as well."""
        problems = [f"workers = {n}: is out of range; it can be 1 or more" for n in self.workers if n < 1]
        problems += [f"{key}: is missing; give one or more" for key in ("schemes", "workers") if not getattr(self, key)]
        if self.playouts < 1 / LEAST:
            problems.append(f"playouts = {self.playouts}: is out of range; it can be {1 / LEAST:.0f} or more")
        if games.make(self.game).players != 2:
            problems.append(
                f"game = {self.game!r}: is a game for one player; parallel searches are compared in matches"
            )
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
            return [f"scheme {spec}: {', '.join(sorted(given))} cannot be given in it; the plan sets them"]
        if not isinstance(agents.make(spec), Scheme):
            schemes = [name for name in agents.names() if isinstance(agents.make(name), Scheme)]
            return [f"scheme {spec}: is no parallel search; there are {', '.join(schemes)}"]
        try:
            for workers in self.workers:
                if workers >= 1:
                    self.parallel(spec, workers)
        except ValueError as error:
            return [f"scheme {spec}: {error}"]
        return []

    def _serial_problems(self) -> list[str]:
        if {"playouts", "seconds"} & set(parse_spec(self.serial)[2]):
            return [f"serial {self.serial}: a budget cannot be given in it; the plan sets it"]
        if not isinstance(agents.make(self.serial), UCT):
            return [f"serial {self.serial}: is not a form of uct, whose parallel forms the schemes are"]
        return []

    def parallel(self, spec: str, workers: int):
        """The agent of a scheme with so many workers."""
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
        """The tournament's configuration with these pairs of names."""
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
    """What a scheme with so many workers is called in the tournament."""
    return f"{scheme} x{workers}"


def serial_name(factor: float) -> str:
    """What the serial search with `factor` times the playouts of a worker is called."""
    return f"serial {factor:g}"


def run(
    plan: Plan | None,
    out,
    workers: int | None = None,
    resume: bool = False,
    events: Events | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Play what the plan asks for, and return the table of `results.scaling.table`.

    With `resume` and no plan, the one that the folder holds is gone on with.  `tell` gets a line before each round;
    the other parameters and the errors are those of `arena.run`.
    """
    folder = Path(out)
    plan = _begin(plan, folder, resume)
    pairings, number = _stored_pairings(folder), 0
    wanted = pairings if pairings else _first_pairings(plan)
    while True:
        number += 1
        tell(
            f"round {number}: {len(wanted) - len(pairings)} matches more"
            if pairings
            else f"round 1: {len(wanted)} matches"
        )
        pairings = wanted
        tournament.run(from_values(plan.config(pairings), str(folder)), folder, workers, True, events)
        more = _next_pairings(plan, folder)
        if not more:
            return load(folder)
        wanted = [*pairings, *more]


def load(folder) -> pd.DataFrame:
    """The table of a stored comparison, finished or not; see `results.scaling.table`."""
    played, plan = results.load(folder), read_plan(folder)
    matches, times = _matches(plan, played), _times(plan, played)
    return scaling.table(
        [
            {
                "scheme": scheme,
                "workers": count,
                "matches": matches[scheme, count],
                "time": times.get((scheme, count), math.nan),
            }
            for scheme, count in plan.points()
        ]
    )


def read_plan(folder) -> Plan:
    """The plan of a stored comparison; ConfigError if the folder holds none."""
    path = Path(folder) / PLAN
    try:
        values = json.loads(path.read_text())
        return Plan(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})
    except FileNotFoundError:
        raise ConfigError(
            [f"{path}: there is no such file; the folder holds no comparison of parallel searches"]
        ) from None
    except (ValueError, TypeError) as error:
        raise ConfigError([f"{path}: is no plan of a comparison: {error}"]) from None


def _begin(plan, folder, resume) -> Plan:
    """The plan to go on with; a new one is checked, and written before the first game."""
    if resume and (folder / PLAN).exists():
        stored = read_plan(folder)
        if plan is not None and plan != stored:
            keys = [key for key in asdict(stored) if getattr(plan, key) != getattr(stored, key)]
            raise ConfigError([f"the comparison in {folder} was begun with other values of {', '.join(keys)}"])
        return stored
    if plan is None:
        return read_plan(folder)
    if (folder / FILE_NAME).exists():
        raise StoreExists(f"{folder} holds a tournament already")
    plan.check()
    from_values(plan.config(_first_pairings(plan)), "scaling")
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{PLAN}"
    part.write_text(json.dumps(asdict(plan), indent=1))
    part.replace(folder / PLAN)
    return plan


def _first_pairings(plan) -> list:
    """Each point against the serial search with the playouts of one worker, and with those of all."""
    return [[name(*point), serial_name(factor)] for point in plan.points() for factor in sorted({1.0, float(point[1])})]


def _stored_pairings(folder) -> list:
    """The matches of a run that is there; none if there is no run."""
    return results.load(folder).meta["config"]["pairings"] if (folder / FILE_NAME).exists() else []


def _next_pairings(plan, folder) -> list:
    """The matches that the results so far ask for."""
    matches = _matches(plan, results.load(folder))
    factors = {point: scaling.next_factor(matches[point], LEAST, MOST * point[1]) for point in plan.points()}
    return [[name(*point), serial_name(factor)] for point, factor in factors.items() if factor is not None]


def _matches(plan, played) -> dict:
    """point -> factor -> pairs of games, of the matches that were played."""
    counts = scaling.counts_by_pair(played.pairs())
    return {
        point: {
            factor: counts[key]
            for factor in plan.factors()
            if (key := (name(*point), serial_name(factor))) in counts and counts[key].sum() > 0
        }
        for point in plan.points()
    }


def _times(plan, played) -> dict:
    """point -> the virtual time of its moves, over that of the serial search with as many playouts as one worker.

    Only where a playout takes one unit of time, which the serial search takes as well.
    """
    moves = played.moves()
    mean = moves.groupby("agent")["virtual_time"].mean()
    return {
        point: mean[name(*point)] / plan.playouts
        for point in plan.points()
        if name(*point) in mean and plan.parallel(*point).playout_time == "constant"
    }


def throughput(plan: Plan, seconds: float, tell=lambda text: None) -> pd.DataFrame:
    """Playouts a second of each scheme on real threads from the initial position, for one thread, as many as
    there are cores, and the numbers of workers between.

    Columns: scheme, threads, playouts_per_second (best of SPEED_ROUNDS, which take turns), speed_up over one thread,
    over_serial (over the serial search).  `seconds` is how long each measurement takes.
    """
    game, counts = games.make(plan.game), sorted({1, cores(), *(n for n in plan.workers if n <= cores())})
    searches = {("serial", 1): replace(agents.make(plan.serial), playouts=SPEED_PLAYOUTS)}
    searches |= {
        (spec, n): replace(agents.make(spec), workers=n, playouts=SPEED_PLAYOUTS)
        for spec in plan.schemes
        for n in counts
    }
    best = dict.fromkeys(searches, 0.0)
    for turn in range(SPEED_ROUNDS):
        for key, agent in searches.items():
            tell(f"{key[0]} on {key[1]} threads, {turn + 1} of {SPEED_ROUNDS}")
            best[key] = max(best[key], _rate(game, agent, seconds))
    serial = best.pop(("serial", 1))
    rows = [
        {
            "scheme": spec,
            "threads": n,
            "playouts_per_second": rate,
            "speed_up": rate / best[spec, 1],
            "over_serial": rate / serial,
        }
        for (spec, n), rate in best.items()
    ]
    return pd.DataFrame(rows, columns=["scheme", "threads", "playouts_per_second", "speed_up", "over_serial"])


def _rate(game, agent, seconds) -> float:
    """Playouts a second, over decisions that take so many seconds together; the one before them loads the kernels."""
    player, rng, playouts = agent.player(game), stream(1, "throughput"), 0
    player.choose(game.initial(), rng)
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or playouts == 0:
        playouts += player.choose(game.initial(), rng).playouts
    return playouts / spent
