"""arena bench: what it measures, what it compares, and when it calls something slower.  Timings are made up here."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli import app
from arena.study import bench, bench_comparison, meter
from arena.study.bench import Subject, Version

ROOT = Path(__file__).parents[2]
SUBJECT = {"game": "tictactoe", "agent": "flat(playouts=20)", "seconds": 0.01}


class Made:
    """A version whose speeds are made up: units of each chunk, again and again, by agent; None is playouts."""

    def __init__(self, speeds, signature=7):
        self.speeds = {agent: itertools.cycle(units) for agent, units in speeds.items()}
        self.signature, self.agent, self.asked = signature, None, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, **request):
        if "chunk" in request:
            return {"units": next(self.speeds[self.agent]), "plies": 50, "wall": 2.0, "cpu": 1.0}
        self.agent = request["agent"]
        self.asked.append(request)
        if self.agent not in self.speeds:
            return {"failure": "TypingError: no such function"}
        names = {"game": request["game"], "agent": self.agent, "unit": "nodes"}
        return names | {"compile_seconds": 1.0, "signature": self.signature}


STEADY = {None: (100, 101, 99, 100, 100), "uct": (50, 51, 49, 50, 50)}


def call(monkeypatch, versions, *arguments):
    """The command, with these versions, the new one first, in place of processes."""
    left = iter(versions)
    monkeypatch.setattr(bench, "Version", lambda folder=None: next(left))
    return CliRunner().invoke(app, ["bench", *map(str, arguments), "--game", "tictactoe", "--agent", "uct"])


def test_a_process_measures_and_answers():
    with Version() as version:
        answer = version.ask(**SUBJECT)
        assert (answer["game"], answer["agent"], answer["unit"]) == ("tictactoe", SUBJECT["agent"], "playouts")
        assert answer["compile_seconds"] > 0 and answer["signature"] > 0
        chunks = [version.ask(chunk=True) for _ in range(2)]
        assert all(chunk["units"] >= 20 and chunk["wall"] > 0 and chunk["cpu"] > 0 for chunk in chunks)
        assert "for two players" in version.ask(**SUBJECT | {"game": "leftmove"})["refused"]
        assert version.ask(**SUBJECT | {"game": "nosuch"})["failure"].startswith("SpecError: unknown game 'nosuch'")


def test_a_process_that_ends_is_a_failure(monkeypatch, tmp_path):
    (tmp_path / "meter.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(bench, "METER", tmp_path / "meter.py")
    with Version() as version:
        for _ in range(2):
            assert version.ask(**SUBJECT) == {"failure": "the process that measures ended with exit code 3"}


def test_the_sources_of_a_folder_are_measured(tmp_path):
    made = tmp_path / "arena" / "games" / "__init__.py"
    made.parent.mkdir(parents=True)
    made.write_text("def make(spec): raise ValueError('not\\nhere ' + __file__)")
    for package in ("arena", "arena/agents"):
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / "__init__.py").touch()
    with Version(tmp_path) as version:
        assert version.ask(**SUBJECT)["failure"] == f"ValueError: not here {made}"


@pytest.mark.plain
def test_the_signature_depends_on_what_is_searched_and_on_nothing_else():
    def signature(agent, seconds=0.001):
        return meter.prepared({"game": "tictactoe", "agent": agent, "seconds": seconds})[1]["signature"]

    assert signature("uct(playouts=500)") == signature("uct(playouts=500)", seconds=0.002)
    assert signature("uct(playouts=500)") != signature("uct(playouts=500, exploration=0.5)")


def test_the_message_of_the_compiler_is_shortened():
    error = TypeError("Failed in nopython mode pipeline (step: x)\n\nUnknown attribute 'y'\n" + "z" * 1000)
    text = meter.failure_in_words(error)
    assert text.startswith("TypeError: Unknown attribute 'y' zzz") and text.endswith("z...") and len(text) < 250


def test_rows_of_a_report():
    version = Made(STEADY)
    wanted = [Subject("tictactoe"), Subject("tictactoe", "uct"), Subject("tictactoe", "broken")]
    report = bench.report(bench.bench([version], wanted, 0.5, lambda text: None)[0])
    (game,), (agent,), (failure,) = report["games"], report["agents"], report["failures"]
    assert (game["playouts_per_second"], game["cpu_playouts_per_second"], game["ns_per_ply"]) == (50, 100, 4e7)
    assert agent["per_second"] == 25 and agent["cpu_per_second"] == 50 and agent["chunks"] == [50, 51, 49, 50, 50]
    assert failure == {"game": "tictactoe", "agent": "broken", "failure": "TypingError: no such function"}
    assert report["signature"] == 14 and report["machine"]["cores"] > 0 and report["date"].startswith("20")


def report_of(*chunks, signature=7):
    return {"games": [{"game": "nim", "chunks": list(chunks), "signature": signature}], "agents": [], "signature": 7}


@pytest.mark.parametrize("new, old, verdict", [
    ((100, 100, 100), (100, 100, 100), ""),
    ((96, 96, 96), (100, 100, 100), ""),  # by less than 5 %
    ((94, 94, 94), (100, 100, 100), "slower"),
    ((94, 94, 94), (100, 108, 100), ""),  # by less than the noise of the old one
    ((92, 88, 90), (100, 100, 100), "slower"),
    ((98, 88, 90), (100, 100, 100), ""),  # by less than the noise of the new one
    ((100, 100, 100), (94, 94, 94), "faster"),
    ((100, 100, 100), (98, 98, 98), ""),
])  # fmt: skip
def test_verdicts(new, old, verdict):
    (row,) = bench_comparison.compare(report_of(*new), report_of(*old))
    assert row["verdict"] == verdict and row["agent"] is None
    assert row["ratio"] == pytest.approx(sorted(new)[1] / sorted(old)[1])


def test_what_looks_slower_is_measured_again():
    """A machine that was busy for a while makes no slow-down, and what is slower stays slower."""
    for again, verdict in (((100,), ""), ((80,), "slower")):
        new, old, version = report_of(*[80] * 5), report_of(*[100] * 5), Made({None: again})
        bench_comparison.look_again(new, old, [version], 0.5, lambda text: None)
        assert new["games"][0]["chunks"] == [80] * 5 + list(again) * 5 and len(old["games"][0]["chunks"]) == 5
        assert bench_comparison.compare(new, old)[0]["verdict"] == verdict
    new, old = report_of(*[80] * 5), report_of(*[100] * 5)
    bench_comparison.look_again(new, old, [Made({None: (80,)}), Made({None: (100,)})], 0.5, lambda text: None)
    assert len(new["games"][0]["chunks"]) == len(old["games"][0]["chunks"]) == 10


def test_save_and_against(monkeypatch, tmp_path):
    saved = call(monkeypatch, [Made(STEADY)], "--output", tmp_path / "b.json")
    assert saved.exit_code == 0 and "signature 14" in saved.stdout, saved.output
    same = call(monkeypatch, [Made(STEADY)], "--against", tmp_path / "b.json")
    assert same.exit_code == 0 and "The signature is the same" in same.stdout, same.output
    assert "0 of 2 are slower beyond noise" in same.stderr
    slow = Made(STEADY | {"uct": (40,)})
    slower = call(monkeypatch, [slow], "--against", tmp_path / "b.json")
    assert slower.exit_code == 1 and re.search(r"uct .* 0\.8 .*slower", slower.stdout), slower.stdout
    assert [request["agent"] for request in slow.asked] == [None, "uct", "uct"]
    told = json.loads(call(monkeypatch, [slow], "--against", tmp_path / "b.json", "--json").stdout)
    assert [row["verdict"] for row in told["against"]["rows"]] == ["", "slower"]


def test_the_games_and_agents_of_the_file_are_measured(monkeypatch, tmp_path):
    call(monkeypatch, [Made(STEADY)], "--output", tmp_path / "b.json")
    version = Made(STEADY)
    monkeypatch.setattr(bench, "Version", lambda folder=None: version)
    assert CliRunner().invoke(app, ["bench", "--against", str(tmp_path / "b.json")]).exit_code == 0
    assert [(request["game"], request["agent"]) for request in version.asked] == [
        ("tictactoe", None),
        ("tictactoe", "uct"),
    ]


def test_another_version_is_measured_in_turns(monkeypatch):
    new, old = Made(STEADY), Made(STEADY | {None: (80,)})
    done = call(monkeypatch, [new, old], "--against", ROOT)
    assert done.exit_code == 0 and re.search(r"playouts .* 1\.25 .*faster", done.stdout), done.output
    assert [request["agent"] for request in old.asked] == [None, "uct"]


def test_other_work_is_told_first(monkeypatch, tmp_path):
    call(monkeypatch, [Made(STEADY)], "--output", tmp_path / "b.json")
    done = call(monkeypatch, [Made(STEADY, signature=8)], "--against", tmp_path / "b.json")
    first = done.stdout.splitlines()[0]
    assert first == "The signature differs: other work than before is done in playouts on tictactoe, uct on tictactoe."


def test_a_failure_is_a_row(monkeypatch):
    done = call(monkeypatch, [Made({None: (100,)})])
    assert done.exit_code == 1 and "TypingError: no such function" in done.stdout and "signature 7" in done.stdout
    assert "Traceback" not in done.output


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"games": [{"game": "nim", "chunks": []}], "agents": []}'])
def test_a_file_of_something_else(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    done = CliRunner().invoke(app, ["bench", "--against", str(tmp_path / "x.json")])
    assert done.exit_code == 2 and "x.json holds no report of arena bench --output" in done.stderr, done.output


@pytest.mark.parametrize("arguments, message", [
    (["--seconds", "0"], "0 is out of range: it must be more than 0"),
    (["--game", "nosuch"], "unknown game 'nosuch'"),
    (["--game", "nim", "--agent", "nobody"], "unknown agent 'nobody'"),
    (["--game", "nim", "--against", "."], "does not hold the project's sources: there is no arena/__init__.py"),
    (["--against", "none"], "--against none: there is no such file or folder"),
])  # fmt: skip
def test_mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["bench", *arguments])
    assert done.exit_code == 2 and message in " ".join(done.stderr.split()), done.output


def test_a_meter_whose_reader_is_gone_ends_in_silence():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "arena.study.meter"]
    done = subprocess.run(
        command, input='{"chunk": 1}\n', stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300
    )
    os.close(writer)
    assert done.returncode == 0 and "Traceback" not in done.stderr
