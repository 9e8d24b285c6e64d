"""A study of how parallel solvers scale: the same positions, solved by one worker and by more and more.

Each solver is an agent with a parameter `workers`.  If it has a parameter `simulated`, its workers are simulated, in
virtual time, unless real ones are wanted.  Findings are stored at once, so that a stopped study can continue.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena import agents, games
from arena.agents.core.agent import Agent, Budget, registry
from arena.agents.core.solve import solve, solver_of, solving_agents
from arena.config.config import ConfigError
from arena.games.core.game import check_range
from arena.games.core.random import random_below, stream
from arena.games.core.registry import spell
from arena.results import solver_scaling
from arena.study import kept
from arena.study.positions import names_of
from arena.study.proving import NUMBER, not_made

FILE, FOUND = "solving.json", "solving.jsonl"
STORED: dict[str, Any] = {  # the types of a row's values
    **dict.fromkeys(("solver", "moves", "unsolved", "timing"), str),
    **dict.fromkeys(("workers", "position", "nodes", "bytes"), int),
    "time": NUMBER,
    "value": int | None,
}


@dataclass(frozen=True)
class SolvingStudy:
    """The plan of a study.

    solvers: specs without workers and budget; none: all whose workers can be simulated
    moves: lines that lead to positions; none: `positions` random ones, each after `plies` plies, by `seed`
    nodes: budget of a solver for a position
    real: threads and processes, timed by the wall, instead of simulated workers
    """

    game: str
    solvers: tuple[str, ...] = ()
    workers: tuple[int, ...] = (1, 2, 4, 8, 16)
    moves: tuple[str, ...] = ()
    positions: int = 3
    plies: int = 2
    seed: int = 0
    nodes: int | None = None
    real: bool = False

    def check(self) -> None:
        """ConfigError with everything that is wrong."""
        problems = []
        for name, low, high in (("positions", 1, 10**6), ("plies", 0, 10**6)):
            try:
                check_range(name, getattr(self, name), low, high)
            except ValueError as error:
                problems.append(str(error))
        problems += not_made([self.game]) or [text for spec in self.specs() for text in self._solver_problems(spec)]
        if problems:
            raise ConfigError([f"solvers: {problem}" for problem in problems])
        list(self.states())

    def _solver_problems(self, spec) -> list[str]:
        agent: Any = agents.make(spec)
        if not agent.solves or not hasattr(agent, "workers"):
            able = [
                name for name in agents.names() if agents.make(name).solves and hasattr(agents.make(name), "workers")
            ]
            return [f"agent {spec}: does not solve by several workers; agents that do: {', '.join(able)}"]
        if agent.own_budget().given():
            return [f"agent {spec}: a budget cannot be given in it; the study sets it"]
        try:
            for workers in self.sizes():
                solver_of(self.agent(spec, workers), games.make(self.game), Budget(nodes=1))
        except (ValueError, agents.Unsuited) as error:
            return [f"agent {spec}: {error}"]
        return []

    def specs(self) -> tuple[str, ...]:
        """The solvers, or their default."""
        known = registry.classes()
        return self.solvers or tuple(
            name for name in solving_agents() if "simulated" in known[name].__dataclass_fields__
        )

    def sizes(self) -> list[int]:
        """The numbers of workers, always with 1 for comparison."""
        return sorted({1, *self.workers})

    def agent(self, spec: str, workers: int) -> Agent:
        """A solver with `workers` workers."""
        agent: Any = agents.make(spec)
        simulated = {"simulated": not self.real} if hasattr(agent, "simulated") else {}
        return replace(agent, workers=workers, **simulated)

    def states(self) -> Iterator[tuple[str, np.ndarray]]:
        """(moves, state) of each position; ConfigError if the game is over there."""
        game = games.make(self.game)
        for text in self.moves:
            state = game.read_line(text)[1]
            if game.is_over(state):
                raise ConfigError([f"solvers: moves {text!r}: the game is over after them"])
            yield text, state
        for number in range(0 if self.moves else self.positions):
            yield random_position(game, self.seed, number, self.plies)

    def cells(self) -> Iterator[tuple[str, int, int]]:
        """(solver, position, workers) of every solution wanted, in order."""
        for spec in self.specs():
            for position in range(len(self.moves) or self.positions):
                for workers in self.sizes():
                    yield spec, position, workers


def random_position(game, seed: int, number: int, plies: int) -> tuple[str, np.ndarray]:
    """(moves, state) after `plies` random plies, not foreseen to be won or lost; ConfigError if there is none."""
    rng = stream(seed, spell(game), number)
    for _ in range(1000):
        line, state = list[int](), game.initial()
        with np.errstate(over="ignore"):  # where the rules run as plain Python
            while len(line) < plies and not game.is_over(state):
                legal = game.moves(state)
                line.append(legal[int(random_below(rng, len(legal)))])
                state = game.after(state, line[-1])
            if not game.is_over(state) and not game.foreseen(state)[0]:
                return " ".join(names_of(game, line)), state
    raise ConfigError([f"solvers: {game}: no position after {plies} plies of a thousand games is not foreseen to end"])


def run(study: SolvingStudy | None, out, resume: bool = False, tell: Callable[[str], None] = lambda text: None):
    """Solve what the study wants and does not have yet; returns the rows as `load` does.

    With `resume` and without a study, continue the stored one.  `tell` is called with a line before each search.
    ConfigError if the folder holds another study, or none.
    """
    folder = Path(out)
    study = kept.begin(study, folder / FILE, SolvingStudy, "solvers", resume)
    positions = list(study.states())

    def words(spec, place, workers):
        return f"{spec} with workers = {workers}, position {place + 1}"

    def find(spec, place, workers):
        return _solved(study, spec, place, workers, positions[place])

    found = kept.Found(folder / FOUND, STORED, ("solver", "position", "workers"))
    found.complete(list(study.cells()), find, words, tell)
    return load(folder)


def _solved(study, spec, place, workers, position) -> dict:
    moves, state = position
    solver = solver_of(study.agent(spec, workers), games.make(study.game), Budget(nodes=study.nodes))
    solver.warm(state)
    found = solve(solver, state, moves="none")
    virtual = found.virtual_time is not None
    return {
        "solver": spec,
        "position": place,
        "moves": moves,
        "workers": workers,
        "value": found.value,
        "timing": "virtual" if virtual else "wall",
        "time": found.virtual_time if virtual else found.seconds,
        "nodes": found.nodes,
        "bytes": found.peak_bytes,
        "unsolved": found.unsolved,
    }


def load(folder) -> pd.DataFrame:
    """The table of `results.solver_scaling.points` of a stored study; ConfigError if searches found other values."""
    frame = kept.table(Path(folder) / FOUND, STORED)
    values = frame[frame["value"].notna()].groupby("position")["value"].nunique()
    if differing := [place + 1 for place, count in values.items() if count > 1]:
        raise ConfigError([f"{folder}: solvers found different values of position {place}" for place in differing])
    timings = frame.groupby("solver")["timing"].nunique()
    if mixed := [solver for solver, count in timings.items() if count > 1]:
        raise ConfigError([f"{folder}: {solver} has virtual and wall times; begin a new study" for solver in mixed])
    return solver_scaling.points(frame)
