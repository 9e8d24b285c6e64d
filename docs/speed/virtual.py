"""Speed-up of parallel proof-number searches in virtual time: `python docs/speed/virtual.py` prints a table.

    python docs/speed/virtual.py                             # spdfpn on three positions, by 1 to 1,024 workers
    python docs/speed/virtual.py "spdfpn(virtual='both')"    # other parameters, or another solver with `simulated`

Virtual time counts nodes: the speed-up is the virtual time of one worker over that of all of them.  The overhead is how
many nodes all visit for one that one worker does.
"""

import argparse
import sys
from dataclasses import replace

import agents
import games
from agents.core.solve import solve, solver_of
from games.core.errors import UserError

POSITIONS = {"breakthrough(rows=5, columns=4)": "", "hex(size=5)": "a1", "domineering(rows=6, columns=6)": ""}
WORKERS = (1, 2, 4, 16, 64, 256, 1024)


def solved(spec: str, name: str, moves: str, workers: int):
    """The solution of a position, its value alone."""
    agent = agents.make(spec)
    if not hasattr(agent, "simulated"):
        raise UserError(f"{agent.name} has no simulated workers")
    game = games.make(name)
    solver = solver_of(replace(agent, workers=workers, simulated=True), game)
    return solve(solver, game.read_line(moves)[1], moves="none")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", nargs="?", default="spdfpn(job=1000, table=256)")
    parser.add_argument("--most", type=int, default=WORKERS[-1], help="no more workers than these")
    options = parser.parse_args()
    print(f"{'position':<36}{'workers':>8}{'nodes':>14}{'virtual time':>14}{'speed-up':>10}{'overhead':>10}  value")
    for name, moves in POSITIONS.items():
        first = None
        for workers in (count for count in WORKERS if count <= options.most):
            found = solved(options.agent, name, moves, workers)
            first = first or found
            speed_up, overhead = first.virtual_time / found.virtual_time, found.nodes / first.nodes
            counts = f"{workers:>8}{found.nodes:>14,}{found.virtual_time:>14,}"
            print(f"{name + ' ' + moves:<36}{counts}{speed_up:>10.2f}{overhead:>10.2f}  {found.value}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"virtual.py: {error}")
