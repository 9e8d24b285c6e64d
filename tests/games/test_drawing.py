"""Positions as SVG: every game's is well formed, needs nothing else, and shows what the game's text shows."""

import re
from collections import Counter
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from arena import games
from arena.games.core.boards.drawing import CELL, EDGE, STYLE, TILES, Look, read_board, svg, text_drawing
from arena.games.core.game import CHANCE, Game

SPACE = "{http://www.w3.org/2000/svg}"
BOARDS = [
    *("amazons", "atarigo", "breakthrough", "chess", "clobber", "connect4", "domineering", "go", "hex"),
    *("knightthrough", "misere_breakthrough", "misere_domineering", "misere_knightthrough", "misere_nogo"),
    *("mnk", "nogo", "othello", "samegame", "tictactoe"),
]


def line_of(game, plies, seed=1):
    """(state, names) after random moves, in plain Python."""
    state, names, rng = game.initial(), [], np.random.default_rng(seed)
    room, odds = np.empty(game.max_moves, np.int32), np.empty(game.max_moves)
    while len(names) < plies and not game.is_over(state):
        chance = game.player(state) == CHANCE
        legal = room[: game.chance(state, room, odds)].tolist() if chance else game.moves(state)
        move = int(rng.choice(legal))
        names.append(game.move_name(state, move))
        game.play(state, move)
    return state, names


def shapes(picture, tag):
    return [element.attrib for element in ElementTree.fromstring(picture).iter(SPACE + tag)]


@pytest.mark.parametrize("name", [name for name in games.names() if not name.startswith("test_")])
def test_every_game_is_drawn(name):
    game = games.make(name)
    state, names = line_of(game, 12)
    picture, before = svg(game, state, names), state.copy()
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img" and root.find(SPACE + "title").text == root.get("aria-label")
    assert game.render(state) == root.find(SPACE + "desc").text and names[-1] in root.get("aria-label")
    assert re.findall(r'https?://[^"<\s]+', picture) == ["http://www.w3.org/2000/svg"] and "url(" not in picture
    used = {word for kind in re.findall(r'class="([^"]*)"', picture) for word in kind.split()}
    assert all(f".{word} " in STYLE or f".{word}." in STYLE or f"text.{word}" in STYLE for word in used)
    assert np.array_equal(state, before) and picture == svg(game, state, names)
    first, words = game.render(state).splitlines()[0], {element.text for element in root.iter(SPACE + "text")}
    assert read_board(game.render(state)) or type(game).drawing is not Game.drawing or first[:40] in "".join(words)
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top) == (0, 0) and 50 <= width <= 1200 and 30 <= height <= 1200


@pytest.mark.parametrize("name", BOARDS)
def test_as_many_pieces_as_symbols(name):
    """Of each kind: a shape of a colour, a block, or a tile."""
    game = games.make(name)
    state, names = line_of(game, 9)
    symbols = Counter("".join(map("".join, read_board(game.render(state)).rows)))
    known = {"#": "block", "X": "black", "x": "black", "O": "white", "B": "black", "W": "white"}
    wanted = Counter()
    for symbol, count in symbols.items():
        if symbol != ".":
            wanted[game.board_look.pieces.get(symbol, known.get(symbol)).split()[0]] += count
    drawing = game.drawing(state, [])
    found = Counter(re.findall(r'class="(\w+)', "".join(drawing.parts)))
    assert {kind: found[kind] for kind in wanted} == dict(wanted) and sum(wanted.values()) > 0
    marked = len(re.findall(r'class="(?:under|last ring)"', "".join(game.drawing(state, names).parts)))
    assert marked == len(set(re.findall(r"[a-z]\d+|\d+[a-z]", names[-1]))) or (name == "connect4" and marked == 1)


def test_a_game_that_says_nothing_of_pictures():
    """Its text is enough: discs for X and O, letters for the rest; its names are text and no markup."""
    text = "<b> & so\x01 on\n2 X .\n1 O <\n  a b"
    plain = SimpleNamespace(render=lambda _: text, drawing=lambda _, moves: text_drawing(text, moves, Look()))
    root = ElementTree.fromstring(svg(plain, None, ["a1"], title='"<>\x00'))
    assert [element.text for element in root.iter(SPACE + "text")] == ["2", "1", "a", "b", "<", "<b> & so� on"]
    assert root.get("aria-label") == root.find(SPACE + "title").text == '"<>�'
    assert [element.get("class") for element in root.iter(SPACE + "circle")] == ["black", "white"]
    assert len([1 for element in root.iter(SPACE + "rect") if element.get("class") == "under"]) == 1


def test_squares_are_where_their_names_say():
    state, names = line_of(games.make("othello"), 1)
    disc = shapes(svg(games.make("othello"), state, names), "circle")[-1]
    column, row = ord(names[0][0]) - ord("a"), int(names[0][1]) - 1
    assert (float(disc["cx"]), float(disc["cy"])) == (EDGE + CELL * (column + 0.5), 2 + CELL * (row + 0.5))
    assert disc["class"] == "last ring"


def test_text_that_is_a_board():
    board = read_board("7 and y\n.  1  2\n3  4  5\n1  2  3\nscore 7")
    assert board.rows == ((".", "1", "2"), ("3", "4", "5")) and board.column_names == ("1", "2", "3")
    assert board.notes == ("7 and y", "score 7") and board.row_names == ("", "")
    assert board.places("2") == [(0, 1)] and board.places("1") == [(1, 0)] and board.places("9") == []
    for text in ("", "1", "a b c", "x\n1 2", "1: ||| 3", "a a\n. ."):
        assert read_board(text) is None, text
    board = read_board("10 . X\n 9 . .\n   a b")
    assert board.row_names == ("10", "9") and board.places("b10-a9") == [(0, 1), (1, 0)]


def test_dominoes():
    """Those that are known, upright ones in red, and squares for the rest."""
    game = games.make("domineering(rows=4, columns=4)")
    state, names = line_of(game, 4)
    drawn = shapes(svg(game, state, names), "rect")
    assert [shape["class"] for shape in drawn if shape["class"] in ("red", "blue")] == ["red", "blue", "red", "blue"]
    assert not any(shape["class"] == "block" for shape in drawn)
    blocks = [shape for shape in shapes(svg(game, state, names[-1:]), "rect") if shape["class"] == "block"]
    assert len(blocks) == 6


@pytest.mark.parametrize("variant", ("5D", "5T", "4D", "4T"))
def test_the_lines_of_morpion(variant):
    """They are read from the position alone, and are those of the moves."""
    game = games.make(f"morpion({variant!r})")
    state, names = line_of(game, 40)
    ends = {
        frozenset(tuple(int(number) + game.margin for number in reversed(end.split(","))) for end in rest.split(">"))
        for _, rest in (name.split(":") for name in names)
    }
    assert {frozenset(map(tuple, line)) for line in game.drawn_lines(state)} == ends and len(ends) == len(names)
    texts = [element.text for element in ElementTree.fromstring(svg(game, state, names[-3:])).iter(SPACE + "text")]
    assert texts == [str(len(names) - 2), str(len(names) - 1), str(len(names))]


def test_heaps():
    game = games.make("nim(heaps=(3, 30))")
    _, state = game.read_line("1-2")
    drawn = shapes(svg(game, state, ["1-2"]), "rect")
    widths = [float(shape["width"]) for shape in drawn if shape["class"] == "red"]
    assert len(widths) == 2 and widths[1] == 30 * widths[0]  # in proportion, where there are many
    assert len([shape for shape in drawn if shape["class"] == "under"]) == 1


def luminance(colour):
    """Of a colour in hexadecimal, by WCAG 2."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_words_and_pieces_can_be_told_from_what_is_behind():
    """In light and dark: text has the contrast 4.5 that WCAG asks for, and a piece or its outline 3 on every ground."""
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")

    def colours(sheet, property):
        rules = re.findall(r"\.arena-board (?:text)?\.?(\w*) \{([^}]*)\}", sheet)
        return {name: found[1] for name, rule in rules if (found := re.search(rf"{property}: (#\w{{6}})", rule))}

    fills, strokes = colours(light, "fill"), colours(light, "stroke")
    for changed_fills, changed_strokes in (({}, {}), (colours(dark, "fill"), colours(dark, "stroke"))):
        fill, stroke = fills | changed_fills, strokes | changed_strokes
        assert contrast(fill[""], fill["paper"]) >= 4.5 and contrast(fill["line"], fill["paper"]) >= 4.5
        assert all(contrast(fill["on"], colour) >= 4.5 for colour in TILES)
        for piece in ("white", "black", "red", "blue", "yellow", "block"):
            for ground in ("ground", "even"):
                assert max(contrast(paint[piece], fill[ground]) for paint in (fill, stroke)) >= 3, (piece, ground)


def test_checkers_marks_squares_that_are_named_by_number():
    """As in `move_name`: number n is the square 4 * (square // 8) + (7 - square % 8) // 2 + 1."""
    game = games.make("checkers")
    for square in range(0, 64, 9):
        number = 4 * (square // 8) + (7 - square % 8) // 2 + 1
        (marked,) = [part for part in game.drawing(game.initial(), [f"{number}"]).parts if "under" in part]
        left, top = EDGE + CELL * (square % 8), 2 + CELL * (7 - square // 8)
        assert f'x="{left:g}" y="{top:g}"' in marked


def test_y_is_a_triangle_without_sides_that_belong_to_a_player():
    game = games.make("y(size=3)")
    drawing = game.drawing(game.after(game.initial(), game.parse_move(game.initial(), "b2")), ["b2"])
    assert drawing.ground.count("M") == 2 * 6 and "side" not in drawing.ground  # cells, filled and outlined
    assert [part.split('"')[1] for part in drawing.parts] == [["red", "disc"][0], "last ring"]


def test_backgammon_shows_every_checker():
    game = games.make("backgammon")
    state = game.initial()
    parts = game.drawing(state, []).parts
    assert [sum(f'class="{colour}"' in part for part in parts) for colour in ("black", "white")] == [15, 15]
    assert sum("under" in part for part in game.drawing(state, ["64", "24/18,13/9"]).parts) == 2


@pytest.mark.parametrize("moves, colour, pips, line", [
    ("64", "black", 10, "black: bar 0, off 0, 167 pips, to play 64"),
    ("31 8/5,6/5 55", "white", 10, "white: bar 0, off 0, 167 pips, to play 55"),
])  # fmt: skip
def test_backgammon_shows_the_dice_in_the_colour_of_who_plays(moves, colour, pips, line):
    game = games.make("backgammon")
    parts = game.drawing(game.read_line(moves)[1], []).parts
    dice = [part for part in parts if part.startswith("<g>")]
    assert len(dice) == 2 and all(f'<rect class="{colour}"' in die for die in dice)
    assert sum(die.count("<circle") for die in dice) == pips and any(line in part for part in parts)
    before = game.drawing(game.initial(), []).parts
    assert not any(part.startswith("<g>") for part in before) and not any("X:" in part for part in before)


def test_kalah_shows_every_pit():
    game = games.make("kalah(houses=4, seeds=3)")
    shown = [re.search(r">(\d+)<", part)[1] for part in game.drawing(game.initial(), []).parts]
    assert sorted(shown) == ["0", "0", *8 * ["3"]]
