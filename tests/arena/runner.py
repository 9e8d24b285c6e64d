"""Runs a tournament in a process of its own: `python -m tests.arena.runner CONFIG OUT METHOD [OPTIONS]`.

Options: --resume; --limit BYTES of a file; --hold N: after N games it plays on only when its standard input ends, so
that who wants to disturb it cannot come too late.
Ends with code 0 if all games are stored, 3 if it was interrupted, 4 if the store failed; says why.
"""

import multiprocessing
import resource
import sys

import arena
from arena.results.database.store import StoreError


class Watcher(arena.Events):
    """Writes what happens to standard output, for the test to wait for."""

    def __init__(self, hold):
        self.until_hold = hold

    def started(self, total, done):
        print("started", flush=True)

    def finished(self, record):
        print("finished", record.id, flush=True)
        self.until_hold -= 1
        if self.until_hold == 0:
            sys.stdin.read()

    def stopping(self, now):
        print("stopping", "now" if now else "later", flush=True)

    def trouble(self, text):
        print("trouble", text, flush=True)


def main(config, out, method, *options):
    multiprocessing.set_start_method(method)
    if method == "forkserver":
        multiprocessing.set_forkserver_preload(["arena.workers.worker_main"])
    size, hold = (int(options[options.index(name) + 1]) if name in options else 0 for name in ("--limit", "--hold"))
    if size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        tournament = arena.run(config, out, workers=2, resume="--resume" in options, events=Watcher(hold))
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
