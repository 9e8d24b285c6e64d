"""Stored games that are played again."""

import pytest

import arena
from arena.results.database.store import Store
from arena.study.audit import drawn, restored
from tests.arena.stored import store_run
from tests.typed import as_json, call

KEYS = {"game": "tictactoe", "games": 6, "seed": 2, "agents": ["random", "uct(playouts=9)", "flat(seconds=0.01)"]}


def test_games_that_the_agents_did_not_play_are_found(tmp_path):
    store_run(tmp_path / "run")  # its moves are drawn, and the agents had no part in them
    assert call("check", tmp_path / "run").exit_code == 0
    done = call("check", tmp_path / "run", "--audit", "0.2")
    assert done.exit_code == 1 and "4 games played again here: 4 differ" in done.stdout
    assert done.stderr.count(", played again: ") == 4 and ", and not " in done.stderr


def test_games_that_the_agents_played_are_the_same(tmp_path):
    arena.run(KEYS, tmp_path / "run", workers=2)
    told = as_json("check", tmp_path / "run", "--audit", "1")
    assert told["audited"] == 6 and told["different"] == []  # those of the agent that thinks by the clock are left out


@pytest.mark.parametrize(
    "keys, audited",
    [
        ({"agents": ["random", "flat"], "budgets": [{"playouts": 9}, {"seconds": 0.01}]}, 6),
        ({"agents": ["random", "tree(workers=2, playouts=400)"]}, 0),
        ({"agents": ["random", "tree(workers=2, playouts=40, simulated=true)"]}, 6),
    ],
)
def test_honest_agents_are_no_liars(tmp_path, keys, audited):
    """What depends on a clock or on the timing of threads is left out, in the conditions in which it does."""
    arena.run(KEYS | keys, tmp_path / "run", workers=2)
    told = as_json("check", tmp_path / "run", "--audit", "1")
    assert told["audited"] == audited and told["different"] == []


def test_what_is_drawn_follows_from_the_seed(tmp_path):
    with Store.open(store_run(tmp_path / "run")) as store:
        config, records = restored(store.config), list(store.records())
    ids = [[record.id for record in drawn(config, records, 0.5, seed)] for seed in (1, 1, 2)]
    assert len(ids[0]) == 9 and ids[0] == ids[1] != ids[2]


def test_a_share_is_a_share(tmp_path):
    done = call("check", tmp_path, "--audit", "1.5")
    assert done.exit_code == 2 and "1.5 is out of range" in done.output
