"""Mates in two and in three that come up in random games of chess: `python docs/engines/mates.py` finds 300 of them.

Each is found by alpha-beta, confirmed by Stockfish, and then solved by alpha-beta, df-pn and proof-number search: the
question is whether the player to move can give mate within so many moves.  Times are processor time, without that of
compiling.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena import agents, games
from arena.agents.core.solve import Solver, Unsolved, goal_for, solver_of

SOLVERS = ("alphabeta", "dfpn", "pns")
LONGEST = 3  # moves to mate
EVERY = 5  # plies from one position of a game to the next
PATIENCE = 30_000  # nodes after which a position is given up
DEPTH = 25  # plies at which Stockfish gives up
CHESS = games.make("chess")


class Mate(NamedTuple):
    """A position, and in how many moves the player to move gives mate."""

    fen: str
    moves: int


class Wrong(Exception):
    """A mate that Stockfish does not confirm, or that a search does not find; the message says which."""


def positions(seed: int) -> Iterator[str]:
    """Positions of random games, without an end."""
    random = np.random.default_rng(seed)
    while True:
        state = CHESS.initial()
        for ply in range(200):
            if CHESS.is_over(state):
                break
            if ply % EVERY == EVERY - 1:
                yield CHESS.fen_of(state)
            CHESS.play(state, int(random.choice(CHESS.moves(state))))


def state_of(fen: str) -> np.ndarray:
    """The position, without what was before."""
    return games.make(f"chess(fen={fen!r})").initial()


def moves_to_mate(solver: Solver, state: np.ndarray) -> int:
    """In how many moves the player to move can give mate; 0 if in no less than `LONGEST`, or if that takes long."""
    player = int(CHESS.player(state))
    solver.begin()
    try:
        return next((n for n in range(1, LONGEST + 1) if solver.reaches(state, player, 1, 2 * n - 1)), 0)
    except Unsolved:
        return 0


def find(count: int, seed: int) -> list[Mate]:
    """So many mates, as many in three moves as in two, or one less."""
    solver = solver_of(agents.make("alphabeta"), CHESS, agents.Budget(nodes=PATIENCE))
    wanted = {2: (count + 1) // 2, 3: count // 2}
    found: dict[str, Mate] = {}
    for fen in positions(seed):
        if not any(wanted.values()):
            break
        moves = moves_to_mate(solver, state_of(fen))
        if wanted.get(moves) and fen not in found:
            wanted[moves] -= 1
            found[fen] = Mate(fen, moves)
    return list(found.values())


class Stockfish:
    """The engine, asked by UCI; use it in a `with` statement."""

    def __init__(self, command: str):
        self._process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self) -> "Stockfish":
        return self

    def __exit__(self, *_) -> None:
        self._process.communicate("quit\n")

    def moves_to_mate(self, mate: Mate, depth: int = DEPTH) -> int:
        """In how many moves the player to move gives mate, when it looks for one in so many; 0 if it sees none."""
        self._process.stdin.write(f"ucinewgame\nposition fen {mate.fen}\ngo mate {mate.moves} depth {depth}\n")
        found = 0
        for line in self._process.stdout:
            words = line.split()
            if words[:1] == ["bestmove"]:
                return found
            if "score" in words:
                kind, value = words[words.index("score") + 1 :][:2]
                found = int(value) if kind == "mate" else 0
        raise Wrong(f"{self._process.args[0]} has ended")

    def confirm(self, mate: Mate, solver: Solver) -> None:
        """Wrong unless it sees the mate, and none in fewer moves."""
        theirs = self.moves_to_mate(mate)
        if 0 < theirs < mate.moves or not self.sees(mate, solver):
            raise Wrong(f"{mate.fen}: mate in {mate.moves} by alpha-beta, {theirs or 'none'} by Stockfish")

    def sees(self, mate: Mate, solver: Solver) -> bool:
        """Whether it sees a mate in so many moves, or sees them after the solver's move and each reply: since it leaves
        out moves, it now and then finds but a longer one."""
        if 0 < self.moves_to_mate(mate) <= mate.moves:
            return True
        return mate.moves > 1 and all(self.sees(after, solver) for after in replies(mate, solver))


def replies(mate: Mate, solver: Solver) -> Iterator[Mate]:
    """The positions after the solver's move and each reply, with a move less to mate."""
    state = state_of(mate.fen)
    after = CHESS.after(state, solver.settle(state, goal_for(int(CHESS.player(state)), 1, 2 * mate.moves - 1)).move)
    for reply in CHESS.moves(after):
        yield Mate(CHESS.fen_of(CHESS.after(after, reply)), mate.moves - 1)


@dataclass
class Times:
    """What a search took for mates of one length."""

    agent: str
    moves: int
    seconds: list[float]
    nodes: list[int]


def solve(name: str, mates: list[Mate], judge: Solver) -> list[Times]:
    """Times of an agent for the mates of each length; Wrong if it does not find one, or by the judge a wrong move."""
    solver, rows = solver_of(agents.make(name), CHESS), {}
    solver.warm(CHESS.initial())
    for mate in mates:
        row = rows.setdefault(mate.moves, Times(name, mate.moves, [], []))
        state, plies = state_of(mate.fen), 2 * mate.moves - 1
        player = int(CHESS.player(state))
        begun = time.process_time()
        solver.begin()
        solved = solver.reaches(state, player, 1, plies)
        row.seconds.append(time.process_time() - begun)
        row.nodes.append(solver.nodes)
        move = solver.settle(state, goal_for(player, 1, plies)).move
        judge.begin()
        if not solved or (move is not None and not judge.reaches(CHESS.after(state, move), player, 1, plies - 1)):
            raise Wrong(f"{mate.fen}: {name} finds no mate in {mate.moves}")
    return [rows[moves] for moves in sorted(rows)]


def table(rows: list[Times]) -> str:
    """The rows as Markdown."""
    heads = "search", "mate in", "solved", "ms, median", "ms, most", "nodes, median", "nodes, most"
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        ms, nodes = [1000 * seconds for seconds in row.seconds], row.nodes
        times = f"{statistics.median(ms):.1f} | {max(ms):.1f} | {statistics.median(nodes):,.0f} | {max(nodes):,}"
        lines.append(f"| `{row.agent}` | {row.moves} | {len(ms)} | {times} |")
    return "\n".join(lines)


def main() -> int:
    """Find, confirm, solve and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=300, help="how many mates (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the random games (1)")
    parser.add_argument("--stockfish", default="stockfish", help="what starts it; where there is none, say so with ''")
    parser.add_argument("--output", type=Path, help="a file for the positions, in EPD with their moves to mate (dm)")
    options = parser.parse_args()
    if options.count < 1:
        parser.error(f"--count {options.count}: it can be 1 or more")
    command = shutil.which(options.stockfish, path=f"{os.environ.get('PATH', '')}:/usr/games")
    if options.stockfish and not command:
        parser.error(f"there is no {options.stockfish}; --stockfish '' does without it")
    try:
        mates, judge = find(options.count, options.seed), solver_of(agents.make("alphabeta"), CHESS)
        if command:
            with Stockfish(command) as engine:
                for mate in mates:
                    engine.confirm(mate, judge)
        rows = [row for name in SOLVERS for row in solve(name, mates, judge)]
    except Wrong as wrong:
        print(f"mates.py: {wrong}", file=sys.stderr)
        return 1
    if options.output:
        lines = (f"{' '.join(mate.fen.split()[:4])} dm {mate.moves};\n" for mate in mates)
        options.output.write_text("".join(lines))
    print(f"{len(mates)} mates, {'confirmed by Stockfish' if command else 'unconfirmed'}\n\n{table(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
