"""What searches for the best sequence share: budgets, restarts, the sequence, how it came about, and workers.

For one player, one search at the first decision has the whole budget, and begins again as often as that allows; then
the best sequence found is played.  For two players every decision is a search of its own; values are results divided by
the length of the game, so that early wins count most.

Root parallelisation (the idea: T. Cazenave & N. Jouandeau, "On the parallelization of UCT", 2007): each worker, a
thread with its own budget and stream of random numbers, searches by itself, and the best of their sequences is played.
"""

import os
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Budget, Decision, Improvement, MoveStatistics, Unsuited
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import run_chunks
from arena.agents.core.needs import Needs
from arena.agents.core.threads import Threaded, ThreadedPlayer
from arena.agents.nested.first_level import LeafSearch
from arena.agents.nested.incumbent import DONE, LIMIT, Incumbent, new_incumbent
from arena.games.core.game import check_choice, check_range

MOST_LEVELS = 12


@dataclass(frozen=True)
class Sequences(Threaded):
    """Base of the searches for the best sequence of moves.

    restarts: begin the search again as long as the budget lasts; without restarts no budget is needed
    workers: threads; the budget is for each of them
    """

    playouts: int | None = None
    seconds: float | None = None
    restarts: bool = True
    workers: int = 1

    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")
    needs: ClassVar[Needs] = Needs(players=(1, 2), chance=False)  # sequences of moves are replayed
    room: ClassVar[str]  # the parameters that decide how much memory it takes

    @property
    def by_leaf(self) -> bool:
        """Whether one search shares out the calls of its first level."""
        return False

    def budget(self, default: Budget | None = None) -> Budget:
        offered = {**(default or Budget()).given(), **self.own_budget().given()}
        if not self.restarts and not any(kind in offered for kind in self.budgets):
            return Budget()  # a search ends by itself
        try:
            return super().budget(default)
        except Unsuited as error:
            raise Unsuited(f"{error}; with restarts=false it needs none") from None

    def misfit(self, game):
        needed, there = self.workers * self.bytes_needed(game), memory_bytes()
        if needed > there:
            sizes = f"{needed / 1e9:.1f} GB for {game}, and there are {there / 1e9:.1f}"
            return f"{self} needs {sizes}: lower {self.room}"
        return None

    def bytes_needed(self, game) -> int:
        """The most bytes that one worker's arrays take at first."""
        raise NotImplementedError

    def new_search(self, game):
        raise NotImplementedError

    def begin(self, search, game, state) -> None:
        raise NotImplementedError

    def run(self, search, game, state, incumbent: Incumbent, rng):
        """Search until the incumbent's limit of playouts, or a full log; returns the arrays, perhaps grown."""
        raise NotImplementedError

    def run_more(self, search, game, state, incumbent: Incumbent, count: int, rng):
        """`run` for up to `count` more playouts: (arrays, playouts made)."""
        before = int(incumbent.playouts[DONE])
        incumbent.playouts[LIMIT] = before + count
        search = self.run(search, game, state, incumbent, rng)
        return search, int(incumbent.playouts[DONE]) - before

    def search_by_leaf(self, search: LeafSearch) -> None:
        """Search once, or until the budget is used up."""
        raise NotImplementedError

    def choice(self, searches, incumbents: list[Incumbent], table: MoveStatistics) -> tuple[int, float]:
        """The root's move to play between two players, as a place in the table, and its value."""
        raise NotImplementedError

    def new_player(self, game, budget):
        return SequencePlayer(self, game, budget)


@dataclass(frozen=True)
class Levelled:
    """The field that comes first in the text of a nested search."""

    level: int = 2


@dataclass(frozen=True)
class Nested(Sequences, Levelled):
    """Base of the nested searches.

    parallel: "root", each worker searches by itself; "leaf", one search shares out the calls of its first level
    """

    parallel: str = "root"

    room: ClassVar[str] = "level or workers"

    def __post_init__(self):
        super().__post_init__()
        check_range("level", self.level, 1, MOST_LEVELS)
        check_choice("parallel", self.parallel, ("root", "leaf"))
        if self.by_leaf and self.level < 2:
            raise ValueError(
                f"level = {self.level}: parallel = 'leaf' shares out calls of the level below, from level 2 on"
            )

    @property
    def by_leaf(self):
        return self.parallel == "leaf"

    def own_needs(self):
        return replace(self.needs, players=(1,)) if self.by_leaf else self.needs


def memory_bytes() -> int:
    """The machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class SequencePlayer(ThreadedPlayer):
    """Keeps the sequence that it plays in a game for one player."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.searches = [agent.new_search(game) for _ in range(agent.workers)]
        self.plan, self.score, self.best = (), 0.0, -np.inf

    def decide(self, state, rng):
        if self.plan:
            return self.first_of_plan(playouts=0)
        if self.agent.by_leaf:
            return self.decide_by_leaf(state, rng)
        rngs = self.streams(rng)
        incumbents = [new_incumbent(self.game, self.agent.restarts) for _ in rngs]
        improvements = self.on_threads(lambda i: self.search(i, state, incumbents[i], rngs[i]))
        rng[0] = rngs[0, 0]
        if self.game.players == 2:
            return self.decision_for_two(state, incumbents)
        best = max(incumbents, key=lambda one: one.score[0])  # the first worker's among equals
        self.plan, self.score = tuple(best.moves[: best.length[0]].tolist()), float(best.score[0])
        return self.first_of_plan(**playouts_of(incumbents), improvements=best_of(improvements))

    def first_of_plan(self, **counts) -> Decision:
        return Decision(self.plan[0], self.score, depth=len(self.plan), principal_variation=self.plan, **counts)

    def decide_by_leaf(self, state, rng):
        search = LeafSearch(self, state, self.streams(rng))
        self.agent.search_by_leaf(search)
        while self.agent.restarts and not search.is_over():
            self.agent.search_by_leaf(search)
        rng[0] = search.rngs[0, 0]
        self.plan, self.score = search.moves, search.score
        return self.first_of_plan(
            playouts=sum(search.playouts), playouts_each=max(search.playouts), improvements=tuple(search.improvements)
        )

    def played(self, move):
        self.plan = self.plan[1:] if self.plan and self.plan[0] == move else ()

    def search(self, i, state, incumbent, rng) -> list[Improvement]:
        agent, game, start, improvements = self.agent, self.game, time.perf_counter(), []
        agent.begin(self.searches[i], game, state)

        def run(count):
            self.searches[i], made = agent.run_more(self.searches[i], game, state, incumbent, count, rng)
            seconds, logged = time.perf_counter() - start, int(incumbent.logged[0])
            improvements.extend(
                Improvement(int(at), seconds, float(score))
                for at, score in zip(incumbent.at[:logged], incumbent.scores[:logged])
            )
            incumbent.logged[0] = 0
            if logged and game.players == 1:
                self.note_best_of_all(float(incumbent.score[0]))
            return made

        run_chunks(run, self.budget.playouts, self.budget.seconds)
        return improvements

    def note_best_of_all(self, score: float) -> None:
        """Note the best score of all workers."""
        if score > self.best:
            self.best = score
            self.note_best(score)

    def decision_for_two(self, state, incumbents):
        table = root_statistics(moves_of(self.game, state), incumbents)
        place, value = self.agent.choice(self.searches, incumbents, table)
        move = int(table.moves[place])
        return Decision(move, value, **playouts_of(incumbents), principal_variation=(move,), statistics=table)


def playouts_of(incumbents: list[Incumbent]) -> dict:
    """A decision's counts of playouts: of all workers, and the most of any of several."""
    each = [int(one.playouts[DONE]) for one in incumbents]
    return {"playouts": sum(each), "playouts_each": max(each) if len(each) > 1 else None}


def root_statistics(moves: list[int], incumbents: list[Incumbent]) -> MoveStatistics:
    """Playouts and mean results below each move of the root, of all workers."""
    count = len(moves)
    playouts = np.sum([one.root_playouts[:count] for one in incumbents], axis=0)
    sums = sum(one.root_sums[:count] for one in incumbents)
    return MoveStatistics(np.array(moves, np.int32), playouts, sums / np.maximum(playouts, 1))


def best_of(improvements: list[list[Improvement]]) -> tuple[Improvement, ...]:
    """The improvements of workers side by side, with all their playouts."""
    merged, best = [], -np.inf
    for each in sorted((one for worker in improvements for one in worker), key=lambda one: (one.playouts, -one.score)):
        if each.score > best:
            best = each.score
            merged.append(each._replace(playouts=each.playouts * len(improvements)))
    return tuple(merged)
