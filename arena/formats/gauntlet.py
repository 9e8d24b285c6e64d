"""Gauntlet: one agent meets all others."""

from itertools import combinations

from pydantic import Field

from arena.formats.base import ConfigTable, KnownMatches


class BaseKeys(ConfigTable):
    """The key of formats in which all others meet one agent."""

    base: str | None = Field(
        None, description="base, the agent that all others meet, is an agent's name; the first's by default"
    )


def base_complaints(keys, names):
    """A complaint if the base is none of the agents."""
    base = keys.get("base")
    if base is not None and base not in names:
        yield ("base",), base, f"is the name of none of the agents: {', '.join(names)}"


class Gauntlet(KnownMatches):
    """Every other agent plays `games` games against the base."""

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
        return [pair for pair in combinations(range(len(self.names)), 2) if base in pair]

    @classmethod
    def described(cls, values):
        return f"a gauntlet, {values['games']} games of each against {values['base']}"
