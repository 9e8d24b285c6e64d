"""Does the jobs of a job-level search (agents/proof/jobs.py) on a cluster.

The tree stays in the calling process.  A job sends nothing before its end, so intermediate numbers gain nothing.  If a
job kills its worker, Dask tries another, and gives up after three.
"""

import os
from contextlib import contextmanager

from arena.agents.core.pool import WorkerError
from arena.agents.proof.jobs import Job, Report, Workplace
from arena.cluster.link import ClusterError, check_importable, connected, made_here
from arena.games.core.shared.plugins import named
from arena.workers.machine import digest_of_made


class ClusterWorkers:
    """An executor on `workers` workers (`client`: a `distributed.Client`; `where`: its name)."""

    clock: int | None = None

    def __init__(self, client, where: str, place: Workplace, workers: int):
        self.client, self.where, self.workers = client, where, workers
        game = place.game
        self._place = str(game), str(place.agent), named(), os.getcwd(), digest_of_made(game, place.agent)
        self._futures: dict = {}  # by the job's number

    @property
    def free(self):
        return self.workers - len(self._futures)

    def begin(self, job: Job) -> None:
        whole = job._replace(every=job.nodes)
        self._futures[job.number] = self.client.submit(do_job, *self._place, whole, pure=False)

    def wait(self) -> list[Report]:
        from distributed import KilledWorker, wait

        wait(list(self._futures.values()), return_when="FIRST_COMPLETED")
        done = [number for number, future in self._futures.items() if future.done()]
        try:
            return [self._futures.pop(number).result() for number in done]
        except KilledWorker:
            raise ClusterError(f"cluster {self.where}: a job has ended several workers") from None
        except ImportError as error:
            raise ClusterError(f"cluster {self.where}: a worker cannot import what it needs: {error}") from None

    def cancel(self, number: int) -> int:
        self._futures.pop(number).cancel()
        return 0

    def close(self) -> None:
        for number in list(self._futures):
            self.cancel(number)


@contextmanager
def jobs_on(cluster: str, solver):
    """A context in which a cluster's workers do the jobs of a solver.

    ClusterError if there is no such cluster, or a worker has other sources.
    """
    with connected(cluster) as client:
        check_importable(client, cluster)
        agent, before = solver.agent, solver.memory
        solver.memory = ClusterWorkers(client, cluster, agent.workplace(solver.game), agent.workers)
        try:
            yield
        finally:
            solver.memory.close()
            solver.memory = before


def do_job(game: str, agent: str, plugins: list[str], folder: str, digest: str, job: Job) -> Report:
    """Do a job on a worker; ClusterError if its sources do not have the digest."""
    made, solving = made_here(game, agent, plugins, folder, digest)
    try:
        run = Workplace(made, solving).begin(job)
        report = run()
        while not report.done:
            more = run()
            report = more._replace(nodes=report.nodes + more.nodes, draws=report.draws + more.draws)
        return report
    except Exception as error:
        raise WorkerError(f"{type(error).__name__} in a worker of the job-level search: {error}") from None
