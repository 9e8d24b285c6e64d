"""Describes stations, and decides whether they can take part in a run."""

import platform
import re
from collections.abc import Iterator

from arena.config.config import Config
from arena.games.core.shared.prepared_file import PreparedFileError, checksum
from arena.workers.machine import describe_run, package_digest, plugins_of, programs_of

SAME = {"runner_digest": "this package", "plugins": "plug-ins"}
CODE = re.compile(r" \(sources \w+\)")  # digests of bytecode, another in another Python
VERSIONS = ("python", "numba", "numpy", "project")


def describe_station(config: Config) -> dict:
    """`arena.workers.machine.describe_run`, and what decides whether a machine can take part.

    host: its name; runner_digest: of this package's files; plugins: with digests of their sources; files: checksums of
    the files that games and agents read, "" if unreadable; programs: the self-description of each agent that is an
    outside program, by agents' names.
    """
    return describe_run(config) | {
        "host": platform.node(),
        "runner_digest": package_digest(),
        "plugins": plugins_of(config),
        "files": {path: _checksum(path) for path in config.named_files()},
        "programs": programs_of(config),
    }


def _checksum(path: str) -> str:
    try:
        return checksum(path)
    except PreparedFileError:
        return ""


def refused(ours: dict, theirs: dict) -> str:
    """Why `theirs` cannot take part in a run begun by `ours`, or ""."""
    same_bytecode = _feature(ours) == _feature(theirs)
    found = []
    for key, what in SAME.items():
        here, there = (
            str(each.get(key)) if same_bytecode else CODE.sub("", str(each.get(key))) for each in (ours, theirs)
        )
        if here != there:
            found.append(f"its code of {what} is another (digest {there!r}, and here {here!r})")
    files = theirs.get("files", {})  # older sources lack them
    found += [
        f"its file {path!r} is another one" if files.get(path) else f"it has no file {path!r}"
        for path, sum in ours["files"].items()
        if files.get(path) != sum
    ]
    return "; ".join(found)


def _feature(machine: dict) -> list[str]:
    """Python's version as far as bytecode depends on it: 3 and 11."""
    return str(machine.get("python")).split(".")[:2]


def version_differences(ours: dict, theirs: dict) -> str:
    """The versions that differ, though the sources do not, or ""."""
    return ", ".join(
        f"{key} {theirs.get(key)} and here {ours.get(key)}" for key in VERSIONS if ours.get(key) != theirs.get(key)
    )


def misfits(ours: dict, theirs: dict) -> Iterator[tuple[str, str]]:
    """(agent, reason) where outside programs differ from ours."""
    for name, said in ours["programs"].items():
        if theirs["programs"].get(name) != said:
            yield name, f"its program is {theirs['programs'].get(name)!r}, and here it is {said!r}"
