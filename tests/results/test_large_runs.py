"""Runs of more games than are read when they are loaded: the same answers, from parts of them."""

import sqlite3

import pytest

from arena import results
from arena.report import pieces
from arena.results.database import snapshot
from arena.results.database.store import FILE_NAME
from tests.arena.stored import CONFIG, store_run
from tests.typed import call

SEVERAL = {key: value for key, value in CONFIG.items() if key != "game"} | {
    "instances": ["connect4(rows=4, columns=5)", "tictactoe"],
    "games": 10,
}
OPTIONS = [(), ("--no-times",), ("--columns", "id,second,outcome,detail"), ("--raw", "--columns", "instance,seed")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("run"), SEVERAL, void=("1v2on1-0002", "3v1on2-0001"))


def make_large(monkeypatch):
    """Take every run for a large one, and read few rows at once."""
    monkeypatch.setattr(pieces, "GAMES_VERIFIED", 0)
    monkeypatch.setattr(snapshot, "GAMES_VERIFIED", 0)
    monkeypatch.setattr(snapshot, "BATCH", 7)


@pytest.mark.parametrize("options", OPTIONS)
def test_games_in_csv_are_written_in_parts(folder, tmp_path, monkeypatch, options):
    command = "table", folder, "--kind", "games", "--format", "csv", *options
    whole = call(*command)
    make_large(monkeypatch)
    printed, written = call(*command), call(*command, "--output", tmp_path / "games.csv")
    assert whole.exit_code == printed.exit_code == written.exit_code == 0
    assert printed.stdout == whole.stdout == (tmp_path / "games.csv").read_text()
    assert len(whole.stdout.splitlines()) == 61


def test_nothing_is_written_of_what_cannot_be_read(folder, tmp_path, monkeypatch):
    run, out = tmp_path / "run", tmp_path / "games.csv"
    run.mkdir()
    (run / FILE_NAME).write_bytes((folder / FILE_NAME).read_bytes())
    with sqlite3.connect(run / FILE_NAME) as connection:
        connection.execute("UPDATE games SET plies = plies + 1 WHERE game = 50")
    connection.close()
    command = "table", run, "--kind", "games", "--format", "csv", "--output", out
    whole = call(*command)
    make_large(monkeypatch)
    parts = call(*command)
    assert whole.exit_code == parts.exit_code == 2 and parts.stderr == whole.stderr
    strange = call("table", folder, *command[2:], "--columns", "elo")
    assert strange.exit_code == 2 and "there is no column elo" in strange.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_frames_of_parts_are_those_of_the_whole(folder, monkeypatch):
    before = results.load(folder)
    make_large(monkeypatch)
    after = results.load(folder)
    assert after.first_id() == before.games["id"].iloc[0]
    for name in ("pairs", "standings", "moves", "improvements", "win_rates", "notes"):
        one, other = getattr(before, name)(), getattr(after, name)()
        assert one == other if name == "notes" else one.equals(other) and one.dtypes.equals(other.dtypes)
    assert after.games.equals(before.games) and after.games.dtypes.equals(before.games.dtypes)
