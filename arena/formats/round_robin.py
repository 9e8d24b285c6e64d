"""Round robin: every pair of agents meets, or the pairs in `pairings`."""

from itertools import combinations
from typing import Annotated

from pydantic import Field

from arena.formats.base import ConfigTable, KnownMatches


class RoundRobin(KnownMatches):
    """Every pair of agents plays `games` games.

    With `pairings` only some pairs meet, in the same games as in the full round robin.
    """

    name = "round_robin"
    growing = ("games", "pairings")

    class Keys(ConfigTable):
        pairings: Annotated[tuple[Annotated[tuple[str, str], Field(strict=False)], ...], Field(strict=False)] = Field(
            (),
            description='pairings, if only some agents are to meet, is a list of pairs of names such as [["a", "b"]]',
        )

    @classmethod
    def complaints(cls, keys, names):
        """Each pairing must have two different existing agents, and be there once."""
        seen = set()
        for i, pair in enumerate(keys.get("pairings", ())):
            place, shown = ("pairings", i), list(pair)
            for name in pair:
                if name not in names:
                    yield place, shown, f"{name!r} is the name of none of the agents: {', '.join(names)}"
            if pair[0] == pair[1]:
                yield place, shown, "pairs an agent with itself; give the names of two"
            elif frozenset(pair) in seen:
                yield place, shown, "is there twice; each pair plays `games` games"
            seen.add(frozenset(pair))

    @classmethod
    def completed(cls, keys, names):
        return {"pairings": [list(pair) for pair in keys.get("pairings", ())]}

    @classmethod
    def has_grown(cls, key, was, now):
        if key != "pairings":
            return super().has_grown(key, was, now)
        # without any, all pairs meet
        return bool(was) and (not now or {frozenset(pair) for pair in was} <= {frozenset(pair) for pair in now})

    def pairs(self, keys):
        number = {name: i for i, name in enumerate(self.names)}
        wanted = {tuple(sorted((number[one], number[other]))) for one, other in keys["pairings"]}
        return [pair for pair in combinations(range(len(self.names)), 2) if not wanted or pair in wanted]

    @classmethod
    def described(cls, values):
        pairs = values["pairings"]
        return f"{values['games']} games for each {f'of {len(pairs)} pairs' if pairs else 'pair'}"
