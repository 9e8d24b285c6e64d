"""Every option of a configuration plays, on games at default and other sizes, and nobody pays for it."""

import pytest

import arena
from arena import agents, games
from arena.agents.outside.serving import JsonServer
from arena.config.keys import CommonKeys
from arena.formats.base import formats
from arena.games.core.shared.registry import describes, spell
from arena.results.database.record import Reason
from arena.results.database.store import Store
from tests.shipped import GAMES

BOARDS = [
    "connect4",
    "breakthrough",
    "nim",
    "connect4(rows=5, columns=4)",
    "breakthrough(rows=5, columns=4)",
    "nim(heaps=[2, 3])",
]
SLOW = pytest.mark.slow
SOME = pytest.mark.parametrize("boards", [BOARDS[2::3], pytest.param(BOARDS, marks=SLOW)], ids=["two boards", "all"])
OPTIONS = {
    "openings": {"openings": ["", "3"], "instances": ["connect4", "connect4(rows=5, columns=4)"]},
    "opening_plies": {"opening_plies": 1},
    "seed": {"seed": 9},
    "budget": {"budget": {"playouts": 4, "depth": 1}, "agents": ["random", "uct", "alphabeta"]},
    "budgets": {"budgets": [{"playouts": 4}, {"playouts": 8}], "agents": ["random", "uct"]},
    "resign": {"resign": {"value": 0.9, "moves": 1}},
    "draw": {"draw": {"value": 0.02, "moves": 2, "after": 2}},
    "agents": {"agents": [{"agent": "random", "name": "one"}, {"agent": "random", "name": "other"}]},
    "game_seconds": {"game_seconds": 500},
    "time_margin": {"time_margin": 5},
    "move_seconds": {"move_seconds": 50},
    "compile_seconds": {"compile_seconds": 500},
    "memory": {"memory": "64GB"},
    "disk": {"disk": "1GB"},
    "hosts": {"hosts": 3},
}
TOGETHER = [  # in one run, to save processes; each by itself is slow
    ["openings", "resign", "draw", "agents"], ["budget"], ["budgets", "opening_plies", "seed"],
    ["game_seconds", "time_margin", "move_seconds", "compile_seconds", "memory", "disk", "hosts"],
]  # fmt: skip
AGENTS = ["random", "uct(playouts=5)"]
ELSEWHERE = {  # keys of plug-ins: test_plugins.py; the others are in every configuration here
    "game", "instances", "games", "format", "plugins", "plugin_path",
}  # fmt: skip


def played(folder, boards, **keys):
    """The records of a run, two games of each pair on each board."""
    arena.run({"instances": boards, "games": 2, "agents": AGENTS} | keys, folder, workers=1)
    with Store.open(folder) as store:
        return list(store.records())


def test_every_key_is_played():
    assert sorted(name for together in TOGETHER for name in together) == sorted(OPTIONS)
    assert OPTIONS.keys() | ELSEWHERE == CommonKeys.model_fields.keys()


@pytest.mark.parametrize("options", [*TOGETHER, *(pytest.param([name], marks=SLOW) for name in OPTIONS)], ids=", ".join)
@SOME
def test_nobody_pays_for_an_option(options, boards, tmp_path):
    keys = {key: value for name in options for key, value in OPTIONS[name].items()}
    records = played(tmp_path / "run", boards, **keys)
    assert len(records) >= 2 * len(keys.get("instances", boards))
    assert not {record.reason for record in records} & {*Reason.FORFEITS, *Reason.VOIDS}


@pytest.mark.parametrize("format", [name for name, kind in formats().items() if kind.players == 2])
@SOME
def test_nobody_pays_for_a_format(format, boards, tmp_path):
    own = {"sprt": {"sprt": {"elo0": 0, "elo1": 300}}, "matches": {"matches": [[*AGENTS, 0, 1]]}}
    keys = own.get(format, {})
    for number, together in enumerate([[board] for board in boards] if formats()[format].adaptive else [boards]):
        records = played(tmp_path / str(number), together, format=format, **keys)
        assert records and not {record.reason for record in records} & {*Reason.FORFEITS, *Reason.VOIDS}


@pytest.mark.parametrize("game", [game for game in GAMES if games.make(game).players == 2])
def test_a_server_knows_its_game_in_every_spelling(game):
    """Also of its moves; and refuses another game."""
    made = games.make(game)
    for spec in {str(made), spell(made), f" {spell(made)} "}:
        assert describes(spec, made)
        server = JsonServer(agents.make("random"), games.make(game), 0)
        request = {"type": "new_game", "game": spec, "budget": {}, "moves": []}
        assert "error" not in server._answer(request)
    assert (
        not describes("tictacto", made) and not describes(f"{made.name}(nothing=1)", made) and not describes("(", made)
    )
