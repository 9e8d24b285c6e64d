"""Counts of move sequences: every registered game has a row of known figures."""

import pytest

from arena import games
from tests.games.chosen import COMPILED
from tests.shipped import GAMES

# game: leaves at depth 1, 2, 3, ...
PERFT = {
    "tictactoe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect4": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "breakthrough": [22, 484, 11132, 256036],
    "breakthrough(rows=6, columns=6)": [16, 256, 4308, 71478],
    "breakthrough(rows=5, columns=5)": [13, 156, 1924, 23084, 289828],
    # misere games have the moves of the plain ones; the others, and Hex, counted by programs with sets of squares
    "misere_breakthrough": [22, 484, 11132, 256036],
    "misere_breakthrough(rows=6, columns=4)": [10, 100, 1074, 11232, 126368],
    "kalah": [6, 35, 185, 942, 4690],  # by the lists of test_kalah.py
    "kalah(houses=3, seeds=2)": [3, 8, 19, 40, 81, 150, 265],
    "knightthrough": [40, 1600, 63520],
    "knightthrough(rows=5, columns=4)": [16, 246, 3574, 45970, 553260],
    "misere_knightthrough(rows=6, columns=6)": [28, 784, 21616, 581938],
    "hex(size=3)": [9, 72, 504, 3024, 15120, 54720, 146880, 207360, 120960],
    "hex(size=3, swap=True)": [9, 81, 576, 3528, 18144, 69840, 201600],
    "y(size=3)": [6, 30, 120, 360, 720, 360],
    "y(size=4)": [10, 90, 720],
    # tic-tac-toe's figures, and those of the board of characters of test_mnk.py
    "mnk(rows=3, columns=3, k=3)": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "mnk(rows=3, columns=4, k=3)": [12, 132, 1320, 11880, 95040, 622944, 3499200],
    "checkers": [7, 49, 302, 1469, 7361, 36768, 179255],  # published, but for chains of jumps: see test_checkers.py
    "chess": [20, 400, 8902, 197281],  # published; more positions in test_chess.py
    # GROUND_TRUTH.md; a pass is a ply
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216],
    "othello(size=6)": [4, 12, 56, 244, 1364, 7604],
    # nim and pig counted by OpenSpiel 2.0.2, matches and Grundy's game by a list of heaps in plain Python
    "nim": [16, 206, 2116, 17338, 113912],
    "nim(heaps=[3, 4, 2])": [9, 62, 314, 1131, 2875, 5060, 5880, 4060, 1260],
    "matches": [3, 9, 27, 81, 243, 729, 2187, 6516],
    "grundy": [3, 6, 7, 6, 1],
    "grundy(heaps=[8, 9, 20])": [16, 237, 3252, 41190, 479275],
    "pig": [2, 8, 20, 68, 188, 596, 1724, 5300],
    "pig(target=6, horizon=5)": [2, 8, 19, 59, 141, 324, 638, 716, 308, 0],
    "backgammon": [15, 190, 3990],  # counted by the naive player of its tests, and 21 rolls after each
    "coin": [2, 4, 4, 8, 0],  # by hand, from the figure
    "tree": [3, 9, 0],
    "tree(nodes=\"[1, {'probabilities': [0.9, 0.1], 'moves': [2, [3, 4, [5]]]}]\")": [2, 2, 3, 1],
    # counted by the naive boards, sets and papers of their tests; Left Move and the salesman's by hand
    "samegame(rows=5, columns=5, colours=3)": [6, 27, 91, 216, 326, 241, 12, 0],
    "morpion": [28, 740, 18416],
    "morpion(variant='5T')": [28, 748],
    "morpion(variant='4D')": [40, 1480],
    "morpion(variant='4T')": [40, 1496, 52352],
    "leftmove": [2, 4, 8, 16, 32, 64, 128, 256],
    "weakschur": [3, 9, 24, 66, 162, 378, 816, 1740, 3150],
    "weakschur(parts=2)": [2, 4, 6, 10, 12, 10, 6, 2, 0],
    "tsptw": [9, 72, 504, 3024, 15120, 60480],
    # counted by boards as sets of squares in plain Python; misere games have the same moves
    "domineering": [56, 2940, 146580],
    "domineering(rows=4, columns=4)": [12, 108, 756, 3628, 11904, 20736, 18720, 9216],
    "misere_domineering(rows=5, columns=6)": [24, 520, 9600, 156792],
    "clobber": [112, 11848, 1182276],
    "clobber(rows=3, columns=4)": [17, 204, 1671, 8974, 34450, 99140, 180230, 239040, 98460],
    "loa": [36, 1244, 44952],
    "loa(size=7)": [30, 848, 25012, 698880],
    "loa(size=5)": [18, 280, 4164, 56108],
    "ataxx": [16, 256, 6460, 155888, 4752668],  # as other programs count
    "ataxx(size=4)": [16, 176, 2408, 26756],
    "pentalath": [61, 3660, 215940],
    "pentalath(size=3, length=3, swap=True)": [19, 361, 6156],
    "pentalath(size=2, length=3)": [7, 42, 210, 840, 2520, 4176, 3960],
    "amazons": [2176, 4307152],
    "amazons(size=6)": [544, 238532],
    # Go counted by OpenSpiel 2.0.2, its relatives by the naive board of test_go.py
    "go": [82, 6643, 531522],
    "go(size=5)": [26, 651, 15650, 361041],
    "atarigo(size=2)": [4, 12, 24, 16],
    "atarigo(size=3)": [9, 72, 504, 2928, 13952, 48000],
    "atarigo(size=4)": [16, 240, 3360, 43472],
    "nogo(size=2)": [4, 12, 16, 0],
    "nogo(size=3)": [9, 72, 496, 2832, 12768, 41328],
    "nogo(size=4)": [16, 240, 3352, 43264],
    "misere_nogo(size=3)": [9, 72, 496, 2832, 12768, 41328],  # misere games have the moves of the plain ones
}


LEAVES = 1500  # that plain Python counts in a while
CASES = [
    pytest.param(spec, kernels, marks=[pytest.mark.compiled] if spec in COMPILED else [])
    for spec in PERFT
    for kernels in ("plain", "compiled")
    if spec not in COMPILED or kernels == "compiled"
]


@pytest.mark.parametrize("spec, kernels", CASES, indirect=["kernels"])
def test_perft(spec, kernels):
    """In plain Python, for the games that are not compiled by default, as deep as there are few leaves."""
    game, leaves = games.make(spec), PERFT[spec]
    if kernels == "plain":
        leaves = [count for depth, count in enumerate(leaves) if depth == 0 or max(leaves[: depth + 1]) <= LEAVES]
    assert [games.perft(game, depth + 1) for depth in range(len(leaves))] == leaves


def test_every_game_has_a_row():
    assert set(GAMES) == {spec.split("(")[0] for spec in PERFT}


def naive_perft(game, state, depth):
    if depth == 0:
        return 1
    leaves = 0
    for move in game.moves(state):
        child = state.copy()
        game.play(child, move)
        leaves += naive_perft(game, child, depth - 1)
    return leaves


LONG = ("amazons", "go")  # by plain Python; check_compiled of the conformance suite compares less of them


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec, marks=[] if spec in COMPILED and spec not in LONG else [pytest.mark.slow]) for spec in PERFT],
)
def test_perft_equals_plain_python(spec):
    game = games.make(spec)
    state = game.initial()
    for _ in range(2):  # the first moves, which are not passes, and do not end the game if others go on
        state = min((game.after(state, move) for move in game.moves(state)[:9]), key=game.is_over)
    depth = 1
    while depth < 3 and 0 < games.perft(game, depth + 1, state) <= 10_000:  # leaves that plain Python counts in a while
        depth += 1
    assert games.perft(game, depth, state) == naive_perft(game, state, depth)


def test_perft_of_depth_zero_and_below():
    assert games.perft(games.make("tictactoe"), 0) == 1
    with pytest.raises(ValueError, match="depth = -1"):
        games.perft(games.make("tictactoe"), -1)
