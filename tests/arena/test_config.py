"""Every way in which a configuration can be wrong, and what the error says of it."""

import os
import re
import sys

import pytest

from arena import games
from arena.config import config, loading
from arena.config.config import ConfigError
from arena.config.sizes import in_bytes
from arena.games.core.shared.registry import spell
from tests.arena.conftest import PLUGIN, values

GOOD = {"game": "tictactoe", "games": 4, "agents": [{"agent": "random"}, {"agent": "random", "name": "other"}]}


def wrong(**changes):
    merged = GOOD | changes
    return {key: value for key, value in merged.items() if value is not ...}


def entries(*given):
    return [{"agent": "random"} | entry for entry in given]


BAD = [
    (wrong(game=...), "game: is missing"),
    (wrong(games=...), "games: is missing"),
    (wrong(agents=...), "agents: is missing"),
    (wrong(games=3), "games = 3: is odd, but games come in pairs that share an opening"),
    (wrong(games=0), "games = 0: is out of range; games, for each pair of agents, is an even number from 2"),
    (wrong(games=True), "games = True: is not a whole number"),
    (wrong(games="4"), "games = '4': is not a whole number"),
    (wrong(games=4.0), "games = 4.0: is not a whole number"),
    (wrong(opening_plies=-1), "opening_plies = -1: is out of range"),
    (wrong(opening_plies=9), "opening_plies = 9: tictactoe is over within 9 random plies"),
    (wrong(seed=-1), "seed = -1: is out of range; seed is a whole number from 0 to 2**63 - 1"),
    (wrong(seed=2**63), "is out of range"),
    (wrong(seed=False), "seed = False: is not a whole number"),
    (wrong(game=7), "game = 7: is not text"),
    (wrong(game="tictacto"), "game = 'tictacto': unknown game 'tictacto' (did you mean 'tictactoe'?)"),
    (wrong(game="tictactoe(rows=3)"), "has no parameter 'rows'"),
    (wrong(game="tictactoe("), "is not of the form"),
    (wrong(game="breakthrough(rows=9, columns=9)"), "game = 'breakthrough(rows=9, columns=9)': "),
    (wrong(gams=4), "gams = 4: unknown key (did you mean 'games'?); known: game, instances, games,"),
    (wrong(budget=5), "budget = 5: is not a table"),
    (wrong(budget={"playouts": 0}), "budget.playouts = 0: is out of range; playouts is a whole number from 1"),
    (wrong(budget={"playouts": 1.5}), "budget.playouts = 1.5: is not a whole number"),
    (wrong(budget={"playouts": True}), "budget.playouts = True: is not a whole number"),
    (wrong(budget={"seconds": -0.5}), "budget.seconds = -0.5: is out of range"),
    (wrong(budget={"seconds": float("inf")}), "budget.seconds = inf: is not a finite number"),
    (wrong(budget={"seconds": True}), "budget.seconds = True: is not a number"),
    (wrong(budget={"nodes": 10**30}), "is out of range; nodes is a whole number from 1 to 10"),
    (wrong(budget={"depht": 3}), "budget.depht = 3: unknown key (did you mean 'depth'?)"),
    (
        wrong(agents=5),
        'agents = 5: is not a list; agents is a list of at least two agents, such as "random", or tables [[agents]]',
    ),
    (wrong(agents={"agent": "random"}), "is not a list"),
    (wrong(agents=entries({})), "has 1 of them; agents is a list of at least two"),
    (wrong(agents=[3, "random"]), "agents[0] = 3: is not a table"),
    (wrong(agents=["random", "random"]), "has the same name"),
    (wrong(agents=[{"name": "a"}, {"agent": "random"}]), "agents[0].agent: is missing"),
    (wrong(agents=entries({}, {"agent": 3})), "agents[1].agent = 3: is not text"),
    (wrong(agents=entries({}, {"agent": "randm"})), "agents[1].agent = 'randm': unknown agent 'randm' (did you mean"),
    (wrong(agents=entries({}, {"agent": "random(k=1)"})), "agents[1].agent = 'random(k=1)': random has no parameter"),
    (wrong(agents=entries({}, {"nam": "x"})), "agents[1].nam = 'x': unknown key (did you mean 'name'?)"),
    (wrong(agents=entries({}, {})), "agents[1].agent = 'random': agents[0] has the same name; give each a name"),
    (wrong(agents=entries({"name": "x"}, {"name": "x"})), "agents[1].name = 'x': agents[0] has the same name"),
    (wrong(agents=entries({}, {"name": "random"})), "agents[1].name = 'random': agents[0] has the same name"),
    (
        wrong(agents=entries({"name": "\u00e9"}, {"name": "e\u0301"})),
        "agents[0] has the same name",
    ),  # two forms of a letter
    (wrong(agents=entries({}, {"name": ""})), "agents[1].name = '': is empty; name is text of 1 to 80"),
    (wrong(agents=entries({}, {"name": "a\tb"})), "has characters that cannot be printed"),
    (wrong(agents=entries({}, {"name": "n" * 81})), "has 81 characters"),
    (wrong(budgets=[{"playouts": 5}, {"playouts": 5}]), "has the same budget twice"),
    (wrong(pairings=5), "pairings = 5: is not a list; pairings, if only some agents are to meet, is a list of pairs"),
    (wrong(pairings=[["random"]]), "pairings[0]"),
    (wrong(pairings=[["random", "uct"]]), "pairings[0] = ['random', 'uct']: 'uct' is the name of none of the agents"),
    (wrong(pairings=[["other", "other"]]), "pairings[0] = ['other', 'other']: pairs an agent with itself"),
    (wrong(pairings=[["random", "other"], ["other", "random"]]), "pairings[1] = ['other', 'random']: is there twice"),
    (wrong(game_seconds=0), "game_seconds = 0: is out of range"),
    (wrong(time_margin="1"), "time_margin = '1': is not a number"),
    (wrong(plugins=["no.such.module"]), "plugins[0] = 'no.such.module': cannot be imported: ModuleNotFoundError"),
    (wrong(plugins="os"), "plugins = 'os': is not a list"),
    (wrong(plugins=[4]), "plugins[0] = 4: is not text"),
    (values("random", "test_picky(nodes=4)"), "test_picky has no parameter 'nodes'"),
    (values("random", "test_picky", budget={"nodes": 4}), "agents[1].agent = 'test_picky': test_picky does not like"),
    (values("random", "test_late", budget={"depth": 4}), "test_late needs a budget of seconds, not depth"),
    (values("random", "test_late"), "or give the key budget"),
    (
        values("random", "test_odd", game="test_puzzle"),
        "test_odd plays games for two players, and test_puzzle is for one",
    ),
]


@pytest.mark.parametrize("keys, message", BAD, ids=[message[:40] for _, message in BAD])
def test_a_wrong_configuration_is_named(keys, message):
    with pytest.raises(ConfigError) as error:
        loading.from_values(keys, "some.toml")
    assert message in str(error.value)
    assert all(line.startswith("some.toml: ") for line in str(error.value).splitlines())


def test_every_problem_is_told_at_once():
    keys = wrong(games=3, seed=-1, game="chess960", agents=entries({"agent": "nobody"}, {"name": ""}), colour="red")
    with pytest.raises(ConfigError) as error:
        loading.from_values(keys)
    told = {problem.split(" = ")[0].removeprefix("the command line: ") for problem in error.value.problems}
    assert told == {"games", "seed", "game", "agents[0].agent", "agents[1].name", "colour"}
    assert len(error.value.problems) == 6


FILES = [
    (b"game = ", "is not TOML: Invalid value (at end of document)"),
    (b"game = 'a'\ngame = 'b'\n\n", "line 2, column 11"),
    (b"a = " + b"[" * 5000, "is nested too deeply"),
    (b"game = '\xff'", "byte 8 is not UTF-8"),
]


@pytest.mark.parametrize("content, message", FILES)
def test_a_file_that_is_not_toml(tmp_path, content, message):
    path = tmp_path / "t.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as error:
        loading.load(path)
    assert message in str(error.value) and str(path) in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="there is no such file"):
        loading.load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="is a folder"):
        loading.load(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "t.toml"
    path.touch(mode=0)
    with pytest.raises(ConfigError, match="cannot be read"):
        loading.load(path)


def test_resolved_spells_out_the_defaults(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(
        'game = "breakthrough(6, 5)"\ngames = 4\nbudget = { seconds = 1 }\n'
        '[[agents]]\nagent = " random ( ) "\n[[agents]]\nagent = "random"\nname = "b"\n'
    )
    resolved = loading.load(path).resolved()
    assert resolved == {
        "instances": ["breakthrough(rows=6, columns=5)"],
        "games": 4,
        "format": "round_robin",
        "opening_plies": 2,
        "seed": 0,
        "budgets": [{"seconds": 1.0}],
        "resign": None,
        "draw": None,
        "agents": [{"name": "random", "agent": "random"}, {"name": "b", "agent": "random"}],
        "game_seconds": 3600.0,
        "time_margin": 1.0,
        "move_seconds": 600.0,
        "compile_seconds": 300.0,
        "memory": None,
        "disk": None,
        "hosts": 32,
        "plugins": [],
        "plugin_path": None,
        "pairings": [],
    }


@pytest.mark.parametrize("text, size", [
    ("1GB", 1 << 30), ("1.5 GB", 3 << 29), ("1500MB", 1500 << 20), ("0.001MB", 1048), (None, None),
])  # fmt: skip
def test_sizes_are_in_powers_of_two(text, size):
    assert in_bytes(text) == size


def test_the_least_sizes_and_the_longest_name_are_in_range():
    least = {"memory": "1GB", "disk": "1MB"}
    made = loading.from_values(values(("n" * 80, "random"), "random", **least))
    assert made.agents[0][0] == "n" * 80 and {key: made.values[key] for key in least} == least
    for key, size in (("memory", "1023MB"), ("disk", "0.999MB")):
        with pytest.raises(ConfigError, match="is too little for a"):
            loading.from_values(values("random", ("b", "random"), **{key: size}))


def test_resolved_can_be_read_again():
    resolved = loading.from_values(values("random", ("odd", "test_odd(pause=0.5)"), seed=2**63 - 1)).resolved()
    assert loading.from_values(resolved).resolved() == resolved


def test_a_plugin_beside_the_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "a_plugin_of_this_test.py").write_text("LOADED = True\n")
    path = tmp_path / "t.toml"
    path.write_text(
        'game = "tictactoe"\ngames = 2\nplugins = ["a_plugin_of_this_test"]\n'
        '[[agents]]\nagent = "random"\n[[agents]]\nagent = "random"\nname = "b"\n'
    )
    assert loading.load(path).values["plugins"] == ["a_plugin_of_this_test"]


def test_what_a_resumed_run_may_change():
    stored = loading.from_values(GOOD).resolved()
    assert config.differences(stored, stored) == []
    assert config.differences(stored, stored | {"games": 8, "game_seconds": 5.0, "time_margin": 2.0}) == []
    assert config.differences(stored, stored | {"games": 2}) == [
        "games = 2, but the run was started with 4; it may only grow"
    ]
    assert config.differences(stored, stored | {"pairings": [["random", "other"]]}) == [
        "pairings = [['random', 'other']], but the run was started with []; it may only grow"
    ]
    some = stored | {"pairings": [["random", "other"]]}
    assert (
        config.differences(some, stored)
        == config.differences(some, some | {"pairings": [["other", "random"], ["a", "b"]]})
        == []
    )
    lines = config.differences(stored, stored | {"seed": 1, "plugins": [PLUGIN]})
    assert lines[0].startswith("plugins = ") and lines[1] == "seed = 1, but the run was started with 0"


def test_a_run_of_an_earlier_version_is_resumed():
    """Earlier versions stored games with all parameters."""
    stored = loading.from_values(GOOD | {"game": "connect4"}).resolved()
    earlier = stored | {"instances": [spell(games.make("connect4"))]}
    assert earlier != stored and config.differences(earlier, stored) == []
    unknown = stored | {"instances": ["not_installed(rows=6)"]}
    assert config.differences(unknown, stored)[0].startswith("instances = ['connect4'], but the run was started with")


def test_counts_may_be_written_as_1e3():
    entries = [{"agent": "uct(playouts=1e3)"}, {"agent": "random"}]
    made = loading.from_values(GOOD | {"agents": entries, "budget": {"playouts": 2e3}})
    assert made.resolved()["budgets"] == [{"playouts": 2000}] and made.agents[0][1].playouts == 1000
    assert made.resolved()["agents"][0]["name"] == "uct(playouts=1000)"
    assert isinstance(made.resolved()["budgets"][0]["playouts"], int)


def test_agents_are_named_as_they_are_typed():
    typed = [{"agent": "nmcs(level=2)"}, {"agent": "nmcs(1)"}, {"agent": "nmcs()"}]
    made = loading.from_values({"game": "leftmove", "games": 1, "budget": {"playouts": 5}, "agents": typed})
    assert [name for name, _ in made.agents] == ["nmcs(level=2)", "nmcs(level=1)", "nmcs"]
    assert loading.from_values(made.resolved()).resolved() == made.resolved()


def test_a_range_in_an_agent_stands_for_several():
    keys = {"game": "tictactoe", "games": 2, "budget": {"playouts": 5}}
    made = loading.from_values(keys | {"agents": ["uct", "tree(workers=1..3, simulated=true)"]})
    assert [agent.workers for _, agent in made.agents[1:]] == [1, 2, 3]
    assert [name for name, _ in made.agents] == ["uct", *(f"tree(workers={n}, simulated=True)" for n in (1, 2, 3))]
    for entry, message in (
        ("tree(workers=3..1)", "agents[1].agent = 'tree(workers=3..1)': has a range that ends before it begins"),
        ({"agent": "tree(workers=1..2)", "name": "t"}, "agents[1].name = 't': is one name for the several agents"),
    ):
        with pytest.raises(loading.ConfigError, match=re.escape(message)):
            loading.from_values(keys | {"agents": ["uct", entry]})
