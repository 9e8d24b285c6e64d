"""Two threads on one tree against one, and against serial `uct`, in turns: `python docs/speed/shared_tree.py`.

Wall time of a playout, so the machine has to be idle: a decision counts only if the search had the cores it asked for,
that is, if its processor time was at least 93 % of its wall time for each thread.
"""

import argparse
import statistics
import time

from arena import agents, games
from arena.games.core.random import stream
from arena.games.core.shared.errors import UserError

SEARCHES = {
    "uct": "uct(playouts={})",
    "one thread": "tree(workers=1, playouts={}, total=true)",
    "two threads": "tree(workers=2, playouts={}, total=true)",
    "two, lot=1": "tree(workers=2, playouts={}, total=true, lot=1)",
}
ROUNDS = {20_000: 60, 200_000: 12}  # of each number of playouts, how many decisions
OWN_CORES = 0.93


def nanoseconds_of_a_playout(player, game, seed, threads):
    """Of one decision from the initial position; None if other programs took part of the cores meanwhile."""
    wall, processor = time.perf_counter(), time.process_time()
    playouts = player.choose(game.initial(), stream(seed)).playouts
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return 1e9 * wall / playouts if processor > OWN_CORES * threads * wall else None


def medians(game, playouts, rounds):
    """The median of each search, and how many decisions counted."""
    players = {name: agents.make(spec.format(playouts)).player(game) for name, spec in SEARCHES.items()}
    times = {name: [] for name in players}
    for player in players.values():
        player.choose(game.initial(), stream(0))  # compiles
    for seed in range(rounds):
        for name, player in players.items():
            time_taken = nanoseconds_of_a_playout(player, game, seed, 2 if name.startswith("two") else 1)
            if time_taken:
                times[name].append(time_taken)
    if not all(times.values()):
        raise SystemExit(f"{game} with {playouts} playouts: no decision had its cores to itself; the machine is busy")
    return {name: (statistics.median(each), len(each)) for name, each in times.items()}


def main():
    """Time the searches of each game, and print the medians."""
    parser = argparse.ArgumentParser(description="Time shared trees of one and two threads.")
    parser.add_argument("games", nargs="*", default=["breakthrough", "connect4", "othello"])
    try:
        chosen = {spec: games.make(spec) for spec in parser.parse_args().games}
    except UserError as error:
        parser.error(str(error))
    for spec, game in chosen.items():
        for playouts, rounds in ROUNDS.items():
            of = medians(game, playouts, rounds)
            print(f"{spec}, {playouts} playouts: ns a playout and decisions that count")
            for name, (median, count) in of.items():
                ratio = of["one thread"][0] / median
                print(f"  {name:12} {median:6.0f}  {count:3} of {rounds}   one thread / this: x{ratio:.2f}")


if __name__ == "__main__":
    main()
