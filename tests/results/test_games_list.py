"""Games that are wanted, found by the store: those that a plain filter of all finds, in the same order."""

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import results
from arena.results.database.games_list import ORDERS, RESULTS, Wanted, from_texts, page
from arena.results.database.record import Reason
from arena.results.database.store import Store, StoreError
from tests.arena.stored import CONFIG, store_run, store_runs_alone

NAMES = ["", "strong", "middling", "weak", "nobody", "' OR 1=1 --"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with void games, and some that were lost by a failure."""
    folder = store_run(tmp_path_factory.mktemp("list") / "run", {**CONFIG, "games": 20}, void={"1v2-0003", "3v1-0001"})
    with Store.open(folder) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    for number in range(0, len(records), 7):
        if records[number].outcome in (0.0, 1.0):
            records[number] = replace(records[number], reason=Reason.ILLEGAL_MOVE, detail="it played z9")
    with Store.create(folder.parent / "made", meta, agents) as store:
        store.add_all(records[::-1])
    return folder.parent / "made"


def is_wanted(row, wanted):
    """The same in plain Python, of a row of the table of games."""
    players = {row.first, row.second}
    if not {wanted.agent, wanted.against} - {""} <= players or (wanted.agent and wanted.agent == wanted.against):
        return False
    points = row.outcome if not wanted.agent or wanted.agent == row.first else 1 - row.outcome
    if wanted.result and {1.0: "won", 0.5: "drawn", 0.0: "lost"}.get(points, "void") != wanted.result:
        return False
    loser = {0.0: row.first, 1.0: row.second}.get(row.outcome)
    return (
        wanted.reason in ("", row.reason)
        and (not wanted.blame or (row.reason in Reason.FORFEITS and loser == wanted.blame))
        and (wanted.least or 0) <= row.plies <= (99 if wanted.most is None else wanted.most)
        and wanted.opening in ("", str(row.opening), row.opening_moves, row.opening_moves.split()[0] + " ")
        and wanted.condition in (None, row.condition)
    )


def value_of(number):
    """In the order of SQLite, which has what is missing first."""
    return float("-inf") if number != number else number


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.builds(
        Wanted,
        agent=st.sampled_from(NAMES),
        against=st.sampled_from(NAMES),
        result=st.sampled_from(["", *RESULTS]),
        reason=st.sampled_from(["", Reason.PLAYED_OUT, Reason.ILLEGAL_MOVE, "%"]),
        blame=st.sampled_from(["", "strong", "weak"]),
        least=st.sampled_from([None, 0, 12, 15]),
        most=st.sampled_from([None, 14, 20]),
        opening=st.sampled_from(["", "3", "17", "z"]),
        condition=st.sampled_from([None, 0, 1]),
    ),
    st.sampled_from(sorted(ORDERS)),
    st.booleans(),
    st.integers(0, 130),
    st.integers(1, 50),
)
def test_a_page_is_what_a_plain_filter_finds(folder, wanted, order, down, begin, size):
    games = results.load(folder).games
    with Store.open(folder) as store:
        ended = {id: number for number, id in store.select("SELECT game, id FROM games")}
        found = page(store, wanted, begin, size, order, down)
    rows = [row for row in games.itertuples() if is_wanted(row, wanted)]
    rows.sort(key=lambda row: ended[row.id])  # games that are alike stay so
    column = {"ended": lambda row: ended[row.id], "scheduled": lambda row: row.number}
    rows.sort(key=column.get(order, lambda row: value_of(getattr(row, order))), reverse=down)
    assert found.found == len(rows)
    assert found.ids == [row.id for row in rows[begin : begin + size]]
    assert [row["id"] for row in found.rows] == found.ids


def test_the_least_and_the_most_plies_are_among_those_wanted(folder):
    plies = results.load(folder).games["plies"]
    with Store.open(folder) as store:
        for number in (plies.min(), int(plies.median()), plies.max()):
            assert page(store, Wanted(least=int(number), most=int(number)), 0, 9).found == (plies == number).sum()


@pytest.mark.parametrize("result, points", [("won", 1.0), ("lost", 0.0)])
def test_games_that_an_agent_won_are_its_own_whoever_moved_first(folder, result, points):
    games = results.load(folder).games
    first, second = (games["first"] == "weak") & (games["outcome"] == points), games["second"] == "weak"
    wanted = games.loc[first | second & (games["outcome"] == 1 - points), "id"]
    with Store.open(folder) as store:
        found = page(store, Wanted(agent="weak", result=result), 0, 500).ids
    assert sorted(found) == sorted(wanted) and 0 < first.sum() < len(found)


def test_openings_by_their_moves(folder):
    games = results.load(folder).games
    moves = games["opening_moves"].iloc[0]
    first = moves.split()[0]
    with Store.open(folder) as store:
        whole = page(store, Wanted(opening=f" {moves} "), 0, 500)
        part = page(store, from_texts({"opening": f"{first} {moves.split()[1]}"}), 0, 500)
    assert sorted(whole.ids) == sorted(games.loc[games["opening_moves"] == moves, "id"]) == sorted(part.ids)


def test_games_for_one_player_by_score(tmp_path):
    folder = store_runs_alone(tmp_path / "alone")
    with Store.open(folder) as store:
        found = page(store, Wanted(agent="nested"), 0, 9, "score", True)
        assert [row["score"] for row in found.rows] == sorted((row["score"] for row in found.rows), reverse=True)
        assert found.found == 4 and page(store, Wanted(result="void"), 0, 9).found == 0


def test_a_damaged_game_is_told_apart(folder, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "tournament.sqlite").write_bytes((folder / "tournament.sqlite").read_bytes())
    with sqlite3.connect(copy / "tournament.sqlite") as connection:
        connection.execute("UPDATE games SET plies = plies + 1 WHERE game = 3")
    connection.close()
    with Store.open(copy) as store:
        found = page(store, Wanted(), 0, 10)
    assert [row is None for row in found.rows] == [number == 2 for number in range(10)] and len(found.ids) == 10


@pytest.mark.parametrize("given, why", [
    ({"least": "x"}, "least = x: is no whole number"), ({"most": "-1"}, "most = -1"), ({"condition": "1.5"}, "cond"),
])  # fmt: skip
def test_numbers_that_are_none(given, why):
    with pytest.raises(StoreError, match=why):
        from_texts(given)


def test_words_that_there_are_not(folder):
    with Store.open(folder) as store:
        with pytest.raises(ValueError, match="result 'x' is not one of won, drawn, lost, void"):
            page(store, Wanted(result="x"), 0, 1)
        with pytest.raises(ValueError, match="order 'x' is not one of"):
            page(store, Wanted(), 0, 1, "x")
