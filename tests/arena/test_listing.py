"""What is known of the runs in a folder: read once, as long as nothing changes."""

import json
import os

import pytest

from arena import results
from arena.games.core.shared import cache
from arena.report import listing
from arena.report.listing import runs_in
from arena.results.database.store import Store
from tests.arena.stored import store_run


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("listing") / "full")


@pytest.fixture
def folder(full, tmp_path, monkeypatch):
    """Three runs, one without games, and what is no run; nothing of them has been read."""
    place = tmp_path / "kept"
    place.mkdir(mode=0o700)
    monkeypatch.setenv(cache.PLACE, str(place))
    monkeypatch.setattr(listing, "_read", {})
    monkeypatch.setattr(listing, "_faults", {})
    with Store.open(full) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    for name, stored in (("a & b/ö", 4), ("whole", 18), ("none", 0)):
        with Store.create(tmp_path / "runs" / name, meta, agents) as store:
            store.add_all(records[:stored])
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "tournament.sqlite").write_bytes(b"no database" * 100)
    return tmp_path / "runs"


@pytest.fixture
def read(monkeypatch):
    """The runs that are read."""
    names, row = list[str](), listing._row
    monkeypatch.setattr(listing, "_row", lambda path: names.append(path.parent.name) or row(path))
    return names


def test_a_row_for_each_run(folder, full):
    rows, unread, left = runs_in(folder)
    leader = results.load(full).standings()["agent"][0]
    about = {row["run"]: row for row in rows}
    assert about[str(folder / "whole")] | {"played": ""} == {
        "run": str(folder / "whole"), "played": "", "games": "connect4(rows=4, columns=5)", "format": "round_robin",
        "agents": 3, "leader": leader, "stored": 18, "total": 18, "state": "finished",
    }  # fmt: skip
    assert about[str(folder / "a & b/ö")]["state"] == "stopped" and about[str(folder / "none")]["leader"] is None
    assert [one["run"] for one in unread] == [str(folder / "bad")] and "SQLite" in unread[0]["error"] and left == 0
    assert [row["played"] for row in rows] == sorted((row["played"] for row in rows), reverse=True)


def test_the_most_recent_run_comes_first(folder):
    for age, name in enumerate(("none", "whole", "a & b/ö")):
        for path in (folder / name).glob("tournament.sqlite*"):
            os.utime(path, (1e9 - 60 * age, 1e9 - 60 * age))
    assert [row["run"] for row in runs_in(folder).rows] == [str(folder / name) for name in ("none", "whole", "a & b/ö")]


def test_what_has_not_changed_is_not_read_again(folder, read, monkeypatch):
    first = runs_in(folder)
    assert sorted(read) == ["bad", "none", "whole", "ö"]
    for memory in (listing._read, {}):  # of this process, then of another one
        monkeypatch.setattr(listing, "_read", memory)
        read.clear()
        assert runs_in(folder) == first and read == []
    read.clear()
    with Store.open(folder / "none", write=True) as store, Store.open(folder / "whole") as other:
        store.add(next(other.records()))
    (folder / "a & b" / "ö" / "tournament.sqlite").unlink()
    rows = runs_in(folder).rows
    assert read == ["none"] and sorted(row["stored"] for row in rows) == [1, 18]


def test_other_code_reads_again(folder, read, monkeypatch):
    """What was made by other code is not believed."""
    runs_in(folder)
    monkeypatch.setattr(listing, "_read", {})
    monkeypatch.setattr(listing, "_code", lambda: "another")
    read.clear()
    runs_in(folder)
    assert sorted(read) == ["none", "whole", "ö"]


@pytest.mark.parametrize(
    "junk", [b"", b"[]", b"{", b'{"code": 1}', b'{"file": "OWN", "code": "now", "at": 1, "runs": {"x": 2}}', b"\xff"]
)
def test_what_was_kept_may_be_junk(folder, monkeypatch, junk):
    first = runs_in(folder)
    monkeypatch.setattr(listing, "_code", lambda: "now")
    monkeypatch.setattr(listing, "_read", {})
    cache.write(file := listing._file(folder), junk.replace(b"OWN", file.encode()))
    assert runs_in(folder) == first


def test_reading_is_left_for_the_next_call_after_a_while(folder, read):
    found = runs_in(folder, 0.0)
    assert found.left == 4 - len(read) > 0 and len(found.rows) + len(found.unread) == len(read)
    for _ in range(5):
        found = runs_in(folder, 0.0)
    assert json.dumps(found.rows) and len(found.rows) <= 3
    assert len(runs_in(folder).rows) == 3


def test_folders_by_other_names_are_the_same(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert len(runs_in(folder).rows) == 3
    monkeypatch.setattr(listing, "_read", {})
    names = {row["run"] for row in runs_in(folder.relative_to(os.getcwd())).rows}
    assert names == {"runs/whole", "runs/none", "runs/a & b/ö"}
