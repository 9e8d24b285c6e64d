"""Studies have one home: who lists, shows and goes on with them names no kind of theirs."""

import json
import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

import arena
from arena.commands import study_schemes
from arena.config.loading import from_values
from arena.lab.reading import overview
from arena.report.listing import runs_in
from arena.report.pieces import NotedTable, PiecesOfRun, pieces_of
from arena.results.database.store import FILE_NAME, Store
from arena.runner import study_kinds
from arena.runner.running import QUIETLY
from arena.runner.steps import Grown, play_steps
from arena.runner.study_kinds import Kind, home_of, homes_in, kind_of
from arena.study import schemes, tuning_run
from arena.study.schemes import SchemesStudy
from tests.typed import as_json, call

TUNE = {
    "game": "tictactoe", "agent": "uct(playouts=4)", "parameters": {"exploration": [0.1, 3.0]}, "sampler": "sobol",
    "games": 32, "at_once": 4, "pairs": 2, "confirm": {"games": 8},
}  # fmt: skip
STUDY = SchemesStudy(("nim", "tictactoe"), ("root",), (1, 2), (4,), 2)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds") / "tuned"
    arena.tune(**TUNE, out=folder, workers=1)
    return folder


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds") / "compared"
    schemes.run(STUDY, folder)
    return folder


def cut(folder: Path, games: int | None = None) -> None:
    """As a kill leaves a tuning after so many games, or all of its first step: with the steps begun, and not over."""
    found = tuning_run.load(folder)
    ends = [sum(2 * (end - begin) for *_, begin, end in step.matches) for step in found.steps]
    games = ends[0] if games is None else games
    with Store.open(folder) as store:
        records, meta = sorted(store.records(), key=lambda one: one.number)[:games], store.meta
    begun = next(n for n in range(1, len(ends) + 1) if sum(ends[:n]) >= games)
    lines = (folder / tuning_run.STEPS).read_text().splitlines(keepends=True)
    (folder / tuning_run.STEPS).write_text("".join(lines[:begun]))
    config = found.tuning.config(found.steps[:begun]).resolved()
    (folder / FILE_NAME).unlink()
    names = [{"name": one["name"], "spec": one["agent"]} for one in config["agents"]]
    with Store.create(folder, meta | {"config": config, "over": False}, names) as store:
        store.add_all(records)


def stored_steps(folder: Path) -> str:
    return (folder / tuning_run.STEPS).read_text()


def games_of(folder: Path) -> list:
    with Store.open(folder) as store:
        return sorted((one.id, one.seed, one.moves, one.outcome) for one in store.records())


@pytest.mark.parametrize("games", [0, 9, 32, None])
def test_a_tuning_goes_on_by_the_command_of_every_run(tuned, games, tmp_path):
    """Not only the games that were asked for when it was killed."""
    place = tmp_path / "tuned"
    shutil.copytree(tuned, place)
    cut(place, games)
    (row,) = runs_in(tmp_path).rows
    assert (row["state"], row["total"], row["format"]) == ("stopped", None, "tuning")
    done = call("run", "--out", place, "--resume", "--workers", "1")
    assert done.exit_code == 0 and "exploration: " in done.output
    assert games_of(place) == games_of(tuned) and stored_steps(place) == stored_steps(tuned)
    (row,) = runs_in(tmp_path).rows
    assert (row["state"], row["total"]) == ("finished", row["stored"])


@pytest.mark.parametrize("part", ["", "nim-4", "tictactoe-4"])
def test_a_study_of_several_games_is_one_and_goes_on_from_each_of_its_parts(compared, part, tmp_path, monkeypatch):
    monkeypatch.setattr(study_schemes, "SECONDS", 0)
    place = tmp_path / "compared"
    shutil.copytree(compared, place)
    (row,) = runs_in(tmp_path).rows
    assert row["run"] == str(place) and row["format"] == "study of schemes" and row["games"] == "nim, tictactoe"
    assert row["state"] == "finished" and row["stored"] == row["total"] == len(games_of(place / "nim-4")) + len(
        games_of(place / "tictactoe-4")
    )
    whole = f"{row['stored']} games of a study of schemes of several runs"
    assert f"{place}: {whole}; finished" in call("status", place).output.replace("\n", "")
    (place / "tictactoe-4" / FILE_NAME).unlink()  # killed between the two
    (row,) = runs_in(tmp_path).rows
    assert (row["state"], row["total"]) == ("stopped", None)
    state = json.loads(call("status", place, "--json").output)
    assert (state["state"], state["running"], state["total"]) == ("stopped", False, None)
    assert state["parts"] == [str(place / "nim-4")] and state["stored"] == row["stored"]
    said = " ".join(call("status", place).output.split())
    assert "of a study of schemes of several runs; not being played; to continue: arena run" in said
    assert overview(place).rests and overview(place).values["games"] == overview(compared).values["games"]
    assert not overview(compared).rests
    done = call("run", "--out", place / part, "--resume", "--workers", "1")
    assert done.exit_code == 0, done.output
    for one in ("nim-4", "tictactoe-4"):
        assert games_of(place / one) == games_of(compared / one)


@pytest.mark.parametrize("what", ["tuned", "compared", "pool"])
def test_more_games_are_asked_for_where_they_change_something(what, tuned, compared, tmp_path):
    """Elsewhere --games is refused, with what has the number."""
    place = {"tuned": tuned, "compared": compared}.get(what, tmp_path / "pool")
    if what == "pool":
        arena.run(game="nim", agents=["random", "flat(playouts=1)"], games=2, out=place, workers=1)
        arena.join(place, "flat(playouts=2)", error=500, workers=1)
    done = call("run", "--out", place, "--resume", "--games", "500")
    said = " ".join(done.output.split())
    assert done.exit_code == 2 and re.search("has its own plan|add matches, or let an agent join", said), said


# -- A kind that nobody names -----------------------------------------------------------------------------------------


def played_twice(folder: Path):
    """A toy: three steps of a pair of games each."""
    for step in (1, 2, 3):
        matches = [["random", "flat", number, number + 1] for number in range(step)]
        agents = [{"name": "random", "agent": "random"}, {"name": "flat", "agent": "flat(playouts=1)"}]
        yield Grown(
            from_values({"game": "nim", "format": "matches", "matches": matches, "agents": agents}), f"step {step}"
        )


class ToyPieces(PiecesOfRun):
    def tables(self):
        return ("toy", *super().tables())

    def table(self, kind=None, format="text"):
        toy = NotedTable(pd.DataFrame({"steps": [len(self.run) // 2]}), ["A toy."], [])
        return toy if kind in (None, "toy") else super().table(kind, format)


def go_on(folder, where):
    play_steps(played_twice(folder), folder, QUIETLY)


def test_a_new_kind_is_listed_shown_and_resumed(tmp_path, monkeypatch):
    """By its entry alone."""
    toy = Kind("toy.json", "toy", f"{__name__}:ToyPieces", f"{__name__}:go_on")
    monkeypatch.setattr(study_kinds, "KINDS", [toy, *study_kinds.KINDS])
    place = tmp_path / "toy"
    place.mkdir()
    (place / "toy.json").write_text("{}")
    assert kind_of(place) is toy and homes_in(tmp_path) == {place: (toy, [])}
    (row,) = runs_in(tmp_path).rows
    assert (row["format"], row["state"], row["stored"]) == ("toy", "stopped", 0)
    assert call("run", "--out", place, "--resume").exit_code == 0
    (row,) = runs_in(tmp_path).rows
    assert (row["format"], row["state"], row["stored"], row["total"]) == ("toy", "finished", 6, 6)
    assert as_json("table", place) == [{"steps": 3}] and pieces_of(place).tables()[0] == "toy"
    assert as_json("status", place)["state"] == "finished" and home_of(place) == place


@pytest.mark.parametrize(
    "words", [["runs", ".."], ["table", "../tuned"], ["plot", "../tuned", "tuning"], ["run", "--out", ".", "--resume"]]
)
def test_a_plan_of_a_stranger_runs_nothing(tuned, words, tmp_path, monkeypatch):
    """A plug-in that it names, and its run does not, is asked for as a run's is."""
    place = tmp_path / "tuned"
    shutil.copytree(tuned, place)
    plan = json.loads((place / "tuning.json").read_text())
    plan["run"] |= {"plugins": ["a_strangers_code"], "plugin_path": str(place)}
    (place / "tuning.json").write_text(json.dumps(plan))
    (place / "a_strangers_code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(place)
    monkeypatch.setattr("sys.path", list(sys.path))
    done = call(*words)
    assert not (tmp_path / "ran").exists() and (words[0] == "runs" or "a_strangers_code" in done.output)


def test_what_a_folder_is_a_part_of(compared, tmp_path, monkeypatch):
    assert home_of(compared / "nim-4") == compared == home_of(compared) and kind_of(compared).what == "study of schemes"
    assert kind_of(tmp_path) is None and home_of(tmp_path) == tmp_path
    monkeypatch.chdir(compared / "nim-4")
    assert home_of(Path(".")) == compared and home_of(Path("..")) == Path("..")
    assert homes_in(compared.parent)[compared][1] == [compared / "nim-4", compared / "tictactoe-4"]


def test_ctrl_c_between_two_steps_says_how_to_go_on(tuned, tmp_path, monkeypatch):
    def interrupted(found):
        raise KeyboardInterrupt

    place = tmp_path / "tuned"
    shutil.copytree(tuned, place)
    cut(place)
    monkeypatch.setattr(tuning_run, "next_step", interrupted)
    done = call("run", "--out", place, "--resume", "--workers", "1")
    assert done.exit_code == 130 and f"To play the rest: arena run --out {place} --resume" in done.stderr.replace(
        "\n", ""
    )
