"""Random playouts side by side, of games that play in lanes (Game.lane_start, Game.lane_step)."""

from numba.extending import register_jitable

from games.core.jit import kernel
from games.core.lanes import (
    LaneStream,
    choose,
    is_any,
    is_positive,
    lane_numbers,
    lane_streams,
    largest,
    total,
    zero_lanes,
)

STEPS = 8  # until the lanes are looked at again: whether any has playouts left, and to empty narrow sums


def lane_playouts(game, root, count, rng) -> tuple[int, int, float, int]:
    """lane_playout_kernel, with all of the game's lanes, and as many playouts as one likes."""
    streams = lane_streams(game.lanes, game.lane_bits, rng)
    most, sums = game.lanes * ((1 << min(game.lane_bits, 48) - 1) - 2), (0, 0, 0.0, 0)
    for done in range(0, count, most):
        found = lane_playout_kernel(game, root, min(most, count - done), streams)
        sums = tuple(one + other for one, other in zip(sums, found, strict=True))
    return sums


@kernel
def lane_playout_kernel(game, root, count, streams):
    """`count` random playouts from root, which is not over: (first player's wins, draws, sum of scores, sum of plies).

    Every lane plays its share of the count, one playout after another.  If the first ones to end counted, whichever
    lane they are in, short ones would be seen too often.  A share is at most 2**(bits - 1) - 2, as it is counted in
    lanes.
    """
    wins = draws = plies = score = 0
    lanes = streams.width.count
    share, rest = count // (lanes * len(streams.states)), count % (lanes * len(streams.states))
    for i in range(len(streams.states)):
        rng = LaneStream(streams.width, streams.states[i])
        found = play_shares(game, root, share, min(max(rest - i * lanes, 0), lanes), rng)
        wins, draws, score, plies = wins + found[0], draws + found[1], score + found[2], plies + found[3]
    return wins, draws, float(score), plies


@register_jitable(_nrt=False)
def play_shares(game, root, share, rest, rng):
    """`share` playouts in every lane of a vector, and one more in the first `rest` ones."""
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
            draws += choose(over & (result == 0), 1, 0)
            left -= choose(over, 1, 0)
            words = choose(over, fresh, words)
        plies += total(some_plies)
        score += total(some_score)
    return total(wins), total(draws), score, plies


@register_jitable(_nrt=False)
def play_side_by_side(game, state, rng):
    """A playout from a state, which is not over, in every lane of a vector: (sum of rewards, plies of the longest)."""
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
