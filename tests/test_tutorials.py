"""The tutorials: their files are written and their commands typed, in their order, with fewer games and playouts."""

import importlib
import json
import re
import shlex
import sys

import pytest
from typer.testing import CliRunner

from arena import agents, games
from arena.cli import app
from arena.games.core.random import stream
from tests.test_readme import ROOT, blocks

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
# so that a test takes seconds; the same agents and formats, on one small board
SHORTER = [
    (r"games = \d+", "games = 2"),
    (r"--games \d+", "--games 2"),
    (r"playouts ?= ?(\d+)0\b", r"playouts=\1"),
    (r"depth=9", "depth=3"),
    (r"^instances = .*$", 'instances = ["breakthrough(rows=5, columns=4)"]'),
    (r"(misere_)?breakthrough(\(rows=\d, columns=\d\))?", "breakthrough(rows=5, columns=4)"),
]


def shorter(text):
    """The text with less to play."""
    for pattern, short in SHORTER:
        text = re.sub(pattern, short, text, flags=re.MULTILINE)
    return text


def steps(text):
    """(file's name, contents) of what the reader is to write, and (None, words) of what to type, in their order."""
    named = r"[Ww]rite\s[^:\n]*`(?P<file>\w+\.\w+)`[^`]*?```\w+\n(?P<text>.*?)^```"
    for found in re.finditer(rf"{named}|^```sh\n(?P<commands>.*?)^```", text, re.DOTALL | re.MULTILINE):
        if found["file"]:
            yield found["file"], shorter(found["text"])
        else:
            for line in found["commands"].replace("\\\n", "").splitlines():
                yield None, shlex.split(shorter(line), comments=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_step_works(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    typed = 0
    for name, what in steps(path.read_text()):
        if name:
            (tmp_path / name).write_text(what)
            continue
        assert what[0] == "arena"
        result = CliRunner().invoke(app, what[1:])
        assert result.exit_code == 0, f"{shlex.join(what)}: {result.output}"
        typed += 1
    assert typed == sum(map(len, map(str.splitlines, blocks(path.read_text().replace("\\\n", ""), "sh"))))


@pytest.mark.slow
def test_the_figures_of_the_answers_are_those_of_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    course, answers = ((ROOT / "docs/tutorials" / name).read_text() for name in ("course.md", "answers.md"))
    typed = [shlex.split(line, comments=True) for block in blocks(course.replace("\\\n", ""), "sh") for line in
             block.splitlines() if "runs/course" in line]  # fmt: skip
    for words in (words for words in typed if words[1] in ("run", "grade")):
        done = CliRunner().invoke(app, [*words[1:], *(["--json"] if words[1] == "grade" else [])])
        assert done.exit_code == 0, done.output
    row = next(row for row in json.loads(done.stdout) if row["agent"] == "random")
    percent = round(100 * row["blunders"] / row["chances"])
    said = f"`random` blunders in {percent} % of the moves in which it can, {row['blunders']} of {row['chances']}."
    assert said in " ".join(answers.split())


def test_python_of_the_course_runs(capsys):
    (block,) = blocks((ROOT / "docs/tutorials/course.md").read_text(), "python")
    exec(block, {})
    playouts = {name: int(count) for name, count, _ in map(str.split, capsys.readouterr().out.splitlines())}
    assert len(playouts) == 8 and sum(playouts.values()) == 1000
    corners = sum(playouts[name] for name in ("1a", "1c", "3a", "3c"))
    assert corners > 700


def test_python_of_the_agents_runs(tmp_path, monkeypatch):
    """The agents of the page pass the check of the page; the compiled one is better than chance."""
    agent, check, compiled = blocks((ROOT / "docs/tutorials/agent.md").read_text(), "python")
    (tmp_path / "greedy.py").write_text(agent)
    (tmp_path / "bandit.py").write_text(compiled)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("greedy", "bandit"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    space = {}
    exec(check, space)
    assert type(space["agent"]).__name__ == "Greedy" and space["agent"].name == "greedy"
    bandit, game = importlib.import_module("bandit").Bandit(playouts=300), games.make("tictactoe")
    agents.check(bandit, game, seed=1)
    state = game.read_line("1a 2b 1b 3a")[1]  # the first player wins by 1c, the second one threatens 1c, too
    assert bandit.player(game).choose(state, stream(1)).move == game.parse_move(state, "1c")
