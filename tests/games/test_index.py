"""The index of names: one module for one name; stale, damaged and unwritable indices; plug-ins and derived classes."""

import importlib
import json
import sys
from importlib.metadata import EntryPoint

import pytest

from arena import agents, games
from arena.agents.core.agent import registry as agent_registry
from arena.games.core.game import registry as game_registry
from arena.games.core.shared import cache, index, plugins
from arena.games.core.shared.registry import Registry

PACKAGE = "zoo_of_this_test"
ANIMAL = '''"""A {name}, as it is told of."""
from dataclasses import dataclass
from tests.games.test_index import kept
{more}
@dataclass(frozen=True)
class Animal{base}:
    """legs: how many"""
    legs: int = 4
    name = "{name}"
    def prepare(self): pass
kept[0].add(Animal)
'''
kept = []  # the registry of each test


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """Makes new registries of a package with two modules; their index is in the folder `cache`."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in ("lion", "owl"):
        (folder / f"{name}.py").write_text(ANIMAL.format(name=name, more="", base=""))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(index, "_sources", lambda package: folder)
    monkeypatch.setattr(plugins, "points", lambda package: [])

    def new():
        """As in a new process: nothing is imported."""
        for module in [name for name in sys.modules if name.partition(".")[0] in (PACKAGE, "plug_of_this_test")]:
            del sys.modules[module]
        importlib.invalidate_caches()
        index._stamp.cache_clear()
        index._points.cache_clear()
        kept[:] = [Registry("animal", PACKAGE)]
        return kept[0]

    yield new
    new()
    monkeypatch.undo()
    index._stamp.cache_clear()
    index._points.cache_clear()


def imported():
    return sorted(name.partition(".")[2] for name in sys.modules if name.startswith(f"{PACKAGE}."))


def test_a_name_imports_its_own_module_once_there_is_an_index(zoo, tmp_path):
    assert zoo().make("lion(legs=3)").legs == 3 and imported() == ["lion", "owl"]
    assert zoo().make("lion").legs == 4 and imported() == ["lion"]
    assert index.read(PACKAGE)["owl"] == index.Entry(
        f"{PACKAGE}.owl", "A owl, as it is told of.", (index.Parameter("legs", 4, "int", "", "how many"),)
    )
    assert list(kept[0].classes()) == ["lion", "owl"]
    (file,) = (tmp_path / "cache").iterdir()
    assert file == cache.files(cache.folder())[0]


def test_a_class_asked_for_in_python_imports_its_own_module(zoo, tmp_path):
    source = tmp_path / PACKAGE / "lion.py"
    source.write_text(source.read_text().replace("Animal", "Lion"))
    assert zoo().class_called("Lion").name == "lion"  # from an index that is made
    assert zoo().class_called("Lion").name == "lion" and imported() == ["lion"]
    with pytest.raises(AttributeError, match="has no attribute 'Tiger'"):
        kept[0].class_called("Tiger")


def test_an_import_that_is_interrupted_is_made_again(zoo, tmp_path):
    source = tmp_path / PACKAGE / "owl.py"
    whole = source.read_text()
    source.write_text("raise KeyboardInterrupt\n")
    registry = zoo()
    with pytest.raises(KeyboardInterrupt):
        registry.classes()
    source.write_text(whole)
    importlib.invalidate_caches()
    assert list(registry.classes()) == ["lion", "owl"]


def test_a_change_of_sources_makes_it_anew(zoo, tmp_path):
    zoo().classes()
    source = tmp_path / PACKAGE / "owl.py"
    source.write_text(source.read_text().replace('"owl"', '"eagle"'))
    new = zoo()
    assert index.read(PACKAGE) is None and new.named("owl") is None and new.named("eagle")
    assert zoo().named("eagle") and imported() == ["owl"]
    source.unlink()
    with pytest.raises(games.SpecError, match="unknown animal 'eagle'; known: lion"):
        zoo().make("eagle")


def test_derived_classes_and_plug_ins_are_found(zoo, tmp_path, monkeypatch):
    more = f"from {PACKAGE}.lion import Animal as Lion\n"
    (tmp_path / PACKAGE / "cub.py").write_text(ANIMAL.format(name="cub", more=more, base="(Lion)"))
    (tmp_path / "plug_of_this_test.py").write_text(ANIMAL.format(name="gnu", more="", base=""))
    point = EntryPoint("plug", "plug_of_this_test", f"search_arena.{PACKAGE}")
    monkeypatch.setattr(plugins, "points", lambda package: [point])
    assert list(zoo().classes()) == ["cub", "gnu", "lion", "owl"]
    assert zoo().named("cub") and imported() == ["cub", "lion"] and "plug_of_this_test" not in sys.modules
    assert zoo().named("gnu") and imported() == [] and "plug_of_this_test" in sys.modules
    monkeypatch.setattr(plugins, "points", lambda package: [])  # the plug-in is removed
    assert zoo().named("gnu") is None


def test_a_plug_in_does_not_take_a_name_of_ours(zoo, tmp_path, monkeypatch):
    both = ANIMAL.format(name="gnu", more="", base="") + "class Thief:\n    name = 'owl'\nkept[0].add(Thief)\n"
    (tmp_path / "plug_of_this_test.py").write_text(both)
    point = EntryPoint("plug", "plug_of_this_test", f"search_arena.{PACKAGE}")
    monkeypatch.setattr(plugins, "points", lambda package: [point])
    zoo().classes()
    new = zoo()
    assert new.named("gnu") is None and new.named("owl").__module__ == f"{PACKAGE}.owl"
    assert f"a name that {PACKAGE}.owl has" in new.unknown("gnu")


def test_classes_of_this_process_are_found_and_not_kept(zoo):
    class Mine:
        name = "mine"

    zoo().add(Mine)
    assert kept[0].named("mine") is Mine and imported() == []
    kept[0].classes()
    assert sorted(index.read(PACKAGE)) == ["lion", "owl"]


@pytest.mark.parametrize("damage", ["", "\0", "{", "[]", "5", '{"stamp": "?"}', "facts", "entries", "parameters"])
def test_a_damaged_index_does_no_harm(zoo, damage):
    zoo().classes()
    (file,) = cache.files(cache.folder())
    facts = {"facts": [], "entries": {"lion": 1}, "parameters": {"lion": {"module": "", "about": "", "parameters": 5}}}
    data = {"file": file.name, "stamp": index._stamp(), "facts": facts.get(damage)}
    file.write_text(json.dumps(data) if damage in facts else damage)
    assert zoo().make("lion").legs == 4 and imported() == ["lion", "owl"]
    assert zoo().make("lion").legs == 4 and imported() == ["lion"]  # it was made anew


def test_without_a_folder_that_can_be_written_everything_is_imported(zoo, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(2):
        assert zoo().named("lion") and imported() == ["lion", "owl"]


def test_our_own_names_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path))
    for registry, package in ((game_registry, games), (agent_registry, agents)):
        registry._keep_index()
        own = {name: one for name, one in registry.entries().items() if one.module.startswith(f"{registry.package}.")}
        assert index.read(registry.package) == own and set(own) <= set(package.names()) and len(own) > 20
        for name, one in own.items():
            assert registry.classes()[name].__module__ == one.module
