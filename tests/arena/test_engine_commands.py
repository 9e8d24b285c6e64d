"""`arena check-engine` and `arena serve-agent`, and a program in a real run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.agents import badly
from tests.arena.test_cli import call, environment

ROOT = Path(__file__).parents[2]
TEMPLATE = f"{sys.executable} -I -S {ROOT / 'docs/engines/engine.py'}"


def bad(mode):
    return f"{sys.executable} -I -S {badly.__file__} '{mode}' x"


def test_check_engine_passes_a_sound_program():
    result = call("check-engine", TEMPLATE, "--game", "tictactoe", "--budget", "nodes=5")
    assert result.exit_code == 0, result.output
    trials = ["hello", "the beginning", "after 4 moves", "after 7 moves", "a game", "good-bye"]
    lines = result.stdout.splitlines()
    assert [line[7:].partition(":")[0] for line in lines[:-1]] == trials
    assert lines[-1].endswith("can play tictactoe") and "random moves 1" in lines[0] and "nodes 1" in lines[1]


@pytest.mark.parametrize(
    "mode, told, mend",
    [
        ("illegal", "answered the move 'z9'; legal: 1a", "answer with one of `legal`"),
        ("banner", "wrote 'Welcome to my engine", "write one JSON object for each line"),
        ("slow", "had not answered after", "stop before `seconds` of `budget` are over"),
    ],
)
def test_check_engine_says_what_is_wrong_and_how_to_mend_it(mode, told, mend, monkeypatch):
    from arena.agents.outside.external import External

    margin = 0.05 if mode == "slow" else 60.0  # a late answer is waited for three times and in a game
    monkeypatch.setattr(External, "__post_init__", lambda self: object.__setattr__(self, "margin", margin))
    result = call("check-engine", bad(mode), "--game", "tictactoe", "--budget", "seconds=0.05")
    assert result.exit_code == 1
    assert told in result.stdout
    assert f"To fix it: {mend}" in result.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["x", "--game", "connect4", "--protocol", "gtp"], "GTP has words for go"),
        (["x", "--game", "go", "--protocol", "gtp", "--budget", "nodes=4"], "protocol='gtp' cannot express nodes"),
        (["x", "--game", "connect4", "--budget", "wishes=4"], "wishes"),
        (["no-such-program", "--game", "connect4"], "there is no program 'no-such-program'"),
    ],
)
def test_check_engine_refuses(arguments, message):
    result = call("check-engine", *arguments)
    assert result.exit_code in (1, 2) and message in result.output


def test_serve_agent():
    """What other programs start: answers alone go to the standard output."""
    command = [sys.executable, "-m", "arena", "serve-agent", "random", "go(size=5)", "--protocol", "gtp"]
    played = "boardsize 5\nkomi 5.5\nclear_board\ngenmove b\nquit\n"
    result = subprocess.run(command, input=played, capture_output=True, text=True, timeout=300, env=environment())
    answers = result.stdout.split("\n\n")
    assert result.returncode == 0 and answers[:3] == ["= "] * 3 and answers[4:] == ["= ", ""], result
    assert answers[3] == "= PASS" or answers[3][2] in "ABCDE"
    assert "GTP has words for" in call("serve-agent", "random", "connect4").stderr
