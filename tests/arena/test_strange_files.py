"""What anybody may have put into the folder of a run: nothing hangs, nothing outside is changed, one line says why."""

import os
import re
import shutil
import signal
import socket
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.games.core.shared.files import check_plain, make_folder, open_to_append, read_plain, write_whole
from arena.results.database.store import busy
from arena.results.database.store_file import StoreError
from tests.arena.stored import CONFIG, store_run
from tests.typed import call

ROOT = Path(__file__).parents[2]
STORE = "tournament.sqlite"
PLACES = (STORE, f"{STORE}-wal", f"{STORE}-shm", f"{STORE}-journal", "lock", "log.txt", "playing.json", "wish")
WRITTEN = ("report.html", "figures", "figures/ratings.svg", "plots", "plots/ratings.svg", "console.txt")
KINDS = ("link", "link to nothing", "link to a folder", "pipe", "socket", "folder")
COMMANDS = {
    "status": "status {run}",
    "table": "table {run}",
    "runs": "runs {above}",
    "elo": "elo {run}",
    "check": "check {run}",
    "mend": "check {run} --mend",
    "show": "show {run} g0001",
    "export": "export {run} --format jsonl",
    "pgn": "export {run} --format pgn",
    "report": "report {run}",
    "plot": "plot {run} ratings",
    "resume": "run --out {run} --resume --games 6 --workers 1",
    "merge": "merge {run} {run} --out {above}/merged",
    "archive": "study archive {run} --author me --output {above}/a.zip --force",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run with all that is written into its folder."""
    folder = store_run(tmp_path_factory.mktemp("strange") / "run", CONFIG | {"games": 2, "opening_plies": 0})
    for place in ("figures", "plots"):
        (folder / place).mkdir()
    return folder


@contextmanager
def seconds(most):
    """An endless call is a failure."""

    def late(*_):
        raise AssertionError(f"took more than {most} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def put(place, kind, outside):
    """Something strange at a place, which leads to what lies outside if it can."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    if kind == "socket":
        os.chdir(place.parent)  # addresses of sockets are short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place.name)
        return
    {
        "link": lambda: place.symlink_to(outside / "letter"),
        "link to nothing": lambda: place.symlink_to(outside / "new"),
        "link to a folder": lambda: place.symlink_to(outside),
        "pipe": lambda: os.mkfifo(place),
        "folder": place.mkdir,
    }[kind]()


def held_by(folder):
    return {path.relative_to(folder).as_posix(): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def strange(whole, tmp_path, name, kind):
    """(a run with something strange, what lies outside)."""
    run, outside = tmp_path / "all" / "run", tmp_path / "outside"
    shutil.copytree(whole, run)
    outside.mkdir()
    real = whole / name if (whole / name).is_file() else whole / STORE
    (outside / "letter").write_bytes(real.read_bytes() if real.is_file() else b"precious")
    for name_of_ours in ("ratings.svg", "report.html", "notes"):
        (outside / name_of_ours).write_text("precious")
    put(run / name, kind, outside)
    return run, outside


QUICK = {("lock", "pipe"), (STORE, "link")}  # the test below has one place of each kind of writing


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) in QUICK else pytest.mark.slow)
        for name in (*PLACES, *WRITTEN)
        for kind in KINDS
    ],
)
def test_nothing_hangs_and_nothing_outside_changes(whole, tmp_path, monkeypatch, undrawn, name, kind):
    monkeypatch.chdir(tmp_path)
    run, outside = strange(whole, tmp_path, name, kind)
    before = held_by(outside)
    for command, words in COMMANDS.items():
        with seconds(60):
            done = call(*words.format(run=run, above=run.parent).split())
        assert done.exception is None or isinstance(done.exception, SystemExit), (command, done.exception)
        assert done.exit_code in (0, 1, 2) and "Traceback" not in done.output, (command, done.output)
        assert held_by(outside) == before, command


STUDIES = {
    "study": (
        'game = "tictactoe"\ngames = 4\nplayouts = [4, 8]\nworkers = [1, 2]\nschemes = ["root"]\n',
        "study schemes",
        ("plan.json", "times.json", "scaling.csv", "scaling.tex", "schemes.pdf", "throughput.csv", "tictactoe-4"),
        ("--speed-seconds", "0"),
    ),
    "tuning": (
        'game = "tictactoe"\nagent = "uct(playouts=4)"\ngames = 32\nat_once = 2\npairs = 2\n'
        "[parameters]\nexploration = [0.1, 2.0]\n",
        "tune",
        ("tuning.json", "steps.jsonl", "recommended.toml"),
        (),
    ),
}
OF_STUDIES = ("table {run}", "plot {run} {figure}", "{again} --out {run} --resume")


@pytest.fixture(scope="module", params=STUDIES)
def study(request, tmp_path_factory):
    """(its kind, a finished study or tuning)."""
    text, command, _, more = STUDIES[request.param]
    folder = tmp_path_factory.mktemp("studies")
    (folder / "it.toml").write_text(text)
    words = [*command.split(), folder / "it.toml", "--out", folder / "run", "--workers", "1", *more]
    done = call(*words)
    assert done.exit_code == 0, done.output
    return request.param, folder / "run"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe"])
def test_nothing_hangs_for_a_study_either(study, tmp_path, monkeypatch, undrawn, kind):
    what, folder = study
    monkeypatch.chdir(tmp_path)
    figure = {"study": "speedup", "tuning": "tuning"}[what]
    for number, name in enumerate(STUDIES[what][2]):
        place = tmp_path / str(number)
        place.mkdir()
        if (folder / name).is_dir() and kind == "folder":
            continue
        run, outside = strange(folder, place, name, kind)
        before = held_by(outside)
        for words in OF_STUDIES:
            with seconds(60):
                done = call(*words.format(run=run, above=run.parent, figure=figure, again=STUDIES[what][1]).split())
            assert done.exception is None or isinstance(done.exception, SystemExit), (name, words, done.exception)
            assert done.exit_code in (0, 1, 2, 3) and "Traceback" not in done.output, (name, words, done.output)
            assert held_by(outside) == before, (name, words)


@pytest.mark.parametrize(
    ("command", "name", "kind", "why"),
    [
        ("status", "lock", "pipe", "lock is a pipe where a plain file should be"),
        ("resume", "lock", "pipe", "lock is a pipe where a plain file should be"),
        ("resume", STORE, "link", f"{STORE} is a symbolic link where a plain file should be"),
        ("report", "report.html", "link", "report.html: is a symbolic link where a plain file should be"),
        ("report", "figures", "link to a folder", "figures: is a symbolic link, and what is written stays"),
        ("plot", "plots", "link to a folder", "plots: is a symbolic link, and what is written stays"),
    ],
)
def test_it_is_said_in_a_line(whole, tmp_path, monkeypatch, undrawn, command, name, kind, why):
    monkeypatch.chdir(tmp_path)
    run, outside = strange(whole, tmp_path, name, kind)
    before = held_by(outside)
    with seconds(30):
        done = call(*COMMANDS[command].format(run=run, above=run.parent).split())
    assert done.exit_code == 2 and why in " ".join(done.output.split()), done.output
    assert held_by(outside) == before


def test_a_run_that_cannot_be_read_hides_no_other(whole, tmp_path):
    run, _ = strange(whole, tmp_path, "lock", "pipe")
    shutil.copytree(whole, run.parent / "good")
    with seconds(30):
        listed = call("runs", run.parent).output
    assert "good" in listed and "lock is a pipe" in listed
    with seconds(10), pytest.raises(StoreError, match="is a pipe"):
        busy(run)


# -- The functions that do it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["a", "b/a"])
def test_what_is_written_lies_in_the_folder(tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    for place in (outside, folder):
        place.mkdir()
    for letter in ("letter", "a"):
        (outside / letter).write_text("precious")
    put(folder / name.split("/")[0], kind, outside)
    before = held_by(outside)
    if (name, kind) == ("b/a", "folder"):
        write_whole(folder / name, b"new", folder)
        assert read_plain(folder / name) == b"new"
    else:
        with seconds(10), pytest.raises(OSError, match=r"symbolic link|plain file|exists"):
            write_whole(folder / name, b"new", folder)
    with seconds(10):
        if name == "a":
            with pytest.raises(OSError, match="plain file"):
                open_to_append(folder / name)
        for read in (check_plain, read_plain):
            if (name, kind) not in {("a", "link"), ("a", "link to nothing")} and name == "a":
                with pytest.raises(OSError, match="plain file"):
                    read(folder / name)
    assert held_by(outside) == before and not list(folder.rglob("*.new"))


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)

    def parts():
        yield b"new"
        raise KeyError

    with pytest.raises(KeyError):
        write_whole(tmp_path / "a", parts())
    assert (tmp_path / "a").read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["a"]
    write_whole(tmp_path / "a", [b"ne", b"w"])
    assert (tmp_path / "a").read_text() == "new" and (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    make_folder(tmp_path / "b" / "c", tmp_path)
    with pytest.raises(OSError, match="more than 0 MiB"):
        read_plain(tmp_path / "a", 2)


WRITES = re.compile(
    r"\.write_(text|bytes)\(|open\([^)]*[\"'][rb]?[wax]b?\+?[\"']|mkstemp\(|os\.replace\(|copyfile\(|os\.open\(|os\.link\("
)
WRITERS = {
    "games/core/shared/files.py": "the one place",
    "arena/commands/output.py": "devices and pipes that a user has named",
    "arena/report/archive.py": "a new folder of its own, which is packed; the archive's file",
    "arena/lab/trial.py": "a temporary folder of its own",
    "agents/outside/process.py": "a log that a user has named",
    "arena/workers/confinement.py": "the null device",
    "results/database/rows.py": "a new store, whose place is looked at",
    "results/database/store.py": "a store's old and new files, whose places are looked at",
}


def test_no_other_module_writes_files():
    found = {
        path.relative_to(ROOT).as_posix()
        for room in ("agents", "arena", "games", "results")
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(ROOT / "arena" / room) and WRITES.search(path.read_text())
    }
    assert {name for name in found if not any((ROOT / name).samefile(ROOT / known) for known in WRITERS)} == set()
