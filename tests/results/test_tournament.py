"""The tables of a small tournament, against arithmetic by hand."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from arena import results
from arena.results.database.store import Store
from arena.results.shown.kinds import KINDS
from arena.results.shown.tables import _order, standings
from arena.results.statistics import elo
from arena.results.statistics.ratings import count_results, rate
from tests.results.sample import AGENTS, META, make_game

ANN, BOB, CY = (agent["name"] for agent in AGENTS)


@pytest.fixture
def tournament(folder):
    return results.load(folder)


def by_agent(frame):
    return frame.set_index("agent")


def test_games_are_in_schedule_order_whatever_the_order_of_arrival(tournament, games):
    assert tournament.games["id"].tolist() == [game.id for game in games]
    assert tournament.games["seed"].tolist() == [game.seed for game in games]
    assert tournament.meta == META and tournament.agents == AGENTS


def test_standings(tournament):
    frame = by_agent(tournament.standings())
    columns = ["games", "wins", "draws", "losses", "void", "forfeits"]
    assert frame.loc[ANN, columns].tolist() == [6, 4, 1, 1, 1, 0]
    assert frame.loc[BOB, columns].tolist() == [7, 2, 1, 4, 0, 0]
    assert frame.loc[CY, columns].tolist() == [3, 1, 0, 2, 1, 1]
    assert frame["score"].to_dict() == pytest.approx({ANN: 4.5 / 6, BOB: 2.5 / 7, CY: 1 / 3})
    assert frame["elo"].is_monotonic_decreasing and frame["elo"].sum() == pytest.approx(0, abs=1e-6)
    assert frame["rank"].tolist() == [1, 2, 3] and (frame["error"] > 0).all()
    best, second = frame.index[:2]
    assert frame["los"].iloc[0] == tournament.ratings.los(best, second) and np.isnan(frame["los"].iloc[2])


def test_agents_that_are_not_placed_stand_between_estimates_and_upper_bounds():
    columns = {"bound": ["<", "", "", ">"], "elo": [-90.0, np.nan, 5.0, 90.0], "score": [0.3, 0.0, 0.5, 1.0]}
    assert _order(pd.DataFrame(columns)).tolist() == [3, 2, 1, 0]


def test_crosstable(tournament):
    scores, numbers = tournament.crosstable(), tournament.crosstable("games")
    assert list(scores.index) == list(scores.columns) == tournament.standings()["agent"].tolist()
    assert scores.loc[ANN, BOB] == 0.7 and scores.loc[BOB, ANN] == pytest.approx(0.3)
    assert scores.loc[ANN, CY] == 1 and scores.loc[BOB, CY] == 0.5 and np.isnan(scores.loc[CY, CY])
    assert numbers.loc[ANN, BOB] == 5 and numbers.loc[CY, ANN] == 1 and numbers.loc[CY, BOB] == 2
    with pytest.raises(ValueError, match="score, games"):
        tournament.crosstable("wins")


def test_pairs(tournament):
    frame = tournament.pairs().set_index(["a", "b"])
    counts = ["games", "wins", "draws", "losses", "void", "LL", "LD", "WL_DD", "WD", "WW"]
    assert frame.loc[(ANN, BOB), counts].tolist() == [5, 3, 1, 1, 0, 0, 0, 0, 1, 1]
    assert frame.loc[(ANN, CY), counts].tolist() == [1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    assert frame.loc[(BOB, CY), counts].tolist() == [2, 1, 0, 1, 0, 0, 0, 1, 0, 0]
    assert frame["score"].tolist() == pytest.approx([0.7, 1, 0.5])
    of_pairs = elo.pentanomial([0, 0, 0, 1, 1])
    assert frame.loc[(ANN, BOB), "elo"] == of_pairs.elo and frame.loc[(ANN, BOB), "error"] == of_pairs.error
    assert frame.loc[(ANN, CY), "bound"] == ">" and np.isnan(frame.loc[(ANN, CY), "error"])


def test_differences(tournament):
    frame, ratings = tournament.differences().set_index(["agent", "against"]), tournament.ratings
    assert len(frame) == 6
    assert frame.loc[(ANN, CY), "elo"] == pytest.approx(ratings.elo[0] - ratings.elo[2])
    assert frame.loc[(CY, BOB), "error"] == ratings.difference_error[2, 1] > 0
    assert frame.loc[(BOB, ANN), "los"] == ratings.los(BOB, ANN)


def test_win_rates(tournament):
    frame = by_agent(tournament.win_rates())
    assert frame["games_first"].to_dict() == {ANN: 3, BOB: 3, CY: 2}
    assert frame["games_second"].to_dict() == {ANN: 3, BOB: 4, CY: 1}
    assert frame["score_first"].to_dict() == pytest.approx({ANN: 0.5, BOB: 1 / 3, CY: 0.5})
    assert frame["score_second"].to_dict() == pytest.approx({ANN: 1.0, BOB: 1.5 / 4, CY: 0.0})
    # ann decides once in each of 4 games as first player, twice in each of 3 as second
    assert frame.loc[ANN, "seconds_per_move"] == pytest.approx((4 * 0.5 + 6 * 0.25) / 10)
    assert frame.loc[ANN, "playouts_per_move"] == 100 and frame.loc[ANN, "nodes_per_move"] == 60
    assert frame["plies_per_game"].tolist() == [4, 4, 4]


def test_moves(tournament):
    frame = tournament.moves()
    assert len(frame) == 9 * 3 and frame["id"].iloc[0] == "0-0-a"
    assert frame["agent"].iloc[:3].tolist() == [BOB, ANN, BOB] and frame["ply"].iloc[:3].tolist() == [1, 2, 3]
    assert frame["playouts"].dtype == "Int64" and frame["playouts"].isna().sum() == 18


def test_notes(tournament):
    first, second = tournament.notes()[:2]
    assert "1 of 9 games was void" in first and "1 crash" in first
    assert "1 of 9 games was lost by forfeit" in second and "1 time" in second


def test_a_loaded_tournament_does_not_change(folder):
    before = results.load(folder)
    with Store.open(folder, write=True) as store:
        store.add(make_game("late", 9))
    assert len(before.moves()) == 27 and len(before.games) == 9
    after = results.load(folder)
    assert len(after.games) == 10 and len(after.moves()) == 30


def test_unknown_table_and_missing_folder(tournament, tmp_path):
    with pytest.raises(ValueError, match="standings, crosstable"):
        tournament.table("ranking")
    with pytest.raises(results.StoreError, match="no tournament"):
        results.load(tmp_path)


def test_nothing_played(tmp_path):
    Store.create(tmp_path, {}, AGENTS).close()
    tournament = results.load(tmp_path)
    lengths = {kind: len(tournament.table(kind)) for kind in KINDS}
    assert lengths == {
        "standings": 3,
        "crosstable": 3,
        "pairs": 0,
        "differences": 6,
        "ranks": 3,
        "games": 0,
        "moves": 0,
        "win_rates": 3,
    }
    assert tournament.standings()["games"].sum() == 0


def test_one_player_games(tmp_path):
    with Store.create(tmp_path, {}, AGENTS) as store:
        store.add(make_game(second=None, outcome=None, score=12.0, decisions=()))
    run = results.load(tmp_path)
    row = by_agent(run.table()).loc[ANN]
    assert run.single_player and row[["rank", "runs", "mean"]].tolist() == [1, 1, 12.0]
    with pytest.raises(results.StoreError, match="games for one player, which nobody wins"):
        run.standings()


def test_bounds_stand_where_they_belong(tmp_path):
    """bob beats ann and cy always, ann and cy draw; then ann, who is not placed, does not overtake a winner."""
    with Store.create(tmp_path, {}, AGENTS) as store:
        for number, (first, second, outcome) in enumerate(((BOB, ANN, 1.0), (CY, BOB, 0.0), (ANN, CY, 0.5))):
            store.add(make_game(str(number), number, first, second, outcome))
    frame = results.load(tmp_path).standings()
    assert frame["agent"].iloc[0] == BOB and frame["bound"].tolist() == [">", "", ""]
    assert frame["los"].iloc[0] == 0.75  # one win to none


def test_of_agents_with_bounds_the_higher_score_comes_first():
    """c loses to a many times and beats d always; d has lost to a twice: its bound is far above."""
    names = list("abcd")
    counts = [("a", "b", 1.0, 30), ("a", "b", 0.0, 30), ("a", "c", 1.0, 50), ("c", "d", 1.0, 10), ("a", "d", 1.0, 2)]
    rows = [(*row[:3], "played out") for row in counts for _ in range(row[3])]
    games = pd.DataFrame(rows, columns=["first", "second", "outcome", "reason"])
    frame = standings(names, games, rate(names, count_results(names, games))).set_index("agent")
    assert frame.index[-2:].tolist() == ["c", "d"] and frame["bound"][-2:].tolist() == ["<", "<"]
    assert frame.loc["d", "elo"] > frame.loc["c", "elo"] and frame.loc["c", "los"] > 0.5


def test_an_agent_that_is_not_placed_stands_between_the_bounds(tmp_path):
    """ann beats bob and bob beats cy: nothing is known of bob against the pool's mean."""
    with Store.create(tmp_path, {}, AGENTS) as store:
        for number, (first, second) in enumerate(((ANN, BOB), (BOB, CY))):
            store.add(make_game(str(number), number, first, second, 1.0))
    frame = results.load(tmp_path).standings()
    assert frame["agent"].tolist() == [ANN, BOB, CY] and frame["bound"].tolist() == [">", "", "<"]
    assert np.isnan(frame["elo"].iloc[1])


def test_two_games_of_one_side_are_no_pair(tmp_path):
    with Store.create(tmp_path, {}, AGENTS) as store:
        for number in range(2):
            store.add(make_game(str(number), number, ANN, BOB, 1.0))
    row = results.load(tmp_path).pairs().iloc[0]
    assert row["games"] == 2 and row[["LL", "LD", "WL_DD", "WD", "WW"]].sum() == 0


def test_importing_results_is_light():
    code = "import sys, results; results.Store; assert not {'pandas', 'scipy', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
