"""`arena demo`: agents of different kinds and strengths, in under a minute."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Workers, free_folder
from arena.commands.playing import play_shown

CONFIG = {
    "game": "breakthrough(rows=6, columns=6)",
    "games": 300,
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


@command(examples="arena demo\narena demo --out runs/try --workers 2")
def demo(
    out: Annotated[Path | None, typer.Option(help="Where to store the run.")] = None, workers: Workers = None
) -> None:
    """Play a tournament of six agents on Breakthrough 6x6, and say what to do with it."""
    play_shown(CONFIG, out or free_folder("demo"), workers, resume=False, as_json=False)
