"""The configuration of a tournament: read from TOML or from plain values, checked in full, never changed.

Everything that can be known to be wrong before play is an error here, and one ConfigError names every problem.
"""

import importlib
import sys
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, field_validator

from arena.config.instances import game_specs, make_instances
from arena.config.messages import describe, key_of, shown
from arena.config.openings import beside
from arena.config.options import (
    FORMATS,
    KNOCKOUT,
    MAX_ROUNDS,
    ROUND_ROBIN,
    SOLO,
    SWISS,
    SprtTable,
    Table,
    check_format,
    format_of,
)

MAX_NAME = 80  # characters of an agent's name
_MAX_COUNT = 10**12  # of games, playouts, nodes: far from the end of 64-bit integers

OPENINGS_TRIED = 10  # before play, to tell whether there are openings of that length

# Keys that a resumed run may change: they decide when a game counts as failed, never what a game is.
CHANGEABLE = ("game_seconds", "time_margin", "plugin_path")


class ConfigError(ValueError):
    """A configuration that cannot be used.

    The message has one line a problem: `source: key = value: what is wrong; what is allowed`.
    """

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__("\n".join(problems))


def _count(kind):
    return Field(None, gt=0, le=_MAX_COUNT, description=f"{kind} is a whole number from 1 to {_MAX_COUNT}")


class BudgetTable(Table):
    """What an agent without a budget of its own may spend on one move; it uses the kinds that it knows."""

    playouts: int | None = _count("playouts")
    nodes: int | None = _count("nodes")
    depth: int | None = _count("depth")
    seconds: float | None = Field(None, gt=0, description="seconds is a number greater than 0")

    def given(self) -> dict:
        """The kinds that are set, with their amounts."""
        return self.model_dump(exclude_none=True)


class AgentEntry(Table):
    """One agent: its spec, and the name it has in the tables if that is not the spec itself."""

    agent: str = Field(description='agent is text such as "uct(exploration=0.4)"')
    name: str | None = Field(None, description=f"name is text of 1 to {MAX_NAME} printable characters")

    @field_validator("name")
    @classmethod
    def _check_name(cls, name):
        if name is not None and (fault := _name_fault(name)):
            raise ValueError(fault)
        return name


class Config(Table):
    """A tournament: every pair of agents, or each that the format or `pairings` lets meet, plays `games` games, two of
    which share an opening with sides swapped.  Formats are explained in `arena.formats.formats`, openings in `arena.config.openings`.

    Of games for one player there may be several, the `instances`, and every agent plays each of them `games` times.

    `plugins` are modules that define games and agents of your own.  They are imported, here and in every worker,
    before any game or agent is made; they are found where Python finds modules, and beside the configuration file.
    """

    game: str | None = Field(None, description='game is text such as "breakthrough(rows=6, columns=6)"')
    instances: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description='instances is a list of games for one player such as ["samegame(seed=1..20)", "leftmove"]'
    )
    games: int = Field(
        ge=1, le=_MAX_COUNT, description=f"games, for each pair of agents, is an even number from 2 to {_MAX_COUNT}"
    )
    format: str = Field(ROUND_ROBIN, description=f"format is one of {', '.join(FORMATS)}")
    base: str | None = Field(
        None, description="base, whom all others meet, is an agent's name; the first's if left out"
    )
    rounds: int | None = Field(
        None, ge=1, le=MAX_ROUNDS, description=f"rounds, of the format swiss, is a whole number from 1 to {MAX_ROUNDS}"
    )
    sprt: SprtTable = Field(SprtTable(), description="sprt is a table such as { elo0 = 0, elo1 = 5 }")
    openings: Annotated[tuple[str, ...], Field(strict=False)] = ()  # lines; what else it can be has been read before
    opening_plies: int = Field(2, ge=0, le=10_000, description="opening_plies is a whole number from 0 to 10000")
    seed: int = Field(0, ge=0, lt=2**63, description="seed is a whole number from 0 to 2**63 - 1")
    budget: BudgetTable = Field(BudgetTable(), description="budget is a table such as { playouts = 1000 }")
    # a tuple takes TOML's lists only when it is not strict; what it holds stays strict
    agents: Annotated[tuple[AgentEntry, ...], Field(strict=False)] = Field(
        description="agents is a list of at least two tables [[agents]]"
    )
    game_seconds: float = Field(
        3600.0, gt=0, description="game_seconds, after which a game counts as a hang, is a number greater than 0"
    )
    time_margin: float = Field(
        1.0, ge=0, description="time_margin, the seconds by which a move may exceed its budget, is a number from 0"
    )
    plugins: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        (), description='plugins is a list of names of modules such as ["my_games"]'
    )
    pairings: Annotated[tuple[Annotated[tuple[str, str], Field(strict=False)], ...], Field(strict=False)] = Field(
        (), description='pairings, if only some agents are to meet, is a list of pairs of names such as [["a", "b"]]'
    )
    plugin_path: str | None = Field(
        None, description="plugin_path is a folder to look for plugins in; the configuration file's, when left out"
    )

    def resolved(self) -> dict:
        """Plain values with every default filled in and every spec as the game or agent spells itself.

        Two configurations of equal `resolved()` are the same tournament; `arena.runner.match.Setting.make` builds it.
        """
        specs = [entry.agent for entry in self.agents]
        games, agents = make_all(self.plugins, game_specs(self.model_dump()), specs, self.plugin_path)
        entries = [{"name": entry.name or str(agent), "agent": str(agent)} for entry, agent in zip(self.agents, agents)]
        if games[0].players == 1:
            what = {"format": "single_player"}
        else:
            what = {"pairings": [list(pair) for pair in self.pairings]}
            what |= {"openings": list(self.openings)} if self.openings else {"opening_plies": self.opening_plies}
            what |= format_of(self.model_dump(), [entry["name"] for entry in entries])
        left_out = {"game", "instances", "agents", "budget", "plugins", *SOLO}
        return (
            self.model_dump(exclude=left_out)
            | what
            | {
                "instances": [str(game) for game in games],
                "budgets": [self.budget.given()],
                "agents": entries,
                "plugins": list(self.plugins),
                "plugin_path": self.plugin_path and str(Path(self.plugin_path).resolve()),
            }
        )


def make_all(plugins, game: str | list[str], agents, plugin_path: str | None = None) -> tuple:
    """The game, or the list of games, and the list of agents that the specs describe, plugins imported first.

    SpecError if a spec is wrong.
    """
    import agents as agents_package
    import games as games_package

    look_in(plugin_path if plugins else None)
    for plugin in plugins:
        importlib.import_module(plugin)
    made = [games_package.make(spec) for spec in ([game] if isinstance(game, str) else game)]
    return made[0] if isinstance(game, str) else made, [agents_package.make(spec) for spec in agents]


def load(path) -> Config:
    """The configuration in a TOML file; ConfigError lists everything that is wrong with it.

    Plugins are looked for beside the file, or in the folder plugin_path, as well as where Python finds modules.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file; a configuration is a TOML file"]) from None
    except IsADirectoryError:
        raise ConfigError([f"{path}: is a folder; a configuration is a TOML file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: byte {error.start} is not UTF-8; a TOML file is UTF-8 text"]) from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ConfigError([f"{path}: is not TOML: {error}"]) from None
    except RecursionError:
        raise ConfigError([f"{path}: is nested too deeply; a configuration has tables in tables at most"]) from None
    if values.get("plugins"):
        values.setdefault("plugin_path", str(path.resolve().parent))
    if "openings" in values:
        values["openings"] = beside(values["openings"], path.parent)
    return from_values(values, str(path))


def look_in(folder: str | None) -> None:
    """Let Python find modules in a folder too."""
    if folder and folder not in sys.path:
        sys.path.append(folder)


def from_values(values: dict, source: str = "the command line") -> Config:
    """The configuration with these keys and values; ConfigError lists everything that is wrong, under `source`."""
    if "budgets" in values:  # a resolved configuration
        values = dict(values, budget=values["budgets"][0])
        if values["format"] == "single_player":
            del values["format"]
        else:
            values["game"] = values.pop("instances")[0]
        del values["budgets"]
    problems, config, meaning = [], None, _Meaning(values)
    wrong = meaning.problems()
    try:
        config = Config.model_validate(values | meaning.read)
    except ValidationError as error:
        problems = [describe(fault, Config, _PARTS) for fault in error.errors()]
    problems += wrong
    if problems:
        raise ConfigError([f"{source}: {problem}" for problem in problems])
    return config


def differences(stored: dict, wanted: dict) -> list[str]:
    """What keeps a run with resolved configuration `stored` from being resumed with `wanted`, a line a key.

    More games or pairings than before are no obstacle, because the ids of games do not depend on their number; neither
    are changes of `game_seconds` and `time_margin`.
    """
    lines = []
    for key in sorted(stored.keys() | wanted.keys()):
        was, now = stored.get(key), wanted.get(key)
        growing = ("games", "pairings") if stored.get("format") not in (SWISS, KNOCKOUT) else ("rounds",)
        if was == now or key in CHANGEABLE or (key in growing and _has_grown(key, was, now)):
            continue
        hint = "; it may only grow" if key in growing else ""
        lines.append(f"{key} = {now!r}, but the run was started with {was!r}{hint}")
    return lines


def _has_grown(key, was, now) -> bool:
    """Whether the tournament is the same one with more to play."""
    if was is None or now is None:
        return False
    if key == "pairings":  # without any, everybody meets everybody
        return bool(was) and (not now or {frozenset(pair) for pair in was} <= {frozenset(pair) for pair in now})
    return now > was


def _name_fault(name):
    if not name.strip():
        return "is empty"
    if not name.isprintable():
        return "has characters that cannot be printed"
    return f"has {len(name)} characters" if len(name) > MAX_NAME else None


_PARTS = {"budget": BudgetTable, "agents": AgentEntry, "sprt": SprtTable}


class _Meaning:
    """Checks what the values mean, of those that have the right form, so that one message lists all problems."""

    def __init__(self, values: dict):
        entries = values.get("agents")
        self.entries = [
            (i, entry)
            for i, entry in enumerate(entries if isinstance(entries, list | tuple) else [])
            if isinstance(entry, dict) and isinstance(entry.get("agent"), str)
        ]
        self.values = values
        self.found = []
        self.read = {}  # keys with what they stand for

    def problems(self) -> list[str]:
        if self._import_plugins():
            games = self._make_games()
            solo = bool(games) and games[0].players == 1
            if "openings" in self.values:
                self._read_openings(None if solo or not games else games[0])
            elif games and not solo:
                self._check_opening(games[0])
            self._check_counts(solo)
            self._check_names([self._check_agent(i, entry["agent"], games) for i, entry in self.entries])
        return self.found

    def _make_games(self) -> list:
        """The game, or the instances; none if one of them cannot be made or has the wrong number of players."""
        several, before = "instances" in self.values, len(self.found)
        if several and self.values.get("game") is not None:
            self._add(
                ("instances",), self.values["instances"], "stands beside game; a configuration has one of the two"
            )
        elif several:
            return self._make_instances()
        elif self.values.get("game") is None:
            self.found.append(f"game: is missing; {Config.model_fields['game'].description}")
        game = self._make(("game",), self.values.get("game"), "games")
        return [game] if game is not None and len(self.found) == before else []

    def _make_instances(self) -> list:
        specs = self.values["instances"]
        if not isinstance(specs, list | tuple) or not all(isinstance(spec, str) for spec in specs):
            return []  # which has been said
        made = make_instances(
            specs,
            lambda i, spec: self._make(("instances", i), spec, "games"),
            lambda i, value, text: self._add(("instances",) if i is None else ("instances", i), value, text),
        )
        return [] if self.found else made

    def _check_counts(self, solo):
        """Two players need two agents, and as many games with each side."""
        agents, games = self.values.get("agents"), self.values.get("games")
        if isinstance(agents, list | tuple) and len(agents) < (1 if solo else 2):
            wanted = "at least one table [[agents]]" if solo else "at least two tables [[agents]]"
            self._add(("agents",), agents, f"has {len(agents)} of them; agents is a list of {wanted}")
        if type(games) is int and games > 0 and games % 2 and not solo:
            text = "is odd, but games come in pairs that share an opening with sides swapped"
            self._add(("games",), games, f"{text}; {Config.model_fields['games'].description}")
        for key in SOLO if solo else ():
            if self.values.get(key):
                self._add((key,), self.values[key], "is for two players; here each agent plays by itself")

    def _add(self, place, value, text):
        self.found.append(f"{key_of(place)} = {shown(value)}: {text}")

    def _import_plugins(self) -> bool:
        plugins, folder = self.values.get("plugins", []), self.values.get("plugin_path")
        look_in(folder if plugins and isinstance(folder, str) else None)
        for i, plugin in enumerate(plugins if isinstance(plugins, list | tuple) else []):
            try:
                importlib.import_module(plugin)
            except (Exception, SystemExit) as error:  # whatever a user's module raises belongs in the message
                text = f"cannot be imported: {type(error).__name__}: {error}; it should be the name of a module"
                self._add(("plugins", i), plugin, text)
        return not self.found

    def _make(self, place, spec, package):
        from games.core.registry import SpecError

        if not isinstance(spec, str):
            return None
        try:
            return importlib.import_module(package).make(spec)
        except SpecError as error:
            self._add(place, spec, error)

    def _check_opening(self, game):
        from arena.formats.schedule import OpeningError, opening

        plies, seed = self.values.get("opening_plies", 2), self.values.get("seed", 0)
        if type(plies) is int and type(seed) is int:
            try:
                for k in range(OPENINGS_TRIED):
                    opening(game, seed, k, plies)
            except OpeningError as error:
                self._add(("opening_plies",), plies, error)
            except Exception as error:  # whatever a user's rules raise belongs in the message
                text = f"its rules fail in the opening: {type(error).__name__}: {error}"
                self._add(("game",), self.values["game"], text)

    def _read_openings(self, game):
        """The lines of the openings; as many games as there are, with both sides, where their number is not given."""
        from arena.config.openings import BadOpenings, lines_of

        value = self.values["openings"]
        self.read["openings"] = ()
        if self.values.get("opening_plies") is not None:
            self._add(("openings",), value, "stands beside opening_plies; a configuration has one of the two")
        elif game is not None:
            try:
                self.read["openings"] = tuple(lines_of(value, game))
                self.read["games"] = self.values.get("games", 2 * len(self.read["openings"]))
            except BadOpenings as error:
                for problem in error.problems:
                    self._add(("openings",), value, problem)
            except Exception as error:  # whatever a user's rules raise belongs in the message
                self._add(("openings",), value, f"the game's rules fail in them: {type(error).__name__}: {error}")

    def _check_agent(self, i, spec, games):
        """The agent, or None if it cannot be made."""
        from agents import Budget, Unsuited

        place = ("agents", i, "agent")
        agent = self._make(place, spec, "agents")
        if agent is None:
            return None
        if reason := next(filter(None, map(agent.refuses, games)), None):
            self._add(place, spec, reason)
        try:
            default = Budget(**BudgetTable.model_validate(self.values.get("budget", {})).given())
            agent.budget(default)
        except Unsuited as error:
            self._add(place, spec, f"{error}, or give the key budget")
        except ValidationError:
            pass  # the budget itself is wrong, which has been said
        return agent

    def _check_names(self, agents):
        names = {}
        for (i, entry), agent in zip(self.entries, agents):
            name = entry.get("name", None if agent is None else str(agent))
            if not isinstance(name, str):
                continue
            place = ("agents", i, "name" if "name" in entry else "agent")
            if "name" not in entry and (fault := _name_fault(name)):
                self._add(place, name, f"its own text {fault}; give it a name of 1 to {MAX_NAME} characters")
            if name in names:
                self._add(place, name, f"agents[{names[name]}] has the same name; give each a name of its own")
            names.setdefault(name, i)
        self._check_pairings(names)
        check_format(self.values, list(names), self._add)

    def _check_pairings(self, names):
        """Pairings are of two different agents that there are, each pair once."""
        seen, pairings = set(), self.values.get("pairings", ())
        for i, pair in enumerate(pairings if isinstance(pairings, list | tuple) else ()):
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
                continue  # its form is wrong, which has been said
            place = ("pairings", i)
            for name in pair:
                if name not in names:
                    self._add(place, pair, f"{name!r} is the name of none of the agents: {', '.join(names)}")
            if pair[0] == pair[1]:
                self._add(place, pair, "pairs an agent with itself; give the names of two")
            elif frozenset(pair) in seen:
                self._add(place, pair, "is there twice; each pair plays `games` games")
            seen.add(frozenset(pair))
