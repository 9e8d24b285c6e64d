"""The scripts of docs/speed that solve positions, on small ones."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena import games

SPEED = Path(__file__).parents[1] / "docs" / "speed"


def script(name, folder=SPEED):
    """A script, as a module."""
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", folder / f"{name}.py")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def records():
    return script("records")


@pytest.mark.slow
def test_a_record_has_its_value_and_what_it_cost(records):
    row = records.measured(records.Record("tictactoe", "dfpn", all_moves=True), 1.0)
    assert row["value"] == "draw" and len(row["best"]) == 9 and row["nodes"] > 100 and not row["unsolved"]
    assert row["command"] == 'arena solve "tictactoe" --agent "dfpn"'
    assert "tictactoe: draw" in records.text_of(json.loads(json.dumps(row)))


@pytest.mark.plain
def test_a_record_that_takes_too_long_is_not_solved(records):
    row = records.measured(records.Record("tictactoe", "dfpn"), 0.0)
    assert row["value"] == "not solved" and row["unsolved"] == "not solved in 0 minutes"


def test_every_record_is_a_position_that_can_be_solved(records):
    for record in records.RECORDS:
        game = games.make(record.game)
        assert not game.is_over(game.read_line(record.moves)[1])


def test_positions_for_threads_are_random_and_not_over():
    threads, game = script("threads"), games.make("connect4")
    first, second = (threads.random_position(game, 9, seed) for seed in (1, 2))
    assert game.plies_left(first) == game.plies_left(second) == 33 and first.tolist() != second.tolist()
    assert threads.random_position(games.make("tictactoe"), 10, 1) is None


def test_solvers_for_threads_are_told_apart_and_have_one_table():
    threads = script("threads")
    assert threads.same_alone("alphabeta(sharing='ybwc', workers=2)", "alphabeta(sharing='lazy')")
    assert not threads.same_alone("alphabeta(symmetries=true)", "alphabeta")
    assert [threads.with_workers(spec, 2).table for spec in ("dfpn", "dfpn(table=64)")] == [512, 64]


def test_what_two_threads_do_not_solve_counts(monkeypatch):
    """One thread takes 10 seconds; two take 5, or are stopped after three times 25."""
    threads = script("threads")
    timings = iter([threads.Timing(1, 150, 5.0, 1.0), threads.Timing(None, 900, 75.0, 1.0)])
    monkeypatch.setattr(threads, "GAMES", {"tictactoe": (2, 1, 2)})
    monkeypatch.setattr(threads, "compile_all", lambda *_: None)
    monkeypatch.setattr(threads, "positions", lambda *_: [("", "", threads.Timing(1, 100, 10.0, 1.0))] * 2)
    asked = []
    monkeypatch.setattr(threads, "timed", lambda *arguments: (asked.append(arguments[3:]), next(timings))[1])
    rows = threads.compared(["dfpn"], 1.0, 25.0)["dfpn"]
    assert rows == [("tictactoe", False, 2.0, 1.5), ("tictactoe", True, 10 / 75, 9.0)] and asked == [(2, 75.0)] * 2


@pytest.mark.parametrize(
    "command, told",
    [
        ("threads nosuch", "unknown agent 'nosuch'"),
        ("threads minimax", "minimax has no threads to solve with"),
        ("shared_tree nosuch", "unknown game 'nosuch'"),
        ("records --only nosuch", "no position has 'nosuch' in its line"),
    ],
)
def test_scripts_say_what_is_wrong(command, told, monkeypatch, capsys):
    name, *words = command.split()
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
    with pytest.raises(SystemExit, match="2"):
        script(name).main()
    assert f"{name}.py: error: {told}" in capsys.readouterr().err


def test_foresight_knows_its_games():
    """In a process of its own: the script registers games."""
    done = subprocess.run([sys.executable, "foresight.py", "nosuch"], cwd=SPEED, capture_output=True, text=True)
    assert done.returncode == 2 and "error: no position's game has 'nosuch' in its name" in done.stderr


def test_perft_needs_python_chess(monkeypatch, capsys):
    perft = script("perft", SPEED.parent / "engines")
    monkeypatch.setattr(sys, "argv", ["perft.py"])
    monkeypatch.setattr(perft.shutil, "which", lambda *_, **__: "stockfish")
    monkeypatch.setattr(perft.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match="2"):
        perft.main()
    assert "error: there is no python-chess to compare with" in capsys.readouterr().err


@pytest.mark.slow
def test_a_game_without_foresight_is_the_same_game():
    """In a process of its own: the script registers games."""
    line = "from foresight import *; print(row_of('connect4(rows=4, columns=4)', '1 1 2 2', ALPHABETA, 5.0))"
    done = subprocess.run([sys.executable, "-c", line], cwd=SPEED, capture_output=True, text=True, check=True)
    cells = [cell.strip() for cell in done.stdout.split("|")]
    assert cells[1] == "connect4(rows=4, columns=4) 1 1 2 2" and cells[-2] == "draw"
    assert int(cells[3].split()[0].replace(",", "")) > int(cells[4].split()[0].replace(",", "")) > 0


def test_claims_are_counted_and_false_ones_are_told(monkeypatch):
    claims = script("claims")
    met, made, settled, wrong = claims.claims_of("connect4(rows=4, columns=5)", 60, 20_000, 7)
    assert met >= 60 and made == settled > 3 and wrong == 0
    monkeypatch.setattr(claims, "contradicted", lambda game, state, plies, exact, limit: "player 0 wins")
    assert claims.claims_of("connect4(rows=4, columns=5)", 60, 20_000, 7)[3] == made
    monkeypatch.setattr(claims, "contradicted", lambda game, state, plies, exact, limit: None)
    assert claims.claims_of("connect4(rows=4, columns=5)", 60, 20_000, 7)[2:] == (0, 0)
