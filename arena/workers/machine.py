"""Describes the machine, the versions and the sources of a run."""

import functools
import hashlib
import importlib.metadata
import os
import platform
import re
from pathlib import Path

from arena.games.core.shared import system

PROJECT = "search-arena"


def describe() -> dict:
    """Plain values: cpu, cores, memory_bytes, system, python, numba, numpy, project."""
    return {
        "cpu": system.processor(),
        "cores": system.cores(),
        "memory_bytes": system.memory(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "project": version(PROJECT),
    }


def programs_of(config) -> dict[str, str]:
    """Self-descriptions of outside programs, by agents' names."""
    return {name: said for name, agent in config.agents if (said := agent.identity())}


def describe_run(config) -> dict:
    """`describe`, source_digest, and outside programs and other packages' games and agents, if there are any.

    programs: "NAME is PROGRAM; ..."; plugins: "PACKAGE VERSION (sources DIGEST); ..."; unwatched: "MODULE.OWNER: TYPE;
    ...", the values that these digests do not cover.
    """
    from arena.games.core.jit import Walk

    programs = [f"{name} is {said}" for name, said in programs_of(config).items()]
    sources = Walk().through(*classes_of(config))
    blind = "; ".join(sorted(sources.unknown))
    extra = {"programs": "; ".join(programs), "plugins": plugins_of(config), "unwatched": blind}
    return describe() | {"source_digest": sources.digest()[:12]} | {key: text for key, text in extra.items() if text}


def sources_of(config, values: bool = True) -> str:
    """A digest of a run's games and agents, as their code is in this process; with values that play may change."""
    from arena.games.core.jit import code_digest

    return code_digest(*classes_of(config), values=values)


def classes_of(config) -> list[type]:
    """`classes_of_made` of all games and agents."""
    return classes_of_made([*config.instances, *(agent for _, agent in config.agents)])


def classes_of_made(made) -> list[type]:
    """The classes of games or agents, and of what their parameters name, such as each worker's search."""
    from arena.agents.core.agent import registry as agents
    from arena.agents.montecarlo.method import registry as methods

    words = {word for one in made for word in re.findall(r"\w+", str(one))}
    named = [kind.named(word) for word in sorted(words) for kind in (agents, methods) if word in kind]
    return [*map(type, made), *filter(None, named)]


@functools.cache
def package_digest() -> str:
    """A digest of this package's Python files, in the order of their paths: the same with every Python."""
    digest, root = hashlib.sha256(), Path(__file__).parents[1]
    paths = [Path(place, name) for place, _, names in os.walk(root, followlinks=True) for name in names]
    for path in sorted(path.relative_to(root) for path in paths if path.suffix == ".py"):
        digest.update(str(path).encode() + (root / path).read_bytes())
    return digest.hexdigest()[:12]


def digest_of_made(*made) -> str:
    """A digest of this package's files, and of other packages' games and agents as in this process."""
    from arena.games.core.jit import code_digest

    others = [type(one) for one in made if not type(one).__module__.startswith("arena.")]
    return "+".join([package_digest(), *([code_digest(*others)] if others else [])])


def plugins_of(config) -> str:
    """Other packages of games and agents, with versions and digests of their sources."""
    from arena.games.core.jit import code_digest
    from arena.games.core.shared.plugins import PACKAGES, points, title

    titles = {point.module.partition(".")[0]: title(point) for package in PACKAGES for point in points(package)}
    found: dict[str, list[type]] = {}
    for cls in sorted(set(classes_of(config)), key=lambda cls: (cls.__module__, cls.__qualname__)):
        top = cls.__module__.partition(".")[0]
        if top != "arena":
            found.setdefault(titles.get(top, cls.__module__), []).append(cls)
    return "; ".join(f"{name} (sources {code_digest(*classes)})" for name, classes in found.items())


def version(package):
    """The version; "not installed" for the project run from a source folder."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
