"""A system without memory that processes share: a line says so."""

import errno
import os
from multiprocessing import heap, synchronize

import pytest

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import sharing
from arena.runner.running import run as run  # whole, before there is nothing to share
from tests.typed import call

RUN = ("run", "--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=3)", "--games", "2")


def fails(number):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture(params=[errno.ENOENT, errno.EROFS, errno.EACCES, errno.ENOSPC])
def fault(request, monkeypatch):
    """Nothing can be shared, for this reason."""
    monkeypatch.setattr(heap, "Arena", fails(request.param))
    monkeypatch.setattr(heap.BufferWrapper, "_heap", heap.Heap())  # which has no free blocks
    return os.strerror(request.param)


@pytest.mark.parametrize("locks", [True, False])
def test_a_run_says_that_there_is_no_shared_memory(tmp_path, monkeypatch, fault, locks):
    if not locks:
        monkeypatch.setattr(synchronize._multiprocessing, "SemLock", heap.Arena)
    check(call(*RUN, "--out", tmp_path / "run"), fault)


@pytest.mark.plain
def test_parallel_searches_say_that_there_is_no_shared_memory(fault):
    check(call("solve", "tictactoe", "--agent", "spdfpn(workers=2)"), fault)
    with pytest.raises(UserError, match=fault):
        agents.make("distributed(workers=2)").new_player(games.make("tictactoe"), Budget(playouts=9))


def check(done, fault):
    line = f"arena: this system gives no shared memory (/dev/shm): {fault}; mount it, or start a container"
    assert done.exit_code == 2 and done.stderr.splitlines()[-1].startswith(line), done.output
    assert "Traceback" not in done.output


def test_other_errors_stay_what_they_are():
    with pytest.raises(OSError, match="Too many open files"), sharing():
        fails(errno.EMFILE)()
