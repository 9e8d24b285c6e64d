"""The store: round trips, one writer, crashes, damage, a full disk."""

import fcntl
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading

import pytest

from arena import results
from arena.results.database.store import (
    FILE_NAME,
    LOCK_NAME,
    SCHEMA_VERSION,
    Store,
    StoreBusy,
    StoreError,
    StoreExists,
    busy,
)
from tests.results.sample import AGENTS, META, make_game


def test_round_trip(folder, games):
    with Store.open(folder) as store:
        assert store.meta == META and store.agents == AGENTS
        assert store.ids() == {game.id for game in games}
        for game in games:
            assert store.record(game.id) == game


def test_one_player_games_and_games_without_decisions(tmp_path):
    game = make_game(second=None, outcome=None, score=17.5, decisions=(), seed=2**63)
    with Store.create(tmp_path, {}, AGENTS) as store:
        store.add(game)
        assert store.record(game.id) == game


def test_duplicate_id_and_stranger_are_refused_whole(tmp_path):
    with Store.create(tmp_path, META, AGENTS) as store:
        store.add(make_game())
        with pytest.raises(StoreError, match=r"'0-0-a'.*stored already"):
            store.add(make_game())
        with pytest.raises(StoreError, match="not among the agents"):
            store.add(make_game("other", first="nobody"))
        twice = make_game("torn", decisions=make_game().decisions[:1] * 2)
        with pytest.raises(StoreError, match="'torn'"):
            store.add(twice)
        assert store.ids() == {"0-0-a"}
        assert store.select("SELECT COUNT(*) FROM moves") == [(3,)]


def test_a_game_that_is_added_while_the_tallies_are_read_is_no_damage(folder, monkeypatch):
    """As where a run is exported that is being played."""
    with Store.open(folder) as reader, Store.open(folder, write=True) as writer:
        verified = reader._verified

        def slowly(table, *more):
            found = verified(table, *more)
            if table == "tallies":
                writer.add(make_game("meanwhile", number=99))
            return found

        monkeypatch.setattr(reader, "_verified", slowly)
        assert "meanwhile" not in {game.id for game in reader.records()}
        monkeypatch.undo()
        with reader.unchanged():
            assert len(list(reader.records())) == sum(sums[0] for _, sums in reader.tallies().values())
        assert "meanwhile" in {game.id for game in reader.records()}


def test_who_looks_whether_a_store_is_busy_keeps_nobody_from_it(folder, monkeypatch):
    """`busy` takes the lock for a moment, in which others wait."""
    monkeypatch.setattr(
        "arena.results.database.store_file.PATIENCE", 10.0
    )  # the moment is longer where the machine stalls
    with open(folder / LOCK_NAME, "a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        timer = threading.Timer(0.05, fcntl.flock, (file, fcntl.LOCK_UN))
        timer.start()
        with Store.open(folder, write=True) as store:
            assert busy(folder) and store.ids()
        timer.join()
    assert not busy(folder)


def test_unknown_id_names_some(folder):
    with Store.open(folder) as store, pytest.raises(StoreError, match=r"'nope'.*0-0-a, 0-0-b"):
        store.record("nope")


def test_existing_store_is_not_overwritten(folder):
    with pytest.raises(StoreExists, match="holds a tournament already"):
        Store.create(folder, META, AGENTS)
    with Store.open(folder) as store:
        assert len(store.ids()) == 9


def test_failed_creation_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        Store.create(tmp_path, {"x": object()}, AGENTS)
    assert sorted(os.listdir(tmp_path)) == ["lock"]
    Store.create(tmp_path, META, AGENTS).close()


def test_resume(folder):
    with Store.open(folder, write=True) as store:
        store.add(make_game("late", 9))
    with Store.open(folder) as store:
        assert "late" in store.ids() and len(store.ids()) == 10


# -- one writer ----------------------------------------------------------------------------------------------------


def run_python(code, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    root = os.path.dirname(os.path.dirname(results.__file__))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)


HOLD = """
    import sys, time
    from arena.results.database.store import Store
    store = Store.open(sys.argv[1], write=True)
    print("open", flush=True)
    time.sleep(60)
"""


def test_second_writer_is_refused_until_the_first_is_killed(folder):
    holder = run_python(HOLD, folder)
    try:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreBusy, match="another process is writing"):
            Store.open(folder, write=True)
        with Store.open(folder) as reader:
            assert len(reader.ids()) == 9
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    with Store.open(folder, write=True) as store:
        store.add(make_game("late", 9))


def test_second_writer_in_one_process_is_refused(folder):
    with Store.open(folder, write=True), pytest.raises(StoreBusy):
        Store.open(folder, write=True)
    Store.open(folder, write=True).close()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_forked_worker_does_not_keep_a_killed_writers_lock(folder):
    writer = run_python(
        """
        import multiprocessing, os, sys, time
        from arena.results.database.store import Store

        def work():
            print(os.getpid(), flush=True)  # by the worker, which closes what it inherited before it gets here
            time.sleep(60)

        store = Store.open(sys.argv[1], write=True)
        multiprocessing.get_context("fork").Process(target=work, daemon=True).start()
        time.sleep(60)
        """,
        folder,
    )
    worker = int(writer.stdout.readline())
    try:
        writer.kill()
        writer.wait()
        os.kill(worker, 0)  # it lives on
        Store.open(folder, write=True).close()
    finally:
        os.kill(worker, signal.SIGKILL)
        writer.communicate()


def test_reading_while_writing(folder):
    with Store.open(folder, write=True) as writer, Store.open(folder) as reader:
        for number in range(20):
            writer.add(make_game(f"new-{number}", 9 + number))
            assert len(reader.ids()) == 10 + number


def test_a_store_that_nobody_writes_is_one_file(folder):
    """Companions of WAL mode are there while games are added, and go with the writer; readers leave none."""
    names = lambda: sorted(path.name for path in folder.glob(f"{FILE_NAME}*"))  # noqa: E731
    with Store.open(folder, write=True) as store:
        store.add(make_game("new", 9))
        assert len(names()) == 3
    with Store.open(folder) as store:
        assert len(store.ids()) == 10
    assert names() == [FILE_NAME]
    with Store.open(folder) as reader:
        assert reader.ids()
        with Store.open(folder, write=True) as store:
            store.add(make_game("newer", 10))
        assert len(reader.ids()) == 11


def test_games_survive_a_killed_writer(folder):
    writer = run_python(
        """
        import itertools, sys
        from arena.results.database.store import Store
        from tests.results.sample import make_game
        store = Store.open(sys.argv[1], write=True)
        for number in itertools.count(9):
            store.add(make_game(f"new-{number}", number))
            print(number, flush=True)
        """,
        folder,
    )
    for _ in range(50):
        last = int(writer.stdout.readline())
    writer.kill()
    writer.communicate()
    with Store.open(folder) as store:
        assert {f"new-{number}" for number in range(9, last + 1)} <= store.ids()
        for id in store.ids():
            assert len(store.record(id).decisions) == 3


# -- what cannot be read or written ------------------------------------------------------------------------------------


def test_no_store_here(tmp_path):
    with pytest.raises(StoreError, match=f"no tournament.*{FILE_NAME}"):
        Store.open(tmp_path)


@pytest.mark.parametrize("write", [False, True])
def test_other_version(folder, write):
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 6}")
    connection.close()
    with pytest.raises(StoreError, match=f"schema version {SCHEMA_VERSION + 6}; .* reads version {SCHEMA_VERSION}"):
        Store.open(folder, write)


def test_other_programs_database(tmp_path):
    sqlite3.connect(tmp_path / FILE_NAME).executescript("CREATE TABLE t (x)")
    with pytest.raises(StoreError, match="not a tournament's"):
        Store.open(tmp_path)


@pytest.mark.parametrize("write", [False, True])
def test_not_a_database(tmp_path, write):
    (tmp_path / FILE_NAME).write_text("once upon a time " * 100)
    with pytest.raises(StoreError, match="damaged or not a SQLite file"):
        Store.open(tmp_path, write)


def test_damaged_pages(folder):
    with open(folder / FILE_NAME, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (os.path.getsize(folder / FILE_NAME) - 4096))
    with pytest.raises(StoreError, match="damaged"), Store.open(folder) as store:
        store.ids()


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the folder"):
        Store.create(tmp_path / "file" / "run", META, AGENTS)


@pytest.fixture
def read_only(folder):
    """A copy of the file alone in a read-only folder that every user can reach, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(folder / FILE_NAME, place)
        os.chmod(os.path.join(place, FILE_NAME), 0o444)
        os.chmod(place, 0o555)
        yield place
        os.chmod(place, 0o755)


def test_read_only_folder(read_only):
    """A stored run in a read-only place can be read, and says that it cannot be written."""
    reader = run_python(
        """
        import os, sys, urllib.parse  # pathlib imports it late, and Python's own files may be root's
        from arena.results.database.store import Store, StoreError
        if os.geteuid() == 0:
            os.setuid(65534)  # root may write anywhere
        with Store.open(sys.argv[1]) as store:
            print(len(store.ids()))
        try:
            Store.open(sys.argv[1], write=True)
        except StoreError as error:
            print(error)
        """,
        read_only,
    )
    out, err = reader.communicate()
    assert out.startswith("9\ncannot write in") and "Permission denied" in out, err


def test_full_disk(folder):
    """A file that may not grow stands for a full disk: the game that does not fit is refused, the others are kept."""
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    writer = run_python(
        """
        import resource, sys
        from arena.results.database.store import Store, StoreError
        from tests.results.sample import make_game
        store = Store.open(sys.argv[1], write=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        added = 9
        try:
            while True:
                store.add(make_game(f"new-{added}", added, moves="x" * 5000))
                added += 1
        except StoreError as error:
            print(error)
        assert len(store.ids()) == added
        store.close()
        with Store.open(sys.argv[1]) as reader:
            assert len(reader.ids()) == added
        print(added)
        """,
        copy,
    )
    out, err = writer.communicate()
    message, added = out.strip().split("\n")
    assert "cannot add game 'new-" in message and "games stored before are kept" in message, err
    with Store.open(copy, write=True) as store:
        assert len(store.ids()) == int(added) > 9
        store.add(make_game("after", 999))
