"""What sources import, beside Python's own parser."""

import ast
from pathlib import Path

import pytest

from arena.games.core.imports import imported_names
from arena.games.core.jit import import_closure
from arena.games.core.rules import Rules
from arena.games.tictactoe import TicTacToe

ROOT = Path(__file__).parents[2]


def parsed_names(module, path):
    """The same by the parser, without what is text."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    return names


@pytest.mark.parametrize("package", ["games", "agents", "arena", "results", "tests"])
def test_every_import_of_ours_is_found(package):
    more = set()
    for path in (ROOT / package).rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found, right = imported_names(module, path), parsed_names(module, path)
        assert right <= found, path
        more |= {name for name in found - right if package in ("games", "agents") and "check" not in name}
    assert not more  # but for a docstring's example


@pytest.mark.parametrize(
    "text, names",
    [
        ("import a, b.c as d  # , e", "a b.c"),
        ("from a.b import c as d, e", "a.b a.b.c a.b.e"),
        ("from . import x\nfrom .y import z\nfrom ..w import v", "p.q p.q.x p.q.y p.q.y.z p.w p.w.v"),
        ("from a import (  # all (of them)\n    b,  # first)\n    c,\n)\nimport d", "a a.b a.c d"),
        ("from a import \\\n    b, \\\n    c\nimport d, \\\n  e", "a a.b a.c d e"),
        ("from a \\\n  import b", "a a.b"),
        ("def f():\n\timport a\n\tif a: import b; from c import d", "a b c c.d"),
        ("try: import a\nexcept ImportError: a = None", "a"),
        ("if 1:\\\n  import a", "a"),
        ("from a import *", "a a.*"),
        ("# import a\nimportant = 1\nfrom_a = 2\nx = important", ""),
        ("import a\r\nfrom b import (\r\n  c\r\n)\r\n", "a b b.c"),
    ],
)
def test_statements_of_every_form(tmp_path, text, names):
    path = tmp_path / "m.py"
    path.write_bytes(text.encode())
    assert imported_names("p.q.m", path) == parsed_names("p.q.m", path) == set(names.split())
    imported_names.cache_clear()


def test_every_page_of_the_interface_is_a_source_of_a_games_methods():
    """So that an edit of one compiles them again."""
    pages = {"rules.py", "speed.py", "strength.py", "people.py", "game.py"}
    assert pages < {path.name for path in import_closure("arena.games.tictactoe")}
    assert [page.__module__ for page in TicTacToe.__mro__ if issubclass(page, Rules)] == [
        "arena.games.tictactoe",
        *(f"arena.games.core.{name}" for name in ("game", "speed", "strength", "people", "rules")),
    ]
