"""Runs of games for one player: configuration, schedule, play, store, tables and commands."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

import arena
from arena import games, results
from arena.config import loading
from arena.config.config import ConfigError
from arena.play.adjudication import Adjudication, Adjudicator
from arena.play.game_calls import GameError
from arena.play.match import Match, play_fixture
from arena.results.database.record import Reason
from arena.results.database.store import Store
from tests.arena.conftest import PLUGIN, essence
from tests.arena.fixtures import single_player
from tests.typed import call

AGENTS = [{"agent": "random"}, {"agent": "nmcs(level=1)", "name": "nested"}]
KEYS = {
    "instances": ["leftmove", "morpion(variant='4D')"],
    "games": 3,
    "seed": 5,
    "budget": {"playouts": 40},
    "agents": AGENTS,
}


def stored(folder):
    with Store.open(folder) as store:
        ids = [row[0] for row in store.select("SELECT id FROM games ORDER BY number")]
        return [essence(store.record(id)) for id in ids]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solo") / "run"
    arena.run(KEYS, folder, workers=1)
    return folder


def test_ranges_stand_for_instances_and_defaults_are_left_out():
    resolved = loading.from_values(KEYS | {"instances": ["leftmove(depth=2..4)", "weakschur"]}).resolved()
    assert resolved["instances"] == [f"leftmove(depth={n})" for n in (2, 3, 4)] + ["weakschur"]
    assert not {"game", "opening_plies", "pairings"} & resolved.keys()
    assert loading.from_values(resolved).resolved() == resolved
    one = loading.from_values({key: value for key, value in KEYS.items() if key != "instances"} | {"game": "leftmove"})
    assert one.resolved()["instances"] == ["leftmove"]


BAD = [
    ({"instances": []}, "instances = []: is empty; a tournament needs one at least"),
    ({"instances": "leftmove"}, "instances = 'leftmove': is not a list"),
    ({"instances": ["leftmov"]}, "instances[0] = 'leftmov': unknown game 'leftmov' (did you mean 'leftmove'?)"),
    (
        {"instances": ["leftmove", "tictactoe"]},
        "leftmove is for one player and tictactoe for two players; a run has games of one kind",
    ),
    ({"instances": ["leftmove", "leftmove(60)"]}, "leftmove is there twice"),
    ({"instances": ["leftmove(depth=9..5)"]}, "has a range that ends before it begins"),
    ({"instances": ["leftmove(depth=1..99999)"]}, "stands for 99,999; 10,000 are the most"),
    ({"game": "leftmove"}, "cannot be given together with game; a configuration has one of the two"),
    ({"agents": []}, "agents = []: has 0 of them; agents is a list of at least one table [[agents]]"),
    ({"opening_plies": 2}, "opening_plies = 2: is for two players; here each agent plays by itself"),
    ({"pairings": [["random", "nested"]]}, "is for two players; here each agent plays by itself"),
    ({"agents": [{"agent": "uct"}]}, "agents[0].agent = 'uct': uct plays games for two players, and leftmove is"),
    ({"games": 0}, "games = 0: is out of range"),
]


@pytest.mark.parametrize("change, message", BAD, ids=[message[:30] for _, message in BAD])
def test_a_wrong_configuration_is_named(change, message):
    with pytest.raises(ConfigError) as error:
        loading.from_values(KEYS | change)
    assert message in str(error.value)


def test_the_schedule_has_every_agent_on_every_instance():
    fixtures = single_player(3, 2, 4, 1)
    assert len(fixtures) == 24 == len({f.id for f in fixtures}) == len({f.seed for f in fixtures})
    assert [f.number for f in fixtures] == list(range(24))
    assert [f.id for f in fixtures[:7]] == [
        "1on1-0000",
        "2on1-0000",
        "3on1-0000",
        "1on2-0000",
        "2on2-0000",
        "3on2-0000",
        "1on1-0001",
    ]
    assert {(*f.seats, f.condition, f.opening) for f in fixtures} == {
        (a, i, r) for a in range(3) for i in range(2) for r in range(4)
    }
    assert fixtures == single_player(3, 2, 9, 1)[:24]


def test_what_a_run_stores(run):
    with Store.open(run) as store:
        record = store.record("2on1-0002")
        assert (record.first, record.second, record.outcome, record.reason) == ("nested", None, None, Reason.PLAYED_OUT)
        game = games.make("leftmove")
        assert game.score(game.read_line(record.moves)[1]) == record.score == record.improvements[-1].score
        assert record.plies == 60 == len(record.decisions) and record.decisions[0].playouts == 40
        assert not store.record("1on2-0000").improvements and store.record("1on2-0000").score > 0


def test_an_improvement_is_better_than_the_last():
    match = Match(games.make("leftmove"), single_player(1, 1, 1, 1)[0], [], Adjudicator(Adjudication(), ("a",)))
    scores = [2.0, 2.0, 1.0, 3.0]
    found = [SimpleNamespace(playouts=number, seconds=0.5 * number, score=score) for number, score in enumerate(scores)]
    match._note_improvements(SimpleNamespace(improvements=found))
    assert [(one.playouts, one.seconds, one.score) for one in match.improvements] == [(0, 0.0, 2.0), (3, 1.5, 3.0)]


def test_workers_and_resumption_make_no_difference(run, tmp_path):
    arena.run(KEYS | {"games": 1}, tmp_path / "other", workers=2)
    arena.run(KEYS, tmp_path / "other", workers=2, resume=True)
    assert stored(tmp_path / "other") == stored(run) and len(stored(run)) == 12


def test_a_run_that_fails_counts_as_failed_and_costs_no_other(tmp_path):
    agents = [{"agent": "random"}, {"agent": "test_odd_solo(how='raise', at=2)", "name": "odd"}]
    keys = {"game": "test_puzzle", "games": 2, "plugins": [PLUGIN], "agents": agents}
    tournament = arena.run(keys, tmp_path, workers=1)
    failed = tournament.games[tournament.games["first"] == "odd"]
    assert (
        set(failed["reason"]) == {Reason.EXCEPTION} and failed["score"].isna().all() and failed["outcome"].isna().all()
    )
    table = tournament.scores().set_index("agent")
    assert table.loc["odd", ["runs", "failed"]].tolist() == [0, 2] and table.loc["random", "runs"] == 2
    assert tournament.notes() == ["2 of 4 games were broken off by a fault of the agent (2 exception)."]


def test_rules_that_ask_for_a_second_player_are_no_agents_fault():
    keys = {
        "game": "test_puzzle(fault='two players')",
        "games": 1,
        "plugins": [PLUGIN],
        "agents": [{"agent": "random"}],
    }
    with pytest.raises(GameError, match="player 1 is to move, and it has 1"):
        play_fixture(loading.from_values(keys), single_player(1, 1, 1, 0)[0])


def test_a_configuration_knows_its_instances():
    made = loading.from_values(KEYS)
    assert made.players == 1 and [game.name for game in made.instances] == ["leftmove", "morpion"]
    record = play_fixture(made, single_player(2, 2, 1, 5)[3])
    assert record.id == "2on2-0000" and record.condition == 1 and record.moves.count(":") == record.plies


def test_tables(run):
    rows = json.loads(call("table", run, "--format", "json").stdout)
    assert [row["instance"] for row in rows] == ["leftmove"] * 2 + ["morpion(variant='4D')"] * 2 + ["all instances"] * 2
    assert [row["rank"] for row in rows] == [1, 2] * 3 and rows[0]["agent"] == "nested"
    assert rows[4]["mean"] == pytest.approx(sum(row["mean"] for row in rows[:4] if row["agent"] == rows[4]["agent"]))
    lines = call("table", run, "--kind", "improvements", "--format", "csv").stdout.splitlines()
    assert lines[0] == "id,instance,agent,playouts,seconds,score" and all(",nested," in line for line in lines[1:])
    assert "1on1-0000" in call("table", run, "--kind", "games").stdout
    refused = call("table", run, "--kind", "standings")
    assert refused.exit_code == 2 and "scores, study, games, moves, improvements" in refused.stderr


def test_show_verifies_the_sequence(run, tmp_path):
    shown = call("show", run, "2on1-0000")
    assert shown.exit_code == 0 and "verified by the rules" in shown.stdout and "after 1 playouts" in shown.stdout
    drawn = call("show", run, "2on2-0001", "--output", tmp_path / "grid.svg")
    text = (tmp_path / "grid.svg").read_text()
    plies = int(drawn.stdout.split("After ")[1].split()[0])
    assert (
        drawn.exit_code == 0
        and text.startswith("<svg ")
        and f">{plies}</text>" in text
        and f">{plies + 1}</text>" not in text
    )
    assert call("show", run, "2on1-0000", "--output", tmp_path / "left.svg").exit_code == 0
    assert "left of 60 moves" in (tmp_path / "left.svg").read_text()  # a game without a board is drawn as its text


def test_show_says_when_the_store_is_wrong(run, tmp_path):
    with Store.open(run) as source, Store.create(tmp_path, source.meta, source.agents) as target:
        target.add(replace(source.record("2on1-0000"), score=99.0))
    wrong = call("show", tmp_path, "2on1-0000")
    assert wrong.exit_code == 2 and "but 99 is stored" in wrong.stderr


def test_commands_for_two_players_refuse_with_the_reason(run, tmp_path):
    for arguments in (("elo", run), ("export", run, "--format", "pgn")):
        refused = call(*arguments)
        assert refused.exit_code == 2 and "one" in refused.stderr and "Traceback" not in refused.output
    assert "12 of 12 games" in call("status", run).stdout
    exported = [json.loads(line) for line in call("export", run).stdout.splitlines()]
    assert len(exported) == 12 and exported[1]["improvements"][0]["playouts"] == 1
    assert "leftmove" in results.load(run)._repr_html_()


def test_curves_go_on_to_the_end_of_the_budget(run):
    for line in results.load(run).plot.best_so_far().lines:
        assert line.get_xdata()[-1] == 40, "the playouts of a run"


def test_curve(run, tmp_path):
    for name in ("curve.svg", "curve.png"):
        done = call("plot", run, "curves", "--output", tmp_path / name, "--against", "playouts")
        assert done.exit_code == 0 and (tmp_path / name).stat().st_size > 5000
    for arguments, message in [
        (("--output", tmp_path / "curve.txt"), "a picture is one of .svg, .png, .pdf"),
        (("--output", tmp_path / "c.svg", "--instance", 3), "--instance 3 is out of range; this run has 1 to 2"),
    ]:
        refused = call("plot", run, "curves", *arguments)
        assert refused.exit_code == 2 and message in " ".join(refused.stderr.replace("│", " ").split())


def test_a_run_from_the_command_line(tmp_path):
    done = call(
        "run",
        "--game",
        "leftmove",
        "--agent",
        "random",
        "--agent",
        "nmcs(level=1)",
        "--games",
        3,
        "--budget",
        "playouts=20",
        "--out",
        tmp_path / "run",
        "--workers",
        1,
    )
    assert done.exit_code == 0, done.stderr
    assert "leftmove: 2 agents, 3 runs of each" in done.stderr and "6 of 6 games stored" in done.stderr
    assert done.stdout.splitlines()[0].split()[:3] == ["instance", "rank", "agent"]
    assert f"arena plot {tmp_path / 'run'} curves" in done.stderr
