"""Completion: what is offered, and the scripts of the shells, which are run where the shells are."""

import os
import shlex
import shutil
import stat
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from arena.cli import app
from arena.commands.completion import complete_agent, complete_game, complete_run
from arena.commands.shells import SHELLS, install, prepare_answer
from tests.arena.stored import CONFIG, store_run
from tests.typed import call


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with runs, and one with a program `arena`."""
    place = tmp_path_factory.mktemp("completion")
    store_run(place / "runs" / "one", CONFIG)
    for name in ("deep/two", "a third"):
        shutil.copytree(place / "runs" / "one", place / "runs" / name)
    (place / "bin").mkdir()
    program = place / "bin" / "arena"
    program.write_text(f"#!{sys.executable}\nfrom arena.cli import main\nmain()\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return place


def texts(found):
    return [text for text, _ in found]


def test_games_agents_and_parameters():
    assert texts(complete_game("connect")) == ["connect4"] and texts(complete_agent("uc")) == ["uct"]
    assert complete_agent("nobody(") == [] and complete_agent("uct(nothing=") == []
    told = dict(complete_agent("uct("))
    assert told["uct(exploration="].startswith("the constant K") and max(map(len, told.values())) <= 60
    assert "uct(playouts=5, exploration=" in dict(complete_agent("uct(playouts=5,"))
    assert "uct(playouts=5, playouts=" not in dict(complete_agent("uct(playouts=5,"))
    assert "nim(heaps=[1,2], misere=" in dict(complete_game("nim(heaps=[1,2],"))


@pytest.mark.parametrize("typed, offered", [
    ("uct(expl", ["uct(exploration=", "uct(exploration=0.4"]),
    ("uct(playouts=5,expl", ["uct(playouts=5,exploration=", "uct(playouts=5,exploration=0.4"]),
    ("uct(playouts", ["uct(playouts=", "uct(playouts=1000"]),
    ("uct(exploration=", ["uct(exploration=0.4)", "uct(exploration=0.4,"]),
    ("uct(exploration=0.7", ["uct(exploration=0.7)", "uct(exploration=0.7,"]),
    ("uct(solver=", ["uct(solver=false", "uct(solver=true"]),
    ("uct(solver=t", ["uct(solver=true)", "uct(solver=true,"]),
    ("tree(lock=", ["tree(lock='free'", "tree(lock='local'", "tree(lock='global'"]),
    ("uct(exploration=0.4)", ["uct(exploration=0.4)"]),
])  # fmt: skip
def test_a_word_that_may_go_on_has_two_candidates(typed, offered):
    """With one, a shell would close the quote."""
    assert texts(complete_agent(typed)) == offered


def test_runs(place, monkeypatch):
    monkeypatch.chdir(place)
    assert complete_run("") == ["runs/a third", "runs/deep/two", "runs/one"] and complete_run("runs/o") == ["runs/one"]
    absolute = [f"{place}/runs/{name}" for name in ("a third", "deep/two", "one")]
    assert complete_run(f"{place}/runs/o") == absolute[2:] and complete_run(f"{place}/runs/") == absolute
    assert complete_run("runs/deep/") == ["runs/deep/two"] and complete_run("[") == []


def test_a_blank_within_quotes_ends_no_word(monkeypatch):
    for typed, asked in (
        ('arena run -a "uct(playouts=5, ', 'arena run -a "uct(playouts=5,'),
        ("arena run ", "arena run "),
    ):
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", typed)
        prepare_answer()
        assert os.environ["_TYPER_COMPLETE_ARGS"] == asked


# -- The shells ------------------------------------------------------------------------------------------------------


def asked(place, *command):
    """The lines that a shell prints, in the folder with runs."""
    path = os.pathsep.join([str(place / "bin"), os.environ["PATH"]])
    known = os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(each or os.getcwd() for each in sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=place, env=known)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


# what is typed, the word that is completed as bash has it, and what it offers
BASH = [
    ("arena runs", "runs", ["runs"]),
    ("arena table runs/o", "runs/o", ["runs/one"]),
    ("arena table runs/a", "runs/a", [r"runs/a\ third"]),
    ('arena table "runs/a', '"runs/a', ["runs/a third"]),
    ("arena table runs/one --kind cr", "cr", ["crosstable"]),
    ('arena run --agent "uct(playouts=5, expl', '"uct(playouts=5, expl', [
        "uct(playouts=5, exploration=", "uct(playouts=5, exploration=0.4",
    ]),
    ("arena play conn", "conn", ["connect4"]),
    ("arena run nofile", "nofile", []),
]  # fmt: skip


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash(place):
    script = SHELLS["bash"].script
    for line, word, _ in BASH:
        script += (
            f"COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMP_WORDS=({shlex.quote(word)}) COMP_CWORD=0\n"
        )
        script += '_arena_completion arena\nprintf "%s\\n" "${COMPREPLY[@]}" --\n'
    lines = "\n".join(asked(place, "bash", "--norc", "-c", script)).split("--")
    offered = [[line for line in part.splitlines() if line] for part in lines[:-1]]
    assert offered == [expected for _, _, expected in BASH]


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish")
def test_fish(place):
    for line, expected in (
        ("arena table runs/o", "runs/one"),
        ('arena run -a "uct(expl', "uct(exploration=\tthe const"),
    ):
        script = f"{SHELLS['fish'].script}complete --do-complete {shlex.quote(line)}"
        assert asked(place, "fish", "--no-config", "-c", script)[0].startswith(expected)


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh")
def test_zsh(place):
    """What it would hand to its completion system, which cannot be asked without a terminal."""
    stub = "compdef() { }\ncompadd() { print -rl -- $values -- $shown }\n"
    script = f"{stub}{SHELLS['zsh'].script}words=(arena list agents uc) CURRENT=4\n_arena_completion\n"
    value, parted, shown = asked(place, "zsh", "--no-rcs", "-c", script)
    assert (value, parted) == ("uct", "--") and shown.startswith("uct  -- UCT: Monte-Carlo")


@pytest.fixture
def no_folders(monkeypatch):
    """As where the user says nothing of where shells look for their files."""
    for variable in ("ZDOTDIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_installed_once(shell, tmp_path, no_folders):
    reader = tmp_path / (SHELLS[shell].reader or "none")
    reader.write_text("export A=1")
    for _ in range(2):
        path = install(shell, tmp_path)
    assert path.read_text() == SHELLS[shell].script and path.is_relative_to(tmp_path)
    read = "" if SHELLS[shell].reader is None else f"\nsource {path}\n"
    assert reader.read_text() == f"export A=1{read}"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_a_user_wrote_stays_byte_for_byte(shell, tmp_path, no_folders):
    reader, written = tmp_path / str(SHELLS[shell].reader), b"alias caf\xe9=ls\r\n# \x85 here"
    reader.write_bytes(written)
    for _ in range(2):
        path = install(shell, tmp_path)
    assert reader.read_bytes() == written + f"\nsource {path}\n".encode()


def test_shells_look_where_the_user_says(tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "else"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("ZDOTDIR", str(elsewhere))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(elsewhere))
    path = install("zsh", home)
    assert (elsewhere / ".zshrc").read_text() == f"source {path}\n" and not (home / ".zshrc").exists()
    assert install("fish", home) == elsewhere / "fish" / "completions" / "arena.fish"
    install("bash", home)
    assert (home / ".bashrc").exists()
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert install("fish", home) == home / ".config" / "fish" / "completions" / "arena.fish"


def test_the_shell_is_found_or_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "shellingham", None)
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert call("--show-completion").stdout == SHELLS["zsh"].script
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    refused = CliRunner().invoke(app, ["--install-completion"])
    assert refused.exit_code == 2 and "the shell tcsh: there is completion for bash, zsh, fish" in refused.stderr
