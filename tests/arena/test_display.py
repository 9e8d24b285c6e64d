"""What a run shows while it lasts: standings of all games so far, what is being played, lines in a pipe."""

import io
import time

import pandas
import pytest
from rich.console import Console

from arena.config.loading import from_values
from arena.formats.schedule import Schedule
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.runner import display
from arena.runner.display import LiveDisplay, PlainDisplay
from arena.runner.ticker import Ticker
from arena.workers.worker import InPlay
from tests.arena.conftest import Bench, values
from tests.arena.fixtures import every_fixture
from tests.arena.stored import CONFIG, store_run

MORE = CONFIG | {"games": 12}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of 18 games, of which 36 are to be played."""
    return store_run(tmp_path_factory.mktemp("display") / "run", CONFIG)


def begun(kind, folder, width=80, terminal=False):
    """A display of that run, the text that it has written, and the games that are to be played."""
    text = io.StringIO()
    shown = kind(Console(file=text, force_terminal=terminal, width=width, height=60, _environ={}))
    resolved = from_values(MORE).resolved()
    schedule = Schedule(resolved)
    fixtures = [one for one in every_fixture(schedule) if one.opening >= CONFIG["games"] // 2]
    shown.opened(resolved, folder)
    shown.planned(schedule)
    shown.started(36, 18)
    return shown, text, fixtures


def finished(shown, folder, games):
    """End so many games of strong and middling, all of which the first player wins."""
    with Store.open(folder) as store:
        record = store.record("1v2-0000")
    for _ in range(games):
        shown.finished(type(record)(**vars(record) | {"outcome": 1.0, "reason": Reason.PLAYED_OUT}))


def test_live_standings_are_of_all_games_however_fast_they_end(folder, monkeypatch):
    monkeypatch.setattr(display, "SHARE_OF_TIME", 1e9)  # standings take no time
    shown, text, fixtures = begun(LiveDisplay, folder, terminal=True)
    finished(shown, folder, 7)
    shown.playing([InPlay(fixtures[0], 12, 3.25)])  # the games have ended before; this is the next look
    finished(shown, folder, 2)
    shown.playing([InPlay(fixtures[0], 13, 3.75), InPlay(fixtures[1], 0, 0.04)])
    shown.live.stop()
    table = shown.standings().set_index("agent")
    assert table["games"].sum() == 2 * shown.done == 2 * 27 and shown.shown == 27
    assert "after 27 games" in text.getvalue()
    frame = shown.games_in_play()
    assert frame.values.tolist() == [
        [fixtures[0].id, "strong", "middling", 13, 3.75],
        [fixtures[1].id, "middling", "strong", 0, 0.04],
    ]
    assert f"{fixtures[0].id}   strong     middling" in text.getvalue() and "3.8" in text.getvalue()


def test_the_time_left_is_that_of_the_games_left_at_the_pace_of_this_process(folder, monkeypatch):
    """Of 36 games, 18 were stored before, and 3 have ended since."""
    shown, _, _ = begun(PlainDisplay, folder)
    shown.began = 0.0
    monkeypatch.setattr(display.time, "monotonic", lambda: 32.0)
    assert shown.pace() == ""
    finished(shown, folder, 3)
    assert shown.pace() == "0.1 games/s, 2:40 left"
    monkeypatch.setattr(display.time, "monotonic", lambda: 1024.0)
    assert shown.pace() == "0.0 games/s, 1:25:20 left"


def test_the_best_score_so_far_is_shown_where_there_is_one(folder, monkeypatch):
    """Of games for one player; of others no column is there."""
    monkeypatch.setattr(PlainDisplay, "SECONDS", 0.0)
    monkeypatch.setattr(display, "SHARE_OF_TIME", 1e9)  # standings take no time
    shown, text, fixtures = begun(PlainDisplay, folder)
    shown.playing([InPlay(fixtures[0], 0, 9.0, 71.0), InPlay(fixtures[1], 3, 8.0)])
    assert shown.games_in_play()["best"].tolist()[0] == 71.0
    text.truncate(0)
    shown.playing([InPlay(fixtures[0], 0, 9.0, 71.0), InPlay(fixtures[1], 3, 8.0)])
    assert "0 plies, 9 s, best score 71\n" in text.getvalue() and "3 plies, 8 s\n" in text.getvalue()


def test_a_live_display_in_a_narrow_terminal_tells_names_apart(folder):
    shown, text, fixtures = begun(LiveDisplay, folder, width=40, terminal=True)
    shown.names = ["a name of a good length, number one", "a name of a good length, number two", "weak"]
    shown.results.clear()
    shown.playing([InPlay(one, 5, 1.0) for one in fixtures[:11]])
    shown.live.stop()
    assert "…ber one" in text.getvalue() and "…ber two" in text.getvalue() and "and 3 more" in text.getvalue()


def test_lines_in_a_pipe_come_also_while_no_game_ends(folder, monkeypatch):
    monkeypatch.setattr(PlainDisplay, "SECONDS", 0.0)
    monkeypatch.setattr(display, "SHARE_OF_TIME", 1e9)  # standings take no time
    shown, text, fixtures = begun(PlainDisplay, folder)
    in_play = [InPlay(fixtures[0], 12, 61.7)]
    shown.playing(in_play)
    assert "18 of 36 games; " in text.getvalue() and " leads with " in text.getvalue()
    assert f"  {fixtures[0].id}, strong - middling: 12 plies, 62 s\n" in text.getvalue()
    text.truncate(0)
    finished(shown, folder, 3)
    shown.playing(in_play)
    assert "21 of 36 games, " in text.getvalue() and "plies" not in text.getvalue()
    monkeypatch.setattr(PlainDisplay, "SECONDS", 60.0)
    shown.playing(in_play)
    text.truncate(0)
    shown.playing(in_play)
    assert text.getvalue() == ""
    shown.ended()
    assert text.getvalue().endswith("21 of 36 games stored\n")


def test_nobody_leads_before_a_game_counts(folder, monkeypatch):
    monkeypatch.setattr(PlainDisplay, "SECONDS", 0.0)
    monkeypatch.setattr(display, "SHARE_OF_TIME", 1e9)  # standings take no time
    shown, text, _ = begun(PlainDisplay, folder)
    shown.standings = lambda: pandas.DataFrame([{"agent": "strong", "score": float("nan"), "mean": float("nan")}])
    shown.playing([])
    assert "18 of 36 games\n" in text.getvalue() and "leads" not in text.getvalue()


def test_a_pipe_is_told_of_what_comes_before_play(folder, monkeypatch):
    monkeypatch.setattr(PlainDisplay, "SECONDS", 0.01)
    text = io.StringIO()
    shown = PlainDisplay(Console(file=text, width=80))
    assert shown.preparation() == "starting processes"
    shown.preparing.first = 0.01
    shown.opened(from_values(CONFIG).resolved(), folder)
    shown.warming("strong")
    until = time.monotonic() + 100
    while "compiling kernels of strong\n" not in text.getvalue() and time.monotonic() < until:
        time.sleep(0.01)
    shown.warmed("strong", 0.0)
    shown.ended()
    assert "compiling kernels of strong\n" in text.getvalue()


def test_tickers_stop():
    told = []
    ticker = Ticker(lambda: told.append(1), 0.001, 0.001)
    ticker.start()
    ticker.start()
    until = time.monotonic() + 100
    while len(told) < 3 and time.monotonic() < until:
        time.sleep(0.001)
    ticker.stop()
    count = len(told)
    time.sleep(0.02)
    assert len(told) == count >= 3
    ticker.stop()


def test_what_workers_play_now(tmp_path, monkeypatch):
    """Games get on from look to look, of which each has many, and are those of the schedule."""
    monkeypatch.setattr("arena.workers.worker.TICK", 0.02)
    monkeypatch.setattr("arena.workers.supervisor.TICK", 0.02)  # for how long it waits
    made = Bench(values("test_odd(pause=0.05)", ("b", "test_odd(pause=0.05)"), game="test_nim(heap=30)"), tmp_path)
    looks = []
    made.supervisor.on_tick = lambda: looks.append(made.supervisor.in_play())
    made.run()
    seen = [game for look in looks for game in look]
    assert {game.fixture.id for game in seen} == {"1v2-0000", "2v1-0000"}
    for id in ("1v2-0000", "2v1-0000"):
        of = [game for game in seen if game.fixture.id == id]
        assert [game.plies for game in of] == sorted(game.plies for game in of) and of[-1].plies >= 3
        assert all(0 <= game.seconds < 60 for game in of) and of[0].seconds < of[-1].seconds
