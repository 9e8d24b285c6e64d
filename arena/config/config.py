"""The configuration of a tournament: games, agents and keys, checked once, immutable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from arena.agents.core.agent import Agent, Budget
from arena.config.trust import import_plugins, import_stored
from arena.formats.base import formats
from arena.games.core.game import Game
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import checksums
from arena.games.core.shared.registry import SpecError
from arena.results.printable import one_line

# a resumed run may change them: they decide when a game counts as failed, never what it is
LIMITS = ("game_seconds", "time_margin", "move_seconds", "compile_seconds", "memory", "disk")
CHANGEABLE = (*LIMITS, "hosts", "plugin_path")


class ConfigError(UserError, ValueError):
    """A configuration that cannot be used.

    One line per problem: `source: key = value: what is wrong; what is allowed`.
    """

    def __init__(self, problems: list[str]):
        self.problems = list(map(one_line, problems))
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True)
class Seat:
    """An agent in one condition."""

    name: str
    agent: Agent
    budget: Budget  # its own, or its part of the condition's


@dataclass(frozen=True)
class Condition:
    """A game, and the agents with their budgets for a move."""

    game: Game
    seats: tuple[Seat, ...]  # in the order of the configuration


@dataclass(frozen=True)
class Config:
    """A tournament: games and agents, made once, and the keys as plain values.

    `values` has every default, and short specs; equal values are the same tournament.  Each instance with each budget
    is a condition, in which every pair of agents that the format admits plays `games` games.
    """

    instances: tuple[Game, ...]
    agents: tuple[tuple[str, Agent], ...]  # name, agent
    values: Mapping[str, Any]

    @classmethod
    def restored(cls, values: Mapping[str, Any]) -> "Config":
        """The configuration from resolved values, already checked; imports its plugins."""
        from arena import agents

        import_plugins(values)
        specs = [entry["agent"] for entry in values["agents"]]
        made = zip([entry["name"] for entry in values["agents"]], map(agents.make, specs))
        return cls(tuple(make_games(values["instances"])), tuple(made), values)

    def resolved(self) -> dict[str, Any]:
        """Plain values, for `loading.from_values` and `restored`."""
        return dict(self.values)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Every game at every budget, by number: all budgets of the first game, then of the second."""
        return tuple(
            Condition(game, tuple(self._seat(name, agent, game, Budget.of(budget)) for name, agent in self.agents))
            for game, budget in product(self.instances, self.values["budgets"])
        )

    def _seat(self, name, agent, game, budget) -> Seat:
        own = agent.budget(budget)
        return Seat(name, agent, own)

    def named_files(self) -> list[str]:
        """The paths of the files that games and agents read."""
        made: list[Game | Agent] = [*self.instances, *(agent for _, agent in self.agents)]
        return sorted({path for one in made for path in one.files()})

    def files(self) -> dict[str, str]:
        """Checksums of named files, by path; PreparedFileError if one is unreadable."""
        return checksums(self.named_files())

    @property
    def players(self) -> int:
        """The number of players of every game."""
        return self.instances[0].players

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.values["format"]


def make_games(specs: Iterable[str]) -> list[Game]:
    """The games of these specs; SpecError if one is wrong."""
    from arena import games

    return [games.make(spec) for spec in specs]


def stored_games(values: Mapping[str, Any]) -> list[Game]:
    """The game of each condition of a stored run's values; TrustError if a plug-in of theirs is to be asked for."""
    return [game for game in _made(values, values["instances"]) for _ in values["budgets"]]


def game_of(values: Mapping[str, Any], condition: int = 0) -> Game:
    """The game of one condition of a stored run's values; TrustError as above."""
    return _made(values, [values["instances"][condition // len(values["budgets"])]])[0]


def _made(values: Mapping[str, Any], specs: list[str]) -> list[Game]:
    """Games of a stored run; its plug-ins, which may be of agents alone, are imported only if these are not known."""
    try:
        return make_games(specs)
    except SpecError:
        import_stored(values)
        return make_games(specs)


def games_played(meta: Mapping[str, Any]) -> list[Game]:
    """The game of each condition of a stored run, by its `meta`, also of an import that tells; TrustError as above.

    ConfigError if nothing tells.
    """
    if "config" in meta:
        return stored_games(meta["config"])
    if not (specs := meta.get("imported", {}).get("games")):
        raise ConfigError(["the results were imported: their game is not known; arena import --game GAME stores it"])
    return make_games(specs)


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Why a run of resolved values `stored` cannot be resumed with `wanted`, a line per key.

    Keys may change if in CHANGEABLE, or if the format lets them grow: ids do not depend on how many games there are.
    """
    kind, lines = formats()[stored["format"]], []
    for key in sorted(stored.keys() | wanted.keys()):
        was, now = stored.get(key), wanted.get(key)
        if key == "instances" and was:
            was = _shortest(was)
        if was == now or key in CHANGEABLE or (key in kind.growing and kind.has_grown(key, was, now)):
            continue
        hint = "; it may only grow" if key in kind.growing else ""
        lines.append(f"{key} = {now!r}, but the run was started with {was!r}{hint}")
    return lines


def _shortest(instances: list[str]) -> list[str]:
    """The shortest specs, since stored ones once had all parameters; unchanged, if a game is not installed."""
    try:
        return [str(game) for game in make_games(instances)]
    except UserError:
        return instances
