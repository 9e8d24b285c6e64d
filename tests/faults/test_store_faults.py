"""Stores with altered bits and digits, torn, deleted, replaced: all is noticed, or changes nothing.

The short form is part of every run of the tests; the long one, of 1,000 alterations, is `pytest -m slow`.
"""

import json
import random
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

from arena import results
from arena.formats.schedule import Schedule
from arena.games.core.shared import system
from arena.results.database import digests, integrity
from arena.results.database.record import ImprovementRecord, MoveRecord
from arena.results.database.store import FILE_NAME, RESCUED_NAME, Store, StoreError, StoreLost
from arena.results.shown import tables
from arena.results.shown.export import render
from arena.study import verifying
from tests.faults import stores
from tests.results.sample import AGENTS, META, make_game
from tests.typed import call

TABLES = ("meta", "agents", "games", "moves", "improvements", "tallies", "settings")
SHORT, LONG = 5, (30, 500)  # alterations of each kind


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


def shown(folder, without: tuple[str, ...] = ()) -> list[str]:
    """All that is told of a run: every table but these, every record."""
    run = results.load(folder)
    kinds = [kind for kind in run.kinds if kind not in without]
    texts = [str(render(run.table(kind), "csv")) for kind in kinds]
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


def remove_a_row(path, chance):
    with closing(sqlite3.connect(path)) as connection, connection:
        table = chance.choice(TABLES[1:])  # what meta holds is not counted
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        row = chance.choice(connection.execute(f"SELECT * FROM {table}").fetchall())
        connection.execute(f"DELETE FROM {table} WHERE {' AND '.join(f'{name} IS ?' for name in names)}", row)
    return f"{table}: {row} removed"


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
    without = ("ranks",) if count == SHORT else ()  # which take the longest, and read what standings read
    chance, before, found = random.Random(seed), shown(sound, without), Counter()
    path = folder / FILE_NAME
    for _ in range(count):
        shutil.copy(sound / FILE_NAME, path)
        what = alteration(path, chance)
        try:
            after = shown(folder, without)
        except StoreError:
            found["noticed"] += 1
        else:
            assert after == before, what
            with Store.open(folder) as store:
                found["noticed by arena check" if integrity.examine(store) else "harmless"] += 1
        for companion in folder.glob(f"{FILE_NAME}-*"):
            companion.unlink()
    return found


@pytest.mark.parametrize("alteration", [flip_a_bit, change_a_digit])
@pytest.mark.parametrize("count", [SHORT, *(pytest.param(count, marks=pytest.mark.slow) for count in LONG)])
def test_alterations_are_noticed_or_harmless(sound, tmp_path, alteration, count):
    found = alter(sound, tmp_path, alteration, count, seed=count)
    print(f"{alteration.__name__}: {dict(found)}")
    assert found.total() == count
    if alteration is change_a_digit:
        assert not found["harmless"]


@pytest.mark.slow
def test_a_row_that_is_gone_is_noticed(sound, tmp_path):
    assert not alter(sound, tmp_path, remove_a_row, 30, seed=30)["harmless"]


def test_a_setting_too_many_is_noticed(sound, tmp_path):
    shutil.copy(sound / FILE_NAME, tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        last = connection.execute("SELECT max(setting) FROM settings").fetchone()[0]
        connection.execute("INSERT INTO settings VALUES (?, 1, ?)", (last + 1, last + 1 ^ 1))
    with Store.open(tmp_path) as store:
        assert integrity.examine(store).faults == ["the games do not add up to its tallies"]


def test_digests_stay_what_they_are():
    """Of a fixed tuple: another encoding would make every stored run look damaged."""
    values = (1, -(2**40), 0.1, "é", None, (("a1", 1.5),))
    assert digests.digest(values) == 5534217494074482456


def test_what_sqlite_makes_of_a_record_is_no_damage(tmp_path):
    """Ints for floats, -0.0 and NaN come back otherwise than they were given, and are stored as they come back."""
    odd = make_game(score=3, seconds=2, outcome=1, decisions=(MoveRecord(1, 1, "b2", -0.0, seconds=1),))
    with Store.create(tmp_path, META, AGENTS) as store:
        store.add(odd)
        store.add(make_game("nan", 1, score=float("nan"), improvements=(ImprovementRecord(1, 2, -0.0),)))
    with Store.open(tmp_path) as store:
        assert not integrity.examine(store) and store.record("0-0-a") == odd
    assert len(results.load(tmp_path).moves()) == 4


def test_tallies_are_those_of_the_games(tmp_path):
    """Against `repeats.repeated` and plain counts, of random games whose agents are deterministic or not."""
    chance = random.Random(5)
    with Store.create(tmp_path, META, AGENTS) as store:
        for number in range(400):
            first, second = chance.sample([agent["name"] for agent in AGENTS], 2)
            opening = f"o{chance.randrange(6)}"
            varies = "cy" in (first, second) and chance.random() < 0.1
            outcome = chance.choice([0.0, 0.5, 1.0, None]) if varies else 1.0
            moves = "z" if varies else f"{opening} {first}"
            store.add(make_game(str(number), number, first, second, outcome, opening_moves=opening, moves=moves))
    run = results.load(tmp_path)
    again = run.games[run.repeats]
    assert len(again) and run.repetitions["games"].sum() == len(again)
    for frame in (run.repetitions, again.assign(games=1)):
        counted = frame.groupby(["first", "second", "outcome"])["games"].sum()
        assert counted.equals(run.repetitions.groupby(["first", "second", "outcome"])["games"].sum())
    of_games, of_tallies = (tables.standings(run.names, frame, run.ratings) for frame in (run.games, run.tallies))
    assert of_games.equals(of_tallies)


@pytest.mark.parametrize("way", ["deleted", "replaced", "folder deleted"])
def test_a_store_that_goes_is_noticed_and_written_beside(tmp_path, monkeypatch, way):
    """Within a second; nothing that was stored is lost, and the run can be resumed from the copy."""
    monkeypatch.setattr("arena.results.database.store.LOOK", 0.2)
    folder = tmp_path / "run"
    store = Store.create(folder, META, AGENTS)
    try:
        for number in range(5):
            store.add(make_game(str(number), number))
        if way == "folder deleted":
            shutil.rmtree(folder)
        else:
            (folder / FILE_NAME).unlink()
        if way == "replaced":
            (folder / FILE_NAME).write_bytes(b"another")
        added, began, times = 5, time.monotonic(), []
        with pytest.raises(StoreLost, match=f"was {way.split()[-1]} while.*{RESCUED_NAME}"):
            while time.monotonic() < began + 100:
                times.append(time.monotonic())
                store.add(make_game(str(added), added))
                added += 1
    finally:
        store.close()
    assert all(begin - began <= 0.2 for begin in times[:-1])  # all that went well: the machine may stall in the last
    (folder / FILE_NAME).unlink(missing_ok=True)
    (folder / RESCUED_NAME).rename(folder / FILE_NAME)
    with Store.open(folder, write=True) as store:
        assert store.ids() == {str(number) for number in range(added + 1)} and not integrity.examine(store)


def damaged_copy(sound, folder, *statements):
    shutil.copytree(sound, folder)
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return folder


def test_check_names_damaged_games_and_resume_plays_them_again(sound, tmp_path):
    folder = damaged_copy(
        sound,
        tmp_path / "run",
        "UPDATE games SET outcome = 1 - outcome WHERE game = 3",
        "UPDATE moves SET seconds = seconds + 1 WHERE game = 7 AND ply = 3",
        "UPDATE improvements SET score = 2 WHERE game = 9",
        "DELETE FROM games WHERE game = 12",
    )
    with Store.open(sound) as store:
        ids = dict(store.select("SELECT game, id FROM games"))
        whole = {record.id: record for record in store.records()}
    shown = call("check", folder)
    assert shown.exit_code == 1 and all(f"game {ids[game]} is not as it was" in shown.stderr for game in (3, 7, 9))
    assert "game number 12 is not" in shown.stderr and shown.stdout.strip().endswith("4 games are wrong")
    with Store.open(folder, write=True) as store:
        assert "without 4 damaged games" in integrity.mend(store) and integrity.mend(store) == ""
        assert store.ids() == whole.keys() - {ids[game] for game in (3, 7, 9, 12)}
        for game in (3, 7, 9, 12):
            store.add(whole[ids[game]])
        assert {record.id: record for record in store.records()} == whole
    assert call("check", folder).exit_code == 0 and (folder / "damaged.sqlite").exists()


@pytest.mark.parametrize("few", [pytest.param(verifying.FEW, marks=pytest.mark.slow), 1])
def test_check_replays_games_by_the_rules(sound, tmp_path, monkeypatch, few):
    """Games that are stored whole, but were not played so; replayed here, or by two processes."""
    monkeypatch.setattr(verifying, "FEW", few)
    monkeypatch.setattr(integrity, "BATCH", 2)
    monkeypatch.setattr(system, "cores", lambda: 2)
    with Store.open(sound) as store:
        config, agents, (one, two, three, *rest) = store.meta["config"], store.agents, list(store.records())
    wrong = [
        replace(one, outcome=1 - one.outcome if one.outcome != 0.5 else 1.0),
        replace(two, moves=two.moves.replace(two.moves.split()[-1], two.moves.split()[0])),
        replace(three, moves=" ".join(three.moves.split()[:-1]), plies=three.plies - 1),
        replace(rest[0], plies=rest[0].plies + 1),
    ]
    with Store.create(tmp_path, {"config": config}, agents) as store:
        store.add_all([*wrong, *rest[1:]])
    shown = call("check", tmp_path, "--json")
    found = json.loads(shown.stdout)
    assert shown.exit_code == 1 and not found["faults"] and found["damaged"].keys() == {game.id for game in wrong}
    told = [found["damaged"][game.id] for game in wrong]
    assert "by the rules, but" in told[0] and "not a legal move" in told[1] and "not over" in told[2]
    assert "plies are stored" in told[3] and found["sound"] == len(rest) + 3
    assert list(found["damaged"]) == [game.id for game in wrong]
    assert call("check", tmp_path, "--no-replay").exit_code == 0


COMMANDS = [
    ("status",), ("table",), ("table", "--kind", "games"), ("table", "--kind", "moves", "--format", "json"),
    ("table", "--kind", "pairs"), ("table", "--kind", "win_rates"), ("elo",), ("export",), ("show", "1v2-0000"),
    ("show", "1v2-0000", "--json"), ("grade",), ("plot", "curves", "--output", "c.svg"), ("book", "--output", "b"),
    ("report", "--output", "r.html"), ("check",),
]  # fmt: skip
TORN = {
    "bad UTF-8": ["UPDATE games SET moves = CAST(x'ff80' AS TEXT)", "UPDATE agents SET spec = CAST(x'ff' AS TEXT)"],
    "bad JSON": ["UPDATE meta SET value = '{'"],
    "nested JSON": ["UPDATE meta SET value = replace(hex(zeroblob(50000)), '0', '[')"],
    "wrong types": ["UPDATE games SET plies = 'x', seed = 'y', condition = 'z'", "UPDATE moves SET side = 'x'"],
    "blobs": ["UPDATE games SET moves = x'00'", "UPDATE tallies SET games = x'00'"],
    "huge": ["UPDATE games SET condition = 4000000000, opening = -1", "UPDATE moves SET side = 7"],
    "no tables": ["DROP TABLE tallies"],
    "no columns": ["ALTER TABLE games DROP COLUMN detail"],
    "no games": ["DELETE FROM games"],
    "NULLs": ["UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')"],
    "bad schema": ["UPDATE sqlite_master SET sql = 'once upon a time' WHERE name = 'moves'"],
}


@pytest.mark.parametrize("torn", TORN)
def test_no_command_raises_what_is_no_sentence(sound, tmp_path, monkeypatch, torn):
    folder = damaged_copy(sound, tmp_path / "run", *TORN[torn])
    if torn == "NULLs":
        connection = sqlite3.connect(folder / FILE_NAME)
        connection.execute("UPDATE games SET id = NULL, plies = NULL, seed = NULL, digest = NULL, moves = NULL")
        connection.commit()
        connection.close()
    monkeypatch.chdir(tmp_path)
    for name, *options in COMMANDS:
        result = call(name, folder, *options)
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, options, result.exception)
        if result.exit_code == 0:
            assert name == "show", options  # one game can be sound where others are not
        else:
            assert result.exit_code in (1, 2) and result.stderr.strip(), (name, options)
    with pytest.raises(StoreError), Store.open(folder, write=True) as store:
        integrity.verify(store)
