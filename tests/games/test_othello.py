"""Othello's known figures, and its rules against a board of characters."""

import numpy as np
import pytest

from arena import agents, games
from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.games.othello import PASS

GAME = games.make("othello")
DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def naive_turned(board, row, column, side):
    """The squares that a disc of `side` turns over, walking along each direction."""
    found = []
    for down, right in DIRECTIONS:
        run, r, c = [], row + down, column + right
        while 0 <= r < len(board) and 0 <= c < len(board) and board[r, c] == "WB"[side]:
            run.append((r, c))
            r, c = r + down, c + right
        if 0 <= r < len(board) and 0 <= c < len(board) and board[r, c] == "BW"[side]:
            found += run
    return found


def naive_moves(board, side):
    free = zip(*np.nonzero(board == "."), strict=True)
    return {f"{chr(97 + c)}{r + 1}" for r, c in free if naive_turned(board, r, c, side)}


@pytest.mark.parametrize(
    "spec", [pytest.param("othello", marks=pytest.mark.slow), "othello(size=6)", "othello(size=4)"]
)
def test_play_is_that_of_a_board_of_characters(spec):
    game, random, passes = games.make(spec), np.random.default_rng(8), 0
    for _ in range(25):
        state, side, half = game.initial(), 0, game.size // 2
        board = np.full((game.size, game.size), ".")
        board[half - 1, half - 1] = board[half, half] = "W"
        board[half - 1, half] = board[half, half - 1] = "B"
        while naive_moves(board, side) or naive_moves(board, 1 - side):
            assert not game.is_over(state) and game.player(state) == side
            names = {game.move_name(state, move) for move in game.moves(state)}
            assert names == (naive_moves(board, side) or {"pass"})
            name = str(random.choice(sorted(names)))
            if name == "pass":
                passes += 1
            else:
                row, column = int(name[1]) - 1, ord(name[0]) - 97
                for square in [(row, column), *naive_turned(board, row, column, side)]:
                    board[square] = "BW"[side]
            state, side = game.after(state, game.parse_move(state, name)), 1 - side
            drawn = [line.split()[1:] for line in game.render(state).splitlines()[:-1]]
            assert drawn == board.tolist()
        assert game.is_over(state)
        assert game.score(state) == np.count_nonzero(board == "B") - np.count_nonzero(board == "W")
    assert passes > 0


@pytest.mark.slow
def test_the_second_player_wins_on_4x4_by_8_discs():
    game, known = games.make("othello(size=4)"), {}

    def value(state):
        """Black's discs less White's under best play."""
        if game.is_over(state):
            return float(game.score(state))
        if (found := known.get(state.tobytes())) is None:
            best = max if game.player(state) == 0 else min
            found = known[state.tobytes()] = best(value(game.after(state, move)) for move in game.moves(state))
        return found

    after_each = [value(game.after(game.initial(), move)) for move in game.moves(game.initial())]
    assert after_each == [-8.0] * 4  # the four first moves are images of one another


@pytest.mark.slow
def test_random_play_equals_the_yardsticks():
    """Figures of a bitboard program of our own in C++, over millions of games: shares and plies."""
    summary = games.playouts(GAME, 200_000, seed=4)
    assert summary.wins / 200_000 == pytest.approx(0.4541, abs=0.005)
    assert summary.draws / 200_000 == pytest.approx(0.0418, abs=0.002)
    assert summary.plies / 200_000 == pytest.approx(60.413, abs=0.02)


@pytest.mark.parametrize("spec", ["othello", "othello(size=4)"])
def test_the_own_playout_makes_the_moves_of_random_move(spec):
    game = games.make(spec)
    moves = np.empty(game.max_moves, np.int32)
    with np.errstate(over="ignore"):
        for seed in range(5):
            own = game.random_playout(game.initial(), moves, stream(seed))
            assert own == Game.random_playout(game, game.initial(), moves, stream(seed))


def test_a_player_without_a_move_passes():
    """The shortest games on 4x4 in which somebody must pass are found by trying all; then the other moves again."""
    game, level = games.make("othello(size=4)"), [games.make("othello(size=4)").initial()]
    while not (passing := [state for state in level if game.moves(state) == [PASS]]):
        level = [game.after(state, move) for state in level for move in game.moves(state)]
    state = passing[0]
    after = game.after(state, game.parse_move(state, "pass"))
    assert after[:2].tolist() == state[:2].tolist() and game.player(after) == 1 - game.player(state)
    assert PASS not in game.moves(after)


def test_start_and_notation():
    assert GAME.render(GAME.read_line("d3")[1]).splitlines()[2:5] == [
        "3 . . . B . . . .",
        "4 . . . B B . . .",
        "5 . . . B W . . .",
    ]
    with pytest.raises(games.IllegalMove, match=r"'pass' is not a legal move of .* legal: d3 c4 f5 e6"):
        GAME.read_line("pass")


def test_a_game_that_ends_with_empty_squares():
    """Black turns the last white disc over with the ninth move."""
    state = GAME.read_line("e6 f4 e3 f6 g5 d6 e7 f5 c5")[1]
    assert GAME.is_over(state) and GAME.score(state) == 13 and GAME.moves(state) == []


@pytest.mark.parametrize("side", [0, 1])
def test_a_win_is_foreseen_by_stable_discs_on_more_than_half_the_squares(side):
    """On 4x4 those of the two first rows cannot be turned, and half is a draw yet; a disc at the third's edge wins."""
    game = games.make("othello(size=4)")
    for third, known in ((0b0010, False), (0b0011, True)):
        own = 0x0F | 0x0F << 8 | third << 16
        for mover in (side, 1 - side):
            state = game.initial()
            state[side], state[1 - side], state[3] = own, 1 << 26, mover
            plies, exact = game.foreseen(state)
            assert not known or not exact
            assert np.sign(plies) == (0 if not known else 1 if mover == side else -1)


def test_bad_sizes():
    with pytest.raises(games.SpecError, match="size = 5 is not one of 4, 6, 8"):
        games.make("othello(size=5)")


def test_evaluations_are_those_of_a_board_of_characters():
    random, state, corners_held = np.random.default_rng(12), GAME.initial(), 0
    while not GAME.is_over(state):
        board = np.array([line.split()[1:] for line in GAME.render(state).splitlines()[:-1]])
        corners = board[::7, ::7].ravel().tolist()
        difference = len(naive_moves(board, 0)) - len(naive_moves(board, 1))
        difference += 8 * (corners.count("B") - corners.count("W"))
        assert GAME.evaluate(state) == pytest.approx(difference / (32 + abs(difference)))
        discs = np.count_nonzero(board == "B") - np.count_nonzero(board == "W")
        assert GAME.evaluate_discs(state) == pytest.approx(discs / 64)
        corners_held += corners != ["."] * 4
        state = GAME.after(state, int(random.choice(GAME.moves(state))))
    assert corners_held > 0


CORNERS = {"a1", "a8", "h1", "h8"}


def test_moves_that_leave_few_replies_come_first():
    """Counted by playing; a reply into a corner counts twice, a corner of one's own makes up for two replies."""
    random = np.random.default_rng(3)
    for _ in range(8):
        state = GAME.initial()
        while not GAME.is_over(state):
            for move in GAME.moves(state):
                name, after = GAME.move_name(state, move), GAME.after(state, move)
                replies = [] if GAME.is_over(after) else [GAME.move_name(after, reply) for reply in GAME.moves(after)]
                names = set(replies) - {"pass"}
                expected = 2 * (name in CORNERS) - len(names) - len(CORNERS & names)
                assert GAME.move_order(state, move) == (0 if move == PASS else expected)
            state = GAME.after(state, int(random.choice(GAME.moves(state))))


@pytest.mark.slow
def test_mobility_and_corners_beat_discs():
    """Forty games at depth 3: twenty random openings of six plies, each with both sides."""
    contestants, total = [agents.make(f"alphabeta(depth=3, evaluation='{name}')") for name in ("", "discs")], 0
    for game in range(40):
        random, state = np.random.default_rng(game // 2), GAME.initial()
        for _ in range(6):
            state = GAME.after(state, int(random.choice(GAME.moves(state))))
        players = [agent.player(GAME) for agent in contestants]
        while not GAME.is_over(state):
            decision = players[(GAME.player(state) + game) % 2].choose(state, stream(game))
            state = GAME.after(state, decision.move)
        total += np.sign(GAME.score(state)) * (1 if game % 2 == 0 else -1)
    assert total > 15
