"""Tables of grades, from moves whose values are known by hand."""

import math

import pandas as pd

from arena.results.shown import graded_moves

MOVES = pd.DataFrame(
    [
        ("g0", 0, "a", "x", 1.0, 1.0),  # kept a win
        ("g0", 1, "b", "x", -1.0, -1.0),  # lost already: nothing to lose
        ("g0", 2, "a", "x", 1.0, -1.0),  # threw a win away
        ("g0", 3, "b", "x", 0.0, 0.0),
        ("g1", 0, "a", "x", 0.0, -1.0),  # threw a draw away
        ("g1", 1, "b", "x", math.nan, 1.0),  # not solved
    ],
    columns=["id", "ply", "agent", "move", "before", "after"],
)


def test_by_agent():
    rows = graded_moves.by_agent(MOVES).to_dict("records")
    assert [row["agent"] for row in rows] == ["b", "a"]
    assert rows[0] == {
        "agent": "b",
        "moves": 3,
        "graded": 2,
        "chances": 1,
        "blunders": 0,
        "blunder_rate": 0.0,
        "mean_loss": 0.0,
    }
    assert rows[1] == {
        "agent": "a",
        "moves": 3,
        "graded": 3,
        "chances": 3,
        "blunders": 2,
        "blunder_rate": 2 / 3,
        "mean_loss": 1.0,
    }


def test_by_ply():
    table = graded_moves.by_ply(MOVES).set_index(["agent", "ply"])
    assert table.loc[("a", 0), "blunder_rate"] == 0.5 and table.loc[("a", 2), "mean_loss"] == 2.0
    assert table.loc[("b", 1), "chances"] == 0 and math.isnan(table.loc[("b", 1), "blunder_rate"])


def test_no_moves():
    assert graded_moves.by_agent(MOVES[:0]).empty and len(graded_moves.losses(MOVES)) == 6
