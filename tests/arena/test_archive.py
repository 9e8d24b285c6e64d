"""Archives: what they hold, that any change to them is found, and whether their games still give their tables."""

import hashlib
import json
import os
import re
import sqlite3
import sys
import zipfile
from itertools import count
from pathlib import Path

import pytest

import arena
from arena.cli import app
from arena.games.core.shared.errors import UserError
from arena.report import archive
from arena.results.database.store import FILE_NAME
from arena.runner.running import Playing
from arena.runner.study_kinds import SCHEMES
from arena.study import schemes
from arena.study.schemes import SchemesStudy

pytest.importorskip("rocrate", reason="archives need the extra `archive`")

WORK = archive.Work('A "study", in Łódź', ("A. Turing", "Ada: Lovelace"), "CC0-1.0", "2026-01-02")
NIM = {"agents": ["random", "uct(playouts=4)"], "games": 4}


def made(folder, work=WORK) -> Path:
    scratch = folder.parent / f"{folder.name}-scratch"
    scratch.mkdir()
    file = folder.parent / f"{folder.name}.zip"
    archive.write_archive(folder, file, work, scratch, lambda text: None)
    return file


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The archive of a run of two games, of which one is for one player, and of a study of schemes of two games."""
    place = tmp_path_factory.mktemp("archives")
    arena.run(NIM | {"instances": ["nim(heaps=[1, 2])", "tictactoe"]}, place / "two", workers=1)
    arena.run(
        {"game": "leftmove(depth=4)", "agents": ["random", "nmcs(level=1, playouts=9)"], "games": 3}, place / "one"
    )
    study = SchemesStudy(("nim(heaps=[2, 2])", "tictactoe"), ("root",), (2,), (8,), games=4, opening_plies=1)
    schemes.run(study, place / "schemes", playing=Playing(1))
    return {name: made(place / name) for name in ("two", "one", "schemes")}


def members(file) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def packed_again(place, files: dict[str, bytes], honest=True) -> Path:
    """A zip of these files; `honest`: with the metadata's sizes and digests as the files now are."""
    if honest:
        graph = json.loads(files[archive.METADATA])
        for entity in graph["@graph"]:
            if entity["@type"] == "File" and entity["@id"] in files:
                data = files[entity["@id"]]
                entity |= {"contentSize": str(len(data)), "sha256": hashlib.sha256(data).hexdigest()}
        files = files | {archive.METADATA: json.dumps(graph).encode()}
    place = place / "again.zip"
    with zipfile.ZipFile(place, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return place


def checked(capsys, *words) -> tuple[int, str, str]:
    """(exit code, output, errors), each on one line."""
    with pytest.raises(SystemExit) as stopped:
        app(["check", *map(str, words)])
    out, err = capsys.readouterr()
    return stopped.value.code, " ".join(out.split()), " ".join(err.replace("│", " ").split())


def test_an_archive_is_whole_and_gives_its_tables(published, capsys):
    code, out, _ = checked(capsys, published["two"])
    assert code == 0 and re.search(r"zip: (\d+) of \1 games were replayed by the rules, and are legal; .* agree", out)


@pytest.mark.parametrize("name, games", [("one", 6), ("schemes", None)])
def test_a_check_of_an_archive_says_as_json_what_the_page_says(published, name, games, capsys):
    code, out, _ = checked(capsys, published[name], "--json")
    assert code == 0
    report = json.loads(out)
    row = next(
        line for line in (Path(__file__).parents[2] / "docs/json.md").read_text().split("\n") if "of an archive" in line
    )
    assert report.keys() == set(re.findall(r"`(\w+)`", row)) - {"check"}
    assert (report["damaged"], report["different"]) == ([], [])
    assert report["games"] == games or (games is None and report["games"] > 8)
    assert report["replayed"] == report["games"] and report["sha256"] == archive.digest_of(published[name])
    stores = {entry for entry in members(published[name]) if entry.endswith(FILE_NAME)}
    proven = stores.union(report["tables"])
    assert proven.isdisjoint(report["unproven"]) and report["tables"]
    assert proven.union(report["unproven"]) == members(published[name]).keys() - {archive.METADATA}
    assert report["made_by"]["project"] == "0.1.0" and len(report["made_by"]["source_digest"]) == 12


def test_what_an_archive_holds(published):
    files = members(published["two"])
    assert {"CITATION.cff", "about.json", "report.html", "tables/study.csv", "figures/study.svg", FILE_NAME} < set(
        files
    )
    assert json.loads(files["about.json"])["."]["config"]["instances"] == ["nim(heaps=(1, 2))", "tictactoe"]
    citation = files["CITATION.cff"].decode()
    assert 'title: "A \\"study\\", in Łódź"' in citation and '  - name: "Ada: Lovelace"' in citation
    graph = {entity["@id"]: entity for entity in json.loads(files[archive.METADATA])["@graph"]}
    assert graph["./"]["name"] == WORK.title and graph["./"]["license"] == "https://spdx.org/licenses/CC0-1.0"
    assert graph["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    assert {name for name, entity in graph.items() if entity["@type"] == "File"} == set(files) - {archive.METADATA}
    for name in set(files) - {archive.METADATA}:
        assert graph[name]["sha256"] == hashlib.sha256(files[name]).hexdigest()
    assert {"nim-heaps-2-2-8/tables/pairs.csv", "tables/scaling.csv", "plan.json"} < set(members(published["schemes"]))


def test_archives_of_a_run_differ_in_nothing(published, tmp_path):
    """Not even by the time at which they were packed; figures and pages have none."""
    run = published["one"].parent / "one"
    (tmp_path / "copy").mkdir()
    for path in run.iterdir():
        if path.is_file():
            (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    first, second = members(made(tmp_path / "copy")), members(published["one"])
    different = {name for name in first if first[name] != second.get(name)}
    assert first.keys() == second.keys() and different <= {
        "report.html",
        archive.METADATA,
    }  # which have the folder's name


def test_every_file_that_is_altered_added_or_missing_is_found(published, tmp_path):
    files, places = members(published["one"]), (tmp_path / str(number) for number in count())

    def refused(files, told, honest=False):
        with pytest.raises(UserError, match=re.escape(told)):
            archive.unpack(packed_again(tmp_path, files, honest), next(places))

    for name in files.keys() - {archive.METADATA}:
        for changed in (bytes([files[name][0] ^ 1]) + files[name][1:], files[name][:-1], files[name] + b"\n"):
            refused(files | {name: changed}, f"{name} was altered")
        refused({other: data for other, data in files.items() if other != name}, f"{name} is missing", honest=True)
    refused(files | {"more.csv": b""}, "more.csv was added", honest=True)
    assert archive.unpack(packed_again(tmp_path, files), next(places))


def test_no_more_is_said_of_an_archive_than_is_proven(published, tmp_path, capsys):
    """Any file but games and tables may be another with the metadata as it now is; the archive's SHA-256 differs."""
    files = members(published["one"])
    _, out, _ = checked(capsys, published["one"], "--json")
    first = json.loads(out)
    assert {"report.html", "about.json", "CITATION.cff"} < set(first["unproven"])
    again = packed_again(tmp_path, files | dict.fromkeys(first["unproven"], b"Our agent won all games."))
    code, out, _ = checked(capsys, again, "--json")
    changed, known = json.loads(out), ("archive", "sha256")
    assert code == 0 and [key for key in first if first[key] != changed[key]] == list(known)
    code, out, _ = checked(capsys, again)
    assert code == 0 and "published one: " + changed["sha256"] in out and "as they were" not in out
    assert "Not proven: CITATION.cff, about.json, report.html" in out and "whoever changes them can rewrite" in out


def test_games_that_were_not_replayed_are_not_called_legal(published, tmp_path, capsys, undrawn):
    """Because nobody asked, or because the run has no configuration, as imports have none."""
    code, out, _ = checked(capsys, published["one"], "--no-replay")
    assert code == 0 and "none of its 6 games was replayed" in out and "legal" not in out and FILE_NAME in out
    (tmp_path / "table.csv").write_text("white,black,result\nann,bob,1-0\nbob,ann,1/2-1/2\n")
    with pytest.raises(SystemExit, match="0"):
        app(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "imported")])
    capsys.readouterr()
    code, out, _ = checked(capsys, made(tmp_path / "imported"))
    assert code == 0 and "none of its 2 games was replayed" in out and "legal" not in out and FILE_NAME in out


@pytest.mark.parametrize("name, told", [
    ("cut.zip", "cut.zip is a damaged archive, or none"),
    ("empty.zip", "empty.zip is a damaged archive, or none"),
    ("none.zip", "none.zip is a damaged archive, or none"),
    ("pipe.zip", "pipe where a plain file should be"),
    ("two/tournament.sqlite", "tournament.sqlite is a damaged archive, or none"),
])  # fmt: skip
def test_a_file_is_no_folder_of_a_run(published, name, told, tmp_path, capsys):
    (tmp_path / "cut.zip").write_bytes(published["two"].read_bytes()[:-100])
    (tmp_path / "empty.zip").touch()
    os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "two").symlink_to(published["two"].parent / "two")
    code, out, err = checked(capsys, tmp_path / name)
    assert code == 2 and told in err and "no tournament" not in err and not out


def test_tables_that_do_not_follow_from_the_games_are_found(published, tmp_path, capsys):
    """Though the metadata were changed with them."""
    files = members(published["one"])
    table = files["tables/scores.csv"].decode().replace("random", "randon")
    code, out, err = checked(capsys, packed_again(tmp_path, files | {"tables/scores.csv": table.encode()}))
    assert code == 1 and "tables/scores.csv differs" in err and "1 differ" in out
    rounded = "\n".join(
        line + "e0" if line[-1].isdigit() else line for line in files["tables/scores.csv"].decode().split("\n") if line
    )
    code, _, _ = checked(capsys, packed_again(tmp_path, files | {"tables/scores.csv": rounded.encode()}))
    assert code == 0


def test_games_that_were_altered_are_found(published, tmp_path, capsys):
    files = members(published["two"])
    store = tmp_path / "altered.sqlite"
    store.write_bytes(files[FILE_NAME])
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE games SET outcome = -outcome WHERE game = 1")
    connection.close()
    code, out, err = checked(capsys, packed_again(tmp_path, files | {FILE_NAME: store.read_bytes()}))
    assert code != 0 and "agree" not in out and out + err


@pytest.mark.parametrize("name", ["../escaped", "/absolute", "a/../../b", "a\\b", "", archive.METADATA])
def test_names_outside_the_archive_are_refused(published, name, tmp_path, capsys):
    files = members(published["two"])
    graph = json.loads(files[archive.METADATA])
    graph["@graph"].append({"@id": name, "@type": "File", "contentSize": "0", "sha256": hashlib.sha256().hexdigest()})
    files |= {archive.METADATA: json.dumps(graph).encode()}
    code, _, err = checked(capsys, packed_again(tmp_path, files, honest=False))
    assert code == 2 and "outside the archive" in err and sorted(tmp_path.iterdir()) == [tmp_path / "again.zip"]


@pytest.mark.parametrize("text, told", [
    (b"", "describes no archive of ours"),
    (b"[]", "describes no archive of ours"),
    (b'{"@graph": [3]}', "describes no archive of ours"),
    (b'{"@graph": [{"@id": "a", "@type": "File"}]}', "describes no archive of ours"),
    (b'{"@graph": [{"@id": "a", "@type": "File", "contentSize": "1e9", "sha256": ""}]}', "describes no archive"),
    (b'{"@graph": [{"@id": "a", "@type": "File", "contentSize": "99999999999999", "sha256": ""}]}', "more than 16 GB"),
    (b'{"@graph": [{"@id": "a", "@type": "File", "contentSize": "-9", "sha256": ""}]}', "describes no archive of ours"),
    (b'{"@graph": [{"@id": "a", "@type": "File", "contentSize": 1e999, "sha256": ""}]}', "describes no archive"),
    (b'{"@graph": [{"@id": 3, "@type": "File", "contentSize": "0", "sha256": ""}]}', "the name 3 is not text"),
    pytest.param(b"[" * 100_000, "describes no archive of ours", id="deep"),
])  # fmt: skip
def test_metadata_that_are_none(text, told, tmp_path, capsys):
    code, _, err = checked(capsys, packed_again(tmp_path, {archive.METADATA: text, "a": b""}, honest=False))
    assert code == 2 and told in err


@pytest.mark.parametrize("base, changed, told", [
    ("", {"x": b"y"}, "holds no run, so there is nothing to check"),
    ("schemes", {SCHEMES.file: b"[" * 100_000}, "does not describe a study of schemes"),
    ("two", {"tables/table.csv": b"\xff"}, "table.csv"),
])  # fmt: skip
def test_honest_archives_that_hold_nonsense(published, base, changed, told, tmp_path, capsys):
    files = (members(published[base]) if base else {archive.METADATA: b'{"@graph": []}'}) | changed
    graph = json.loads(files[archive.METADATA])
    known = {entity["@id"] for entity in graph["@graph"]}
    graph["@graph"] += [{"@id": name, "@type": "File"} for name in changed.keys() - known]
    code, _, err = checked(capsys, packed_again(tmp_path, files | {archive.METADATA: json.dumps(graph).encode()}))
    assert code in (1, 2) and told in err and len(err) < 1000


def test_what_is_no_archive(published, tmp_path, capsys):
    code, _, err = checked(capsys, packed_again(tmp_path, {"a": b""}, honest=False))
    assert code == 2 and "is no archive of a study: it has no ro-crate-metadata.json" in err
    cut = tmp_path / "cut.zip"
    data = bytearray(published["two"].read_bytes())
    data[200:260] = bytes(60)
    cut.write_bytes(data)
    code, _, err = checked(capsys, cut)
    assert code == 2 and ("is a damaged archive, or none" in err or "describes no archive" in err)
    code, _, err = checked(capsys, published["two"], "--mend")
    assert code == 2 and "stays as it was published" in err


@pytest.mark.parametrize("words, told", [
    (("two",), '--author is missing: an archive is cited by its authors'),
    (("none", "--author", "A"), "holds no run: give the folder"),
    ((".", "--author", "A"), "is no run, but holds some"),
])  # fmt: skip
def test_what_cannot_be_archived(published, words, told, capsys, monkeypatch):
    monkeypatch.chdir(published["two"].parent)
    Path("none").mkdir(exist_ok=True)
    with pytest.raises(SystemExit) as stopped:
        app(["study", "archive", *words])
    assert stopped.value.code == 2 and told in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not Path("none.zip").exists()


def test_the_package_that_is_needed_is_named(published, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        app(["study", "archive", str(published["one"].parent / "one"), "--author", "A"])
    assert stopped.value.code == 2 and 'pip install "search-arena[archive]"' in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_command(published, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["study", "archive", str(published["one"].parent / "one"), "--author", "A", "--author", "B"]
    with pytest.raises(SystemExit) as stopped:
        app(words)
    out = " ".join(capsys.readouterr().out.split())
    assert stopped.value.code == 0 and archive.digest_of(tmp_path / "one.zip") in out
    assert [path.name for path in tmp_path.iterdir()] == ["one.zip"]
    with pytest.raises(SystemExit) as stopped:
        app(words)
    assert stopped.value.code == 2 and "one.zip" in capsys.readouterr().err
