"""Chess: published counts, in step with python-chess (`pip install chess`, or the extra `interop`), ends and names."""

import io
import json
import random
import re

import numpy as np
import pytest

from arena import games
from arena.agents.outside.uci import spoken
from arena.games.core.boards.drawing import CELL, EDGE
from arena.games.core.boards.fen import first_rank, read_fen, write_fen
from arena.games.core.families.chessboard import CLOCK, DEAD, END, FIFTY, MATE, REPETITION, STALEMATE
from arena.games.core.play.in_progress import GameInProgress
from arena.results.database.store import Store
from arena.results.files.pgn import to_pgn
from tests.results.sample import make_game
from tests.typed import call

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
# The positions that chess programmers count, and their counts to depth 1, 2, ...; the last two are for the long test
COUNTS = {
    START: [20, 400, 8902, 197281, 4865609, 119060324],
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": [48, 2039, 97862, 4085603, 193690690],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238, 674624, 11030083, 178633661],
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": [6, 264, 9467, 422333, 15833292],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379, 2103487, 89941194],
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": [46, 2079, 89890, 3894594, 164075551],
}


def make(fen):
    return games.make(f"chess(fen={fen!r})")


def after(fen, line):
    """(game, state) after a line of moves from a position."""
    game = make(fen)
    return game, game.read_line(line)[1]


def counts(fen, deepest):
    return [games.perft(make(fen), depth + 1) for depth in range(deepest)]


@pytest.mark.parametrize("fen", COUNTS)
def test_counts(fen):
    assert counts(fen, 4) == COUNTS[fen][:4]


@pytest.mark.slow
@pytest.mark.parametrize("fen", COUNTS)
def test_counts_deep(fen):
    assert counts(fen, len(COUNTS[fen])) == COUNTS[fen]


# -- In step with python-chess -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("chess", reason="python-chess is not installed: pip install chess")


def is_over(board):
    return (
        not any(board.legal_moves)
        or board.is_repetition(3)
        or board.halfmove_clock >= 100
        or board.is_insufficient_material()
    )


def play_in_step(theirs, board, game, chance, most):
    """Compare moves, names, ends and FEN along a random game; returns how many positions were met."""
    board, state = board.copy(), game.initial()
    for ply in range(most):
        assert game.fen_of(state) == board.fen()
        assert game.is_over(state) == is_over(board), board.fen()
        if is_over(board):
            assert {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1"}[game.score(state)] == board.result(claim_draw=True)
            return ply + 1
        ours = {game.uci_name(state, move): move for move in game.moves(state)}
        legal = {board.uci(move): move for move in board.legal_moves}
        assert ours.keys() == legal.keys(), board.fen()
        name = chance.choice(sorted(legal))
        san = game.move_name(state, ours[name])
        assert san == board.san(legal[name])
        assert {game.parse_move(state, text) for text in (name, san, san.rstrip("+#"))} == {ours[name]}
        game.play(state, ours[name])
        board.push(legal[name])
    return most


def positions_in_step(theirs, positions, most):
    """Play random games from chess's start, from Chess960's, and from ends with few men, until so many are compared."""
    chance, seen, number = random.Random(8), 0, 0
    while seen < positions:
        kind, setup = number % 3, chance.randrange(960)
        if kind == 0:
            board, game = theirs.Board(), games.make("chess")
        elif kind == 1:
            board, game = theirs.Board.from_chess960_pos(setup), games.make(f"chess(setup={setup})")
        else:
            board = few_men(theirs, chance)
            game = make(board.fen())
        with np.errstate(all="raise"):
            seen += play_in_step(theirs, board, game, chance, most)
        number += 1


def few_men(theirs, chance):
    """A legal position of the kings and up to three other men, which repeats and ends more often than others."""
    while True:
        board = theirs.Board(None)
        for man, square in zip("Kk" + "".join(chance.choices("PpNnBbRrQq", k=3)), chance.sample(range(64), 5)):
            board.set_piece_at(square, theirs.Piece.from_symbol(man))
        board.turn = chance.random() < 0.5
        if board.is_valid():
            return board


def test_in_step(theirs):
    positions_in_step(theirs, 900, 100)


@pytest.mark.slow
def test_in_step_long(theirs):
    positions_in_step(theirs, 100_000, 1000)


def test_starts_of_chess960(theirs):
    assert [first_rank(number) for number in range(0, 960, 37)] == [
        theirs.Board.from_chess960_pos(number).fen() for number in range(0, 960, 37)
    ]


# -- Evaluations ---------------------------------------------------------------------------------------------------

# Found by search, with the terms of the lecture notes: 5(0 - 1) + 3(2 - 1) - (0 - 2 + 0 - 1)/2 + (43 - 39)/10 = -0.1
EXAMPLE = "2k5/p1Npp1Qr/1p1p4/5p2/1q6/5BP1/PPPP3P/1K3b2 w - - 0 24"


def with_colours_swapped(fen):
    """The same position with the board upside down, and the other player to move."""
    board, side, castling, _, *numbers = fen.split()
    swapped = "/".join(reversed(board.split("/"))).swapcase()
    return " ".join([swapped, "wb"["bw".index(side)], castling.swapcase(), "-", *numbers])


def test_shannon_of_the_example():
    game = games.make(f"chess(fen={EXAMPLE!r}, evaluation='shannon')")
    terms = game.terms(game.initial())
    assert {name: (white, black) for name, white, black, _ in terms} == {
        "kings": (1, 1),
        "queens": (1, 1),
        "rooks": (0, 1),
        "bishops and knights": (2, 1),
        "pawns": (6, 6),
        "doubled": (0, 2),
        "blocked": (0, 1),
        "isolated": (0, 0),
        "mobility": (43, 39),
    }
    f = sum(weight * (white - black) for _, white, black, weight in terms)
    assert f == pytest.approx(-0.1)
    assert game.evaluate(game.initial()) == pytest.approx(f / (8 + abs(f)))


def test_shannon_by_another_program(theirs):
    """Terms counted on python-chess's board."""
    assert theirs.Board(EXAMPLE).is_valid()
    for fen in (*COUNTS, EXAMPLE, "4k3/p1p5/p1p4p/8/P2pP3/3P4/3P1P2/4K3 b - - 0 1"):
        game, board = games.make(f"chess(fen={fen!r}, evaluation='shannon')"), theirs.Board(fen)
        for name, white, black, _ in game.terms(game.initial())[5:]:
            assert (white, black) == tuple(counted(theirs, board, colour)[name] for colour in (True, False)), fen


def counted(chess, board, colour):
    pawns, step, moving = board.pieces(chess.PAWN, colour), 8 if colour else -8, board.copy()
    files = [square % 8 for square in pawns]
    if board.turn != colour:
        moving.turn, moving.ep_square = colour, None
    return {
        "doubled": sum(files.count(file) > 1 for file in files),
        "blocked": sum(board.piece_at(square + step) is not None for square in pawns),
        "isolated": sum(file - 1 not in files and file + 1 not in files for file in files),
        "mobility": moving.legal_moves.count(),
    }


@pytest.mark.parametrize("evaluation", ["", "material", "shannon"])
def test_evaluations_are_the_same_for_both_sides(evaluation):
    for fen in COUNTS:
        values = []
        for one in (fen, with_colours_swapped(fen)):
            game = games.make(f"chess(fen={one!r}, evaluation={evaluation!r})")
            state = game.initial()
            before = state.copy()
            values.append(game.evaluate(state))
            assert np.array_equal(state, before)
        assert values[0] == -values[1]


def test_the_command_tells_the_terms():
    position = f"chess(fen={EXAMPLE!r})"
    told = call("evaluate", position, "--json")
    found = {one["evaluation"]: one for one in json.loads(told.stdout)["evaluations"]}
    assert list(found) == ["default", "material", "shannon"]
    assert found["shannon"]["sum"] == pytest.approx(-0.1) and found["material"]["terms"] == []
    text = call("evaluate", position, "--only", "shannon").stdout
    assert "sum of points: -0.1" in text and "default" not in text and "isolated" in text
    for arguments, message in [
        ([position, "--only", "x"], "has material, shannon"),
        ([position, "--moves", "e4"], "is not a legal move"),
        (["tictactoe", "--moves", "1a 2a 1b 2b 1c"], "the game is over here, with score 1"),
    ]:
        done = call("evaluate", *arguments)
        assert done.exit_code == 2 and message in " ".join(done.stderr.split())


def test_move_order():
    """The queen by the pawn before the queen by a rook, and these before a pawn and quiet moves."""
    game = make("4k3/8/8/3q3p/4P3/8/8/3RK2R w K - 0 1")
    state = game.initial()
    ranks = {game.move_name(state, move): game.move_order(state, move) for move in game.moves(state)}
    assert ranks["exd5"] > ranks["Rxd5"] > ranks["Rxh5"] > ranks["e5"] == ranks["O-O"]
    unstable = {game.move_name(state, move) for move in game.moves(state) if game.is_unstable(state, move)}
    assert unstable == {"exd5", "Rxd5", "Rxh5"}


# -- PGN, and a drawing --------------------------------------------------------------------------------------------


def random_game(spec):
    """(game, names of its moves, state at its end)."""
    game, chance = games.make(spec), random.Random(2)
    state, names = game.initial(), []
    while not game.is_over(state):
        move = chance.choice(game.moves(state))
        names.append(game.move_name(state, move))
        game.play(state, move)
    return game, names, state


@pytest.mark.parametrize("spec", ["chess", f"chess(fen={with_colours_swapped(EXAMPLE)!r})", "chess(setup=7)"])
def test_pgn_is_read_by_python_chess(theirs, spec):
    import chess.pgn

    game, names, state = random_game(spec)
    record = make_game(opening_moves="", moves=" ".join(names))
    read = chess.pgn.read_game(io.StringIO(to_pgn(record, spec, tags_of_game=game.pgn_tags())))
    assert not read.errors
    assert read.end().board().fen() == game.fen_of(state)
    assert len(list(read.mainline_moves())) == len(names)


def test_imported_games_are_replayed(tmp_path):
    """From where they start; illegal moves and moves after the end are told by line."""
    game, names, _ = random_game("chess(setup=7)")
    file = tmp_path / "games.pgn"

    def imported(text):
        file.write_text(text)
        done = call("import", file, "--game", "chess", "--out", tmp_path / "run")
        return done, " ".join(done.stderr.split())

    text = to_pgn(make_game(opening_moves="", moves=" ".join(names)), "x", tags_of_game=game.pgn_tags())
    for wrong, message in [
        (text.replace('[SetUp "1"]', "").replace("FEN ", "Fan "), "is not a legal move of chess"),
        ('[White "a"]\n[Black "b"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4 3. e4 0-1', "is over after 4 plies"),
    ]:
        done, told = imported(wrong)
        assert done.exit_code == 2 and message in told
    done, told = imported(text + '\n[White "a"]\n[Black "b"]\n[Result "0-1"]\n\n1. f2f3 e7e5 2. g4 Qh4 0-1\n')
    assert done.exit_code == 0, told
    with Store.open(tmp_path / "run") as store:
        assert [record.moves for record in store.records()] == [" ".join(names), "f3 e5 g4 Qh4#"]


def test_drawing():
    game = games.make("chess")
    drawing = game.picture(["e4", "e5"])
    assert drawing.count('class="white"') == drawing.count('class="black"') == 16
    assert marked_squares(drawing) == ["e5"]
    castled = ["e4", "e5", "Nf3", "Nf6", "Bc4", "Bc5"]
    assert marked_squares(game.picture([*castled, "O-O"])) == ["f1", "g1"]
    assert marked_squares(game.picture([*castled, "O-O", "O-O"])) == ["f8", "g8"]
    line = ["d4", "d5", "Nc3", "Nc6", "Bf4", "Bf5", "Qd2", "Qd7", "O-O-O", "O-O-O", "Kb1", "Kb8", "Rc1", "Rc8", "R1d1"]
    assert marked_squares(game.picture(line[:10])) == ["c8", "d8"]


def marked_squares(drawing):
    """The squares below which there is a mark."""
    corners = re.findall(r'class="under" x="(\d+)" y="(\d+)"', drawing)
    return [f"{'abcdefgh'[(int(x) - EDGE) // CELL]}{8 - int(y) // CELL}" for x, y in corners]


# -- Rules ---------------------------------------------------------------------------------------------------------


def test_number_518_is_the_start_of_chess():
    assert first_rank(518) == START
    assert len({first_rank(number) for number in range(960)}) == 960


@pytest.mark.parametrize(
    "fen, line, end, score",
    [
        (START, "f3 e5 g4 Qh4#", MATE, -1.0),
        (START, "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#", MATE, 1.0),
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "Qf7", STALEMATE, 0.0),
        (START, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", REPETITION, 0.0),
        ("7k/8/8/8/8/8/8/RK6 w - - 99 80", "Kb2", FIFTY, 0.0),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8#", MATE, 1.0),  # mate comes before the draw
        ("7k/8/8/8/8/8/1p6/KN6 w - - 0 1", "Kxb2", DEAD, 0.0),
        ("7k/8/8/8/8/8/1p6/KN2N3 w - - 0 1", "Kxb2", 0, 0.0),  # two knights may still mate
        ("5b1k/8/8/8/8/8/1p6/KB6 w - - 0 1", "Kxb2", 0, 0.0),  # bishops on squares of both colours
        ("4b2k/8/8/8/8/8/1p6/KB6 w - - 0 1", "Kxb2", DEAD, 0.0),
    ],
)
def test_ends(fen, line, end, score):
    game, state = after(fen, line)
    assert int(state[END]) == end
    assert bool(game.is_over(state)) == (end != 0)
    assert end == 0 or game.score(state) == score


def test_a_position_is_the_same_only_with_the_same_rights():
    """After eight plies the men stand as at first for the third time, but at first White could castle."""
    game, state = after("4k1n1/8/8/8/8/8/8/4K2R w K - 0 1", "Rg1 Nf6 Rh1 Ng8 Rg1 Nf6 Rh1 Ng8")
    assert not game.is_over(state)
    assert game.read_line("Rg1", state)[1][END] == REPETITION


def test_keys():
    """Equal for equal positions with equal histories; a move order, or what was there before, tells others apart."""
    game = games.make("chess")

    def key(line):
        return game.key(game.read_line(line)[1])

    assert key("e4 e5 Nf3") != key("Nf3 e5 e4")  # the clock differs
    assert key("Nf3 Nf6 e4") == key("Nf3 Nf6 e4")
    assert key("Nf3 Nf6 Nc3 e5") == key("Nc3 Nf6 Nf3 e5")  # a pawn's move ends the history
    assert key("Nf3 Nf6 Nc3") != key("Nc3 Nf6 Nf3")
    assert key("Nf3 Nf6 Ng1 Ng8") != game.key(game.initial())


def test_hashes_are_those_from_scratch():
    """Kept up move by move, they are equal to those of the same position set up anew."""
    game, chance = make("r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBP1P/R3K2R w KQkq - 0 1"), random.Random(3)
    for _ in range(20):
        state = game.initial()
        for _ in range(30):
            if game.is_over(state):
                break
            game.play(state, chance.choice(game.moves(state)))
            fresh = make(game.fen_of(state)).initial()
            assert np.array_equal(state[: CLOCK + 5], fresh[: CLOCK + 5])


def test_castling_where_the_rook_is_a_shield():
    """In Chess960, the rook on b1 keeps the rook on a1 from the square that the king goes to."""
    game = make("4k3/8/8/8/8/8/8/rRK5 w B - 0 1")
    state = game.initial()
    assert "O-O-O" not in [game.move_name(state, move) for move in game.moves(state)]
    game = make("4k3/8/8/8/8/8/8/1RK5 w B - 0 1")
    state = game.after(game.initial(), game.parse_move(game.initial(), "O-O-O"))
    assert game.fen_of(state) == "4k3/8/8/8/8/8/8/2KR4 b - - 1 1"


@pytest.mark.parametrize("fen", [*COUNTS, "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3"])
def test_fen_there_and_back(fen):
    assert write_fen(read_fen(fen)) == fen
    assert make(fen).fen_of(make(fen).initial()) == fen


def test_numbers_of_a_fen_have_their_least_and_their_most():
    least, most = (read_fen(f"4k3/8/8/8/8/8/8/4K3 w - - {number} {number}") for number in (0, 10_000))
    assert least[-2:] == (0, 1) and most[-2:] == (100, 10_000)


@pytest.mark.parametrize(
    "fen, message",
    [
        ("8/8/8/8/8/8/8/8 w - - 0 1", "there are 0 of K"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 10001 1", "are '10001'; they can be 0 to 10000"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 10001", "is '10001'; it can be 0 to 10000"),
        ("4k3/8/8/8/8/8/8/4K2 w - - 0 1", "is not 8 ranks"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "side to move is 'x'"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling by 'K'"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn can have passed 'e6'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "are 'x'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 x", "number of the move is 'x'"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "P stands on the first or the last rank"),
        ("QQQQk3/QQQQ4/QQ6/8/8/8/8/4K3 w - - 0 1", "more than 8 pawns"),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "not to move is in check"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 2", "has 7 fields"),
    ],
)
def test_wrong_fen(fen, message):
    with pytest.raises(ValueError, match=message):
        make(fen)


def test_names_that_are_no_moves():
    game = games.make("chess")
    for text in ("e5", "Nf6", "O-O", "e2e5", "Ke2", "e4=Q"):
        with pytest.raises(games.IllegalMove, match="is not a legal move"):
            game.parse_move(game.initial(), text)
    assert game.read_line("e2e4 e5 g1f3")[0] == game.read_line("e4 e5 Nf3")[0]


def test_castling_as_engines_write_it():
    """In Chess960 onto the rook, even where king and rook stand as in chess; both are read."""
    for spec, line, name, other in [
        ("chess", "Nf3 Nf6 g3 g6 Bg2 Bg7", "e1g1", "e1h1"),
        ("chess(fen='1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1')", "", "e1h1", "e1g1"),  # the rooks on b can castle too
        ("chess(fen='4k3/8/8/8/8/8/8/4K2R w K - 0 1')", "", "e1g1", "e1h1"),
    ]:
        game = games.make(spec)
        state = game.read_line(line)[1]
        move = game.parse_move(state, "O-O")
        assert game.uci_name(state, move) == name
        assert game.parse_move(state, name) == game.parse_move(state, other) == move


@pytest.mark.parametrize("setup, chess960", [(414, True), (241, True), (518, False)])
def test_engines_and_pgn_agree_on_what_is_chess960(setup, chess960):
    """Setup 414 has the king on e and the rooks in the corners, as chess has."""
    game = games.make(f"chess(setup={setup})")
    assert game.is_chess960 == chess960 == (game.pgn_tags().get("Variant") == "Chess960")


def test_engines_are_spoken_to_in_their_own_names():
    game = games.make("chess")
    names, legal = spoken(GameInProgress(game, game.read_line("e4 e5 Nf3 Nc6 Bb5 a6 O-O Nf6")[0]))
    assert names == ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "e1g1", "g8f6"]
    assert legal["b5c6"] == "Bxc6" and legal["f1e1"] == "Re1"
    assert (game.uci_start, make(EXAMPLE).uci_start) == ("startpos", f"fen {EXAMPLE}")
    other = games.make("tictactoe")
    assert spoken(GameInProgress(other, [4])) == (["2b"], {})
