"""Results as people write them, tables by their columns, and archives as they come."""

import bz2
import gzip
import io
import lzma
import tarfile
import unicodedata
import zipfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import results
from arena.results.files.csv_reader import from_csv
from arena.results.files.decoding import decoded
from arena.results.files.exchange import ExchangeError
from arena.results.files.outcomes import RESULTS, outcome_of
from tests.typed import call

WORDS = {
    1.0: ["1-0", "1–0", "1 - 0", "1:0", "1-0 ff", "1-0F", "1-0 (forfeit)", "+/-", "+:-", "1.0", "1.000", "White wins",
          "w", "white won on time", "WHITE", "first", "win", "1-0 w/o"],
    0.5: ["1/2-1/2", "½-½", "½–½", "0.5-0.5", "0,5", "½", "1/2", ".5", "0.50", "draw", "Drawn", "=-=", "1/2 - 1/2"],
    0.0: ["0-1", "0—1", "-/+", "0", "0.0", "Black won", "black", "second", "loss", "0:1"],
    None: ["", "*", "?", "unfinished", "Void"],
}  # fmt: skip
GAMES = [(outcome, word) for outcome, words in WORDS.items() for word in words]


@pytest.mark.parametrize("outcome, word", GAMES)
def test_results_in_words(outcome, word):
    assert outcome_of(word) == outcome


@pytest.mark.parametrize("word", ["0-0", "1-1", "2-0", "1.5", "x", "wins", "+", "-", "1-", "/", "0.5-0", "nan", "١-٠"])
def test_what_is_no_result_is_refused(word):
    with pytest.raises(ValueError, match="is not one of 1-0"):
        outcome_of(word)


@given(st.text(alphabet="01½/2-–+=.,:* whitelack(ff)", max_size=12))
def test_any_text_is_a_result_or_refused(text):
    try:
        assert outcome_of(text) in RESULTS
    except ValueError as error:
        assert "is not one of" in str(error)


def games_of(text, **options):
    return [(one.first, one.second, one.outcome) for one in from_csv(text, **options)]


AB = [("a", "b", 1.0), ("b", "a", 0.5)]
TABLES = {
    "white,black,result\na,b,1-0\nb,a,½-½\n": AB,
    "White Name;Black Name;Result\na;b;1\nb;a;0,5\n": AB,
    "id,white_id,black_id,winner,turns\n1,a,b,white,9\n2,b,a,draw,8\n": AB,
    "id,white_id,white_name,black_id,black_name,winner\n1,7,a,8,b,a\n2,8,b,7,a,draw\n": AB,
    "player1,player2,score1,score2\na,b,3,1\nb,a,2,2\n": AB,
    "sep=;\nPlayer 1;Player 2;Winner\na;b;a\nb;a;tie\n": AB,
    "player1,player2,winner\na,b,1\na,b,2\n": [AB[0], ("a", "b", 0.0)],
    "home,away,score1,score2\na,b,3,1\nb,a,2,2\n": AB,
    "first\tsecond\toutcome\na\tb\t1.0\nb\ta\t0.50\n": AB,
    "engine1,engine2,wins,draws,losses\na,b,2,1,0\n": [("a", "b", 1.0), ("b", "a", 0.0), ("a", "b", 0.5)],
}


@pytest.mark.parametrize("text", TABLES)
def test_tables_by_their_columns(text):
    assert games_of(text) == TABLES[text]


def test_a_winner_by_number_is_no_outcome():
    with pytest.raises(ExchangeError, match="the winner is 0: that may be a draw"):
        games_of("player1,player2,winner\na,b,0\n")


def test_columns_are_told_and_can_be_named():
    text = "id,home,guest,who\n1,a,b,a\n2,b,a,draw\n"
    with pytest.raises(ExchangeError, match="the heading holds id, home, guest, who; it must hold first, second"):
        games_of(text)
    notes = []
    assert games_of(text, columns={"first": "home", "second": "guest", "outcome": "who"}, notes=notes) == AB
    assert notes == ["columns: first = home, second = guest, outcome = who"]
    games_of("first,second,outcome\na,b,1\n", notes=notes)
    assert len(notes) == 1
    for columns, message in [
        ({"firsst": "home"}, "there is no column 'firsst' to name"), ({"first": "hme"}, "the heading holds no 'hme'"),
    ]:  # fmt: skip
        with pytest.raises(ExchangeError, match=message):
            games_of(text, columns=columns)


@pytest.mark.parametrize("row, message", [
    ("a,b,x,0,0", "wins = 'x' is no number of games"), ("a,b,-1,0,0", "wins = '-1' is no number"),
    pytest.param("a,b,1000000,1,0", "there are more than 1,000,000 games", marks=pytest.mark.slow),
    ("a,a,1,0,0", "must be two"),
    ("a,b,5,0,99999999999", "line 2: losses = '99999999999' is out of range: it can be 0 to 1,000,000"),
    ("a,b,5,-1,0", "draws = '-1' is no number"), (",b,5,0,0", "must be two, with a name each"),
])  # fmt: skip
def test_counts_that_cannot_be(row, message):
    with pytest.raises(ExchangeError, match=message):
        from_csv(f"first,second,wins,draws,losses\n{row}\n")


NO_GAMES = ["", "-", " \u2013 ", "0"]
COUNTS = [(text, 0) for text in NO_GAMES] + [(str(number), number) for number in range(1, 5)]
ROWS = st.tuples(
    st.sampled_from(["a", "b", "c", ""]), st.sampled_from(["a", "b", "c", ""]),
    *[st.sampled_from([*COUNTS, ("x", None), ("-1", None), ("2.5", None), ("1000001", None), ("9" * 5000, None)])] * 3,
)  # fmt: skip


@given(st.lists(ROWS, max_size=8))
def test_rows_of_counts_are_stored_whole_or_named_by_their_lines(rows):
    """What is stored is the sum of the rows that can be read in full."""
    table = "".join(f"{first},{second},{','.join(text for text, _ in cells)}\n" for first, second, *cells in rows)
    left_out, stored, whole, lines = [], Counter(), Counter(), []
    for first, second, outcome in games_of(f"first,second,wins,draws,losses\n{table}", left_out=left_out):
        swapped = first > second
        stored[min(first, second), max(first, second), 1 - outcome if swapped else outcome] += 1
    for line, (first, second, *cells) in enumerate(rows, 2):
        if not first or not second or first == second or None in [number for _, number in cells]:
            lines.append(f"line {line}")
            continue
        for outcome, (_, number) in zip((1.0, 0.5, 0.0), cells):
            whole[min(first, second), max(first, second), 1 - outcome if first > second else outcome] += number
    assert stored == whole and [text.partition(":")[0] for text in left_out] == lines


def test_a_table_with_moves_is_replayed(tmp_path):
    (tmp_path / "t.csv").write_text("white,black,winner,moves\na,b,white,1. e4 e5 {x}\nb,a,black,e4 e9\n")
    done = call("import", tmp_path / "t.csv", "--game", "chess", "--out", tmp_path / "run")
    assert done.exit_code == 1 and "1 left out: line 3: move 2: 'e9' is not a legal move" in done.stderr
    (tmp_path / "u.csv").write_text("home,guest,who\na,b,a\nb,a,a\n")
    options = "--columns", "first=home,second=guest,outcome=who", "--out", tmp_path / "other"
    assert call("import", tmp_path / "u.csv", *options).exit_code == 0
    assert results.load(tmp_path / "other").games["outcome"].tolist() == [1.0, 0.0]
    wrong = call("import", tmp_path / "u.csv", "--columns", "home", "--out", tmp_path / "no")
    assert wrong.exit_code == 2 and "'home' names no column" in wrong.stderr
    (tmp_path / "g.sgf").write_bytes(SGF)
    useless = call("import", tmp_path / "g.sgf", "--columns", "first=a", "--out", tmp_path / "no")
    assert useless.exit_code == 2 and "--columns is for files .csv" in useless.stderr


def named(value):
    """Not by bytes, which have times in them: all workers must name a test alike."""
    return "data" if isinstance(value, bytes) else str(value)


TABLE = b"first,second,outcome\na,b,1\n"
SGF = b"(;GM[1]SZ[9]PB[a]PW[c]RE[B+R];B[ee])"


def packed(members, mode):
    held = io.BytesIO()
    if mode == "zip":
        with zipfile.ZipFile(held, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=held, mode=mode) as archive:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


MEMBERS = {
    "x/t.csv": TABLE,
    "x/u.csv.gz": gzip.compress(TABLE),
    "g.sgf": SGF,
    "read.me": b"no games",
    "notes.txt": b"no games",
}


@pytest.mark.parametrize("name, data, count", [
    ("t.csv.gz", gzip.compress(TABLE), 1), ("t.csv.bz2", bz2.compress(TABLE), 1), ("t.csv.xz", lzma.compress(TABLE), 1),
    ("t.zip", packed(MEMBERS, "zip"), 3), ("t.tar", packed(MEMBERS, "w"), 3), ("t.tgz", packed(MEMBERS, "w:gz"), 3),
    ("t.tar.xz", packed(MEMBERS, "w:xz"), 3),
], ids=named)  # fmt: skip
def test_archives(tmp_path, name, data, count):
    (tmp_path / name).write_bytes(data)
    done = call("import", tmp_path / name, "--out", tmp_path / "run")
    assert done.exit_code == 0 and len(results.load(tmp_path / "run").games) == count, done.stderr


def test_text_files_are_looked_into(tmp_path):
    """Those that hold games of no kind hold none."""
    pgn = b'[Event "x"]\n[White "a"]\n[Black "d"]\n[Result "1-0"]\n\n1. e4 1-0\n'
    (tmp_path / "t.zip").write_bytes(
        packed({"a.txt": b"ann\n\n" + SGF, "b.txt": pgn, "readme.txt": b"(; no game"}, "zip")
    )
    assert call("import", tmp_path / "t.zip", "--out", tmp_path / "run").exit_code == 0
    assert results.load(tmp_path / "run").games["second"].tolist() == ["c", "d"]
    (tmp_path / "readme.txt").write_bytes(b"(; no game")
    none = call("import", tmp_path / "readme.txt", "--out", tmp_path / "no")
    assert none.exit_code == 2 and "holds no game with a result" in none.stderr


WHOLE = [
    ("zip", packed(MEMBERS, "zip")), ("tar", packed({"t.csv": TABLE * 999}, "w")), ("tgz", packed(MEMBERS, "w:gz")),
    ("csv.gz", gzip.compress(TABLE)), ("csv.bz2", bz2.compress(TABLE)), ("csv.xz", lzma.compress(TABLE)),
]  # fmt: skip


@pytest.mark.parametrize("name, data, message", [
    ("t.zip", b"no zip", "cannot be unpacked"), ("t.csv.gz", b"no gzip", "cannot be unpacked"),
    ("t.tgz", b"no tar", "cannot be unpacked"), ("t.7z", b"7z", "Python unpacks no .7z; unpack it first"),
    *((f"t.{kind}", data[: len(data) // 2], "unpacked: it is damaged, or not whole: ") for kind, data in WHOLE),
    ("e.zip", packed({"a.dat": b""}, "zip"), "holds no file"),
    ("t.zip", packed(MEMBERS, "zip")[:-60], "cannot be unpacked"), ("t.dat", b"", "is not a file"),
], ids=named)  # fmt: skip
def test_broken_archives_leave_nothing(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    done = call("import", tmp_path / name, "--out", tmp_path / "run")
    assert done.exit_code == 2 and message in " ".join(done.stderr.split()) and not (tmp_path / "run").exists()
    assert "Traceback" not in done.stderr


ONE_PLAYER = {
    "t.csv": "first,second,winner\n{0},b,{1}\n{1},b,b\n",
    "t.pgn": '[White "{0}"]\n[Black "b"]\n\n1. e4 1-0\n\n[White "b"]\n[Black "{1}"]\n\n1. d4 1-0\n',
    "t.sgf": "(;GM[1]SZ[9]CA[UTF-8]PB[{0}]PW[b]RE[B+R];B[ee])(;GM[1]SZ[9]PB[b]PW[{1}]RE[B+R];B[aa])",
}


@pytest.mark.parametrize("name", ONE_PLAYER)
def test_a_name_in_two_encodings_is_one_player(tmp_path, name):
    forms = [unicodedata.normalize(form, "Andr\u00e9 \u1e69") for form in ("NFD", "NFC")]
    (tmp_path / name).write_text(ONE_PLAYER[name].format(*forms), encoding="utf-8")
    assert call("import", tmp_path / name, "--out", tmp_path / "run").exit_code == 0
    assert sorted(results.load(tmp_path / "run").standings()["agent"]) == [forms[1], "b"]


@given(st.text())
def test_text_is_the_same_in_whatever_form_it_is_written(text):
    forms = {decoded(unicodedata.normalize(form, text).encode()) for form in ("NFC", "NFD")}
    assert len(forms) == 1 and unicodedata.is_normalized("NFC", *forms)


def test_more_bytes_than_are_read_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("arena.results.files.sources.MOST_BYTES", 1000)
    large = TABLE * 100
    for name, data in [("a.csv.gz", gzip.compress(large)), ("a.zip", packed({"a.csv": large}, "zip"))]:
        (tmp_path / name).write_bytes(data)
        done = call("import", tmp_path / name, "--out", tmp_path / "run")
        assert done.exit_code == 2 and "has more than 1,000 bytes" in " ".join(done.stderr.split())
