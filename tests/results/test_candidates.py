"""The best few moves of a search: which they are, and the line of text that a record holds."""

from dataclasses import replace

import numpy as np
import pytest

from arena import results
from arena.agents.core.agent import MoveStatistics
from arena.results.database import candidates
from arena.results.database.candidates import MOST, Candidate
from arena.results.database.store import Store
from arena.results.files.exchange import ExchangeError, from_jsonl, to_jsonl
from arena.results.shown.export import render
from tests.results.sample import AGENTS, META, make_game

TEXT = "20 d4 12 0.5 c3 8 nan"


def statistics(visits, values):
    return MoveStatistics(np.arange(len(visits), dtype=np.int32), np.array(visits), np.array(values, float))


def naive(table, chosen):
    """By visits, then by value; the sort is stable."""
    rows = sorted(
        zip(table.moves.tolist(), table.playouts.tolist(), table.means.tolist()),
        key=lambda row: (-row[1], 2.0 if np.isnan(row[2]) else -row[2]),
    )
    few = rows[:MOST]
    if chosen not in [row[0] for row in few]:
        few[-1] = next(row for row in rows if row[0] == chosen)
    return [row[0] for row in few]


def test_the_best_are_those_of_a_plain_sort():
    rng = np.random.default_rng(1)
    for count in [*range(1, 12), 361]:
        for _ in range(20):
            values = rng.integers(-2, 3, count) / 2
            values[rng.random(count) < 0.3] = np.nan
            table, chosen = statistics(rng.integers(0, 4, count), values), int(rng.integers(count))
            found = candidates.best(table, chosen)
            assert found.moves == naive(table, chosen) and found.total == table.playouts.sum()
            assert found.visits == table.playouts[found.moves].tolist() and chosen in found.moves


def test_a_chosen_move_without_statistics_is_not_made_up():
    assert candidates.best(statistics([3, 4], [0, 1]), 7).moves == [1, 0]
    assert candidates.written(candidates.best(statistics([], []), 0), []) is None


@pytest.mark.parametrize(
    ("visits", "values", "text"),
    [
        ([1, 2], [0.5], "statistics of 2 moves have 2 visits and 1 values"),
        ([-1, 2], [0.5, 0], "-1 visits of a move"),
        ([2**62, 2**62], [0, 0], "9223372036854775808 of all"),
        ([1, 2], [0.5, np.inf], "infinite value"),
    ],
)
def test_statistics_that_cannot_be(visits, values, text):
    with pytest.raises(ValueError, match=text):
        candidates.best(statistics(visits, values), 0)


def test_what_is_written_reads_back():
    best = candidates.best(statistics([8, 12, 0], [np.nan, 0.123456789, -1e-9]), 1)
    text = candidates.written(best, ["c3", "d4+", "0-0"])
    assert text == "20 c3 12 0.123457 d4+ 8 nan 0-0 0 -1e-09"
    assert candidates.read(text) == [
        Candidate("c3", 12, 0.6, 0.123457),
        Candidate("d4+", 8, 0.4, None),
        Candidate("0-0", 0, 0.0, -1e-9),
    ]
    assert candidates.read(None) == [] and candidates.read("0 a1 0 nan")[0].share == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20",
        "20 d4",
        "20 d4 12",
        "20 d4 12 inf",
        "20 d4 -1 0",
        "20 d4 12 1e999",
        "20 d4 12 1e+999",
        "20 d4 21 0",
        f"9{' a 1 0' * 6}",
    ],
)
def test_what_does_not_read_is_refused(text):
    with pytest.raises(ValueError, match=r"no list of up to 5 candidates"):
        candidates.read(text)
    one = make_game().decisions[0]
    line = to_jsonl(make_game(decisions=(replace(one, candidates=text),)))
    with pytest.raises(ExchangeError, match="line 1: candidates = "):
        from_jsonl(line)


def test_round_trips(tmp_path):
    one, *others = make_game().decisions
    game = make_game(decisions=(replace(one, candidates=TEXT), *others))
    assert from_jsonl(to_jsonl(game)) == [game]
    with Store.create(tmp_path, META, AGENTS) as store:
        store.add(game)
        assert store.record(game.id) == game
        assert store.select("SELECT candidates FROM moves ORDER BY ply") == [(TEXT,), (None,), (None,)]
    moves = results.load(tmp_path).table("moves")
    assert render(moves, "csv", columns=["candidates"], raw=True).split("\n")[:2] == ["candidates", TEXT]
    assert "candidates" not in render(moves, "text") and TEXT in render(moves, "markdown")
    assert "candidates" not in render(moves[1:], "markdown")
