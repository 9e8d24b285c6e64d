"""The command line beside the tables: options old and new, progress, lists of runs, comparisons, JSON."""

import io
import json
import logging
import re
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner

from arena import results
from arena.cli import app
from arena.commands import output, progress
from arena.results.shown.summary import side_by_side
from arena.runner.display import LiveDisplay, PlainDisplay, watch
from arena.runner.ticker import Ticker
from tests.advice import refused
from tests.arena.stored import CONFIG, store_run
from tests.shipped import AGENTS, GAMES

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
COMMANDS = typer.main.get_command(app)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def as_json(*arguments):
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one game that share three agents."""
    place = tmp_path_factory.mktemp("terminal")
    store_run(place / "runs" / "one", CONFIG)
    more = CONFIG | {"seed": 6, "agents": [*CONFIG["agents"], {"agent": "random", "name": "new"}]}
    store_run(place / "runs" / "deep" / "two", more)
    return place / "runs"


def leaves(command):
    """Every command, those of groups too."""
    for one in getattr(command, "commands", {}).values():
        yield from leaves(one) if hasattr(one, "commands") else [one]


# -- Options ---------------------------------------------------------------------------------------------------------


def test_help_and_version():
    assert re.fullmatch(r"arena \S.* \(Python 3\.\S+, Numba \d\S+\)\n", call("--version").stdout)
    for words in (("-h",), ("run", "-h"), ("list", "-h"), ("list", "agents", "-h")):
        assert call(*words).stdout.startswith("Usage: ")


def test_one_word_for_one_thing():
    """A long option means the same wherever it is, and has the same short form."""
    found: dict[str, set] = {}
    for command in leaves(COMMANDS):
        for parameter in command.params:
            for name in parameter.opts:
                if name.startswith("--"):
                    found.setdefault(name, set()).add(tuple(o for o in parameter.opts if not o.startswith("--")))
    for name in ("--out", "--output", "--workers", "--games", "--game", "--agent", "--kind", "--format"):
        assert len(found[name]) == 1 and next(iter(found[name])), f"{name}: {found[name]}"
    assert not {"--svg", "--picture", "--cores"} & set(found)
    assert [command.name for command in leaves(COMMANDS) if any("--save" in p.opts for p in command.params)] == ["play"]


@pytest.mark.parametrize("typed, parameter, value", [
    ("demo -j 2", "workers", 2),
    ("run t.toml -o runs/x -j 2", "out", Path("runs/x")),
    ("run -g nim -a uct -a random -n 4", "games", 4),
])  # fmt: skip
def test_short_forms_are_understood(typed, parameter, value):
    name, *words = typed.split()
    assert COMMANDS.commands[name].make_context(name, words).params[parameter] == value


def test_what_is_logged_is_told(capsys):
    logger = logging.getLogger("arena")
    before, level = list(logger.handlers), logger.level
    try:
        COMMANDS.commands["run"].make_context("run", ["t.toml", "-v"])
        logger.info("one %s", "thing")
        logger.debug("another")
        assert "one thing" in capsys.readouterr().err.replace("\n", " ")
        COMMANDS.commands["run"].make_context("run", ["t.toml", "-vv"])
        added = [handler for handler in logger.handlers if handler not in before]
        assert [handler.level for handler in added] == [logging.INFO, logging.DEBUG]
    finally:
        logger.handlers[:] = before
        logger.setLevel(level)


# -- Progress --------------------------------------------------------------------------------------------------------


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST", 0.02)
    monkeypatch.setattr(progress, "PAUSE", 0.02)
    told, until = "", time.monotonic() + 100
    with progress.progress_line("at first") as show:
        for text, word in (("at first", "at first"), ("then\x1b[31m", "then")):
            show(text)
            while told.count(word) < 2 and time.monotonic() < until:
                time.sleep(0.01)
                told += capsys.readouterr().err
    lines = (told + capsys.readouterr().err).splitlines()
    assert re.fullmatch(r"\d+:\d\d  at first", lines[0]) and re.fullmatch(r"\d+:\d\d  then\\x1b\[31m", lines[-1])
    assert len(lines) > 3
    with progress.progress_line():
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_ctrl_c_while_a_progress_line_is_taken_down_waits_for_its_end(monkeypatch, capsys, terminal):
    """Otherwise a terminal is left without a cursor."""

    stopped, kind = [], Progress if terminal else Ticker

    def stop(self, stop=kind.stop):
        signal.raise_signal(signal.SIGINT)
        stop(self)
        stopped.append(True)

    monkeypatch.setattr(kind, "stop", stop)
    monkeypatch.setattr(Console, "is_terminal", terminal)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), progress.progress_line():
        pass
    assert stopped == [True] and signal.getsignal(signal.SIGINT) == before


def test_kernels_whose_process_dies_before_it_is_asked_are_told_of():
    """They are `warmed`, with a failure, and have never been `warming`."""
    text = io.StringIO()
    display = watch(Console(file=text, force_terminal=True, width=80))
    display.warming("one")
    display.warmed("other", 0.0, "none: the worker was killed by SIGKILL")
    display.warmed("one", 1.0)
    assert "kernels of other: none: the worker was killed by SIGKILL" in text.getvalue()
    assert "kernels of one: 1.0 s" in text.getvalue()


@pytest.mark.plain
def test_what_takes_long_says_what_it_does(runs, tmp_path, monkeypatch):
    told = []

    @contextmanager
    def noted(text):
        told.append(text)
        yield told.append

    monkeypatch.setattr(progress, "_elsewhere", noted)
    run = runs / "one"
    call("import", "games.csv")  # which is not there: nothing is read, but it was begun
    for words in (
        ("export", run, "--output", tmp_path / "games.pgn", "--format", "pgn"),
        ("book", run, "--output", tmp_path / "a.book", "--least", 1),
        ("elo", run, "--bootstrap", 3),
        ("plot", run, "ratings", "--output", tmp_path / "a.svg"),
        ("tree", "tictactoe", "--depth", 1),
        ("cache", "warm", "--game", "tictactoe", "--agent", "random"),
    ):
        done = call(*words)
        assert done.exit_code == 0, done.output
    assert {
        "reading games.csv",
        "writing records",
        "counting moves",
        "resampling 3 times",
        "drawing",
        "searching",
        "compiled: 0 of 1",
    } <= set(told)


@pytest.mark.plain
def test_a_search_without_a_budget_says_so():
    done = call("solve", "tictactoe", "--one")
    assert done.exit_code == 0 and "No budget is given" in done.stderr and "No budget" not in done.stdout
    assert "No budget" not in call("solve", "tictactoe", "--one", "--agent", "dfpn(nodes=100000)").stderr


# -- Lists -----------------------------------------------------------------------------------------------------------


def test_the_parameters_of_an_agent():
    found = {one["name"]: one for one in as_json("list", "agents", "uct")["parameters"]}
    assert found["exploration"] == {
        "name": "exploration",
        "default": 0.4,
        "type": "float",
        "range": "0 or more",
        "meaning": "the constant K of the bound, for rewards from 0 to 1",
    }
    assert found["first_play_urgency"]["meaning"] == "the bound of unvisited children; none: they come first"
    line = next(line for line in call("list", "agents", "uct").stdout.splitlines() if "max_nodes" in line)
    assert line.split()[:5] == ["max_nodes", "16777216", "1000", "to", "2147483647"] and "33 bytes" in line
    lock = next(one for one in as_json("list", "agents", "tree")["parameters"] if one["name"] == "lock")
    assert lock["range"] == "free | local | global"


UNBOUNDED = {"board", "evaluation", "file", "fen", "nodes", "seed"}  # texts, any number, and what a file says


@pytest.mark.parametrize("what, names", [("games", GAMES), ("agents", AGENTS)])
def test_every_parameter_has_a_meaning(what, names):
    """Of all that we ship, asked for at once."""
    found = as_json("list", what, *names)
    assert [row["name"] for row in found] == names
    for row in found:
        for one in row["parameters"]:
            assert one["meaning"], f"{row['name']}: {one['name']}"
            if what == "games":
                assert one["range"] or one["name"] in UNBOUNDED, f"{row['name']}: {one['name']}"


def test_several_are_listed_one_below_the_other():
    told = call("list", "agents", "uct", "tree").stdout
    assert told.index("uct: ") < told.index("\n\ntree: ") and len(re.findall("^exploration", told, re.M)) == 2
    refused = call("list", "games", "hex", "go9")
    assert refused.exit_code == 2 and "unknown game 'go9'" in refused.stderr and refused.stdout == ""


def test_one_game_and_mistakes():
    assert "2 to 19" in call("list", "games", "go").stdout and "players: 2" in call("list", "games", "go").stdout
    assert "players: 1\nchance: no\n" in call("list", "games", "leftmove").stdout  # 1 is not "yes"
    refused = call("list", "agents", "utc")
    assert refused.exit_code == 2 and "unknown agent 'utc' (did you mean 'uct'?)" in refused.stderr


def test_the_runs_of_a_folder(runs):
    (runs / "bad").mkdir(exist_ok=True)
    (runs / "bad" / "tournament.sqlite").write_bytes(b"nothing of use" * 100)
    found = as_json("runs", runs)
    assert [row["run"] for row in found["runs"]] == [str(runs / "deep" / "two"), str(runs / "one")]
    one = found["runs"][1]
    assert (one["stored"], one["total"], one["agents"], one["state"]) == (18, 18, 3, "finished")
    assert one["leader"] == results.load(runs / "one").standings()["agent"][0]
    assert [row["run"] for row in found["unread"]] == [str(runs / "bad")]
    shown = call("runs", runs)
    assert "18 of 18" in shown.stdout and "cannot be read" in shown.stderr
    assert "no runs in" in call("runs", runs / "bad" / "..").stderr or shown.exit_code == 0
    assert call("runs", runs / "none").exit_code == 2


def test_remarks_are_broken_between_words_in_a_terminal(monkeypatch, capsys):
    told = (
        "a sentence that is longer than the terminal is wide, with a/path/that/is/not/broken\n  arena table a/long/path"
    )
    output.tell(told)
    assert capsys.readouterr().err == told + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "24")
    output.tell(told)
    first, *_, path, command = capsys.readouterr().out.splitlines()
    assert first == "a sentence that is" and path == "a/path/that/is/not/broken" and command == told.split("\n")[1]


def test_many_intervals():
    assert side_by_side(9) == ""
    assert (
        "12 intervals" in side_by_side(12)
        and "probability 46 %" in side_by_side(12)
        and "1.46 times" in side_by_side(12)
    )


# -- JSON ------------------------------------------------------------------------------------------------------------


def documented(command, number=0):
    """The keys that the page names in a row of a command."""
    rows = [line.strip("|").split(" |") for line in PAGE.splitlines() if line.startswith("| `")]
    cells = [row[2] for row in rows if f"`{command}`" in row[0]]
    return set(re.findall(r"`([a-z_0-9]+)`", cells[number]))


@pytest.mark.plain
def test_json_has_the_keys_of_the_page(runs):
    run = runs / "one"
    assert documented("status") == {*as_json("status", run), "null"}
    assert as_json("status", run)["table"] == as_json("table", run) == as_json("table", run, "--format", "json")
    assert documented("runs") - {"run", "error"} | {"runs"} == set(as_json("runs", runs))
    assert documented("show") == set(as_json("show", run, "1v2-0000"))
    assert documented("check") == set(as_json("check", run))
    assert documented("elo") == {*as_json("elo", "--wdl", 1, 0, 0), "bound"}
    assert documented("sprt") == set(as_json("sprt", "--wdl", 3, 2, 1))
    assert documented("elo", 1) == set(as_json("elo", run))
    assert documented("list") >= {key for kind in ("games", "agents", "learners") for key in as_json("list", kind)[0]}
    assert {"name", "default", "type", "range", "meaning"} <= documented("list", 1)
    assert documented("solve") - {"null"} == set(as_json("solve", "tictactoe", "--one"))
    assert isinstance(as_json("cache", "info"), list)
    refused = call("table", run, "--json", "--format", "csv")
    assert refused.exit_code == 2 and "contradict each other" in refused.stderr.replace("\n", " ")


def test_every_command_with_json_is_on_the_page():
    names = {command.name for command in leaves(COMMANDS) if any("--json" in p.opts for p in command.params)}
    on_page = set(re.findall(r"`([a-z ]+)`", "".join(line.split(" |")[0] for line in PAGE.splitlines())))
    assert names <= {word for name in on_page for word in name.split()} | {"games", "agents", "learners"}


def test_sentences_wrap_between_words_and_commands_stay_whole(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setenv("COLUMNS", "30")
    text = "a sentence that is longer than thirty columns\n  arena a command that is longer than that, too\n\nshort"
    assert output.wrapped(text, terminal).split("\n") == [
        "a sentence that is longer than",
        "thirty columns",
        "  arena a command that is longer than that, too",
        "",
        "short",
    ]
    assert output.wrapped("three words of thirty columns", terminal, "Error: ") == "three words of thirty\ncolumns"
    assert output.wrapped(text, io.StringIO()) == output.wrapped(text, None) == text


def test_a_terminal_that_cannot_redraw_gets_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(watch(Console(file=io.StringIO(), force_terminal=True)), PlainDisplay)
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(watch(Console(file=io.StringIO(), force_terminal=True)), LiveDisplay)


def test_show_lists_games_and_says_what_is_written(runs, tmp_path):
    listed = call("show", runs / "one")
    game = listed.output.split()[-1]
    assert listed.exit_code == 0 and f"To show one: arena show {runs / 'one'} {game}" in listed.output
    assert json.loads(call("show", runs / "one", "--json").stdout)[-1]["id"] == game
    board = tmp_path / "board.svg"
    written = call("show", runs / "one", game, "--output", board)
    assert f"written: {board} ({board.stat().st_size:,} bytes)" in written.stderr
    table = tmp_path / "table.csv"
    assert f"written: {table}" in call("table", runs / "one", "--format", "csv", "--output", table).stderr
    assert call("table", runs / "one", "--format", "csv", "--output", "/dev/null").stderr.count("written") == 0


def test_advice_that_a_command_does_not_take_is_seen():
    """What looks at every error of every command that the tests type, by three messages of its own."""
    own, other = "it runs code: --trust, or arena run --plugin x.", "see arena list agents --trust; to go on: --resume"
    assert refused(["join", "x"], own) == []
    assert refused(["table", "x"], own) == ["--trust of arena table"]
    assert refused(["run", "--resume"], other) == ["--trust of arena list agents"]
    assert refused(["table", "--resume"], "No such option: --resume") == []
