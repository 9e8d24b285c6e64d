"""Morpion Solitaire beside a naive grid of points and lines, and the literature's figures."""

import re

import numpy as np
import pytest

from arena import games

VARIANTS = ("5D", "5T", "4D", "4T")
STEPS = {(1, 0), (0, 1), (1, 1), (-1, 1)}


class Paper:
    """Points and lines as sets, on paper without edges; x to the right, y up, from the cross's lower left corner."""

    def __init__(self, variant):
        self.length, self.disjoint = int(variant[0]), variant[1] == "D"
        cross = enumerate(CROSSES[self.length])
        self.points = {(x, y) for y, row in cross for x, cell in enumerate(row) if cell == "O"}
        self.drawn = {step: [] for step in STEPS}

    def moves(self):
        """{(new point, step, points of the line), ...}"""
        found = set()
        for x, y in {(x + i, y + j) for x, y in self.points for i in range(-4, 5) for j in range(-4, 5)}:
            for step in STEPS:
                line = [(x + i * step[0], y + i * step[1]) for i in range(self.length)]
                missing = [point for point in line if point not in self.points]
                allowed = 0 if self.disjoint else 1
                if len(missing) == 1 and all(len(set(line) & set(other)) <= allowed for other in self.drawn[step]):
                    found.add((missing[0], step, tuple(line)))
        return found

    def play(self, move):
        point, step, line = move
        self.points.add(point)
        self.drawn[step].append(line)

    def name(self, move):
        (x, y), _, line = move
        return f"{x},{y}:{line[0][0]},{line[0][1]}>{line[-1][0]},{line[-1][1]}"


CROSSES = {
    5: [
        "...OOOO...",
        "...O..O...",
        "...O..O...",
        "OOOO..OOOO",
        "O........O",
        "O........O",
        "OOOO..OOOO",
        "...O..O...",
        "...O..O...",
        "...OOOO...",
    ],
    4: ["..OOO..", "..O.O..", "OOO.OOO", "O.....O", "OOO.OOO", "..O.O..", "..OOO.."],
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_games_beside_the_naive_paper(variant):
    game, random = games.make(f"morpion(variant='{variant}')"), np.random.default_rng(7)
    paper, state, played = Paper(variant), game.initial(), 0
    while not game.is_over(state):
        naive = {paper.name(move): move for move in paper.moves()}
        legal = {game.move_name(state, move): move for move in game.moves(state)}
        assert set(naive) == set(legal)
        name = str(random.choice(sorted(legal)))
        paper.play(naive[name])
        state, played = state.copy(), played + 1
        game.play(state, legal[name])
    assert paper.moves() == set() and game.score(state) == played


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["5D", "4T"])
def test_perft_by_the_naive_paper(variant):
    """The leaves at depth 2, from the naive paper's moves after each first move."""
    game, paper, leaves = games.make(f"morpion(variant='{variant}')"), Paper(variant), 0
    for first in paper.moves():
        after = Paper(variant)
        after.play(first)
        leaves += len(after.moves())
    assert (games.perft(game, 1), games.perft(game, 2)) == (len(paper.moves()), leaves)
    assert len(paper.moves()) == (28 if variant[0] == "5" else 40)


@pytest.mark.parametrize(
    "variant, shortest, longest",
    [
        ("5D", 20, 82),
        pytest.param("5T", 20, 178, marks=pytest.mark.slow),
        pytest.param("4D", 16, 35, marks=pytest.mark.slow),
        ("4T", 22, 62),
    ],
)
def test_scores_lie_between_the_known_extremes(variant, shortest, longest):
    """morpionsolitaire.com/English/Limits.htm: the shortest games there can be, and the longest known."""
    game = games.make(f"morpion(variant='{variant}')")
    lengths = [games.playouts(game, 1, seed=i).plies for i in range(2000)]
    assert shortest <= min(lengths) and max(lengths) <= longest


def test_equal_positions_are_equal_states():
    game = games.make("morpion")
    names = [game.move_name(game.initial(), game.moves(game.initial())[i]) for i in (0, 27)]
    one, other = game.read_line(" ".join(names))[1], game.read_line(" ".join(reversed(names)))[1]
    assert np.array_equal(one, other) and game.key(one) == game.key(other)
    assert len(set(game.moves(one))) == len(game.moves(one)) == int(one[2])


def test_lines_that_touch():
    """After a line along the top: one that begins at its end is a move in T only, one that overlaps in neither."""
    for variant, touching in (("5T", True), ("5D", False)):
        game = games.make(f"morpion(variant='{variant}')")
        state = game.read_line("7,9:3,9>7,9")[1]
        for x in (8, 9, 10):
            game.add_point(state, 9 + game.margin, x + game.margin, -1, 0)
        names = [game.move_name(state, move) for move in game.moves(state)]
        assert ("11,9:7,9>11,9" in names) == touching
        assert not any(re.fullmatch(r".*:[3-6],9>(7|8|9|10),9", name) for name in names)
        assert "2,9:2,9>6,9" not in names


def test_paper_has_edges():
    """A line that runs to the edge is a move, one that would leave the paper is not."""
    game = games.make("morpion")
    state = game.initial()
    for column in range(28, 32):  # four points at the right edge of an empty row
        game.add_point(state, 2, column, -1, 0)
    names = {game.move_name(state, move) for move in game.moves(state)} - {
        game.move_name(state, move) for move in game.moves(game.initial())
    }
    edge = 31 - game.margin
    assert names == {f"{edge - 4},{2 - game.margin}:{edge - 4},{2 - game.margin}>{edge},{2 - game.margin}"}


def test_render():
    game = games.make("morpion(variant='4D')")
    lines = game.render(game.read_line("5,0:2,0>5,0")[1]).splitlines()
    assert lines[0] == "score 1"
    assert lines[-3].split() == ["0", ".", ".", ".", "O", "O", "O", "x", ".", "."]
    assert lines[-1].split() == [str(x) for x in range(-1, 8)]


def test_unknown_variant():
    with pytest.raises(ValueError, match="variant = '6D' is not one of 5D, 5T, 4D, 4T"):
        games.make("morpion(variant='6D')")
