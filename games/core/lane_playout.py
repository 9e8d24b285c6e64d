"""Random playouts side by side, of games that play in lanes (Game.lane_start, Game.lane_step)."""

from games.core.jit import kernel
from games.core.lanes import choose, is_any, is_positive, lane_numbers, total, zero_lanes

STEPS = 8  # until the lanes are looked at again: whether any has playouts left, and to empty narrow sums


@kernel
def lane_playout_kernel(game, root, count, rng):
    """`count` random playouts from root, which is not over: (first player's wins, draws, sum of scores, sum of plies).

    Every lane plays its share of the count, one playout after another.  If the first ones to end counted, whichever
    lane they are in, short ones would be seen too often.  A share is at most 2**(bits - 1) - 2, as it is counted in
    lanes.
    """
    zero, lanes = zero_lanes(rng.width), rng.width.count
    fresh = words = game.lane_start(root, zero)
    left = choose(lane_numbers(zero) < count % lanes, 1, 0) + count // lanes
    wins = draws = zero
    score = plies = 0
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
    return total(wins), total(draws), float(score), plies
