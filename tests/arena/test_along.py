"""How ratings and tests came about: the last point is what the tables say, and the others what they said then."""

from dataclasses import replace

import numpy as np
import pytest

from arena import results
from arena.formats.schedule import Schedule
from arena.games.core.shared.errors import UserError
from arena.report import along, pieces
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.statistics.ratings import count_results, rate
from tests.arena.stored import CONFIG, store_run, store_runs_alone

SPRT = {
    **CONFIG, "format": "sprt", "games": 60, "sprt": {"elo0": 0, "elo1": 200}, "base": "weak",
    "agents": [CONFIG["agents"][0], CONFIG["agents"][2]],
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return results.load(store_run(tmp_path_factory.mktemp("along") / "run", {**CONFIG, "games": 40}))


@pytest.mark.parametrize("games", [0, 1, 39, 40, 41, 99, 100, 100_000, 123_456])
def test_few_steps_that_stay_while_games_come_in(games):
    found = along.steps(games)
    assert len(found) <= along.POINTS + 1 and found == sorted(set(found)) and (found[-1:] == [games] or games == 0)
    if games > 1:
        assert len(set(found[:-1]) & set(along.steps(games + 1))) >= len(found[:-1]) // 3


def test_ratings_at_every_step_are_those_of_the_games_until_then(run):
    frame = along.ratings(run)
    with Store.open(run.folder) as store:
        ended = [id for (id,) in store.select("SELECT id FROM games ORDER BY game")]
    assert frame["games"].unique().tolist() == along.steps(120)
    games = run.games.set_index("id")
    for end, part in frame.groupby("games"):
        counts = count_results(run.names, games.loc[ended[:end]].reset_index())
        expected = dict(zip(run.names, rate(run.names, counts).elo))
        np.testing.assert_allclose(part["elo"], [expected[name] for name in part["agent"]], atol=1e-6, equal_nan=True)
    last = frame[frame["games"] == 120].set_index("agent")
    table = run.standings().set_index("agent")
    for column in ("elo", "error"):
        np.testing.assert_allclose(last[column], table.loc[last.index, column], atol=1e-9)


def test_games_that_repeat_others_narrow_no_interval(tmp_path):
    """The same games again: the estimates stay, and so do the errors."""
    once = results.load(store_run(tmp_path / "once"))
    with Store.open(once.folder) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    records = [replace(one, reason=Reason.PLAYED_OUT) for one in records]
    with Store.create(tmp_path / "twice", meta, agents) as store:
        store.add_all(records)
        store.add_all(replace(one, id=f"{one.id}-b", number=one.number + 100) for one in records)
    twice = results.load(tmp_path / "twice")
    before, after = (along.ratings(run).groupby("agent").last() for run in (once, twice))
    assert len(twice.repetitions) > 0
    np.testing.assert_allclose(after["error"], before["error"])


def test_who_is_rated_late_moves_nobody_else(tmp_path):
    """One that has lost all is beyond the scale until it wins a game: the others stay where they were."""
    four = {**CONFIG, "games": 40, "agents": [*CONFIG["agents"], {"agent": "random", "name": "loser"}]}
    with Store.open(store_run(tmp_path / "any", four)) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    wins = 1
    with Store.create(tmp_path / "late", meta, agents) as store:
        for number, one in enumerate(records):
            if "loser" in (one.first, one.second):
                late = wins and number >= 200
                wins -= bool(late)
                first = float((one.first == "loser") == bool(late))
                one = replace(one, outcome=first, score=first, reason=Reason.RESIGNED)
            store.add(one)
    run = results.load(tmp_path / "late")
    frame = along.ratings(run).pivot(index="games", columns="agent", values=["elo", "error"])
    error = frame["error"]
    elo = frame["elo"].where(error.notna())
    rated = elo["loser"].first_valid_index()
    assert rated > 200 and elo["loser"].loc[rated:].notna().all()
    others = [name for name in run.names if name != "loser"]
    (moved,) = elo[others].diff().abs().loc[[rated]].to_numpy()
    assert (moved < error[others].loc[rated]).all() and (error[others].diff().loc[rated] < 5).all()
    table = run.standings().set_index("agent")
    np.testing.assert_allclose(elo.iloc[-1], table.loc[elo.columns, "elo"], atol=1e-9)


def test_a_test_ends_where_its_report_says(tmp_path):
    run = results.load(store_run(tmp_path / "sprt", SPRT))
    curves = along.tests(run)
    (report,) = Schedule.of(run).reports()
    curve = curves["strong"]
    assert list(curves) == ["strong"] and curve[0] == (0, 0.0)
    assert curve[-1] == (sum(report["counts"]), report["llr"]) and len(curve) > 5
    assert "llr" in pieces.pieces_of(run.folder).figures()


def test_what_is_drawn(run, tmp_path):
    alone = store_runs_alone(tmp_path / "alone")
    assert {*along.kinds(run)} == {"progress"} and along.kinds(results.load(alone)) == {}
    with pytest.raises(UserError, match=r"llr is not drawn of this run; there are ratings, .*, progress"):
        pieces.pieces_of(run.folder).figure("llr", 3.0)
    with pytest.raises(UserError, match="there are curves"):
        pieces.pieces_of(alone).figure("progress", 3.0)


def test_a_run_without_games_has_no_curve(run, tmp_path):
    with Store.open(run.folder) as source, Store.create(tmp_path / "none", source.meta, source.agents):
        pass
    empty = results.load(tmp_path / "none")
    assert along.ratings(empty).empty
    for kind in pieces.pieces_of(empty.folder).figures():
        if kind not in ("strength",):
            pieces.pieces_of(empty.folder).figure(kind, 3.0)
