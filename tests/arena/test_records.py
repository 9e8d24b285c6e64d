"""arena export, import and status; and SGF, read back by a reader of its own."""

import json
import re
from dataclasses import replace

import pytest

from arena import games, results
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.files.sgf import to_sgf
from tests.arena.stored import CONFIG, store_run
from tests.typed import call


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("records") / "run", void=("1v2-0001",))


def records_of(tmp_path, game):
    agents = [{"agent": "random", "name": "] \\ x"}, {"agent": "random", "name": "b"}]
    with Store.open(store_run(tmp_path / "run", CONFIG | {"game": game, "games": 4, "agents": agents})) as store:
        return list(store.records())


def points(text):
    """(player, text) of each move of a tree."""
    return re.findall(r";([BW])\[([^\]]*)\]", text)


@pytest.mark.parametrize("spec, kind", [("go(size=5)", 1), ("othello", 2), ("hex(size=4, swap=true)", 11)])
def test_sgf_of_whole_games(tmp_path, spec, kind):
    """The moves of a record, read back from the tree by what the format says of points, make the same game."""
    game = games.make(spec)
    for record in records_of(tmp_path, spec):
        text = to_sgf(game, record)
        assert f"GM[{kind}]SZ[{game.size}]" in text and text.startswith("(;FF[4]") and text.endswith(")\n")
        assert r"[\] \\ x]" in text
        state = game.initial()
        for ply, (player, point) in enumerate(points(text.partition("]C[")[2])):
            assert player == "BW"[ply % 2]
            game.play(state, game.parse_move(state, read_point(game, point)))
        assert game.is_over(state) and ply == record.plies - 1
        winner = {1.0: "B+", 0.0: "W+", 0.5: "0"}[record.outcome]
        assert f"RE[{winner}" in text


@pytest.mark.parametrize(
    "reason, by",
    [(Reason.RESIGNED, "R"), (Reason.ADJUDICATED_WIN, "R"), (Reason.TIME, "T"), (Reason.DIED, "F"), ("imported", "")],
)
def test_sgf_of_games_without_a_score(tmp_path, reason, by):
    record = replace(records_of(tmp_path, "go(size=5)")[0], score=None, outcome=0.0, reason=reason)
    assert f"RE[W+{by}]" in to_sgf(games.make("go(size=5)"), record)
    assert "RE[0]" in to_sgf(games.make("go(size=5)"), replace(record, outcome=0.5))


def read_point(game, point):
    if point in ("", "swap-pieces"):
        return "swap" if point else "pass"
    if game.name == "hex":
        return point
    column, row = (ord(letter) - ord("a") for letter in point)
    if game.name == "go":
        return f"{'abcdefghjklmnop'[column]}{game.size - row}"
    return f"{'abcdefgh'[column]}{row + 1}"


def test_points_of_go_leave_out_i():
    go = games.make("go(size=13)")
    assert (go.sgf_move("a13"), go.sgf_move("h1"), go.sgf_move("j1"), go.sgf_move("n13")) == ("aa", "hm", "im", "ma")


def test_what_is_exported_is_imported(run, tmp_path):
    exported = tmp_path / "games.jsonl"
    assert call("export", run, "--output", exported).exit_code == 0
    assert len(exported.read_text().splitlines()) == 18
    imported = call("import", exported, "--out", tmp_path / "again")
    assert imported.exit_code == 0 and "18 games are stored" in imported.stderr
    one, other = results.load(run), results.load(tmp_path / "again")
    assert one.standings().equals(other.standings()) and one.moves().equals(other.moves())
    assert other.meta["imported"]["games"] == one.meta["config"]["instances"]
    assert call("show", tmp_path / "again", "1v2-0000").stdout == call("show", run, "1v2-0000").stdout
    listed = call("runs", tmp_path).stdout.split()
    assert listed[-1] == "18" and "18.0" not in listed
    unknown = exported.read_text().replace('"game": "', '"game": "un')
    exported.write_text(unknown)
    assert call("import", exported, "--out", tmp_path / "unknown").exit_code == 0
    assert "games" not in results.load(tmp_path / "unknown").meta["imported"]


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"game": None, "instances": ["nim", "tictactoe"]}, ["nim", "tictactoe"]),
        ({"budget": None, "budgets": [{"playouts": 2}, {"playouts": 3}]}, None),
    ],
)
def test_games_of_several_conditions_are_exported_and_imported(changes, told, tmp_path):
    """Conditions that differ by budgets alone stay apart, by their numbers."""
    keys = {key: value for key, value in (CONFIG | {"games": 2} | changes).items() if value is not None}
    run = store_run(tmp_path / "run", keys)
    assert call("export", run, "--output", tmp_path / "x.jsonl").exit_code == 0
    assert call("import", tmp_path / "x.jsonl", "--out", tmp_path / "again").exit_code == 0
    one, other = results.load(run), results.load(tmp_path / "again")
    assert other.meta["imported"].get("games") == told
    assert (
        one.games["condition"].tolist() == other.games["condition"].tolist() and one.games["condition"].nunique() == 2
    )


def test_results_from_elsewhere_are_rated(tmp_path):
    rows = ["A,B,1-0"] * 6 + ["B,A,1-0"] * 4 + ["A,B,1/2-1/2"] * 5 + ["C,A,0-1"] * 3 + ["C,A,1-0"] * 2
    (tmp_path / "r.csv").write_text("White,Black,Result\n" + "\n".join(rows))
    place = tmp_path / "run"
    result = call("import", tmp_path / "r.csv", "--out", place)
    assert result.exit_code == 0 and "20 games are stored" in result.stderr
    assert [row["agent"] for row in json.loads(call("table", place, "--format", "json").stdout)][-1] in "BC"
    assert call("elo", place).exit_code == 0 and call("report", place).exit_code == 0
    assert "imported without moves" in (place / "report.html").read_text()
    assert "20 games, imported; finished" in call("status", place).stdout
    show, resume = ["show", place, "000001"], ["run", "--out", place, "--resume"]
    for arguments in (show, resume, ["export", place, "--format", "sgf"]):
        result = call(*arguments)
        assert result.exit_code == 2 and "were imported: their game" in result.stderr
    assert call("export", place, "--format", "pgn").stdout.count("[White ") == 20


def test_status(run):
    state = json.loads(call("status", run, "--json").stdout)
    assert (state["running"], state["stored"], state["total"], state["void"]) == (False, 18, 18, 1)
    with Store.open(run, write=True):
        assert json.loads(call("status", run, "--json").stdout)["running"]
        assert "18 of 18 games, 100.0 %; being played" in call("status", run).stdout
    assert "finished" in call("status", run).stdout


def test_status_of_a_run_that_was_stopped(run, tmp_path):
    with Store.open(run) as full, Store.create(tmp_path, full.meta, full.agents) as part:
        part.add_all(list(full.records())[:3])
    assert "3 of 18 games, 16.6 %; not being played; to continue: arena run --out" in call("status", tmp_path).stdout


@pytest.mark.parametrize("name, text, message", [
    ("none.csv", None, "none.csv: No such file"),
    ("x.dat", "x", "is not a file .csv, .pgn, .pdn, .sgf,"),
    ("x.csv", "", "the heading holds nothing"),
    ("x.csv", "first,second,outcome\n", "holds no game with a result"),
    ("x.csv", b"\xff\xfe\x00", "line 1: the heading holds"),
    ("x.pgn", "e4", "is not PGN"),
    ("x.jsonl", "{}", "line 1: is not a game"),
])  # fmt: skip
def test_bad_files_leave_nothing(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    result = call("import", tmp_path / name, "--out", tmp_path / "run")
    assert result.exit_code == 2 and message in " ".join(result.stderr.split()), result.stderr
    assert "Traceback" not in result.stderr and not (tmp_path / "run").exists()


def test_games_that_cannot_be_stored_leave_no_store(run, tmp_path):
    line = call("export", run).stdout.splitlines()[0]
    (tmp_path / "twice.jsonl").write_text(f"{line}\n{line}\n")
    result = call("import", tmp_path / "twice.jsonl", "--out", tmp_path / "run")
    assert result.exit_code == 2 and "line 2: the game 1v2-0000 is there already" in result.stderr
    assert not (tmp_path / "run" / "tournament.sqlite").exists()


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "r.csv").write_text("first,second,outcome\nA,B,1\n")
    result = call("import", tmp_path / "r.csv", "--out", run)
    assert result.exit_code == 2 and "holds a tournament already" in result.stderr
    assert len(results.load(run).games) == 18
    for arguments in (["export", tmp_path], ["status", tmp_path]):
        assert "no tournament in" in call(*arguments).stderr
    sgf = call("export", run, "--format", "sgf")
    assert sgf.exit_code == 2 and "those that have are amazons, ataxx, go, hex, loa, mnk, othello" in " ".join(
        sgf.stderr.split()
    )


def test_what_a_terminal_would_obey_is_shown_as_text(run, tmp_path):
    """From a crafted store, which no import has looked at, and from the name of a file."""
    folder = tmp_path / "crafted"
    with Store.open(run) as source, Store.create(folder, source.meta, source.agents) as crafted:
        for record in source.records():
            crafted.add(replace(record, detail="a\x1b[31mb\x9bc", outcome=None, reason=Reason.CRASH))
    id = json.loads(call("export", run).stdout.splitlines()[0])["id"]
    for arguments in (["show", folder, id], ["show", folder, id, "--json"], ["table", folder, "--kind", "games"]):
        result = call(*arguments)
        assert result.exit_code == 0 and not {"\x1b", "\x9b"} & set(result.stdout), arguments
    assert "a\\x1b[31mb\\x9bc" in call("show", folder, id).stdout
    told = call("import", tmp_path / "no\x1b[31mfile.csv").stderr
    assert "\x1b" not in told and "no\\x1b[31mfile.csv: No such file" in told


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with open(tmp_path / "huge.csv", "wb") as file:
        file.truncate(1 << 40)  # a hole, which takes no room
    result = call("import", tmp_path / "huge.csv")
    assert result.exit_code == 2 and "huge.csv: it has more than 256 MiB" in result.stderr
