"""The files that games and agents read are part of what a run is: it is resumed with no others."""

import hashlib

import pytest

import arena
from arena import agents, games
from arena.agents.knowledge import book
from arena.config import loading
from arena.config.config import ConfigError
from arena.games.core.shared.prepared_file import PreparedFileError, checksum
from arena.results.database.store import Store
from tests.arena.conftest import values

PLAYERS = ("a", "uct(playouts=5, book='a.book')"), ("b", "uct(playouts=5)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_book(path, move, about=""):
    """A book whose first move in tic-tac-toe is that one."""
    game = games.make("tictactoe")
    made = book.build(game, [(move, 1.0)], 1, 1)
    path.write_bytes(book.to_bytes(game, made, about))


def test_what_names_files():
    policy = "file:a.policy"
    for spec, files in [
        ("random", []),
        ("alphabeta(evaluation='mobility', book='b.book', tablebase='t.table')", ["b.book", "t.table"]),
        (f"alphabeta(evaluation='file:a.eval', order=['own', '{policy}'])", ["a.eval", "a.policy"]),
        (f"uct(methods=\"puct(prior='{policy}') + gumbel(logits='file:b')\", book='c')", ["c", "a.policy", "b"]),
        ("jlpns(job=\"alphabeta(evaluation='file:a.eval')\", book='b')", ["b", "a.eval"]),
    ]:
        assert sorted(agents.make(spec).files()) == sorted(files), spec
    assert games.make("connect4").files() == []


def test_a_game_names_its_files(folder):
    (folder / "boards").write_text("\n".join(["0 1 0 1 0"] * 5))
    spec = "samegame(rows=5, columns=5, colours=2, file='boards')"
    assert games.make(spec).files() == ["boards"]
    config = loading.from_values({"game": spec, "games": 1, "agents": [{"agent": "random"}]})
    assert config.files() == {"boards": hashlib.sha256((folder / "boards").read_bytes()).hexdigest()}


def test_the_checksum_of_a_prepared_file_is_that_of_its_data(folder):
    """What else its first line says does not count."""
    sums = {}
    for name, move, about in (("a", "1a", "one"), ("b", "1a", "two"), ("c", "2b", "one")):
        write_book(folder / name, move, about)
        sums[name] = checksum(folder / name)
    assert sums["a"] == sums["b"] != sums["c"]
    assert (folder / "a").read_bytes() != (folder / "b").read_bytes()
    for data in (b"", b"{", b"[1]\n", b'{"format": 3, "sha256": "x"}\n', b'{"format": "x", "sha256": "y"}\nz'):
        (folder / "other").write_bytes(data)
        assert checksum("other") == hashlib.sha256(data).hexdigest()
    with pytest.raises(PreparedFileError, match="'none' cannot be read: No such file"):
        checksum("none")


def test_a_run_whose_file_has_changed_is_not_resumed(folder):
    """One line names the file; a file that is made again, and says the same, is no obstacle."""
    write_book(folder / "a.book", "1a", "one")
    keys = values(*PLAYERS, game="tictactoe", games=2)
    arena.run(keys, "run", workers=1)
    with Store.open("run") as store:
        assert store.meta["files"] == {"a.book": checksum("a.book")}
    write_book(folder / "a.book", "2b")
    with pytest.raises(ConfigError, match=r"run cannot be resumed: the file 'a\.book' has changed: its che") as error:
        arena.run(keys | {"games": 4}, "run", workers=1, resume=True)
    assert "\n" not in str(error.value)
    write_book(folder / "a.book", "1a", "two")
    assert len(arena.run(keys | {"games": 4}, "run", workers=1, resume=True).games) == 4
    (folder / "a.book").unlink()
    with pytest.raises(ConfigError, match=r"a\.book"):
        arena.run(keys | {"games": 6}, "run", workers=1, resume=True)


def test_runs_without_files_are_resumed(folder):
    keys = values("random", ("b", "random"), game="tictactoe")
    arena.run(keys, "plain", workers=1)
    with Store.open("plain") as store:
        assert "files" not in store.meta
    assert len(arena.run(keys | {"games": 4}, "plain", workers=1, resume=True).games) == 4
