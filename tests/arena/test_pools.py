"""Pools: an agent joins a stored run, and runs are merged into one."""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import arena
from arena import results
from arena.agents.core.agent import registry
from arena.cli import app
from arena.config.config import ConfigError
from arena.config.trust import import_plugin
from arena.results.database.store import Store
from arena.study import pools
from tests.arena.stored import store_run
from tests.arena.test_run_files import write_book

POOL = ["random", "flat(playouts=2)", "flat(playouts=8)", "uct(playouts=20)"]
KEYS = {"game": "tictactoe", "games": 40, "seed": 3, "workers": 2}
NEW = "uct(playouts=6)"


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pool") / "pool"
    arena.run(**KEYS, agents=POOL, out=folder)
    return folder


def copied(pool, tmp_path):
    target = tmp_path / pool.name
    target.mkdir()
    (target / "tournament.sqlite").write_bytes((pool / "tournament.sqlite").read_bytes())
    return target


def test_an_agent_joins_a_round_robin(pool, tmp_path):
    before, folder, told = results.load(pool), copied(pool, tmp_path), []
    joined = arena.join(folder, NEW, error=60, workers=2, tell=told.append)
    place = [agent["name"] for agent in joined.agents].index(NEW)
    assert place == 4 and joined.ratings.error[place] <= 60
    assert "uct(playouts=6) meets" in told[0] and len(told) > 1
    old = joined.games[joined.games["id"].isin(before.games["id"])]
    assert old.reset_index(drop=True).equals(before.games)  # nothing of the pool is played again
    assert joined.meta["joined"][0]["agents"] == [NEW] and joined.meta["joined"][0]["games"] == len(before)
    new = joined.games[~joined.games["id"].isin(before.games["id"])]
    assert ((new["first"] == NEW) | (new["second"] == NEW)).all()
    assert not new["number"].isin(before.games["number"]).any()
    again = arena.join(folder, NEW, error=60, workers=1)
    assert len(again) == len(joined)
    more = arena.join(folder, NEW, error=50, workers=1)
    assert len(more) > len(joined) and more.ratings.error[place] <= 50


@pytest.mark.slow
def test_it_is_the_same_on_any_number_of_workers_and_after_a_stop(pool, tmp_path):
    one, two = copied(pool, tmp_path / _made(tmp_path, "a")), copied(pool, tmp_path / _made(tmp_path, "b"))
    arena.join(one, NEW, error=60, workers=1)

    class Stop(arena.Events):
        left = 30

        def finished(self, record):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        arena.join(two, NEW, error=60, workers=2, events=Stop)
    assert len(results.load(two)) < len(results.load(one))
    arena.run(results.load(two).meta["config"], two, resume=True, workers=2)
    arena.join(two, NEW, error=60, workers=2)
    rows = [sorted((one.id, one.seed, one.moves) for one in Store.open(folder).records()) for folder in (one, two)]
    assert rows[0] == rows[1]


def _made(tmp_path, name):
    (tmp_path / name).mkdir()
    return name


def test_what_cannot_join(pool, tmp_path):
    folder = copied(pool, tmp_path)
    with pytest.raises(ConfigError, match="random is in the pool already; for another version of it: --version NAME"):
        arena.join(folder, "random")
    joined = arena.join(folder, "random", version="random again", error=90, workers=2)
    assert joined.agents[-1] == {"name": "random again", "spec": "random"}
    with pytest.raises(ConfigError, match="random again is in the pool already"):
        arena.join(folder, NEW, version="random again")
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        arena.join(folder, "nobody")
    alone = tmp_path / "alone"
    arena.run(game="leftmove(depth=5)", agents=["random"], games=2, workers=1, out=alone)
    with pytest.raises(ConfigError, match="nobody is rated"):
        arena.join(alone, "random")
    half = tmp_path / "half"
    with Store.open(folder) as store:
        meta, agents = store.meta, store.agents
    with Store.create(half, {**meta, "config": results.load(pool).meta["config"]}, agents[:4]):
        pass
    with pytest.raises(ConfigError, match="games are missing; to play them first: arena run --out"):
        arena.join(half, NEW)


def test_agents_are_told_apart_by_what_they_are(pool, tmp_path):
    """A default that is written out, another spelling: the same agent."""
    folder = copied(pool, tmp_path)
    for text in ("uct(playouts=20, exploration=0.4)", "uct( playouts = 20 )", "uct(playouts=2e1)", "random()"):
        with pytest.raises(ConfigError, match="is in the pool already; for another version of it: --version NAME"):
            arena.join(folder, text)
    assert len(results.load(folder)) == len(results.load(pool))


@pytest.mark.parametrize("failing", [True, False])
def test_an_agent_is_taken_out_again(pool, tmp_path, failing):
    """One that plays, and a program that fails and leaves games unplayed: the pool is as it was, and takes others."""
    before, folder = results.load(pool), copied(pool, tmp_path)
    new = "external(command='false')" if failing else NEW
    if failing:
        with pytest.raises(arena.Interrupted, match="new raised EngineError in each of its first 8 games"):
            arena.join(folder, new, version="new", games=40, workers=1)
        with pytest.raises(ConfigError, match=r"games are missing.*arena join DIR --drop NAME"):
            arena.join(folder, NEW)
    else:
        arena.join(folder, new, version="new", error=90, workers=2)
    run, kept = pools.drop(folder, "new")
    assert kept.name == "before-drop.sqlite" and run.agents == before.agents
    seen = ["id", "seed", "first", "second", "moves", "outcome"]
    assert run.games[seen].equals(before.games[seen])
    assert np.array_equal(run.ratings.elo, before.ratings.elo) and run.notes() == before.notes()
    assert run.meta["joined"] == [] and len(results.load(folder)) == len(before)
    for name, why in (("nobody", "has no agent nobody; its agents are random"), ("", "has no agent ")):
        with pytest.raises(ConfigError, match=why):
            pools.drop(folder, name)
    done = CliRunner().invoke(app, ["join", str(folder), "--drop", "flat(playouts=2)"])
    assert done.exit_code == 0 and "before-drop-2.sqlite" in done.output
    assert len(arena.join(folder, NEW, error=150, workers=1).agents) == 4
    assert CliRunner().invoke(app, ["join", str(folder), NEW, "--drop", NEW]).exit_code == 2
    assert CliRunner().invoke(app, ["join", str(folder)]).exit_code == 2


@pytest.mark.parametrize("apart, share", [(60, 0.6), pytest.param(100, 0.55, marks=pytest.mark.slow)])
def test_a_newcomer_meets_its_equals_in_half_the_games_of_a_round_robin(apart, share):
    """Simulated: the twentieth agent, to ± 20."""
    rng = np.random.default_rng(1)
    strength = apart * np.arange(20.0)
    needed = []
    for newcomer in (3, 10, 17):
        played = Made(strength, newcomer, rng)
        while batch := pools.next_batch(played, "new", 20.0, 20_000):
            played.play(batch)
        assert played.ratings.error[-1] <= 20
        assert abs(played.ratings.elo[-1] - played.right) < 25
        needed.append(played.games_of_new)
    everybody = [Made(strength, newcomer, rng).round_robin(20.0) for newcomer in (3, 10, 17)]
    assert sum(needed) < share * sum(everybody), (needed, everybody)


class Made:
    """A rated pool, and a newcomer whose games are made up."""

    conditions = (None,)

    def __init__(self, strength, newcomer, rng):
        self.rng, self.agents = (
            rng,
            [{"name": f"a{i}"} for i in range(len(strength)) if i != newcomer] + [{"name": "new"}],
        )
        self.strength = np.append(np.delete(strength, newcomer), strength[newcomer])
        self.right = strength[newcomer] - strength.mean()
        self.matches, n = [], len(strength)
        self.counts = np.zeros((n, n, 3))
        for i in range(n - 1):
            for j in range(n - 1):
                if i != j:
                    self._add(i, j, 100)

    def _add(self, i, j, games):
        chance = 1 / (1 + 10 ** ((self.strength[j] - self.strength[i]) / 400))
        won = self.rng.binomial(games, chance)
        self.counts[i, j] += (won, 0, games - won)

    @property
    def meta(self):
        return {"config": {"matches": self.matches}}

    @property
    def ratings(self):
        from arena.results.statistics.ratings import rate

        return rate([one["name"] for one in self.agents], self.counts)

    @property
    def games_of_new(self):
        return int(self.counts[-1].sum() + self.counts[:, -1].sum())

    def play(self, batch):
        names = [one["name"] for one in self.agents]
        for _, other, begin, end in batch:
            for one, two in ((-1, names.index(other)), (names.index(other), -1)):
                self._add(one, two, end - begin)
        self.matches = [*self.matches, *batch]

    def round_robin(self, error):
        """How many games the newcomer needs if it plays as many against everybody."""
        while not self.games_of_new or not self.ratings.error[-1] <= error:
            for other in range(len(self.agents) - 1):
                self._add(len(self.agents) - 1, other, 5)
                self._add(other, len(self.agents) - 1, 5)
        return self.games_of_new


def test_a_pool_that_knows_itself_badly_is_told():
    apart = np.array([[0.0, 60, 50], [60, 0, 70], [50, 70, 0]])
    for against, told in ((20.0, True), (45.0, False)):  # of a newcomer known to ± 44 in the pool
        apart[2, 0] = apart[0, 2] = against
        ratings = SimpleNamespace(error=np.array([40.0, 50, 44]), difference_error=apart, agents=("a", "b", "new"))
        played = SimpleNamespace(ratings=ratings, agents=[{"name": name} for name in ratings.agents])
        assert pools.limited(played, "new", 50.0) == ""
        found = pools.limited(played, "new", 30.0)
        assert found.startswith("new is known to ± 44 in the pool, and to ± 20 against a") == told


def test_an_agent_of_ones_own_joins(pool, tmp_path):
    folder = copied(pool, tmp_path)
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom arena.agents.random import Random\n\n\n"
        '@dataclass(frozen=True)\nclass Mine(Random):\n    """Draws."""\n\n    name = \'mine\'\n'
    )
    command = [sys.executable, "-m", "arena", "join", str(folder), "mine", "--plugin", "mine", "--error", "100"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "mine" in done.stdout, done.stderr
    config = results.load(folder).meta["config"]
    assert config["plugins"] == ["mine"] and config["plugin_path"] == str(tmp_path)


def test_the_commands(pool, tmp_path):
    folder = copied(pool, tmp_path)
    done = CliRunner().invoke(app, ["join", str(folder), NEW, "--error", "90", "--workers", "2"])
    assert done.exit_code == 0 and NEW in done.stdout and "ranks" in done.output
    again = CliRunner().invoke(app, ["join", str(folder), "random"])
    assert again.exit_code == 2 and "--version NAME" in again.output
    done = CliRunner().invoke(app, ["merge", str(folder), str(pool), "--out", str(tmp_path / "both")])
    assert done.exit_code == 0 and "games of 2 runs are stored" in done.output
    assert CliRunner().invoke(app, ["merge", str(pool), "--out", str(tmp_path / "one")]).exit_code == 2
    done = CliRunner().invoke(app, ["table", str(tmp_path / "both"), "--kind", "ranks", "--json"])
    rows = json.loads(done.stdout)
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5] and all(row["low"] <= row["high"] for row in rows)


# -- Merging ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_are_merged_and_an_agent_joins_them(pool, tmp_path):
    other = tmp_path / "other"
    arena.run(**KEYS | {"seed": 9}, agents=[*POOL[:2], NEW], out=other)
    merged, told = arena.merge([pool, other], tmp_path / "both")
    parts = [results.load(pool), results.load(other)]
    assert told == [] and len(merged) == sum(map(len, parts))
    assert [one["name"] for one in merged.agents] == [*POOL, NEW] and merged.games["id"].is_unique
    for part in parts:  # every game is there, with its seed
        seeds = part.games.set_index("seed")["moves"]
        assert merged.games.set_index("seed")["moves"].loc[seeds.index].equals(seeds)
    joint = results.load(tmp_path / "both").ratings
    assert np.isfinite(joint.elo).all() and all(
        one["games"] == len(part) for one, part in zip(merged.meta["merged"], parts)
    )
    assert len(arena.merge([pool, pool], tmp_path / "twice")[0]) == len(parts[0])  # the same games, once
    grown = arena.join(tmp_path / "both", "flat(playouts=4)", error=80, workers=2)
    assert len(grown) > len(merged) and math.isfinite(grown.ratings.error[-1])


@pytest.mark.parametrize("keys", [
    {"format": "round_robin", "pairings": [["random", "flat(playouts=2)"], ["random", "uct(playouts=20)"]]},
    pytest.param({"format": "gauntlet", "base": "random"}, marks=pytest.mark.slow),
    {"format": "swiss", "rounds": 2},
    pytest.param({"format": "knockout"}, marks=pytest.mark.slow),
    pytest.param({"format": "matches", "matches": [["random", "flat(playouts=2)", 0, 3]]}, marks=pytest.mark.slow),
], ids=lambda keys: keys["format"])  # fmt: skip
def test_runs_of_every_format_are_merged(keys, tmp_path):
    """Their own keys say nothing of the run that is made; its games are those of both."""
    alike = {"game": "tictactoe", "agents": POOL, "workers": 1} | ({} if "matches" in keys else {"games": 8})
    parts = [arena.run(**alike, **keys, seed=seed, out=tmp_path / str(seed)) for seed in (1, 2)]
    merged, _ = pools.merge([part.folder for part in parts], tmp_path / "both")
    assert len(merged) == sum(map(len, parts)) > 0 and merged.meta["config"]["format"] == "matches"
    assert not merged.meta["config"].keys() & keys.keys() - {"format", "matches"}


def test_what_cannot_be_merged(pool, tmp_path):
    for keys, message in (({"game": "connect4"}, "instances = "), ({"opening_plies": 4}, "opening_plies = 4, and")):
        other = tmp_path / message[:6]
        store_run(
            other,
            {"games": 2, "game": "tictactoe", "agents": [{"agent": "random", "name": name} for name in "ab"]} | keys,
        )
        with pytest.raises(ConfigError, match=message):
            arena.merge([pool, other], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_runs_that_contradict_each_other_are_refused(pool, tmp_path):
    """In one game of many, and in either order."""
    with Store.open(pool) as store:
        records, meta, agents = list(store.records()), store.meta, store.agents
    forged = [replace(one, outcome=1 - one.outcome if i == 7 else one.outcome) for i, one in enumerate(records)]
    with Store.create(tmp_path / "forged", meta, agents) as store:
        store.add_all(forged)
    for runs in ((pool, tmp_path / "forged"), (tmp_path / "forged", pool)):
        ids = f"{records[7].id} of {runs[0]} and {records[7].id} of {runs[1]}"
        with pytest.raises(ConfigError, match=f"1 games have the same moves and other results: {ids}"):
            arena.merge(runs, tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_another_agent_of_the_same_name_is_told(tmp_path):
    for folder, agent in (("one", "random"), ("two", "flat(playouts=2)")):
        agents = [{"name": "mine", "agent": agent}, {"name": "base", "agent": "uct(playouts=9)"}]
        arena.run(**KEYS | {"games": 4}, agents=agents, out=tmp_path / folder)
    merged, told = arena.merge([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert [one["name"] for one in merged.agents] == ["mine", "base", "mine (two)"]
    assert "here it is mine (two)" in told[0]


# -- One name, one code -----------------------------------------------------------------------------------------------

MINE = """
import numpy as np
from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer


class Mine(Random):
    name = "mine"

    def new_player(self, game, budget):
        return MinePlayer(game)


class MinePlayer(RandomPlayer):
    def decide(self, state, rng):
        return Decision({which}(self.game.moves(state)))
"""
PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{"id": asked["id"], "name": "mine"}}
    if asked["type"] == "move":
        answer["move"] = {which}(asked["legal"])
    print(json.dumps(answer), flush=True)
    if asked["type"] == "quit":
        break
"""


@pytest.fixture(params=["plug-in", "program", "book"])
def mine(request, tmp_path, monkeypatch):
    """(an agent's text, a function that gives it other code), of each kind that code can be of."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)

    def write(which):
        if request.param == "plug-in":
            shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)  # of a file of the same second and size
            (tmp_path / "mine.py").write_text(MINE.format(which=which))
            sys.modules.pop("mine", None)
            registry._classes.pop("mine", None)
        elif request.param == "program":
            (tmp_path / "mine_program.py").write_text(PROGRAM.format(which=which))
        else:
            write_book(tmp_path / "a.book", {"max": "1a", "min": "2b"}[which])

    write("max")
    specs = {"plug-in": "mine", "program": f"external(command='{sys.executable} mine_program.py')"}
    yield specs.get(request.param, "uct(playouts=5, book='a.book')"), write
    registry._classes.pop("mine", None)
    sys.modules.pop("mine", None)  # or other tests' plug-in of that name would be another module


def keys_of(spec, **more):
    plugins = {"plugins": ["mine"], "plugin_path": os.getcwd()} if spec == "mine" else {}
    others = [{"agent": "random", "name": "base"}, {"agent": "flat(playouts=2)", "name": "flat"}]
    return KEYS | {"games": 4, "workers": 1, "agents": [{"name": "own", "agent": spec}, *others], **plugins, **more}


def test_two_codes_are_two_agents_in_a_merged_run(mine, tmp_path):
    spec, write = mine
    one = arena.run(**keys_of(spec), out=tmp_path / "one")
    same = arena.run(**keys_of(spec, seed=8), out=tmp_path / "same")
    write("min")
    two = arena.run(**keys_of(spec, seed=9), out=tmp_path / "two")
    both, told = arena.merge([one.folder, same.folder], tmp_path / "both")
    assert [agent["name"] for agent in both.agents] == ["own", "base", "flat"] and told == []
    for folders, name in (((both, two), "own (two)"), ((two, both), "own (both)")):
        apart, told = arena.merge([run.folder for run in folders], tmp_path / name)
        assert [agent["name"] for agent in apart.agents] == ["own", "base", "flat", name]
        assert len(told) == 1 and f"has other code, so it is another agent: here it is {name}" in told[0]
        games = apart.standings().set_index("agent")["games"]
        assert sorted((games["own"], games[name])) == [8, 16]
    again, told = arena.merge([apart.folder, one.folder], tmp_path / "again")  # codes are kept on and on
    assert len(again.agents) == 5 and "own of" in told[0]


def test_of_our_own_agents_a_user_may_say_that_they_are_the_same(pool, tmp_path):
    """As after an upgrade, which changes the code of all."""
    folder = copied(pool, tmp_path)
    with Store.open(folder, write=True) as store:
        store.set_meta("codes", {name: code | {"code": "older"} for name, code in store.meta["codes"].items()})
    with pytest.raises(ConfigError, match="its games have other rules than those of"):
        arena.merge([pool, folder], tmp_path / "both")
    both, told = arena.merge([pool, folder], tmp_path / "both", changed=True)
    assert len(both.agents) == len(POOL) == len(told) and all("taken for the same" in text for text in told)
    with pytest.raises(ConfigError, match="and there is no other agent"):
        arena.join(folder, NEW, error=150, workers=1)
    assert len(arena.join(folder, NEW, error=150, workers=1, changed=True).agents) == len(POOL) + 1


def test_who_joins_does_not_meet_an_agent_whose_code_is_gone(mine, tmp_path):
    spec, write = mine
    run, told = arena.run(**keys_of(spec), out=tmp_path / "run"), []
    write("min")
    if "book" in spec:  # the run's own file is another one: nothing is played with it
        with pytest.raises(ConfigError, match=r"a.book.* has changed"):
            arena.join(run.folder, "uct(playouts=3)", error=300, workers=1)
        return
    if spec == "mine":
        import_plugin("mine")  # as --plugin does
    joined = arena.join(run.folder, spec, version="own 2", error=300, workers=1, tell=told.append)
    assert "the code of own is another one by now, so own 2 does not meet them" in told[0]
    new = joined.games.iloc[len(run) :][["first", "second"]].values.ravel()
    assert set(new) == {"own 2", "base", "flat"} and joined.versions == []
    write("max")
    if spec == "mine":
        import_plugin("mine")
    arena.join(run.folder, "uct(playouts=3)", error=300, workers=1, tell=told.append)
    assert "the code of own 2 is another one" in " ".join(told) and "the code of own is" not in " ".join(told[2:])


def test_notes_on_versions_go_along(tmp_path, monkeypatch):
    note = {"versions": [{"digest": "a", "games": 0}, {"digest": "b", "games": 3}]}
    one, two = (store_run(tmp_path / name, {**ALIKE, "seed": seed}) for name, seed in (("one", 1), ("two", 2)))
    with Store.open(one, write=True) as store:
        store.set_meta("versions", note["versions"])
    merged, _ = arena.merge([one, two], tmp_path / "both")
    assert merged.versions == [f"{one}: {text}" for text in results.load(one).versions] != []
    again, _ = arena.merge([merged.folder, store_run(tmp_path / "three", {**ALIKE, "seed": 3})], tmp_path / "again")
    assert str(one) in again.versions[0]
    assert again.versions[0] in again.notes()


ALIKE = {"game": "tictactoe", "games": 2, "agents": [{"agent": "random", "name": name} for name in "ab"]}
