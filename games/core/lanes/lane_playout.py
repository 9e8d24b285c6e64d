"""Random playouts side by side, of games that play in lanes (Game.lane_start, Game.lane_step)."""

from numba.extending import overload

from arena.games.core.jit import kernel
from arena.games.core.jit.game_tables import FUNCTIONS, WIDTHS, TableType, call_of
from arena.games.core.jit.parts import UNCOUNTED
from arena.games.core.lanes.lanes import (
    LaneStream,
    Width,
    choose,
    is_any,
    is_positive,
    lane_numbers,
    largest,
    streams_of,
    total,
    zero_lanes,
)

STEPS = 8  # between checks of whether any lane has playouts left; narrow sums are emptied then, too


def lane_playouts(game, root, count, rng) -> tuple[int, int, float, int]:
    """lane_playout_kernel for any number of playouts."""
    streams = streams_of(game, rng)
    most, sums = game.lanes * ((1 << min(game.lane_bits, 48) - 1) - 2), (0, 0, 0.0, 0)
    for done in range(0, count, most):
        found = lane_playout_kernel(game, root, min(most, count - done), streams)
        sums = tuple(one + other for one, other in zip(sums, found, strict=True))
    return sums


@kernel
def lane_playout_kernel(game, root, count, streams):
    """`count` random playouts from root, which is not over: (first player's wins, draws, sum of scores, sum of plies).

    Every lane plays its own share: to count the first to end would favour short ones.  A share is at most 2**(bits - 1)
    - 2, as lanes count it.
    """
    wins = draws = plies = score = 0
    lanes = streams.width.count
    share, rest = count // (lanes * len(streams.states)), count % (lanes * len(streams.states))
    for i in range(len(streams.states)):
        rng = LaneStream(streams.width, streams.states[i])
        found = play_shares(game, root, share, min(max(rest - i * lanes, 0), lanes), rng)
        wins, draws, score, plies = wins + found[0], draws + found[1], score + found[2], plies + found[3]
    return wins, draws, float(score), plies


def play_shares(game, root, share, rest, rng):
    """`share` playouts in every lane, and one more in the first `rest`."""
    zero = zero_lanes(rng.width)
    fresh = words = game.lane_start(root, zero)
    left = choose(lane_numbers(zero) < rest, 1, 0) + share
    wins = draws = zero
    plies = score = 0
    while is_any(left != 0):
        some_plies = some_score = zero
        for _ in range(STEPS):
            words, moved, over, result = game.lane_step(words, rng)
            live = left != 0
            over &= live
            some_plies += choose(live, moved, 0)
            some_score += choose(over, result, 0)
            wins += choose(over & is_positive(result), 1, 0)
            if game.has_draws:
                draws += choose(over & (result == 0), 1, 0)
            left -= choose(over, 1, 0)
            words = choose(over, fresh, words)
        plies += total(some_plies)
        score += total(some_score)
    return total(wins), total(draws), score, plies


def play_side_by_side(game, state, rng):
    """A playout in every lane, from a state that is not over: (sum of rewards, plies of the longest)."""
    zero = zero_lanes(rng.width)
    words = game.lane_start(state, zero)
    live, halves, plies = zero == 0, zero, zero
    while is_any(live):
        words, moved, over, score = game.lane_step(words, rng)
        plies += choose(live, moved, 0)
        over &= live
        halves += choose(over & is_positive(score), 2, 0) + choose(over & (score == 0), 1, 0)
        live &= ~over
    return total(halves) / 2, largest(plies)


# -- In kernels: the same, for a game that is a table by one of its entries, made for each width -----------------------


@overload(play_shares, jit_options=UNCOUNTED)  # type: ignore[arg-type]
def _play_shares(game, root, share, rest, rng):
    if isinstance(game, TableType):
        entry = f"play_shares_{rng.types[0].game.count}"
        return call_of(entry, "game, root, share, rest, rng", "root, share, rest, rng.state")
    return play_shares


@overload(play_side_by_side, jit_options=UNCOUNTED)  # type: ignore[arg-type]
def _play_side_by_side(game, state, rng):
    if isinstance(game, TableType):
        return call_of(f"side_by_side_{rng.types[0].game.count}", "game, state, rng", "state, rng.state")
    return play_side_by_side


def _shares_of(count):
    """Makes an entry's function from a game: playouts in `count` lanes."""

    def function_of(game):
        width = Width(count, game.lane_bits)

        def play_shares_in_lanes(game, root, share, rest, words):
            return play_shares(game, root, share, rest, LaneStream(width, words))

        return play_shares_in_lanes

    return function_of


def _side_by_side_of(count):
    def function_of(game):
        width = Width(count, game.lane_bits)

        def play_in_lanes(game, state, words):
            return play_side_by_side(game, state, LaneStream(width, words))

        return play_in_lanes

    return function_of


for _count in WIDTHS:
    FUNCTIONS[f"play_shares_{_count}"] = _shares_of(_count), ("lane_bits",)
    FUNCTIONS[f"side_by_side_{_count}"] = _side_by_side_of(_count), ("lane_bits",)
