"""Gauntlet: one agent meets all others."""

from pydantic import Field

from arena.formats.base import KnownMatches, Table, all_pairs, unknown_agent


class BaseKeys(Table):
    """The key of the formats in which all others meet one agent."""

    base: str | None = Field(
        None, description="base, whom all others meet, is an agent's name; the first's if left out"
    )


def base_complaints(keys, names):
    """A complaint if the base is none of the agents."""
    if keys.get("base") is not None:
        base = keys["base"]
        for place, value, _ in unknown_agent(("base",), base, base, names):
            yield place, value, f"is the name of none of the agents: {', '.join(names)}"


class Gauntlet(KnownMatches):
    """All others play `games` games each against the base."""

    name = "gauntlet"
    Keys = BaseKeys

    @classmethod
    def complaints(cls, keys, names):
        yield from base_complaints(keys, names)

    @classmethod
    def completed(cls, keys, names):
        return {"base": keys.get("base") or names[0]}

    def pairs(self, keys):
        base = self.names.index(keys["base"])
        return [pair for pair in all_pairs(len(self.names)) if base in pair]

    @classmethod
    def described(cls, values):
        return f"a gauntlet, {values['games']} games of each against {values['base']}"
