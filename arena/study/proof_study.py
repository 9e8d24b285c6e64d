"""A study of proof searches: each on the same positions of several games, with several sizes of memory.

Positions come from random games; every search has the same number of nodes for each.
"""

import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from msgspec import Meta

from arena import agents, games
from arena.agents.core.agent import Agent, Budget
from arena.agents.core.solve import solve, solver_of
from arena.games.core.shared.errors import UserError
from arena.study.cells import CHECKED, Cells, Positions, Seed
from arena.study.positions import names_of, random_position

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
STORED: dict[str, Any] = {
    **dict.fromkeys(("game", "search", "moves", "unsolved"), str),
    **dict.fromkeys(("position", "plies", "nodes", "bytes"), int),
    **dict.fromkeys(("memory", "seconds"), NUMBER),
    "value": int | None,
}


@dataclass(frozen=True)
class ProofStudy(Cells):
    """The plan of a study.

    memory: sizes in MiB of a search's table or trees
    positions: of each game
    nodes: budget of a search for a position
    part: of random games, where positions are from, as two shares of their length
    """

    games: Annotated[tuple[str, ...], Meta(min_length=1)] = GAMES
    searches: Annotated[tuple[str, ...], Meta(min_length=1)] = SEARCHES
    memory: Annotated[tuple[Annotated[float, Meta(gt=0, lt=2**63)], ...], Meta(min_length=1)] = (0.125, 1.0, 16.0)
    positions: Positions = 5
    nodes: Annotated[int, Meta(ge=1, le=1 << 60)] = 1_000_000
    part: tuple[float, float] = (0.1, 0.5)
    seed: Seed = 0

    FILE, WHAT, FOUND = "proving.json", "proofs", "solved.jsonl"
    TYPES, KEYS = STORED, ("game", "search", "position", "memory")

    def faults(self):
        wrong = [
            f"{name} = {list(values)} has an entry twice"
            for name, values in (("games", self.games), ("searches", self.searches), ("memory", self.memory))
            if len({*values}) < len(values)
        ]
        if not 0 <= self.part[0] <= self.part[1] < 1:
            wrong.append(f"part = {self.part} is not two shares of a game's length, such as 0.1,0.5")
        return wrong or not_made(self.games) or self.unfit() or self.without_positions()

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
                for number in range(min(self.positions, CHECKED)):
                    random_position(game, self.seed, number, self.part)
            except UserError as error:
                found.append(str(error))
        return found

    def cells(self):
        for game in self.games:
            for search in self.searches:
                for position in range(self.positions):
                    for mebibytes in self.memory:
                        yield game, search, position, mebibytes

    def words(self, game, search, place, mebibytes):
        return f"{search} on {game}, position {place + 1}, {mebibytes:g} MiB"

    @cached_property
    def _warmed(self) -> set[tuple[str, str]]:
        return set()

    def find(self, name, search, place, mebibytes):
        game = games.make(name)
        moves, state = random_position(game, self.seed, place, self.part)
        sized, budget = with_memory(agents.make(search), mebibytes), Budget(nodes=self.nodes)
        if (name, search) not in self._warmed:
            solver_of(sized, game, budget).warm(state)
            self._warmed.add((name, search))
        solver, before = solver_of(sized, game, budget), time.process_time()
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

    @classmethod
    def load(cls, folder):
        """The rows, and whether they are `solved`; ConfigError if there are none, or if searches disagree."""
        frame = super().load(folder)
        return frame.assign(solved=frame["value"].notna())


def not_made(names) -> list[str]:
    """Complaints about games that cannot be made."""
    found = []
    for name in names:
        try:
            games.make(name)
        except ValueError as error:
            found.append(f"game {name:.60}: {error}")
    return found


def with_memory(agent: Agent, mebibytes: float) -> Agent:
    """The agent with a table, or trees together, of that size; ValueError if it has neither."""
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
