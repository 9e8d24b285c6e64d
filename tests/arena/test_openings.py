"""Openings from files, from lists, and all there are: what is accepted, what is told, and what is played."""

import struct
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena import games
from arena.config import loading
from arena.config.config import ConfigError
from arena.config.openings import BadOpenings, every, lines_of, remarks
from arena.play.match import play_fixture
from arena.results.database.store import Store
from arena.results.files.pgn import to_pgn
from arena.study.preparing import opening_book
from arena.study.verifying import replayer
from tests.arena.fixtures import round_robin

AGENTS = [{"agent": "random"}, {"agent": "random", "name": "b"}]


def keys(openings, **more):
    return {"game": "tictactoe", "games": 4, "openings": openings, "agents": AGENTS} | more


def states_after(game, state, plies):
    """The states that all sequences of moves lead to, of those that do not end the game."""
    if game.is_over(state):
        return set()
    if plies == 0:
        return {state.tobytes()}
    return set().union(*(states_after(game, game.after(state, move), plies - 1) for move in game.moves(state)))


def test_every_opening_is_a_position_of_its_own():
    game = games.make("tictactoe")
    assert [len(every(game, plies)) for plies in range(5)] == [1, 9, 72, 252, 756]  # 9, 9*8, C(9,2)*7, C(9,2)*C(7,2)
    assert every(game, 0) == [""] and every(game, 1)[:3] == ["1a", "1b", "1c"]
    connect4 = games.make("connect4")
    assert len(every(connect4, 2)) == games.perft(connect4, 2) == 49
    small = games.make("breakthrough(rows=5, columns=3)")
    assert {small.read_line(line)[1].tobytes() for line in every(small, 3)} == states_after(small, small.initial(), 3)
    assert len(every(small, 3)) == len(states_after(small, small.initial(), 3)) < games.perft(small, 3)


def test_openings_of_chance_are_openings():
    lines = every(games.make("pig(target=20)"), 2)
    assert "roll 3" in lines and lines == lines_of({"plies": 2, "all": True}, games.make("pig(target=20)"))


@pytest.mark.parametrize("game, plies, message", [
    ("tictactoe", 9, "is over within 9 plies"), ("tictactoe", 10, "plies = 10 is out of range: it can be 0 to 9"),
    ("hex(size=7)", 4, "there are more than 10000 openings of 4 plies"),
    ("tictactoe", "2", "plies = '2' is out of range"),
])  # fmt: skip
def test_openings_that_there_are_not(game, plies, message):
    with pytest.raises(BadOpenings, match=message):
        every(games.make(game), plies)


def test_a_file_beside_the_configuration(tmp_path):
    (tmp_path / "book.txt").write_text("# a comment\n\n  2b   1a\n3c\n")
    text = 'game = "tictactoe"\n{}[[agents]]\nagent = "random"\n[[agents]]\nagent = "random"\nname = "b"\n'
    for value in ('"book.txt"', '{ file = "book.txt" }', '["2b 1a", "3c"]'):
        (tmp_path / "t.toml").write_text(text.format(f"openings = {value}\n"))
        resolved = loading.load(tmp_path / "t.toml").resolved()
        assert resolved["openings"] == ["2b 1a", "3c"] and resolved["games"] == 4 and "opening_plies" not in resolved
        assert loading.from_values(resolved).resolved() == resolved


def test_games_without_a_number_are_all_openings_with_both_sides():
    checked = loading.from_values({"game": "tictactoe", "openings": {"plies": 1, "all": True}, "agents": AGENTS})
    assert checked.values["games"] == 18 and checked.resolved()["openings"] == every(games.make("tictactoe"), 1)


def test_they_are_played_with_both_sides_and_begin_again(tmp_path):
    arena.run(keys(["2b 1a", "3c"], games=6), tmp_path, workers=1)
    with Store.open(tmp_path) as store:
        played = store.select("SELECT opening, opening_moves FROM games ORDER BY number")
    assert played == [(k, line) for k, line in enumerate(["2b 1a", "3c", "2b 1a"]) for _ in range(2)]


def test_a_stored_run_needs_no_file(tmp_path):
    (tmp_path / "book.txt").write_text("2b\n")
    arena.run(keys(str(tmp_path / "book.txt"), games=2), tmp_path / "run", workers=1)
    (tmp_path / "book.txt").unlink()
    with Store.open(tmp_path / "run") as store:
        resolved = store.config
    assert len(arena.run(resolved | {"games": 4}, tmp_path / "run", workers=1, resume=True).games) == 4
    with pytest.raises(ConfigError, match=r"openings = .*but the run was started with"):
        arena.run(resolved | {"openings": ["1a"]}, tmp_path / "run", workers=1, resume=True)


def test_the_same_games_as_with_random_plies_but_for_the_opening():
    fixture = round_robin(2, 4, 0)[0]
    drawn = play_fixture(loading.from_values(keys(["2b"])), fixture)
    assert drawn.opening_moves == "2b" and drawn.seed == fixture.seed
    random_plies = {key: value for key, value in keys([]).items() if key != "openings"} | {"opening_plies": 3}
    assert play_fixture(loading.from_values(random_plies), fixture).opening_moves.count(" ") == 2


@pytest.mark.parametrize("openings, message", [
    ("none.txt", "none.txt cannot be read: No such file"), ([], "there is no opening"),
    (5, "openings is a file's name, { file = 'book.pgn', plies = 8 }"),
    ({"plies": 2}, "openings is a file's name"), ({"plies": 2, "all": False}, "openings is a file's name"),
    ({"file": 3}, "openings is a file's name"), (["1a", "1a 1a"], "line 2: '1a' is not a legal move of tictactoe here"),
    (["1a 2a 1b 2b 1c"], "line 1: tictactoe is over after '1a 2a 1b 2b 1c'"), ([3], "openings is a file's name"),
    ({"plies": 9, "all": True}, "is over within 9 plies"), (["1z"] * 9, "and 4 more lines that are wrong"),
    (["1a"] * 10_001, "there are 10001 openings; there can be 10000"),
])  # fmt: skip
def test_mistakes_in_openings(openings, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        loading.from_values(keys(openings))
    assert message in str(error.value) and "openings = " in str(error.value)


def test_lines_of_a_file_are_named(tmp_path):
    (tmp_path / "book.txt").write_text("# good\n1a\n\n9z\n")
    (tmp_path / "latin.txt").write_bytes(b"1a\n\xff\n")
    with pytest.raises(ConfigError, match=r"book.txt, line 4: '9z' is not a legal move"):
        loading.from_values(keys(str(tmp_path / "book.txt")))
    with pytest.raises(ConfigError, match=r"latin.txt, line 2: .ÿ. is not a legal move"):
        loading.from_values(keys(str(tmp_path / "latin.txt")))


def test_openings_have_no_place_beside_random_plies_or_puzzles():
    with pytest.raises(ConfigError, match="together with opening_plies"):
        loading.from_values(keys(["1a"], opening_plies=3))
    with pytest.raises(ConfigError, match=r"openings = .* is for two players"):
        loading.from_values(keys(["1"], game="samegame(rows=4, columns=4)"))


# -- Other programs' files -------------------------------------------------------------------------------------------

EPD = """rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - bm Nf3; id "open";
rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2
"""
PGN = """[White "a"]
[Black "b"]
[Result "1-0"]

1. e4 {best} e5 (1... c5 2. Nf3) 2. Nf3 Nc6 1-0

[White "a"]
[Black "b"]
[SetUp "1"]
[FEN "7k/8/5K2/8/8/8/6Q1/8 b - - 0 1"]
[Result "*"]

*

[White "gone"]
[Black "home"]
[Result "0-1"]

0-1

[White "a"]
[Black "b"]
[Result "*"]

1. e4 e5 2. Nc3 *
"""
SGF = r"""(;GM[1]SZ[9]PB[a\]b];B[ee];W[gc]C[a (test) \] here];B[cg](;W[gg];B[cc])(;W[aa]))
(;GM[1]SZ[9];B[ee];W[gc];B[cg])"""
POSITION = "7k/8/5K2/8/8/8/6Q1/8_b_-_-_0_1"


def read(tmp_path, name, text, spec, **options):
    (tmp_path / name).write_text(text)
    return lines_of({"file": str(tmp_path / name)} | options, games.make(spec))


def test_positions_of_epd(tmp_path):
    assert read(tmp_path, "b.epd", EPD, "chess") == [
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR_w_KQkq_-_0_1",
        "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R_b_KQkq_-_1_2",
    ]
    chess = games.make("chess")
    assert lines_of(["7k/8/5K2/8/8/8/6Q1/8 b - - Kh7"], chess) == ["7k/8/5K2/8/8/8/6Q1/8_b_-_-_0_1 Kh7"]
    assert lines_of(["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 e4"], chess) == ["e4"]
    with pytest.raises(BadOpenings, match="line 1: FEN: the side to move is 'x'; it can be w or b"):
        lines_of(["7k/8/5K2/8/8/8/6Q1/8 x - -"], chess)


def test_games_of_pgn(tmp_path):
    assert read(tmp_path, "g.pgn", PGN, "chess") == ["e4 e5 Nf3 Nc6", POSITION, "e4 e5 Nc3"]
    assert read(tmp_path, "g.pgn", PGN, "chess", plies=2) == ["e4 e5", POSITION]  # each once
    assert read(tmp_path, "g.pgn", PGN, "chess", plies=3, count=1) == ["e4 e5 Nf3"]
    assert read(tmp_path, "h.pgn", '[White "a"]\n\n1. a1 2. b1 *', "hex(size=3)") == ["a1 b1"]


def test_main_lines_of_sgf(tmp_path):
    go = "go(size=9)"
    assert read(tmp_path, "g.sgf", SGF, go) == ["e5 g7 c3 g3 c7", "e5 g7 c3"]
    assert read(tmp_path, "g.sgf", SGF, go, plies=3) == ["e5 g7 c3"]
    for text, message in [
        ("(;SZ[9];B[ee];AB[aa])", r"game 1: sets stones up \(AB\) after 1 moves"),
        ("(;SZ[9];B[ee];B[ea])", r"game 1: B\[ea\] is move 2, which is the other player's"),
        ("(;SZ[9];B[ee];W[ee])", r"game 1: move 2: 'e5' is not a legal move of go"),
        ("(;SZ[9];B[ee]", "game 1: does not end: a bracket is missing"),
        ("(;GM[4]SZ[9];B[ee])", r"game 1: is of mnk \(GM\[4\]\), and not of go"),
        ("(;B[ee])", r"game 1: is of go\(size=19\), with size = 19"),
    ]:  # fmt: skip
        with pytest.raises(BadOpenings, match=message):
            read(tmp_path, "g.sgf", text, go)
    with pytest.raises(BadOpenings, match="tictactoe has no records in SGF"):
        read(tmp_path, "g.sgf", SGF, "tictactoe")


@pytest.mark.parametrize("name, spec", [("x.pgn", "chess"), ("x.sgf", "go"), ("x.epd", "chess"), ("x.txt", "chess")])
def test_files_without_openings_are_named(name, spec, tmp_path):
    with pytest.raises(BadOpenings, match=f"{name} holds no opening"):
        read(tmp_path, name, "\n", spec)


def test_lines_drawn_from_a_polyglot_book(tmp_path):
    """By weight: a move of weight 0 never, one of weight 3 three times as often as one of weight 1."""
    polyglot, board = pytest.importorskip("chess.polyglot"), pytest.importorskip("chess").Board()
    weights = {"e2e4": 3, "d2d4": 1, "g1f3": 0}

    def entry(uci, weight):
        squares = [(ord(uci[i]) - 97) + 8 * (int(uci[i + 1]) - 1) for i in (0, 2)]
        return struct.pack(">QHHI", polyglot.zobrist_hash(board), squares[1] | squares[0] << 6, weight, 0)

    (tmp_path / "b.bin").write_bytes(b"".join(entry(*each) for each in weights.items()))
    book = {"file": str(tmp_path / "b.bin"), "plies": 4, "count": 1}
    first = Counter(lines_of(book | {"seed": seed}, games.make("chess"))[0] for seed in range(400))
    assert first.keys() == {"e4", "d4"} and 250 < first["e4"] < 350
    assert set(lines_of(book | {"count": 10}, games.make("chess"))) == {"e4", "d4"}  # which runs out
    for wrong, spec, message in [
        (book, "hex", "Polyglot books are of chess, not of hex"),
        ({"file": book["file"]}, "chess", "say how often and how deep, as by plies = 8, count = 500"),
    ]:
        with pytest.raises(BadOpenings, match=message):
            lines_of(wrong, games.make(spec))


def polyglot_entries(*lines):
    """The entries of a Polyglot book that holds the moves of these lines, each with weight 1."""
    chess, polyglot = pytest.importorskip("chess"), pytest.importorskip("chess.polyglot")
    found = set()
    for line in lines:
        board = chess.Board()
        for word in line.split():
            move = board.parse_san(word)
            code = move.to_square | move.from_square << 6
            found.add(struct.pack(">QHHI", polyglot.zobrist_hash(board), code, 1, 0))
            board.push(move)
    return sorted(found)


OPEN, MATE = ["e4 e5 Nf3 Nc6", "d4 d5 c4 e6"], "f3 e5 g4 Qh4#"


@settings(max_examples=15)
@given(st.data())
def test_the_entries_of_a_book_can_be_in_any_order(tmp_path_factory, data):
    """Such as those of two books one behind the other."""
    path = tmp_path_factory.getbasetemp() / "joined.bin"
    path.write_bytes(b"".join(data.draw(st.permutations(polyglot_entries(*OPEN, "c4 c5")))))
    lines = lines_of({"file": str(path), "plies": 4, "count": 10}, games.make("chess"))
    assert sorted(lines) == ["c4 c5", "d4 d5 c4 e6", "e4 e5 Nf3 Nc6"]


@pytest.mark.parametrize("ends, message", [
    (MATE, "chess is over after 'f3 e5 g4 Qh4#'; plies = 3 would cut it"),
    ("Nf3 Nf6 Ng1 Ng8", "chess is over after 'Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8'; plies = 7 would cut it"),
])  # fmt: skip
def test_lines_of_a_book_that_end_the_game_are_told_and_cost_no_others(tmp_path, caplog, ends, message):
    book = {"file": str(tmp_path / "b.bin"), "plies": 8, "count": 10}
    (tmp_path / "b.bin").write_bytes(b"".join(polyglot_entries(*OPEN, ends)))
    lines = lines_of(book, games.make("chess"))
    assert {*OPEN} <= {*lines} and len({*lines}) == len(lines) and ends not in lines
    assert "lines that are left out: 1; the first: " in caplog.text and message in caplog.text
    (tmp_path / "b.bin").write_bytes(b"".join(polyglot_entries(ends)))
    with pytest.raises(BadOpenings, match=message):
        lines_of(book, games.make("chess"))
    (tmp_path / "b.bin").write_bytes(b"x" * 17)
    with pytest.raises(BadOpenings, match="is no Polyglot book, or damaged: 17 bytes"):
        lines_of(book, games.make("chess"))


def test_messages_about_openings_are_of_one_line_whatever_they_quote():
    with pytest.raises(BadOpenings) as error:
        lines_of(["e" * 100_000, "1a\n2z"], games.make("tictactoe"))
    assert all(len(problem) < 500 and "\n" not in problem for problem in error.value.problems)


def test_there_can_be_as_many_openings_as_are_said(monkeypatch):
    monkeypatch.setattr("arena.config.openings.MAX_LINES", 9)
    game = games.make("tictactoe")
    assert len(lines_of(["1a"] * 9, game)) == len(every(game, 1)) == 9
    with pytest.raises(BadOpenings, match="there are 10 openings; there can be 9"):
        lines_of(["1a"] * 10, game)


def test_order_and_number():
    chosen = {"plies": 1, "all": True, "order": "random", "seed": 1}
    lines = lines_of(chosen, games.make("connect4"))
    assert sorted(lines) == [str(column) for column in range(1, 8)] != lines
    assert lines_of(chosen | {"count": 3}, games.make("connect4")) == lines[:3]
    for key, value in [("order", "best"), ("seed", -1), ("count", 0)]:
        with pytest.raises(BadOpenings, match=f"{key} = "):
            lines_of(chosen | {key: value}, games.make("connect4"))


@pytest.mark.parametrize("lines, number, found", [
    (["1", "2"], 4, []), (["1", "1", "2"], 6, ["1 of 3 openings repeat another one"]),
    (["1", "2"], 6, ["games = 6 are 3 pairs for 2 openings, which begin again"]),
    (["1", "2", "3"], 4, ["games = 4 are 2 pairs: the first 2 of 3 openings are played"]), (None, 4, []),
])  # fmt: skip
def test_what_repeats_and_what_runs_out_is_said(lines, number, found):
    assert remarks(lines, number) == found


def test_a_run_from_positions(tmp_path):
    """Either side begins; the games are replayed, graded, exported and made into a book as they were played."""
    mates = ["7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", "7k/8/5K2/8/8/8/6Q1/8 b - - 3 9 Kh7", "K7/8/2k3q1/8/8/8/8/8 b - -"]
    keys = {"game": "chess", "games": 6, "openings": mates, "agents": AGENTS, "seed": 3}
    arena.run(keys, tmp_path, workers=1)
    with Store.open(tmp_path) as store:
        records = list(store.records())
        check = replayer(store.config)
    assert [check(record) for record in records] == [""] * 6
    begun = [record.opening_moves.split() for record in records]
    assert begun[2] == ["7k/8/5K2/8/8/8/6Q1/8_b_-_-_3_9", "Kh7"] and begun[0] == begun[1] != begun[4]
    sides = [next(iter(record.decisions)).side for record in records]
    assert sides == [0, 0, 0, 0, 1, 1]
    text = to_pgn(records[2], "event")
    assert '[FEN "7k/8/5K2/8/8/8/6Q1/8 b - - 3 9"]' in text and "\n9... Kh7 {opening} 10. " in text
    assert records[2].plies == 1 + len(records[2].moves.split())
    exact = games.make("chess")
    assert exact.read_line(f"{records[2].opening_moves} {records[2].moves}")[1].size == exact.state_size
    _, positions, played = opening_book(tmp_path, 3, 1)
    assert played == 6 and positions >= 3
