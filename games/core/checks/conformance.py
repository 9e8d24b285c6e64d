"""The conformance suite: tests, along random games, of what must hold for every game.

    from arena.games.core.checks.conformance import check
    check(MyGame(rows=5), seed=1)

Every check takes a game and a seed; its ConformanceError names the broken promise and the position.  All share the
random games of games/core/play/observed.py.
"""

import functools
import math
import warnings
from xml.etree import ElementTree

import numpy as np
from numba.core.errors import NumbaError

from arena.games.core.boards.drawing import svg
from arena.games.core.checks.first_look import look_at
from arena.games.core.game import CHANCE, BrokenRules, Game, IllegalMove
from arena.games.core.lanes.lane_playout import lane_playout_kernel
from arena.games.core.lanes.lanes import WIDE, lane_streams, streams_of, vector_bits
from arena.games.core.play import lookahead
from arena.games.core.play.observed import (
    SAMPLE,
    View,
    call,
    foreseen_kernel,
    image_numbers,
    in_plain_python,
    lines,
    marked,
    played,
    playouts_kernel,
    require,
    tabu_kernel,
    transitions,
    values_kernel,
    view,
    views,
    walk,
)
from arena.games.core.play.observed import ConformanceError as ConformanceError
from arena.games.core.random import stream
from arena.games.core.shared.overdue import Overdue, limited

PLAYOUTS = 4000  # of each kind, for a game's own random playout and the default
FORESIGHT = 20_000  # positions of a search that tests one claim
EXCHANGES = ("", "swap", "turn")  # values of `colour_exchange`


class NotInherited(UserWarning):
    """A game does without a method of its base, which may not hold for its own rules."""


def check(game: Game, *, seed: int) -> None:
    """Run every check that concerns `game`; ConformanceError says what does not hold, and where.

    NotInherited warns of each method of a base that the class does without.
    """
    for line in not_inherited(type(game)):
        warnings.warn(line, NotInherited, stacklevel=2)
    try:
        with limited(game):
            look_at(game)
            for function in checks_of(game):
                function(game, seed)
    except (NumbaError, Overdue, BrokenRules) as error:
        raise ConformanceError(f"{game}: {error}") from error


def not_inherited(cls: type[Game]) -> list[str]:
    """A line for each method of a base that the class does without."""
    lines = []
    for name, replaced in cls.forgotten.items():
        base = next(each.__name__ for each in cls.__mro__[1:] if name in vars(each))
        lines.append(
            f"{cls.__name__} replaces {', '.join(replaced)}, and so does not inherit {name} of {base}: define {name} "
            f"for these rules, or write `{name} = {base}.{name}` in the class if it holds for them, too"
        )
    return lines


def checks_of(game: Game) -> list:
    """The checks that apply to a game: those of chance, for example, only to games with chance."""
    concerns = {
        check_chance: game.has_chance,
        check_symmetries: game.symmetries > 1,
        check_tabu_moves: game.has_tabu_moves,
        check_lanes: game.lanes > 0,
        check_foreseen: type(game).foreseen is not Game.foreseen or (game.soonest_win, game.soonest_loss) != (1, 1),
    }
    return [function for function in CHECKS if concerns.get(function, True)]


def check_moves(game, seed):
    """Legal moves are distinct and in range, the player is possible, the game ends in time."""
    there_can_be = [*range(game.players), *([CHANCE] if game.has_chance else [])]
    for state, found in views(game, seed):
        legal = found.moves.tolist()
        require(len(set(legal)) == len(legal), game, state, f"a move is listed twice: {legal}")
        require(all(0 <= move < game.move_limit for move in legal), game, state, f"moves not below move_limit: {legal}")
        require(found.player in there_can_be, game, state, f"player {found.player}")


def check_play(game, seed):
    """Play depends on state and move alone: replayed lines, the first a plain one, give the same states and keys."""
    for line in lines(game, seed)[:3]:
        replayed = walk(game, game.initial(), line.played.copy(), stream(seed))
        for state, again, key, other in zip(line.states, replayed.states, line.keys, replayed.keys):
            require(np.array_equal(state, again), game, state, "replay gives another state")
            require(key == other, game, state, f"replay gives another key, {other}, not {key}")
    for state, move, after in transitions(game, seed):
        require(np.array_equal(played(game, state, move), after), game, state, f"move {move} gives two states")
    for state, move, after in in_plain_python(game, seed):
        kept = state.copy()
        for other in [*game.moves(state)[:SAMPLE], move]:
            branch = state.copy()
            with np.errstate(over="ignore"):
                game.play(branch, other)
            same = np.array_equal(branch, played(game, state, other))
            require(same, game, state, f"compiled: move {other} gives another state")
        require(np.array_equal(branch, after), game, state, f"move {move} gives two different states")
        require(np.array_equal(state, kept), game, state, "a move played on a copy changed the original")


def check_illegal_moves(game, seed):
    """`after` and `parse_move` refuse anything but legal moves."""
    state = lines(game, seed)[0].states[-2]
    legal = set(game.moves(state))
    illegal = [-1, game.move_limit, *[move for move in range(min(game.move_limit, 200)) if move not in legal][:SAMPLE]]
    attempts = [*((game.after, move) for move in illegal), (game.parse_move, "no such move"), (game.parse_move, "")]
    for function, attempt in attempts:
        try:
            function(state, attempt)
        except IllegalMove:
            continue
        require(False, game, state, f"{attempt!r} is not legal, and is played")


def check_scores(game, seed):
    """Scores are finite, not 0 without draws, and the same compiled and plain."""
    for line in lines(game, seed):
        end = line.states[-1]
        score = view(game, end).value
        require(math.isfinite(score), game, end, f"score {score}")
        require(score or game.has_draws, game, end, "score 0, and has_draws is false")
        require(score == float(game.score(end)), game, end, f"compiled: score {score}")


def check_sound_moves(game, seed):
    """Sound moves, to which a search may restrict itself, are legal, and at least one."""
    for state, found in views(game, seed):
        sound = found.sound.tolist()
        distinct = len(set(sound)) == len(sound) > 0
        require(distinct and set(sound) <= set(found.moves.tolist()), game, state, f"sound moves {sound}")


def check_plies_left(game, seed):
    """No game takes more plies than plies_left says."""
    for line in lines(game, seed):
        every = 1 + len(line.played) // SAMPLE
        for ply in range(0, len(line.played), every):
            left, rest = call(foreseen_kernel, game, line.states[ply])[2], len(line.played) - ply
            require(rest <= left, game, line.states[ply], f"plies_left {left}, and the game goes on for {rest}")
            if ply < 3 * every:
                plain = game.plies_left(line.states[ply])
                require(left == plain, game, line.states[ply], f"plies_left: {left} compiled, {plain} not")


def check_foreseen(game, seed):
    """Claims of `foreseen` agree with exhaustive search of at most FORESIGHT positions."""
    for line in lines(game, seed):
        for state in line.states[:-1]:
            plies, exact, _ = found = call(foreseen_kernel, game, state)
            plain = call(foreseen_kernel, game, state, plain=True)
            require(found == plain, game, state, f"foreseen: {found[:2]} compiled, {plain[:2]} not")
            wrong = contradicted(game, state, plies, exact)
            require(not wrong, game, state, f"foreseen: {found[:2]}, but {wrong}")


def contradicted(game, state, plies, exact, limit=FORESIGHT) -> str | None:
    """How exhaustive search refutes a claim of `foreseen`; "" if not, None if that takes too long."""
    player, unknown = int(game.player(state)), False
    claims = [(player if plies > 0 else 1 - player, abs(plies), True)] if plies else []
    if exact and plies:
        claims.append((claims[0][0], abs(plies) - 1, False))
    if not (plies and exact):
        claims += [(player, game.soonest_win - 1, False), (1 - player, game.soonest_loss - 1, False)]
    for winner, within, expected in claims:
        found = wins_within(game, state, winner, within, limit)
        unknown |= found is None
        if found is not None and found != expected:
            return f"player {winner} {'wins' if found else 'does not win'} within {within} plies"
    return None if unknown else ""


def wins_within(game, state, winner, plies, limit=FORESIGHT) -> bool | None:
    """Whether a player can win within `plies`; None if that takes more than `limit` positions."""
    found = lookahead.wins_within(game, lookahead.new_lookahead(game, plies), state, winner, limit)
    return None if found == lookahead.UNKNOWN else found == lookahead.WON


def check_chance(game, seed):
    """Outcomes of chance are legal, with probabilities that sum to 1 and match their frequencies."""
    rng, of_chance = stream(seed), [(state, found) for state, found in views(game, seed) if found.player == CHANCE]
    require(of_chance, game, game.initial(), "has_chance is true, and no state of chance is met along random lines")
    for state, found in of_chance:
        outcomes, chances = found.outcomes, found.probabilities
        same = sorted(outcomes) == sorted(found.moves)
        require(same, game, state, f"outcomes {outcomes.tolist()} are not the legal moves")
        require(chances.min() > 0 and abs(chances.sum() - 1) < 1e-12, game, state, f"probabilities {chances}")
        drawn = view(game, state, draws=400, rng=rng).drawn
        require(np.isin(drawn, outcomes).all(), game, state, f"outcomes {set(drawn.tolist())} are drawn")
        shares = (drawn[:, None] == outcomes).mean(axis=0)
        error = np.sqrt(chances * (1 - chances) / 400)
        require(np.all(np.abs(shares - chances) <= 5 * error), game, state, f"drawn {shares}, probabilities {chances}")


def check_keys(game, seed):
    """States have the same key if and only if they are equal."""
    by_key, by_state = {}, {}
    for line in lines(game, seed)[:5]:
        for state, key in zip(line.states, line.keys.tolist()):
            require(by_key.setdefault(key, state.tobytes()) == state.tobytes(), game, state, "two states, one key")
            require(by_state.setdefault(state.tobytes(), key) == key, game, state, "one state, two keys")


def check_names(game, seed):
    """Move names are distinct, have no blanks, and can be read back; the board can be drawn."""
    for state, _, _ in in_plain_python(game, seed)[::3]:
        names = {move: game.move_name(state, move) for move in game.moves(state)}
        require(len(set(names.values())) == len(names), game, state, f"two moves have one name: {names}")
        for move, name in list(names.items())[:: 1 + len(names) // SAMPLE]:
            blank = any(letter.isspace() for letter in name)
            require(name and not blank, game, state, f"move {move} is named {name!r}")
            require(game.parse_move(state, name) == move, game, state, f"{name!r} is read as another move than {move}")
        require(game.render(state).strip(), game, state, "render gives no text")
        require(is_xml(picture := svg(game, state)), game, state, f"the picture is no SVG: {picture[-200:]}")


def is_xml(text: str) -> bool:
    """Whether a parser of XML reads it."""
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


def check_codes(game, seed):
    """Move codes are distinct in a state, and from 0 to below code_limit."""
    for state, found in views(game, seed):
        for name, codes in zip(("move_code", "feature_code"), found.numbers.T.tolist()):
            require(min(codes) >= 0 and len(set(codes)) == len(codes), game, state, f"{name}: {codes}")
        most = found.numbers[:, 0].max()
        require(most < game.code_limit, game, state, f"move_code {most}, code_limit {game.code_limit}")


def check_symmetries(game, seed):
    """Symmetries take legal moves and the states after them to those of the image."""
    for i, (step, (state, found)) in enumerate(zip(transitions(game, seed), views(game, seed))):
        require(np.array_equal(found.images[0], state), game, state, "symmetry 0 is not the identity")
        place, after = found.moves.tolist().index(step.move), view(game, step.after)
        for symmetry in image_numbers(game, i):
            image, moves = found.images[symmetry], found.image_moves[:, symmetry]
            same = sorted(view(game, image).moves) == sorted(moves)
            require(same, game, state, f"symmetry {symmetry}: other legal moves")
            same = np.array_equal(played(game, image, moves[place]), after.images[symmetry])
            require(same, game, state, f"symmetry {symmetry}: move {step.move} differs")


def check_evaluation(game, seed):
    """Check that two players' evaluations are between -1 and 1, and kept by symmetries and compilation."""
    found = views(game, seed)
    states = np.array([state for state, _ in found])
    chosen = [image_numbers(game, i) for i in range(len(found))]
    images = np.array([of.images[symmetry] for (_, of), numbers in zip(found, chosen) for symmetry in numbers])
    own = [", ".join(f"{term}={place + 1.5}" for place, term in enumerate(game.term_weights))]
    for variant in [game, *(game.with_evaluation(name) for name in [*game.evaluations(), *filter(None, own)])]:
        values, of_images = np.zeros(len(states)), np.zeros(len(images))
        call(values_kernel, variant, states, values)
        call(values_kernel, variant, images, of_images)
        name = variant.evaluation or "the default"
        for state, value in zip(states, values.tolist()):
            require(game.players == 1 or -1.0 < value < 1.0, game, state, f"evaluation {value} by {name}")
        repeated = np.repeat(values, [len(numbers) for numbers in chosen])
        for image, value, of_image in zip(images, repeated.tolist(), of_images.tolist()):
            same = math.isclose(value, of_image, abs_tol=1e-12)
            require(same, game, image, f"a symmetry changes the evaluation by {name}, from {value} to {of_image}")
        for state, _, _ in in_plain_python(game, seed):
            value, compiled = variant.evaluate(state), np.zeros(1)
            call(values_kernel, variant, state[None], compiled)
            same = abs(value - compiled[0]) < 1e-12
            require(same, game, state, f"evaluation by {name}: {compiled[0]} compiled, {value} not")


def check_planes(game, seed):
    """Check that the planes are disjoint sets of the cells of the grid, if there is one."""
    known = game.colour_exchange in EXCHANGES
    require(known, game, game.initial(), f"colour_exchange = {game.colour_exchange!r}: it can be one of {EXCHANGES}")
    cells = sum(1 << bit for bit in set(game.grid.ravel().tolist()) if bit >= 0)
    for state, _ in views(game, seed) if cells else ():
        words = [int(word) for word in game.planes(state)]
        union = functools.reduce(int.__or__, words)
        require(len(words) >= 2 and union & ~cells == 0, game, state, f"planes {words} are no sets of cells")
        require(sum(words) == union, game, state, f"planes {words} have a cell in common")


def check_random_moves(game, seed):
    """Random moves are legal, and reach all legal moves about equally."""
    rng = stream(seed)
    for state, found in views(game, seed)[::7]:
        if found.player == CHANCE:
            continue
        drawn = view(game, state, draws=40 * len(found.moves), rng=rng).drawn
        wrong = set(drawn.tolist()) - set(found.moves.tolist())
        require(not wrong, game, state, f"random_move gives {wrong}, which is not legal")
        counts = np.unique(drawn, return_counts=True)[1]
        every = len(counts) == len(found.moves) and counts.min() >= 8
        require(every, game, state, f"40 random moves were expected of each, found {counts} of {len(found.moves)}")


def check_tabu_moves(game, seed):
    """Tabu playouts make legal moves, the same compiled and plain."""
    for i, (state, found) in enumerate(views(game, seed)):
        ends = []
        for plain in (False, True):
            drawn = np.zeros(4, np.int32)
            call(tabu_kernel, game, state.copy(), marked(game), drawn, stream(seed, i), plain=plain)
            ends.append(drawn.tolist())
        require(ends[0] == ends[1], game, state, f"random_move_tabu: {ends[0]} compiled, {ends[1]} not")
        require(set(ends[0]) <= set(found.moves.tolist()), game, state, f"random_move_tabu gives {ends[0]}")


def check_compiled(game, seed):
    """Compiled and plain, every method answers alike."""
    end = lines(game, seed)[0].states[-1]
    for state in [*(step.state for step in in_plain_python(game, seed)), end]:
        compiled, plain = (view(game, state, SAMPLE, 2, plain=plain) for plain in (False, True))
        for name, one, other in zip(View._fields, compiled, plain):
            same = np.allclose(one, other, 1e-12, 1e-12) if name in ("value", "biases") else np.array_equal(one, other)
            require(same, game, state, f"{name}: {one} compiled, {other} not")


def check_playouts(game, seed):
    """Random playouts are the same compiled and plain, and score like random moves."""
    root = game.initial()
    for own in (True, False):
        for i in range(1 if game.max_moves * game.max_plies > 10_000 else 3):
            ends = []
            for plain in (False, True):
                scores, plies, rng = np.zeros(1), np.zeros(1, np.int64), stream(seed, i)
                call(playouts_kernel, game, root, own, scores, plies, rng, plain=plain)
                ends.append((scores[0], plies[0], rng[0]))
            require(ends[0] == ends[1], game, root, f"{ends[0]} compiled, {ends[1]} in plain Python")
    if game.uniform_playouts and type(game).random_playout is not Game.random_playout:
        scores = np.zeros((2, PLAYOUTS))
        for own in (True, False):
            plies = np.zeros(PLAYOUTS, np.int64)
            call(playouts_kernel, game, root, own, scores[int(own)], plies, stream(seed))
        (default, of_game), error = scores.mean(axis=1), math.sqrt(scores.var(axis=1).sum() / PLAYOUTS)
        found = f"its own random playouts score {of_game:.4f}, random moves {default:.4f}"
        require(abs(of_game - default) <= 4.5 * error, game, root, found)


def check_lanes(game, seed):
    """Playouts in lanes are the same plain and in any number of vectors, and score as others."""
    root, ends, used = game.initial(), [], vector_bits(game.lane_registers)
    for plain, most in ((False, used), (False, WIDE), (True, WIDE // 2), (True, WIDE)):
        streams = lane_streams(game.lanes, game.lane_bits, stream(seed), most)
        ends.append([float(x) for x in call(lane_playout_kernel, game, root, game.lanes + 1, streams, plain=plain)])
    found = f"{game.lanes + 1} playouts in lanes: {ends[0]}, {ends[1]}; in plain Python {ends[2]}, {ends[3]}"
    require(all(end == ends[0] for end in ends), game, root, found)
    scores, plies, rng = np.zeros(PLAYOUTS), np.zeros(PLAYOUTS, np.int64), stream(seed)
    call(playouts_kernel, game, root, True, scores, plies, rng)
    streams = streams_of(game, rng)
    wins, draws, score, length = lane_playout_kernel(game, root, PLAYOUTS, streams)
    single = {"wins": scores > 0, "draws": scores == 0, "score": scores, "plies": plies}
    for (name, values), in_lanes in zip(single.items(), (wins, draws, score, length)):
        error = math.sqrt(2 * values.var() / PLAYOUTS)
        found = f"{name} a playout: {in_lanes / PLAYOUTS:.4f} in lanes, {values.mean():.4f} one by one"
        require(abs(in_lanes / PLAYOUTS - values.mean()) <= 4.5 * error + 1e-9, game, root, found)


CHECKS = (
    check_moves,
    check_play,
    check_illegal_moves,
    check_scores,
    check_sound_moves,
    check_plies_left,
    check_foreseen,
    check_chance,
    check_keys,
    check_names,
    check_codes,
    check_symmetries,
    check_evaluation,
    check_planes,
    check_random_moves,
    check_tabu_moves,
    check_compiled,
    check_playouts,
    check_lanes,
)
