"""What foresight and first numbers by evaluation are worth: `python docs/speed/foresight.py`.

Each position is solved by a search on the game as it is, and on the game as if it foresaw nothing; by df-pn also with
first numbers by evaluation, with and without foresight.  A row has the nodes and processor seconds of each, "-" for
more than `--seconds`.

    python docs/speed/foresight.py hex domineering       # of games with such a word in their names
"""

import argparse
import time

from arena import agents, games
from arena.agents.core.solve import Unsolved, solve, solver_of
from arena.games.atarigo import AtariGo
from arena.games.breakthrough import Breakthrough
from arena.games.clobber import Clobber
from arena.games.connect4 import Connect4
from arena.games.core.game import Game
from arena.games.domineering import Domineering
from arena.games.hex import Hex
from arena.games.othello import Othello


def blind(base: type[Game]) -> type[Game]:
    """The game if it foresaw nothing, and listed every legal move; registered under another name."""
    hidden = {name: getattr(Game, name) for name in ("foreseen", "sound_moves", "soonest_win", "soonest_loss")}
    made = type(f"Blind{base.__name__}", (base,), {"name": f"blind_{base.name}", "__module__": __name__, **hidden})
    globals()[made.__name__] = made
    return made


for each in (AtariGo, Breakthrough, Clobber, Connect4, Domineering, Hex, Othello):
    blind(each)

ALPHABETA, DFPN = "alphabeta(table=32, symmetries=true)", "dfpn(table=64, symmetries=true)"
LARGE = "dfpn(table=4096, symmetries=true)"  # memory that is not used takes no time
WORDS = {1: "win", 0: "draw", -1: "loss"}
POSITIONS = (
    ("breakthrough(rows=5, columns=4)", "", DFPN),
    ("breakthrough(rows=5, columns=4)", "", ALPHABETA),
    ("breakthrough(rows=6, columns=3)", "", DFPN),
    ("breakthrough(rows=6, columns=4)", "", LARGE),
    ("breakthrough(rows=5, columns=5)", "", LARGE),
    ("breakthrough(rows=5, columns=6)", "", LARGE),
    ("domineering(rows=5, columns=6)", "", DFPN),
    ("domineering(rows=6, columns=6)", "", ALPHABETA),
    ("hex(size=4)", "", DFPN),
    ("hex(size=4)", "", ALPHABETA),
    ("hex(size=5)", "c3", DFPN),
    ("othello(size=6)", "d5 e5 b3 d2 e4 a3 c2 d6 a2 b2 c1 b5", ALPHABETA),
    ("othello(size=6)", "d5 e5 b3 d2 e4 a3 c2 d6 a2 b2 c1 b5 c6 b1", DFPN),
    ("atarigo(size=4)", "", DFPN),
    ("atarigo(size=4)", "", ALPHABETA),
    ("clobber(rows=4, columns=4)", "", DFPN),
    ("clobber(rows=4, columns=5)", "", ALPHABETA),
)


def solved(spec: str, line: str, agent: str, seconds: float) -> tuple[int | None, int, float]:
    """(value, nodes, processor seconds); no value if it takes more than so many seconds."""
    game = games.make(spec)
    _, state = game.read_line(line)
    solve(solver_of(agents.make(agent), game, agents.Budget(nodes=2000)), state, moves="none")  # compiles
    solver = solver_of(agents.make(agent), game)
    begun = time.process_time()

    def watch(progress):
        if time.process_time() - begun > seconds:
            raise Unsolved("too long")

    solver.progress = watch
    try:
        value = solver.value(state)
    except Unsolved:
        value = None
    return value, solver.nodes, time.process_time() - begun


def row_of(spec: str, line: str, agent: str, seconds: float) -> str:
    """A row of the table: nodes and seconds in each of up to four ways.  RuntimeError if two values differ."""
    ways = [agent, agent[:-1] + ", by_evaluation=true)"] if agent.startswith("dfpn") else [agent]
    cells, values = [], set()
    for way in ways:
        for name in (f"blind_{spec}", spec):
            value, nodes, spent = solved(name, line, way, seconds)
            cells.append("-" if value is None else f"{nodes:,} {spent:.2f} s")
            values |= {value} - {None}
    if len(values) > 1:
        raise RuntimeError(f"{spec} after {line or 'no moves'}: two values, {values}")
    cells += [""] * (4 - len(cells))
    told = "".join(WORDS[value] for value in values)
    return f"| {f'{spec} {line}'.strip()} | {agent.partition('(')[0]} | {' | '.join(cells)} | {told} |"


def main() -> None:
    """Print the table of the positions that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="of games to be looked at; all if there are none")
    parser.add_argument("--seconds", type=float, default=60.0, help="the most processor time for each")
    arguments = parser.parse_args()
    for word in arguments.words:
        if not any(word in spec for spec, _, _ in POSITIONS):
            parser.error(f"no position's game has {word!r} in its name")
    print("| position | search | blind | foreseen | blind, by evaluation | foreseen, by evaluation | value |")
    print("|---|---|---|---|---|---|---|")
    for spec, line, agent in POSITIONS:
        if not arguments.words or any(word in spec for word in arguments.words):
            print(row_of(spec, line, agent, arguments.seconds), flush=True)


if __name__ == "__main__":
    main()
