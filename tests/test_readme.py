"""The README is true: its configuration and its Python run, and every game and agent has a row."""

import re
import tomllib
from pathlib import Path

import pytest

from arena.config.config import from_values
from tests.shipped import AGENTS, GAMES

TEXT = (Path(__file__).parents[1] / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def rows(section):
    """The names in the first column of a section's table."""
    body = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)", body, re.MULTILINE)


def test_every_game_and_agent_has_a_row():
    assert sorted(rows("Games")) == GAMES
    assert sorted(rows("Agents")) == AGENTS


@pytest.mark.parametrize("block", blocks("toml"))
def test_configurations_are_accepted(block):
    assert from_values(tomllib.loads(block), "README").resolved()["agents"]


def test_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tournament.toml").write_text(
        blocks("toml")[0].replace("games = 200", "games = 2").replace("rows=6, columns=6", "rows=5, columns=4")
    )
    space = {"__name__": "__main__"}
    usage = blocks("python")
    exec(usage[0] + usage[1], space)
    assert "2a3a" in capsys.readouterr().out
    assert len(space["t"].games) == 6


def test_commands_exist():
    from typer.testing import CliRunner

    from arena.cli import app

    used = set(re.findall(r"^arena (\w+)", "\n".join(blocks("sh")), re.MULTILINE))
    assert {"run", "table", "show"} <= used
    for name in used:
        assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0
