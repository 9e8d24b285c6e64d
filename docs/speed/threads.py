"""Time to solution with two threads against one, on idle cores: `python docs/speed/threads.py` prints a table.

    python docs/speed/threads.py                  # alpha-beta's three rules, on twenty positions of three games
    python docs/speed/threads.py dfpn             # another solver that takes `workers`, such as parapds or rppns
    python docs/speed/threads.py --longer dfpn    # positions that take one thread 20 to 120 seconds

The positions come from random games; one thread takes one to 25 seconds, or 20 to 120.  One thread and two are timed
one after the other by the clock on the wall: a solution counts only if its threads had 95 % of both cores.  A row has
the median speed-up, and the median overhead: how many positions two threads visit for one that one thread does.

Two threads may take three times as long as one thread at most, 25 or 120 seconds.  What they have not solved by then
counts with the speed-up that they have at most, and the positions that they have visited; a column says how many.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from arena import agents, games
from arena.agents.core.solve import Unsolved, solve, solver_of
from arena.games.core.random import random_below, stream
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.registry import parse_spec

RULES = ("alphabeta(sharing='abdada')", "alphabeta(sharing='ybwc')", "alphabeta(sharing='lazy')")
# of each game: how many positions, and after how many plies at least and at most
GAMES = {"connect4": (8, 8, 14), "breakthrough(rows=6, columns=4)": (6, 2, 8), "othello(size=6)": (6, 8, 14)}
TABLE = 512  # MiB
SHORT, LONG = (1.0, 25.0), (20.0, 120.0)  # seconds of one thread, at least and at most
PATIENCE = 3  # two threads may take so many times the most seconds of one
SEEDS = 400
BUSY = 0.95  # of the cores, or a solution does not count
SMALL = 3000  # nodes of a search that compiles


class Timing(NamedTuple):
    """A search."""

    value: int | None  # None: not solved
    nodes: int
    seconds: float  # on the wall
    busy: float  # cores, of those it could use


class Row(NamedTuple):
    """One thread beside two on a position."""

    game: str
    unsolved: bool  # by two threads; then the speed-up is one that they have at most, the overhead at least
    speed_up: float
    overhead: float


def random_position(game, plies: int, seed: int):
    """The position after that many random moves, or None if a game is over before."""
    rng, state = stream(seed), game.initial()
    for _ in range(plies):
        moves = game.moves(state)
        state = game.after(state, moves[int(random_below(rng, len(moves)))])
        if game.is_over(state):
            return None
    return state


def with_workers(spec: str, workers: int):
    """The agent with so many threads, and a table of TABLE MiB where it has one whose size the spec does not say."""
    agent, named = agents.make(spec), parse_spec(spec)[2]
    if not hasattr(agent, "workers"):
        raise UserError(f"{agent.name} has no threads to solve with")
    table = {"table": TABLE} if hasattr(agent, "table") and "table" not in named else {}
    return replace(agent, workers=workers, **table)


def timed(game, spec: str, state, workers: int, seconds: float) -> Timing:
    """Solve a position, in so many seconds at most."""
    solver = solver_of(with_workers(spec, workers), game, agents.Budget(seconds=seconds))
    begun, spent = time.perf_counter(), time.process_time()
    try:
        value = solver.value(state)
    except Unsolved:
        value = None
    wall = time.perf_counter() - begun
    return Timing(value, solver.nodes, wall, (time.process_time() - spent) / wall / workers)


def positions(name: str, spec: str, shortest: float, longest: float) -> Iterator[tuple]:
    """(game, state, timing by one thread) of the positions of a game that take neither too short nor too long."""
    wanted, least, most = GAMES[name]
    game, seed = games.make(name), 0
    while wanted > 0 and seed < SEEDS:
        seed += 1
        state = random_position(game, least + seed % (most - least + 1), seed)
        if state is None:
            continue
        one = timed(game, spec, state, 1, longest)
        if one.value is not None and one.seconds >= shortest:
            yield game, state, one
            wanted -= 1


def compile_all(name: str, specs: list[str]) -> None:
    """Compile what the searches of a game need."""
    game = games.make(name)
    for spec in specs:
        for workers in (1, 2):
            solver = solver_of(with_workers(spec, workers), game, agents.Budget(nodes=SMALL))
            solve(solver, game.initial(), moves="none")


def alone(spec: str):
    """The agent with one thread; how several would share the work is set aside."""
    agent = with_workers(spec, 1)
    return replace(agent, sharing=type(agent).sharing) if hasattr(agent, "sharing") else agent


def same_alone(spec: str, other: str) -> bool:
    """Whether two solvers make the same search with one thread."""
    return alone(spec) == alone(other)


def row_of(name: str, spec: str, one: Timing, two: Timing, limit: float) -> Row:
    """The comparison of two searches; RuntimeError if they find different values."""
    if two.value is None:
        return Row(name, True, one.seconds / limit, two.nodes / one.nodes)
    if one.value != two.value:
        raise RuntimeError(f"{spec} on {name}: one thread finds {one.value}, two find {two.value}")
    return Row(name, False, one.seconds / two.seconds, two.nodes / one.nodes)


def compared(specs: list[str], shortest: float, longest: float) -> dict[str, list[Row]]:
    """The rows of each solver that count; tells of each as it goes."""
    rows: dict[str, list[Row]] = {spec: [] for spec in specs}
    limit = PATIENCE * longest
    for name in GAMES:
        compile_all(name, specs)
        for game, state, first in positions(name, specs[0], shortest, longest):
            for spec in specs:
                one = first if same_alone(spec, specs[0]) else timed(game, spec, state, 1, limit)
                if one.value is None:
                    print(f"{name}  {spec}  not solved by one thread", file=sys.stderr, flush=True)
                    continue
                two = timed(game, spec, state, 2, limit)
                row = row_of(name, spec, one, two, limit)
                told = f"{name}  {spec}  {one.seconds:.2f} s  speed-up {'at most ' if row.unsolved else ''}"
                told += f"{row.speed_up:.2f}  overhead {row.overhead:.2f}  busy {one.busy:.2f} {two.busy:.2f}"
                print(told, file=sys.stderr, flush=True)
                if min(one.busy, two.busy) >= BUSY:
                    rows[spec].append(row)
    return rows


def main() -> None:
    """Time the solvers, and print the medians by game and over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", default=list(RULES), help="solvers; alpha-beta's three rules if none")
    parser.add_argument("--longer", action="store_true", help="positions that take one thread 20 to 120 seconds")
    arguments = parser.parse_args()
    try:
        for spec in arguments.specs:
            for name in GAMES:
                solver_of(with_workers(spec, 1), games.make(name))
    except UserError as error:
        parser.error(str(error))
    rows = compared(arguments.specs, *(LONG if arguments.longer else SHORT))
    print("| search | game | positions | not solved by two | speed-up | overhead |\n|---|---|---|---|---|---|")
    for spec, found in rows.items():
        for name in (*GAMES, ""):
            chosen = [row for row in found if not name or row.game == name]
            if chosen:
                speed_up, overhead = (statistics.median(column) for column in list(zip(*chosen))[2:])
                counts = f"{len(chosen)} | {sum(row.unsolved for row in chosen)}"
                print(f"| {spec} | {name or 'all'} | {counts} | {speed_up:.2f} | {overhead:.2f} |")


if __name__ == "__main__":
    main()
