"""Statistics of decisions: one line in `Effort` brings a new one from the agent to every table and export."""

import json
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

from arena.agents.core.agent import Decision
from arena.agents.core.effort import Effort
from arena.results.database.columns import columns_of, declarations, frame_types
from arena.results.database.record import GameRecord, MoveRecord

# Its line stands where `Effort` declares its statistics; everything else is as it is.
ONE_LINE_MORE = """
import sys, types
from importlib.util import find_spec
spec = find_spec("arena.agents.core.effort")
source = spec.loader.get_source("arena.agents.core.effort")
module = types.ModuleType("arena.agents.core.effort")
sys.modules["arena.agents.core.effort"] = module
exec(source.replace("    seconds:", "    cutoffs: int | None = None\\n    seconds:", 1), module.__dict__)

import json
from arena import results
from arena.agents.core.agent import Decision
from dataclasses import replace
from arena.results.files.exchange import from_jsonl, to_jsonl
from tests.results.sample import AGENTS, META, make_game

moves = [results.MoveRecord.of(ply, ply % 2, "a1", Decision(0, cutoffs=30 + ply)) for ply in range(2)]
game = make_game(decisions=(*moves, results.MoveRecord.of(2, 0, "b2", Decision(1))))
assert from_jsonl(to_jsonl(game)) == [game]
with results.Store.create(sys.argv[1], META, AGENTS) as store:
    store.add(game)
    assert store.record(game.id) == game
run = results.load(sys.argv[1])
table = run.table("moves")
effort = run.effort
print(json.dumps({
    "types": [str(table["cutoffs"].dtype)],
    "csv": results.render(table, "csv").splitlines(),
    "text": results.render(table, "text").split(),
    "sums": dict(zip(effort["ply"].tolist(), effort["cutoffs"].fillna(-1).tolist())),
    "label": run.plot.moves("cutoffs").get_ylabel(),
}))
"""


@pytest.mark.slow
def test_a_new_statistic_is_one_line(tmp_path):
    command = [sys.executable, "-c", ONE_LINE_MORE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={"MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["types"] == ["Int64"] and found["label"] == "cutoffs"
    column = found["csv"][0].split(",").index("cutoffs")
    assert [row.split(",")[column] for row in found["csv"][1:]] == ["30", "31", ""]
    assert "cutoffs" in found["text"] and "31" in found["text"]
    assert found["sums"] == {"0": 30, "1": 31, "2": -1}


def test_decision_and_record_hold_every_statistic():
    names = [field.name for field in fields(Effort)]
    for holder in (Decision, MoveRecord):
        assert issubclass(holder, Effort) and set(names) < {field.name for field in fields(holder)}
    assert columns_of(MoveRecord) == ("ply", "side", "move", "value", "clock", "candidates", *names)
    assert not {"decisions", "improvements"} & set(columns_of(GameRecord))


def test_types_follow_the_fields():
    types = frame_types(MoveRecord, ["id", *columns_of(MoveRecord)])
    assert types["playouts"] == "Int64" and types["ply"] == "int64" and types["virtual_time"] == "float64"
    assert "id" not in types and "move" not in types
    lines = declarations(MoveRecord, {"move": "UNIQUE"}).split(",\n    ")
    assert {"move TEXT NOT NULL UNIQUE", "value REAL", "playouts INTEGER", "seconds REAL NOT NULL"} <= set(lines)


def test_numbers_of_numpy_become_pythons():
    decision = Decision(3, np.float32(0.25), playouts=np.int64(7), nodes=None, seconds=np.float64(0.5))
    record = MoveRecord.of(4, 1, "a1", decision)
    assert record == MoveRecord(4, 1, "a1", 0.25, playouts=7, seconds=0.5)
    assert [type(number) for number in (record.value, record.playouts, record.seconds)] == [float, int, float]


@pytest.mark.parametrize("bad", [{"value": float("nan")}, {"nodes": 2**63}, {"seconds": float("inf")}])
def test_numbers_that_no_store_can_hold(bad):
    with pytest.raises(ValueError, match="no finite number below"):
        MoveRecord.of(0, 0, "a1", Decision(1, **bad))
    with pytest.raises(TypeError, match="a decision's value is 'high', which is no float"):
        MoveRecord.of(0, 0, "a1", Decision(1, value="high"))
