"""A run that tells other processes what it plays, and ends when one of them asks for it."""

import json
import os
import threading
import time

import pytest

from arena import results
from arena.games.core.shared.errors import UserError
from arena.results.database.store import Store
from arena.runner import notice
from arena.runner.notice import PLAYING, STOP, STOP_NOW, WISH, Game, Notice, Now, ask, now
from arena.runner.running import Interrupted, run

CONFIG = {"game": "connect4", "games": 4000, "seed": 3, "agents": ["uct(playouts=400)", "random"]}


@pytest.fixture
def playing(tmp_path):
    """The folder of a run in play, and what it raised at last."""
    raised: list[BaseException] = []

    def play():
        try:
            run(CONFIG, tmp_path, workers=1)
        except Interrupted as stop:
            raised.append(stop)

    thread = threading.Thread(target=play)
    thread.start()
    end = time.monotonic() + 120
    while not ((told := now(tmp_path)) and told.stored):
        assert time.monotonic() < end and thread.is_alive()
        time.sleep(0.05)
    yield tmp_path, raised, thread
    if thread.is_alive():
        ask(tmp_path, STOP_NOW)
    thread.join(60)


def test_others_see_what_is_played_and_stop_it_twice_at_once(playing):
    folder, raised, thread = playing
    told = now(folder)
    assert told.state == "playing" and told.total == 4000 and 0 < told.stored < 4000 and told.per_second > 0
    assert {(game.first, game.second) for game in told.games} <= {
        ("uct(playouts=400)", "random"), ("random", "uct(playouts=400)")
    }  # fmt: skip
    for _ in range(2):  # two people who want the same: games in play are finished all the same
        ask(folder, STOP)
    thread.join(60)
    assert isinstance(raised[0], Interrupted) and raised[0].stored == len(results.load(folder))
    assert {path.name for path in folder.iterdir()} == {"tournament.sqlite", "lock", "log.txt"}
    assert "games that run are finished" in (folder / "log.txt").read_text()
    with pytest.raises(UserError, match="is not being played"):
        ask(folder, STOP)


def test_a_run_is_given_up_at_once(playing):
    folder, raised, thread = playing
    ask(folder, STOP_NOW)
    thread.join(60)
    assert isinstance(raised[0], Interrupted) and "stopping now" in (folder / "log.txt").read_text()


def test_a_wish_for_another_process_is_not_obeyed(tmp_path):
    told = Notice(tmp_path)
    for words in (f"{'0' * 16} {STOP}", STOP, "", f"{told.token} die", f"{told.token} {STOP} more"):
        (tmp_path / WISH).write_text(words)
        assert told.wish() == "" and not (tmp_path / WISH).exists()
    (tmp_path / WISH).write_text(f"{told.token} {STOP}\n")
    assert told.wish() == STOP and told.wish() == ""


@pytest.mark.parametrize("name", [PLAYING, WISH])
@pytest.mark.parametrize("kind", ["pipe", "folder", "link", "junk", "huge", "unreadable"])
def test_whatever_lies_there_harms_no_run(tmp_path, name, kind, monkeypatch):
    told, path, other = Notice(tmp_path), tmp_path / name, tmp_path / "other"
    other.write_text("kept")
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to(other),
        "junk": lambda: path.write_bytes(b"\xff{}"),
        "huge": lambda: path.write_bytes(b"[" * (notice.MOST_BYTES + 9)),
        "unreadable": lambda: (path.touch(), path.chmod(0)),
    }[kind]()
    monkeypatch.setattr(notice, "busy", lambda folder: True)
    if name == PLAYING:
        assert now(tmp_path) is None
    assert told.wish() == ""
    told.tell(state="playing", stored=1, total=2, before=0, begun=time.time(), games=[Game("a", "x", None, 3, 0.5)])
    told.close()
    assert other.read_text() == "kept"


def test_the_pace_is_that_of_the_games_of_this_process(monkeypatch):
    told = {"token": "", "total": 90, "before": 40, "begun": 1000.0}
    monkeypatch.setattr(notice.time, "time", lambda: 1010.0)
    assert Now(stored=70, **told).per_second == 3.0 and Now(stored=40, **told).per_second == 0.0


def test_nothing_is_told_of_a_run_that_is_over(tmp_path):
    told = Notice(tmp_path)
    told.tell(state="playing", stored=1, total=2, before=0, begun=time.time(), games=[])
    assert json.loads((tmp_path / PLAYING).read_text())["stored"] == 1
    assert now(tmp_path) is None  # nobody holds the run's lock: its process was killed


def test_a_folder_that_cannot_be_written_says_so(tmp_path, monkeypatch):
    with Store.create(tmp_path, {}, []):
        told = Notice(tmp_path)
        told.tell(state="playing", stored=1, total=2, before=0, begun=time.time(), games=[])
        denied = PermissionError(13, "denied")
        monkeypatch.setattr(notice, "write_whole", lambda *_: (_ for _ in ()).throw(denied))
        with pytest.raises(UserError, match="nothing can be written there"):
            ask(tmp_path, STOP)
