"""A first look at a game, in plain Python: what its class lacks, and what goes wrong in its first random moves.

It comes before anything is compiled, so that its author reads about the rules and not about Numba's types.
"""

import warnings

import numpy as np

from arena.games.core.interface.rules import CHANCE, BrokenRules, Rules
from arena.games.core.random import stream

METHODS = ("start", "player", "legal_moves", "play", "is_over", "score", "move_name", "render")
CONSTANTS = ("state_size", "move_limit", "max_moves", "max_plies")
PLIES = 6
STARTS = 8  # that must be the same
WRAPPED = (
    "; its numbers wrapped around below 0 or beyond the largest, as those of the default dtype uint64 do: "
    "say dtype = np.int64 in the class, and import numpy as np"
)


def lacking(game: Rules) -> list[str]:
    """The members that every game defines and the game's class does not."""
    cls = type(game)
    methods = [name for name in METHODS if getattr(cls, name) is getattr(Rules, name)]
    return [name for name in CONSTANTS if not hasattr(cls, name)] + methods


def check_whole(game: Rules) -> None:
    """BrokenRules names what the game's class lacks."""
    if lacks := lacking(game):
        raise BrokenRules(
            f"{type(game).__name__} lacks {', '.join(lacks)}: games/core/interface/rules.py says what each is"
        )


def look_at(game: Rules) -> None:
    """BrokenRules if the class lacks something, or if a rule fails in its first random moves, in words."""
    check_whole(game)
    with warnings.catch_warnings(record=True) as seen, np.errstate(over="warn"):
        warnings.simplefilter("always")
        fault = _fault(game)
    wrapped = any("overflow" in str(each.message) for each in seen) and type(game).dtype is Rules.dtype
    if fault:
        raise BrokenRules(f"{type(game).__name__}: {fault}{WRAPPED if wrapped else ''}")


def _fault(game: Rules) -> str:
    """What goes wrong in the first random moves, or ""; the checks have better words for wrong lists of moves."""
    rng, doing, made, played = stream(0, "first look"), "start", list[str](), list[int]()
    possible = [*range(game.players), *([CHANCE] if game.has_chance else [])]
    try:
        state, moves = game.initial(), np.empty(game.max_moves + 1, np.int32)
        if not all(_same(game.initial(), state) for _ in range(STARTS)):
            return "start is random: it leads to two positions"
        for _ in range(min(PLIES, game.max_plies)):
            doing = "is_over"
            if game.is_over(state):
                return "" if made else "it is over before the first move"
            doing = "player"
            player = game.player(state)
            if player not in possible:
                many = "0, the first player, or 1" if game.players == 2 else "0"
                chance = ", or CHANCE" if game.has_chance else ""
                return f"player(state) is {player!r}{_after(made)}; it can be {many}{chance}"
            doing = "legal_moves"
            count = game.legal_moves(state, moves)
            if count is None:
                return f"legal_moves returned None{_after(made)}; it returns how many moves it wrote"
            if not 0 < count <= game.max_moves:
                return ""
            move = int(moves[rng.below(int(count))])
            doing = "move_name"
            if twice := _named_twice(game, state, moves[:count].tolist()):
                return f"move_name is {twice}{_after(made)}"
            made.append(str(game.move_name(state, move)))
            doing = "play"
            game.play(state, move)
            played.append(move)
        again = game.initial()
        for move in played:
            game.play(again, move)
        if not _same(again, state):
            return f"play is random: the same moves lead to two positions{_after(made)}"
    except Exception as error:
        return "" if doing == "legal_moves" else f"{doing} raised {type(error).__name__}: {error}{_after(made)}"
    return ""


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _named_twice(game: Rules, state: np.ndarray, moves: list[int]) -> str:
    """A name of two different moves, and these; or ""."""
    known: dict[str, int] = {}
    for move in moves:
        name = game.move_name(state, move)
        if known.setdefault(name, move) != move:
            return f"{name!r} for the moves {known[name]} and {move}"
    return ""


def _after(made: list[str]) -> str:
    return f" after {' '.join(made)}" if made else " at the beginning"
