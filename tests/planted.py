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
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.planted_faults import FAULTS

ROOT = Path(__file__).parents[1]
ROOMS = ("arena", "games", "agents", "results", "tests")
QUICK = "not slow and not browser"
OTHERS = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "mkdocs.yml", "CITATION.cff")


class Fault(NamedTuple):
    """A text of a file that is replaced by another, and the tests that should find it."""

    name: str  # what is wrong then
    file: str
    text: str  # occurs once
    other: str
    tests: str  # files, folders or ids, with spaces between; options of pytest, too

    @property
    def words(self) -> str:
        """Where the words that choose a fault are looked for."""
        return f"{self.name} {self.file} {self.tests}"


KNOWN = [Fault(*row) for row in FAULTS]


@contextmanager
def planted(fault: Fault) -> Iterator[Path]:
    """A copy of the checkout that has the fault; ValueError unless its text occurs once."""
    text = (ROOT / fault.file).read_text()
    if text.count(fault.text) != 1:
        raise ValueError(f"{fault.file}: {fault.text!r} occurs {text.count(fault.text)} times, not once")
    with tempfile.TemporaryDirectory(prefix="planted") as place:
        copy = Path(place)
        for name in ROOMS:
            ignored = shutil.ignore_patterns("__pycache__", ".*_cache")
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
        for name in OTHERS:
            (copy / name).symlink_to(ROOT / name)
        (copy / fault.file).write_text(text.replace(fault.text, fault.other))
        yield copy


def found_by(fault: Fault) -> str | None:
    """The first test that finds a fault, or None; ValueError if tests could not run."""
    with planted(fault) as copy:
        environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["-n", "0", "-x", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "-m", QUICK]
        command = [sys.executable, "-m", "pytest", *options, *fault.tests.split()]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise ValueError(
            f"{fault.name}: pytest ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-500:]}"
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" ")[2].partition(" - ")[0] if done.returncode else None


def main(words: list[str]) -> int:
    """Plant the faults that have one of the words, print who finds each, and return the number of those that live."""
    chosen = [fault for fault in KNOWN if not words or any(word in fault.words for word in words)]
    lives = 0
    with ThreadPoolExecutor(2) as pool:
        for fault, test in zip(chosen, pool.map(found_by, chosen)):
            lives += test is None
            print(
                f"{'found' if test else 'LIVES'}  {fault.file}: {fault.name}{f'  [{test}]' if test else ''}", flush=True
            )
    print(f"{len(chosen) - lives} of {len(chosen)} found")
    return lives


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
