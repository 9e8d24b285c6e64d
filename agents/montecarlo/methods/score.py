"""Rewards by score: a high win counts a little more than a narrow one, and a high loss a little less.

    result' = (1 - weight) result + weight s / (|s| + scale)

s is the first player's score at the end, such as a difference in discs or points.  A win stays better than a loss for
every weight below 1.  It is a simple form of rewards by the quality of an end (T. Pepels, M. Tak, M. Lanctot & M.
Winands, "Quality-based rewards for Monte-Carlo tree search simulations", ECAI 2014, which scales by deviations).  A
score that only tells the winner changes nothing but the size of rewards.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.method import Method


@dataclass(frozen=True)
class Score(Method):
    """weight: of the score in a result
    scale: the score that counts one half
    """

    weight: float = 0.1
    scale: float = 10.0

    name: ClassVar[str] = "score"
    part: ClassVar[str] = "result"
    lockless: ClassVar[bool] = True
    data_fields: ClassVar[tuple[str, ...]] = ("weight", "scale")
    ranges: ClassVar[dict] = {"weight": (0, 1), "scale": (0.001,)}

    def result(self, game, search, score, result):
        weight = search.options.weight
        return (1.0 - weight) * result + weight * score / (abs(score) + search.options.scale)
