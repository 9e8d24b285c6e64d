"""Games that are broken off by the players' values: beside a naive count over all decisions, and in whole runs."""

from dataclasses import replace
from itertools import product

import pytest

import arena
from arena.config import loading
from arena.config.config import ConfigError, differences
from arena.games.core.random import random_below, stream
from arena.play.adjudication import Adjudication, Adjudicator
from arena.play.match import play_fixture
from arena.results.database.record import Reason
from arena.results.files.pgn import to_pgn
from arena.study.preparing import opening_book
from arena.workers.messages import fault_of
from tests.arena.conftest import values
from tests.arena.fixtures import round_robin

RESIGN = {"value": 0.9, "moves": 2}
DRAW = {"value": 0.1, "moves": 2, "after": 6}


def naive(rules, decisions, plies):
    """(outcome, reason) by a look at all decisions, (side, value) each, after so many plies; None if there is none."""
    of = [[value for side, value in decisions if side == number] for number in (0, 1)]

    def last(side, count, holds):
        tail = of[side][-count:]
        return len(tail) == count and all(value is not None and holds(value) for value in tail)

    if resign := rules.resign:
        for side in (0, 1):
            lost = last(side, resign["moves"], lambda value: value <= -resign["value"])
            won = last(1 - side, resign["moves"], lambda value: value >= resign["value"])
            if lost and (won or not resign["both"]):
                return float(side), Reason.ADJUDICATED_WIN
    if draw := rules.draw:
        even = [last(side, draw["moves"], lambda value: abs(value) <= draw["value"]) for side in (0, 1)]
        if all(even) and plies >= draw["after"]:
            return 0.5, Reason.ADJUDICATED_DRAW
    return None


@pytest.mark.parametrize("both, draw", list(product((False, True), (None, DRAW))))
def test_the_adjudicator_counts_as_a_look_at_everything_does(both, draw):
    rng, known, ends = stream(3, "adjudication"), [-1.0, -0.9, -0.95, 0.9, 1.0, 0.0, 0.1, -0.1, 0.5, None], 0
    for _ in range(150):
        rules = Adjudication(RESIGN | {"both": both}, draw)
        adjudicator, decisions = Adjudicator(rules, ("a", "b")), []
        pool = [known[random_below(rng, len(known))] for _ in range(3)]
        for ply in range(14):
            side = ply % 2 if ply < 8 else int(random_below(rng, 2))  # sides need not take turns
            value = pool[random_below(rng, 3)] if side == 0 else -(pool[random_below(rng, 3)] or 0.0)
            adjudicator.note(side, value)
            decisions.append((side, value))
            found = adjudicator.ending(ply + 1)
            assert (found and found[:2]) == naive(rules, decisions, ply + 1)
            ends += found is not None
    assert ends > 20


def played(first, second, heap=40, **more):
    made = loading.from_values(
        values(*((name, f"test_sayer(values={given!r})") for name, given in (("a", first), ("b", second))))
        | {"game": f"test_nim(heap={heap})", "opening_plies": 2}
        | more
    )
    fixture = round_robin(2, 2)[0]
    record = play_fixture(made, fixture)
    assert fault_of(made, fixture, record) is None
    return record


def test_a_player_resigns_by_its_own_values():
    record = played("0 -0.9 0 -0.9 -1 0", "0.3", resign=RESIGN)
    assert (record.outcome, record.score, record.reason) == (0.0, None, Reason.ADJUDICATED_WIN)
    assert record.detail == "a had values of -0.9 or less in 2 moves"
    assert [one.value for one in record.decisions if one.side == 0] == [0, -0.9, 0, -0.9, -1]
    assert record.plies == 2 + 9 and len(record.moves.split()) == 9  # the last move was made
    assert played("0.3", "-1", resign=RESIGN).outcome == 1.0
    assert '[Termination "adjudication"]\n[Reason "adjudicated win"]' in to_pgn(record, "nim")


def test_both_must_agree_if_they_are_to():
    assert played("-1", "0.3", resign=RESIGN | {"both": True}).reason == Reason.PLAYED_OUT
    assert played("-1", "0.3 0.9", resign=RESIGN | {"both": True}).plies == 2 + 6


def test_a_draw_needs_both_and_its_plies():
    record = played("0.1", "-0.1", draw=DRAW | {"after": 11})
    assert (record.outcome, record.reason, record.plies) == (0.5, Reason.ADJUDICATED_DRAW, 11)
    assert played("0.1", "0.2", draw=DRAW).reason == Reason.PLAYED_OUT
    assert played("0", "-", draw=DRAW, resign=RESIGN).reason == Reason.PLAYED_OUT  # who has no values agrees to nothing


def test_the_rules_come_first():
    assert played("-1", "1", heap=5, resign=RESIGN | {"moves": 1}).reason == Reason.ADJUDICATED_WIN
    assert played("-1", "1", heap=5, resign=RESIGN | {"moves": 1}).detail.endswith(" or less in 1 move")
    record = played("-1", "1", heap=3, resign=RESIGN | {"moves": 1})  # the move that loses is the last one
    assert record.reason == Reason.PLAYED_OUT and record.outcome == 1.0


BAD = [
    ({"resign": 3}, "resign = 3: is not a table"),
    ({"resign": {"value": 0.9}}, "resign.moves: is missing; moves is a whole number from 1 to 1000"),
    ({"resign": RESIGN | {"value": 0.0}}, "resign.value = 0.0: is out of range"),
    ({"resign": RESIGN | {"both": 1}}, "resign.both = 1: is neither true nor false; both is true if the opponent's"),
    ({"draw": DRAW | {"value": 1.0}}, "draw.value = 1.0: is out of range"),
    ({"draw": DRAW | {"afte": 1}}, r"draw.afte = 1: unknown key \(did you mean 'after'\?\)"),
]


@pytest.mark.parametrize("keys, message", BAD)
def test_tables_that_are_wrong(keys, message):
    with pytest.raises(ConfigError, match=message):
        loading.from_values(values("random", ("b", "random"), **keys))


def test_alone_nobody_resigns():
    keys = {"game": "leftmove", "games": 1, "resign": RESIGN, "agents": [{"agent": "nmcs(playouts=5)"}]}
    with pytest.raises(ConfigError, match=r"resign = .*: is for two players; here each agent plays by itself"):
        loading.from_values(keys)


def test_a_run_that_is_adjudicated_stopped_and_resumed(tmp_path):
    """A test of pairs stops where it would have, and the notes say how many games were adjudicated."""
    entries = ("a", "test_sayer(values='0 -0.95')"), ("b", "test_sayer(values='0.5 0.6')"), ("c", "random")
    keys = values(*entries, game="test_nim(heap=40)", games=4, resign=RESIGN)
    whole = arena.run(keys, tmp_path / "whole", workers=1)
    assert set(whole.games["reason"]) == {Reason.ADJUDICATED_WIN, Reason.PLAYED_OUT}
    assert "8 of 12 games were adjudicated (8 adjudicated win)." in whole.notes()
    assert opening_book(tmp_path / "whole", plies=3, least=1)[2] == 12  # adjudicated games, too
    part = arena.run(keys | {"games": 2}, tmp_path / "part", workers=1)
    assert len(part.games) == 6
    again = arena.run(keys, tmp_path / "part", workers=1, resume=True)
    columns = ["id", "outcome", "reason", "detail", "moves"]
    assert again.games[columns].equals(whole.games[columns])
    resolved = loading.from_values(keys).resolved()
    assert differences(resolved, resolved) == []
    (line,) = differences(resolved, resolved | {"resign": RESIGN | {"both": True, "moves": 3}})
    assert line.startswith("resign = ")


def test_a_record_that_cannot_be(tmp_path):
    made = loading.from_values(
        values(("a", "test_sayer"), ("b", "test_sayer"), draw=DRAW | {"after": 0}, game="test_nim(heap=30)")
    )
    fixture = round_robin(2, 2)[0]
    record = play_fixture(made, fixture)
    assert record.reason == Reason.ADJUDICATED_DRAW and fault_of(made, fixture, record) is None
    assert "its score is 1.0" in fault_of(made, fixture, replace(record, score=1.0))
    assert "its outcome is None" in fault_of(made, fixture, replace(record, outcome=None))
