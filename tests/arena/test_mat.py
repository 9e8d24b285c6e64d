"""Matches of backgammon as .mat: read back line by line, and read and written again by GNU Backgammon."""

import os
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import games
from arena.cli import app
from arena.report.mat import to_mat
from results.record import Reason
from results.store import Store
from tests.arena.stored import CONFIG, store_run

GAME = games.make("backgammon")
GNUBG = shutil.which("gnubg", path="/usr/games:/usr/bin:/usr/local/bin")
AGENTS = [{"agent": "random", "name": "b: one"}, {"agent": "random", "name": "a"}]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("mat") / "run", CONFIG | {"game": "backgammon", "agents": AGENTS})


@pytest.fixture(scope="module")
def records(run):
    with Store.open(run) as store:
        return list(store.records())


def games_of(text):
    """Of each game of a match: [(column, roll, play)] in the order of play, and (column, points) of the winner."""
    found = []
    for game in re.split(r"^ *Game \d+\n", text, flags=re.MULTILINE)[1:]:
        turns, won = [], None
        for line in game.splitlines()[1:]:
            if match := re.search(r"Wins (\d) point", line):
                won = int(line.index("Wins") > 20), int(match[1])
            for match in re.finditer(r"([1-6]{2}):((?: (?:\S+/\S+|Cannot Move))*)", line):
                turns.append((int(match.start() > 20), match[1], match[2].strip()))
        found.append((turns, won))
    return found


def assert_same(text, records):
    """The games of a match are those of the records, replayed by the rules."""
    found, players = games_of(text), sorted({record.first for record in records})
    assert len(found) == len(records)
    for (turns, won), record in zip(found, records, strict=True):
        state, first = GAME.initial(), players.index(record.first)
        for i, (column, roll, play) in enumerate(turns):
            assert column == (first + i) % 2
            state = GAME.after(state, GAME.parse_move(state, roll))
            name = "pass" if play in ("", "Cannot Move") else play.replace(" ", ",")
            state = GAME.after(state, GAME.parse_move(state, name))
        _, expected = GAME.read_line(f"{record.opening_moves} {record.moves}")
        assert np.array_equal(state, expected) and GAME.is_over(state)
        assert won == (first if record.score > 0 else 1 - first, abs(record.score))


def test_matches_read_back(records):
    text = to_mat(GAME, records)
    assert text.startswith(" 0 point match\n\n Game 1\n") and "b_one : 0" in text
    assert_same(text, records)
    last = text.split("Game 6\n")[1].splitlines()[0]
    a, b = (sum(abs(r.score) for r in records[:5] if (r.score > 0) == (r.first == name)) for name in ("a", "b: one"))
    assert last.split() == ["a", ":", f"{a:g}", "b_one", ":", f"{b:g}"]


@pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed: apt-get install gnubg")
def test_gnu_backgammon_reads_them(run, records, tmp_path):
    """What it has read it writes again, in its own words; played by our rules, that is the same match."""
    ours, theirs = tmp_path / "ours.mat", tmp_path / "theirs.mat"
    done = CliRunner().invoke(app, ["export", str(run), "--format", "mat", "--output", str(ours)])
    assert done.exit_code == 0, done.output
    home = os.environ | {"HOME": str(tmp_path)}
    commands = f"import mat {ours}\nexport match mat {theirs}\n"
    subprocess.run([GNUBG, "-t", "-q"], input=commands, text=True, capture_output=True, timeout=60, env=home)
    assert_same(theirs.read_text(), records)


def test_a_game_that_broke_off(records):
    moves = records[0].moves.split()[:3]
    record = replace(records[0], moves=" ".join(moves), opening_moves="", score=None, outcome=None)
    turns, won = games_of(to_mat(GAME, [record]))[0]
    assert [roll for _, roll, _ in turns] == moves[::2] and turns[1][2] == "" and won is None


def test_who_resigns_loses_a_point(records):
    resigned = [replace(record, score=None, reason=Reason.ADJUDICATED_WIN) for record in records[:2]]
    text, players = to_mat(GAME, resigned), sorted({record.first for record in records})
    for record, (_, won) in zip(resigned, games_of(text), strict=True):
        winner = record.first if record.outcome == 1 else record.second
        assert won == (players.index(winner), 1)
    drawn = replace(records[0], score=None, outcome=0.5, reason=Reason.ADJUDICATED_DRAW)
    assert games_of(to_mat(GAME, [drawn]))[0][1] is None


@pytest.mark.parametrize(
    "change, message",
    [
        ({"agents": [*AGENTS, {"agent": "random", "name": "c"}]}, "holds the games of two players"),
        ({"game": "connect4"}, "has no records as .mat"),
    ],
)
def test_what_is_no_match_is_refused(tmp_path, change, message):
    folder = store_run(tmp_path / "run", CONFIG | {"game": "backgammon", "agents": AGENTS} | change)
    done = CliRunner().invoke(app, ["export", str(folder), "--format", "mat"])
    assert done.exit_code == 2 and message in " ".join(re.sub("[│╭╮╰╯─]", " ", done.stderr).split())
