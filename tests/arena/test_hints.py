"""Mistakes that people make, and the line or the word that mends each."""

from dataclasses import dataclass

import pytest
import typer

from arena import agents, games
from arena.agents.core.agent import METHODS, OTHER_NAMES, registry
from arena.agents.core.needs import FOR_ONE
from arena.agents.montecarlo.method import registry as methods
from arena.cli import app
from arena.commands.hints import MEANT
from arena.config import loading
from arena.config.config import ConfigError
from arena.games.core.shared.describe import sizes
from arena.games.core.shared.registry import SYNONYMS, SpecError
from arena.results.database.store import Store, StoreError
from tests.arena.stored import store_run


def test_other_names_and_synonyms_are_of_agents_and_parameters_that_there_are():
    known = registry.classes()
    assert {meant.partition("(")[0].partition(",")[0] for meant in OTHER_NAMES.values()} <= known.keys()
    assert not OTHER_NAMES.keys() & known.keys() and set(METHODS) == methods.classes().keys() - known.keys()
    for meant in OTHER_NAMES.values():
        agents.make(meant.partition(",")[0])
    parameters = {name for cls in known.values() for name in vars(cls() if False else cls).get("__match_args__", ())}
    assert set(SYNONYMS.values()) <= parameters


@pytest.mark.parametrize("spec, message", [
    ("mcts(playouts=9)", "unknown agent 'mcts': here it is uct; known: "),
    ("NegaScout", "here it is alphabeta, whose scout = true"),
    ("puct", r"here it is uct\(methods='puct'\)"),
    ("utc", "did you mean 'uct'"),
    ("tree(lock=free)", "^free is text, which needs quotes: 'free'$"),
    ("root(search=grave, playouts=3)", "^grave is text, which needs quotes"),
    ("tree(threads=4)", "has no parameter 'threads': here it is workers; it is tree"),
    ("uct(simulations=4)", "here it is playouts"), ("uct(exploraton=1)", "did you mean 'exploration'"),
    ("tree(simulated=1)", "simulated = 1 should be true or false"),
])  # fmt: skip
def test_specs(spec, message):
    with pytest.raises(SpecError, match=message):
        agents.make(spec)


@pytest.mark.parametrize("line, end", [
    (["tournament"], "No such command 'tournament'. Did you mean: arena run tournament.toml\n"),
    (["list", "uct"], "No such command 'uct'. For its parameters: arena list agents uct\n"),
    (["list", "connect4"], "For its parameters: arena list games connect4\n"),
    (["table", "x", "--kind", "crosstabel"], "'throughput', 'trials'. Did you mean crosstable?\n"),
    (["table", "x", "--kind", "zzz"], "'throughput', 'trials'.\n"),
    (["tree", "tictactoe", "--moves", "b2"], "here (did you mean 2b?); legal: "),
    (["table", "nowhere"], "no tournament in nowhere: there is no such folder\n"),
    (["play"], "Missing argument 'GAME'. For example: arena play breakthrough\n"),
    (["nothing-like-it"], "No such command 'nothing-like-it'.\n"),
    (["plot", "runs/none"], "Missing argument 'KIND'. One of ratings, crosstable, "),
    (["export", "x", "y"], "(y). For example: arena export runs/first --output games.jsonl\n"),
    (["play", "hex", "--agent", "uct"], "agent is written without --agent. For example: arena play breakthrough\n"),
    (["evaluate", "chess", "--only", "queens"], "a term has a weight: --only 'queens=1'"),
    (["solve", "go(size=19"], "(parameter=value, ...): a ) is missing\n"),
    (["elo", "nothing.pgn"], "a run is a folder, which arena import nothing.pgn makes of a file of games\n"),
    (["run", "--game", "morpion", "--agent", "nrpa", "--games", "1"], "; with restarts=false it needs none"),
    (["plan", "connect4", "--nodes", "9"], "no plan after 9 nodes; --nodes sets the limit of nodes\n"),
])  # fmt: skip
def test_lines(line, end, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as stopped:
        app(line)
    assert stopped.value.code == 2 and end in capsys.readouterr().err.replace("│", "").replace("  ", "")


def test_runs_with_names_like_that_of_a_folder_that_is_not_there_are_named(tmp_path):
    for name in ("first", "second"):
        store_run(tmp_path / name)
    with pytest.raises(StoreError, match=r"there is no such folder \(did you mean \S*first\?\)$"):
        Store.open(tmp_path / "frist")
    (tmp_path / "frist").mkdir()
    with pytest.raises(StoreError, match="there is no file"):
        Store.open(tmp_path / "frist")


def test_a_game_that_does_not_say_its_sizes_has_the_ranges_of_its_numbers():
    @dataclass(frozen=True)
    class Squares(games.Game):
        size: int = 4
        swap: bool = False
        ranges = {"size": (3, 10)}

    assert sizes(Squares) == "size 3 to 10" and sizes(type(games.make("go"))) == "size 2 to 19"
    assert sizes(type(games.make("tictactoe"))) == "one size"


def test_commands_that_are_meant_are_there():
    commands = typer.main.get_command(app).commands
    assert {meant.split()[0] for meant in MEANT.values()} <= commands.keys() and not MEANT.keys() & commands.keys()


@pytest.mark.parametrize("text, message", [
    ("game = connect4", 'text needs quotes: game = "connect4"'),
    ('[[agents]]\nagent = "tree(search="uct")"', """quotes stands in single ones: agent = 'tree(search="uct")'"""),
    ('agents = ["tree(search="uct(playouts=3)")"]', """stands in single ones: 'tree(search="uct(playouts=3)")'"""),
    ("games = = 3", "Invalid value"),
])  # fmt: skip
def test_quotes(text, message, tmp_path):
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(ConfigError) as raised:
        loading.load(tmp_path / "t.toml")
    assert message in str(raised.value)


def test_a_key_below_the_agents_belongs_above():
    with pytest.raises(ConfigError, match=r"agents\[1\].games = 4: .* stands above the first \[\[agents\]\]; here are"):
        loading.from_values({"game": "hex", "agents": [{"agent": "random"}, {"agent": "random", "games": 4}]})


def test_games_for_one_player_have_players():
    ours = {name: cls for name, cls in registry.classes().items() if cls.__module__.startswith("arena.agents.")}
    assert set(FOR_ONE) == {name for name, cls in ours.items() if 1 in cls.needs.players} - {"external"}
    assert "nmcs, nrpa, beam_nrpa, sp_mcts, expectimax, flat, random play it" in agents.make("uct").refuses(
        games.make("samegame")
    )
