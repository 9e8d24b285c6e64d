"""A game's file reads as games/core does: its rules first, in their order, then speed, strength and people."""

import ast
from pathlib import Path

import pytest

from arena.games.core.interface.people import People
from arena.games.core.interface.rules import Rules
from arena.games.core.interface.speed import Speed
from arena.games.core.interface.strength import Strength

ROOT = Path(__file__).parents[2] / "games"
PAGES = (Rules, Speed, Strength, People)
DERIVED = ("initial", "moves", "after")


def functions(page: type) -> list[str]:
    return [name for name, value in vars(page).items() if callable(value) and not name.startswith("_")]


RULES = [name for name in functions(Rules) if name not in DERIVED]


def methods_of(path: Path):
    """The class and methods, in order, of each game in a file; constants may stand anywhere."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, [each.name for each in node.body if isinstance(each, ast.FunctionDef)]


@pytest.mark.parametrize("path", sorted(ROOT.glob("[!_]*.py")), ids=lambda path: path.stem)
def test_rules_come_first(path):
    found = list(methods_of(path))
    assert found
    for name, methods in found:
        rules = [method for method in methods if method in RULES]
        assert rules == sorted(rules, key=RULES.index), name
        pages = [number for method in methods for number, page in enumerate(PAGES) if method in functions(page)]
        assert pages == sorted(pages), name
