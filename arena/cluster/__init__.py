"""Games on the workers of a Dask cluster, played by the supervisor that plays them here.

Agents' code never runs in Dask's own processes, or nobody could say whose fault a worker's death was.  A worker's first
task starts a *station*, a process that runs the supervisor of `arena.workers` with its worker processes, guards and
verdicts; each further task hands it a batch of games and returns their records.  `engine` is the parent's side, `tasks`
and `post` what Dask's workers run, `station` the process that plays.
"""
