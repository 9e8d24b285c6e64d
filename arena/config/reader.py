"""Reads the keys of a configuration: checks form and meaning, makes games and agents."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from arena import agents, games
from arena.agents.core.agent import Agent, Budget, Unsuited
from arena.config.complaints import complaint, in_words, unknown_key
from arena.config.config import Config
from arena.config.keys import MAX_NAME, BudgetTable, CommonKeys, composed, name_fault
from arena.config.openings import BadOpenings, OpeningError, lines_of, random_opening
from arena.config.several import RangeError, spelled_out
from arena.config.trust import import_plugin, look_in
from arena.formats.base import ConfigTable, Format, formats
from arena.games.core.checks.first_look import look_at
from arena.games.core.game import BrokenRules, Game
from arena.games.core.shared.overdue import Overdue, limited
from arena.games.core.shared.plugins import fixed
from arena.games.core.shared.registry import SpecError, spell

MOST = 10_000  # instances, and agents
ONE_OF_TWO = "a configuration has one of the two"
OPENINGS_TRIED = 10  # to see whether the game has openings of that length
OF_OPENINGS = ("openings", "opening_plies")
OF_TWO = (*OF_OPENINGS, "resign", "draw")  # keys that need two players
COMMON_FORMS = CommonKeys.model_fields.keys() - {"openings"}


def known_keys() -> dict[str, FieldInfo]:
    """All keys of a configuration: the common ones and the formats'."""
    return dict(CommonKeys.model_fields) | {
        key: field for kind in formats().values() for key, field in kind.Keys.model_fields.items()
    }


OWN_GAMES = "has the games of its matches; for more, add matches, or let an agent join"


class Reader:
    """Reads one configuration; `problems` has a line for each fault.

    A key's meaning is checked once its form is right, so that one message lists all problems.
    """

    def __init__(self, values: Mapping[str, Any]):
        self.values = dict(values)
        self.problems: list[str] = []

    def read(self) -> Config | None:
        """The configuration; None if there are problems."""
        form: list[str] = []
        self._spell_out_agents()
        if self.import_plugins():
            instances = self._instances()
            kind, given = self._kind(instances), self.values.get("games")
            if kind and kind.counts_games:
                self.values.setdefault("games", 2)  # the least, which the format completes
            self._check_counts(kind)
            lines = self._openings(kind, instances)
            made = [(i, entry, self._agent(i, entry["agent"], instances)) for i, entry in self._entries()]
            names = self._names(made)
            self.problems += self._check_keys(kind, names)
            form = self._check_forms()
            if not form + self.problems:
                entrants = tuple(zip(names, (agent for _, _, agent in made if agent is not None)))
                resolved = self._resolved(kind, instances, entrants, lines)
                if not (kind and kind.counts_games) or given in (None, resolved["games"]):
                    return Config(tuple(instances), entrants, resolved)
                self._complain(("games",), given, f"the format {kind.name} {OWN_GAMES}")
        else:
            form = self._check_forms()
        self.problems = form + self.problems
        return None

    # -- Form -----------------------------------------------------------------------------------------------------

    def _check_forms(self) -> list[str]:
        known = known_keys()
        # the forms of `openings` are checked with the games
        common = {key: value for key, value in self.values.items() if key in COMMON_FORMS}
        unknown = [key for key in self.values if key not in known]
        return _form_problems(CommonKeys, common, known) + [
            complaint((key,), self.values[key], unknown_key(key, known)) for key in unknown
        ]

    def import_plugins(self) -> bool:
        """Import the plug-ins; whether that could be done, else `problems` say why not."""
        plugins, folder = self.values.get("plugins", []), self.values.get("plugin_path")
        look_in(folder if plugins and isinstance(folder, str) else None)
        for i, plugin in enumerate(_listed(plugins)):
            try:
                import_plugin(plugin)
            except (Exception, SystemExit) as error:  # any error of a user's module belongs in the message
                text = f"cannot be imported: {type(error).__name__}: {error}"
                if isinstance(error, ModuleNotFoundError) and error.name in (plugin, plugin.split("@")[0]):
                    where = folder if isinstance(folder, str) else os.getcwd()
                    text = f"is no module in {where}, nor one that is installed"
                self._complain(("plugins", i), plugin, text)
        return not self.problems

    def _complain(self, place, value, text):
        self.problems.append(complaint(place, value, text))

    # -- Games ----------------------------------------------------------------------------------------------------

    def _instances(self) -> list[Game]:
        game, specs = self.values.get("game"), self.values.get("instances")
        if specs and game is not None:
            self._complain(("instances",), specs, f"cannot be given together with game; {ONE_OF_TWO}")
        elif game is None and "instances" not in self.values:
            self.problems.append(f"game: is missing; {CommonKeys.model_fields['game'].description}")
        before = len(self.problems)
        if game is not None:
            made = [self._make(("game",), game, games)]
        else:
            made = [self._make(("instances", i), spec, games) for i, spec in self._specs(specs)]
        found = [one for one in made if one is not None]
        self._check_instances(found)
        return found if len(self.problems) == before and len(found) == len(made) else []

    def _specs(self, specs) -> Iterator[tuple[int, str]]:
        """(place in the list, spec); a range such as `seed=1..20` stands for twenty."""
        listed = [(i, spec) for i, spec in enumerate(_listed(specs)) if isinstance(spec, str)]
        if "instances" in self.values and isinstance(specs, list | tuple) and not specs:
            self._complain(("instances",), specs, "is empty; a tournament needs one at least")
        count = 0
        for i, spec in listed:
            every = self._spelled_out(("instances", i), spec)
            count += len(every)
            if count > MOST:
                self._complain(("instances",), specs, f"there are more than {MOST:,} of them")
                return
            yield from ((i, each) for each in every)

    def _check_instances(self, made):
        """All must be for as many players, and there once."""
        specs = self.values.get("instances")
        for game in made:
            if game.players != made[0].players:
                kinds = {1: "one player", 2: "two players"}
                text = f"{made[0]} is for {kinds[made[0].players]} and {game} for {kinds[game.players]}"
                self._complain(("instances",), specs, f"{text}; a run has games of one kind")
                break
        (name, times), *_ = Counter(map(str, made)).most_common(1) or [("", 0)]
        if times > 1:
            self._complain(("instances",), specs, f"{name} is there twice")

    def _make(self, place, spec, package):
        if not isinstance(spec, str):
            return None  # a fault of form
        try:
            return package.make(spec)
        except (SpecError, BrokenRules) as error:
            self._complain(place, spec, error)
            return None

    # -- The format -----------------------------------------------------------------------------------------------

    def _kind(self, instances) -> type[Format] | None:
        players = instances[0].players if instances else 2
        name = self.values.get("format")
        if name is None:
            name = "round_robin" if players == 2 else "single_player"
        if not isinstance(name, str):
            return None
        kind = formats().get(name)
        if kind is None:
            for_two = [name for name, kind in formats().items() if kind.players == 2]
            self._complain(("format",), name, f"is no format; there are {', '.join(for_two)}")
        elif instances and kind.players != players:
            here = "is for two players; here each agent plays by itself"
            text = here if players == 1 else f"is for one player, and {instances[0]} is for two"
            self._complain(("format",), name, text)
            return None
        return kind

    def _check_counts(self, kind):
        """Two players need two agents, and as many games with each side."""
        entries, number = self.values.get("agents"), self.values.get("games")
        least = kind.players if kind else 2
        if isinstance(entries, list | tuple) and len(entries) < least:
            wanted = "at least one table [[agents]]" if least == 1 else "at least two tables [[agents]]"
            self._complain(("agents",), entries, f"has {len(entries)} of them; agents is a list of {wanted}")
        if type(number) is int and number > 0 and number % 2 and least == 2:
            text = "is odd, but games come in pairs that share an opening with sides swapped"
            self._complain(("games",), number, f"{text}; {CommonKeys.model_fields['games'].description}")
        if "budgets" in self.values:
            self._check_budgets(self.values["budgets"])

    def _check_budgets(self, tables):
        if self.values.get("budget") is not None:
            self._complain(("budgets",), tables, f"cannot be given together with budget; {ONE_OF_TWO}")
        elif isinstance(tables, list | tuple) and any(table in tables[:i] for i, table in enumerate(tables)):
            self._complain(("budgets",), tables, "has the same budget twice")

    def _check_keys(self, kind, names) -> list[str]:
        if kind is None:
            return []
        own = {key: value for key, value in self.values.items() if key in kind.Keys.model_fields}
        found = [
            complaint((key,), value, _belongs(key, kind))
            for key, value in self.values.items()
            if value and key not in own and key in known_keys() and key not in CommonKeys.model_fields
        ]
        found += [
            complaint((key,), self.values[key], _belongs(key, kind))
            for key in OF_TWO
            if kind.players == 1 and self.values.get(key)
        ]
        if kind.players == 1 and any(isinstance(each, dict) and each.get("clock") for each in self._budget_tables()):
            found.append("clock: is for two players; here each agent plays by itself: give playouts, or seconds")
        form = _form_problems(kind.Keys, own, kind.Keys.model_fields)
        known = kind.Keys.model_fields
        right = {key: own[key] for key in own if not form or not _form_problems(kind.Keys, {key: own[key]}, known)}
        return found + form + [complaint(*each) for each in kind.complaints(right, names)]

    # -- Openings -------------------------------------------------------------------------------------------------

    def _openings(self, kind, instances) -> list[str] | None:
        """None if random; without a number of games, each is played once with each side."""
        if "openings" not in self.values:
            for game in instances if kind and kind.players == 2 else ():
                self._try_random_openings(game)
            return None
        value = self.values["openings"]
        if self.values.get("opening_plies") is not None:
            text = f"cannot be given together with opening_plies; {ONE_OF_TWO}"
            self._complain(("openings",), value, text)
        elif kind and kind.players == 2 and instances:
            every = [self._lines(value, game) for game in instances]
            if any(lines != every[0] for lines in every):
                text = "are not the same for all instances; give lines that are legal in each, or opening_plies"
                self._complain(("openings",), value, text)
            if every[0]:
                self.values.setdefault("games", 2 * len(every[0]))
            return every[0]
        return None

    def _lines(self, value, game) -> list[str]:
        try:
            with limited(game):
                return lines_of(value, game)
        except BadOpenings as error:
            for problem in error.problems:
                self._complain(("openings",), value, problem)
        except Exception as error:  # a fault of a user's rules
            self._complain(("openings",), value, f"the game's rules fail in them: {type(error).__name__}: {error}")
        return []

    def _try_random_openings(self, game):
        plies, seed = self.values.get("opening_plies", 2), self.values.get("seed", 0)
        if type(plies) is not int or type(seed) is not int:
            return
        try:
            with limited(game):
                for k in range(OPENINGS_TRIED):
                    random_opening(game, seed, k, plies)
                look_at(game)
        except Exception as error:  # a fault of a user's rules, or openings that end the game
            self._complain(*self._opening_fault(game, plies, error))

    def _opening_fault(self, game, plies: int, error: Exception) -> tuple:
        """The place, value and words of what is wrong: with the rules, if a look at them tells."""
        try:
            with limited(game):
                look_at(game)
        except BrokenRules as fault:
            return ("game",), str(game), fault
        except Overdue:
            pass
        if isinstance(error, OpeningError):
            return ("opening_plies",), plies, error
        return ("game",), str(game), f"its rules fail in the opening: {type(error).__name__}: {error}"

    # -- Agents ---------------------------------------------------------------------------------------------------

    def _spell_out_agents(self) -> None:
        """A spec such as tree(workers=1..8) stands for several agents."""
        found: list = []
        for i, entry in enumerate(_listed(self.values.get("agents"))):
            spec = entry.get("agent") if isinstance(entry, dict) else None
            every = self._spelled_out(("agents", i, "agent"), spec) if isinstance(spec, str) else [spec]
            if every == [spec]:
                found.append(entry)
            elif "name" in entry and every:
                self._complain(("agents", i, "name"), entry["name"], "is one name for the several agents of a range")
            found += [entry | {"agent": each} for each in every if each != spec]
        if len(found) > MOST:
            self._complain(("agents",), len(found), f"there are more than {MOST:,} of them")
        elif found:
            self.values["agents"] = found

    def _spelled_out(self, place, spec: str) -> list[str]:
        try:
            return spelled_out(spec, MOST)
        except RangeError as error:
            self._complain(place, spec, str(error))
            return []

    def _entries(self) -> list[tuple[int, dict]]:
        return [
            (i, entry)
            for i, entry in enumerate(_listed(self.values.get("agents")))
            if isinstance(entry, dict) and isinstance(entry.get("agent"), str)
        ]

    def _agent(self, i, spec, instances) -> Agent | None:
        place = ("agents", i, "agent")
        agent = self._make(place, spec, agents)
        if agent is None:
            return None
        if reason := next(filter(None, map(agent.refuses, instances)), None):
            self._complain(place, spec, reason)
        try:
            for budget in self._budgets():
                agent.budget(Budget.of(budget))
        except Unsuited as error:
            self._complain(place, spec, f"{error}, or give the key budget")
        except ValidationError:
            pass  # a fault of the budget's form
        return agent

    def _budgets(self) -> list[dict]:
        """ValidationError if one has a wrong form."""
        tables = self._budget_tables()
        return [BudgetTable.model_validate(table).model_dump(exclude_none=True) for table in tables]

    def _budget_tables(self) -> list | tuple:
        return _listed(self.values.get("budgets") or [self.values.get("budget") or {}])

    def _names(self, made) -> list[str]:
        """Complains unless they differ."""
        names: dict[str, int] = {}
        for i, entry, agent in made:
            name = entry.get("name")
            if name is None:
                name = None if agent is None else spell(agent, every=False, typed=entry["agent"])
            if not isinstance(name, str):
                continue
            place = ("agents", i, "agent" if entry.get("name") is None else "name")
            if entry.get("name") is None and (fault := name_fault(name)):
                self._complain(place, name, f"its own text {fault}; give it a name of 1 to {MAX_NAME} characters")
            name = composed(name)
            if name in names:
                self._complain(place, name, f"agents[{names[name]}] has the same name; give each a name of its own")
            names.setdefault(name, i)
        return list(names)

    # -- The result -----------------------------------------------------------------------------------------------

    def _resolved(self, kind, instances, entrants, lines) -> dict[str, Any]:
        common = CommonKeys.model_validate({key: self.values[key] for key in self.values if key in COMMON_FORMS})
        plain = common.model_dump()
        own = {key: value for key, value in self.values.items() if key in kind.Keys.model_fields}
        of_openings: dict = {}
        if kind.players == 2:
            of_openings = {"opening_plies": common.opening_plies} if lines is None else {"openings": lines}
        return {
            "instances": [str(game) for game in instances],
            "games": common.games,
            "format": kind.name,
            **kind.completed(kind.Keys.model_validate(own).model_dump(), [name for name, _ in entrants]),
            **of_openings,
            "seed": common.seed,
            "budgets": self._budgets(),
            **{key: plain[key] for key in ("resign", "draw")},
            "agents": [{"name": name, "agent": str(agent)} for name, agent in entrants],
            **{key: plain[key] for key in ("game_seconds", "time_margin", "move_seconds", "compile_seconds")},
            **{key: plain[key] for key in ("memory", "disk", "hosts")},
            "plugins": list(map(fixed, common.plugins)),
            "plugin_path": common.plugin_path and str(Path(common.plugin_path).resolve()),
        }


def _listed(value) -> list | tuple:
    return value if isinstance(value, list | tuple) else []


def _belongs(key, kind) -> str:
    if kind.players == 1:
        return "is for two players; here each agent plays by itself"
    homes = [name for name, other in formats().items() if key in other.Keys.model_fields]
    return f"is for the format {' or '.join(homes)}, and this is {kind.name}"


def _form_problems(table: type[ConfigTable], values, known) -> list[str]:
    try:
        table.model_validate(values)
        return []
    except ValidationError as error:
        return [in_words(fault, known) for fault in error.errors()]
