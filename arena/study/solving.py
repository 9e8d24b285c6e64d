"""A study of how parallel solvers scale: the same positions, solved by one worker and by more and more.

A solver is an agent with a parameter `workers`.  If it has a parameter `simulated`, its workers are simulated, in
virtual time, unless real ones are wanted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from arena import agents, games
from arena.agents.core.agent import Agent, Budget, registry
from arena.agents.core.solve import solve, solver_of, solving_agents
from arena.config.config import ConfigError
from arena.results.papers import solver_scaling
from arena.study.cells import CHECKED, Cells, Count, Positions, Seed
from arena.study.positions import names_of, random_position
from arena.study.proof_study import NUMBER, not_made

STORED: dict[str, Any] = {
    **dict.fromkeys(("solver", "moves", "unsolved", "timing"), str),
    **dict.fromkeys(("workers", "position", "nodes", "bytes"), int),
    "time": NUMBER,
    "value": int | None,
}


@dataclass(frozen=True)
class SolvingStudy(Cells):
    """The plan of a study.

    solvers: specs without workers and budget; none: all whose workers can be simulated
    moves: lines that lead to positions; none: `positions` random ones, each after `plies` plies, by `seed`
    nodes: budget of a solver for a position
    real: threads and processes, timed by the wall, instead of simulated workers
    """

    game: str
    solvers: tuple[str, ...] = ()
    workers: tuple[Count, ...] = (1, 2, 4, 8, 16)
    moves: tuple[str, ...] = ()
    positions: Positions = 3
    plies: Annotated[int, Meta(ge=0, le=10**6)] = 2
    seed: Seed = 0
    nodes: int | None = None
    real: bool = False

    FILE, WHAT, FOUND = "solving.json", "solvers", "solving.jsonl"
    TYPES, KEYS = STORED, ("solver", "position", "workers")

    def faults(self):
        wrong = not_made([self.game]) or [text for spec in self.specs() for text in self._solver_problems(spec)]
        if not wrong:
            list(islice(self.states(), len(self.moves) or CHECKED))
        return wrong

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
            line, state = random_position(game, self.seed, number, self.plies)
            yield " ".join(names_of(game, line)), state

    def cells(self):
        for spec in self.specs():
            for position in range(len(self.moves) or self.positions):
                for workers in self.sizes():
                    yield spec, position, workers

    def words(self, spec, position, workers):
        return f"{spec} with workers = {workers}, position {position + 1}"

    @cached_property
    def _lines(self) -> list[tuple[str, np.ndarray]]:
        return list(self.states())

    def find(self, spec, position, workers):
        moves, state = self._lines[position]
        solver = solver_of(self.agent(spec, workers), games.make(self.game), Budget(nodes=self.nodes))
        solver.warm(state)
        found = solve(solver, state, moves="none")
        virtual = found.virtual_time is not None
        return {
            "solver": spec,
            "position": position,
            "moves": moves,
            "workers": workers,
            "value": found.value,
            "timing": "virtual" if virtual else "wall",
            "time": found.virtual_time if virtual else found.seconds,
            "nodes": found.nodes,
            "bytes": found.peak_bytes,
            "unsolved": found.unsolved,
        }

    @classmethod
    def load(cls, folder):
        """The table of `solver_scaling.points` of a stored study; ConfigError if values or times differ."""
        frame = super().load(folder)
        timings = frame.groupby("solver")["timing"].nunique()
        if mixed := [solver for solver, count in timings.items() if count > 1]:
            raise ConfigError([f"{folder}: {solver} has virtual and wall times; begin a new study" for solver in mixed])
        return solver_scaling.points(frame)
