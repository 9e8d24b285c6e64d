"""A study of proof searches: each on the same positions of several games, with several sizes of memory.

Positions come from random games, and every search has the same number of nodes for each.  Findings are stored line by
line, so that a stopped study can continue.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena import agents, games
from arena.agents.core.agent import Agent, Budget
from arena.agents.core.solve import solve, solver_of
from arena.config.config import ConfigError
from arena.games.core.game import check_range
from arena.games.core.random import random_below, stream
from arena.games.core.registry import spell
from arena.study import kept
from arena.study.positions import names_of

FILE, FOUND = "proving.json", "solved.jsonl"
GAMES = (
    "atarigo(size=4)",
    "breakthrough(rows=5, columns=4)",
    "clobber(rows=4, columns=5)",
    "connect4(rows=4, columns=5)",
    "domineering(rows=5, columns=6)",
    "hex(size=4)",
    "nogo(rows=4, columns=4)",
    "othello(size=6)",
)
SEARCHES = (
    "pns",
    "pns(graph=false)",
    "pn2",
    "dfpn",
    "dfpn(epsilon=0)",
    "dfpn(weak=true)",
    "pnstar",
    "pds",
    "pdspn",
    "pdspn(keep_tree=false)",
)
LEAST_ROWS = 1000  # in a tree
TREE_ROW, GRAPH_ROW = 28, 64  # bytes of a row, at most
NUMBER = int | float
STORED: dict[str, Any] = {  # the types of a row's values
    **dict.fromkeys(("game", "search", "moves", "unsolved"), str),
    **dict.fromkeys(("position", "plies", "nodes", "bytes"), int),
    **dict.fromkeys(("memory", "seconds"), NUMBER),
    "value": int | None,
}


@dataclass(frozen=True)
class ProofStudy:
    """The plan of a study.

    memory: sizes in MiB of a search's table or trees
    positions: of each game
    nodes: budget of a search for a position
    part: the part of random games that positions are from, as two shares of their length
    """

    games: tuple[str, ...] = GAMES
    searches: tuple[str, ...] = SEARCHES
    memory: tuple[float, ...] = (0.125, 1.0, 16.0)
    positions: int = 5
    nodes: int = 1_000_000
    part: tuple[float, float] = (0.1, 0.5)
    seed: int = 0

    def check(self) -> None:
        """ConfigError with everything that is wrong, including games with too few positions."""
        wrong = [
            f"{field.name} = {getattr(self, field.name)!r} is of the wrong type; the default is {field.default!r}"
            for field in fields(self)
            if not _alike(getattr(self, field.name), field.default)
        ]
        if wrong:
            raise ConfigError(wrong)
        for name, low, high in (("positions", 1, 10**6), ("nodes", 1, 1 << 60)):
            try:
                check_range(name, getattr(self, name), low, high)
            except ValueError as error:
                wrong.append(str(error))
        if not (len(self.part) == 2 and 0 <= self.part[0] <= self.part[1] < 1):
            wrong.append(f"part = {self.part} is not two shares of a game's length, such as 0.1,0.5")
        for name in ("games", "searches", "memory"):
            if len({*getattr(self, name)}) < len(getattr(self, name)):
                wrong.append(f"{name} = {list(getattr(self, name))} has an entry twice")
        if not all(0 < mebibytes < 2**63 for mebibytes in self.memory):
            wrong.append(f"memory = {list(self.memory)}: sizes are finite, and more than 0 MiB")
        if wrong := wrong or not_made(self.games) or self.unfit() or self.without_positions():
            raise ConfigError(wrong)

    def unfit(self) -> list[str]:
        """Complaints about searches that cannot solve a game, or not with some memory."""
        found = []
        for spec in self.searches:
            agent = agents.make(spec)
            if agent.own_budget().given():
                found.append(f"{spec}: a budget cannot be given in it; the study sets it")
            for mebibytes in self.memory:
                try:
                    sized = with_memory(agent, mebibytes)
                    for name in self.games:
                        solver_of(sized, games.make(name), Budget(nodes=1))
                except (ValueError, agents.Unsuited) as error:
                    found.append(f"{spec} with {mebibytes:g} MiB: {error}")
                    break
        return found

    def without_positions(self) -> list[str]:
        """Complaints about games without enough positions."""
        found = []
        for name in self.games:
            game = games.make(name)
            try:
                for number in range(self.positions):
                    position(game, self.seed, number, self.part)
            except ValueError as error:
                found.append(str(error))
        return found

    def cells(self) -> Iterator[tuple[str, str, int, float]]:
        """(game, search, position, memory) of every solution wanted, in order."""
        for game in self.games:
            for search in self.searches:
                for position in range(self.positions):
                    for mebibytes in self.memory:
                        yield game, search, position, mebibytes


def not_made(names) -> list[str]:
    """Complaints about games that cannot be made."""
    found = []
    for name in names:
        try:
            games.make(name)
        except ValueError as error:
            found.append(f"game {name}: {error}")
    return found


def _alike(value, example) -> bool:
    """Whether a value has the type of the example; a whole number may stand for a float."""
    if isinstance(example, tuple):
        return isinstance(value, tuple) and all(_alike(one, example[0]) for one in value)
    return type(value) in ((int, float) if isinstance(example, float) else (type(example),))


def with_memory(agent: Agent, mebibytes: float) -> Agent:
    """The agent with a table, or with trees together, of that size; ValueError if it has neither."""
    known: Any = agent.__dataclass_fields__
    if "table" in known:
        return replace(agent, table=mebibytes)  # type: ignore[type-var]
    if "max_nodes" not in known or not agent.solves:
        raise ValueError(f"{agent.name} has neither a table nor trees whose size can be set")
    own: Any = agent
    trees = {"pns": 1, "pn2": 2}.get(agent.name, 1 + agent.cores)
    rows = int(mebibytes * 2**20) // trees // (GRAPH_ROW if own.graph else TREE_ROW)
    if rows < LEAST_ROWS:
        least = LEAST_ROWS * trees * (GRAPH_ROW if own.graph else TREE_ROW) / 2**20
        raise ValueError(f"its memory is too small: it can be {math.ceil(least * 1000) / 1000:g} MiB or more")
    return replace(own, max_nodes=rows)


def position(game, seed: int, number: int, part: tuple[float, float]) -> tuple[list[int], np.ndarray]:
    """(moves, state) of position `number`: from a random game, and not foreseen to be won or lost.

    ValueError if a thousand games offer none.
    """
    rng = stream(seed, spell(game), number)
    for _ in range(1000):
        line, states = [], [game.initial()]
        with np.errstate(over="ignore"):  # where the rules run as plain Python
            while not game.is_over(states[-1]):
                legal = game.moves(states[-1])
                line.append(legal[int(random_below(rng, len(legal)))])
                states.append(game.after(states[-1], line[-1]))
            first, last = (int(share * len(line)) for share in part)
            plies = first + int(random_below(rng, last - first + 1))
            if plies < len(line) and not game.foreseen(states[plies])[0]:
                return line[:plies], states[plies]
    raise ValueError(f"{game}: no position in the part {part} of a thousand random games that is not foreseen to end")


def run(study: ProofStudy | None, out, resume: bool = False, tell: Callable[[str], None] = lambda text: None):
    """Solve what the study wants and does not have yet; returns the rows as `load` does.

    With `resume` and without a study, continue the stored one.  `tell` is called with a line before each search.
    ConfigError if the folder holds another study, or none.
    """
    folder = Path(out)
    study = kept.begin(study, folder / FILE, ProofStudy, "proofs", resume)
    warmed: set[tuple[str, str]] = set()

    def words(name, search, place, mebibytes):
        return f"{search} on {name}, position {place + 1}, {mebibytes:g} MiB"

    found = kept.Found(folder / FOUND, STORED, ("game", "search", "position", "memory"))
    found.complete(list(study.cells()), lambda *cell: _solved(study, cell, warmed), words, tell)
    return load(folder)


def _solved(study, cell, warmed) -> dict:
    name, search, place, mebibytes = cell
    game = games.make(name)
    moves, state = position(game, study.seed, place, study.part)
    solver = solver_of(with_memory(agents.make(search), mebibytes), game, Budget(nodes=study.nodes))
    if (name, search) not in warmed:
        solver.warm(state)
        warmed.add((name, search))
        solver = solver_of(with_memory(agents.make(search), mebibytes), game, Budget(nodes=study.nodes))
    before = time.process_time()
    found = solve(solver, state, moves="none")
    return {
        "game": name,
        "search": search,
        "position": place,
        "memory": mebibytes,
        "moves": " ".join(names_of(game, moves)),
        "plies": len(moves),
        "value": found.value,
        "nodes": found.nodes,
        "seconds": time.process_time() - before,
        "bytes": found.peak_bytes,
        "unsolved": found.unsolved,
    }


def load(folder) -> pd.DataFrame:
    """A row per search of a position: the columns of the file, and `solved`; ConfigError if searches disagree."""
    frame = kept.table(Path(folder) / FOUND, STORED)
    frame["solved"] = frame["value"].notna()
    values = frame[frame["solved"]].groupby(["game", "position"])["value"].nunique()
    if differing := [f"{game}, position {place + 1}" for (game, place), count in values.items() if count > 1]:
        raise ConfigError([f"{folder}: searches found different values of {one}" for one in differing])
    return frame
