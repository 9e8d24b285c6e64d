"""Games played by the workers of a Dask cluster, by the same supervisor that plays them here.

On a cluster nobody could say whose fault it was that a worker died, if the code of agents ran in Dask's own processes.
So it never does: the first task that reaches a worker starts a *station* there, a process that runs the supervisor of
`arena.workers` with its worker processes, its watch over moves, memory and time, and its verdicts.  Each further task
hands it a batch of games and returns their records.  All guards of a run on one machine hold on the cluster too, and
what a station decides is what the same processes would have decided here.

`engine` is the parent's side, `tasks` and `post` what Dask's workers run, `station` the process that plays.
"""
