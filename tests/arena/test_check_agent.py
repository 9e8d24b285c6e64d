"""`arena check-agent`: sound agents pass, and each mistake of a beginner is named."""

import os
import subprocess
import sys

import pytest

from tests.test_readme import ROOT

FILE = """import os
import random
from dataclasses import dataclass
from typing import ClassVar

from arena.agents import Agent, Decision, Player


class Choosing(Player):
    def __init__(self, game):
        self.game = game

    def decide(self, state, rng):
        moves = self.game.moves(state)
        {body}


@dataclass(frozen=True)
class Student(Agent):
    name: ClassVar[str] = "student"

    def new_player(self, game, budget):
        return Choosing(game)
"""
MISTAKES = {
    "return Decision(rng.choice(moves))": "",
    "return Decision(moves[99])": "student raised IndexError in each of its first",
    "return Decision(99)": "20 of 20 games lost by forfeit, the first: student answered the move 99 at ply 2",
    "return None": "decide returned None, which is no Decision",
    "os._exit(3)": "20 of 20 games lost by forfeit, the first: student, before play: its process ended with exit",
    "return Decision(random.choice(moves))": "random numbers must come from rng",
    "return self.decide(state, rng)": "RecursionError",
}


def call_alone(folder, *arguments):
    """A command in a process and folder of its own, since it imports the file for good."""
    command, environment = [sys.executable, "-m", "arena", *arguments], os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("body", MISTAKES)
def test_each_mistake_is_named(body, tmp_path):
    (tmp_path / "alice.py").write_text(FILE.format(body=body))
    done = call_alone(tmp_path, "check-agent", "alice.py", "--game", "tictactoe")
    told = " ".join(done.stdout.split())
    assert done.returncode == bool(MISTAKES[body])
    assert told.count("ok student:") == (2 if not MISTAKES[body] else body.count("random.choice"))
    assert f"WRONG student: {MISTAKES[body]}" in told or MISTAKES[body] in told


@pytest.mark.parametrize(
    "text, code, told",
    [
        ("x = (", 1, "WRONG the file: SyntaxError: '(' was never closed (alice.py, line 1)"),
        pytest.param("import nothing_of_that_name", 1, "WRONG the file: ModuleNotFoundError", marks=pytest.mark.slow),
        pytest.param("x = 1", 2, "alice.py defines no agent: a dataclass with a `name`", marks=pytest.mark.slow),
        (None, 2, "alice.py is no file of Python"),
    ],
)
def test_files_without_an_agent(text, code, told, tmp_path):
    if text is not None:
        (tmp_path / "alice.py").write_text(text)
    done = call_alone(tmp_path, "check-agent", "alice.py")
    assert done.returncode == code and told in " ".join((done.stdout + done.stderr).split())
