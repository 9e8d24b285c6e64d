"""Faults that are planted one by one, to see whether the quick tests find them.

    python -m tests.planted                     # all of them, two at a time; exit code 1 if one lives
    python -m tests.planted sprt minimax        # those whose name, file or tests have one of these words

Each is planted in a copy of the checkout, where the tests that should find it run until the first fails.  A fault that
lives says that tests look elsewhere: they want a case at that edge.  What changes nothing that anybody can see is no
fault, and does not belong here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.planted import of_games, of_results

ROOT = Path(__file__).parents[2]
ROOMS = ("arena", "games", "agents", "results", "tests")
QUICK = "not slow and not browser"


class Fault(NamedTuple):
    """A text of a file that is replaced by another, and the tests that should find it."""

    name: str  # what is wrong then
    file: str
    text: str  # occurs once
    other: str
    tests: str  # files, folders or ids, with spaces between; options of pytest, too


class NotTried(Exception):
    """The tests of a fault could not run, and why."""


FAULTS = [Fault(*row) for row in (*of_games.FAULTS, *of_results.FAULTS)]


def times_in(fault: Fault) -> int:
    """How often its text occurs in its file."""
    return (ROOT / fault.file).read_text().count(fault.text)


@contextmanager
def planted(fault: Fault) -> Iterator[Path]:
    """A copy of the checkout that has the fault, and links to what is not changed or tested."""
    if times_in(fault) != 1:
        raise NotTried(f"{fault.file}: {fault.text!r} occurs {times_in(fault)} times, not once")
    with tempfile.TemporaryDirectory(prefix="planted") as place:
        copy = Path(place)
        for path in ROOT.iterdir():
            if path.name in ROOMS:
                shutil.copytree(path, copy / path.name, symlinks=True)
            elif not path.name.startswith("."):
                (copy / path.name).symlink_to(path)
        file = copy / fault.file
        file.write_text(file.read_text().replace(fault.text, fault.other))
        yield copy


def found_by(fault: Fault) -> str | None:
    """The first test that finds a fault, or None; NotTried if the tests could not run."""
    with planted(fault) as copy:
        # a folder of its own, since pytest removes those of sessions before the last three
        options = ["-n", "0", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-m", QUICK]
        command = [sys.executable, "-m", "pytest", f"--basetemp={copy / 'scratch'}", *options, *fault.tests.split()]
        environment = os.environ | {"PYTHONPATH": str(copy)}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise NotTried(f"pytest {fault.tests} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-500:]}")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" ")[2].partition(" - ")[0] if done.returncode else None
