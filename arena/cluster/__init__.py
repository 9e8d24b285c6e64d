"""Games on the workers of a Dask cluster, played by the supervisor that plays them here.

If agents' code ran in Dask's own processes, nobody could say whose fault a worker's death was.  So it never does: the
first task that reaches a worker starts a *station* there, a process that runs the supervisor of `arena.workers` with
its worker processes, its watch over moves, memory and time, and its verdicts.  Each further task hands it a batch of
games and returns their records.  All guards of a run on one machine hold on the cluster too, and a station decides as
the same processes would decide here.

`engine` is the parent's side, `tasks` and `post` what Dask's workers run, `station` the process that plays.
"""
