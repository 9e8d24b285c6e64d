"""`arena demo`: a tournament of agents of different kinds and strengths, in some seconds."""

from arena.commands.application import Panel, command
from arena.commands.options import RunFolder, Verbose, Workers, free_folder
from arena.commands.playing import Where, play_shown

CONFIG = {
    "game": "breakthrough(rows=6, columns=6)",
    "games": 120,
    "opening_plies": 2,
    "seed": 1,
    "agents": [
        {"agent": "random"},
        {"agent": "flat(playouts=30)"},
        {"agent": "flat(playouts=100)"},
        {"agent": "uct(playouts=200)"},
        {"agent": "alphabeta(depth=1)"},
        {"agent": "uct(playouts=1000)"},
    ],
}


@command(Panel.PLAY, examples="arena demo\narena demo --out runs/try --workers 2", as_json=True)
def demo(out: RunFolder = None, workers: Workers = None, verbose: Verbose = 0) -> None:
    """Play a tournament of six agents, and say what to do next.

    The game is Breakthrough on a board of 6x6.
    """
    play_shown(CONFIG, out or free_folder("demo"), Where(workers), resume=False)
