"""The tables of a configuration: the form of keys.  `arena.config.reader` checks their meaning."""

import typing
import unicodedata
from typing import Annotated

from pydantic import Field, field_validator
from pydantic.fields import FieldInfo

from arena.agents.core.clock import FORM, Clock
from arena.config.openings import FORMS
from arena.config.sizes import in_bytes
from arena.formats.base import ConfigTable

MAX_NAME = 80  # characters of an agent's name
MAX_COUNT = 10**12  # of games, playouts, nodes: far below 64-bit integers
LEAST_MEMORY = 1 << 30  # bytes of addresses, mostly for libraries
LEAST_DISK = 1 << 20  # bytes


def _count(kind):
    return Field(None, gt=0, le=MAX_COUNT, description=f"{kind} is a whole number from 1 to {MAX_COUNT}")


HOSTS = 32  # processes of users' agents in each worker


class BudgetTable(ConfigTable):
    """The budget of agents that set none, for one move; an agent uses the kinds that it knows."""

    playouts: int | None = _count("playouts")
    nodes: int | None = _count("nodes")
    depth: int | None = _count("depth")
    seconds: float | None = Field(None, gt=0, description="seconds is a number greater than 0")
    clock: str | None = Field(None, description=FORM)

    @field_validator("playouts", "nodes", "depth", mode="before")
    @classmethod
    def _whole(cls, value):
        """Take 1e6 for a count, too."""
        return int(value) if type(value) is float and value.is_integer() else value

    @field_validator("clock")
    @classmethod
    def _check_clock(cls, clock, info):
        """The clock in its canonical form."""
        if clock is not None and info.data.get("seconds") is not None:
            raise ValueError("cannot be given together with seconds; a budget has one of the two")
        return None if clock is None else str(Clock.read(clock))


MOVES = "moves is a whole number from 1 to 1000"


class ResignTable(ConfigTable):
    """When a game counts as lost, by the loser's values."""

    value: float = Field(gt=0, le=1, description="value is a number above 0, up to 1, such as 0.95")
    moves: int = Field(ge=1, le=1000, description=MOVES)
    both: bool = Field(False, description="both is true if the opponent's values must agree, and else false")


class DrawTable(ConfigTable):
    """When a game counts as drawn, by both players' values."""

    value: float = Field(ge=0, lt=1, description="value is a number from 0, below 1, such as 0.02")
    moves: int = Field(ge=1, le=1000, description=MOVES)
    after: int = Field(0, ge=0, le=MAX_COUNT, description="after, in plies, is a whole number from 0")


class AgentEntry(ConfigTable):
    """An agent: its spec, and its name in the tables if that is not the spec."""

    agent: str = Field(description='agent is text such as "uct(exploration=0.4)"')
    name: str | None = Field(None, description=f"name is text of 1 to {MAX_NAME} printable characters")

    @field_validator("name")
    @classmethod
    def _check_name(cls, name):
        if name is not None and (fault := name_fault(name)):
            raise ValueError(fault)
        return name


# a tuple accepts TOML's lists only if not strict; its items stay strict
Texts = Annotated[tuple[str, ...], Field(strict=False)]


class CommonKeys(ConfigTable):
    """The keys of every tournament; a format adds its own (`arena.formats`)."""

    game: str | None = Field(None, description='game is text such as "breakthrough(rows=6, columns=6)"')
    instances: Texts = Field(
        (), description='instances is a list of games such as ["samegame(seed=1..20)", "leftmove"]'
    )
    games: int = Field(
        ge=1, le=MAX_COUNT, description=f"games, for each pair of agents, is an even number from 2 to {MAX_COUNT}"
    )
    format: str | None = Field(None, description="format is the name of a format, such as round_robin")
    openings: Texts = Field((), description=FORMS)
    opening_plies: int = Field(2, ge=0, le=10_000, description="opening_plies is a whole number from 0 to 10000")
    seed: int = Field(0, ge=0, lt=2**63, description="seed is a whole number from 0 to 2**63 - 1")
    budget: BudgetTable | None = Field(None, description="budget is a table such as { playouts = 1000 }")
    budgets: Annotated[tuple[BudgetTable, ...], Field(strict=False)] = Field(
        (), description="budgets is a list of tables such as [{ playouts = 1000 }, { playouts = 10000 }]"
    )
    resign: ResignTable | None = Field(None, description="resign is a table such as { value = 0.95, moves = 3 }")
    draw: DrawTable | None = Field(None, description="draw is a table such as { value = 0.02, moves = 8, after = 40 }")
    agents: Annotated[tuple[AgentEntry, ...], Field(strict=False)] = Field(
        description='agents is a list of at least two agents, such as "random", or tables [[agents]]'
    )
    game_seconds: float = Field(
        3600.0, gt=0, description="game_seconds, after which a game counts as a hang, is a number greater than 0"
    )
    time_margin: float = Field(
        1.0, ge=0, description="time_margin, the seconds by which a move may exceed its budget, is a number from 0"
    )
    move_seconds: float = Field(
        600.0, gt=0, description="move_seconds, that a move without a budget of seconds may take, is more than 0"
    )
    compile_seconds: float = Field(
        300.0, gt=0, description="compile_seconds, that the compilation of a kernel may take, is more than 0"
    )
    memory: str | None = Field(
        None,
        description='memory, that each worker may address, is text such as "4GB", from 1GB on; no limit by default',
    )
    disk: str | None = Field(
        None,
        description='disk, that the files of a run may take, is text such as "10GB", from 1MB on; no limit by default',
    )
    hosts: int = Field(
        HOSTS, ge=0, le=1000, description="hosts, the processes of users' agents in each worker, is 0 to 1000"
    )
    plugins: Texts = Field(
        (), description='plugins is a list of names of modules, or files, such as ["my_games", "mine@HEAD~1 as old"]'
    )
    plugin_path: str | None = Field(
        None, description="plugin_path is a folder to look for plugins in; the configuration file's, when left out"
    )

    @field_validator("memory", "disk")
    @classmethod
    def _check_size(cls, size, info):
        least, what = (LEAST_MEMORY, "worker") if info.field_name == "memory" else (LEAST_DISK, "run")
        if size is not None and (in_bytes(size) or 0) < least:
            raise ValueError(f"is too little for a {what}")
        return size


def composed(name: str) -> str:
    """A name in the one form that it is stored in, however its letters and their accents were written (NFC)."""
    return unicodedata.normalize("NFC", name)


def name_fault(name: str) -> str | None:
    """What is wrong with an agent's name, or None."""
    if not name.strip():
        return "is empty"
    if not name.isprintable():
        return "has characters that cannot be printed"
    return f"has {len(name)} characters" if len(name) > MAX_NAME else None


def table_of(field: FieldInfo) -> type[ConfigTable] | None:
    """The class of the tables that a key holds, alone or in a list; None if it holds none."""
    waiting = [field.annotation]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, ConfigTable):
            return kind
        waiting += typing.get_args(kind)
    return None
