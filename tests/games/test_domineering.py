"""Domineering: who wins small boards, whoever starts, and its rules against a board of squares."""

from functools import cache

import numpy as np
import pytest

from arena import games


def winner(game, first_to_move):
    """'V' or 'H' by exact search: of the game, or with Horizontal to move first.

    Horizontal first on a board is Vertical first on the board turned by a quarter.
    """
    if first_to_move == "H":
        game = type(game)(rows=game.columns, columns=game.rows)

    @cache
    def wins(covered):  # the player to move
        state = np.array([covered], np.uint64)
        sign = 1 if game.player(state) == 0 else -1
        if game.is_over(state):
            return sign * game.score(state) > 0
        replies = [game.after(state, move) for move in game.moves(state)]
        replies.sort(key=lambda reply: -sign * game.evaluate(reply))  # the best first, to cut the search short
        return any(not wins(int(reply[0])) for reply in replies)

    return first_to_move if wins(0) else ("H" if first_to_move == "V" else "V")


OUTCOMES = {"VV": "V", "HH": "H", "VH": "N", "HV": "P"}  # who wins when V starts, and when H does; P: the second player


@pytest.mark.parametrize(
    "rows, columns, outcome", [(2, 2, "N"), (3, 3, "N"), (4, 4, "N"), (2, 4, "H"), (4, 2, "V"), (5, 5, "P")]
)
def test_who_wins(rows, columns, outcome):
    game = games.make(f"domineering({rows}, {columns})")
    assert OUTCOMES[winner(game, "V") + winner(game, "H")] == outcome


def naive_winner(rows, columns, misere, free, side):
    """Whether the player to move wins, on a frozen set of free squares."""
    step = (1, 0) if side == 0 else (0, 1)
    replies = [free - {s, (s[0] + step[0], s[1] + step[1])} for s in free if (s[0] + step[0], s[1] + step[1]) in free]
    if not replies:
        return misere
    return any(not naive_winner(rows, columns, misere, reply, 1 - side) for reply in replies)


@pytest.mark.parametrize("name", ["domineering", "misere_domineering"])
@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (3, 3), (2, 4), (3, 4), (4, 3)])
def test_winners_are_those_of_a_naive_search(name, size):
    game = games.make(f"{name}{size}")
    free = frozenset((r, c) for r in range(size[0]) for c in range(size[1]))
    assert (winner(game, "V") == "V") == naive_winner(*size, name.startswith("misere"), free, 0)


SPECS = ["domineering", "misere_domineering(5, 7)", "domineering(4, 16)", "domineering(32, 2)"]


@pytest.mark.parametrize("spec", SPECS)
def test_moves_are_those_of_a_board_of_squares(spec):
    game, random = games.make(spec), np.random.default_rng(7)
    for _ in range(15):
        state, side = game.initial(), 0
        free = np.ones((game.rows, game.columns), bool)
        while True:
            down, right = (1, 0) if side == 0 else (0, 1)
            pairs = free[: game.rows - down, : game.columns - right] & free[down:, right:]
            places = np.argwhere(pairs).tolist()
            names = {f"{chr(97 + c)}{r + 1}{chr(97 + c + right)}{r + 1 + down}": (r, c) for r, c in places}
            assert {game.move_name(state, move) for move in game.moves(state)} == set(names)
            assert bool(game.is_over(state)) == (not names) and game.player(state) == side
            if not names:
                break
            name = str(random.choice(sorted(names)))
            row, column = names[name]
            free[row, column] = free[row + down, column + right] = False
            state, side = game.after(state, game.parse_move(state, name)), 1 - side
        last_mover = 1.0 if side == 1 else -1.0
        assert game.score(state) == (-last_mover if spec.startswith("misere") else last_mover)


def test_evaluations():
    game, misere = games.make("domineering(4, 4)"), games.make("misere_domineering(4, 4)")
    state = game.read_line("b1b2")[1]
    mobility, room = game.evaluate(state), game.evaluate_room(state)
    assert mobility == pytest.approx((10 - 8) / 19)
    # Vertical has room for 2 + 1 + 2 + 2 dominoes, and only a1a2 is safe; Horizontal for 1 + 1 + 2 + 2, none safe
    assert room == pytest.approx(((7 + 1) - (6 + 0)) / (8 + 6 + 1))
    assert misere.evaluate(state) == -mobility and misere.evaluate_room(state) == -room


@pytest.mark.parametrize("name", ["domineering", "misere_domineering"])
def test_moves_are_ordered_by_the_room_they_leave(name):
    game = games.make(f"{name}(4, 5)")
    state = game.read_line("b1b2 c3d3")[1]
    for move in game.moves(state):
        after = game.after(state, move)
        ahead = game.room(after[0], 0) - game.room(after[0], 1)
        assert game.move_order(state, move) == (ahead if name == "domineering" else -ahead)
    orders = {game.move_name(state, move): game.move_order(state, move) for move in game.moves(state)}
    assert abs(orders["e1e2"]) < 12 and len(set(orders.values())) > 2


def test_features_are_the_squares_around_the_domino():
    game = games.make("domineering(4, 4)")
    open_board, state = game.initial(), game.read_line("b1b2 c3d3")[1]
    move = game.parse_move(open_board, "c1c2")
    assert game.feature_code(open_board, move) == move << 6 | 0b100000  # the edge below
    assert game.feature_code(state, move) == move << 6 | 0b111100  # and above c3, to the left b1 and b2


def test_render():
    game = games.make("domineering(2, 3)")
    assert game.render(game.read_line("a1a2")[1]) == "2 # . .\n1 # . .\n  a b c"


@pytest.mark.parametrize(
    "sizes, message", [("1, 4", "rows = 1"), ("4, 27", "columns = 27"), ("9, 8", r"rows \* columns = 72")]
)
def test_bad_sizes(sizes, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(f"domineering({sizes})")
