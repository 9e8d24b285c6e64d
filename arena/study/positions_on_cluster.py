"""Solves the positions of a file on a cluster.

If a solver kills its worker, Dask tries another, and gives up after three.  Each lot, of a fixed size, has a new
solver, so nodes do not depend on the number of workers, though one solver for all would count others.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from arena.cluster.link import ClusterError, check_importable, connected, loading, made_here
from arena.games.core.shared.plugins import named
from arena.study.positions import Checked, Known, check_positions, states_of

LOT = 16  # positions


def check_positions_on(
    cluster: str, game: str, agent: str, known: list[Known], path: Path, after: Callable[[Checked], None]
) -> list[Checked]:
    """Do as `check_positions`, on a cluster; `after` is called in the order in which lots come back.

    game, agent: specs.  ClusterError if a worker has other sources, or solvers kill several workers in a row.
    """
    from arena import agents, games
    from arena.workers.machine import digest_of_made

    made, solver = games.make(game), agents.make(agent)
    states_of(made, known, path)
    lots = [known[i : i + LOT] for i in range(0, len(known), LOT)]
    fixed = game, agent, named(), os.getcwd(), digest_of_made(made, solver)
    checked: dict[int, Checked] = {}
    with connected(cluster, max(1, int(solver.cores))) as client:
        check_importable(client, cluster)
        for done in _solved(client, cluster, [(*fixed, lot, str(path)) for lot in lots]):
            for one in done:
                checked[one.known.line] = one
                after(one)
    return [checked[entry.line] for entry in known]


def _solved(client, cluster, tasks) -> Iterator[list[Checked]]:
    from distributed import KilledWorker, as_completed

    futures = [client.submit(solve_lot, *task, pure=False) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    except KilledWorker:
        raise ClusterError(f"cluster {cluster}: a lot of {LOT} positions has ended several workers") from None
    except ImportError as error:
        raise ClusterError(f"cluster {cluster}: a worker cannot import what it needs: {error}") from None
    finally:
        client.cancel(futures)


def solve_lot(
    game: str, agent: str, plugins: list[str], folder: str, digest: str, lot: list[Known], path: str
) -> list[Checked]:
    """Solve positions on a worker; ClusterError if its sources do not have the digest."""
    from arena.agents.core.solve import solver_of

    made, solving = made_here(game, agent, plugins, folder, digest)
    with loading:
        solver = solver_of(solving, made)
        solver.warm(solver.game.initial())
    return check_positions(solver, lot, Path(path), lambda one: None)
