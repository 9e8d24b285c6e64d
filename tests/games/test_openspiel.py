"""Games in step with OpenSpiel's, which is an optional dependency: `pip install open_spiel`, or the extra `interop`.

At every ply of random games: the same player, the same legal moves, the same end and the same result.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import games
from games.core.check import random_line, view

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

GAMES_PLAYED = 200
LONG = ("checkers", "kalah", "y(size=5)")  # of which 20,000 games take minutes


def by_name(game, state, move):
    """A move's path of OpenSpiel actions, where that is one action of our own name."""
    return (game.move_name(state, move),)


def by_number(game, state, move):
    return (str(move),)


def number(state, action):
    return str(action)


@dataclass(frozen=True)
class Peer:
    """One game, here and there.  A move here may be several actions there, in the same order for all moves."""

    spec: str
    peer: str
    path: Callable = by_number  # (game, state, move) -> labels of the actions that the move is there
    label: Callable = number  # (peer's state, action) -> label
    count: int = GAMES_PLAYED
    first: int = 0  # who our first player is there
    ends_otherwise: Callable = lambda states: False  # (our states so far) -> whether a game may now end otherwise there

    def __str__(self):
        return f"{self.spec} = {self.peer}"


def text(state, action):
    return state.action_to_string(action).rstrip("*")


def tictactoe_cell(game, state, move):
    """Their rows run from the top."""
    row, column = divmod(move, 3)
    return (str(3 * (2 - row) + column),)


def breakthrough_name(game, state, move):
    """Their board is upside down, and letters come first."""
    name, top = game.move_name(state, move), game.rows + 1
    return (f"{name[1]}{top - int(name[0])}{name[3]}{top - int(name[2])}",)


def nim_name(game, state, move):
    """Ours is heap-take."""
    heap, take = game.move_name(state, move).split("-")
    return (f"pile:{heap}, take:{take};",)


def pig_number(game, state, move):
    """Theirs: roll 0, stop 1, and the faces from 0; ours: a roll is 0, hold 7, faces 1 to 6."""
    return (str(move - 1 if game.player(state) == -1 else (0 if move == 0 else 1)),)


def go_name(state, action):
    """Theirs is `B a1` or `B PASS`, with letters that leave i out too."""
    return state.action_to_string(action).split()[1].lower()


def clobber_name(game, state, move):
    return (game.move_name(state, move),)


def amazons_path(game, state, move):
    """Theirs are three actions, each a square numbered from the upper left."""
    squares = game.move_name(state, move).replace("/", "-").split("-")
    return tuple(str((game.size - int(square[1:])) * game.size + ord(square[0]) - ord("a")) for square in squares)


def algebraic(game, state, move):
    """Without the signs of check and mate."""
    return (game.move_name(state, move).rstrip("+#"),)


def san(state, action):
    return state.action_to_string(action).rstrip("+#")


def kalah_number(game, state, move):
    """Their pits are numbered around the board, from 1, with a store between."""
    return (str(move + 1 + 7 * game.player(state)),)


def checkers_name(game, state, move):
    return ("".join(f"{chr(97 + square % 8)}{square // 8 + 1}" for square in (move >> 6, move & 63)),)


def checkers_end_otherwise(states):
    """There a game is a draw after 40 moves without a capture."""
    pieces = [int(state[0] | state[1]).bit_count() for state in states[-41:]]
    return len(pieces) == 41 and pieces[0] == pieces[-1]


def loa_ends_otherwise(states):
    """Here a capture that joins all pieces of both is a draw, there a win; and there a board for the second time is a
    draw, whoever is to move."""
    boards = [state[:2].tobytes() for state in states]
    return states[-1][3] == 3 or boards[-1] in boards[:-1]


PEERS = [
    Peer("tictactoe", "tic_tac_toe", tictactoe_cell),
    Peer("connect4", "connect_four"),
    Peer("breakthrough", "breakthrough", breakthrough_name, text),
    Peer("breakthrough(rows=6, columns=4)", "breakthrough(rows=6,columns=4)", breakthrough_name, text),
    Peer("othello", "othello"),
    Peer("mnk(rows=15, columns=15, k=5)", "gomoku"),
    Peer("mnk(rows=4, columns=6, k=4)", "mnk(m=6,n=4,k=4)"),
    Peer("hex(size=5)", "hex(board_size=5)", by_name, text),
    Peer("hex(size=5, swap=true)", "hex(board_size=5,swap=True)", by_name, text),
    Peer("hex(size=11)", "hex(board_size=11)", by_name, text),
    Peer("y(size=5)", "y(board_size=5)"),
    Peer("y(size=9)", "y(board_size=9)", count=50),
    Peer("go(size=9, komi=7.5)", "go(board_size=9,komi=7.5,max_game_length=243)", by_name, go_name),
    Peer("nim(heaps=[1, 3, 5, 7], misere=true)", "nim", nim_name, text),
    Peer("nim(heaps=[4, 9, 2])", "nim(pile_sizes=4;9;2,is_misere=False)", nim_name, text),
    Peer("clobber(rows=5, columns=6)", "clobber(rows=5,columns=6)", clobber_name, text),
    Peer("amazons(size=10)", "amazons", amazons_path),
    Peer("pig(target=100)", "pig", pig_number),
    Peer("chess", "chess", algebraic, san, count=1, first=1),
    Peer("checkers", "checkers", checkers_name, text, count=10, ends_otherwise=checkers_end_otherwise),
    Peer("kalah", "mancala", kalah_number),
    Peer("loa(horizon=1000)", "lines_of_action", by_name, text, count=2, ends_otherwise=loa_ends_otherwise),
]


def superko(theirs, action):
    """Whether OpenSpiel's Go ends with this action, which repeats a position; here it is not legal."""
    after = theirs.clone()
    after.apply_action(action)
    return after.is_terminal()


def play_in_step(peer, random):
    game, theirs = games.make(peer.spec), pyspiel.load_game(peer.peer).new_initial_state()
    state = game.initial()
    states = [state]
    while not game.is_over(state):
        if theirs.is_terminal():
            assert peer.ends_otherwise(states), theirs
            return
        player = int(game.player(state))
        assert theirs.current_player() == (player if player < 0 else player ^ peer.first)
        paths = {peer.path(game, state, move): move for move in game.moves(state)}
        chosen = list(paths)[random.integers(len(paths))]
        for depth, label in enumerate(chosen):
            ours = {path[depth] for path in paths if path[:depth] == chosen[:depth]}
            actions = {peer.label(theirs, action): action for action in theirs.legal_actions()}
            if peer.spec.startswith("go"):
                actions = {key: a for key, a in actions.items() if key in ours or not superko(theirs, a)}
            assert set(actions) == ours, theirs
            theirs.apply_action(actions[label])
        state = game.after(state, paths[chosen])
        states.append(state)
    if peer.ends_otherwise(states):
        return
    assert theirs.is_terminal()
    assert np.sign(game.score(state)) == np.sign(theirs.returns()[peer.first])


@pytest.mark.parametrize("peer", PEERS, ids=str)
def test_in_step(peer):
    random = np.random.default_rng(11)
    for _ in range(peer.count):
        play_in_step(peer, random)


def loa_number(game, move, capture):
    """OpenSpiel's number of a move: rows and columns of origin and target, and whether it takes a piece."""
    origin, target = move >> 6, move & 63
    return ((((origin >> 3) * 8 + (origin & 7)) * 8 + (target >> 3)) * 8 + (target & 7)) * 2 + capture


@pytest.mark.matrix
@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.spec in LONG], ids=str)
def test_in_step_for_20_000_games(peer):
    random = np.random.default_rng(12)
    for _ in range(20_000):
        play_in_step(peer, random)


@pytest.mark.matrix
def test_lines_of_action_in_step_for_thousands_of_games():
    """The same legal moves, by number, the same ends and results, or those that their rules make of it."""
    game, there, otherwise = games.make("loa(horizon=1000)"), pyspiel.load_game("lines_of_action"), 0
    for seed in range(2_000):
        line, theirs = random_line(game, seed), there.new_initial_state()
        for ply, (state, move) in enumerate(zip(line.states, line.played.tolist())):
            if theirs.is_terminal():
                break
            other = int(state[1 - (ply & 1)])
            legal = {int(m): loa_number(game, int(m), other >> (int(m) & 63) & 1) for m in view(game, state, 1).moves}
            assert sorted(legal.values()) == theirs.legal_actions(), theirs
            theirs.apply_action(legal[move])
        played = line.states[: len(theirs.history()) + 1]
        boards, expected = [state[:2].tobytes() for state in played], game.score(played[-1])
        if loa_ends_otherwise(played):  # a board again is a draw, else who has joined all pieces has won
            otherwise += 1
            expected = 0 if boards[-1] in boards[:-1] else 1 - 2 * ((len(played) - 2) % 2)
        assert theirs.is_terminal() and theirs.returns()[0] == expected
    assert 0 < otherwise < 1_000
