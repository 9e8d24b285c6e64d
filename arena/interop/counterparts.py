"""Translates positions to and from OpenSpiel (Lanctot et al., "OpenSpiel: A framework for reinforcement learning in
games", 2019) by replaying the moves.

A move here is one or more actions there: for an amazon, the square it leaves, its target, and the arrow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.games.core.game import CHANCE, Game
from arena.games.core.shared.errors import UserError

try:
    import pyspiel
except ModuleNotFoundError as error:
    missing = "OpenSpiel is not installed: pip install open_spiel, or the extra interop of search-arena"
    raise ModuleNotFoundError(missing, name=error.name) from None


class NoCounterpart(UserError, ValueError):
    """A game that OpenSpiel lacks, or a position of another game."""


def by_number(game: Game, state: np.ndarray, move: int) -> tuple[str, ...]:
    """A move is the action of the same number."""
    return (str(move),)


def number(theirs: Any, action: int) -> str:
    """An action by its number."""
    return str(action)


@dataclass(frozen=True)
class Counterpart:
    """Labels (names or numbers) identify the actions of a move."""

    name: str  # as `pyspiel.load_game` takes it, with parameters
    path: Callable[[Game, np.ndarray, int], tuple[str, ...]] = by_number  # the labels of a move's actions
    label: Callable[[Any, int], str] = number  # of an action in one of their states
    first: int = 0  # the number of our first player there
    differs: str = ""  # how its rules differ from ours


def counterpart_of(game: Game) -> Counterpart:
    """OpenSpiel's game that is the same; NoCounterpart if there is none."""
    made = COUNTERPARTS[game.name](game) if game.name in COUNTERPARTS else None
    if made is None:
        raise NoCounterpart(f"OpenSpiel has no {game}; it has {', '.join(COUNTERPARTS)}, some in one size alone")
    return made


class Mirror:
    """A position here, `state`, and the same one there, `theirs`, moved in step from the initial one by `moves`;
    IllegalMove names an illegal one.
    """

    def __init__(self, game: Game, moves: Sequence[int] = ()):
        self.game, self.counterpart = game, counterpart_of(game)
        self.theirs = pyspiel.load_game(self.counterpart.name).new_initial_state()
        self.state = game.initial()
        for move in moves:
            self.push(move)

    def push(self, move: int) -> None:
        """Make a move on both boards."""
        after = self.game.after(self.state, move)
        for action in self.actions_of(move):
            self.theirs.apply_action(action)
        self.state = after

    def actions_of(self, move: int) -> list[int]:
        """Their actions that are a legal move of ours."""
        theirs, actions = self.theirs.clone(), list[int]()
        for label in self.counterpart.path(self.game, self.state, move):
            (action,) = [a for a in theirs.legal_actions() if self.counterpart.label(theirs, a) == label]
            theirs.apply_action(action)
            actions.append(action)
        return actions

    def move_of(self, actions: Sequence[int]) -> int | None:
        """Our legal move of these actions; None if they only begin one; else NoCounterpart."""
        theirs, labels = self.theirs.clone(), list[str]()
        for action in actions:
            labels.append(self.counterpart.label(theirs, action))
            theirs.apply_action(action)
        paths = {self.counterpart.path(self.game, self.state, move): move for move in self.game.moves(self.state)}
        if tuple(labels) in paths:
            return paths[tuple(labels)]
        if any(path[: len(labels)] == tuple(labels) for path in paths):
            return None
        differs = f": {self.counterpart.differs}" if self.counterpart.differs else ""
        raise NoCounterpart(f"{' '.join(labels)} is no legal move of {self.game} here{differs}")

    def side(self, player: int) -> int:
        """Our number of their player, and vice versa."""
        return player if player == CHANCE else player ^ self.counterpart.first


def to_openspiel(game: Game, moves: Sequence[int] = ()) -> Any:
    """OpenSpiel's state (`pyspiel.State`) after moves from the initial position of one of our games.

    NoCounterpart if OpenSpiel lacks the game; IllegalMove names an illegal move.
    """
    return Mirror(game, moves).theirs


def from_openspiel(game: Game, theirs: Any) -> tuple[list[int], np.ndarray]:
    """(moves, state after them) in one of our games, from the actions that led to a `pyspiel.State`.

    NoCounterpart if the state is of another game, in the middle of a move, or not reachable by our rules.
    """
    mirror, moves, begun = Mirror(game), list[int](), list[int]()
    if _described(theirs.get_game()) != _described(mirror.theirs.get_game()):
        raise NoCounterpart(f"a state of {theirs.get_game()} is none of {game}, which is {mirror.theirs.get_game()}")
    for action in theirs.history():
        begun.append(action)
        move = mirror.move_of(begun)
        if move is not None:
            moves.append(move)
            mirror.push(move)
            begun.clear()
    if begun:
        raise NoCounterpart(f"the state is in the middle of a move, which begins with the actions {begun}")
    return moves, mirror.state


def _described(game: Any) -> tuple:
    kind = game.get_type()
    return kind.short_name, kind.parameter_specification | game.get_parameters()


# -- Each game's moves as OpenSpiel knows them ----------------------------------------------------------------------


def text(theirs, action):
    """An action's name without the mark of a capture."""
    return theirs.action_to_string(action).rstrip("*")


def by_name(game, state, move):
    """A move is the action of the same name."""
    return (game.move_name(state, move),)


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
    return (str(move - 1 if game.player(state) == CHANCE else (0 if move == 0 else 1)),)


def go_name(theirs, action):
    """Theirs is `B a1` or `B PASS`, with letters that leave i out too."""
    return theirs.action_to_string(action).split()[1].lower()


def amazons_path(game, state, move):
    """Theirs are three actions, each a square numbered from the upper left."""
    squares = game.move_name(state, move).replace("/", "-").split("-")
    return tuple(str((game.height - int(square[1:])) * game.width + ord(square[0]) - ord("a")) for square in squares)


def algebraic(game, state, move):
    """Our move's name without the signs of check and mate."""
    return (game.move_name(state, move).rstrip("+#"),)


def san(theirs, action):
    """Their action's name without the signs of check and mate."""
    return theirs.action_to_string(action).rstrip("+#")


def kalah_number(game, state, move):
    """Their pits are numbered around the board, from 1, with a store between."""
    return (str(move + 1 + 7 * game.player(state)),)


def checkers_name(game, state, move):
    """One step or jump, without a sign between."""
    return ("".join(f"{chr(97 + square % 8)}{square // 8 + 1}" for square in (move >> 6, move & 63)),)


def usual(game):
    """Whether chess has its usual initial position."""
    return not game.fen and game.setup == type(game).setup


def _breakthrough(game):
    """The counterpart, if there are six rows or more: with fewer, theirs has one row of pawns."""
    name = f"breakthrough(rows={game.rows},columns={game.columns})"
    return Counterpart(name, breakthrough_name, text) if game.rows >= 6 else None


def _go(game):
    name = f"go(board_size={game.size},komi={game.komi},max_game_length={3 * game.size**2})"
    return Counterpart(name, by_name, go_name, differs="their game ends where a position is repeated")


def _lines_of_action(game):
    differs = "their game is drawn if a board is repeated, and won by the mover if both sides are joined"
    return Counterpart("lines_of_action", by_name, text, differs=differs) if game.size == 8 else None


# by our game's name; None where OpenSpiel lacks these parameters
COUNTERPARTS: dict[str, Callable[[Any], Counterpart | None]] = {
    "tictactoe": lambda game: Counterpart("tic_tac_toe", tictactoe_cell),
    "connect4": lambda game: Counterpart(f"connect_four(rows={game.rows},columns={game.columns})"),
    "breakthrough": _breakthrough,
    "othello": lambda game: Counterpart("othello") if game.size == 8 else None,
    "mnk": lambda game: Counterpart(f"mnk(m={game.columns},n={game.rows},k={game.k})"),
    "y": lambda game: None if game.swap else Counterpart(f"y(board_size={game.size})"),
    "kalah": lambda game: Counterpart("mancala", kalah_number) if (game.houses, game.seeds) == (6, 4) else None,
    "checkers": lambda game: Counterpart(
        "checkers", checkers_name, text, differs="their game is a draw after 40 moves without a capture"
    ),
    "loa": _lines_of_action,
    "hex": lambda game: Counterpart(f"hex(board_size={game.size},swap={game.swap})", by_name, text),
    "go": _go,
    "nim": lambda game: Counterpart(
        f"nim(pile_sizes={';'.join(map(str, game.heaps))},is_misere={game.misere})", nim_name, text
    ),
    "clobber": lambda game: Counterpart(f"clobber(rows={game.rows},columns={game.columns})", by_name, text),
    "amazons": lambda game: (
        Counterpart(f"amazons(board_size={game.width})", amazons_path) if game.height == game.width else None
    ),
    "pig": lambda game: Counterpart(f"pig(winscore={game.target},horizon={game.horizon})", pig_number),
    "chess": lambda game: Counterpart("chess", algebraic, san, first=1) if usual(game) else None,
}
