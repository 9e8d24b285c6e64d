"""`arena list`: all games, agents or learners, or the parameters of some."""

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import MISSING, asdict
from typing import Annotated, Any

import typer

from arena.commands.application import Panel, command, complain, group
from arena.commands.completion import complete_agent, complete_game, complete_learner
from arena.commands.output import LONGEST_LINE, answered, print_fitted, say, tell, wants_json

SOURCE = re.compile(r" \((?:[^()]|\([^()]*\))*\d{4}(?:[^()]|\([^()]*\))*\)")  # in brackets, with its year
BRIEF = {"budgets": 17}  # columns of cells, which take several lines beyond it

listing = group("list", Panel.MACHINE, "List the games, agents or learners, or parameters.")


def _named(of: str, completion):
    help_text = f"{of} whose parameters to list. Default: list all {of.lower()}."
    return typer.Argument(metavar="NAME", help=help_text, autocompletion=completion)


@command(group=listing, examples="arena list games\narena list games connect4\narena list games --json", as_json=True)
def games_(names: Annotated[list[str] | None, _named("Games", complete_game)] = None) -> None:
    """List all games, or the parameters of some with default, range and meaning."""
    from arena.games.core.game import registry
    from arena.games.core.shared.describe import sizes

    def facts(cls):
        rules = cls.rules if isinstance(cls.rules, str) else ""  # those of a property depend on parameters
        known = {"rules": rules, "players": cls.players, "chance": cls.has_chance}
        known |= {"sizes": sizes(cls), "status": cls.status}
        return known | {"evaluations": cls.evaluations(), "terms": list(cls.term_weights)}

    _list(registry, names, facts, ("name", "players", "about"))


@command(
    group=listing, examples="arena list agents\narena list agents uct tree\narena list agents --json", as_json=True
)
def agents_(names: Annotated[list[str] | None, _named("Agents", complete_agent)] = None) -> None:
    """List all agents, or the parameters of some with default, range and meaning."""
    from arena.agents.core.agent import registry

    def facts(cls):
        return {"players": list(cls.needs.players), "budgets": list(cls.budgets)}

    _list(registry, names, facts, ("name", "players", "budgets", "about"))


@command(
    group=listing,
    examples="arena list learners\narena list learners td visits\narena list learners --json",
    as_json=True,
)
def learners_(names: Annotated[list[str] | None, _named("Learners", complete_learner)] = None) -> None:
    """List all learners of `arena learn`, or the parameters of some with default, range and meaning."""
    from arena.agents.learning.learner import registry

    def facts(cls):
        return {"learns": "a policy" if cls.policy else "an evaluation"}

    _list(registry, names, facts, ("name", "learns", "about"))


def _list(registry, names: list[str] | None, facts: Callable[[Any], dict], columns: tuple) -> None:
    """Print the named entries, or a list of all with these columns."""
    if names:
        _print_named(registry, names, facts)
        return
    rows = [_class_row(cls) | facts(cls) for cls in registry.classes().values()]
    if not wants_json():
        rows = [row | {"about": SOURCE.sub("", row["about"])} for row in rows]
    _print_list(rows, columns)
    for text in registry.broken:  # installed plug-ins that failed to load
        complain(f"plug-in {text}")
    if not wants_json():
        tell(f"\nFor parameters: arena list {registry.kind}s NAME")


def _found(registry, name: str):
    """The class of that name; SpecError lists the known names."""
    from arena.games.core.shared.registry import SpecError, parse_spec

    word = parse_spec(name)[0]
    cls = registry.named(word)
    if cls is None:
        raise SpecError(registry.unknown(word))
    return cls


def _class_row(cls) -> dict:
    from arena.games.core.shared.describe import about
    from arena.games.core.shared.parameters import parameters_of
    from arena.games.core.shared.registry import signature

    listed = [field for field in parameters_of(cls) if field.metadata.get("listed", True)]
    parameters = {field.name: None if field.default is MISSING else field.default for field in listed}
    return {"name": cls.name, "signature": signature(cls), "parameters": parameters, "about": about(cls)}


def _print_named(registry, names: list[str], facts: Callable[[Any], dict]) -> None:
    """Print classes with their parameters; as JSON, one as an object, several as a list."""
    classes = [_found(registry, name) for name in names]
    described = [_described(cls, facts(cls)) for cls in classes]
    if answered(described[0] if len(described) == 1 else described):
        return
    for number, (cls, one) in enumerate(zip(classes, described)):
        if number:
            say("")
        _print_one(cls, one, facts(cls))


def _described(cls, facts: dict) -> dict:
    from arena.games.core.shared.describe import about, parameters

    # parameters whose text names entries of a registry: the methods of uct
    catalogue = {name: list(listed.classes().values()) for name, listed in getattr(cls, "catalogue", {}).items()}
    known = {"name": cls.name, "about": about(cls)} | facts | {"parameters": [asdict(one) for one in parameters(cls)]}
    return known | {name: list(map(_method_row, classes)) for name, classes in catalogue.items()}


def _print_one(cls, one: dict, facts: dict) -> None:
    """Print a class: what it is, facts, and a line for each parameter."""
    say(f"{one['name']}: {one['about']}\n")
    for what, value in facts.items():
        if what == "terms" and value:  # as they are typed
            usual = ", ".join(f"{term}={weight:g}" for term, weight in cls.term_weights.items())
            say(f'terms: {usual}; other weights as in evaluation="{value[0]}=2, {value[-1]}=1"')
        elif value not in ("", None, [], ()):
            say(f"{what}: {_said(value)}")
    if found := one["parameters"]:
        _print_columns(
            ("parameter", "default", "range", "meaning"), map(_parameter_cells, found), "default", "range", "meaning"
        )
    for name in getattr(cls, "catalogue", {}):
        say(f"\n{name}:")
        _print_catalogue(one[name])


def _parameter_cells(one: dict) -> tuple[str, ...]:
    """Name, default, range and meaning of a parameter."""
    return one["name"], typed(one["default"]), one["range"] or _kind(one["type"]), one["meaning"]


def _print_columns(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]], *flowing: str) -> None:
    """Print rows of text; the flowing columns are broken between words to fit the terminal."""
    from arena.results.shown.fitting import Fitted, Shown

    columns = zip(headings, zip(*rows))
    print_fitted(Fitted([Shown(heading, cells, flows=heading in flowing) for heading, cells in columns]))


def _method_row(cls) -> dict:
    from arena.games.core.shared.describe import about, parameters

    return {
        "name": cls.name,
        "part": cls.part,
        "about": about(cls),
        "on_threads": cls.unshared or ("without a lock" if cls.lockless else "one lock for all but the playout"),
        "parameters": [asdict(one) for one in parameters(cls)],
    }


def _print_catalogue(rows: list[dict]) -> None:
    """Print methods, each with a line for itself and one for each parameter."""
    lines: list[tuple[str, ...]] = []
    for row in rows:
        lines.append(
            (row["name"], row["part"], "", "", "", f"{row['about']} Threads on one tree: {row['on_threads']}.")
        )
        lines += [("", "", *_parameter_cells(one)) for one in row["parameters"]]
    _print_columns(("method", "part", "parameter", "default", "range", "meaning"), lines, "range", "meaning")


def _said(value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def typed(default) -> str:
    """A default as it is typed in a spec."""
    if isinstance(default, tuple):
        return f"[{', '.join(map(typed, default))}]"
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else repr(default)


def _kind(type: str) -> str:
    """The type of a parameter, in words."""
    return " or ".join(
        {"str": "text", "float": "a number", "int": "a whole number"}.get(one, one) for one in type.split(" or ")
    )


def _print_list(rows: list[dict], columns: tuple[str, ...]) -> None:
    """Print the rows as JSON, or these columns of them as a table."""
    if answered(rows):
        return
    cells = [tuple(textwrap.fill(_said(row[name]), BRIEF.get(name, LONGEST_LINE)) for name in columns) for row in rows]
    _print_columns(columns, cells, "about")
