"""One game: its record, and every way in which an agent or the rules can fail."""

import itertools
import math
import re
from dataclasses import dataclass, replace

import pytest

from arena import agents, games
from arena.agents import Budget
from arena.agents.core.agent import Decision, changed
from arena.agents.core.clock import Clock
from arena.config import loading
from arena.config.config import Seat
from arena.formats.schedule import Schedule
from arena.play import probe
from arena.play.game_calls import GameError
from arena.play.match import Openings, play, play_fixture
from arena.play.referee import Forfeit, Limits, Referee, Turn
from arena.play.warming import _budgets, warm
from arena.play.watch import Watch
from arena.results.database.record import Reason
from tests.arena.conftest import essence, values
from tests.arena.fixtures import every_fixture, round_robin


@dataclass(frozen=True)
class Noted(Decision):
    """A decision of a class of its own, which does something when it is made."""

    def __post_init__(self):
        object.__setattr__(self, "counts", self.counts | {"noted": 1})


def made_of(*agents, **more):
    return loading.from_values(values(*agents, **more))


def first_game(*agents, **more):
    """The record of the first game of a tournament, in which agent 1 moves first."""
    made = made_of(*agents, **more)
    return play_fixture(made, round_robin(2, 2, made.values["seed"])[0])


def test_a_game_played_out():
    record = first_game("random", ("odd", "test_odd"), seed=3, opening_plies=3)
    assert (record.id, record.number, record.condition, record.opening) == ("1v2-0000", 0, 0, 0)
    assert (record.first, record.second, record.reason, record.detail) == ("random", "odd", Reason.PLAYED_OUT, "")
    opening, moves = record.opening_moves.split(), record.moves.split()
    assert len(opening) == 3 and record.plies == 3 + len(moves) == 3 + len(record.decisions)
    assert sum(map(int, opening + moves)) == 9
    assert record.outcome == record.plies % 2 and record.score == 2 * record.outcome - 1
    assert [d.ply for d in record.decisions] == list(range(3, record.plies))
    assert [d.side for d in record.decisions] == [ply % 2 for ply in range(3, record.plies)]
    assert [d.move for d in record.decisions] == moves
    assert record.seconds >= sum(d.seconds for d in record.decisions) > 0
    of_random, of_odd = (next(d for d in record.decisions if d.side == side) for side in (0, 1))
    assert (of_random.value, of_random.playouts) == (None, None)
    assert (of_odd.value, of_odd.playouts) == (0.25, 7) and type(of_odd.playouts) is int


def test_a_draw_is_half_a_point():
    made = made_of("random", ("b", "random"), game="tictactoe", games=80)
    records = [play_fixture(made, fixture) for fixture in round_robin(2, 80, 0)]
    assert {(r.score, r.outcome) for r in records} == {(1.0, 1.0), (0.0, 0.5), (-1.0, 0.0)}


def test_a_game_is_a_function_of_its_fixture():
    made = made_of("random", ("b", "random"), game="tictactoe", games=4)
    for fixture in round_robin(2, 4, 0):
        assert essence(play_fixture(made, fixture)) == essence(play_fixture(made, fixture))


def test_a_game_is_the_same_whatever_was_played_before_it():
    made = made_of("random", ("b", "random"), game=None, instances=["tictactoe", "nim"], games=4)
    kept = Openings(made)
    for fixture in sorted(every_fixture(Schedule(made.values)), key=lambda one: (one.opening, one.seed)):
        assert essence(play_fixture(made, fixture, openings=kept)) == essence(play_fixture(made, fixture))


@pytest.mark.parametrize("kind", [Decision, Noted])
def test_a_changed_decision_is_that_of_replace(kind):
    before, same = (kind(4, value=0.5, playouts=7, counts={"cut": 1}) for _ in range(2))
    after = changed(before, move=5, seconds=2.0)
    assert type(after) is kind and after == replace(same, move=5, seconds=2.0) and before == same
    assert vars(after).keys() == vars(before).keys()


def test_the_two_sides_draw_from_streams_of_their_own():
    made = made_of("random", ("b", "random"), game="test_nim(heap=60)", opening_plies=0)
    moves = play_fixture(made, round_robin(2, 2, 0)[0]).moves.split()
    assert moves[0:40:2] != moves[1:40:2]


def test_the_games_of_a_pair_share_the_opening():
    made = made_of("random", ("b", "random"), game="tictactoe", games=4)
    one, other, later, _ = (play_fixture(made, fixture) for fixture in round_robin(2, 4, 0))
    assert one.opening_moves == other.opening_moves != later.opening_moves
    assert (one.first, one.second) == (other.second, other.first)


FORFEITS = [
    ("raise", Reason.EXCEPTION, "bad: ValueError: on purpose"),
    ("untold", Reason.EXCEPTION, "bad: Untold: (its text cannot be had: ValueError)"),
    ("bare", Reason.EXCEPTION, "bad: Bare: on purpose"),
    ("memory", Reason.EXCEPTION, "bad: MemoryError: on purpose"),
    ("recursion", Reason.EXCEPTION, "bad: RecursionError: maximum recursion depth exceeded"),
    ("sysexit", Reason.EXCEPTION, "bad: SystemExit: on purpose"),
    ("raises at once", Reason.EXCEPTION, "bad: RuntimeError: no player today"),
    ("raises when told", Reason.EXCEPTION, "bad: RuntimeError: I do not want to know"),
    ("value", Reason.EXCEPTION, "bad: TypeError: a decision's value is 'high', which is no float"),
    ("fewer than no playouts", Reason.EXCEPTION, "bad: ValueError: a decision's playouts is -5; it can be 0 or more"),
    ("half a node", Reason.EXCEPTION, "bad: TypeError: a decision's nodes is 0.5, which is no int"),
    ("a depth in words", Reason.EXCEPTION, "bad: TypeError: a decision's depth is '3', which is no int"),
    ("less than no time", Reason.EXCEPTION, "bad: ValueError: a decision's virtual_time is -0.5; it can be 0 or more"),
    ("a value of nine", Reason.EXCEPTION, "bad: ValueError: a decision's value is 9.0; it can be -1, a loss of the"),
    ("a value below a loss", Reason.EXCEPTION, "bad: ValueError: a decision's value is -1.00"),
    ("range", Reason.ILLEGAL_MOVE, "bad answered the move 99 at ply 2; legal: 1 2"),
    ("negative", Reason.ILLEGAL_MOVE, "bad answered the move -1 at ply 2"),
    ("float", Reason.ILLEGAL_MOVE, "bad answered the move 1.0 at ply 2"),
    ("bool", Reason.ILLEGAL_MOVE, "bad answered the move True at ply 2"),
    ("text", Reason.ILLEGAL_MOVE, "bad answered the move '1' at ply 2"),
    ("none", Reason.EXCEPTION, "bad: TypeError: "),
]


@pytest.mark.parametrize("how, reason, detail", FORFEITS, ids=[row[0] for row in FORFEITS])
def test_a_forfeit_of_the_first_player(how, reason, detail):
    record = first_game(("bad", f"test_odd(how={how!r})"), "random")
    assert record.reason == reason and record.detail.startswith(detail)
    assert (record.outcome, record.score) == (0.0, None)


def test_a_forfeit_of_the_second_player_keeps_the_moves_before():
    record = first_game("random", ("bad", "test_odd(how='raise', at=2)"), game="test_nim(heap=20)")
    assert (record.outcome, record.score, record.reason) == (1.0, None, Reason.EXCEPTION)
    assert len(record.decisions) == len(record.moves.split()) == 3 and record.plies == 5


def test_an_exception_is_logged_with_its_traceback(caplog):
    first_game(("bad", "test_odd(how='raise')"), "random")
    assert "_fail" in caplog.text and "ValueError: on purpose" in caplog.text and "game 1v2-0000" in caplog.text


def test_time():
    record = first_game("test_late(by=0.3, seconds=0.01)", "random", time_margin=0.1)
    assert (record.reason, record.outcome) == (Reason.TIME, 0.0)
    assert "at ply 2; allowed: 0.01 s and a margin of 0.1 s" in record.detail
    assert len(record.decisions) == 1 and record.decisions[0].seconds > 0.3


def test_a_move_may_take_its_seconds_and_the_margin_and_no_more():
    seats = made_of("test_late(seconds=0.5)", "random").conditions[0].seats
    judge = Referee(games.make("test_nim"), seats[0], turn=Turn(Watch(), 0, Limits(time_margin=0.25)))
    judge.check_time(0.75, 2)
    with pytest.raises(Forfeit, match=r"took 0.750 s at ply 2; allowed: 0.5 s and a margin of 0.25 s") as forfeit:
        judge.check_time(math.nextafter(0.75, 1), 2)
    assert forfeit.value.reason == Reason.TIME


def test_within_the_margin_of_time():
    record = first_game("test_late(by=0.02, seconds=0.01)", "random", time_margin=100)
    assert record.reason == Reason.PLAYED_OUT


def test_a_player_that_writes_into_its_position_changes_nothing():
    record = first_game("test_odd(how='write')", "random", seed=3)
    assert record.reason == Reason.PLAYED_OUT
    assert sum(map(int, f"{record.opening_moves} {record.moves}".split())) == 9


@pytest.mark.parametrize(
    "fault, message",
    [
        ("raises", "play of test_faulty_nim.* raised ZeroDivisionError: these rules are broken"),
        ("endless", "is not over after its max_plies = 40"),
    ],
)
def test_rules_that_fail_are_no_agents_fault(fault, message):
    with pytest.raises(GameError, match=message):
        first_game("random", ("b", "random"), game=f"test_faulty_nim(heap=40, fault={fault!r})")


def test_budgets_come_from_the_agent_or_the_tournament():
    made = made_of("test_late(seconds=0.5)", "test_late", "random", budget={"seconds": 2, "nodes": 5})
    assert [seat.budget for seat in made.conditions[0].seats] == [Budget(seconds=0.5), Budget(seconds=2.0), Budget()]


def test_warming_tells_each_step_and_passes_over_failures(caplog):
    made = made_of(("bad", "test_odd(how='raise')"), "test_late(seconds=60)", "random")
    told = [warm(made.instances, seat) for seat in made.conditions[0].seats]
    failures = [failure for _, failure in told]
    assert re.fullmatch(r"ValueError: on purpose \(oddities.py, line \d+\)", failures[0]) and failures[1:] == ["", ""]
    assert all(seconds < 50 for seconds, _ in told)
    assert "bad failed while its kernels were being compiled" in caplog.text


def test_warming_tries_every_kind_of_budget_where_none_is_given():
    """An agent that is served may be asked with any of them, and runs other kernels with some."""
    agent, clock = agents.make("flat"), Clock(10.0)
    assert _budgets(Seat("a", agent, Budget())) == [Budget(playouts=1), Budget(seconds=0.001)]
    assert _budgets(Seat("a", agent, Budget(playouts=50, seconds=2.0))) == [Budget(playouts=1, seconds=0.001)]
    assert _budgets(Seat("a", agent, Budget(clock=clock))) == [Budget(seconds=0.001)]
    assert _budgets(Seat("a", agents.make("random"), Budget())) == [Budget()]


def test_play_takes_agents_that_are_not_registered():
    made = made_of("random", ("b", "random"))
    fixture = round_robin(2, 2, 9)[0]
    record = play(made.conditions[0].game, made.conditions[0].seats, fixture, [1, 2])
    assert record.opening_moves == "1 2" and record.decisions[0].ply == 2


@pytest.mark.parametrize("method, answer, reason", [
    ("score", None, "score of test_nim.* answers None, which is no float"),
    ("score", "high", "score of test_nim.* answers 'high', which is no float"),
    ("score", float("inf"), "score of test_nim.* is inf"),
    ("player", None, "player of test_nim.* answers None, which is no int"),
    ("player", 2, "player 2 is to move, and it has 2"),
    ("player", -7, "player -7 is to move, and it has 2"),
    ("move_name", None, "move_name of test_nim.* answers None, which is no str"),
])  # fmt: skip
def test_what_a_game_answers_wrongly_is_named(method, answer, reason, monkeypatch):
    made = made_of("random", ("b", "random"))
    monkeypatch.setattr(type(made.instances[0]), method, lambda *arguments: answer)
    with pytest.raises(GameError, match=reason):
        play_fixture(made, round_robin(2, 2, made.values["seed"])[0])


def test_the_probe_of_a_games_kernels_does_not_count_the_time_to_compile_them(monkeypatch):
    clock, lines = itertools.count(), []

    def line(game, root, rng):
        lines.append([next(clock) for _ in range(50)])  # seconds
        return 1, 1, 0.0

    monkeypatch.setattr(probe, "line_kernel", line)
    monkeypatch.setattr(probe.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(probe, "SECONDS", 120.0)
    assert probe.fault_in_kernels(games.make("tictactoe")) is None
    assert len(lines) == 4
