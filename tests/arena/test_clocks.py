"""Clocks: shares of what is left, flags that fall, what is stored of them, and what supervisors allow."""

import io
import math
import os
import re
import signal
import threading
import time
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from arena import agents, games
from arena.agents.core.agent import Budget, registry
from arena.agents.core.clock import OVERHEAD, Clock
from arena.cli import app
from arena.config import loading
from arena.config.config import ConfigError
from arena.games.core.random import stream
from arena.play import referee
from arena.play.match import play_fixture
from arena.play.referee import GRACE, Forfeit, Limits, Referee, Turn
from arena.play.watch import LIMIT, Watch, new_memory, read, words_of
from arena.report.replay import _thought
from arena.results.database.conditions import conditions_of
from arena.results.database.record import GameRecord, MoveRecord, Reason
from arena.results.database.store import Store
from arena.results.files.exchange import from_jsonl, to_jsonl
from arena.results.files.pgn import time_control, to_pgn
from arena.workers.worker import STOP, TICK
from tests.arena.conftest import Bench, values
from tests.arena.fixtures import round_robin


def played(*agents, clock="0.4+0.01", **more):
    """The record of the first game of a tournament with clocks, in which agent 1 moves first."""
    made = loading.from_values(values(*agents, **{"budget": {"clock": clock}, "opening_plies": 0} | more))
    return play_fixture(made, round_robin(2, 2)[0])


@pytest.mark.parametrize(
    "text, clock",
    [("10+0.1", (10, 0.1)), ("1000000", (1e6, 0)), (" 1.5+0 ", (1.5, 0)), (".5+.01", (0.5, 0.01)), ("3.+2", (3, 2))],
)
def test_time_controls(text, clock):
    assert Clock.read(text)[:2] == clock and Clock.read(str(Clock.read(text))) == Clock.read(text)


@pytest.mark.parametrize(
    "text", ["", "+1", "0+1", "0", "-1", "1+", "1+-1", "40/60", "1e3", "1:30", "1+2+3", "nan", "1e9"]
)
def test_what_is_no_time_control(text):
    with pytest.raises(ValueError, match=r"is (no time control|out of range)"):
        Clock.read(text)


def test_shares_leave_a_reserve_and_last_for_the_game():
    assert Clock(10, 0.1).share() == pytest.approx(10 / 25 + 0.1 - OVERHEAD)
    assert Clock(0.2, 1.0).share() == pytest.approx(0.2 - 0.02 - OVERHEAD)  # the increment comes after the move
    assert Clock(1.0, 5.0).share() == pytest.approx(1.0 - 0.05 - OVERHEAD)
    assert Clock(10, 0, moves=10).share() == pytest.approx(1 - OVERHEAD)
    assert Clock(1, 0, moves=1, overhead=0.1).share() == pytest.approx(1 - 0.05 - 0.1)
    assert Clock(10, 0, moves=100).share() == Clock(10, 0).share()
    assert Clock(0.0, 1.0).share() == Clock(-0.5).share() == 0.001
    for base, increment in ((10, 0.1), (1, 0), (0.3, 0.05), (60, 2)):
        clock = Clock(base, increment)
        for _ in range(100):
            left = clock.left - clock.share()
            assert left > 0
            clock = clock._replace(left=left + increment)


@pytest.mark.parametrize("base, increment", [(0.5, 0.01), (1.0, 0.1), (0.2, 0.02)])
def test_moves_that_take_longer_than_their_share_do_not_drain_a_clock(base, increment):
    """By less than the overhead, in each of 500 moves."""
    clock = Clock(base, increment)
    for _ in range(500):
        left = clock.left - clock.share() - 0.8 * OVERHEAD
        assert left > 0 or increment < 0.8 * OVERHEAD
        clock = clock._replace(left=left + increment)


@pytest.fixture
def asleep(monkeypatch):
    """Time passes only while an agent sleeps, so that clocks are exact whatever else the machine does."""
    now = [100.0]
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(referee, "time", SimpleNamespace(perf_counter=lambda: now[0]))


def test_a_game_with_clocks(asleep):
    record = played(("a", "test_sleeper"), ("b", "test_sleeper(part=0.5)"), game="test_nim(heap=12)", clock="0.4+0.01")
    assert record.reason == Reason.PLAYED_OUT and len(record.decisions) >= 6
    for side, part in ((0, 1.0), (1, 0.5)):
        left = 0.4
        for one in (one for one in record.decisions if one.side == side):
            share = Clock(left, 0.01).share()
            left += 0.01 - part * share
            assert one.playouts == pytest.approx(1e6 * share, abs=2) and one.clock == pytest.approx(left)
    opponents = [0.4, *(one.clock for one in record.decisions)]
    assert [one.nodes for one in record.decisions] == [int(1e6 * left) for left in opponents[: len(record.decisions)]]


def test_a_flag_falls(asleep):
    late = ("late", "test_sleeper(part=0, more=0.15)")
    record = played(late, "random", clock="0.2+0.02", time_margin=0)
    assert (record.reason, record.outcome, record.score) == (Reason.TIME, 0.0, None)
    assert record.detail == "late took 0.150 s at ply 2; its clock ran out, and a margin of 0 s with it"
    first, _, second = record.decisions
    assert first.clock == pytest.approx(0.07)
    assert second.clock == pytest.approx(-0.08)  # without an increment that came too late
    record = played(late, "random", clock="0.2", time_margin=0.2, game="test_nim(heap=30)")
    assert record.reason == Reason.TIME  # by a margin that is there once for the game
    assert [one.clock for one in record.decisions if one.side == 0] == pytest.approx([0.05, -0.1, -0.25])


def test_a_clock_may_be_overdrawn_by_the_margin_and_no_more():
    made = loading.from_values(values(("a", "test_sleeper(part=0)"), "random", budget={"clock": "7+1"}))
    judge = Referee(games.make("tictactoe"), made.conditions[0].seats[0], turn=Turn(Watch(), 0, Limits(0.25, 60.0)))
    judge.clock = Clock(-0.25, 1.0)
    judge.check_time(8.25, 2)
    judge.clock = Clock(math.nextafter(-0.25, -1), 1.0)
    with pytest.raises(Forfeit, match=r"its clock ran out, and a margin of 0.25 s with it"):
        judge.check_time(8.25, 2)


def test_a_player_that_takes_no_clock_says_so():
    record = played("test_late", "random", clock="5")
    assert (record.reason, record.outcome) == (Reason.EXCEPTION, 0.0)
    assert "TypeError: LatePlayer cannot play with a clock: it has neither" in record.detail


def test_who_has_a_clock():
    agents = ("own", "test_sleeper(seconds=0.001)"), ("none", "random"), ("clock", "test_sleeper")
    made = loading.from_values(values(*agents, budget={"clock": "5+1"}))
    own, none, clock = (seat.budget for seat in made.conditions[0].seats)
    assert own == Budget(seconds=0.001) and none == Budget()
    assert clock == Budget(clock=Clock(5, 1)) and clock.seconds == 5 / 25 + 1 - OVERHEAD
    record = played(*agents[:2], clock="5+1")
    assert all(one.clock is None for one in record.decisions)


TIMED = {name for name, kind in registry.classes().items() if "seconds" in kind.budgets and 2 in kind.needs.players}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name == "spdfpn"))  # which compiles, and starts processes
        for name in sorted(TIMED - {"external", "distributed"})  # which start programs and processes
    ],
)
def test_every_agent_that_knows_seconds_takes_its_share(name):
    """As told before its first decision; `test_a_game_with_clocks` shows that it is told again."""
    agent, game = agents.make(name), games.make("tictactoe")
    given = agent.budget(Budget(clock=Clock(10.0, 0.1)))
    assert given.clock == Clock(10.0, 0.1) and given.seconds == pytest.approx(0.5 - OVERHEAD)
    player = agent.player(game, given)
    player.allot(given.on(Clock(2.0, 0.1)))
    assert getattr(player, "solver", player).budget == Budget(clock=Clock(2.0, 0.1), seconds=Clock(2.0, 0.1).share())
    player.close(None)


def test_a_process_is_killed_by_what_is_left():
    """The supervisor kills after the limit that the watch has, which is of the clock before the decision."""
    memory = new_memory()
    seat = (
        loading.from_values(values(("a", "test_sleeper(part=0)"), "random", budget={"clock": "7+1"}))
        .conditions[0]
        .seats[0]
    )
    judge = Referee(games.make("tictactoe"), seat, turn=Turn(Watch(memory), 0, Limits(2.0, 60.0)))
    state = games.make("tictactoe").initial()
    for left in (7.0, 3.0, -1.0):
        judge.clock = Clock(left, 1.0)
        judge.player.decide = lambda *_: agents.Decision(0, value=words_of(memory)[LIMIT] / 100)
        decision, _ = judge.ask(state, [0, 1], stream(1), 0, 0)
        assert 100 * decision.value == pytest.approx(max(left, 0.0) + 2.0 + GRACE)


@pytest.mark.plain
def test_the_best_score_is_in_the_memory_that_the_supervisor_reads():
    memory = new_memory()
    seats = loading.from_values(values("nmcs(level=1)", game="leftmove", budget={"playouts": 20}, games=1))
    game, seat = games.make("leftmove"), seats.conditions[0].seats[0]
    watch = Watch(memory)
    watch.begin(playing=True)
    assert math.isnan(read(words_of(memory), 1).best)
    judge = Referee(game, seat, turn=Turn(watch, 0, Limits(2.0, 60.0)))
    decision, _ = judge.ask(game.initial(), [0, 1], stream(1), 0, 0)
    assert read(words_of(memory), 1).best == decision.value


BAD = [
    ({"clock": "10"}, ("negamax",), "negamax needs a budget of depth, not clock"),
    ({"clock": ""}, (), r"budget.clock = '': is no time control; a clock is text such as"),
    ({"clock": "0.00000001"}, (), r"budget.clock = '0.00000001': is out of range: a base is at least 0.001 s"),
    ({"clock": "10s"}, (), r"budget.clock = '10s': is no time control; a clock is text such as \"10\+0.1\""),
    ({"clock": 10}, (), "budget.clock = 10: is not text"),
    ({"clock": "0+1"}, (), "budget.clock = '0\\+1': is out of range"),
    ({"clock": "10", "seconds": 1}, (), "cannot be given together with seconds; a budget has one of the two"),
]


@pytest.mark.parametrize("budget, more, message", BAD)
def test_budgets_that_are_wrong(budget, more, message):
    with pytest.raises(ConfigError, match=message):
        loading.from_values(values("random", ("b", "random"), *more, game="tictactoe", budget=budget))


def test_a_clock_is_for_two_players():
    with pytest.raises(ConfigError, match="clock: is for two players; here each agent plays by itself"):
        loading.from_values({"game": "leftmove", "games": 1, "budget": {"clock": "9"}, "agents": [{"agent": "nmcs"}]})


def test_clocks_are_named_and_written():
    made = loading.from_values(values("random", ("b", "random"), game="tictactoe", budget={"clock": "60.0+0.50"}))
    (condition,) = conditions_of(made.resolved())
    assert condition.limits == {"clock": "60+0.5"} and condition.budget == "clock 60+0.5"
    assert time_control("uct", condition.limits) == "60+0.5"
    assert time_control("uct(seconds=2)", condition.limits) == "2/move"
    assert time_control("uct(playouts=2)", condition.limits) == "-"


def test_pgn_has_the_clocks():
    pgn = pytest.importorskip("chess.pgn", reason="python-chess is not installed")
    clocks = [3599.994, 61.25, 0.004, -0.5]
    decisions = [
        MoveRecord(ply, ply % 2, move, 0.5, clock, depth=3, seconds=1.5)
        for ply, (move, clock) in enumerate(zip(["e4", "e5", "Nf3", "Nc6"], clocks))
    ]
    record = GameRecord(
        *("1v2-0000", 0, 0, 0, 1, "a", "b", 0.0, None, Reason.TIME, "", "", "e4 e5 Nf3 Nc6", 4, 6.0, tuple(decisions))
    )
    assert from_jsonl(to_jsonl(record)) == [record]
    text = to_pgn(record, "chess", controls=("3600+0.5",) * 2)
    assert "{+0.500/3 1.5s [%clk 0:59:59.99]}" in text.replace("\n", " ")
    game = pgn.read_game(io.StringIO(text))
    assert game.headers["TimeControl"] == "3600+0.5" and not game.errors
    assert [node.clock() for node in game.mainline()] == [3599.99, 61.25, 0.0, 0.0]


def test_who_has_no_clock_has_none_in_pgn(tmp_path):
    """The agents' own budgets say it of most; `random` has none, and no clock either."""
    keys = values("test_sleeper(part=0.1)", "random", game="test_nim(heap=12)", budget={"clock": "2+0.5"})
    made = loading.from_values(keys)
    resolved = made.resolved()
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    with Store.create(tmp_path / "run", {"config": resolved, "machine": {}}, agents) as store:
        store.add_all(play_fixture(made, fixture) for fixture in round_robin(2, 2))
    done = CliRunner().invoke(app, ["export", str(tmp_path / "run"), "--format", "pgn"])
    tags = [line for line in done.stdout.splitlines() if "TimeControl" in line]
    assert tags == [
        *('[TimeControl "?"]', '[WhiteTimeControl "2+0.5"]', '[BlackTimeControl "-"]'),
        *('[TimeControl "?"]', '[WhiteTimeControl "-"]', '[BlackTimeControl "2+0.5"]'),
    ]


def test_reports_have_hundredths_of_seconds():
    shown = _thought(MoveRecord(3, 0, "e4", 0.12345, 1.9142, seconds=0.25))
    assert (shown["clock"], shown["value"]) == (1.91, 0.123) and "clock" not in _thought(MoveRecord(3, 0, "e4"))


@pytest.mark.slow
def test_the_flag_of_a_process_that_was_stopped_does_not_count(tmp_path):
    """As with a budget of seconds: the game is played again."""
    keys = values("test_sleeper(part=0.5)", ("b", "test_sleeper(part=0.5)"), game="test_nim(heap=30)")
    # the flag falls later than by a stop of the whole machine that goes unnoticed
    made = Bench(keys | {"budget": {"clock": f"{TICK + STOP}+0.05"}, "time_margin": 0.6}, tmp_path, workers=1)
    stopped = []

    def stop_once():
        if not stopped and any(0 < game.plies < 25 for game in made.supervisor.in_play()):
            stopped.append(next(iter(made.supervisor.playing())))
            os.kill(stopped[0], signal.SIGSTOP)
            threading.Timer(4.5, os.kill, (stopped[0], signal.SIGCONT)).start()

    made.supervisor.on_tick = stop_once
    records = made.run()
    assert len(stopped) == 1 and {record.reason for record in records.values()} == {Reason.PLAYED_OUT}
    assert re.search(r"played again: .*its clock ran out.* but the process was stopped", made.log())
