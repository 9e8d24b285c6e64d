"""Games: rules as plain Python that Numba compiles.

game = games.make("breakthrough(rows=6, columns=4)")
state = game.initial()
game.moves(state)
games.perft(game, 4)
games.svg(game, state)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names that `__getattr__` finds
    from arena.games.amazons import Amazons as Amazons
    from arena.games.atarigo import AtariGo as AtariGo
    from arena.games.ataxx import Ataxx as Ataxx
    from arena.games.backgammon import Backgammon as Backgammon
    from arena.games.breakthrough import Breakthrough as Breakthrough
    from arena.games.breakthrough import Knightthrough as Knightthrough
    from arena.games.breakthrough import MisereBreakthrough as MisereBreakthrough
    from arena.games.breakthrough import MisereKnightthrough as MisereKnightthrough
    from arena.games.checkers import Checkers as Checkers
    from arena.games.chess import Chess as Chess
    from arena.games.clobber import Clobber as Clobber
    from arena.games.coin import Coin as Coin
    from arena.games.connect4 import Connect4 as Connect4
    from arena.games.core.boards.drawing import svg as svg
    from arena.games.core.checks.conformance import check as check
    from arena.games.core.game import Game as Game
    from arena.games.core.game import IllegalMove as IllegalMove
    from arena.games.core.play.playout import perft as perft
    from arena.games.core.play.playout import playouts as playouts
    from arena.games.core.shared.registry import SpecError as SpecError
    from arena.games.domineering import Domineering as Domineering
    from arena.games.domineering import MisereDomineering as MisereDomineering
    from arena.games.go import Go as Go
    from arena.games.hex import Hex as Hex
    from arena.games.kalah import Kalah as Kalah
    from arena.games.leftmove import LeftMove as LeftMove
    from arena.games.loa import LinesOfAction as LinesOfAction
    from arena.games.mnk import MNK as MNK
    from arena.games.morpion import Morpion as Morpion
    from arena.games.nim import Grundy as Grundy
    from arena.games.nim import Matches as Matches
    from arena.games.nim import Nim as Nim
    from arena.games.nogo import MisereNoGo as MisereNoGo
    from arena.games.nogo import NoGo as NoGo
    from arena.games.othello import Othello as Othello
    from arena.games.pentalath import Pentalath as Pentalath
    from arena.games.pig import Pig as Pig
    from arena.games.samegame import SameGame as SameGame
    from arena.games.tictactoe import TicTacToe as TicTacToe
    from arena.games.tree import Tree as Tree
    from arena.games.tsptw import TspTw as TspTw
    from arena.games.weakschur import WeakSchur as WeakSchur
    from arena.games.y import Y as Y

_HOMES = {
    "Game": "arena.games.core.game",
    "IllegalMove": "arena.games.core.game",
    "SpecError": "arena.games.core.shared.registry",
    "perft": "arena.games.core.play.playout",
    "playouts": "arena.games.core.play.playout",
    "check": "arena.games.core.checks.conformance",
    "svg": "arena.games.core.boards.drawing",
}

__all__ = [*_HOMES, "make", "names"]


def make(spec: str) -> "Game":
    """The game of a `spec` such as `"connect4(rows=6, columns=7)"`; SpecError says what is wrong with it.

    BrokenRules names what the class of a game lacks.
    """
    from arena.games.core.checks.first_look import check_whole
    from arena.games.core.game import registry

    made = registry.make(spec)
    check_whole(made)
    return made


def names() -> list[str]:
    """The names of all games."""
    from arena.games.core.game import registry

    return list(registry.classes())


if not TYPE_CHECKING:  # a type checker reports other names as mistakes

    def __getattr__(name):
        # Numba loads with the first thing that needs it: other commands are quick
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        from arena.games.core.game import registry

        return registry.class_called(name)


def __dir__() -> list[str]:
    return __all__
