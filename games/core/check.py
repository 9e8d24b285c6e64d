"""The conformance suite: what must hold of every game, tested along random games.

    from games.core.check import check
    check(MyGame(rows=5), seed=1)

Every function below takes a game and a seed and raises ConformanceError, which says what does not hold and where.
"""

import math

import numpy as np

from games.core.game import Game, IllegalMove
from games.core.jit import kernel
from games.core.random import derive_seed, random_below, stream


class ConformanceError(AssertionError):
    """A game breaks a rule of the interface in games/core/game.py."""


def check(game: Game, *, seed: int) -> None:
    """Run every check on `game`."""
    for function in CHECKS:
        function(game, seed)


def random_line(game, seed):
    """The states of a random game played in plain Python, the last one over, and the moves between them."""
    rng, state = stream(seed), game.initial()
    states, played = [state], []
    while not game.is_over(state):
        legal = game.moves(state)
        require(0 < len(legal) <= game.max_moves, game, state, f"{len(legal)} legal moves, max_moves {game.max_moves}")
        require(len(played) < game.max_plies, game, state, f"still going on after max_plies = {game.max_plies}")
        played.append(legal[int(random_below(rng, len(legal)))])
        state = state.copy()
        game.play(state, played[-1])
        states.append(state)
    return states, played


def lines(game, seed, count):
    """`count` random lines, of different seeds."""
    with np.errstate(over="ignore"):  # unsigned words wrap, in plain Python as in kernels
        return [random_line(game, derive_seed(seed, "check", i)) for i in range(count)]


def open_states(game, seed, count=3):
    """States that are not over, along some random lines."""
    return [state for states, _ in lines(game, seed, count) for state in states[:-1]]


def require(condition, game, state, message):
    """ConformanceError with the position, unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{game}: {message}\nstate {state!r}\n{game.render(state)}")


def check_moves(game, seed):
    """Legal moves are distinct and in range, the player is 0 or 1, and the game ends in time."""
    for state in open_states(game, seed):
        legal = game.moves(state)
        require(len(set(legal)) == len(legal), game, state, f"a move is listed twice: {legal}")
        require(all(0 <= move < game.move_limit for move in legal), game, state, f"moves not below move_limit: {legal}")
        require(int(game.player(state)) in range(game.players), game, state, f"player {game.player(state)}")


def check_play(game, seed):
    """Play depends on the state and the move alone: replayed from the start, a line gives the same states."""
    for states, played in lines(game, seed, 2):
        replayed = game.initial()
        for before, after, move in zip(states, states[1:], played):
            require(np.array_equal(replayed, before), game, before, "replay gives another state")
            kept = before.copy()
            branch = before.copy()
            for other in game.moves(before):
                branch[:] = before
                game.play(branch, other)
            require(np.array_equal(before, kept), game, before, "a move played on a copy changed the original")
            replayed = game.after(replayed, move)
            require(np.array_equal(replayed, after), game, before, f"move {move} gives two different states")


def check_illegal_moves(game, seed):
    """What is not a legal move is refused by `after` and `parse_move`."""
    state = open_states(game, seed, 1)[-1]
    illegal = [-1, game.move_limit, *(set(range(min(game.move_limit, 200))) - set(game.moves(state)))]
    for attempt in [*((game.after, move) for move in illegal), (game.parse_move, "no such move"), (game.parse_move, "")]:
        try:
            attempt[0](state, attempt[1])
        except IllegalMove:
            continue
        require(False, game, state, f"{attempt[1]!r} is not legal, and is played")


def check_scores(game, seed):
    """Scores are finite, and of two players -1 to 1."""
    for states, _ in lines(game, seed, 10):
        score = float(game.score(states[-1]))
        require(math.isfinite(score), game, states[-1], f"score {score}")
        require(game.players == 1 or -1.0 <= score <= 1.0, game, states[-1], f"score {score} of a game for two")


def check_keys(game, seed):
    """States have the same key if and only if they are equal."""
    by_key, by_state = {}, {}
    for states, _ in lines(game, seed, 5):
        for state in states:
            with np.errstate(over="ignore"):
                key = int(game.key(state))
            require(by_key.setdefault(key, state.tobytes()) == state.tobytes(), game, state, "two states, one key")
            require(by_state.setdefault(state.tobytes(), key) == key, game, state, "one state, two keys")


def check_names(game, seed):
    """Move names are distinct, hold no blanks, and name the move they come from; the board can be drawn."""
    for state in open_states(game, seed, 1):
        for move in game.moves(state):
            name = game.move_name(state, move)
            require(name and not any(letter.isspace() for letter in name), game, state, f"move {move} is named {name!r}")
            require(game.parse_move(state, name) == move, game, state, f"{name!r} is read as another move than {move}")
        require(game.render(state).strip(), game, state, "render gives no text")


def check_codes(game, seed):
    """Move codes are non-negative and distinct among the legal moves of a state."""
    for state in open_states(game, seed):
        codes = [int(game.move_code(state, move)) for move in game.moves(state)]
        require(min(codes) >= 0 and len(set(codes)) == len(codes), game, state, f"move codes {codes}")


def check_symmetries(game, seed):
    """A symmetry takes legal moves to the legal moves of the image, and the state after one to that after the other."""
    image, image_after = np.zeros(game.state_size, game.dtype), np.zeros(game.state_size, game.dtype)
    for states, played in lines(game, seed, 2):
        for state, after, move in zip(states, states[1:], played):
            for symmetry in range(game.symmetries):
                game.transform(state, symmetry, image)
                legal = {int(game.transform_move(other, symmetry)) for other in game.moves(state)}
                require(legal == set(game.moves(image)), game, state, f"symmetry {symmetry}: other legal moves")
                game.transform(after, symmetry, image_after)
                game.play(image, int(game.transform_move(move, symmetry)))
                require(np.array_equal(image, image_after), game, state, f"symmetry {symmetry}: move {move} differs")
            game.transform(state, 0, image)
            require(np.array_equal(image, state), game, state, "symmetry 0 is not the identity")


def check_evaluation(game, seed):
    """An evaluation lies strictly between -1 and 1, and a symmetry does not change it."""
    image = np.zeros(game.state_size, game.dtype)
    for state in open_states(game, seed):
        value = float(game.evaluate(state))
        require(game.players == 1 or -1.0 < value < 1.0, game, state, f"evaluation {value}")
        for symmetry in range(game.symmetries):
            game.transform(state, symmetry, image)
            require(math.isclose(value, game.evaluate(image), abs_tol=1e-12), game, state, f"symmetry {symmetry}: evaluation")


def check_random_moves(game, seed):
    """Random moves are legal, and reach every legal move about as often."""
    rng, room = stream(seed), np.empty(game.max_moves, np.int32)
    for state in open_states(game, seed, 1)[::7]:
        legal, kept = game.moves(state), state.copy()
        counts = dict.fromkeys(legal, 0)
        for _ in range(40 * len(legal)):
            move = int(game.random_move(state, room, rng))
            require(move in counts, game, state, f"random_move gives {move}, which is not legal")
            counts[move] += 1
        require(np.array_equal(state, kept), game, state, "random_move changes the state")
        require(min(counts.values()) >= 8, game, state, f"40 random moves were expected of each, found {counts}")


def check_compiled(game, seed):
    """Compiled and in plain Python, every method gives the same along random lines."""
    room = np.empty(game.max_moves, np.int32)
    for states, played in lines(game, seed, 3):
        for state, after, move in zip(states, states[1:], played):
            compiled = state.copy()
            found = observe(game, compiled, move, room)
            expected = (game.player(state), len(game.moves(state)), game.move_code(state, move), game.evaluate(state))
            require(np.allclose(found[:4], np.array(expected, float), rtol=0, atol=1e-12), game, state, f"{found[:4]} compiled, {expected} not")
            require(room[: found[1]].tolist() == game.moves(state), game, state, "compiled: other legal moves")
            with np.errstate(over="ignore"):
                require(int(found[4]) == int(game.key(state)), game, state, "compiled: another key")
            require(np.array_equal(compiled, after), game, state, f"compiled: move {move} gives another state")
            require(bool(found[5]) == bool(game.is_over(after)), game, after, "compiled: is_over differs")
        score = score_kernel(game, states[-1])
        require(score == game.score(states[-1]), game, states[-1], f"compiled: score {score}")


def check_playouts(game, seed):
    """A random playout ends in time, compiled as in plain Python, and makes the moves that random_move makes."""
    room = np.empty(game.max_moves, np.int32)
    for i in range(5):
        ends = []
        for playout in (playout_once, Game.random_playout, type(game).random_playout):
            with np.errstate(over="ignore"):
                score, plies = playout(game, game.initial(), room, stream(seed, i))
            ends.append((float(score), int(plies)))
        require(len(set(ends)) == 1, game, game.initial(), f"playouts end differently: {ends}")


@kernel
def observe(game, state, move, moves):
    """(player, legal moves, code, evaluation, key) of a state that is not over; then plays: and whether it is over."""
    player, count = game.player(state), game.legal_moves(state, moves)
    code, value, key = game.move_code(state, move), game.evaluate(state), game.key(state)
    game.play(state, move)
    return player, count, code, value, key, game.is_over(state)


@kernel
def score_kernel(game, state):
    return game.score(state)


@kernel
def playout_once(game, state, moves, rng):
    return game.random_playout(state, moves, rng)


CHECKS = (
    check_moves,
    check_play,
    check_illegal_moves,
    check_scores,
    check_keys,
    check_names,
    check_codes,
    check_symmetries,
    check_evaluation,
    check_random_moves,
    check_compiled,
    check_playouts,
)
