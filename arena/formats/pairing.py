"""Pairings: the bracket of a knockout, and the rounds of a Swiss tournament."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from arena.formats.fixture import Pair


def bracket(agents: int) -> list[tuple[int, int | None]]:
    """The first round's matches in the order of the bracket, (agent, None) for a bye.

    Winners of neighbouring matches meet.  Agents are seeded by number: if the better one always wins, 0 and 1 meet
    last; byes go to the first.
    """
    order = [0]
    while len(order) < agents:
        order = [seed for better in order for seed in (better, 2 * len(order) - 1 - better)]
    if len(order) == 1:
        return [(0, None)]
    return [(one, other if other < agents else None) for one, other in zip(order[::2], order[1::2])]


def pair_off(
    ranking: Sequence[int], points: Mapping[int, float], met: Mapping[Pair, int], byes: Mapping[int, int]
) -> tuple[list[Pair], int | None]:
    """The pairs of a round, the best agents' first, and the agent with a bye, if any.

    ranking: agents, best first; met, byes: earlier counts.  Rematches are avoided if possible; then, down the ranking,
    each agent meets one with equal points, the upper half of these the lower half, or else the next below.  The lowest
    agent with the fewest byes gets the bye.
    """
    left, bye = list(ranking), None
    if len(left) % 2:
        fewest = min(byes.get(agent, 0) for agent in left)
        bye = [agent for agent in left if byes.get(agent, 0) == fewest][-1]
        left.remove(bye)
    pairs: list[Pair] = []
    spare = fewest_rematches(left, met)
    while left:
        best = left[0]
        for partner in _by_preference(left, points):
            pair = min(best, partner), max(best, partner)
            rest = [agent for agent in left[1:] if agent != partner]
            again = met.get(pair, 0)
            if again <= spare and fewest_rematches(rest, met) == spare - again:
                break
        pairs.append(pair)
        left, spare = rest, spare - again
    return pairs, bye


def _by_preference(left, points) -> list[int]:
    equals = [agent for agent in left if points[agent] == points[left[0]]]
    half = max(1, len(equals) // 2)
    return equals[half:] + equals[1:half][::-1] + [agent for agent in left if agent not in equals]


def fewest_rematches(agents: Sequence[int], met: Mapping[Pair, int]) -> int:
    """The least earlier meetings over all ways to pair off an even number of agents."""
    from scipy.optimize import LinearConstraint, milp  # slow, and for few runs

    degree = Counter(agent for pair in combinations(sorted(agents), 2) if not met.get(pair) for agent in pair)
    if all(2 * degree[agent] >= len(agents) for agent in agents):
        return 0  # if each may meet half of the others, all can be paired (Dirac, 1952)
    pairs = list(combinations(sorted(agents), 2))
    times = np.array([met.get(pair, 0) for pair in pairs])
    place = {agent: i for i, agent in enumerate(agents)}
    in_pair = np.zeros((len(agents), len(pairs)))
    for column, pair in enumerate(pairs):
        in_pair[[place[agent] for agent in pair], column] = 1
    found = milp(times, constraints=LinearConstraint(in_pair, 1, 1), integrality=np.ones(len(pairs)), bounds=(0, 1))
    return round(found.fun)
