"""`arena plan`: plans of problems and games, by the command."""

import json
from xml.etree import ElementTree

import pytest

from arena import games
from arena.agents.minimax.andor import Search
from arena.agents.minimax.trace import TooLarge
from arena.commands import plan
from arena.games.problems.vacuum import VacuumWorld
from arena.games.problems.winning import Winning
from tests.typed import call


def test_the_plan_of_the_vacuum_world_and_its_picture(tmp_path):
    picture = tmp_path / "plan.svg"
    done = call("plan", "vacuum", "--output", str(picture))
    assert done.exit_code == 0 and "at most 3 actions" in done.stderr
    first, *answers = done.stdout.splitlines()
    assert first == "suck" and answers == ["  if [machine] [*]:", "    right", "    suck", "  if [machine] []: done"]
    drawn = ElementTree.fromstring(picture.read_text())
    texts = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("loop") == 1 and texts.count("goal") == 2
    assert call("plan", "vacuum", "--output", str(picture)).exit_code == 2  # it exists


@pytest.mark.parametrize("more, code", [(0, 0), (-1, 2)])
def test_a_picture_has_as_many_nodes_as_are_said(more, code, tmp_path, monkeypatch):
    search = Search(VacuumWorld(), 100)
    search.run()
    monkeypatch.setattr(plan, "DRAWN", search.visits + more)
    assert call("plan", "vacuum", "--output", str(tmp_path / "plan.svg")).exit_code == code
    assert (tmp_path / "plan.svg").exists() == (code == 0)


def test_no_plan_has_an_exit_code_of_its_own():
    done = call("plan", "vacuum(slippery=true)", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) | {"nodes": 0} == {
        "problem": "vacuum(slippery=true)", "plan": None, "found": False, "nodes": 0, "depth": None,
    }  # fmt: skip


def test_a_game_is_a_problem_of_the_player_to_move():
    done = call("plan", "matches(count=5, take=3)")
    assert done.stdout.splitlines() == ["1", "  if 1:", "    3", "  if 2:", "    2", "  if 3:", "    1"]
    assert call("plan", "matches(count=4, take=3)").exit_code == 1
    second = call("plan", "tictactoe", "--moves", "1a 3c 1c")  # the second player is to move, and has no win
    assert second.exit_code == 1
    assert call("plan", "tictactoe", "--moves", "2a 1a 2c 1b 3c").stdout == "1c\n"  # here he has


@pytest.mark.parametrize(("above", "found"), [(-3, True), (-1.5, False)])
def test_chance_is_one_of_the_others(above, found):
    """The coin game: whoever tosses worst and pays loses 1 at least, 2 at most."""
    game = games.make("coin")
    plan = Search(Winning(game, game.initial(), above)).run()[0]
    assert (plan is not None) == found and (plan is None or plan.action == "wait")


def test_bad_input():
    for words, what in [
        (["vacum"], "unknown game 'vacum'"),
        (["vacum"], "problems: vacuum"),
        (["vacuum(dirt=1)"], "no parameter 'dirt'"),
        (["vacuum", "--moves", "1"], "are for games"),
        (["tictactoe", "--moves", "1a 2a 1b 2b 1c"], "the game is over"),
        (["pig"], "too many to look at"),
        (["tictactoe", "--nodes", "50"], "no plan after 50 nodes"),
    ]:
        done = call("plan", *words)
        assert done.exit_code == 2 and what in " ".join(done.stderr.split()), done.stderr


def test_a_problem_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "own_ladder.py").write_text(
        "from dataclasses import dataclass\nfrom arena.games.core.interface.problem import Problem\n\n\n"
        "@dataclass(frozen=True)\nclass Ladder(Problem):\n    name = 'own_ladder'\n    rungs: int = 3\n"
        "    def initial(self):\n        return 0\n    def is_goal(self, state):\n        return state >= self.rungs\n"
        "    def actions(self, state):\n        return ['step']\n"
        "    def outcomes(self, state, action):\n        return [state + 1, state + 2]\n"
    )
    monkeypatch.chdir(tmp_path)
    done = call("plan", "own_ladder(rungs=2)", "--plugin", "own_ladder")
    assert done.stdout.splitlines() == [
        "step", "  if 1:", "    step", "      if 2: done", "      if 3: done", "  if 2: done",
    ]  # fmt: skip


def test_long_paths_and_many_nodes_are_errors_of_their_own():
    with pytest.raises(TooLarge, match="no plan after 3 nodes"):
        Search(VacuumWorld(), 3).run()
