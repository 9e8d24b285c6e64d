"""Listed matches: these agents play these openings, and no others."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from arena.formats.base import ConfigTable, Format

MOST = 2_000_000  # openings, of which each is in memory
Match = Annotated[tuple[str, str, int, int], Field(strict=False)]


class ListedMatches(Format):
    """Each match is two agents with the openings from `begin` to below `end`, each with both sides.

    Matches and agents may be added when a run is resumed: so agents join a pool, and a tuning goes on.  A match that
    holds an earlier one's openings again adds those it lacks.
    """

    name, renames = "matches", False
    growing = ("games", "matches", "agents", "plugins")
    counts_games = True

    class Keys(ConfigTable):
        matches: Annotated[tuple[Match, ...], Field(strict=False)] = Field(
            description="matches is a list of two names, the first opening and the one after the last: "
            '[["a", "b", 0, 50]]'
        )

    @classmethod
    def complaints(cls, keys, names):
        known = set(names)
        if not keys.get("matches", True):
            yield ("matches",), [], "is empty; a tournament needs one match at least"
        if sum(end - begin for _, _, begin, end in keys.get("matches", ())) > MOST:
            yield ("matches",), keys["matches"], f"has more than {MOST:,} openings, the most that are listed"
        for i, (one, other, begin, end) in enumerate(keys.get("matches", ())):
            place, shown = ("matches", i), [one, other, begin, end]
            for name in {one, other} - known:
                yield place, shown, f"{name!r} is the name of none of the agents: {', '.join(names)}"
            if one == other:
                yield place, shown, "pairs an agent with itself; give the names of two"
            if not 0 <= begin < end:
                yield place, shown, "has no opening: the first is 0 or more, and the one after the last is greater"

    @classmethod
    def completed(cls, keys, names):
        openings: Counter = Counter()
        for one, other, begin, end in keys["matches"]:
            openings[frozenset((one, other))] += end - begin
        return {"games": 2 * max(openings.values()), "matches": [list(match) for match in keys["matches"]]}

    @classmethod
    def has_grown(cls, key, was, now):
        if key == "games":
            return super().has_grown(key, was, now)
        return was is not None and now is not None and now[: len(was)] == was

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        number = {name: i for i, name in enumerate(names)}
        matches = [(number[one], number[other], begin, end) for one, other, begin, end in keys["matches"]]
        # each once, in order: what is added later changes no place
        wanted = {
            (min(one, other), max(one, other), k): None for one, other, begin, end in matches for k in range(begin, end)
        }
        self._wanted = list(wanted)

    def wanted(self, begin):
        for place in range(begin // 2, len(self._wanted)):
            one, other, opening = self._wanted[place]
            yield from self.fixtures.of_pair((one, other), opening, place)

    def __len__(self):
        return 2 * len(self._wanted)

    @classmethod
    def described(cls, values):
        return f"{len(values['matches'])} listed matches"
