"""How the tests are shared out: a file's tests go to one process; those of games and of agents go by their names.

So a game's methods and an agent's kernels are compiled once, and the longest file does not keep one process busy alone.
The arena's tests come first: they fork workers, which takes the longer the more a process has compiled before.  Those
that compile most follow, and those of results are last: no group of theirs keeps one process waiting for the other.
"""

import functools
import gc
import multiprocessing
import os
import signal
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import typer.testing
from hypothesis import HealthCheck, settings

from arena import games
from arena.games.core.shared.specialized import NEVER, Setting
from tests import advice, samples
from tests.plain import run_as_python

# The compiler makes many objects that live long; to look among them for garbage every 700 takes a tenth of its time.
gc.freeze()
gc.set_threshold(50_000, 20, 100)

# Programs that tests start keep bytecode, and find that of others: each would compile all modules anew, 0.2 s a start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell has what it starts in the background ignore Ctrl-C, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A runner builds all commands and their options anew for each line that a test types, which takes longer than most do.
typer.testing._get_command = functools.cache(typer.testing._get_command)

_invoke = typer.testing.CliRunner.invoke


@functools.wraps(_invoke)
def _invoke_and_check(runner, app, args=None, **options):
    """Whatever line a test types: the command that prints an error accepts the options that the error advises."""
    result = _invoke(runner, app, args, **options)
    if result.exit_code:
        assert not (wrong := advice.refused(list(args or ()), result.stderr)), (wrong, result.stderr)
    return result


typer.testing.CliRunner.invoke = _invoke_and_check

# How long an example takes says nothing on a machine that may be busy.  The examples are always the same, so that a
# change is to blame for what fails; `--hypothesis-profile default` looks for others.
settings.register_profile("arena", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("arena")


@pytest.fixture(autouse=True)
def _collector():
    """Hypothesis times the garbage collector by a callback, where a Ctrl-C that a test sends would be lost."""
    gc.callbacks[:] = [one for one in gc.callbacks if not getattr(one, "__module__", "").startswith("hypothesis")]


START_METHOD = "fork"  # of which a process knows what a test has changed; not every Python begins with it


@pytest.fixture(autouse=True)
def _start_method():
    """A test's processes start by a fork; commands start theirs by a fork server, perhaps in a fixture before."""
    if multiprocessing.get_start_method(allow_none=True) != START_METHOD:
        multiprocessing.set_start_method(START_METHOD, force=True)


@pytest.fixture(autouse=True)
def kernels(request, monkeypatch):
    """How kernels run in a test: "compiled", or "plain", as plain Python, which needs no compiler."""
    how = getattr(request, "param", "compiled")
    if how == "plain":
        run_as_python(monkeypatch)
    with np.errstate(over="ignore" if how == "plain" else "warn"):  # the words of hashes wrap around
        yield how
    assert Setting.mode == NEVER, "after this test, all would compile kernels for each game"


def pytest_generate_tests(metafunc):
    """A test with the marker `plain` is two: as plain Python, unless it is slow; and compiled, which is slow unless it
    has the marker `compiled`."""
    if metafunc.definition.get_closest_marker("plain"):
        metafunc.parametrize("kernels", ["plain", "compiled"], indirect=True)


@pytest.fixture(scope="session", params=["sample", "published"])
def data_folder(request, tmp_path_factory):
    """A folder with test sets: small ones made here, and the published ones where a person has them."""
    if request.param == "sample":
        return samples.write(tmp_path_factory.mktemp("samples"))
    folder = os.environ.get("ARENA_TEST_DATA")
    if not folder:
        pytest.skip("ARENA_TEST_DATA does not name a folder with published test sets")
    return Path(folder)


def pytest_runtest_setup(item):
    """No test begins after the second that ARENA_TESTS_END names, as `date +%s` counts them, nor one that says that it
    takes longer than what is left: `slow(minutes=30)`."""
    minutes = max((mark.kwargs.get("minutes", 0) for mark in item.iter_markers("slow")), default=0)
    if time.time() + 60 * minutes > float(os.environ.get("ARENA_TESTS_END", "inf")):
        pytest.skip(TIME_OVER)


def pytest_terminal_summary(terminalreporter):
    """Names the files whose tests were left out for want of time, with how many."""
    reports = terminalreporter.stats.get("skipped", [])
    if left := Counter(one.location[0] for one in reports if TIME_OVER in str(one.longrepr)):
        terminalreporter.section(f"{left.total()} tests left out, since the time was over")
        terminalreporter.write_line(", ".join(f"{file} ({count})" for file, count in sorted(left.items())))


TIME_OVER = "the time for the tests is over: ARENA_TESTS_END"
FOLDERS = ("arena", "faults", "agents", "tests", "games", "results", "benchmarks")  # in the order of their turn
collect_ignore = ["benchmarks"]  # which take minutes, and the whole core: they run where the folder is named


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config, items):
    for item in items:
        if how_of(item) == "compiled" and not item.get_closest_marker("compiled"):
            item.add_marker(pytest.mark.slow)
        if how_of(item) == "plain":  # the words of hashes wrap around
            item.add_marker(pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"))
    too_long = {item for item in items if how_of(item) == "plain" and item.get_closest_marker("slow")}
    config.hook.pytest_deselected(items=list(too_long))
    items[:] = [item for item in items if item not in too_long]
    first = int(os.environ.get("ARENA_TESTS_THIRD", 0))
    items.sort(key=lambda item: (turn_of(item), third_of(item, first), FOLDERS.index(item.path.parent.name)))
    for item in items:
        turn = turn_of(item)  # a group has one turn
        item.add_marker(pytest.mark.xdist_group(f"{group_of(item)}, {turn}" if turn else group_of(item)))


def turn_of(item):
    """When its turn comes: of the slow tests, first the compiled forms of what else runs as plain Python, and last
    those that say how long they take, since the time may be over before all have run."""
    slow = list(item.iter_markers("slow"))
    if any("minutes" in mark.kwargs for mark in slow):
        return 3
    return 0 if not slow else 1 if how_of(item) == "compiled" else 2


def third_of(item, first):
    """0 to 2, of slow tests: in which third of their turn they run, if the third of that number is the first."""
    return (zlib.crc32(group_of(item).encode()) - first) % 3 if turn_of(item) else 0


def how_of(item):
    """The word "plain" or "compiled", of the two tests that one with the marker `plain` is; None for others."""
    return item.callspec.params.get("kernels") if hasattr(item, "callspec") else None


def group_of(item):
    """The game or the agent that a test is for, as its file or a parameter says; else its file."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    folder, file = item.path.parent.name, item.path.stem.removeprefix("test_")
    if folder == "games":
        game = str(parameters.get("spec", file)).partition("(")[0]
        return f"game {game}" if game in games.names() else str(item.path)
    if item.get_closest_marker("compiled"):  # the file's other tests need the same kernels
        return str(item.path)
    return f"agent {parameters['name']}" if folder == "agents" and "name" in parameters else str(item.path)
