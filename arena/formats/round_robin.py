"""Round robin: everybody meets everybody, or those meet whom `pairings` names."""

from typing import Annotated

from pydantic import Field

from arena.formats.base import KnownMatches, Table, all_pairs, unknown_agent


class RoundRobin(KnownMatches):
    """Every pair of agents plays `games` games.

    With `pairings` only some pairs meet, in games that are the same as in the round robin of all.
    """

    name = "round_robin"
    growing = ("games", "pairings")

    class Keys(Table):
        pairings: Annotated[tuple[Annotated[tuple[str, str], Field(strict=False)], ...], Field(strict=False)] = Field(
            (),
            description='pairings, if only some agents are to meet, is a list of pairs of names such as [["a", "b"]]',
        )

    @classmethod
    def complaints(cls, keys, names):
        """Pairings are of two different agents that there are, each pair once."""
        seen = set()
        for i, pair in enumerate(keys.get("pairings", ())):
            place, shown = ("pairings", i), list(pair)
            for name in pair:
                yield from unknown_agent(place, shown, name, names)
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
        # without any, everybody meets everybody
        return bool(was) and (not now or {frozenset(pair) for pair in was} <= {frozenset(pair) for pair in now})

    def pairs(self, keys):
        number = {name: i for i, name in enumerate(self.names)}
        wanted = {tuple(sorted((number[one], number[other]))) for one, other in keys["pairings"]}
        return [pair for pair in all_pairs(len(self.names)) if not wanted or pair in wanted]

    @classmethod
    def described(cls, values):
        pairs = values["pairings"]
        return f"{values['games']} games for each {f'of {len(pairs)} pairs' if pairs else 'pair'}"
