"""Runs a tournament in a process of its own: `python -m tests.arena.runner CONFIG OUT METHOD [--resume] [--limit N]`.

Ends with code 0 if all games are stored, 3 if it was interrupted, 4 if the store failed; says why.
"""

import multiprocessing
import resource
import sys

import arena
from results.store import StoreError


class Watcher(arena.Events):
    """Writes what happens to standard output, for the test to wait for."""

    def finished(self, record):
        print("finished", record.id, flush=True)

    def stopping(self, now):
        print("stopping", "now" if now else "later", flush=True)

    def trouble(self, text):
        print("trouble", text, flush=True)


def main(config, out, method, *options):
    multiprocessing.set_start_method(method)
    if method == "forkserver":
        multiprocessing.set_forkserver_preload(["arena.runner.worker"])
    if "--limit" in options:
        size = int(options[options.index("--limit") + 1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        tournament = arena.run(config, out, workers=2, resume="--resume" in options, events=Watcher())
    except arena.Interrupted as interrupted:
        print(interrupted)
        return 3
    except StoreError as error:
        print(error)
        return 4
    print(len(tournament.games), "games")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
