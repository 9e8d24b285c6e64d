"""How the tests are shared out: a file's tests go to one process; those of conformance and of agents go by game.

So a process compiles a game's kernels once, and the longest file does not keep one process busy alone.  The arena's
tests come first: they fork workers, which takes the longer the more kernels a process has compiled before.  Those that
compile most follow, and those of results are last: no file of theirs keeps one process waiting for the other.
"""

import gc
import multiprocessing
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import games
from tests import samples

# The compiler makes many objects that live long; to look among them for garbage every 700 takes a tenth of its time.
gc.freeze()
gc.set_threshold(50_000, 20, 100)

# A shell has what it starts in the background ignore Ctrl-C, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says nothing on a machine that may be busy.  The examples are always the same, so that a
# change is to blame for what fails; `--hypothesis-profile default` looks for others.
settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("arena")


@pytest.fixture(autouse=True)
def _start_method():
    """Processes start as before after a test that has called a command: commands start theirs by a fork server."""
    before = multiprocessing.get_start_method()
    yield
    if multiprocessing.get_start_method() != before:
        multiprocessing.set_start_method(before, force=True)


@pytest.fixture(scope="session", params=["sample", "published"])
def data_folder(request, tmp_path_factory):
    """A folder with test sets: small ones made here, and the published ones where a person has them."""
    if request.param == "sample":
        return samples.write(tmp_path_factory.mktemp("samples"))
    folder = os.environ.get("ARENA_TEST_DATA")
    if not folder:
        pytest.skip("ARENA_TEST_DATA does not name a folder with published test sets")
    return Path(folder)


FOLDERS = ("arena", "faults", "agents", "tests", "games", "results")  # in the order of their turn


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: FOLDERS.index(item.path.parent.name))
    for item in items:
        game = game_of(item) if item.path.parent.name == "agents" or "test_conformance" in item.nodeid else None
        item.add_marker(pytest.mark.xdist_group(f"game {game}" if game else str(item.path)))


def game_of(item):
    """The game that a test is for, as it is written: its parameter `spec`, or else its file's GAME; None without."""
    spec = item.callspec.params.get("spec") if hasattr(item, "callspec") else None
    if spec and spec.partition("(")[0] in games.names():
        return spec
    return getattr(item.module, "GAME", None)
