"""The material of a game's checks: random games, and the answers of its methods for their states.

The compiled game and plain Python answer by the same functions.  The first random game is plain, to notice writing
beyond an array; the others are compiled.
"""

import functools
from typing import NamedTuple

import numpy as np
from numba.core.errors import TypingError

from arena.games.core.game import CHANCE
from arena.games.core.jit import kernel, uncompiled
from arena.games.core.play.playout import copy_state
from arena.games.core.random import random_below, stream
from arena.games.core.shared.seeds import derive_seed

LINES = 10
SAMPLE = 40  # states of a line, and moves of a state, where all take long
PLAIN = 6000  # about as many moves have their states checked in plain Python
CHUNK = 2000  # plies played without a new array
MARK = -77_777  # behind the longest list of moves
OVER = -2  # in place of the player
LAST = 4  # moves shown of a game that does not end


class ConformanceError(AssertionError):
    """A game breaks a rule of the interface in games/core/game.py."""


class RandomLine(NamedTuple):
    """A random game."""

    states: np.ndarray  # dtype[plies + 1, state_size]
    played: np.ndarray  # int32[plies], the moves between them
    keys: np.ndarray  # uint64[plies + 1]


class Transition(NamedTuple):
    """A move of a random game."""

    state: np.ndarray
    move: int
    after: np.ndarray


class View(NamedTuple):
    """Answers for a state; `numbers`, `biases` and `image_moves` have a row for each legal move."""

    player: int  # or OVER; then all arrays for legal moves are empty
    key: int
    value: float  # its evaluation, or score when over
    moves: np.ndarray  # int32[n]
    sound: np.ndarray  # int32[up to n]
    outcomes: np.ndarray  # int32[up to n], of chance
    probabilities: np.ndarray  # float64
    numbers: np.ndarray  # int64[n, 4] = move_code, feature_code, move_order, is_unstable
    biases: np.ndarray  # float64[n]
    images: np.ndarray  # dtype[symmetries, state_size]
    image_moves: np.ndarray  # int64[n, symmetries]
    drawn: np.ndarray  # int32, random moves


def require(condition, game, state, message):
    """ConformanceError with the position, unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{game}: {message}\nstate {state!r}\n{game.render(state)}")


@kernel
def walk_kernel(game, line, moves, rng):
    """Go on from line.states[0] by line.played, or at random for -1, as far as the arrays reach.

    Returns (plies, whether the game is over, the last number of legal moves); stops if this is out of range.
    """
    count = ply = 0
    over = game.is_over(line.states[0])
    line.keys[0] = game.key(line.states[0])
    while ply < len(line.played) and not over:
        count = game.legal_moves(line.states[ply], moves)
        if count < 1 or count > game.max_moves or moves[game.max_moves] != MARK:
            return ply, False, count
        if line.played[ply] < 0:
            line.played[ply] = moves[random_below(rng, count)]
        game.play_into(line.states[ply], np.int64(line.played[ply]), line.states[ply + 1])
        ply += 1
        over = game.is_over(line.states[ply])
        line.keys[ply] = game.key(line.states[ply])
    return ply, over, count


@kernel
def view_kernel(game, state, room, most, rng):
    """Write a state's answers into a View of large arrays, for about `most` of the legal moves.

    Returns (player or OVER, key, value, legal moves, sound moves, outcomes); breaks off if a number is out of range.
    """
    key = game.key(state)
    for symmetry in range(game.symmetries):
        game.transform(state, symmetry, room.images[symmetry])
    if game.is_over(state):
        return OVER, key, np.float64(game.score(state)), 0, 0, 0
    player, value = np.int64(game.player(state)), np.float64(game.evaluate(state))
    count, sound, outcomes = game.legal_moves(state, room.moves), game.sound_moves(state, room.sound), 0
    if count < 1 or count > game.max_moves:
        return player, key, value, count, sound, outcomes
    for i in range(len(room.drawn)):
        room.drawn[i] = game.random_move(state, room.outcomes, rng)
    if player == CHANCE:
        outcomes = game.chance(state, room.outcomes, room.probabilities)
    for i in range(0, count, 1 + (count - 1) // most):
        move = np.int64(room.moves[i])
        room.numbers[i, 0], room.numbers[i, 1] = game.move_code(state, move), game.feature_code(state, move)
        room.numbers[i, 2], room.numbers[i, 3] = game.move_order(state, move), game.is_unstable(state, move)
        room.biases[i] = game.bias(state, move)
        for symmetry in range(game.symmetries):
            room.image_moves[i, symmetry] = game.transform_move(move, symmetry)
    return player, key, value, count, sound, outcomes


@kernel
def foreseen_kernel(game, state):
    """(plies, exact, plies_left) of a state that is not over."""
    plies, exact = game.foreseen(state)
    return np.int64(plies), exact, np.int64(game.plies_left(state))


@kernel
def values_kernel(game, states, values):
    """The evaluations of states, none of which is over."""
    for i in range(len(states)):
        values[i] = game.evaluate(states[i])


@kernel
def playouts_kernel(game, root, own, scores, plies, rng):
    """Random playouts: the game's own, or made of random moves."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    for i in range(len(scores)):
        copy_state(game, root, state)
        if own:
            scores[i], plies[i] = game.random_playout(state, moves, rng)
        else:
            while not game.is_over(state):
                game.play(state, game.random_move(state, moves, rng))
            scores[i] = game.score(state)


@kernel
def tabu_kernel(game, state, moves, drawn, rng):
    """Draw moves that the game does not hold back."""
    for i in range(len(drawn)):
        drawn[i] = game.random_move_tabu(state, moves, rng)


def call(kernel, game, *arguments, plain=False):
    """Call a kernel, or its plain function; if a method makes arrays, the error says so."""
    if plain or not game.compiles:
        with np.errstate(over="ignore"):  # unsigned words wrap, as in kernels
            return uncompiled(kernel)(game, *arguments)
    try:
        return kernel(game, *arguments)
    except TypingError as error:
        if game.may_allocate or not any(text in str(error) for text in ("Only accept returning of array", "NRT req")):
            raise
        message = (
            f"{game}: a method makes arrays, or assigns to slices: say may_allocate = True in the class, or do not"
        )
        raise ConformanceError(message) from error


def marked(game, dtype=np.int32):
    """Room for a list of moves, and as much behind it that must stay as it is."""
    return np.full(2 * game.max_moves + 64, MARK, dtype)


def walk(game, state, played, rng, plain=False) -> RandomLine:
    """A line of given moves; -1: random ones to the end of the game or the array."""
    size, moves = len(played) + 1, marked(game)
    line = RandomLine(np.zeros((size, game.state_size), game.dtype), played, np.zeros(size, np.uint64))
    line.states[0] = state
    try:
        plies, over, count = call(walk_kernel, game, line, moves, rng, plain=plain)
    except IndexError as error:
        raise ConformanceError(f"{game}: a method writes or reads beyond an array: {error}") from error
    end = line.states[plies]
    if plies < len(played) and not over:
        allowed = f"it can be 1 to max_moves = {game.max_moves}"
        require(1 <= count <= game.max_moves, game, end, f"legal_moves returns {count}: {allowed}")
        require(False, game, end, f"legal_moves writes more moves than max_moves = {game.max_moves}")
    return RandomLine(line.states[: plies + 1], played[:plies], line.keys[: plies + 1])


def _last_moves(game, lines: list[RandomLine]) -> str:
    """The last moves of a game, in words."""
    last = lines[-1]
    shown = [str(game.move_name(state, move)) for state, move in zip(last.states, last.played.tolist())][-LAST:]
    return f"; the last moves are {' '.join(shown)}"


def random_line(game, seed, plain=False) -> RandomLine:
    """A random game from the initial position to its end."""
    rng, lines, plies, state = stream(seed), list[RandomLine](), 0, game.initial()
    while not game.is_over(state):
        if plies >= game.max_plies:
            require(False, game, state, f"still going on after max_plies = {game.max_plies}{_last_moves(game, lines)}")
        played = np.full(min(CHUNK, game.max_plies - plies), -1, np.int32)
        lines.append(walk(game, state, played, rng, plain))
        plies, state = plies + len(lines[-1].played), lines[-1].states[-1]
    pairs = [(line.states[1:], line.keys[1:]) for line in lines]
    states = np.concatenate([lines[0].states[:1], *(states for states, _ in pairs)])
    keys = np.concatenate([lines[0].keys[:1], *(keys for _, keys in pairs)])
    return RandomLine(states, np.concatenate([line.played for line in lines]), keys)


@functools.lru_cache(maxsize=4)
def lines(game, seed) -> list[RandomLine]:
    """The random games that all checks look at."""
    return [random_line(game, derive_seed(seed, "check", i), plain=i == 0) for i in range(LINES)]


@functools.lru_cache(maxsize=4)
def transitions(game, seed) -> list[Transition]:
    """Moves of the first three games, a sample of long ones."""
    found: list[Transition] = []
    for line in lines(game, seed)[:3]:
        every = 1 + len(line.played) // SAMPLE
        found += map(Transition, line.states[:-1:every], line.played[::every].tolist(), line.states[1::every])
    return found


def in_plain_python(game, seed) -> list[Transition]:
    """The transitions for plain Python: the longer the lists of moves, the fewer."""
    found = transitions(game, seed)
    return found[:: 1 + len(found) // max(8, PLAIN // game.max_moves)]


def view(game, state, most=None, draws=1, rng=None, plain=False) -> View:
    """The game's answers for a state."""
    n, kept = game.max_moves, state.copy()
    room = View(
        0, 0, 0.0, marked(game), marked(game), marked(game), marked(game, np.float64),
        np.zeros((n, 4), np.int64), np.zeros(n), np.zeros((game.symmetries, game.state_size), game.dtype),
        np.zeros((n, game.symmetries), np.int64), np.zeros(draws, np.int32),
    )  # fmt: skip
    found = call(view_kernel, game, state, room, most or n, stream(1) if rng is None else rng, plain=plain)
    player, key, value, *counts = found
    require(np.array_equal(state, kept), game, kept, f"a method that only looks at a state makes it {state!r}")
    least = (0, 0, 0) if player == OVER else (1, 1, player == CHANCE)
    for method, low, count, moves in zip(
        ("legal_moves", "sound_moves", "chance"), least, counts, room[3:6], strict=True
    ):
        allowed = f"it can be {int(low)} to max_moves = {n}"
        require(low <= count <= n, game, state, f"{method} returns {count}: {allowed}")
        require((moves[n:] == MARK).all(), game, state, f"{method} writes more moves than max_moves = {n}")
    count, sound, outcomes = counts
    return View(
        int(player), int(key), float(value), room.moves[:count], room.sound[:sound], room.outcomes[:outcomes],
        room.probabilities[:outcomes], room.numbers[:count], room.biases[:count], room.images,
        room.image_moves[:count], room.drawn if count else room.drawn[:0],
    )  # fmt: skip


@functools.lru_cache(maxsize=4)
def views(game, seed) -> list[tuple[np.ndarray, View]]:
    """(state, View) before each of the transitions."""
    return [(one.state, view(game, one.state)) for one in transitions(game, seed)]


def played(game, state, move) -> np.ndarray:
    """The state after a move, compiled."""
    return walk(game, state, np.array([move], np.int32), stream(1)).states[-1]


def image_numbers(game, i) -> list[int]:
    """The symmetries for the i-th state: of many, a few in turn."""
    return sorted({(i * SAMPLE + k) % game.symmetries for k in range(min(game.symmetries, 8))})
