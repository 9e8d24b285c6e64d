"""Searches beside the same searches in C++, on one core: `python docs/speed/compare.py` prints a table of ratios.

Each C++ program here makes the same search as an agent, from the same random numbers: what both have counted and chosen
is compared first.  Then they are timed in turns, by processor time; a ratio is the median over the turns.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from arena import agents, games
from arena.agents.core.solve import solve, solver_of
from arena.games.core.random import GAMMA, mix
from arena.games.core.shared.seeds import derive_seed

SOURCES = Path(__file__).parent
COMPILER = "g++"
# without contraction to fused multiply-adds, whose other rounding would in time lead to other moves
FLAGS = ("-O3", "-march=native", "-std=c++20", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
SEED = 1
LEAST_TURN = 0.2  # seconds of processor time
WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Yardstick:
    """A search: the agent and game, and the C++ program of it with its arguments."""

    title: str
    agent: str
    game: str
    program: str
    arguments: tuple[str | int, ...]
    unit: str

    def search(self) -> Callable[[], tuple[int, int]]:
        """What searches once and returns (nodes or playouts, check): the check is equal to the C++ program's."""
        agent, game = agents.make(self.agent), games.make(self.game)
        make = {"alphabeta": alphabeta, "dfpn": dfpn, "nrpa": nrpa}.get(self.program, tree_search)
        return lambda: make(agent, game)


YARDSTICKS = (
    Yardstick(
        "alpha-beta, Connect 4, depth 12", "alphabeta(depth=12)", "connect4", "alphabeta", ("connect4", 12), "nodes"
    ),
    Yardstick(
        "alpha-beta, Breakthrough 8x8, depth 7",
        "alphabeta(depth=7)",
        "breakthrough",
        "alphabeta",
        ("breakthrough", 7),
        "nodes",
    ),
    Yardstick("df-pn, Breakthrough 5x5, solved", "dfpn", "breakthrough(rows=5, columns=5)", "dfpn", ("5x5",), "nodes"),
    Yardstick("UCT, Connect 4", "uct(playouts=10000)", "connect4", "uct", ("connect4", 10000), "playouts"),
    Yardstick(
        "UCT, Breakthrough 8x8", "uct(playouts=10000)", "breakthrough", "uct", ("breakthrough", 10000), "playouts"
    ),
    Yardstick("GRAVE, Connect 4", "grave(playouts=10000)", "connect4", "grave", (10000,), "playouts"),
    Yardstick("PPA, Breakthrough 8x8", "ppa(playouts=10000)", "breakthrough", "ppa", (10000,), "playouts"),
    Yardstick(
        "NRPA, SameGame 15x15",
        "nrpa(level=2, iterations=100, playouts=10000)",
        "samegame",
        "nrpa",
        ("samegame", 2, 100),
        "playouts",
    ),
    Yardstick(
        "NRPA, Morpion Solitaire 5D",
        "nrpa(level=2, iterations=100, playouts=10000)",
        "morpion",
        "nrpa",
        ("morpion", 2, 100),
        "playouts",
    ),
)


# -- Our side: one search, and its check ------------------------------------------------------------------------------


def checked(check: int, move: int, number: int) -> int:
    """The function of that name in common.h."""
    return int(mix((check + move * int(GAMMA) + number) & WORD))


def alphabeta(agent, game) -> tuple[int, int]:
    """(nodes, check of the nodes and the move)."""
    decision = agent.choose(game, game.initial(), seed=SEED)
    return decision.nodes, checked(decision.nodes, decision.move, 0)


def dfpn(agent, game) -> tuple[int, int]:
    """(nodes, check of the nodes and of the answer) to the question whether the first player wins."""
    solution = solve(solver_of(agent, game, agents.Budget(nodes=10**12)), game.initial(), goal="win", moves="none")
    return solution.nodes, checked(solution.nodes, solution.goals["win"], 0)


def tree_search(agent, game) -> tuple[int, int]:
    """(playouts, check of the tree's size and the visits of each move of the root)."""
    decision = agent.choose(game, game.initial(), seed=SEED)
    visits = dict(zip(decision.statistics.moves.tolist(), decision.statistics.playouts.tolist()))
    check = decision.nodes
    for move in game.moves(game.initial()):
        check = checked(check, move, visits[move])
    return decision.playouts, check


def nrpa(agent, game) -> tuple[int, int]:
    """(playouts, check of the best score and the playouts that were better than all before)."""
    decision = agent.choose(game, game.initial(), seed=SEED)
    improvements = sum(one.playouts for one in decision.improvements)
    return decision.playouts, checked(decision.playouts, int(decision.value), improvements)


# -- The side of C++ --------------------------------------------------------------------------------------------------


def compiled(program: str, folder: Path) -> Path:
    """The program, compiled into the folder unless it is there."""
    binary = folder / program
    if not binary.exists():
        subprocess.run([COMPILER, *FLAGS, "-o", binary, SOURCES / f"{program}.cpp"], check=True)
    return binary


class Program:
    """A C++ program that searches when asked; use it in a `with` statement."""

    def __init__(self, yardstick: Yardstick, folder: Path):
        words = [str(word) for word in yardstick.arguments]
        if yardstick.program != "dfpn":
            words.append(str(derive_seed(SEED)))
        if yardstick.game == "samegame":
            words.append(str(derive_seed(0, "samegame")))  # of the board
        command = [compiled(yardstick.program, folder), *words]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_) -> None:
        self._process.communicate()

    def search(self, times: int) -> tuple[int, float, int]:
        """(nodes or playouts of that many searches, seconds of processor time, check of the last one)."""
        print(times, file=self._process.stdin, flush=True)
        units, seconds, check = self._process.stdout.readline().split()
        return int(units), float(seconds), int(check)


# -- Comparison -------------------------------------------------------------------------------------------------------


class Difference(Exception):
    """The two sides do not make the same search."""


def compare(yardstick: Yardstick, folder: Path, turns: int) -> dict:
    """A row of the table: units a second of processor time on both sides, and their ratio; Difference if they differ.

    The programs are compiled into the folder.
    """
    search = yardstick.search()
    with Program(yardstick, folder) as program:
        (units, check), (their_units, _, their_check) = search(), program.search(1)
        if (units, check) != (their_units, their_check):
            theirs = f"in C++ {their_units}, check {their_check}"
            raise Difference(f"{yardstick.title} is another search: {units} {yardstick.unit}, check {check}; {theirs}")
        times = max(1, round(LEAST_TURN / max(timed(search, 1), 1e-4)))
        pairs = [(timed(search, times), program.search(times)[1]) for _ in range(turns)]
    return {
        "search": yardstick.title,
        "unit": yardstick.unit,
        "units": units,
        "arena_per_second": units * times / statistics.median(ours for ours, _ in pairs),
        "cpp_per_second": units * times / statistics.median(theirs for _, theirs in pairs),
        "ratio": statistics.median(theirs / ours for ours, theirs in pairs),
        "ratios": [theirs / ours for ours, theirs in pairs],
    }


def timed(search: Callable, times: int) -> float:
    """Seconds of processor time of so many searches."""
    begin = time.process_time()
    for _ in range(times):
        search()
    return time.process_time() - begin


def table(rows: Iterable[dict]) -> str:
    """The rows as Markdown."""
    lines = ["| search | unit | search-arena | C++ | ratio |", "|---|---|---|---|---|"]
    for row in rows:
        ours, theirs = (f"{row[side] / 1e6:.3g} M" for side in ("arena_per_second", "cpp_per_second"))
        lines.append(f"| {row['search']} | {row['units']} {row['unit']} | {ours} | {theirs} | {row['ratio']:.2f} |")
    return "\n".join(lines)


def main() -> int:
    """Compile, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", help="only searches whose titles have one of these words in them")
    parser.add_argument("--turns", type=int, default=7, help="measurements of which a ratio is the median (7)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    if options.turns < 1:
        parser.error(f"--turns {options.turns}: it can be 1 or more")
    words = [word.lower() for word in options.words]
    wanted = [one for one in YARDSTICKS if not words or any(word in one.title.lower() for word in words)]
    if not wanted:
        titles = "; ".join(one.title for one in YARDSTICKS)
        parser.error(f"no search has {' or '.join(words)} in its title; there are: {titles}")
    if not shutil.which(COMPILER):
        parser.error(f"there is no {COMPILER} to compile the C++ programs with")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for yardstick in wanted:
            print(f"measuring {yardstick.title}", file=sys.stderr)
            rows.append(compare(yardstick, Path(folder), options.turns))
    print(json.dumps(rows, indent=1) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
