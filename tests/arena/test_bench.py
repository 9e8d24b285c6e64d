"""arena bench: what it measures, and what it says of what cannot be measured."""

import json

import pytest
from typer.testing import CliRunner

from arena import games
from arena.cli import app
from arena.study import bench, meter
from arena.study.meter import Chunk, Subject

FLAT = "flat(playouts=20)"


def call(*arguments):
    return CliRunner().invoke(app, ["bench", "--seconds", "0.01", *arguments])


@pytest.mark.slow
def test_games_and_searches_are_measured_and_a_failure_is_a_row_and_ends_nothing_else():
    """What agents print is not on the standard output, and a process that ends is replaced."""
    odd = [f"test_odd(how={how!r})" for how in ("exit", "raise", "chatter")]
    agents = [word for agent in (*odd, FLAT) for word in ("--agent", agent)]
    done = call("--game", "tictactoe", *agents, "--plugin", "tests.arena.oddities", "--json")
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    (game,), (chatter, agent) = told["games"], told["agents"]
    assert game["game"] == "tictactoe" and game["lanes"] > 0 and 0 < game["compile_seconds"] < 300
    assert (agent["agent"], agent["unit"]) == (FLAT, "playouts") and agent["per_second"] > 0
    assert len(game["chunks"]) == len(agent["chunks"]) == meter.CHUNKS
    assert told["machine"]["cores"] > 0 and told["date"].startswith("20")
    assert [(row["agent"], row["failure"]) for row in told["failures"]] == [
        ("test_odd(how='exit')", "a process of the bench died (exit code 3)"),
        ("test_odd(how='raise')", "ValueError: on purpose"),
    ]
    assert chatter["agent"] == "test_odd(how='chatter')"


def test_the_table_ends_with_the_failures(monkeypatch):
    chunks = [Chunk(units, 50 * units, 2.0, 1.0) for units in (100, 101, 99, 100, 100)]
    playouts = meter.row(Subject("tictactoe"), meter.Playouts(games.make("tictactoe")), 1.0, chunks)
    rows = [playouts, meter.failed(Subject("tictactoe", FLAT), "TypingError: no such function")]
    monkeypatch.setattr(bench, "measure", lambda *arguments: rows)
    done = call()
    assert done.exit_code == 1 and "chunks" not in done.stdout and "Traceback" not in done.output
    assert done.stdout.splitlines()[-1].split(maxsplit=2) == ["tictactoe", FLAT, "TypingError: no such function"]


def test_speeds_are_medians_of_chunks():
    chunks = [Chunk(units, 50 * units, 2.0, 1.0) for units in (100, 101, 99, 100, 130)]
    game = meter.row(Subject("tictactoe"), meter.Playouts(games.make("tictactoe")), 1.0, chunks)
    assert (game["playouts_per_second"], game["cpu_playouts_per_second"], game["ns_per_ply"]) == (50, 100, 4e5)
    agent = meter.row(Subject("tictactoe", FLAT), meter.workload(Subject("tictactoe", FLAT)), 1.0, chunks)
    assert (agent["per_second"], agent["cpu_per_second"], agent["chunks"]) == (50, 100, [100, 101, 99, 100, 130])


def test_searches_are_measured_on_games_that_they_play():
    assert bench.subjects(["tictactoe", "leftmove"], [FLAT]) == [
        Subject("tictactoe"),
        Subject("tictactoe", FLAT),
        Subject("leftmove"),
    ]
    usual = bench.usual_subjects()
    assert {one.game for one in usual if not one.agent} == {str(games.make(name)) for name in games.names()}
    assert {one.game.partition("(")[0] for one in usual if one.agent} == set(bench.SAMPLES)


def test_the_message_of_the_compiler_is_shortened():
    error = TypeError("Failed in nopython mode pipeline (step: x)\n\nUnknown attribute 'y'\n" + "z" * 1000)
    text = meter.failure_in_words(error)
    assert text.startswith("TypeError: Unknown attribute 'y' zzz") and text.endswith("z...") and len(text) < 250


@pytest.mark.parametrize("arguments, message", [
    (["--seconds", "0"], "0 is out of range: it must be more than 0"),
    (["--game", "nosuch"], "unknown game 'nosuch'"),
    (["--game", "nim", "--agent", "nobody"], "unknown agent 'nobody'"),
])  # fmt: skip
def test_mistakes(arguments, message):
    done = call(*arguments)
    assert done.exit_code == 2 and message in " ".join(done.stderr.split()), done.output
