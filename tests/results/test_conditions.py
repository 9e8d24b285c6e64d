"""Runs with several conditions: what tells games apart, and what is never mixed."""

import pytest

from arena import results
from arena.results.database.conditions import budget_name, conditions_of
from arena.results.database.store import Store
from arena.results.files.csv_reader import from_csv
from arena.results.files.exchange import from_jsonl, to_jsonl
from arena.results.files.pgn import to_pgn
from arena.results.files.pgn_reader import from_pgn
from arena.results.shown.export import render
from arena.results.shown.tables import pairs
from tests.results.sample import AGENTS, configuration, make_game

BUDGETS = ({"playouts": 100}, {"playouts": 1000})
CONFIG = configuration("hex(size=5)", "nogo", budgets=BUDGETS)
ANN, BOB = (agent["name"] for agent in AGENTS[:2])


def games():
    """Two openings of each condition; ann wins everything in hex, and one of two games in nogo."""
    for condition in range(4):
        for opening in range(2):
            for side, (first, second) in enumerate(((ANN, BOB), (BOB, ANN))):
                outcome = float(first == ANN) if condition < 2 else 1.0
                yield make_game(
                    f"{condition}-{opening}-{side}", 4 * condition + 2 * opening + side, first, second, outcome,
                    condition=condition, opening=opening,
                )  # fmt: skip


@pytest.fixture
def tournament(tmp_path):
    with Store.create(tmp_path / "run", {"config": CONFIG}, AGENTS[:2]) as store:
        store.add_all(games())
    return results.load(tmp_path / "run")


def test_conditions_are_numbered_by_instance_and_budget():
    found = conditions_of(CONFIG)
    assert [condition.number for condition in found] == [0, 1, 2, 3]
    assert [condition.label for condition in found[1:3]] == ["hex(size=5), 1000 playouts", "nogo, 100 playouts"]
    assert found[3].limits == {"playouts": 1000} and found[0].spec == "hex(size=5)"
    assert budget_name({}) == "" and budget_name({"depth": 4, "seconds": 0.5}) == "depth 4, 0.5 s"
    assert budget_name({"nodes": 10_000_000}) == "10000000 nodes"


def test_labels(tournament):
    assert tournament.instances == ["hex(size=5)", "nogo"] and tournament.budgets == ["100 playouts", "1000 playouts"]
    frame = tournament.table("games")
    assert frame.columns[:6].tolist() == ["id", "number", "condition", "instance", "budget", "opening"]
    assert frame.set_index("id").loc["1-0-0", ["instance", "budget"]].tolist() == ["hex(size=5)", "1000 playouts"]


def test_one_condition_needs_no_labels(folder):
    tournament = results.load(folder)
    assert tournament.instances == ["tictactoe"] and tournament.budgets == [""] and len(tournament.conditions) == 1
    assert not {"instance", "budget"} & set(tournament.games) and "ratings" not in tournament.kinds


def test_openings_are_shared_within_a_condition_alone(tournament):
    row = tournament.pairs().iloc[0]
    assert row[["LL", "LD", "WL_DD", "WD", "WW"]].tolist() == [0, 0, 4, 0, 4]
    mixed = pairs(tournament.names, tournament.games.assign(condition=0)).iloc[0]
    assert mixed[["LL", "LD", "WL_DD", "WD", "WW"]].sum() == 0  # eight games of one opening are no pair


def test_the_same_moves_in_two_games_repeat_nothing(tournament):
    assert tournament.repeats.groupby(tournament.games["condition"]).sum().tolist() == [2, 2, 2, 2]


def test_resampled_pairs_are_of_one_condition(tournament):
    """All pairs of a game are alike here, so that drawing anew within each condition changes nothing."""
    frame = tournament.bootstrap(samples=20)
    assert frame["samples"].tolist() == [20, 20] and (frame["low"] == frame["high"]).all()


def test_standings_over_all_and_of_each(tournament):
    frame = tournament.table("ratings")
    assert frame.columns[:4].tolist() == ["instance", "budget", "rank", "agent"]
    blocks = list(dict.fromkeys(zip(frame["instance"], frame["budget"])))
    assert blocks[0] == ("all", "all") and blocks[4] == ("nogo", "1000 playouts") and len(frame) == 10
    assert frame["games"].tolist() == [16, 16] + 8 * [4]
    assert tournament.standings()["score"].tolist() == [0.75, 0.25]
    assert tournament.standings(condition=2)["score"].tolist() == [0.5, 0.5]
    assert tournament.standings(condition=0)["bound"].tolist() == [">", "<"]
    with pytest.raises(ValueError, match="condition = 4 is out of range: the run has 0 to 3"):
        tournament.standings(condition=4)


@pytest.mark.parametrize("kind", ["pairs", "differences", "win_rates"])
def test_tables_have_rows_for_each_condition(kind, tournament):
    """Those of all conditions together come first where they mean something."""
    frame = tournament.table(kind)
    assert frame.columns[:2].tolist() == ["instance", "budget"] and frame.attrs["kind"] == kind
    blocks = list(dict.fromkeys(zip(frame["instance"], frame["budget"])))
    assert blocks[: len(blocks) - 4] == ([] if kind == "win_rates" else [("all", "all")])
    for one, block in zip(tournament.conditions, blocks[-4:], strict=True):
        own = frame[(frame["instance"] == block[0]) & (frame["budget"] == block[1])]
        alone = getattr(tournament.at([one.number]), kind)()
        assert block == (one.instance, one.budget) and own.iloc[:, 2:].reset_index(drop=True).equals(alone)
    assert "hex(size=5)" in render(frame, "text")


def test_a_part_of_a_run_is_a_run(tournament):
    part = tournament.at([2, 3])
    assert part.instances == ["nogo"] and part.budgets == tournament.budgets and len(part.games) == 8
    assert len(part.moves()) == 24 and part.win_rates()["games_first"].tolist() == [4, 4]
    assert part.games["number"].tolist() == list(range(8, 16)) and part.pairs()["WL_DD"].tolist() == [4]


def test_records_go_out_and_come_in_again(tournament):
    played = list(games())
    assert from_jsonl("".join(map(to_jsonl, played))) == played
    keys = [(game.condition, game.opening) for game in played]
    for back in (
        from_pgn("".join(to_pgn(game, "any") for game in played)),
        from_csv(render(tournament.table("games"), "csv")),
    ):
        openings = [game.opening for game in back]
        assert len(set(openings)) == 8 and len(set(zip(keys, openings))) == 8
    assert [game.condition for game in back] == [game.condition for game in played]


def test_imported_conditions_have_numbers(tmp_path):
    with Store.create(tmp_path, {}, AGENTS[:2]) as store:
        store.add_all(games())
    run = results.load(tmp_path)
    assert run.instances == ["game 1", "game 2", "game 3", "game 4"] and "ratings" in run.kinds


def test_scores_at_several_budgets(tmp_path):
    config = configuration("samegame(seed=1)", "samegame(seed=2)", budgets=BUDGETS, format="single_player")
    with Store.create(tmp_path, {"config": config}, AGENTS[:1]) as store:
        for number in range(8):
            store.add(
                make_game(
                    str(number), number, second=None, outcome=None, score=10.0 * (number % 4) + number // 4,
                    condition=number % 4, opening=number // 4, decisions=(),
                )
            )  # fmt: skip
    run = results.load(tmp_path)
    frame = run.table("scores").set_index(["instance", "budget"])
    assert frame.loc[("samegame(seed=2)", "100 playouts"), "mean"] == 20.5
    assert frame.loc[("all instances", "1000 playouts"), "mean"] == 10.5 + 30.5 and len(frame) == 6
