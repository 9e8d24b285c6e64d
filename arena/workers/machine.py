"""Describes the machine, the versions and the sources of a run."""

import importlib.metadata
import os
import platform
from pathlib import Path

PROJECT = "search-arena"


def describe(games) -> dict:
    """Plain values: cpu, cores, memory_bytes, system, python, numba, numpy, project, source_digest (of the games)."""
    from arena.games.core.jit import source_digest

    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_bytes": _memory(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numba": _version("numba"),
        "numpy": _version("numpy"),
        "project": _version(PROJECT),
        "source_digest": "+".join(dict.fromkeys(source_digest(type(game)) for game in games)),
    }


def programs_of(config) -> dict[str, str]:
    """The self-description of each agent that is an outside program, by agents' names."""
    return {name: said for name, agent in config.agents if (said := agent.identity())}


def describe_run(config) -> dict:
    """`describe`, with the run's outside programs and other packages' games and agents, if there are any.

    programs: "NAME is PROGRAM; ..."; plugins: "PACKAGE VERSION (sources DIGEST); ...".
    """
    programs = [f"{name} is {said}" for name, said in programs_of(config).items()]
    extra = {"programs": "; ".join(programs), "plugins": plugins_of(config)}
    return describe(config.instances) | {key: text for key, text in extra.items() if text}


def plugins_of(config) -> str:
    """The other packages whose games and agents play, with versions and digests of their sources."""
    from arena.games.core.jit import digest_of, import_closure, package_sources
    from arena.games.core.plugins import PACKAGES, points, title

    ours = set().union(*(package_sources(package) for package in PACKAGES))
    titles = {point.module.partition(".")[0]: title(point) for package in PACKAGES for point in points(package)}
    sources: dict[str, set[Path]] = {}
    made = [*config.instances, *(agent for _, agent in config.agents)]
    for module in sorted({type(one).__module__ for one in made}):
        top = module.partition(".")[0]
        if top != "arena":
            sources.setdefault(titles.get(top, module), set()).update(import_closure(module) - ours)
    return "; ".join(f"{name} (sources {digest_of(paths)})" for name, paths in sources.items())


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu():
    """The model's name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory():
    """Bytes of main memory; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _version(package):
    """Its version; "not installed" for the project itself when it runs from a source folder."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
