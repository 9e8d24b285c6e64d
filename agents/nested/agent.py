"""What nested searches share: budgets, restarts, the best sequence, how it came about, and workers.

For one player a search is of a whole game.  It is done once, at the first decision, with all of the budget, and begun
anew as often as the budget allows; after that the best sequence found is played move by move.  For two players every
decision is a search of its own; values are results divided by the length of the game, so that early wins count most.

Root parallelisation: every worker, a thread, searches by itself with a stream of random numbers of its own, and the
best of what they have found is taken (T. Cazenave & N. Jouandeau, "On the parallelization of UCT", 2007, for the idea).
Each worker has the budget of a whole search.
"""

import os
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from agents.core.agent import Agent, Budget, Decision, Improvement, MoveStatistics
from agents.core.chunks import run_chunks
from agents.core.needs import Needs
from agents.montecarlo.parallel.scheme import MOST_THREADS, SchemePlayer
from agents.nested.incumbent import Found, new_found
from agents.nested.leaf import LeafSearch
from games.core.game import check_range

MOST_LEVELS = 12


@dataclass(frozen=True)
class Nested(Agent):
    """Base of the nested searches.

    restarts: begin the search anew as long as the budget lasts; if not, no budget is needed
    workers: threads; the budget is for each of them
    parallel: what they do: "root", they search by themselves; "leaf", one search shares out what its first level calls
    """

    level: int = 2
    playouts: int | None = None
    seconds: float | None = None
    restarts: bool = True
    workers: int = 1
    parallel: str = "root"

    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")
    needs: ClassVar[Needs] = Needs(players=(1, 2), chance=False)  # sequences of moves are replayed
    simulated = False

    def __post_init__(self):
        super().__post_init__()
        check_range("level", self.level, 1, MOST_LEVELS)
        check_range("workers", self.workers, 1, MOST_THREADS)
        if self.parallel not in ("root", "leaf"):
            raise ValueError(f"parallel = {self.parallel!r} is not one of root, leaf")
        if self.parallel == "leaf" and self.level < 2:
            text = "parallel = 'leaf' shares out calls of the level below, from level 2 on"
            raise ValueError(f"level = {self.level}: {text}")

    @property
    def cores(self):
        return self.workers

    def budget(self, default: Budget | None = None) -> Budget:
        offered = {**(default or Budget()).given(), **self.own_budget().given()}
        if not self.restarts and not any(kind in offered for kind in self.budgets):
            return Budget()  # a search ends by itself
        return super().budget(default)

    def own_needs(self):
        return replace(self.needs, players=(1,)) if self.parallel == "leaf" else self.needs

    def misfit(self, game):
        needed, there = self.workers * self.bytes_needed(game), memory_bytes()
        if needed > there:
            sizes = f"{needed / 1e9:.1f} GB for {game}, and there are {there / 1e9:.1f}"
            return f"{self} needs {sizes}: lower level or workers"
        return None

    def bytes_needed(self, game) -> int:
        """The most memory that one worker's arrays take at first."""
        raise NotImplementedError

    def new_search(self, game):
        """The arrays of one worker's search."""
        raise NotImplementedError

    def begin(self, search, game, state) -> None:
        """Make the arrays ready for a search from `state`."""
        raise NotImplementedError

    def run(self, search, game, state, found: Found, until: int, rng):
        """Search until there have been that many playouts, or the log is full; returns the arrays, grown or not."""
        raise NotImplementedError

    def search_by_leaf(self, search: LeafSearch) -> None:
        """Search once, or until the budget is used up; agents/nested/leaf.py says how."""
        raise NotImplementedError

    def new_player(self, game, budget):
        return NestedPlayer(self, game, budget)


def memory_bytes() -> int:
    """The machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class NestedPlayer(SchemePlayer):
    """With one player: the sequence that is being played; with two it keeps nothing from move to move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.searches = [agent.new_search(game) for _ in range(agent.workers)]
        self.plan, self.score = (), 0.0

    def decide(self, state, rng):
        if self.plan:
            return Decision(self.plan[0], self.score, playouts=0, depth=len(self.plan), principal_variation=self.plan)
        if self.agent.parallel == "leaf":
            return self.decide_by_leaf(state, rng)
        rngs, found = self.streams(rng), [new_found(self.game, self.agent.restarts) for _ in range(self.agent.workers)]
        improvements = self.on_threads(lambda i: self.search(i, state, found[i], rngs[i]))
        rng[0] = rngs[0, 0]
        if self.game.players == 2:
            return self.decision_for_two(state, found)
        best = max(found, key=lambda one: one.score[0])  # the first worker's among equals
        self.plan, self.score = tuple(best.moves[: best.length[0]].tolist()), float(best.score[0])
        return Decision(
            self.plan[0],
            self.score,
            **playouts_of(found),
            depth=len(self.plan),
            principal_variation=self.plan,
            improvements=best_of(improvements),
        )

    def decide_by_leaf(self, state, rng):
        """One search, whose first level is shared out, for one player."""
        search = LeafSearch(self, state, self.streams(rng))
        self.agent.search_by_leaf(search)
        while self.agent.restarts and not search.is_over():
            self.agent.search_by_leaf(search)
        rng[0] = search.rngs[0, 0]
        self.plan, self.score = search.moves, search.score
        return Decision(
            self.plan[0],
            self.score,
            playouts=sum(search.playouts),
            playouts_each=max(search.playouts),
            depth=len(self.plan),
            principal_variation=self.plan,
            improvements=tuple(search.improvements),
        )

    def played(self, move):
        self.plan = self.plan[1:] if self.plan and self.plan[0] == move else ()

    def search(self, i, state, found, rng) -> list[Improvement]:
        """One worker's search, restarts included; returns the improvements."""
        agent, game, start, improvements = self.agent, self.game, time.perf_counter(), []
        agent.begin(self.searches[i], game, state)

        def run(count):
            before = int(found.playouts[0])
            self.searches[i] = agent.run(self.searches[i], game, state, found, before + count, rng)
            seconds = time.perf_counter() - start
            logged = int(found.logged[0])
            improvements.extend(
                Improvement(int(at), seconds, float(score))
                for at, score in zip(found.at[:logged], found.scores[:logged])
            )
            found.logged[0] = 0
            return int(found.playouts[0]) - before

        run_chunks(run, self.budget.playouts, self.budget.seconds)
        return improvements

    def decision_for_two(self, state, found):
        """The agent's choice among the root's moves, and what the playouts below each came to."""
        table = root_statistics(self, state, found)
        place, value = self.agent.choice(self.game, state, self.searches, found, table)
        return Decision(
            int(table.moves[place]),
            value,
            **playouts_of(found),
            principal_variation=(int(table.moves[place]),),
            statistics=table,
        )


def playouts_of(found: list[Found]) -> dict:
    """What a decision says of the playouts of all workers, and of the one that made the most if there are several."""
    each = [int(one.playouts[0]) for one in found]
    return {"playouts": sum(each), "playouts_each": max(each) if len(each) > 1 else None}


def root_statistics(player, state, found) -> MoveStatistics:
    """Playouts and mean results below each move of the root, of all workers."""
    moves = np.array(player.game.moves(state), np.int32)
    playouts = sum(one.root_playouts[: len(moves)] for one in found)
    return MoveStatistics(moves, playouts, sum(one.root_sums[: len(moves)] for one in found) / np.maximum(playouts, 1))


def best_of(improvements: list[list[Improvement]]) -> tuple[Improvement, ...]:
    """The improvements of workers that search side by side: playouts are those of all together."""
    merged, best = [], -np.inf
    for each in sorted((one for worker in improvements for one in worker), key=lambda one: (one.playouts, -one.score)):
        if each.score > best:
            best = each.score
            merged.append(each._replace(playouts=each.playouts * len(improvements)))
    return tuple(merged)
