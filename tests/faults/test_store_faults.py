"""Stores with altered bits and digits, torn, deleted, replaced: all is noticed, or changes nothing.

The short form is part of every run of the tests; the long one, of 1,000 alterations, is `pytest -m faults`.
"""

import os
import random
import shutil
import sqlite3
import time
from collections import Counter

import pytest
from typer.testing import CliRunner

import results
from arena.cli import app
from arena.formats.schedule import Schedule
from results import checking
from results.export import render
from results.record import ImprovementRecord, MoveRecord
from results.store import FILE_NAME, LOOK, RESCUED_NAME, Store, StoreError, StoreLost
from tests.faults import stores
from tests.results.sample import AGENTS, META, make_game

TABLES = ("meta", "agents", "games", "moves", "improvements", "tallies", "settings")
SHORT, LONG = 30, 500  # alterations of each kind


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with a store that fills several pages of each table, in one file."""
    folder = tmp_path_factory.mktemp("sound")
    resolved, chance = stores.configuration(12), random.Random(3)
    names = [entry["name"] for entry in resolved["agents"]]
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    lines, schedule = stores.random_lines(20), Schedule(resolved)
    with Store.create(folder, {"config": resolved, "machine": {"source_digest": "none"}}, agents) as store:
        while fixture := schedule.next():
            record = stores.played(fixture, names, chance.choice(lines))
            decisions = tuple(
                MoveRecord(2 + i, i % 2, move, chance.random(), playouts=1000 + i, seconds=chance.random())
                for i, move in enumerate(record.moves.split())
            )
            store.add(stores.thinking(record, decisions, (ImprovementRecord(10, chance.random(), 1.0),)))
    return folder


def shown(folder) -> list[str]:
    """All that is told of a run: every table, every record."""
    run = results.load(folder)
    texts = [str(render(run.table(kind), "csv")) for kind in run.kinds]
    with Store.open(folder) as store:
        return [*texts, *run.notes(), str(run.improvements()), *map(repr, store.records()), str(store.meta)]


def flip_a_bit(path, chance):
    data = bytearray(path.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    return f"byte {place}"


def change_a_digit(path, chance):
    """Another digit in a cell that has one; of a cell without, another value."""
    connection = sqlite3.connect(path)
    table = chance.choice(TABLES)
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    row, column = chance.choice(rows), chance.randrange(len(names))
    where = " AND ".join(f"{key} = ?" for key in keys)
    values = [row[names.index(key)] for key in keys]
    new = another(row[column], chance)
    try:
        connection.execute(f"UPDATE {table} SET {names[column]} = ? WHERE {where}", (new, *values))
    except (sqlite3.IntegrityError, OverflowError):
        connection.close()
        return change_a_digit(path, chance)
    connection.commit()
    connection.close()
    return f"{table}.{names[column]}: {row[column]!r} -> {new!r}"


def another(value, chance):
    if value is None or value == "":
        return 1
    text = str(value)
    places = [i for i, letter in enumerate(text) if letter.isdigit()]
    if not places:
        return text + "x"
    place = chance.choice(places)
    digit = chance.choice([digit for digit in "0123456789" if digit != text[place]])
    return type(value)(text[:place] + digit + text[place + 1 :])


def alter(sound, folder, alteration, count, seed) -> Counter:
    """How many of so many alterations were noticed when the run was read, or only by a whole check, or were harmless.

    AssertionError if one changed what is told without notice.
    """
    chance, before, found = random.Random(seed), shown(sound), Counter()
    path = folder / FILE_NAME
    for _ in range(count):
        shutil.copy(sound / FILE_NAME, path)
        what = alteration(path, chance)
        try:
            after = shown(folder)
        except StoreError:
            found["noticed"] += 1
        else:
            assert after == before, what
            with Store.open(folder) as store:
                found["noticed by arena check" if checking.examine(store) else "harmless"] += 1
        for companion in folder.glob(f"{FILE_NAME}-*"):
            companion.unlink()
    return found


@pytest.mark.parametrize("alteration", [flip_a_bit, change_a_digit])
@pytest.mark.parametrize("count", [SHORT, pytest.param(LONG, marks=pytest.mark.faults)])
def test_alterations_are_noticed_or_harmless(sound, tmp_path, alteration, count):
    found = alter(sound, tmp_path, alteration, count, seed=count)
    print(f"{alteration.__name__}: {dict(found)}")
    assert found.total() == count
    if alteration is change_a_digit:
        assert not found["harmless"]
