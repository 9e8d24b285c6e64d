"""Pentalath against sets of stones, its ends and its drawing."""

import numpy as np
import pytest

from arena import games
from arena.games.pentalath import DRAWN

AROUND = [(-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1)]


def cells_of(size):
    """The (row, column) whose distance from the middle, in steps, is below the size."""
    middle, side = size - 1, range(2 * size - 1)
    return [(r, c) for r in side for c in side if max(abs(r - middle), abs(c - middle), abs(r + c - 2 * middle)) < size]


def name_of(cell):
    return f"{chr(97 + cell[1])}{cell[0] + 1}"


def touching(cell, cells):
    return {(cell[0] + down, cell[1] + right) for down, right in AROUND} & cells


def group_of(cell, stones):
    """The stones that are joined with one."""
    group, waiting = {cell}, [cell]
    while waiting:
        new = touching(waiting.pop(), stones) - group
        group |= new
        waiting += new
    return group


def placed(own, other, cell, free):
    """(own, other) after a stone, or None if it may not be placed; free cells are those before."""
    own, free = own | {cell}, free - {cell}
    dead = {stone for stone in other if not any(touching(one, free) for one in group_of(stone, other))}
    if not any(touching(one, free | dead) for one in group_of(cell, own)):
        return None
    return own, other - dead


def lines_of(size, length):
    """The sets of `length` cells in a row."""
    lines, cells = [], set(cells_of(size))
    for row, column in cells:
        for down, right in ((0, 1), (1, 0), (1, -1)):
            line = {(row + i * down, column + i * right) for i in range(length)}
            lines += [line] if line <= cells else []
    return lines


def has_row(stones, length):
    """By walking from every stone in three directions."""
    for down, right in ((0, 1), (1, 0), (1, -1)):
        for row, column in stones:
            if all((row + i * down, column + i * right) in stones for i in range(length)):
                return True
    return False


class Naive:
    """A position: two sets of stones, and whose turn it is."""

    def __init__(self, size, length, stones=(frozenset(), frozenset()), side=0):
        self.size, self.length, self.stones, self.side = size, length, stones, side

    def after(self):
        """{name of a move: the position after it}."""
        found, own, other = {}, self.stones[self.side], self.stones[1 - self.side]
        free = set(cells_of(self.size)) - own - other
        for cell in free:
            if pair := placed(own, other, cell, free):
                stones = pair if self.side == 0 else pair[::-1]
                found[name_of(cell)] = Naive(self.size, self.length, stones, 1 - self.side)
        return found

    def score(self):
        """None while the game goes on."""
        if has_row(self.stones[1 - self.side], self.length):
            return 1.0 if self.side == 1 else -1.0
        return None if self.after() else 0.0


def naive_perft(position, depth):
    if depth == 0:
        return 1
    if position.score() is not None:
        return 0
    return sum(naive_perft(after, depth - 1) for after in position.after().values())


LONGER = pytest.param(2, 3, 7, marks=pytest.mark.slow)


@pytest.mark.plain
@pytest.mark.parametrize("size, length, depth", [(5, 5, 2), (4, 5, 2), (3, 5, 3), (2, 2, 4), LONGER])
def test_perft_is_that_of_sets(size, length, depth):
    game = games.make(f"pentalath(size={size}, length={length})")
    assert games.perft(game, depth) == naive_perft(Naive(size, length), depth)


def stones_of(game, state):
    cells = cells_of(game.size)
    return tuple(frozenset(cell for i, cell in enumerate(cells) if int(state[side]) >> i & 1) for side in (0, 1))


@pytest.mark.parametrize("size, length, lines", [(5, 5, 2), (4, 7, 3), (3, 5, 15), (2, 3, 15)])
def test_play_is_that_of_sets(size, length, lines):
    """On small boards stones are often taken, moves often illegal, and players at times without a legal move."""
    game, random = games.make(f"pentalath(size={size}, length={length})"), np.random.default_rng(size)
    taken = illegal = drawn = 0
    for _ in range(lines):
        state, naive = game.initial(), Naive(size, length)
        while (score := naive.score()) is None:
            after = naive.after()
            assert not game.is_over(state) and game.player(state) == naive.side
            assert {game.move_name(state, move) for move in game.moves(state)} == set(after)
            illegal += len(cells_of(size)) - sum(map(len, naive.stones)) - len(after)
            move = int(random.choice(game.moves(state)))
            naive, before = after[game.move_name(state, move)], naive
            gone = len(before.stones[naive.side]) - len(naive.stones[naive.side])
            assert game.taken(state, move) == gone and game.is_unstable(state, move) == (gone > 0)
            state, taken = game.after(state, move), taken + gone
            assert stones_of(game, state) == naive.stones
        assert game.is_over(state) and game.score(state) == score
        drawn += score == 0
    assert (taken > 0 and illegal > 0) or size > 3
    assert drawn > 0 or (size, length) != (3, 5)


@pytest.mark.parametrize("size, length", [(5, 5), (3, 4)])
def test_evaluations_are_those_of_sets(size, length):
    game, random = games.make(f"pentalath(size={size}, length={length})"), np.random.default_rng(3)
    state = game.initial()
    assert game.evaluate(state) == game.evaluate_freedom(state) == 0
    rows = lines_of(size, length)
    while not game.is_over(state):
        stones = stones_of(game, state)
        free = set(cells_of(size)) - stones[0] - stones[1]
        threats = [
            sum(4 ** (len(row & own) - 1) for row in rows if row & own and not row & other)
            for own, other in (stones, stones[::-1])
        ]
        d = threats[0] - threats[1]
        assert game.evaluate(state) == pytest.approx(d / (2 * 4 ** (length - 2) + abs(d)))
        first, second = (len({cell for stone in own for cell in touching(stone, free)}) for own in stones)
        assert game.evaluate_freedom(state) == pytest.approx((first - second) / (first + second + 1))
        state = game.after(state, int(random.choice(game.moves(state))))


@pytest.mark.parametrize("size, length", [(4, 4), (5, 5)])
def test_moves_are_ordered_by_the_stones_in_open_rows(size, length):
    """After each of three plies; without captures and wins, which come later."""
    game = games.make(f"pentalath(size={size}, length={length})")
    rows = lines_of(size, length)
    state = game.initial()
    for move in (game.cells // 2, game.cells // 2 + 1, 0):
        state = game.after(state, move)
        own, other = stones_of(game, state)[:: -1 if game.player(state) else 1]
        for cell in game.moves(state):
            through = [row for row in rows if cells_of(size)[cell] in row]
            ours = max((len(row & own) for row in through if not row & other), default=0)
            theirs = max((len(row & other) for row in through if not row & own), default=0)
            assert game.move_order(state, cell) == 2 * max(ours, theirs) + (ours >= theirs)


def position(game, rows, side):
    """A state of rows from the top, parted by `/`, with `side` to move."""
    state = game.initial()
    for i, symbol in enumerate(rows.replace("/", " ").split()):
        if symbol != ".":
            state["XO".index(symbol)] |= np.uint64(1) << np.uint64(i)
    state[2] = side
    return state


def names(game, state):
    return {game.move_name(state, move) for move in game.moves(state)}


def test_the_example_of_the_rules():
    """The diagram of the inventor's page, with five in a row down the column f, before the stone in its middle."""
    game = games.make("pentalath")
    upper = ". . . . ./. . . . . ./. . . X O . ./. . X . X . . ./. . O . O . . . ./"
    state = position(game, upper + ". . O O . X . ./. . X . O X ./. . . . . ./. . . . .", 0)
    wins = [move for move in game.moves(state) if game.score(game.after(state, move)) == 1]
    assert [game.move_name(state, move) for move in wins] == ["f5"]
    assert max(game.moves(state), key=lambda move: game.move_order(state, move)) == wins[0]


def test_a_group_without_a_free_cell_is_taken():
    game = games.make("pentalath(size=3)")
    state = position(game, ". . ./X . . ./O X . . ./. . . ./. . .", 0)
    after = game.after(state, game.parse_move(state, "a4"))
    assert game.render(after).splitlines()[1:4] == [" 2 X . . .", "3 . X . . .", " 4 X . . . e"]


def test_a_stone_needs_a_free_cell_unless_it_takes_some():
    game = games.make("pentalath(size=3)")
    shut = ". . ./X . . ./. X . . ./X . . ./. . ."
    assert names(game, position(game, shut, 0)) - names(game, position(game, shut, 1)) == {"a3"}
    state = position(game, "O . ./X O . ./. X O . ./X O . ./O . .", 1)
    assert game.taken(state, game.parse_move(state, "a3")) == 3
    after = game.read_line("a3", state)[1]
    assert game.render(after).splitlines()[1:4] == [" 2 . O . .", "3 O . O . .", " 4 . O . . e"]


def test_swap_gives_the_stone_to_the_second_player():
    game = games.make("pentalath(size=3, swap=true)")
    state = game.read_line("c2 swap")[1]
    assert game.render(state) == "  1 . . .\n 2 . O . .\n3 . . . . .\n 4 . . . . e\n  5 . . . d\n     a b c"
    assert game.player(state) == 0 and len(game.moves(state)) == 18
    with pytest.raises(games.IllegalMove, match="'swap' is not a legal move"):
        game.parse_move(state, "swap")


def test_a_game_that_does_not_end_is_a_draw():
    game = games.make("pentalath(horizon=3)")
    state = game.read_line("e5 e4 e3")[1]
    assert state[3] == DRAWN and game.score(state) == 0 and game.plies_left(game.initial()) == 3


def test_the_hexagon_is_drawn_without_what_is_beyond():
    game = games.make("pentalath(size=3)")
    drawing = game.drawing(game.read_line("c3 a3")[1], ["c3", "a3"])
    assert drawing.ground.count("M") == 2 * 19 and "side" not in drawing.ground
    assert [part.split('"')[1] for part in drawing.parts] == ["white", "black", "last ring"]


@pytest.mark.parametrize(
    "spec, message",
    [
        ("pentalath(size=6)", "size = 6 is out of range: it can be 2 to 5"),
        ("pentalath(size=2)", "length = 5 is out of range: it can be 2 to 3"),
        ("pentalath(horizon=0)", "horizon = 0"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
