"""The conformance suite: what must hold of every game, tested along random games.

    from games.core.check import check
    check(MyGame(rows=5), seed=1)

Every function below takes a game and a seed and raises ConformanceError, which says what does not hold and where.
"""

import math

import numpy as np
from numba.core.errors import TypingError

from games.core.game import CHANCE, Game, IllegalMove
from games.core.jit import kernel
from games.core.playout import copy_state
from games.core.random import derive_seed, random_below, stream

SAMPLE = 40  # states of a line, and moves of a state, that are looked at where all would take long
PLAYOUTS = 4000  # of each kind, to compare a game's own random playout with the default


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


def steps(game, seed, count):
    """(state, move, state after it) along `count` random lines, of a long line a sample."""
    found = []
    for states, played in lines(game, seed, count):
        line = list(zip(states, played, states[1:], strict=False))
        found += line[:: 1 + len(line) // SAMPLE]
    return found


def open_states(game, seed, count=3):
    """States that are not over, along some random lines."""
    return [state for state, _, _ in steps(game, seed, count)]


def require(condition, game, state, message):
    """ConformanceError with the position, unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{game}: {message}\nstate {state!r}\n{game.render(state)}")


def check_moves(game, seed):
    """Legal moves are distinct and in range, the player is one there can be, and the game ends in time."""
    for state in open_states(game, seed):
        legal = game.moves(state)
        require(len(set(legal)) == len(legal), game, state, f"a move is listed twice: {legal}")
        require(all(0 <= move < game.move_limit for move in legal), game, state, f"moves not below move_limit: {legal}")
        there_can_be = [*range(game.players), *([CHANCE] if game.has_chance else [])]
        require(int(game.player(state)) in there_can_be, game, state, f"player {game.player(state)}")


def check_play(game, seed):
    """Play depends on the state and the move alone: replayed from the start, a line gives the same states."""
    for states, played in lines(game, seed, 2):
        replayed = game.initial()
        for before, after, move in zip(states, states[1:], played):
            require(np.array_equal(replayed, before), game, before, "replay gives another state")
            kept = before.copy()
            branch = before.copy()
            for other in game.moves(before)[:SAMPLE]:
                branch[:] = before
                game.play(branch, other)
            require(np.array_equal(before, kept), game, before, "a move played on a copy changed the original")
            replayed = game.after(replayed, move)
            require(np.array_equal(replayed, after), game, before, f"move {move} gives two different states")


def check_illegal_moves(game, seed):
    """What is not a legal move is refused by `after` and `parse_move`."""
    state = open_states(game, seed, 1)[-1]
    illegal = [-1, game.move_limit, *(set(range(min(game.move_limit, 200))) - set(game.moves(state)))]
    for attempt in [
        *((game.after, move) for move in illegal),
        (game.parse_move, "no such move"),
        (game.parse_move, ""),
    ]:
        try:
            attempt[0](state, attempt[1])
        except IllegalMove:
            continue
        require(False, game, state, f"{attempt[1]!r} is not legal, and is played")


def check_scores(game, seed):
    """Scores are finite numbers, and not 0 in a game without draws."""
    for states, _ in lines(game, seed, 10):
        score = float(game.score(states[-1]))
        require(math.isfinite(score), game, states[-1], f"score {score}")
        require(score or game.has_draws, game, states[-1], "score 0, and has_draws is false")


def check_sound_moves(game, seed):
    """The moves that a search may look at alone are legal moves, one at least."""
    room = np.empty(game.max_moves, np.int32)
    for state in open_states(game, seed):
        sound = room[: game.sound_moves(state, room)].tolist()
        legal = set(game.moves(state))
        require(sound and len(set(sound)) == len(sound) and set(sound) <= legal, game, state, f"sound moves {sound}")


def check_chance(game, seed):
    """Outcomes of chance are the legal moves, their probabilities sum to 1, and they come as often as these say."""
    rng, room, probabilities = stream(seed), np.empty(game.max_moves, np.int32), np.empty(game.max_moves)
    for state in open_states(game, seed):
        if game.player(state) != CHANCE:
            continue
        count = game.chance(state, room, probabilities)
        outcomes, chances = room[:count].tolist(), probabilities[:count].copy()
        require(
            sorted(outcomes) == sorted(game.moves(state)), game, state, f"outcomes {outcomes} are not the legal moves"
        )
        require(chances.min() > 0 and abs(chances.sum() - 1) < 1e-12, game, state, f"probabilities {chances}")
        drawn = [int(game.random_outcome(state, rng)) for _ in range(400)]
        found = np.array([drawn.count(outcome) for outcome in outcomes]) / 400
        error = np.sqrt(chances * (1 - chances) / 400)
        require(sum(drawn.count(o) for o in outcomes) == 400, game, state, f"outcomes {set(drawn)} are drawn")
        require(np.all(np.abs(found - chances) <= 5 * error), game, state, f"drawn {found}, probabilities {chances}")


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
            require(
                name and not any(letter.isspace() for letter in name), game, state, f"move {move} is named {name!r}"
            )
            require(game.parse_move(state, name) == move, game, state, f"{name!r} is read as another move than {move}")
        require(game.render(state).strip(), game, state, "render gives no text")


def check_codes(game, seed):
    """Move codes are non-negative and distinct among the legal moves of a state."""
    for state in open_states(game, seed):
        for function in (game.move_code, game.feature_code):
            codes = [int(function(state, move)) for move in game.moves(state)]
            require(min(codes) >= 0 and len(set(codes)) == len(codes), game, state, f"{function.__name__}: {codes}")
        codes = [int(game.move_code(state, move)) for move in game.moves(state)]
        require(max(codes) < game.code_limit, game, state, f"move_code {max(codes)}, code_limit {game.code_limit}")


def check_symmetries(game, seed):
    """A symmetry takes legal moves to the legal moves of the image, and the state after one to that after the other."""
    image, image_after = np.zeros(game.state_size, game.dtype), np.zeros(game.state_size, game.dtype)
    for state, move, after in steps(game, seed, 2):
        if game.symmetries > 1:
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
    """Every evaluation lies strictly between -1 and 1, of two players, and a symmetry does not change it."""
    image = np.zeros(game.state_size, game.dtype)
    for variant in [game, *(game.with_evaluation(name) for name in game.evaluations())]:
        for state in open_states(game, seed):
            value, name = float(variant.evaluate(state)), variant.evaluation or "the default"
            require(game.players == 1 or -1.0 < value < 1.0, game, state, f"evaluation {value} by {name}")
            for symmetry in range(game.symmetries):
                game.transform(state, symmetry, image)
                same = math.isclose(value, variant.evaluate(image), abs_tol=1e-12)
                require(same, game, state, f"symmetry {symmetry} changes the evaluation by {name}")


def check_random_moves(game, seed):
    """Random moves are legal, and reach every legal move about as often."""
    rng, room = stream(seed), np.empty(game.max_moves, np.int32)
    for state in open_states(game, seed, 1)[::7]:
        if game.player(state) == CHANCE:
            continue
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
    for variant in [game, *(game.with_evaluation(name) for name in game.evaluations())]:
        for state, move, after in steps(game, seed, 3):
            compiled = state.copy()
            *found, over = compiled_call(game, observe, variant, compiled, move, room)
            legal = game.moves(state)
            with np.errstate(over="ignore"):
                expected = [
                    game.player(state),
                    len(legal),
                    game.move_code(state, move),
                    game.feature_code(state, move),
                    game.key(state),
                    variant.evaluate(state),
                ]
            require(
                [int(x) for x in found[:5]] == [int(x) for x in expected[:5]],
                game,
                state,
                f"player, moves, code, feature code, key: {found[:5]} compiled, {expected[:5]} not",
            )
            require(
                abs(found[5] - expected[5]) < 1e-12, game, state, f"evaluation: {found[5]} compiled, {expected[5]} not"
            )
            require(room[: len(legal)].tolist() == legal, game, state, "compiled: other legal moves")
            require(np.array_equal(compiled, after), game, state, f"compiled: move {move} gives another state")
            require(bool(over) == bool(game.is_over(after)), game, after, "compiled: is_over differs")
    for states, _ in lines(game, seed, 3):
        score = score_kernel(game, states[-1])
        require(score == game.score(states[-1]), game, states[-1], f"compiled: score {score}")


def check_playouts(game, seed):
    """A random playout is the same compiled as in plain Python, and scores like one of random moves."""
    room = np.empty(game.max_moves, np.int32)
    for i in range(3):
        ends = []
        for playout in (playout_once, type(game).random_playout):
            with np.errstate(over="ignore"):
                score, plies = compiled_call(game, playout, game, game.initial(), room, stream(seed, i))
            ends.append((float(score), int(plies)))
        require(ends[0] == ends[1], game, game.initial(), f"{ends[0]} compiled, {ends[1]} in plain Python")
    if game.playout_policy == "uniform" and type(game).random_playout is not Game.random_playout:
        own, default = (scores_kernel(game, game.initial(), PLAYOUTS, own, stream(seed)) for own in (True, False))
        error = math.sqrt((own.var() + default.var()) / PLAYOUTS)
        found = f"its own random playouts score {own.mean():.4f}, random moves {default.mean():.4f}"
        require(abs(own.mean() - default.mean()) <= 4.5 * error, game, game.initial(), found)


def compiled_call(game, kernel, *arguments):
    """What a kernel returns; if it cannot be compiled because a method makes arrays, that is said."""
    try:
        return kernel(*arguments)
    except TypingError as error:
        if "Only accept returning of array" not in str(error) or game.may_allocate:
            raise
        message = f"{game}: a method makes arrays: say may_allocate = True in the class, or use the arrays it is given"
        raise ConformanceError(message) from error


@kernel
def observe(game, state, move, moves):
    """What check_compiled compares, of a state that is not over; then plays: and whether it is over."""
    player, count, key = game.player(state), game.legal_moves(state, moves), game.key(state)
    code, feature, value = game.move_code(state, move), game.feature_code(state, move), game.evaluate(state)
    game.play(state, move)
    return player, count, code, feature, key, value, game.is_over(state)


@kernel
def score_kernel(game, state):
    """The score of a state that is over."""
    return game.score(state)


@kernel
def playout_once(game, state, moves, rng):
    """One random playout."""
    return game.random_playout(state, moves, rng)


@kernel
def scores_kernel(game, root, count, own, rng):
    """The scores of random playouts: the game's own, or made of random moves."""
    state, moves, scores = root.copy(), np.empty(game.max_moves, np.int32), np.empty(count)
    for i in range(count):
        copy_state(game, root, state)
        if own:
            scores[i], _ = game.random_playout(state, moves, rng)
        else:
            while not game.is_over(state):
                game.play(state, game.random_move(state, moves, rng))
            scores[i] = game.score(state)
    return scores


CHECKS = (
    check_moves,
    check_play,
    check_illegal_moves,
    check_scores,
    check_sound_moves,
    check_chance,
    check_keys,
    check_names,
    check_codes,
    check_symmetries,
    check_evaluation,
    check_random_moves,
    check_compiled,
    check_playouts,
)
