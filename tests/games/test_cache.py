"""The user's cache folder: where it is, who may write to it, what is read besides, and what is removed."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.games.core.shared import cache

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners and modes here")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of its own."""
    monkeypatch.setenv(cache.PLACE, str(tmp_path / "own"))
    monkeypatch.delenv(cache.PLACES, raising=False)
    monkeypatch.setattr(cache, "_written", itertools.count(1))
    return tmp_path / "own"


def test_what_is_kept_is_found(place):
    assert cache.find("a.nbc") is None
    cache.write("a.nbc", b"one")
    cache.write("a.nbc", b"two")
    assert cache.find("a.nbc") == place / "a.nbc" and (place / "a.nbc").read_bytes() == b"two"
    assert [path.name for path in place.iterdir()] == ["a.nbc"] and cache.files(place) == [place / "a.nbc"]
    (place / "a.nbc").unlink()
    place.rmdir()
    cache.write("b.nbm", b"three")
    assert cache.find("b.nbm")


@posix
def test_a_folder_that_others_can_write_to_is_not_used(place, capsys):
    place.mkdir()
    place.chmod(0o777)
    assert cache.folder() is None and cache.places() == []
    cache.write("a.nbc", b"one")
    assert list(place.iterdir()) == []
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "others can write to it" in told and str(place) in told and cache.PLACE in told
    assert cache.folder() is None and capsys.readouterr().err == ""  # once


@posix
def test_a_new_folder_is_its_users_alone(place):
    assert cache.folder() == place and place.stat().st_mode & 0o777 == 0o700


@posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="needs a folder of another user")
def test_a_folder_of_another_user_is_not_used(place, capsys):
    place.mkdir()
    os.chown(place, 12345, 12345)
    assert cache.folder() is None and "it belongs to another user" in capsys.readouterr().err


def test_a_place_that_is_no_folder_is_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.PLACE, str(tmp_path / "file"))
    assert cache.folder() is None and "takes 10 to 30 seconds" in capsys.readouterr().err


def test_more_folders_are_read_and_not_written(place, tmp_path, monkeypatch):
    shared, open_to_all = tmp_path / "shared", tmp_path / "open"
    for each, mode in ((shared, 0o755), (open_to_all, 0o777)):
        each.mkdir()
        each.chmod(mode)
        (each / f"{each.name}.nbc").write_bytes(b"code")
    paths = [str(tmp_path / "none"), "", str(shared), str(open_to_all)]
    monkeypatch.setenv(cache.PLACES, os.pathsep.join(paths))
    assert cache.find("shared.nbc") == shared / "shared.nbc"
    assert (cache.find("open.nbc") is None) == hasattr(os, "geteuid")
    cache.write("shared.nbc", b"own")
    assert cache.find("shared.nbc") == place / "shared.nbc" and (shared / "shared.nbc").read_bytes() == b"code"


def test_what_was_used_least_lately_is_removed_beyond_the_limit(place, monkeypatch):
    monkeypatch.setenv(cache.MEGABYTES, "0.01")
    for number in range(12):
        cache.write(f"{number}.nbc", bytes(1000))
        os.utime(place / f"{number}.nbc", (10**9 + number, 10**9 + number))
    cache.find("0.nbc")
    (place / ".half.new").write_bytes(b"cut off")
    os.utime(place / ".half.new", (10**9, 10**9))
    (place / "notes.txt").write_text("a user's")
    cache.trim(place)
    kept = {path.name for path in place.iterdir()}
    assert kept == {"0.nbc", *(f"{number}.nbc" for number in range(4, 12)), "notes.txt"}
    cache.trim(place)
    assert len(list(place.iterdir())) == 10
    monkeypatch.setenv(cache.MEGABYTES, "much")
    assert cache.most_bytes() == cache.MOST * 1_000_000
    for text, most in (
        ("inf", float("inf")),
        ("nan", cache.MOST * 1e6),
        ("-1", cache.MOST * 1e6),
        ("0.5", 5e5),
        ("0", 0),
    ):
        monkeypatch.setenv(cache.MEGABYTES, text)
        assert cache.most_bytes() == most
        cache.trim(place)


@pytest.mark.slow
def test_kernels_of_another_folder_are_loaded(tmp_path):
    """As an image brings them along: nothing is compiled, and nothing written."""
    script = """
from numba.core import event
from arena import games
with event.install_recorder("numba:compile") as compiled:
    print(games.perft(games.make("nim"), 2), end=" ")
print(sum("dispatcher" in each.data for _, each in compiled.buffer))
"""

    def run(**environment):
        clean = {name: value for name, value in os.environ.items() if name not in (cache.PLACE, cache.PLACES)}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=clean | {name: str(value) for name, value in environment.items()},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    shared = tmp_path / "image, shared"
    leaves, compiled = run(ARENA_CACHE_DIR=shared)
    assert compiled != "0" and cache.files(shared)
    assert run(ARENA_CACHE_DIR=tmp_path / "own", ARENA_CACHE_PATH=shared) == [leaves, "0"]
    assert not [path for path in Path(tmp_path / "own").iterdir() if path.suffix != cache.INDEX]
