"""The commands that solve and prepare, as a user types them."""

import json
import re

import pytest
from typer.testing import CliRunner

from arena import agents, games, results
from arena.cli import app
from arena.results.database.record import GameRecord, MoveRecord, Reason
from arena.results.database.store import Store
from arena.study.grading import Oracle, grade_run
from arena.study.positions import read_positions, score_of
from tests.agents import naive_proof as naive
from tests.typed import call

NOTES = "2a3a-5a4a 2b3b-4a3b 2c3b-6a5a 3a4a-5b4a 3b4a-6b5b 4a5b-6c5b 1a2a-5a4a 2a3a-5b4b 3a4b-5c4b 1b2b"
SMALL = "connect4(rows=4, columns=5)"
CONFIG = {"budgets": [{}], "plugins": [], "plugin_path": None}


@pytest.mark.plain
def test_the_notes_position():
    done = call("solve", "breakthrough(rows=6, columns=4)", "--moves", NOTES, "--shortest", "--json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (answer["value"], answer["best"], answer["plies"], answer["player"]) == (1, ["4b3b", "4a3b"], 5, 1)
    assert len(answer["principal_variation"]) == 5 and answer["principal_variation"][0] in answer["best"]
    assert answer["nodes"] > 0 and answer["seconds"] > 0 and answer["peak_bytes"] > 0 and answer["unsolved"] == ""
    text = call("solve", "breakthrough(rows=6, columns=4)", "--moves", NOTES, "--shortest", "--agent", "pns").stdout
    assert "plies to the end  5" in text and "best moves        4b3b 4a3b" in text and "6 . . . B" in text


@pytest.mark.plain
def test_what_is_asked():
    draw = json.loads(call("solve", "tictactoe", "--json").stdout)
    assert (draw["value"], draw["plies"], len(draw["best"])) == (0, None, 9) and draw["goals"] == {
        "win": False,
        "draw": True,
    }
    one = json.loads(call("solve", "tictactoe", "--one", "--json").stdout)
    assert len(one["best"]) == 1 and one["best"][0] == one["principal_variation"][0]
    win = json.loads(call("solve", "tictactoe", "--goal", "win", "--json").stdout)
    assert (win["value"], win["goals"]["win"]) == (None, False)
    short = call("solve", SMALL, "--agent", "dfpn(nodes=100)")
    assert short.exit_code == 1 and "not solved" in short.stdout and "the budget of 100 nodes is spent" in short.stdout


def test_scores_count_the_stones_that_the_winner_has_left():
    game = games.make("connect4")
    ends = [(1, 41), (-1, 42), (1, 7), (0, 42)]  # value, plies
    assert [score_of(game, value, plies) for value, plies in ends] == [1, -1, 18, 0]


@pytest.mark.plain
@pytest.mark.parametrize("joined", ["1a-2b-1c-1b", "1a 2b-1c 1b"])
def test_joined_moves_are_read_by_every_command(joined, tmp_path):
    for command, options, typed in [
        ("solve", (), ""),
        ("tree", ("--depth", 2, "--agent", "minimax"), ""),
        ("play", ("random", "--seed", 1), "board\nquit\n"),
        ("tablebase", ("--force", "--output", tmp_path / "x"), ""),
    ]:
        words = [str(word) for word in (command, "tictactoe", *options, "--moves")]
        said = [CliRunner().invoke(app, [*words, moves], input=typed) for moves in (joined, "1a 2b 1c 1b")]
        assert [one.exit_code for one in said] == [0, 0], said[0].output
        texts = [re.sub(r"(seconds|memory) .*", "", one.stdout) for one in said]
        assert texts[0] == texts[1] and texts[0]


@pytest.mark.plain
def test_a_file_of_positions(tmp_path):
    """On 4x5 the score is 11 less the winner's stones; the values by plain minimax."""
    game, path, lines = games.make(SMALL), tmp_path / "positions.txt", []
    for moves in ("3321221323455", "1445521524524", "3554312534511", "4522413522155"):
        line, state = game.read_line(moves)
        value, more = naive.exact(game, state)
        stones = (len(line) + more + 1) // 2
        lines.append(f"{moves} {value * (11 - stones)}")
    path.write_text("\n".join(lines) + "\n\n")
    done = call("solve", SMALL, "--file", path, "--json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 0 and answer["positions"] == answer["correct"] == 4 and answer["nodes"] > 0
    moves, score = lines[0].split()
    path.write_text(f"{moves} {int(score) + 1}\n")
    wrong = call("solve", SMALL, "--file", path, "--agent", "alphabeta")
    assert wrong.exit_code == 1 and f"{path}:1: {moves} has the score {int(score) + 1}, found: {score}" in wrong.output
    path.write_text("12 0\n1 2 3 x\n\n\nhello\n")
    bad = call("solve", SMALL, "--file", path)
    assert (
        bad.exit_code == 2
        and f"{path}:2: '1 2 3 x' is not of the form: moves score" in bad.stderr
        and f"{path}:5:" in bad.stderr
    )
    path.write_text("12 0\n9 0\n")
    assert f"{path}:2: '9' is not a legal move" in call("solve", SMALL, "--file", path).stderr
    path.write_text("")
    assert "holds no positions" in call("solve", SMALL, "--file", path).stderr
    assert [known.line for known in read_positions(_lines(path))] == [2, 3]


def _lines(path):
    path.write_text("\n12 0\n4 -3")
    return path


@pytest.mark.plain
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["solve", "chess960"], "unknown game 'chess960'"),
        (["solve", "nim", "--moves", "9-9"], "'9-9' is not a legal move"),
        (["solve", "nim", "--agent", "uct"], "uct does not solve; agents that do"),
        (["solve", "nim", "--goal", "draw"], "has no draws: its only goal is win"),
        (["solve", "tictactoe", "--goal", "lose"], "goal = 'lose' is not one of win, draw"),
        (["solve", "pig"], "plays games without chance"),
        (["solve", "leftmove"], "plays games for two players"),
        (["solve", "nim", "--agent", "dfpn(table=130000)"], "is more than the memory of this machine"),
        (["solve", "nim", "--agent", "dfpn(tablebase='none')"], "'none' cannot be read: No such file"),
        (["solve", "tictactoe", "--moves", "1a 2a 1b 2b 1c"], "the game is over after"),
        (["solve", "nim", "--file", "none", "--shortest"], "--file solves the positions of a file"),
        (["solve", "nim", "--file", "none"], "none: No such file"),
        (["grade", "none"], "no tournament in none"),
        (["tablebase", "nim", "--output", "x", "--most", "5"], "has more than 5 positions there"),
        (["tablebase", "nim", "--output", "x", "--pieces", "2"], "does not list its end-games by pieces"),
        (["tablebase", "nim", "--output", "x", "--pieces", "2", "--moves", "1-1"], "contradict each other"),
        (["book", "none", "--output", "x"], "no tournament in none"),
    ],
)  # fmt: skip
def test_mistakes_are_told(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == 2 and message in result.stderr.replace("\n", " "), result.stderr
    assert "Traceback" not in result.stderr and list(tmp_path.iterdir()) == []


@pytest.fixture
def run(tmp_path):
    """A stored run of three games of tic-tac-toe: one perfect, one with a blunder each, one lost by forfeit."""
    config = CONFIG | {"format": "round_robin", "instances": ["tictactoe"]}
    lines = [("2b", "1a 1c 3a 2a 2c 1b 3b 3c"), ("2b", "1b 1a 3c 3a"), ("2b 1a", "1c 2a")]
    with Store.create(
        tmp_path / "run", {"config": config}, [{"name": "a", "spec": "random"}, {"name": "b", "spec": "random"}]
    ) as store:
        for number, (opening, moves) in enumerate(lines):
            begin = len(opening.split())
            decisions = tuple(MoveRecord(ply, ply % 2, move) for ply, move in enumerate(moves.split(), begin))
            reason = Reason.TIME if number == 2 else Reason.PLAYED_OUT
            store.add(
                GameRecord(
                    id=f"g{number}",
                    number=number,
                    condition=0,
                    opening=0,
                    seed=number,
                    first="a",
                    second="b",
                    outcome=0.5,
                    score=0.0,
                    reason=reason,
                    detail="",
                    opening_moves=opening,
                    moves=moves,
                    plies=begin + len(decisions),
                    seconds=0.0,
                    decisions=decisions,
                )
            )
    return tmp_path / "run"


def test_runs_without_a_game_for_two_are_refused(tmp_path):
    for name, meta in (
        ("imported", {}),
        ("alone", {"config": CONFIG | {"format": "single_player", "instances": ["leftmove"]}}),
    ):
        Store.create(tmp_path / name, meta, [{"name": "a", "spec": "random"}]).close()
        for command in (["grade"], ["book", "--output", str(tmp_path / "book")]):
            result = call(command[0], tmp_path / name, *command[1:])
            assert result.exit_code == 2 and "this needs the moves of a game for two" in result.stderr, result.stderr
    assert not (tmp_path / "book").exists()


@pytest.mark.plain
def test_grades_are_what_minimax_says(run):
    from arena.agents.core.solve import solver_of

    game, stored = games.make("tictactoe"), results.load(run)
    moves = grade_run(stored, Oracle(solver_of(agents.make("dfpn"), game)), lambda done, total: None)
    assert len(moves) == 8 + 4 + 2
    records = {record.id: record for record in stored.games.itertuples()}
    for row in moves.itertuples():
        record = records[row.id]
        line = [*record.opening_moves.split(), *record.moves.split()][: row.ply]
        _, state = game.read_line(" ".join(line))
        assert row.before == naive.exact(game, state)[0]
        assert row.after == naive.by_move(game, state, game.parse_move(state, row.move), 9, {})[0]


@pytest.mark.plain
def test_grade_prints_tables(run, tmp_path):
    text = call("grade", run).stdout
    assert "blunder rate" in text and "mean loss" in text and "nan" not in text.lower()
    rows = json.loads(call("grade", run, "--format", "json").stdout)
    assert {row["agent"] for row in rows} == {"a", "b"} and sum(row["moves"] for row in rows) == 14
    assert call("grade", run, "--kind", "by_ply", "--format", "csv", "--output", tmp_path / "p.csv").exit_code == 0
    assert (
        (tmp_path / "p.csv").read_text().startswith("agent,ply,moves,graded,chances,blunders,blunder_rate,mean_loss\n")
    )


@pytest.mark.plain
def test_tables_and_books_are_made_and_used(run, tmp_path):
    table, book = tmp_path / "end.table", tmp_path / "first.book"
    made = call("tablebase", "tictactoe", "--output", table)
    assert made.exit_code == 0 and "4,520 positions of tictactoe" in made.stdout
    answer = json.loads(call("solve", "tictactoe", "--agent", f"dfpn(tablebase={str(table)!r})", "--json").stdout)
    assert answer["value"] == 0 and answer["nodes"] < 1000
    made = call("book", run, "--output", book, "--least", "1")
    assert made.exit_code == 0 and "positions from 2 games" in made.stdout
    other = call("solve", "nim", "--agent", f"dfpn(tablebase={str(book)!r})")
    assert other.exit_code == 2 and "holds something else: opening book" in other.stderr
