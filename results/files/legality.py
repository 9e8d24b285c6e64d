"""Games of files by the rules: which game a record is of, whether its moves are legal, and what the rules say of it."""

import functools
import re
import time
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from arena.games.core.game import Game, IllegalMove, registry
from arena.games.core.interface.lines import play_line_kernel
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.parameters import parameters_of
from arena.games.core.shared.registry import parse_spec
from arena.results.files.outcomes import RESULTS
from arena.results.files.pgn_reader import Judge

PLAIN_SPEC = re.compile(r"(\w+)(?:\([\w=., -]*\))?")
PATIENCE = 1.0  # seconds of plain Python after which compiled rules pay


class Wanted(NamedTuple):
    """The game that records must be of; where `given` does not name a parameter, they say what it is."""

    game: Game
    given: frozenset[str]

    @classmethod
    def by_spec(cls, spec: str) -> "Wanted":
        """That of `--game`; SpecError if there is no such game."""
        game = registry.make(spec)
        _, positional, named = parse_spec(spec)
        return cls(game, frozenset([*named, *(field.name for field in parameters_of(type(game))[: len(positional)])]))

    @classmethod
    def moves_of(cls, game: Game) -> "Wanted":
        """Records whose moves are to be played in this game."""
        return cls(game, frozenset(field.name for field in fields(game)) - {"evaluation", *game.not_for_moves})

    def check(self, found: Game) -> None:
        """ValueError names a parameter of a record's game that is not as wanted."""
        for name in sorted(self.given):
            has, wanted = getattr(found, name, None), getattr(self.game, name)
            if has != wanted:
                raise ValueError(f"is of {found}, with {name} = {_spelled(has)}, and not of {self.game}")


def _spelled(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def replayed(game: Game, words: list[str]) -> tuple[list[str], np.ndarray]:
    """The names of the moves that the words of a record stand for, and the state after them.

    A pass that is the only legal move need not be written, and more passes may follow the end.  ValueError says where a
    word is no legal move.
    """
    plain = _plain(game)
    spent, state, names = _spent(plain), game.initial(), list[str]()
    done = _play_compiled(plain, state, names, words) if spent[0] > PATIENCE else 0
    began = time.process_time()
    for word in words[done:]:
        _play_word(game, state, names, word)
    spent[0] += time.process_time() - began
    return names, state


@functools.lru_cache
def _plain(game: Game) -> Game:
    """The game with the same moves to which most records belong: rules are compiled once for them."""
    changed: dict[str, Any] = dict(game.not_for_moves)
    return replace(game, **changed) if changed else game


@functools.cache
def _spent(game: Game) -> list[float]:
    """Seconds in which lines of a game have been played in plain Python."""
    return [0.0]


@functools.cache
def _names(game: Game) -> dict[str, int]:
    if not game.stable_names or not game.compiles:
        return {}
    state = game.initial()
    return {game.move_name(state, move): move for move in range(game.move_limit)}


def _play_compiled(game: Game, state: np.ndarray, names: list[str], words: list[str]) -> int:
    """Play words by compiled rules as long as they name the same move in every position; returns how many."""
    known, done = _names(game), 0
    numbers = np.array([known.get(word, -1) for word in words] if known else [], np.int32)
    room = np.empty(game.max_moves, np.int32)
    while done < len(numbers):
        played = play_line_kernel(game, state, numbers[done:], room)
        names += words[done : done + played]
        done += played
        if done == len(words) or (move := _forced_pass(game, state)) is None:
            break
        names.append("pass")
        game.play(state, move)
    return done


def _forced_pass(game: Game, state: np.ndarray) -> int | None:
    """The only legal move, if that is a pass."""
    moves = None if game.is_over(state) else game.moves(state)
    return moves[0] if moves is not None and len(moves) == 1 and game.move_name(state, moves[0]) == "pass" else None


def _play_word(game: Game, state: np.ndarray, names: list[str], word: str) -> None:
    if game.is_over(state) and not game.play_on(state):
        if word == "pass" and game.scored_by_players:
            return None  # one more says nothing
        raise ValueError(f"the game is over after {len(names)} plies, but {word} follows")
    try:
        moves = game.read_word(state, word)
    except IllegalMove as error:
        if (only := _forced_pass(game, state)) is not None:
            names.append("pass")
            game.play(state, only)
            return _play_word(game, state, names, word)
        own = type(game).parse_move is not Game.parse_move  # it knows best what else a word may mean: Bxc3 is not bxc3
        legal = {} if own else {game.move_name(state, move): move for move in game.moves(state)}
        alike = [move for name, move in legal.items() if _letters(name) == _letters(word)]
        if len(alike) != 1:
            raise ValueError(f"move {len(names) + 1}: {error}") from None
        moves = alike
    for move in moves:
        names.append(game.move_name(state, move))
        game.play(state, move)
    return None


def _letters(word: str) -> list[str]:
    """The squares of a move, without the signs between them."""
    return re.findall(r"[a-z]*\d+|[a-z]+", re.sub(r"(?<=\d)x", " ", word.lower()))


def by_rules(game: Game, state: np.ndarray, stated: float | None, said: str) -> tuple[float | None, str]:
    """The outcome of a record that states one, and a note, or ""; the rules count where they end the game.

    said: the result in the words of the record
    """
    if game.scored_by_players or not game.is_over(state) or game.play_on(state.copy()):
        return stated, ""
    score = float(game.score(state))
    outcome = 0.5 if score == 0.0 else float(score > 0.0)
    if stated == outcome or (stated is None and said):
        return stated, ""
    if not said:
        return outcome, ""
    return outcome, f"the record says {said}, by the rules it is {RESULTS[outcome]}: stored so"


def judge_of(wanted: Wanted) -> Judge:
    """What replays the games of `from_pgn`."""

    def judge(tags: Mapping[str, str], moves: list[str], stated: float | None, said: str):
        game = wanted.game.from_pgn_tags(tags)
        names, state = replayed(game, moves)
        start = "" if game is wanted.game else game.position_word()
        return spelled(wanted.game), start, names, *by_rules(game, state, stated, said)

    return judge


@functools.lru_cache
def made(spec: str) -> Game | None:
    """The game of a spec, as records of ours name it; None if there is none.

    Text as a parameter may name a file, which no record may have read: specs with some are none.
    """
    name = PLAIN_SPEC.fullmatch(spec)
    try:
        return same(registry.make(spec)) if name and name[1] in registry else None
    except UserError:
        return None


@functools.lru_cache
def same(game: Game) -> Game:
    """An equal game, always the same: compiled code looks at each game once."""
    return game


@functools.lru_cache
def spelled(game: Game) -> str:
    """`str(game)`, found once."""
    return str(game)
