"""Go: its rules, and those of its relatives' tests, against a board of squares that is filled and searched naively."""

import functools

import numpy as np
import pytest

from arena import games
from arena.games.core.families.groups import BLACK, EMPTY, WHITE
from arena.games.core.jit import kernel


@functools.cache
def points_of(rows, columns):
    return [(row, column) for row in range(rows) for column in range(columns)]


@functools.cache
def beside(rows, columns, point):
    row, column = point
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [(r, c) for r, c in near if 0 <= r < rows and 0 <= c < columns]


class NaiveBoard:
    """Colours 1 and 2 by (row, column); chains and liberties are searched for each time."""

    def __init__(self, rows, columns=None):
        self.rows, self.columns, self.stones = rows, columns or rows, {}

    def copy(self):
        board = NaiveBoard(self.rows, self.columns)
        board.stones = dict(self.stones)
        return board

    def points(self):
        return points_of(self.rows, self.columns)

    def beside(self, point):
        return beside(self.rows, self.columns, point)

    def region(self, point):
        """All points joined to `point` by points of its own kind, and the points next to them."""
        inside, waiting, border, kind = {point}, [point], set(), self.stones.get(point)
        while waiting:
            for other in self.beside(waiting.pop()):
                if self.stones.get(other) != kind:
                    border.add(other)
                elif other not in inside:
                    inside.add(other)
                    waiting.append(other)
        return inside, border

    def liberties(self, point):
        return self.region(point)[1] - self.stones.keys()

    def put(self, point, colour):
        """Returns the stones captured; the stone may be left without a liberty."""
        self.stones[point] = colour
        captured = set()
        for other in self.beside(point):
            if self.stones.get(other) == 3 - colour and not self.liberties(other):
                captured |= self.region(other)[0]
        for other in captured:
            del self.stones[other]
        return captured

    def tried(self, point, colour):
        """The board after a stone at an empty point; None if that is suicide."""
        board = self.copy()
        board.put(point, colour)
        return board if board.liberties(point) else None

    def position(self):
        return frozenset(self.stones.items())

    def area(self):
        """Black's area less White's."""
        total = 0
        for point in self.points():
            border = self.region(point)[1]
            owners = {self.stones[point]} if point in self.stones else {self.stones[other] for other in border}
            total += 1 if owners == {1} else (-1 if owners == {2} else 0)
        return total

    def is_eye(self, point, colour):
        row, column = point
        corners = [(row + down, column + right) for down in (-1, 1) for right in (-1, 1)]
        on_board = [corner for corner in corners if corner in self.points()]
        bad = sum(self.stones.get(corner) == 3 - colour for corner in on_board)
        own = all(self.stones.get(other) == colour for other in self.beside(point))
        return own and bad <= (1 if len(on_board) == 4 else 0)

    def playable(self, colour, ko):
        """The points that a playout chooses from."""
        empty = [point for point in self.points() if point not in self.stones and point != ko]
        return [point for point in empty if self.tried(point, colour) and not self.is_eye(point, colour)]


@kernel
def compiled_moves(game, state, moves):
    return game.legal_moves(state, moves)


@kernel
def compiled_play(game, state, move):
    game.play(state, move)
    return game.is_over(state)


@kernel
def compiled_image(game, state, symmetry, target):
    game.transform(state, symmetry, target)


def names(game, state):
    return {game.move_name(state, move) for move in game.moves(state)}


def stones_of(game, state):
    """The board of `state` as a NaiveBoard holds it."""
    colours = {divmod(move, game.size): int(game.stone(state, move)) for move in range(game.size**2)}
    return {point: colour for point, colour in colours.items() if colour}


def naive_moves(board, colour, earlier):
    """{move: board after it} of the legal points, and how many are illegal for superko alone."""
    found, repeated = {}, 0
    for point in board.points():
        after = board.tried(point, colour) if point not in board.stones else None
        if after and after.position() in earlier:
            repeated += 1
        elif after:
            found[point[0] * board.columns + point[1]] = after
    return found, repeated


@pytest.mark.parametrize(
    "size, count, every",
    [
        (2, 40, 1),
        (3, 40, 1),
        (4, 40, 1),
        (5, 30, 2),
        pytest.param(8, 4, 4, marks=pytest.mark.slow),
        (9, 4, 6),
        (13, 1, 20),
        pytest.param(19, 1, 4, marks=pytest.mark.slow),
    ],
)
def test_moves_ends_and_areas_are_those_of_a_naive_board(size, count, every):
    """Few passes are played, so that boards fill, chains die, and positions would be repeated.

    All moves are compared on one ply out of `every`, and the stones on all.
    """
    komi = min(7.5, size + 0.5)
    game, random = games.make(f"go(size={size}, komi={komi})"), np.random.default_rng(size)
    room, superko = np.empty(game.max_moves, np.int32), 0
    for _ in range(count):
        state, board, ply, over, passes, earlier = game.initial(), NaiveBoard(size), 0, False, 0, {frozenset()}
        while not over:
            legal = room[: compiled_moves(game, state, room)].tolist()
            if ply % every == 0:
                expected, repeated = naive_moves(board, 1 + ply % 2, earlier)
                assert legal == [*sorted(expected), game.area]
                superko += repeated
            move = int(random.choice(legal[:-1])) if len(legal) > 1 and random.random() < 0.97 else game.area
            passes = passes + 1 if move == game.area else 0
            board = board if move == game.area else board.tried(divmod(move, size), 1 + ply % 2)
            earlier.add(board.position())
            over, ply = compiled_play(game, state, move), ply + 1
            assert over == (passes == 2 or ply == game.max_plies)
            assert stones_of(game, state) == board.stones
        assert game.score(state) == board.area() - komi
    assert superko > 0 or size > 5


def random_state(game, plies, random):
    state = game.initial()
    room = np.empty(game.max_moves, np.int32)
    while state[game.plies_at] < plies:
        count = compiled_moves(game, state, room)
        compiled_play(game, state, int(room[random.integers(max(1, count - 1))]))
    return state


def naive_perft(board, colour, earlier, passes, depth):
    if depth == 0 or passes == 2:
        return int(depth == 0)
    leaves = naive_perft(board, 3 - colour, earlier, passes + 1, depth - 1)
    for after in naive_moves(board, colour, earlier)[0].values():
        leaves += naive_perft(after, 3 - colour, earlier | {after.position()}, 0, depth - 1)
    return leaves


@pytest.mark.parametrize("seed, superko", [(10, 10), (12, 16), (37, 9)])
def test_perft_of_crowded_boards(seed, superko):
    """Late in a game, where superko alone cuts so many sequences of three moves."""
    game, plies = games.make("go(size=5)"), 50
    state = random_state(game, plies, np.random.default_rng(seed))
    board, earlier, passes = NaiveBoard(5), {frozenset()}, int(state[game.plies_at + 1])
    for ply, word in enumerate(state[game.history : game.history + plies]):
        move = int(word) & 0xFFFF
        if move != game.area:
            board.put(divmod(move, 5), 1 + ply % 2)
        earlier.add(board.position())
    assert board.stones == stones_of(game, state)
    expected = [naive_perft(board, 1 + plies % 2, earlier, passes, depth) for depth in (1, 2, 3)]
    assert [games.perft(game, depth, state) for depth in (1, 2, 3)] == expected
    assert naive_perft(board, 1 + plies % 2, set(), passes, 3) == expected[2] + superko


def test_playouts_choose_from_legal_points_that_are_no_eyes():
    game, random = games.make("go(size=5)"), np.random.default_rng(4)
    kos = eyes = 0
    for i in range(400):
        state = random_state(game, 20 + i % 40, random)
        ko = int(state[game.plies_at + 2])
        if i % 10 and ko == game.area:
            continue
        kos += ko != game.area
        naive, board = NaiveBoard(5), np.empty(game.room, np.uint16)
        naive.stones = stones_of(game, state)
        game.lay_out(state, board)
        for colour in (BLACK, WHITE):
            found = []
            for move in range(game.area):
                point = game.point(move)
                if board[point] == EMPTY and game.try_point(board, point, colour, game.point(ko)):
                    game.release(board, point)
                    found.append(divmod(move, 5))
            assert found == naive.playable(int(colour), divmod(ko, 5))
            eyes += sum(naive.is_eye(p, int(colour)) for p in naive.points() if p not in naive.stones)
    assert kos > 2 and eyes > 20


def naive_playout(size, cap, random):
    """(area, plies) of one playout."""
    board, ko, passes, ply = NaiveBoard(size), None, 0, 0
    while passes < 2 and ply < cap:
        points, colour = board.playable(1 + ply % 2, ko), 1 + ply % 2
        ko, passes, ply = None, passes + 1, ply + 1
        if points:
            point, passes = points[random.integers(len(points))], 0
            captured = board.put(point, colour)
            if len(captured) == 1 and board.region(point)[0] == {point} and board.liberties(point) == captured:
                ko = min(captured)
    return board.area(), ply


@pytest.mark.slow
def test_random_playouts_are_like_naive_ones():
    game, random = games.make("go(size=5, komi=0)"), np.random.default_rng(6)
    naive = np.array([naive_playout(5, game.max_plies, random) for _ in range(150)], float)
    summary = games.playouts(game, 50_000, seed=8)
    found = np.array([summary.score, summary.plies]) / 50_000
    assert np.all(np.abs(found - naive.mean(0)) < 4 * naive.std(0) / 150**0.5)


def test_playouts_of_the_usual_board():
    """A light playout of 9x9 is about 111 plies, and the first move is worth about two points at the end of it."""
    summary = games.playouts(games.make("go(size=9, komi=0)"), 40_000, seed=2)
    assert summary.plies / 40_000 == pytest.approx(111, abs=1)
    assert summary.score / 40_000 == pytest.approx(2.0, abs=0.5)


def test_a_ko_is_retaken_only_after_a_move_elsewhere():
    game = games.make("go(size=5)")
    state = game.read_line("b3 c3 a2 d2 b1 c1 c2 b2")[1]  # White b2 takes c2
    assert "c2" not in names(game, state) and game.move_name(state, int(state[game.plies_at + 2])) == "c2"
    state = game.read_line("e5 pass c2", state)[1]
    assert stones_of(game, state)[1, 2] == 1 and (1, 1) not in stones_of(game, state)
    assert "b2" not in names(game, state)


def test_positional_superko_forbids_what_a_simple_ko_allows():
    """Send two, return one: White a1, Black c1 taking two stones, and White b1 taking one would repeat the board."""
    game = games.make("go(size=5)")
    before = game.read_line("a2 b1 b2 c2 e5 d1 pass")[1]
    sent = game.read_line("a1", before)[1]
    state = game.read_line("c1", sent)[1]
    assert stones_of(game, state).keys() == (stones_of(game, sent).keys() | {(0, 2)}) - {(0, 0), (0, 1)}
    assert state[game.plies_at + 2] == game.area and "b1" not in names(game, state)
    assert "b1" in names(
        game, game.read_line("a4 a5", game.read_line("pass", state)[1])[1]
    )  # the board has two stones more
    state = game.read_line("a5 e1 b1", state)[1]
    assert stones_of(game, state)[0, 1] == 2 and (0, 2) not in stones_of(game, state)


def test_suicide_is_illegal_and_captures_are_not():
    game = games.make("go(size=5)")
    state = game.read_line("a2 e5 b1")[1]
    assert "a1" not in names(game, state)
    state = game.read_line("b2 e4 a3 d4 c1 e3 a1", state)[1]
    assert stones_of(game, state) == {
        (4, 4): 2,
        (1, 1): 2,
        (2, 0): 2,
        (0, 2): 2,
        (0, 0): 2,
        (3, 4): 1,
        (3, 3): 1,
        (2, 4): 1,
    }


def test_area_and_draws():
    walls = "c1 d1 c2 d2 c3 d3 c4 d4 c5 d5 pass pass"  # Black has three columns, White two
    for komi, score in ((7.5, -2.5), (4.5, 0.5), (5, 0.0)):
        game = games.make(f"go(size=5, komi={komi})")
        state = game.read_line(walls)[1]
        assert game.is_over(state) and game.score(state) == score
    empty = game.read_line("pass pass")[1]
    assert game.is_over(empty) and game.score(empty) == -5
    assert game.evaluate(game.read_line("c3")[1]) == (25 - 5) / (5 + 20)


def test_a_game_ends_after_three_moves_for_each_point():
    game = games.make("go(size=2, komi=3)")
    for plies in (11, 12):
        state = game.initial()
        state[game.plies_at] = plies
        assert game.is_over(state) == (plies == 12) and game.score(state) == -3


def test_symmetries_are_the_same_compiled():
    game = games.make("go(size=9)")
    state = random_state(game, 150, np.random.default_rng(3))
    plain, compiled = np.zeros_like(state), np.zeros_like(state)
    images = set()
    for symmetry in range(8):
        game.transform(state, symmetry, plain)
        compiled_image(game, state, symmetry, compiled)
        assert np.array_equal(plain, compiled)
        images.add(plain.tobytes())
    assert len(images) == 8


def test_render_and_names():
    game = games.make("go(size=9)")
    state = game.read_line("j1 a9 pass h8")[1]
    assert game.render(state).splitlines() == [
        "9 O . . . . . . . .",
        "8 . . . . . . . O .",
        *(f"{row} . . . . . . . . ." for row in range(7, 1, -1)),
        "1 . . . . . . . . X",
        "  a b c d e f g h j",
    ]
    large = games.make("go(size=13)")
    assert large.render(large.read_line("n13")[1]).splitlines()[0] == "13 . . . . . . . . . . . . X"
    assert large.render(large.initial()).splitlines()[-1] == "   a b c d e f g h j k l m n"
    with pytest.raises(games.IllegalMove, match="'i5' is not a legal move"):
        game.parse_move(state, "i5")


@pytest.mark.parametrize(
    "spec, message",
    [
        ("go(size=1)", "size = 1 is out of range: it can be 2 to 19"),
        ("go(size=20)", "size = 20 is out of range: it can be 2 to 19"),
        ("go(komi=82.0)", "komi = 82.0 is out of range: it can be -81 to 81"),
        ("go(komi='a')", "komi = 'a' should be float"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
