"""SGF as programs write it: read for what it is, of the game that it names, and what is written is read back."""

import random
import time
from dataclasses import replace

import pytest

from arena import games, results
from arena.games.core.game import registry
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.files.decoding import declared
from arena.results.files.exchange import ExchangeError
from arena.results.files.legality import Wanted, made
from arena.results.files.sgf import from_sgf, games_with_sgf, openings, to_sgf
from tests.arena.stored import CONFIG, store_run
from tests.shipped import GAMES
from tests.typed import call

HEAD = "(;GM[1]FF[4]SZ[9]PB[Ann]PW[Ben]RE[B+R]"


def moves_of(text, spec="go(size=9)"):
    return [line for _, line in openings(text, games.make(spec))]


def one(text, spec=None):
    (record,) = from_sgf(text, spec and Wanted.by_spec(spec))
    return record


WRITTEN = {
    "names with small letters": ("(;GaMe[1]SiZe[9];Black[ee];White[ec])", "e5 e7"),
    "a pass of FF[3]": (HEAD + ";B[ee];W[tt];B[ec])", "e5 pass e7"),
    "an empty pass": (HEAD + ";B[ee];W[];B[ec])", "e5 pass e7"),
    "whose turn it is": (HEAD + "PL[B];B[ee];W[ec])", "e5 e7"),
    "White begins": (HEAD + ";W[ee];B[ec])", "pass e5 e7"),
    "handicap": (HEAD + "HA[2]AB[cg][gc];W[ee];B[ec])", "c3 pass g7 e5 e7"),
    "handicap as moves": (HEAD + "HA[2];B[cg];B[gc];W[ee];B[ec])", "c3 pass g7 e5 e7"),
    "handicap, and Black begins": (HEAD + "AB[cg][gc];B[ee])", "c3 pass g7 pass e5"),
    "stones of both": (HEAD + "AB[aa:ba]AW[cc];B[ee])", "a9 c7 b9 pass e5"),
    "a stone taken off": (HEAD + "AB[aa][ba]AE[ba];W[ee])", "a9 e5"),
    "variations": (HEAD + ";B[ee](;W[ec];B[cc](;W[gg])(;W[gc]))(;W[aa];B[bb]))", "e5 e7 c7 g3"),
    "a mail before": ("see [1] (or not):\n" + HEAD + "\n;B[ee]\n;W[ec]C[(;GM[1\\];B[aa])])", "e5 e7"),
    "a third pass": (HEAD + ";B[ee];W[];B[];W[])", "e5 pass pass"),
    "width and height": ("(;SZ[9:9];B[ee];W[ec])", "e5 e7"),
    "marks between": (HEAD + ";B[ee]BL[30.5]C[well \\\nplayed \\] yes];W[ec]LB[aa:1][bb:2])", "e5 e7"),
}


@pytest.mark.parametrize("text, line", WRITTEN.values(), ids=WRITTEN)
def test_main_lines(text, line):
    assert moves_of(text) == [line]


REFUSED = {
    "(;GM[4]SZ[9];B[ee])": r"is of mnk \(GM\[4\]\), and not of go",
    "(;GM[7]SZ[9];B[ee])": r"is of a game that is not here: GM\[7\]",
    "(;GM[1]SZ[13];B[dd])": r"is of go\(size=13\), with size = 13, and not of go",
    "(;GM[1];B[dd])": r"is of go\(size=19\), with size = 19",
    "(;GM[1]SZ[25];B[dd])": r"has SZ\[25\]: size = 25 is out of range",
    "(;GM[1]SZ[x];B[dd])": r"has SZ\[x\], which is no size",
    "(;GM[1]SZ[9];B[jj])": r"\[jj\] is no point of 9x9",
    "(;GM[1]SZ[9];B[ee];W[ee])": "move 2: 'e5' is not a legal move",
    "(;GM[1]SZ[9];B[ee];B[ec])": r"B\[ec\] is move 2, which is the other player's",
    "(;GM[1]SZ[9];B[ee];AB[aa];W[ec])": r"sets stones up \(AB\) after 1 moves",
    "(;GM[1]SZ[9]HA[3];B[aa];B[bb];W[cc])": r"has HA\[3\], and not so many stones",
    "(;GM[1]SZ[9];B[ee];W[ec]": "does not end: a bracket is missing",
    "(;GM[1]SZ[9];B[ee]C[no end": "does not end: a bracket is missing",
    "(;GM[1]SZ[9]KM[90];B[ee])": r"has KM\[90\], which is no komi on 9x9",
    "(;GM[1]SZ[9]KM[x];B[ee])": r"has KM\[x\], which is no komi on 9x9",
    "(;GM[1]SZ[9]AB[aa:\U0010ffffz];B[ee])": "has .*, which is no rectangle of points",
    "(;GM[1]SZ[9]AB" + "[aa:zz]" * 2 + ";B[ee])": "sets up more than 1000 stones",
    "(;SZ[9:13];B[ee])": r"has SZ\[9:13\], which is no size",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_game_of_go_9x9_is_refused(text):
    """And costs no other game, also where it does not end."""
    with pytest.raises(ValueError, match="game 1: " + REFUSED[text]):
        moves_of(text)
    left_out = []
    if "no end" not in text:
        found = from_sgf(text + HEAD + ";B[ee])", Wanted.by_spec("go(size=9)"), left_out)
        assert [record.moves for record in found] == ["e5"] and len(left_out) == 1


def test_parameters_that_are_not_given_follow_the_record():
    text = HEAD.replace("SZ[9]", "SZ[13]KM[5.5]") + ";B[dd])"
    conditions = {}
    assert len(from_sgf(text + HEAD + ";B[ee])", Wanted.by_spec("go"), conditions=conditions)) == 2
    assert list(conditions) == ["go(size=13, komi=5.5)", "go"]
    for spec in ("go(komi=7.5)", "go(13, 7.5)"):
        with pytest.raises(ExchangeError, match=r"with komi = 5\.5, and not of go"):
            from_sgf(text, Wanted.by_spec(spec))


@pytest.mark.parametrize("said, outcome, score", [
    ("B+R", 1.0, None), ("W+Resign", 0.0, None), ("b+3.5", 1.0, 3.5), ("W + 0,5", 0.0, -0.5), ("W+Time", 0.0, None),
    ("B+", 1.0, None), ("B", 1.0, None), ("White wins by 4", 0.0, None), ("0", 0.5, 0.0), ("Draw", 0.5, 0.0),
    ("Jigo", 0.5, 0.0), ("Void", None, None), ("White resigns.", 1.0, None), ("?", None, None), ("", None, None),
])  # fmt: skip
def test_results(said, outcome, score):
    left_out = []
    found = from_sgf(HEAD.replace("B+R", said) + ";B[ee])", left_out=left_out)
    assert [(record.outcome, record.score) for record in found] == ([] if outcome is None else [(outcome, score)])
    assert len(left_out) == (outcome is None)
    with pytest.raises(ExchangeError, match="has the result 'C'"):
        from_sgf(HEAD.replace("B+R", "C") + ";B[ee])")


@pytest.mark.parametrize(
    "written, komi", [("750", 7.5), ("375", 7.5), ("650", 6.5), ("0", 0.0), ("6,5", 6.5), ("", 7.5)]
)
def test_komi_as_servers_write_it(written, komi):
    conditions = {}
    from_sgf(HEAD + f"KM[{written}];B[ee])", conditions=conditions)
    assert games.make(*conditions).komi == komi


def test_swap_in_hex():
    text = "(;AP[HexGui:0.9]FF[4]GM[11]SZ[11]PB[a]PW[b]RE[W+R];B[a10];W[swap-pieces];B[f6];W[e5])"
    conditions = {}
    (record,) = from_sgf(text, conditions=conditions)
    assert (record.moves, list(conditions)) == ("a10 swap f6 e5", ["hex(swap=True)"])
    assert moves_of(text, "hex(swap=true)") == ["a10 swap f6 e5"]
    for spec in ("hex", "hex(swap=false)"):
        with pytest.raises(ValueError, match="with swap = true, and not of hex"):
            moves_of(text, spec)
    with pytest.raises(ExchangeError, match="has swap-sides, which turns the board"):
        one(text.replace("swap-pieces", "swap-sides"))


def test_whoever_moves_first_is_the_first_player():
    """As Black, with what is said of the players."""
    (record,) = from_sgf("(;GM[18]SZ[6]PB[Ann]PW[Ben]BR[1k]WR[2d]RE[W+R];W[b1-b2/b1];B[a5-a4/a5])")
    assert (record.first, record.outcome) == ("Ben", 1.0)
    again = to_sgf(games.make("amazons(size=6)"), record)
    assert (
        all(part in again for part in ("PB[Ben]", "RE[B+R]", "BR[2d]", "WR[1k]", ";B[b1-b2/b1]"))
        and one(again) == record
    )


def test_hex_as_little_golem_writes_it():
    """PB moves first, as W; the points are letters; who resigns is a move."""
    text = "(;FF[4]EV[hex.ld.DEFAULT]PB[Ann]PW[Ben]SZ[13]RE[B]SO[http://www.littlegolem.com];W[ac];B[swap];W[ie];B[resign])"
    nameless = text.replace("hex.ld.DEFAULT", "null")
    for record in (one(text), one(text, "hex"), one(text.replace("RE[B]", "")), one(nameless, "hex")):
        assert (record.first, record.second, record.outcome, record.moves) == ("Ann", "Ben", 1.0, "a3 swap i5")
    with pytest.raises(ExchangeError, match="does not say which game it is of"):
        one(nameless)
    (go,) = from_sgf("(;EV[go.1]PB[a]PW[b]SZ[9]KM[5.5]RE[B]SO[http://www.littlegolem.com];B[ee])")
    assert go.moves == "e5"


def test_othello_with_its_first_discs_and_without_forced_passes():
    game = games.make("othello")
    rng, state, words, colours = random.Random(8), game.initial(), [], []
    while not game.is_over(state):
        move = rng.choice(list(game.moves(state)))
        words.append(game.move_name(state, move))
        colours.append("BW"[game.player(state)])
        game.play(state, move)
    assert "pass" in words
    line = "".join(f";{c}[{game.sgf_move(word)}]" for c, word in zip(colours, words) if word != "pass")
    text = f"(;GM[2]PB[a]PW[b]AB[ed][de]AW[dd][ee]{line})"
    record = one(text)
    assert record.moves.split() == words and record.outcome == (float(game.score(state) > 0))
    with pytest.raises(ExchangeError, match="begins from a position"):
        one(text.replace("AB[ed]", "AB[aa]"))
    with pytest.raises(ExchangeError, match=r"B\[\w+\] is move 2, which is the other player's"):
        one(text.replace(";W", ";B", 1))


@pytest.mark.parametrize(
    "name, charset",
    [("Žofie", "UTF-8"), ("吴清源", "GBK"), ("木谷實", "Shift_JIS"), ("林海峰", "Big5"), ("é", "latin1")],
)
def test_sets_of_characters(name, charset):
    data = f"(;CA[{charset}]PB[{name}])".encode(charset)
    assert name in declared(data)
    assert declared(data.replace(charset.encode(), b"none-such"))


def test_the_rules_decide_where_they_end_the_game():
    text = "(;GM[11]SZ[2]PB[a]PW[b]RE[W+R];B[a1];W[b1];B[a2])"
    notes = []
    (record,) = from_sgf(text, notes=notes)
    assert record.outcome == 1.0 and notes == ["game 1: the record says W+R, by the rules it is 1-0: stored so"]
    passed = HEAD.replace("B+R", "W+4.5") + ";B[ee];W[];B[])"
    assert one(passed).outcome == 0.0  # dead stones are theirs to tell


SPECS = {
    "go": "go(size=5)",
    "hex": "hex(size=4, swap=true)",
    "mnk": "mnk(rows=6, columns=7, k=5)",
    "amazons": "amazons(size=6)",
}


@pytest.mark.parametrize("name", [name for name in games_with_sgf() if name in GAMES])
def test_what_is_written_is_read_back(tmp_path, name):
    """All but decisions; and the same again, once more."""
    spec = SPECS.get(name, name)
    agents = [{"agent": "random", "name": "] \\ x"}, {"agent": "random", "name": "b"}]
    with Store.open(store_run(tmp_path / "run", CONFIG | {"game": spec, "games": 4, "agents": agents})) as store:
        played = list(store.records())
    game, conditions = games.make(spec), {}
    read = from_sgf("".join(to_sgf(game, record) for record in played), conditions=conditions)
    assert list(conditions) == [str(game)]
    again = from_sgf("".join(to_sgf(game, record) for record in read))
    assert again == read and len(read) == 4
    for record, before in zip(read, played):
        line = f"{before.opening_moves} {before.moves}".strip()
        assert record == replace(
            record, first=before.first, second=before.second, outcome=before.outcome, moves=line, opening=before.opening
        )
        assert name != "go" or record.score == before.score


def test_handicap_and_words_are_written_again():
    text = HEAD + "HA[2]AB[cg][gc]KM[0.5]DT[1999-01-02]EV[a \\] cup]RU[Japanese]C[begins];W[ee]C[good];B[])"
    record = one(text)
    assert (record.opening_moves, record.moves, record.plies) == ("c3 pass g7", "e5 pass", 5)
    again = to_sgf(games.make("go(komi=0.5)"), record)
    for part in (
        "HA[2]",
        "AB[cg][gc]",
        "PL[W]",
        "DT[1999-01-02]",
        "EV[a \\] cup]",
        "RU[Japanese]",
        "C[begins]",
        "C[good]",
    ):
        assert again.count(part) == 1, part
    assert again.count("RE[B+R]") == 1 and one(again) == record


def test_import_and_export_of_several_games(tmp_path):
    """The games that the file names are the run's conditions."""
    text = HEAD + ";B[ee])" + HEAD.replace("SZ[9]", "SZ[13]") + ";B[dd])" + "(;GM[11]SZ[5]PB[Ann]PW[Ben]RE[W+R];B[c3])"
    (tmp_path / "g.sgf").write_text(text)
    done = call("import", tmp_path / "g.sgf", "--out", tmp_path / "run")
    assert done.exit_code == 0 and "3 games are stored" in done.stderr
    run = results.load(tmp_path / "run")
    assert [condition.instance for condition in run.conditions] == ["go", "go(size=13)", "hex(size=5)"]
    back = call("export", tmp_path / "run", "--format", "sgf").stdout
    (tmp_path / "b.sgf").write_text(back)
    assert call("import", tmp_path / "b.sgf", "--out", tmp_path / "again").exit_code == 0
    with Store.open(tmp_path / "run") as one, Store.open(tmp_path / "again") as other:
        assert [replace(record, detail="") for record in one.records()] == [
            replace(record, detail="") for record in other.records()
        ]
        assert all(record.reason == Reason.IMPORTED for record in one.records())


def test_no_record_has_a_file_read(tmp_path, monkeypatch):
    """A comment may look like a game of ours that is made from a file."""
    asked, make = [], registry.make
    monkeypatch.setattr(registry, "make", lambda spec: asked.append(spec) or make(spec))
    for comment in (f"go(size=9, evaluation='file:{tmp_path}/x')", f"tree(file='{tmp_path}/x')", "go(size=9"):
        record = one(HEAD.replace("RE[B+R]", f"RE[B+R]GC[{comment}]") + ";B[ee])")
        assert record.moves == "e5" and comment in record.detail
    assert not any("x'" in spec for spec in asked) and made("hex(size=4, swap=True)").swap


@pytest.mark.parametrize(
    "part", [" ", "A", "A[", "(", "(;", "(;GM[1]", ";B[aa]", "A[x][", "(;A[x]", "[", "\\", "AB[aa:zz]", "a "]
)
def test_reading_takes_time_in_proportion_to_the_text(part):
    """Whatever is repeated: a reader that looks at the rest again and again would take minutes."""
    begin = time.process_time()
    left_out = []
    from_sgf("(;" + part * (200_000 // len(part)), Wanted.by_spec("go(size=9)"), left_out)
    assert left_out and time.process_time() - begin < 4
