"""README and pages are true: names, parameters, defaults, keys, commands, links, configurations and Python."""

import ast
import contextlib
import importlib
import io
import re
import runpy
import shlex
import tomllib
import types
import typing
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel

from arena import agents, games
from arena.agents.core.agent import Budget
from arena.agents.core.agent import registry as agent_registry
from arena.cli import app
from arena.config.keys import table_of as table_of_key
from arena.config.loading import from_values
from arena.config.reader import known_keys
from arena.games.core.game import registry as game_registry
from arena.games.core.shared.registry import parameters_of
from arena.study.samplers import has
from arena.study.schemes import read_file
from arena.study.tuning_run import from_keys
from tests.shipped import AGENTS, GAMES

ROOT = Path(__file__).parents[1]


def reference() -> str:
    """The page of the commands, which is made for the site."""
    with contextlib.redirect_stdout(io.StringIO()) as page:
        runpy.run_path(str(ROOT / "docs/commands.py"), run_name="__main__")
    return page.getvalue()


PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *sorted(ROOT.glob("docs/**/*.md")),
    )
} | {"docs/commands.md": reference()}
README, GUIDE, ARCHITECTURE, CALLS = (
    PAGES[page] for page in ("README.md", "docs/guide.md", "docs/architecture.md", "docs/api.md")
)
COMMANDS = typer.main.get_command(app)
NEEDS = {"arena.interop.openspiel": "pyspiel"}  # what plug-ins import that may not be installed
LIBRARIES = {"to_pettingzoo": "pettingzoo", "to_gymnasium": "gymnasium", "openspiel": "pyspiel"}  # by calls
OF_THE_READER = ("bandit",)  # modules that a page has its reader write
SCALARS = {int: "integer", float: "number", str: "text"}


# -- Reading Markdown ------------------------------------------------------------------------------------------------


def blocks(text, language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def prose(text):
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def sections(text):
    """Heading -> the text up to the next heading, of whatever level."""
    parts = re.split(r"^#+ (.*)$", prose(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def tables(text):
    """The tables, each a list of rows, each a dict of cells by column."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split(" |")] for line in table.splitlines()]
        found.append([dict(zip((cell.strip() for cell in head), row, strict=True)) for row in rows])
    return found


def table_of(text, column):
    """The rows of all tables whose first column is this one."""
    return [row for table in tables(text) for row in table if next(iter(row)) == column]


def quoted(cell):
    """What stands in backticks."""
    return re.findall(r"`([^`]*)`", cell)


def anchors(text):
    """What links can name on a page: its headings, as code hosts spell them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# -- Games, agents and keys ------------------------------------------------------------------------------------------


def test_every_game_has_a_row():
    assert sorted(name for row in table_of(PAGES["docs/games.md"], "game") for name in quoted(row["game"])) == GAMES


def test_the_status_of_a_game_is_what_it_says():
    for row in table_of(PAGES["docs/games.md"], "game"):
        for name in quoted(row["game"]):
            known = re.match("[a-z]+", game_registry.classes()[name].status)
            assert known and row["status"].startswith(known[0]), name


def test_every_agent_has_a_row():
    assert sorted(name for row in table_of(PAGES["docs/agents.md"], "agent") for name in quoted(row["agent"])) == AGENTS


@pytest.mark.parametrize("kind, names", [("games", GAMES), ("agents", AGENTS)])
def test_the_readme_names_and_counts_them(kind, names):
    cells = [row[kind] for row in table_of(README, "family") if kind in row]
    assert sorted(name for cell in cells for name in quoted(cell)) == names
    assert re.search(rf"\b{len(names)} (search )?{kind}\b", README)


@pytest.mark.parametrize("row", table_of(PAGES["docs/games.md"], "game"), ids=lambda row: row["game"])
def test_parameters_of_games(row):
    (name,), parameters = quoted(row["game"]), "".join(quoted(row["parameters"]))
    game = games.make(name)
    assert games.make(f"{name}({parameters})") == game
    named = [keyword.arg for keyword in ast.parse(f"f({parameters})", mode="eval").body.keywords]
    assert named == [field.name for field in parameters_of(type(game)) if field.name != "evaluation"]


@pytest.mark.parametrize("section", [s for s in sections(PAGES["docs/agents.md"]).values() if table_of(s, "agent")])
def test_parameters_of_agents(section):
    for row in table_of(section, "agent"):
        (name,) = quoted(row["agent"])
        cls = agent_registry.classes()[name]
        assert row["budget"] == (", ".join(cls.budgets) or "none")
        described = {}
        for parameter in table_of(section, "parameter"):
            if parameter["of"] == "all" or name in quoted(parameter["of"]):
                described |= dict.fromkeys(quoted(parameter["parameter"]), parameter["default"])
        kinds = Budget.__dataclass_fields__
        assert sorted(described) == sorted(f.name for f in parameters_of(cls) if f.name not in kinds), name
        for parameter, default in described.items():
            value = "None" if default == "none" else quoted(default)[0]
            assert agents.make(f"{name}({parameter}={value})") == agents.make(name), f"{name}: {parameter}"


def plain(default):
    """A field's default as TOML would give it; None where it has none."""
    if isinstance(default, BaseModel):
        return default.model_dump(exclude_none=True)
    return list(default) if isinstance(default, tuple) else default


@pytest.mark.parametrize("heading", ["Keys", "budget", "resign", "draw", "agents", "sprt"])
def test_keys_of_configurations(heading):
    fields = known_keys() if heading == "Keys" else table_of_key(known_keys()[heading]).model_fields
    rows = {quoted(row["key"])[0]: row for row in table_of(sections(PAGES["docs/configuration.md"])[heading], "key")}
    assert sorted(rows) == sorted(fields)
    for key, field in fields.items():
        union = isinstance(field.annotation, types.UnionType)
        kinds = {*typing.get_args(field.annotation)} - {type(None)} if union else {field.annotation}
        if kinds <= SCALARS.keys():
            assert rows[key]["type"] == " or ".join(SCALARS[kind] for kind in kinds), key
        if value := quoted(rows[key]["default"]):
            assert tomllib.loads(f"x = {value[0]}")["x"] == plain(field.default), key
        else:  # a description, of what follows from other keys
            assert field.is_required() or not plain(field.default) or isinstance(field.default, BaseModel), key


# -- Links, commands, configurations, Python -------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(PAGES[page])):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        made = path == ROOT / "docs/commands.md" and page.startswith("docs/")  # README is read without the site
        assert made or path.is_file(), f"{page}: {target}"
        assert not anchor or anchor in anchors(PAGES["docs/commands.md"] if made else path.read_text()), (
            f"{page}: {target}"
        )


def typed_commands():
    """(page, words) of every `arena ...` of a block of shell commands, or after a prompt."""
    for page, text in PAGES.items():
        lines = "\n".join(blocks(text, "sh")).replace("\\\n", "").splitlines()
        lines += re.findall(r"^\$ (.*)$", text, re.MULTILINE)
        for line in lines:
            for command in re.split(r" && ", line):
                words = shlex.split(command, comments=True)
                if words and Path(words[0]).name == "arena":
                    yield page, words[1:]


def mentioned_commands():
    """(page, words) of every `arena ...` in a sentence, which may leave out what it does not speak of."""
    for page, text in PAGES.items():
        for mention in re.findall(r"`arena ([^`]*)`", prose(text)):
            yield page, shlex.split(mention)


def command_of(words):
    """The command that words begin with, and the rest."""
    command = COMMANDS
    while (known := getattr(command, "commands", None)) and words:
        assert words[0] in known, f"arena has no command {words[0]!r}"
        command, words = known[words[0]], words[1:]
    return command, words


def test_typed_commands_parse():
    """As the command line reads them: options, choices, numbers, and what is required."""
    seen, missing = set(), {name for name in NEEDS.values() if not find_spec(name)}
    for page, words in typed_commands():
        command, arguments = command_of(words)
        place = [*arguments, "--plugin"].index("--plugin") + 1  # it is imported where it is read
        if place < len(arguments) and (arguments[place] in OF_THE_READER or NEEDS.get(arguments[place]) in missing):
            arguments = arguments[: place - 1] + arguments[place + 1 :]
        try:
            command.make_context(command.name, list(arguments)).close()
        except Exception as error:
            pytest.fail(f"{page}: arena {shlex.join(words)}: {error}")
        seen.add(words[0])
    assert seen == set(COMMANDS.commands), "each command has an example"


def test_mentioned_commands_exist():
    mentions = [(page, words) for page, words in mentioned_commands() if not words[0].isupper()]
    assert mentions
    for page, words in mentions:
        command, arguments = (COMMANDS, words) if words[0].startswith("-") else command_of(words)
        options = {
            "--help",
            "-h",
            "--install-completion",
            "--show-completion",
            *(option for parameter in command.params for option in parameter.opts),
        }
        assert {word for word in arguments if word.startswith("-")} <= options, f"{page}: arena {' '.join(words)}"


TOML = [block for page in PAGES if "tutorials" not in page for block in blocks(PAGES[page], "toml")]
TUNINGS = [block for block in TOML if "[parameters]" in block]
CONFIGURATIONS = [block for block in TOML if "schemes = [" not in block and block not in TUNINGS]


@pytest.mark.parametrize(
    "block", [block for block in CONFIGURATIONS if ".eval'" not in block]
)  # which is learned first
def test_configurations_are_accepted(block):
    assert from_values(tomllib.loads(block), "README").resolved()["agents"]


@pytest.mark.parametrize("block", [block for block in TOML if "schemes = [" in block])
def test_studies_of_schemes_are_accepted(block, tmp_path):
    (tmp_path / "schemes.toml").write_text(block)
    read_file(tmp_path / "schemes.toml").check()


@pytest.mark.parametrize("block", TUNINGS)
def test_tunings_are_accepted(block):
    values = tomllib.loads(block)
    from_keys(values | ({} if has("optuna") else {"sampler": "sobol"})).check()


@pytest.mark.parametrize("page", PAGES)
def test_python_compiles(page):
    for block in blocks(PAGES[page], "python"):
        compile(block, page, "exec")


def test_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tournament.toml").write_text(
        blocks(README, "toml")[0].replace("games = 200", "games = 2").replace("rows=6, columns=6", "rows=5, columns=4")
    )
    space = {"__name__": "__main__"}
    usage = blocks(GUIDE, "python")
    exec(usage[0] + usage[1], space)
    assert "2a3a" in capsys.readouterr().out
    assert len(space["t"].games) == 6


def run_calls(code, space):
    """Run a block of the page of calls; a comment is what the expression before it gives."""
    for node in ast.parse(code).body:
        said = re.search(r"  # (.*)$", code.splitlines()[node.end_lineno - 1])
        if isinstance(node, ast.Expr):
            value = eval(ast.unparse(node), space)
            assert not said or repr(value) == said[1], ast.unparse(node)
        else:
            assert not said, "a comment says what an expression gives"
            exec(ast.unparse(node), space)


def other_library(code):
    """What a block of the page of calls imports that may not be installed, or None."""
    return next((name for call, name in LIBRARIES.items() if call in code), None)


def test_calls_run(tmp_path, monkeypatch):
    """All blocks in turn."""
    monkeypatch.chdir(tmp_path)
    space = {}
    for code in blocks(CALLS, "python"):
        if not other_library(code):
            run_calls(code, space)


@pytest.mark.parametrize("library", LIBRARIES.values())
def test_calls_of_other_libraries_run(library):
    pytest.importorskip(library, reason=f"{library} is not installed: it comes with the extra interop")
    first, *rest = blocks(CALLS, "python")
    (code,) = [code for code in rest if other_library(code) == library]
    space = {}
    run_calls(first, space)
    run_calls(code, space)


def test_every_function_has_an_example():
    functions = re.findall(r"^::: \S+\.([a-z]\w*)$", CALLS, re.MULTILINE)
    assert len(functions) > 25
    code = "".join(blocks(CALLS, "python"))
    assert [name for name in functions if not re.search(rf"\b{name}\(", code)] == []


@pytest.mark.slow
def test_the_example_of_a_game_is_one(tmp_path, monkeypatch):
    """It keeps what the interface promises, and the player to move wins unless the total leaves 4, 8, 12, ... to go."""
    (tmp_path / "race_of_the_page.py").write_text(blocks(ARCHITECTURE, "python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("race_of_the_page")
    games.check(games.make("race"), seed=1)
    game = games.make("race(target=9)")
    assert agents.make("negamax(depth=9)").choose(game, game.initial(), seed=1).move == 1


def test_versions_to_cite_are_the_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"version = {{{version}}}" in (ROOT / "README.md").read_text()
