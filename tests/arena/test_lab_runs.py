"""What the pages of runs read, without a browser: names, tables, games replayed, runs side by side, what is started."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("nicegui", reason="NiceGUI is not installed: pip install nicegui")

import arena
from arena import games, results
from arena.config.trust import TrustError
from arena.games.core.shared.errors import UserError
from arena.lab import apart, asking, beside, folder, launching, new_run_page, reading, replaying, run_page, trial
from arena.lab.apart import Apart, Failed
from arena.lab.asking import KINDS
from arena.lab.new_run_page import with_key
from arena.lab.run_notes import NOTES, Notes, read_notes, tags_in, write_notes
from arena.report import archive
from arena.results.database.store import Store
from arena.results.files.exchange import from_jsonl
from arena.results.shown.export import elo_with_error
from arena.results.shown.kinds import FORMATS
from arena.results.statistics.elo import pentanomial
from arena.study import schemes
from tests.arena.browser import until
from tests.arena.stored import CONFIG, store_run, store_runs_alone
from tests.arena.test_lab import SMALL
from tests.arena.test_study_kinds import STUDY, TUNE
from tests.typed import call


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("lab") / "full")


# -- Names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["deep/run", "a & b", "<b>x</b>", "games", "ö/100%", "x?y#z"])
def test_a_run_is_found_by_its_address(full, tmp_path, monkeypatch, name):
    monkeypatch.setattr(folder, "_at", tmp_path)
    (tmp_path / name).mkdir(parents=True)
    (tmp_path / name / "tournament.sqlite").write_bytes((full / "tournament.sqlite").read_bytes())
    assert folder.found(name) == tmp_path / name and folder.name_of(tmp_path / name) == name
    address = folder.address(name, "games", "1v2-0001", ply=3, empty="", none=0)
    assert address.startswith("/runs/") and address.endswith("/games/1v2-0001?ply=3")
    assert not {"<", " ", "#"} & set(address) and address.count("?") == 1


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../full", "full/../../full", "/etc", "none", "full\0", "x" * 5000, "//"]
)
def test_no_name_leads_out_of_the_folder(full, monkeypatch, name):
    monkeypatch.setattr(folder, "_at", full.parent)
    with pytest.raises(UserError, match="there is no run"):
        folder.found(name)
    monkeypatch.setattr(folder, "_at", full)
    with pytest.raises(UserError):
        folder.found(name)


# -- Renamed and deleted ---------------------------------------------------------------------------------------------


@pytest.fixture
def kept(full, tmp_path, monkeypatch):
    """A folder with a run, with a file beside it, and a study of two parts."""
    place = tmp_path / "runs"
    monkeypatch.setattr(folder, "_at", place)
    for name in ("run", "deep/other", "study/one", "study/two"):
        shutil.copytree(full, place / name)
    (place / "study" / "plan.json").write_text("{}")
    (place / "run.toml").write_text("")
    return place


def inside(place):
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*"))


def test_a_run_is_renamed_and_deleted(kept):
    """With all that its folder has, and nothing else."""
    before = inside(kept)
    folder.rename("deep/other", "new name (2)")
    assert inside(kept) == sorted(path.replace("deep/other", "deep/new name (2)") for path in before)
    assert len(results.load(kept / "deep" / "new name (2)")) == 18
    for name in ("deep/new name (2)", "study"):
        folder.delete(name)
    assert inside(kept) == ["deep", *(path for path in before if path.startswith("run"))] and "run.toml" in before


@pytest.mark.parametrize("name, new, why", [
    ("run", "", "give the run's folder a name"), ("run", "../out", "give the run's folder a name"),
    ("run", ".hidden", "give the run's folder a name"), ("run", "deep", "is there already"),
    ("run", "dangling", "is there already"), ("none", "new", "there is no run"), ("../runs/run", "new", "there is no"),
    ("deep", "new", "there is no run"), (".", "new", "there is no run"), ("study/one", "new", "is a part of the study"),
    ("link", "new", "symbolic link"), ("linked/other", "new", "symbolic link"), ("over", "new", "another run in it"),
])  # fmt: skip
def test_what_is_no_run_of_its_own_here_stays(kept, full, tmp_path, name, new, why):
    for link, to in (("link", kept / "run"), ("linked", kept / "deep"), ("dangling", tmp_path / "nothing")):
        (kept / link).symlink_to(to)
    for place in ("over", "over/below"):
        shutil.copytree(full, kept / place)
    before = inside(kept)
    with pytest.raises(UserError, match=why):
        folder.rename(name, new)
    if "give" not in why and "already" not in why:
        with pytest.raises(UserError, match=why):
            folder.delete(name)
    assert inside(kept) == before


def test_a_run_that_is_played_is_neither_renamed_nor_deleted(kept):
    for name, part in (("run", "run"), ("study", "study/two")):
        with Store.open(kept / part, write=True):
            for change in (lambda name: folder.rename(name, "new"), folder.delete):
                with pytest.raises(UserError, match="is being played: stop it first"):
                    change(name)
        assert (kept / part / "tournament.sqlite").exists()


# -- Tables and figures --------------------------------------------------------------------------------------------


def test_every_table_and_figure_is_read_and_saved(full, tmp_path):
    for place in (full, store_runs_alone(tmp_path / "alone")):
        about = reading.overview(place)
        assert json.dumps(about) and about.stored == about.total == len(results.load(place)) and about.configuration
        for kind in about.tables:
            cells = reading.table(place, kind)
            assert cells.size == len(cells.rows) and {len(row) for row in cells.rows} <= {len(cells.columns)}
            for format in FORMATS:
                if format != "parquet":
                    assert reading.table_file(place, kind, format, [])
        for kind in about.figures:
            assert reading.figure_file(place, kind, "3.4in", "svg", "playouts", None).startswith(b"<?xml")


def test_the_elo_of_an_agent_stands_beside_its_name(full):
    cells = reading.table(full, "standings")
    assert [name for name, _, _ in cells.columns][:3] == ["rank", "agent", "elo"] and len(cells.columns) == 9
    standings = results.load(full).standings()
    assert [row[1] for row in cells.rows] == standings["agent"].tolist()
    assert cells.rows[0][2] == elo_with_error(*(standings[name][:1].tolist() for name in ("elo", "error", "bound")))[0]


def test_a_study_is_a_row_of_the_list_and_its_best_trial_the_first(studies):
    rows = {Path(row["run"]).name: row["format"] for row in reading.read_runs(studies).rows}
    assert rows == {"tuned": "tuning", "compared": "study of schemes"}
    trials = reading.table(studies / "tuned", "trials")
    elo = [name for name, _, _ in trials.columns].index("elo")
    found = [float(re.match(r"[+-]?\d+", row[elo])[0]) for row in trials.rows]
    assert len(found) > 2 and found == sorted(found, reverse=True)


def test_chosen_columns_alone_are_saved(full):
    head = reading.table_file(full, "standings", "csv", ["agent", "elo"]).splitlines()[0]
    assert head == b"agent,elo,error,bound"


def test_a_long_table_is_shown_in_part(full, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 5)
    cells = reading.table(full, "games")
    assert len(cells.rows) == 5 and cells.size == 18


def test_a_run_is_read_again_only_if_it_has_changed(full, tmp_path):
    with Store.open(full) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    with Store.create(tmp_path / "run", meta, agents) as store:
        store.add_all(records[:4])
        first = reading.live(tmp_path / "run")
        assert (first.stored, first.total, first.state) == (4, 18, "running") and first.games == []
        assert reading.loaded(tmp_path / "run") is reading.loaded(tmp_path / "run")
        store.add_all(records[4:])
        assert reading.live(tmp_path / "run").stored == 18
    assert reading.live(tmp_path / "run").state == "finished"


def test_a_study_is_read_again_whatever_of_it_has_changed(full, tmp_path):
    """Its tables are made of more files than the store; pages that share a reading get what was read."""
    (tmp_path / "tournament.sqlite").write_bytes((full / "tournament.sqlite").read_bytes())
    (tmp_path / "plan.json").write_text("{}")
    first = reading.held(tmp_path)
    assert reading.held(tmp_path, again=False) is first
    assert reading.held(tmp_path) is not first
    assert reading.held(full) is reading.held(full)


@pytest.mark.parametrize("harm, why", [
    (lambda path: path.unlink(), "no tournament in"),
    (lambda path: path.write_bytes(b"no database" * 100), "SQLite"),
    (lambda path: path.write_bytes(path.read_bytes()[:5000]), "damaged"),
])  # fmt: skip
def test_what_cannot_be_read_is_said(full, tmp_path, harm, why):
    place = tmp_path / "run"
    place.mkdir()
    (place / "tournament.sqlite").write_bytes((full / "tournament.sqlite").read_bytes())
    harm(place / "tournament.sqlite")
    for read in (reading.overview, reading.live):
        with pytest.raises(UserError, match=why):
            read(place)


# -- Side by side --------------------------------------------------------------------------------------------------


def test_runs_side_by_side(full, tmp_path):
    """By pairs of agents, whichever order these have; a run of others has nothing to compare."""
    turned = store_run(tmp_path / "turned", {**CONFIG, "agents": CONFIG["agents"][::-1], "seed": 9})
    cells = reading.pairs_beside([full, turned, full])
    assert [head for _, head, _ in cells.columns] == ["agent", "against", "full", "turned", "full", "turned - full",
                                                      "full - full"]  # fmt: skip
    pairs = [results.load(place).pairs().set_index(["a", "b"]) for place in (full, turned)]
    for row in cells.rows:
        first, second = pairs[0].loc[row[:2]], pairs[1].loc[row[1::-1]]
        assert row[2] == row[4] and row[6].startswith("0 ±")
        if not first.bound and not second.bound:
            error = (first.error**2 + second.error**2) ** 0.5
            assert row[5] == elo_with_error([-second.elo - first.elo], [error], [""])[0]
    assert len(cells.rows) == 3
    other = store_run(tmp_path / "other", {**CONFIG, "agents": [{"agent": "random", "name": name} for name in "xyz"]})
    assert reading.pairs_beside([full, other]).rows == []
    alone = store_runs_alone(tmp_path / "alone")
    with Store.create(tmp_path / "empty", {}, []):
        pass
    study = tmp_path / "study"
    shutil.copytree(full, study / "part")
    (study / "plan.json").write_text("{}")
    more = reading.pairs_beside([full, alone, turned, tmp_path / "empty", study])
    assert more.rows == [row[:4] + row[5:6] for row in cells.rows]
    for why in ("alone has games for one player", "empty has no games yet", "study has its games in parts"):
        assert any(sentence.startswith(why) for sentence in more.below)


def test_what_differs_in_the_settings_of_runs(full, tmp_path):
    """By flat keys, of agents by their names; what has no configuration or a bad plan is a sentence."""
    agents = [*CONFIG["agents"][:2], {"agent": "flat(playouts=9)", "name": "weak"}, {"agent": "random", "name": "new"}]
    other = store_run(tmp_path / "other", {**CONFIG, "agents": agents, "games": 2, "budget": {"playouts": 7}})
    found = beside.settings([full, other])
    rows = {row[0]: row[1:] for row in found.rows}
    assert rows["games"] == ("6", "2") and rows["budgets.0.playouts"] == ("-", "7")
    assert rows["agents.weak.agent"] == ("flat(playouts=5)", "flat(playouts=9)")
    assert rows["agents.new.agent"] == ("-", "random") and not {"seed", "game", "agents.strong.agent"} & rows.keys()
    assert [head for _, head, _ in found.columns] == ["setting", "full", "other"]
    same = beside.settings([full, full])
    assert same.rows == [] and same.below == ["Their settings are the same."]
    with Store.create(tmp_path / "imported", {}, []):
        pass
    for number, plan in enumerate(("{", "[" * 100_000, '{"games": [{"a": 1.5}], "seed": 5}')):
        (tmp_path / f"plan{number}").mkdir()
        (tmp_path / f"plan{number}" / "plan.json").write_text(plan)
    places = [full, *(tmp_path / name for name in ("imported", "plan0", "plan1", "plan2"))]
    found = beside.settings(places)
    rows = {row[0]: row[1:] for row in found.rows}
    assert rows["games"] == ("6", "-", "-", "-", "-") and rows["games.0.a"][-1] == "1.5" and "seed" not in rows
    assert found.below == [
        "imported was imported, and has no configuration.", "The plan of plan0 cannot be read.",
        "The plan of plan1 cannot be read.",
    ]  # fmt: skip


def test_curves_of_runs_beside_each_other(full, tmp_path):
    """Of the agents that tournaments share; runs without ratings have none."""
    agents = [{"agent": "random", "name": name} for name in ("weak", "$x<b>", "strong")]
    other = store_run(tmp_path / "other", {**CONFIG, "agents": agents, "games": 2})
    alone = store_runs_alone(tmp_path / "alone")
    found = beside.side_by_side([full, alone, other])
    assert set(found.agents) == {"weak", "strong"} and found.studies == {}
    assert list(found.agents) == [name for name in results.load(full).order if name != "middling"]
    for shown in (found.agents, found.agents[:1]):
        drawn = beside.curves([full, alone, other], list(shown)).decode()
        lines = [f"{agent}, {name}" for name in ("full", "other") for agent in shown]
        assert all(f"<!-- {line} -->" in drawn for line in lines) and ", alone" not in drawn
    assert beside.side_by_side([alone]).agents == () and beside.side_by_side([]).settings.rows == []


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A folder with a tuning, and a study of schemes with parts."""
    place = tmp_path_factory.mktemp("studies")
    arena.tune(**TUNE, out=place / "tuned", workers=1)
    schemes.run(STUDY, place / "compared")
    return place


def test_studies_beside_each_other_have_their_own_figures(full, studies):
    tuned, compared = studies / "tuned", studies / "compared"
    found = beside.side_by_side([tuned, full, compared])
    assert found.studies == {str(tuned): "tuning", str(compared): "speedup"}
    for place, kind in found.studies.items():
        assert b"<svg" in reading.figure_file(Path(place), kind, "3.4in", "svg", "playouts", None)
    assert set(found.agents) == {"strong", "middling", "weak"}
    rows = {row[0]: row[1:] for row in found.settings.rows}
    assert rows["sampler"] == ("sobol", "-", "-") and "compared has its games in parts" in "".join(found.pairs.below)


@pytest.mark.parametrize("pairs", [10, 40, 200])
@pytest.mark.parametrize("odds", [(0.3, 0.3, 0.4), (0.1, 0.1, 0.8)])
def test_intervals_of_differences_hold_what_they_say(pairs, odds):
    """Of two runs in which the same agents are as strong: 95 % of the intervals hold 0, or a little more."""
    rng, held, known = np.random.default_rng(pairs), 0, 0
    for _ in range(1000):
        met = []
        for _ in range(2):
            points = rng.choice([0, 1, 2], (pairs, 2), p=odds).sum(axis=1)
            one = pentanomial(np.bincount(points, minlength=5).tolist())
            met.append(reading.Met(one.elo, one.error, one.bound))
        if not any(one.bound for one in met):
            known += 1
            held += abs(met[0].elo - met[1].elo) <= reading.difference_error(met[0].error, met[1].error)
    assert known > 500 and 0.93 <= held / known <= 0.995, held / known


# -- Tags and notes --------------------------------------------------------------------------------------------------


def test_tags_and_a_note_stay_with_the_run(full, tmp_path):
    """Listed, kept by who resumes, checks and archives the run; of a study, in its own row."""
    place = tmp_path / "runs" / "run"
    shutil.copytree(full, place)
    assert reading.listed(place.parent).rows[0]["tags"] == ""
    first = Notes(tags_in(" good,, opening book ,good"), "Ä <b>note</b>\nof two lines")
    write_notes(place, first, Notes())
    assert read_notes(place) == first and first.tags == ["good", "opening book"]
    assert reading.listed(place.parent).rows[0]["tags"] == "good, opening book"
    with pytest.raises(UserError, match="changed meanwhile"):
        write_notes(place, Notes(["mine"]), Notes())
    for words in (["run", "--out", str(place), "--resume"], ["check", str(place)]):
        done = call(*words)
        assert done.exit_code == 0, done.output
    pytest.importorskip("rocrate", reason="archives need the extra `archive`")
    (tmp_path / "scratch").mkdir()
    work = archive.Work("a run", ("me",), "CC0-1.0", "2026-01-02")
    assert NOTES in archive.write_archive(place, tmp_path / "a.zip", work, tmp_path / "scratch", lambda _: None)
    assert call("check", str(tmp_path / "a.zip")).exit_code == 0 and read_notes(place) == first


@pytest.mark.parametrize("data", [
    b"", b"{", b"[]", b'{"tags": 3}', b'{"tags": [], "mine": 1}', b"\xff", b"[" * 9000, b'{"note": "' + b"x" * 70_000,
])  # fmt: skip
def test_bad_notes_are_told_and_stay(full, tmp_path, data):
    place = tmp_path / "runs" / "run"
    shutil.copytree(full, place)
    (place / NOTES).write_bytes(data)
    for use in (read_notes, lambda place: write_notes(place, Notes(["new"]), Notes())):
        with pytest.raises(UserError, match=r"notes\.json cannot be read: .*it is left as it is"):
            use(place)
    assert reading.listed(place.parent).rows[0]["tags"] == "(notes.json cannot be read)"
    assert (place / NOTES).read_bytes() == data


def test_notes_are_bounded_and_lie_in_the_folder(tmp_path):
    for note, why in (("x" * 70_000, "may have 65,536"), ("\ud800", "surrogates")):
        with pytest.raises(UserError, match=why):
            write_notes(tmp_path, Notes([], note), Notes())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / NOTES).symlink_to(tmp_path / "other")
    with pytest.raises(UserError, match="symbolic link"):
        write_notes(tmp_path, Notes(["a"]), Notes())


# -- Games ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_replayed(name, tmp_path):
    """With a board at each ply, and the files that it has."""
    game = games.make(SMALL.get(name, name))
    if game.players == 1:
        config = {"format": "single_player", "game": str(game), "games": 1, "agents": ["random"], "seed": 2}
        place = store_runs_alone(tmp_path / "run", config)
    else:
        config = {"game": str(game), "games": 2, "agents": ["random", "flat(playouts=2)"], "seed": 2}
        place = store_run(tmp_path / "run", config | {"opening_plies": 0 if name == "tree" else 2})
    with Store.open(place) as store:
        record = next(store.records())
    found = replaying.replayed(place, record.id)
    assert found.moves == f"{record.opening_moves} {record.moves}".split() and len(found.sides) == len(
        found.values
    ) == len(found.moves)
    assert json.dumps(found) and found.result and record.first in found.players
    last = min(len(found.moves), 3)
    boards = {replaying.board(place, record.id, ply) for ply in (0, last)}
    assert all(one.startswith("<svg") for one in boards) and len(boards) == 1 + (last > 0)
    for suffix in found.suffixes:
        assert replaying.game_file(place, record.id, suffix)
    (again, *_) = from_jsonl(replaying.game_file(place, record.id, "jsonl").decode())
    assert again.moves == record.moves
    with pytest.raises(UserError, match="is out of range"):
        replaying.board(place, record.id, len(found.moves) + 1)


def test_what_an_agent_thought_stands_beside_the_board(full):
    with Store.open(full) as store:
        record = next(store.records())
    found = replaying.replayed(full, record.id)
    ply = next(decision.ply for decision in record.decisions if decision.side == 0)
    assert found.decisions[ply].startswith(
        f"{record.first}: {found.moves[ply]}, value for the first player +0.000, depth"
    )
    assert found.candidates[ply].rows[0] == ("<i>", "20", "50.0 %", "-0.250")
    other = next(decision for decision in record.decisions if decision.side == 1)  # whose value is 0.1, for the second
    assert found.values[other.ply] == -other.value and "first player -0.1" in found.decisions[other.ply]
    with pytest.raises(UserError, match="no game 'none'"):
        replaying.replayed(full, "none")


def test_a_plug_in_that_is_not_trusted_is_not_imported(full, tmp_path):
    with Store.open(full) as source:
        records, meta, agents = list(source.records()), source.meta, source.agents
    (tmp_path / "strange_plugin.py").write_text("raise SystemExit('imported')")
    config = meta["config"] | {"plugins": ["strange_plugin"], "plugin_path": str(tmp_path)}
    with Store.create(tmp_path / "run", meta | {"config": config}, agents) as store:
        store.add_all(records)
    assert reading.overview(tmp_path / "run").stored == 18
    assert replaying.replayed(tmp_path / "run", records[0].id).moves  # by the rules of a game that is ours
    strange = meta | {"config": config | {"instances": ["strange_game"]}}
    with Store.create(tmp_path / "strange", strange, agents) as store:
        store.add_all(records)
    with pytest.raises(TrustError, match="strange_plugin"):
        replaying.replayed(tmp_path / "strange", records[0].id)


def test_a_game_by_other_rules_is_told(full, tmp_path):
    with Store.open(full) as source:
        record, meta, agents = next(source.records()), source.meta, source.agents
    with Store.create(tmp_path / "run", meta, agents) as store:
        store.add(replace(record, moves="9 9 9"))
    with pytest.raises(UserError, match="9"):
        replaying.replayed(tmp_path / "run", record.id)


# -- A process beside the pages ------------------------------------------------------------------------------------


def answers(seconds, *calls):
    """What work gives, or its error in words, one piece after the other."""

    async def ask():
        beside, found = Apart(seconds), []
        for work in calls:
            try:
                found.append(await beside.do(*work))
            except Failed as error:
                found.append(str(error))
        beside.close()
        return found

    return asyncio.run(ask())


def test_work_is_done_beside_the_pages(full):
    found = answers(60.0, (os.getpid,), (os.getpid,), (reading.table, full, "none"), (os.nice, 0))
    assert found[0] == found[1] != os.getpid() and "this run has standings" in found[2]
    assert found[3] == min(os.nice(0) + apart.NICE, 19)  # the nicest that there is


def test_work_that_dies_or_takes_too_long_is_given_up():
    found = answers(5.0, (os._exit, 3), (os.getcwd,), (time.sleep, 60), (os.getcwd,), (json.loads, "{"))
    assert "has died" in found[0] and "more than 5 s" in found[2] and found[1] == found[3] == os.getcwd()
    assert "Expecting" in found[4]


def test_a_page_that_is_closed_gives_up_its_work():
    async def ask():
        beside = Apart(60.0)
        await beside.do(os.getcwd)  # its process has started
        closed = asyncio.create_task(beside.do(time.sleep, 60))
        last = asyncio.create_task(beside.do(os.getcwd))
        await asyncio.sleep(0.5)
        closed.cancel()
        found = await last
        beside.close()
        return found

    begun = time.monotonic()
    assert asyncio.run(ask()) == os.getcwd() and time.monotonic() - begun < 30


def test_a_run_in_play_says_which_games_its_tables_are_of():
    seen = reading.Live("running", 394, 1200, 2.0, [], [], 63, 0.1)
    assert run_page._in_words(seen) == (
        "394 of 1,200 games, running, 2 games a second, 0:06:43 left, tables and figures are of 63"
    )
    assert "tables and figures" not in run_page._in_words(seen._replace(read=394))


def test_no_work_waits_for_another_while_a_process_is_free():
    """A slow page, killed, costs no other one anything; what is read again goes where it was read."""

    async def ask():
        beside = Apart(60.0, 2)
        slow = asyncio.create_task(beside.do(time.sleep, 60))
        await asyncio.sleep(0.1)  # it has the first process
        own = [await beside.do(process_of, name) for name in ("run", "run", "other")]
        free = not beside.is_busy
        waiting = [asyncio.create_task(beside.do(process_of, name)) for name in ("run", "other")]
        os.kill(next(iter(beside._beside[0]._pool._processes)), signal.SIGKILL)
        found = await asyncio.gather(slow, *waiting, return_exceptions=True)
        beside.close()
        return own, free, found

    own, free, (killed, *others) = asyncio.run(ask())
    assert len(set(own)) == 1 and free and "has died" in str(killed) and all(isinstance(one, int) for one in others)


def process_of(_):
    return os.getpid()


@pytest.mark.slow
def test_work_has_seconds_of_its_own_however_long_it_has_waited():
    async def ask():
        beside = Apart(8.0)
        works = [beside.do(time.sleep, seconds) for seconds in (5, 5, 60)]
        found = await asyncio.gather(*works, beside.do(os.getcwd), return_exceptions=True)
        beside.close()
        return found

    found = asyncio.run(ask())
    assert found[:2] == [None, None] and "more than 8 s" in str(found[2]) and found[3] == os.getcwd()


def many(size, kind):
    """So many letters."""
    return kind(size)


def test_what_a_page_shows_has_a_bound_and_files_to_save_have_none(full, tmp_path, monkeypatch):
    found = answers(60.0, (many, apart.MOST_SHOWN + 1, bytes), (many, apart.MOST_SHOWN + 1, bytearray))
    assert len(found[0]) > apart.MOST_SHOWN and found[1] == "this has 4 MB, and a page shows 4 at most"
    monkeypatch.setattr(reading, "MOST_COLOURED", 20)
    monkeypatch.setattr(reading, "MOST_CELL", 3)
    reading._last.clear()
    assert "characters, too many to be shown here" in reading.overview(full).configuration
    assert max(len(cell) for row in reading.table(full, "standings").rows for cell in row) == 3
    reading._last.clear()
    place = tmp_path / "study"
    place.mkdir()
    (place / "plan.json").write_text("[" * 4_000_000)
    begun = time.monotonic()
    (shown,) = answers(60.0, (reading.overview, place))
    assert "4,000,000 characters, too many" in shown.configuration and time.monotonic() - begun < 20


# -- What is started -----------------------------------------------------------------------------------------------


def test_a_run_outlives_who_started_it(tmp_path):
    """A process starts it, and is killed: the run goes on to its end."""
    place = tmp_path / "run"
    arguments = ["run", "--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=2)", "--games", "40"]
    text = (
        "import os, signal\nfrom pathlib import Path\nfrom arena.lab.launching import start\n"
        f"start(Path({str(place)!r}), {[*arguments, '--out', str(place)]!r})\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == -9
    until(lambda: (place / "tournament.sqlite").exists() and reading.live(place).state == "finished")
    until(lambda: "rank" in (place / launching.LOG).read_text())
    assert len(results.load(place)) == 40


def test_a_command_that_fails_says_why(tmp_path):
    launching.start(tmp_path / "run", ["run", "--out", str(tmp_path / "run"), "--resume"])
    until(lambda: not launching.is_starting(tmp_path / "run"))
    assert "no tournament in" in launching.fault(tmp_path / "run")
    assert launching.fault(tmp_path / "other") == ""


def test_a_run_is_started_once(full, tmp_path):
    with Store.create(tmp_path / "busy", {}, []), pytest.raises(UserError, match="is being played already"):
        launching.start(tmp_path / "busy", ["--version"])
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"File exists|Not a directory"):
        launching.start(tmp_path / "file", ["--version"])
    assert Path(full).exists()


def test_a_part_of_a_study_goes_on_with_the_study(tmp_path, monkeypatch):
    """Whether the part has a plan of its own or not; by the command that goes on with whatever a folder holds."""
    called = []
    monkeypatch.setattr(launching, "start", lambda *what: called.append(what))
    for part in ("part", "planned"):
        (tmp_path / "study" / part).mkdir(parents=True)
    for place in (tmp_path / "study", tmp_path / "study" / "planned"):
        (place / "plan.json").write_text("{}")
    for place in (tmp_path / "study", tmp_path / "study" / "part", tmp_path / "study" / "planned"):
        launching.go_on(place)
        assert called.pop() == (tmp_path / "study", ["run", "--out", str(tmp_path / "study"), "--resume"])
    launching.go_on(tmp_path / "run", 8)
    assert called == [(tmp_path / "run", ["run", "--out", f"{tmp_path}/run", "--resume", "--games", "8"])]


# -- New runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys, words, games", [
    ('format = "sprt"\ngames = 10000', "at most 10,000 games", 10_000),
    ('format = "swiss"\ngames = 4', "at most 4 games", 4),
    ('format = "knockout"\ngames = 4', "at most 8 games", 8),
    ("games = 4", "4 games for each pair: 4 games", 4),
])  # fmt: skip
def test_at_most_is_what_can_be_played_and_not_what_is_played_first(keys, words, games, tmp_path):
    text = f'game = "tictactoe"\nagents = ["random", "flat(playouts=1)"]\n{keys}\n'
    found = asking.checked("two agents", text, tmp_path / "new.toml")
    assert found.about.endswith(words) and found.games == games


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_form_begins_with_can_be_started(kind, tmp_path):
    found = asking.checked(kind, KINDS[kind].text, tmp_path / "new.toml")
    assert found.faults == [] and found.about and (found.games is not None) == KINDS[kind].played
    assert KINDS[kind].command[0] in ("run", "study", "tune")
    for key, value in tomllib.loads(KINDS[kind].text).items():
        assert new_run_page._value(key, asking.field_text(value)) == value
        assert key in (*KINDS[kind].keys, *KINDS[kind].more)


@pytest.mark.parametrize("kind, text, why", [
    ("two agents", "game = ", "is not TOML"),
    ("two agents", 'game = "connect4"\ngames = 3\nagents = ["uct", "random"]', "games = 3: .*even number"),
    ("two agents", 'game = "conect4"\ngames = 2\nagents = ["random", "uct(playouts=1)"]', "unknown game 'conect4'"),
    ("a class of agents", 'plugins = ["no_such_plugin"]', "no_such_plugin"),
    ("parallel schemes", 'game = "connect4"\nscheme = ["root"]', "scheme: is no key of a study of schemes"),
    ("parallel schemes", 'game = "connect4"\nschemes = ["alphabeta"]', "^scheme alphabeta: is not a parallel search"),
    ("a tuning", 'game = "nim"\nagent = "uct"\nparameters = { exploration = 3 }', "^parameters.exploration = 3: is"),
    ("a tuning", 'agent = "uct(playouts=9)"\nparameters = { exploration = [1, 2] }', "^game: is missing"),
    ("a tuning", 'agent = "uct(playouts=9)"\nparameters = { exploration = [1, 2] }\nagents = []', "^agents: cannot"),
])  # fmt: skip
def test_mistakes_in_a_new_run_are_those_of_the_command_line(kind, text, why, tmp_path):
    found = asking.checked(kind, text, tmp_path / "new.toml")
    assert re.search(why, "\n".join(found.faults)) and not any(
        fault.startswith(str(tmp_path)) for fault in found.faults
    )


@pytest.mark.parametrize("fault, key", [
    ("games = 3: is odd", "games"), ("game = 'x': unknown game", "game"), ("agents[1].agent = 'x': unknown", "agents"),
    ("parameters.exploration: is missing", "parameters"), ("scheme leaf: x", "schemes"), ("budgets: x", None),
    ("unknown agent 'games'", None), ("", None), ("is not TOML: games", None),
])  # fmt: skip
def test_a_fault_stands_beside_the_field_of_its_key(fault, key):
    keys = ("game", "games", "agents", "schemes", "parameters", "budget")
    assert asking.key_of(fault, keys) == key


NESTED = {"ties": {"choices": ["a", "\u2028\n"]}, "options": {"Skill Level": {"low": 0, "high": 20, "whole": True}}}


@pytest.mark.parametrize("value", [
    "text", 3, ["a", "b"], [1, 2], {"playouts": 1000}, {"clock": "10+0.1", "playouts": 3}, NESTED,
])  # fmt: skip
def test_a_field_says_what_the_text_says(value):
    key = {str: "format", int: "games", dict: "budget"}.get(type(value), "agents" if value == ["a", "b"] else "workers")
    assert new_run_page._value(key, asking.field_text(value)) == value


def test_a_field_changes_its_key_and_nothing_else():
    text = '# why\ngame = "connect4"  # small\ngames = 20\nagents = ["a"]\n\n[budget]\nplayouts = 5 # few\n'
    for key, value, old, new in (
        ("games", 30, "20", "30"),
        ("agents", ["a", "b"], '["a"]', '["a", "b"]'),
        ("agents", ["a", "b", "c"], '["a"]', '[\n    "a",\n    "b",\n    "c",\n]'),
        ("games", "", "games = 20\n", ""),
        ("seed", 4, '["a"]\n', '["a"]\nseed = 4\n'),
        ("budget", {}, "\n[budget]\nplayouts = 5 # few\n", "\n"),
    ):
        assert with_key(text, key, value) == text.replace(old, new)


def test_a_plug_in_of_the_current_folder_is_found(tmp_path, monkeypatch):
    """As `arena run --plugin` finds it; where it is looked for is written into the file."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "of_this_folder.py").write_text(
        "from arena.games import TicTacToe\nclass Here(TicTacToe):\n    name = 'here'\n"
    )
    monkeypatch.chdir(tmp_path)
    text = 'game = "here"\ngames = 2\nplugins = ["of_this_folder"]\nagents = ["random", "uct(playouts=2)"]\n'
    (found,) = answers(60.0, (asking.checked, "two agents", text, Path("runs", "here-1.toml")))
    assert found.faults == [] and found.games == 2
    written = asking.placed(text, Path("runs"))
    assert written == f'plugin_path = "{tmp_path}"\n{text}'
    assert asking.placed(written, Path("runs")) == written and asking.placed(text, Path()) == text


def test_a_trial_says_how_long(tmp_path, monkeypatch):
    """From some games that are played and thrown away; or why there is none."""
    monkeypatch.setattr(trial, "PLAYED", 2.0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = 'game = "connect4"\ngames = 20000\nagents = ["uct(playouts=100)", "random"]\n'
    (tmp_path / "new.toml").write_text(text)
    said = asyncio.run(trial.trial(tmp_path / "new.toml", ["--workers", "1"], 20000))
    assert re.fullmatch(r"about \d+ (s|min): [\d,]+ of 20,000 games took [23] s", said), said
    (tmp_path / "new.toml").write_text(text.replace("20000", "2"))
    assert asyncio.run(trial.trial(tmp_path / "new.toml", ["--workers", "1"], 2)) == "2 s or less"
    (tmp_path / "new.toml").write_text(KINDS["a tuning"].text.replace("playouts=100", "playouts=2000"))
    said = asyncio.run(trial.trial(tmp_path / "new.toml", ["--workers", "1"], 3000, KINDS["a tuning"].command))
    assert re.fullmatch(r"about \d+ (s|min): [\d,]+ of 3,000 games took [23] s", said), said
    (tmp_path / "new.toml").write_text(text.replace("uct", "utc"))
    with pytest.raises(Failed, match="utc"):
        asyncio.run(trial.trial(tmp_path / "new.toml", ["--workers", "1"], 2))
    assert [path.name for path in tmp_path.iterdir()] == ["new.toml"]


@pytest.mark.parametrize("seconds, words", [(5, "5 s"), (600, "10 min"), (7200, "2.0 h"), (10**6, "12 days")])
def test_seconds_in_words(seconds, words):
    assert trial.in_words(10, 10.0, seconds) == f"about {words}: 10 of {seconds:,} games took 10 s"


def test_a_plug_in_that_was_edited_is_read_again(tmp_path):
    """A process that has imported the old one is replaced."""
    game = "from arena.games.tictactoe import TicTacToe\n\nclass {0}(TicTacToe):\n    name = '{0}'\n"
    text = 'plugins = ["edited_plugin"]\ngame = "{}"\ngames = 2\nagents = ["random", "flat(playouts=1)"]\n'

    async def ask():
        beside, found = Apart(60.0), []
        for name in ("one", "three", "eleven"):
            (tmp_path / "edited_plugin.py").write_text(game.format(name))
            found.append(await beside.do(asking.checked, "two agents", text.format(name), tmp_path / "new.toml"))
        beside.close()
        return found

    found = asyncio.run(ask())
    assert [one.faults for one in found] == [[]] * 3
    assert [one.about.split(":")[0] for one in found] == ["one", "three", "eleven"]
