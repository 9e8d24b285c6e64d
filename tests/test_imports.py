"""What imports what: no module leads back to itself, not even through an import inside a function."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("games", "agents", "results", "arena")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}


def imported(path: Path) -> set[str]:
    """Our modules that a file imports anywhere, but for what only type checkers read."""
    waiting, found = [ast.parse(path.read_bytes())], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in MODULES else node.module for name in names)
    return found & MODULES.keys()


@pytest.fixture(scope="module")
def graph():
    return {name: imported(path) for name, path in MODULES.items()}


def test_no_module_leads_back_to_itself(graph):
    """Sorting names the modules of a circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))
