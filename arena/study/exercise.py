"""What memory and symmetry save: minimax and alpha-beta with neither, either, and both.

A search plays one game against itself, each move searched to the end of the game, and keeps its table, if any.
Alpha-beta is bare: it tries moves in the game's order.
"""

import time
from collections.abc import Callable, Iterable

from arena import agents, games
from arena.agents.core.chunks import run_chunks
from arena.agents.core.transposition_table import clear
from arena.games.core.random import stream

GAMES = ("tictactoe", "connect4(rows=4, columns=4)", "connect4(rows=5, columns=4)")
BARE = "order=[], scout=false, foresee=false, sound=false"
PARTS = {"neither": (0, False), "memory": (1, False), "symmetry": (0, True), "both": (1, True)}
SEARCHES = {"minimax": "", "alphabeta": f", {BARE}"}
RESULTS = {1: "win", 0: "draw", -1: "loss"}


def savings(specs: Iterable[str], seconds: float, table: float, report: Callable[[str], None]) -> list[dict]:
    """A row for each game and search: game, search, savings, result (the first player's), nodes, seconds, finished.

    A game stops after `seconds`; `table` is in MiB; `report` gets the next search.
    """
    rows = []
    for spec in specs:
        game = games.make(spec)
        for search, options in SEARCHES.items():
            for part, (memory, symmetry) in PARTS.items():
                if symmetry and game.symmetries == 1:
                    continue
                report(f"{search} with {part} on {game}")
                parameters = f"shortest=false, table={table * memory}, symmetries={symmetry}{options}"
                agent = agents.make(f"{search}(depth={game.max_plies}, {parameters})")
                rows.append({"game": str(game), "search": search, "savings": part} | self_play(agent, game, seconds))
    return rows


def self_play(agent, game, seconds: float) -> dict:
    """A depth-first search against itself: result, nodes, seconds (of processor time), finished.

    Stopped after `seconds` of wall time.
    """
    player = agent.player(game)
    run_chunks(player.begin(game.initial(), stream(1)).run, 1, None)  # compiles, or loads, the kernels
    player = agent.player(game)
    clear(player.search.table)  # its memory comes from the system as it is first written, which is no search
    state, nodes, result = game.initial(), 0, None
    start, cpu_start = time.perf_counter(), time.thread_time()
    while not game.is_over(state):
        search = player.begin(state, None)
        run_chunks(search.run, None, max(seconds - (time.perf_counter() - start), 1e-3))
        nodes += int(player.search.counts[0]["nodes"])
        if not search.finished:
            break
        value, line = search.result()
        side = 1 if game.player(state) == 0 else -1
        result = result or RESULTS[side * ((value > 1) - (value < -1))]
        state = game.after(state, line[0])
    finished = bool(game.is_over(state))
    return {"result": result, "nodes": nodes, "seconds": time.thread_time() - cpu_start, "finished": finished}
