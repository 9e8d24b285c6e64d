"""Moves of chess counted from six positions, beside Stockfish and python-chess: `python docs/engines/perft.py`.

All counts must be equal.  Speeds are leaves a second of processor time.  Ours makes the moves of the last ply;
Stockfish and python-chess only list them.
"""

import argparse
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from arena import games

# The positions that chess programmers count; depth for us and Stockfish, and for python-chess
POSITIONS = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": (5, 3),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (4, 3),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (6, 4),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (5, 3),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (4, 3),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (4, 3),
}


def ours(fen: str, depth: int) -> int:
    """The leaves by our rules."""
    return games.perft(games.make(f"chess(fen={fen!r})"), depth)


def python_chess(fen: str, depth: int) -> int:
    """The leaves by python-chess."""
    import chess

    board = chess.Board(fen)

    def count(depth: int) -> int:
        if depth == 1:
            return board.legal_moves.count()
        leaves = 0
        for move in board.legal_moves:
            board.push(move)
            leaves += count(depth - 1)
            board.pop()
        return leaves

    return count(depth)


def stockfish(command: str, fen: str, depth: int) -> int:
    """The leaves by Stockfish's `go perft`."""
    asked = f"position fen {fen}\ngo perft {depth}\nquit\n"
    told = subprocess.run([command], input=asked, capture_output=True, text=True, check=True).stdout
    return int(told.split("Nodes searched:")[1].split()[0])


def timed(function: Callable[..., int], *arguments) -> tuple[int, float]:
    """What a function returns, and the processor time that it took, that of programs it started among it."""
    begun = clock()
    return function(*arguments), clock() - begun


def clock() -> float:
    """Processor time so far, in seconds."""
    of_programs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + of_programs.ru_utime + of_programs.ru_stime


def compare(count: Callable[..., int], which: int, turns: int) -> tuple[int, float, float]:
    """(leaves, our seconds, theirs) over all positions, of each the median of the turns; theirs without the start.

    which: of the depths of a position
    """
    leaves, own, other = 0, 0.0, 0.0
    for fen, depths in POSITIONS.items():
        pairs = []
        for _ in range(turns):
            start = timed(count, fen, 1)[1]
            (mine, seconds), (theirs, other_seconds) = timed(ours, fen, depths[which]), timed(count, fen, depths[which])
            if mine != theirs:
                raise SystemExit(f"perft.py: {fen}: {mine} leaves at depth {depths[which]}, and {theirs} by the other")
            pairs.append((seconds, other_seconds - start))
        leaves += mine
        own += statistics.median(seconds for seconds, _ in pairs)
        other += statistics.median(seconds for _, seconds in pairs)
    return leaves, own, other


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--turns", type=int, default=3, help="measurements of which each time is the median (3)")
    options = parser.parse_args()
    command = shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games")
    if not command:
        parser.error("there is no stockfish to compare with")
    if importlib.util.find_spec("chess") is None:
        parser.error("there is no python-chess to compare with: pip install chess")
    ours(next(iter(POSITIONS)), 2)  # compiles
    print("| beside | leaves | ours, M/s | theirs, M/s |\n|---|---|---|---|")
    for who, which, count in (("Stockfish", 0, partial(stockfish, command)), ("python-chess", 1, python_chess)):
        leaves, own, other = compare(count, which, options.turns)
        print(f"| {who} | {leaves:,} | {leaves / own / 1e6:.3g} | {leaves / other / 1e6:.3g} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
