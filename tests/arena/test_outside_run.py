"""Programs as agents in games of a tournament: told of openings, lost by time, and bad ones among good ones."""

import json
import sys
import time

import pytest

import arena
from arena import agents, games, results
from arena.agents.outside.external import Engines
from arena.config import loading
from arena.config.config import ConfigError
from arena.formats.fixture import Fixture
from arena.play.duel import Duel
from arena.play.match import play_fixture
from arena.results.database.record import Reason
from tests.agents import badly
from tests.agents.test_outside import left
from tests.typed import call

RUN = "run", "--agent", "random", "--games", 4, "--workers", 1
SEATS = {"connect4": "1 2", "pig": ""}


def program(mode, **options):
    """The spec of a program of tests/agents/badly.py; its token is its mode."""
    texts = {"command": f"{sys.executable} -I -S {badly.__file__} '{mode}' of-a-run"} | options
    return f"external({', '.join(f'{key}={value!r}' for key, value in texts.items())})"


def one_game(game, opening, first, second):
    """The record of a game."""
    openings = {"openings": [opening]} if opening else {}
    both = [{"agent": first, "name": "first"}, {"agent": second, "name": "second"}]
    config = loading.from_values({"game": game, "games": 2, "agents": both, "budget": {"nodes": 9}, **openings})
    return play_fixture(config, Fixture("1v2-0000", 0, 0, (0, 1), 0, 1))


@pytest.mark.parametrize("game", SEATS)
def test_a_program_knows_the_opening_and_chance(game, tmp_path):
    record = one_game(game, SEATS[game], program("notes", log=str(tmp_path / "log")), "random")
    assert record.reason == Reason.PLAYED_OUT, record.detail
    told = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    assert told["type"] == "game_over" and told["result"] == record.outcome
    assert told["moves"] == [*record.opening_moves.split(), *record.moves.split()]


@pytest.mark.parametrize(
    "mode, reason, detail",
    [
        ("slow", Reason.TIME, "first at ply 2 had not answered after"),
        ("illegal", Reason.ILLEGAL_MOVE, "first at ply 2 answered the move 'z9'; legal: 1 2"),
        ("crashes", Reason.EXCEPTION, "ValueError: the engine's own mistake"),
        ("kills its guard", Reason.EXCEPTION, "first: EngineError: has lost its guard"),
        ("kills both guards", Reason.EXCEPTION, "first: EngineError: has lost its guard"),
    ],
)
def test_reasons_of_forfeits(mode, reason, detail):
    record = one_game("connect4", "1 2", program(mode, seconds=0.1, margin=0.1 if mode == "slow" else 30.0), "random")
    assert (record.reason, record.outcome) == (reason, 0.0) and detail in record.detail


def test_a_program_that_is_not_there_is_told_before_play(tmp_path, monkeypatch):
    """Nothing is left of such a run; one that has all its games needs no program."""
    script = tmp_path / "engine"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {badly.__file__} notes of-a-run\n")
    monkeypatch.chdir(tmp_path)
    config = {"game": "tictactoe", "games": 2, "agents": [{"agent": "external('./engine')"}, {"agent": "random"}]}
    told = r"agents\[0\]\.agent = .*: there is no program './engine'; give its path, .* chmod \+x engine"
    with pytest.raises(ConfigError, match=told):  # it is not executable
        arena.run(config, tmp_path / "run", workers=1)
    assert not (tmp_path / "run").exists()
    script.chmod(0o755)
    assert set(arena.run(config, tmp_path / "run", workers=1).games["reason"]) == {Reason.PLAYED_OUT}
    script.unlink()
    assert len(arena.run(config, tmp_path / "run", workers=1, resume=True)) == 2
    with pytest.raises(ConfigError, match="there is no program"):
        arena.run(config | {"games": 4}, tmp_path / "run", workers=1, resume=True)
    assert len(arena.load(tmp_path / "run")) == 2


def test_a_person_plays_a_program():
    """It is told what was taken back, and a hint comes from a second program."""
    game = games.make("tictactoe")
    duel = Duel(game, agents.make(program("notes")), person=0, seed=1)
    for _ in range(2):
        duel.move(game.parse_move(duel.state, "2b"))
        assert [made.name for made in duel.advance()] == ["1a"]
        assert duel.hint().name == "1b"
        duel.move(game.parse_move(duel.state, "2a"))
        assert [made.name for made in duel.advance()] == ["1b"]
        assert duel.undo() == 2 and duel.undo() == 2 and not duel.names
    Engines.close()


@pytest.mark.slow
def test_every_bad_program_forfeits_alone(tmp_path):
    """A real run: the bad ones lose all, the good ones play on, and nothing is left."""
    entries = [{"agent": "random", "name": "inside"}, {"agent": program("notes"), "name": "good"}]
    entries += [
        {"agent": program(m, seconds=0.2, margin=0.2, patience=3.0, memory=300), "name": m} for m in badly.MODES
    ]
    config = {"game": "connect4", "format": "gauntlet", "games": 2, "opening_plies": 2, "agents": entries}
    begun = time.monotonic()
    run = arena.run(config | {"budget": {"nodes": 5}}, tmp_path / "run", workers=2)
    found = run.games
    assert len(found) == 2 * (len(entries) - 1) and time.monotonic() - begun < 1200
    of_good = found[(found["first"] == "good") | (found["second"] == "good")]
    assert (of_good["reason"] == Reason.PLAYED_OUT).all()
    others = found.drop(of_good.index)
    assert others["reason"].isin(Reason.FORFEITS).all(), others[["first", "second", "reason", "detail"]]
    assert ((others["first"] == "inside") == (others["outcome"] == 1.0)).all()
    said = results.load(tmp_path / "run").meta["machine"]["programs"]
    assert "good is badly notes 0" in said and "banner is a program that fails: wrote 'Welcome" in said
    until = time.monotonic() + 100
    while left("of-a-run") and time.monotonic() < until:
        time.sleep(0.05)
    assert left("of-a-run") == []


def test_games_lost_without_a_move_are_told_in_the_last_line(tmp_path):
    """With exit code 1; an agent that fails later in its games has lost them by what it did."""
    unable = call(*RUN, "--game", "connect4", "--agent", "external(command='false')", "--out", tmp_path / "unable")
    assert unable.exit_code == 1
    told = "external(command='false') lost 4 of its 4 games without a move on record; the first: external(command="
    assert unable.stderr.splitlines()[-1].startswith(told)
    fails = "test_hostile(how='ValueError', at=2)"
    words = "--plugin", "tests.faults.hostile", "--game", "test_count(heap=40)", "--agent", fails
    later = call(*RUN, *words, "--out", tmp_path / "later")
    assert later.exit_code == 0 and "without a move" not in later.stderr, later.output
    for name, expected in (("unable", [("external(command='false')", 4)]), ("later", [])):
        unmoved = results.load(tmp_path / name).unmoved()
        assert list(unmoved[["agent", "games"]].itertuples(index=False, name=None)) == expected
