"""Any value for any key of any configuration: it is taken, or refused in a line; it neither hangs nor is a traceback.

The keys are those that the code knows, so a new one is tried as well.  The short form tries some hundreds of values;
`pytest -m slow` as many as ARENA_FUZZ says.  What is taken goes as far as a command does before the first game.
"""

import datetime
from dataclasses import fields
from itertools import islice
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.config.keys import table_of
from arena.config.loading import from_text, values_in
from arena.config.reader import known_keys
from arena.formats.base import formats
from arena.formats.schedule import Schedule, described
from arena.formats.sequential import SprtTable
from arena.games.core.shared.errors import UserError
from arena.study import schemes, tuning_run
from arena.study.proof_study import ProofStudy
from arena.study.samplers import SAMPLERS, Gains
from arena.study.schemes import SchemesStudy
from arena.study.solving import SolvingStudy
from arena.study.space import KEYS
from arena.study.tuning import Tuning
from tests.faults.test_fuzz import WORDS, Fuzz, share

LONGEST = 800  # characters of a line
REFUSALS = (UserError, typer.BadParameter)
HERE = Path("here.toml")


def deep(kind, depth=2000):
    """Lists in lists, or tables in tables."""
    made = kind()
    for _ in range(depth):
        made = [made] if kind is list else {"low": made}
    return made


TEXTS = st.sampled_from(
    [
        *WORDS,
        *(
            "",
            " ",
            "\t\n",
            "a" * 20_000,
            "random",
            "uct",
            "start",
            "best",
            "tictactoe",
            "nim(heaps=[])",
            "spsa",
            "matches",
        ),
        *("10+", "10+1e-9", f"0.{'0' * 400}1+1", f"0.{'0' * 20}1", "1+0." + "0" * 20 + "1", "1GB", "9" * 400 + "GB"),
        *(
            "nim(heaps=[1..99999999])",
            "tree(workers=1..2)",
            "uct(exploration=1e999)",
            "uct(playouts=" + "9" * 400 + ")",
        ),
    ]
) | st.text(max_size=5)
WHOLE = st.sampled_from(
    [0, -1, 1, 2, 3, 10, 10**6, 10**9, 10**12, 2**31, 2**62, 2**63, 2**64, -(2**70), 10**400, 10**4000]
)
BROKEN = st.sampled_from(
    [0.0, -0.0, 0.5, 1.0, 10.4, 10.6, 1e6, 1e308, -1e308, 1e-320, float("nan"), float("inf"), -float("inf")]
)
DATES = st.sampled_from([datetime.date.min, datetime.time(1), datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)])
SINGLE = TEXTS | WHOLE | BROKEN | st.booleans() | DATES


def key_names() -> list[str]:
    """The keys of tables, which may stand anywhere."""
    tables = [table for field in known_keys().values() if (table := table_of(field))]
    return sorted(
        {key for table in (*tables, SprtTable) for key in table.model_fields} | KEYS | {"file", "plies", "all"}
    )


VALUES = st.one_of(
    SINGLE,
    st.recursive(
        SINGLE,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(key_names()) | TEXTS, inner, max_size=3)
        ),
        max_leaves=8,
    ),
    st.sampled_from([list, dict]),  # which stand for deep ones: hypothesis cannot print those
)


# -- The keys and the readers of each kind ----------------------------------------------------------------------------


def inner_keys(key, field) -> list[tuple]:
    """A key, and those of its table or of the first table of its list."""
    table = table_of(field)
    return [(key,)] + [(key, inner) for inner in (table.model_fields if table else ())]


RUN = {
    "game": "tictactoe",
    "games": 2,
    "agents": [{"agent": "random", "name": "a"}, {"agent": "flat(playouts=3)", "name": "b"}],
}
OF_FORMAT = {
    "matches": {"matches": [["a", "b", 0, 2]]},
    "single_player": {"game": "leftmove(depth=3)", "agents": [{"agent": "random", "name": "a"}]},
}
RUNS = [RUN | {"format": name} | OF_FORMAT.get(name, {}) for name in formats()]
KEYS_OF_RUN = [place for key, field in known_keys().items() for place in inner_keys(key, field)]
TUNE = {
    "game": "tictactoe",
    "agent": "uct(playouts=20)",
    "games": 24,
    "parameters": {"exploration": {"low": 0.1, "high": 2.0}},
}
KEYS_OF_TUNING = [
    *((one.name,) for one in fields(Tuning)),
    *(("parameters", name, key) for name in ("exploration", "playouts", "rave", "policy") for key in KEYS),
    *(("parameters", name) for name in ("exploration", "playouts")),
    *(("confirm", key) for key in (*SprtTable.model_fields, "games")),
    *(("spsa", one.name) for one in fields(Gains)),
    *KEYS_OF_RUN,
]
WHOLE_STUDY = {"instances": ["tictactoe"], "schemes": ["root"], "workers": [1, 2], "playouts": 8, "games": 2}


def run_of(values):
    """As far as the first games of a run."""
    config = from_text("", HERE, values)
    schedule = Schedule(config.resolved())
    assert len(schedule) >= 0 and described(config.resolved()) and len(config.conditions) == len(schedule.formats)
    assert all(fixture.seats for fixture in islice(iter(schedule.next, None), 5)) and schedule.lines() is not None


def tuning_of(values):
    """As far as the first step of a tuning."""
    tuning = tuning_run.from_keys(values_in("", HERE, values), str(HERE))
    tuning.check()
    found = tuning_run.Findings(tuning, [], {})
    if len(tuning.space.parameters) * tuning.at_once < 100:
        step = tuning_run.next_step(found)
        assert step and tuning.config([step])


def schemes_of(values):
    study = schemes.from_keys(values_in("", HERE, values), str(HERE))
    study.check()
    assert study.points() and study.notes() is not None
    assert [schemes.slug(cell) for cell in study.cells()]


def study_of(kind):
    def read(values):
        study = kind.from_values(values, str(HERE))
        study.check()
        assert [study.words(*cell) for cell in islice(study.cells(), 3)]

    return read


def keys_of(kind) -> list[tuple]:
    return [(one.name,) for one in fields(kind)]


KINDS = {
    "run": (RUNS, KEYS_OF_RUN, run_of),
    "tune": ([TUNE, *(TUNE | {"sampler": name, "spsa": {"c": 0.1}} for name in SAMPLERS)], KEYS_OF_TUNING, tuning_of),
    "schemes": ([WHOLE_STUDY], [*keys_of(SchemesStudy), *((key,) for key in SchemesStudy.ALSO)], schemes_of),
    "solvers": ([{"game": "tictactoe", "solvers": ["ppn2"]}], keys_of(SolvingStudy), study_of(SolvingStudy)),
    "proofs": (
        [{"games": ["tictactoe"], "searches": ["pns"], "positions": 1}],
        keys_of(ProofStudy),
        study_of(ProofStudy),
    ),
}


def changed(values, place, value):
    """The values with one key changed, in tables and in the first table of lists."""
    key, *rest = place
    if isinstance(values, list):
        return [changed(values[0], place, value), *values[1:]] if values else [changed({}, place, value)]
    if not isinstance(values, dict):
        values = {}
    return values | {key: changed(values.get(key, {}), rest, value) if rest else value}


def tried(read, values):
    """Whether the values are taken; a refusal is of lines that can be read."""
    try:
        read(values)
    except REFUSALS as error:
        lines = getattr(error, "problems", None) or str(error).split("\n")
        assert lines and all(0 < len(line) <= LONGEST and "\n" not in line for line in lines), str(error)[:2000]
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
@share(10)
def test_any_value_of_any_key(kind, times):
    bases, places, read = KINDS[kind]
    counts = [0, 0]
    watch = Fuzz(1, 0, ())

    @settings(max_examples=times)
    @given(st.sampled_from(bases), st.lists(st.tuples(st.sampled_from(places), VALUES), min_size=1, max_size=2))
    def attempt(base, changes):
        for place, value in changes:
            base = changed(base, place, deep(value) if value in (list, dict) else value)
        counts[watch.within(lambda rng: tried(read, base))] += 1

    attempt()
    print(f"{sum(counts)} tried: {counts[0]} refused, {counts[1]} taken")


def test_every_key_is_tried():
    """Each key of each kind, with a value of each sort: what no draw leaves out."""
    assert {place[0] for place in KEYS_OF_RUN} == set(known_keys())
    for bases, places, read in KINDS.values():
        for place in places:
            for value in ("", -1, 10**5000, 1e308, float("nan"), [], {}, [[]], True, datetime.date.max, deep(list)):
                tried(read, changed(bases[0], place, value))
