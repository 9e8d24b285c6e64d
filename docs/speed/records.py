"""Positions solved to the end: `python docs/speed/records.py` prints a row for each, cheapest first.

    python docs/speed/records.py --minutes 15 --output records.jsonl     # all, each with at most 15 minutes
    python docs/speed/records.py --only hex --only nogo                  # those whose line has such a word in it

Each is solved in a process of its own, so that its memory is told.  Time is the processor's, so that other programs on
the machine matter little.  What is not solved in time is said to be so.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

from arena import agents, games
from arena.agents.core.agent import Unsuited
from arena.agents.core.solve import Unsolved, solve, solver_of
from arena.agents.minimax.strategy import certificate
from arena.games.core.checks.certificate import verify

WORDS = {1: "win", 0: "draw", -1: "loss", None: "not solved"}
OWN_ORDER = "order=['table', 'own', 'killers']"


@dataclass(frozen=True)
class Record:
    """A position and how it is solved; `certify`: with a certificate, verified by the rules alone."""

    game: str
    agent: str
    moves: str = ""
    all_moves: bool = False
    certify: bool = False

    def command(self) -> str:
        """What does the same at a terminal."""
        options = [f'--moves "{self.moves}"'] if self.moves else []
        options += [] if self.all_moves else ["--one"]
        return " ".join([f'arena solve "{self.game}" --agent "{self.agent}"', *options])


RECORDS = (
    Record("hex(size=4)", "dfpn(table=16, symmetries=true)", all_moves=True),
    Record("domineering(rows=6, columns=6)", "alphabeta(table=16, symmetries=true)"),
    Record("domineering(rows=7, columns=7)", "alphabeta(table=64, symmetries=true)"),
    Record("clobber(rows=4, columns=5)", "alphabeta(table=64, symmetries=true)"),
    Record("atarigo(size=5)", "dfpn(table=1024, symmetries=true, by_evaluation=true)"),
    Record("nogo(size=4)", "dfpn(table=512, symmetries=true, by_evaluation=true)"),
    Record("hex(size=5)", "dfpn(table=512, symmetries=true)", all_moves=True),
    Record("breakthrough(rows=5, columns=5)", "alphabeta(table=1024, symmetries=true)", certify=True),
    Record("clobber(rows=5, columns=5)", "alphabeta(table=2048, symmetries=true)"),
    Record("connect4(rows=6, columns=6)", f"alphabeta(table=4096, symmetries=true, {OWN_ORDER})"),
    Record("breakthrough(rows=5, columns=6)", "dfpn(table=4096, symmetries=true, by_evaluation=true)"),
    Record("domineering(rows=8, columns=8)", "alphabeta(table=4096, symmetries=true)"),
    Record("nogo(rows=5, columns=4)", "dfpn(table=4096, symmetries=true, by_evaluation=true)"),
    Record("hex(size=6)", "dfpn(table=4096, symmetries=true)"),
    Record("hex(size=6)", "dfpn(table=4096, symmetries=true, by_evaluation=true)", all_moves=True),
    Record("breakthrough(rows=5, columns=6)", "alphabeta(table=2048, symmetries=true)", certify=True),
    Record("amazons(rows=5, columns=6)", "alphabeta(table=4096, symmetries=true)"),
    Record("othello(size=6)", "alphabeta(table=4096, symmetries=true)", moves="c2 b2 b3 d2"),
    Record("connect4", f"alphabeta(table=8192, symmetries=true, {OWN_ORDER})"),
    Record("clobber(rows=5, columns=6)", "alphabeta(table=4096, symmetries=true)"),
    Record("nogo(size=5)", "dfpn(table=4096, symmetries=true, by_evaluation=true)"),
    Record("breakthrough(rows=6, columns=5)", "dfpn(table=6144, symmetries=true, by_evaluation=true, workers=2)"),
)


def measured(record: Record, minutes: float) -> dict:
    """The row of a record, by this process: value, best moves, nodes, processor seconds, bytes of memory."""
    solver = solver_of(agents.make(record.agent), games.make(record.game))
    _, state = solver.game.read_line(record.moves)
    solver.warm(state)
    begun = time.process_time()

    def watch(progress):
        if time.process_time() - begun > 60 * minutes:
            raise Unsolved(f"not solved in {minutes:g} minutes")

    solver.progress = watch
    found = solve(solver, state, moves="all" if record.all_moves else "one")
    row = {
        "game": record.game,
        "moves": record.moves,
        "agent": record.agent,
        "value": WORDS[found.value],
        "goals": found.goals,
        "best": [solver.game.move_name(state, move) for move in found.best],
        "nodes": found.nodes,
        "seconds": time.process_time() - begun,
        "mebibytes": found.peak_bytes / 2**20,
        "unsolved": found.unsolved,
        "command": record.command(),
    }
    if record.certify and found.value is not None:
        row |= certified(solver, record.moves)
    return row


def certified(solver, line: str) -> dict:
    """The positions of the certificate, once it is verified, and the processor seconds of both."""
    begun = time.process_time()
    try:
        made = certificate(solver, line)
    except (Unsuited, Unsolved) as error:
        return {"certificate": str(error)}
    between = time.process_time()
    verify(solver.game, made)
    return {
        "certificate": made.positions,
        "certificate_moves": len(made.moves),
        "certificate_bytes": len(made.packed()),
        "made": between - begun,
        "verified": time.process_time() - between,
    }


def text_of(row: dict) -> str:
    """A row for people."""
    best = " ".join(row["best"][:8])
    line = f"{row['game']} {row['moves']}".rstrip() + f": {row['value']} {best}".rstrip()
    line += f"; {row['nodes']:,} nodes, {row['seconds']:.1f} s, {row['mebibytes']:,.0f} MiB, by {row['agent']}"
    if "certificate" in row:
        line += f"; certificate of {row['certificate']} positions"
    return line + (f"; {row['unsolved']}" if row["unsolved"] else "")


def main() -> None:
    """Solve the positions that are asked for, each in a process, and print and write their rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0, help="processor time for each")
    parser.add_argument("--only", action="append", default=[], help="a word of the game and agent; may be repeated")
    parser.add_argument("--output", help="a file to which rows are added, as lines of JSON")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measured(RECORDS[arguments.one], arguments.minutes)))
        return
    lines = [f"{record.game} {record.agent}" for record in RECORDS]
    for word in arguments.only:
        if not any(word in line for line in lines):
            parser.error(f"no position has {word!r} in its line")
    for number, line in enumerate(lines):
        if arguments.only and not any(word in line for word in arguments.only):
            continue
        parts = [sys.executable, os.path.abspath(__file__), "--one", str(number), "--minutes", str(arguments.minutes)]
        text = subprocess.run(parts, stdout=subprocess.PIPE, text=True, check=True).stdout
        if arguments.output:
            with open(arguments.output, "a") as file:
                file.write(text)
        print(text_of(json.loads(text)), flush=True)


if __name__ == "__main__":
    main()
