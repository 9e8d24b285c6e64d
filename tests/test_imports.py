"""What imports what: no module leads back to itself, not even through an import inside a function."""

import ast
import re
import runpy
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("games", "agents", "results", "arena")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "arena" else ("arena", *parts)).removesuffix(".__init__")


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


def rooms() -> list[str]:
    """The modules and packages that the table of rooms in docs/architecture.md names, the longest first."""
    table = (ROOT / "docs/architecture.md").read_text().split("| room |")[1].split("\n\n")[0]
    found = []
    for row in table.splitlines()[2:]:
        for name in re.findall(r"`([^`]+)`", row.split("|")[1]):
            if "/" in name or name in PACKAGES:
                found.append(name_of(ROOT / name.removesuffix("/*.py").removesuffix(".py")))
            else:
                found.append(f"{found[-1].rpartition('.')[0]}.{name}")
    return sorted(found, key=len, reverse=True)


def between_rooms(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Which rooms each room imports; what is in no room, the front of its package, stands for itself."""
    names = rooms()

    def room(module):
        return next((name for name in names if f"{module}.".startswith(f"{name}.")), module)

    found: dict[str, set[str]] = {room(module): set() for module in graph}
    for module, others in graph.items():
        found[room(module)] |= {room(other) for other in others} - {room(module)}
    return found


@pytest.fixture(scope="module")
def graph():
    return {name: imported(path) for name, path in MODULES.items()}


def check(graph):
    """Sorting names what leads back to itself."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_no_module_leads_back_to_itself(graph):
    check(graph)


def test_no_room_leads_back_to_itself(graph):
    """A room is what docs/architecture.md calls so."""
    between = between_rooms(graph)
    assert between.keys() - set(rooms()) == {"arena", "arena.__main__", "arena.agents", "arena.cli", "arena.results"}
    check(between)


def test_the_drawing_of_the_rooms_is_what_is_imported(tmp_path):
    """`python docs/rooms.py` draws it anew."""
    runpy.run_path(str(ROOT / "docs/rooms.py"), run_name="drawn")["draw"](tmp_path / "rooms.svg")
    assert (tmp_path / "rooms.svg").read_text() == (ROOT / "docs/rooms.svg").read_text()


def test_the_ways_through_the_code_are_short():
    """The lines told are those of the files, to within 10 %."""
    table = (ROOT / "docs/architecture.md").read_text().split("| change | read | lines |")[1].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        change, read, told = (cell.strip() for cell in row.strip("|").split("|"))
        lines = sum(len((ROOT / name).read_text().splitlines()) for name in re.findall(r"`([^`]+)`", read))
        assert abs(lines - int(told)) <= lines / 10, f"{change}: {lines} lines"
        assert lines <= 800, f"{change}: {lines} lines"


def test_file_names_tell_apart():
    """A name occurs once, but for commands, games and agents, which are named as users type them."""
    names = Counter(path.stem for module, path in MODULES.items() if not module.startswith("arena.commands."))
    typed = {path.stem for package in ("games", "agents") for path in (ROOT / package).glob("*.py")}
    assert {name for name, times in names.items() if times > 1 and not name.startswith("__")} <= typed
