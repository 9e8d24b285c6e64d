"""What comes from outside, crafted or damaged: told in a line, and never a crash.

The long form runs with -m slow.  Everything is drawn from seeds, and everything is written below the test's folder.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from arena import games
from arena.agents.knowledge import book, tablebase
from arena.config import trust
from arena.games.core.jit import kept
from arena.games.core.shared import cache, index
from arena.games.core.shared.prepared_file import PreparedFileError
from arena.games.core.shared.registry import spell
from arena.report import listing
from arena.results.database.integrity import records
from arena.results.database.record import Reason
from arena.results.database.store import Store
from tests.arena.stored import store_run
from tests.typed import call

NIM = games.make("nim(heaps=[1, 2, 3])")


# -- Prepared files ------------------------------------------------------------------------------------------------


def sealed(kind, data, **about):
    """A prepared file whose checksum is right, whatever it holds."""
    header = {"format": f"search-arena {kind}", "version": 1, "game": spell(NIM), **about}
    return json.dumps(header | {"sha256": hashlib.sha256(data).hexdigest()}).encode() + b"\n" + data


def table(keys, values, **about):
    data = np.array(keys, "<u8").tobytes() + np.array(values, "<i2").tobytes()
    taken = sum(value != tablebase.ABSENT for value in values)
    return sealed(tablebase.KIND, data, **({"places": len(values), "positions": taken} | about))


def written(path, data):
    path.write_bytes(data)
    return path


FREE = tablebase.ABSENT


@pytest.mark.parametrize("data, message", [
    (table([1, 2, 3], [1, 1, 1]), "3 of its 3 places are taken"),  # in which a look-up would never end
    (table([], []), None),
    (table([1, 2, 3, 4], [1, FREE, FREE, FREE], positions=2), "it holds 1 positions, of 2"),
    (table([1, 1, 3, 4], [1, 1, FREE, FREE]), "it holds a position twice"),
    (table([1, 2, 3, 4], [99, FREE, FREE, FREE]), "a value of more plies than"),
    (table([1, 2], [1, FREE], places=10**15), "it holds 20 bytes, of 10 for each of 1000000000000000 places"),
    (table([1, 2], [1, FREE], places=-2), "of 10 for each of -2 places"),
    (table([1, 2], [1, FREE], places="2"), "of 10 for each of '2' places"),
    (table([1, 2], [1, FREE], places=2.0), "of 10 for each of 2.0 places"),
    (table([1, 2], [1, FREE], places=None), "of 10 for each of None places"),
    (b"[" * 9000, "its first line does not say what it is"),
    (b"[1]\n", "its first line does not say what it is"),
    (sealed(book.KIND, b""), "holds something else: opening book"),
])  # fmt: skip
def test_crafted_tables(tmp_path, data, message):
    path = written(tmp_path / "crafted", data)
    if message is None:
        assert not len(tablebase.load(path, NIM).values)
        return
    with pytest.raises(PreparedFileError) as told:
        tablebase.load(path, NIM)
    assert message in str(told.value) and str(path) in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize("line", [
    "[", "{}", "7", "[1]", "[1, []]", "[-1, [[1, 1, 1.0]]]", f"[{1 << 64}, [[1, 1, 1.0]]]", "[1, [[1, 0, 0.0]]]",
    "[1, [[1, 1, 2.0]]]", "[1, [[1, 1, -1]]]", "[1, [[1, 1, NaN]]]", "[1, [[999, 1, 1]]]", "[1, [[-1, 1, 1]]]",
    '[1, [["x", 1, 1]]]', "[1, [[1, 1, 1], [1, 2, 1]]]", "[1, [[true, 1, 1]]]", f"[1, [[1, {10**400}, 1]]]",
    "[" * 5000, "9" * 5000, "", "[[1], [[1, 1, 1]]]", "[1, [[[], 1, 1]]]", "[2, [[1, 1, 1.0]]]",
])  # fmt: skip
def test_crafted_books(tmp_path, line):
    data = f"[2, [[1, 1, 1.0]]]\n{line}".encode()
    path = written(tmp_path / "crafted", sealed(book.KIND, data, positions=2))
    with pytest.raises(PreparedFileError, match=r"line 3 is no position with its moves"):
        book.load(path, NIM)


def test_a_book_of_moves_that_are_not_legal_is_passed_over(tmp_path):
    key, legal = book.key_of(NIM, NIM.initial()), NIM.moves(NIM.initial())[0]
    bad = next(move for move in range(NIM.move_limit) if move not in NIM.moves(NIM.initial()))
    assert book.best_move(NIM, {key: {bad: (5, 5.0)}}, NIM.initial()) is None
    assert book.best_move(NIM, {key: {bad: (5, 5.0), legal: (2, 1.0)}}, NIM.initial()) == (legal, 0.5)


def test_prepared_files_that_do_not_end(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PreparedFileError, match="is no regular file"):
        tablebase.load(tmp_path / "pipe", NIM)
    with open(tmp_path / "hole", "wb") as file:
        file.write(table([1, 2], [1, FREE])[:-20])
        file.truncate(1 << 40)
    with pytest.raises(PreparedFileError, match="bytes; the most that is read is"):
        tablebase.load(tmp_path / "hole", NIM)


def damage(rng, data):
    """Some bytes cut off, put in, or changed."""
    at = rng.randrange(len(data) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
    if kind == 2:
        return data[:at] + data[at + rng.randrange(1, 9) :]
    return data[:at] + bytes([data[at % len(data)] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


@pytest.mark.parametrize("times", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_damaged_prepared_files(tmp_path, times):
    """Whatever becomes of a file, it is refused, or holds what it held."""
    rng, refused = random.Random(1), 0
    made = tablebase.build(NIM, NIM.initial())
    opening = {1: {2: (3, 1.0)}, 5: {1: (2, 2.0), 2: (1, 0.0)}}
    files = [
        (tablebase, tablebase.to_bytes(NIM, made, "all"), lambda found: np.array_equal(found.values, made.values)),
        (book, book.to_bytes(NIM, opening, "two"), lambda found: found == opening),
    ]
    for number in range(times):
        module, data, same = files[number % 2]
        path = written(tmp_path / "damaged", damage(rng, data))
        os.utime(path, ns=(number, number))  # loaded anew, however quick we are
        try:
            assert same(module.load(path, NIM))
        except PreparedFileError as error:
            refused += "\n" not in str(error)
    assert refused > 0.8 * times


# -- Compiled kernels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_never_loaded(tmp_path, monkeypatch, times):
    """The file is told to be damaged, and its code is compiled anew."""
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path))
    rng = random.Random(2)
    expected = {key: rng.randbytes(3000) for key in ("one", "two")}
    for key, value in expected.items():
        kept.save(key, value)
    whole = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(whole) == 2 and {key: kept.load(key) for key in expected} == expected
    for number in range(times):
        path = list(whole)[number % 2]
        data = bytearray(whole[path])
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = {key: kept.load(key) for key in expected}
        assert found[path.name] is None and sum(value is None for value in found.values()) == 1
        assert all("is damaged and is made anew" in str(each.message) for each in told)
        path.write_bytes(whole[path])
    assert {key: kept.load(key) for key in expected} == expected


def kinds_of_kept_files(folder, monkeypatch):
    """For each file of each kind that the cache folder may have, which are written: a function that reads it."""
    monkeypatch.setattr(trust, "_doubtful", lambda values: [("a_module", *values)])
    readers = []
    for name in ("one", "two", "three"):
        place, rows = folder / name, {str(folder / name / "run" / "tournament.sqlite"): [[1], {"run": name}]}
        for ending in (".nbc", ".nbm"):
            kept.save(name + ending, name)
            readers.append(lambda name=name + ending: kept.load(name))
        index.keep(name, {name: True})
        trust.trust((str(place), f"digest of {name}"))
        listing._keep(place, rows)
        readers.append(lambda name=name: index.load(name))
        readers.append(lambda place=place: trust._kept(str(place)))
        readers.append(lambda place=place: listing._kept(place))
    return readers


@pytest.mark.filterwarnings("ignore:the compiled code in")
@pytest.mark.parametrize("times", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_file_of_the_cache_with_the_contents_of_another_is_never_read(tmp_path, monkeypatch, times):
    """As a bad copy may leave it: any permutation, within a kind and among kinds."""
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path / "cache"))
    for module, memory in ((trust, "_trusted"), (listing, "_read")):
        monkeypatch.setattr(module, memory, {})
    readers, rng = kinds_of_kept_files(tmp_path, monkeypatch), random.Random(3)

    def read():
        trust._trusted.clear(), listing._read.clear()
        return [reader() for reader in readers]

    whole, own = {path: path.read_bytes() for path in (tmp_path / "cache").iterdir()}, read()
    assert len(whole) == len(own) == 15 and all(own)
    assert {path.suffix for path in whole} == set(cache.ENDINGS)
    of = {}  # path -> its reader's place
    for path, data in whole.items():
        path.unlink()
        (of[path],) = (place for place, found in enumerate(read()) if not found)
        path.write_bytes(data)
    for _ in range(times):
        chosen = rng.sample(list(whole), rng.randint(2, len(whole)))
        moved = dict(zip(chosen, rng.sample(chosen, len(chosen))))
        for path, other in moved.items():
            path.write_bytes(whole[other])
        found = read()
        for path, place in of.items():
            assert found[place] == own[place] if moved.get(path, path) == path else not found[place], path
        for path in moved:
            path.write_bytes(whole[path])


@pytest.mark.slow
def test_with_its_compiled_code_mixed_up_every_agent_decides_the_same(tmp_path):
    """It is compiled anew, and nothing forfeits."""
    (tmp_path / "run.toml").write_text(
        'game = "connect4(rows=4, columns=4)"\ngames = 6\nagents = ["alphabeta(depth=2)", "uct(playouts=20)"]\n'
    )
    environment = os.environ | {"ARENA_CACHE_DIR": str(tmp_path / "cache")}

    def play(name):
        command = [sys.executable, "-m", "arena", "run", "run.toml", "--out", name, "--workers", "1"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with Store.open(tmp_path / name) as store:
            return sorted((record.id, record.moves, record.outcome, record.reason) for _, record in records(store))

    first = play("first")
    files = sorted((tmp_path / "cache").glob("*.nb?"))
    data = [path.read_bytes() for path in files]
    mixed = dict(zip(files, [*data[1:], data[0]]))
    for path, other in mixed.items():
        path.write_bytes(other)
    assert len(first) == 6 and {row[-1] for row in first} == {Reason.PLAYED_OUT} and play("second") == first
    assert any(path.read_bytes() != other for path, other in mixed.items())


RUN = "from arena import games; print(games.perft(games.make('tictactoe'), 3))"


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_a_flipped_bit_ends_no_process(tmp_path, times):
    rng = random.Random(3)
    environment = os.environ | {"ARENA_CACHE_DIR": str(tmp_path)}

    def run():
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stdout) == (0, "504\n"), done.stderr
        return "is damaged and is made anew" in done.stderr

    assert not run()
    for _ in range(times):
        for path in tmp_path.rglob("*.nbc"):
            data = bytearray(path.read_bytes())
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(data)
        assert run()
    assert not run()


# -- Files that are written, and limits ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("outside") / "run")


@pytest.mark.parametrize("arguments", [
    ["table", "RUN", "--format", "csv", "--output", "FILE"],
    ["plot", "RUN", "ratings", "--output", "FILE.svg"],
    ["export", "RUN", "--output", "FILE"],
    ["report", "RUN", "--output", "FILE"],
    ["grade", "RUN", "--output", "FILE"],
    ["book", "RUN", "--output", "FILE"],
    ["tablebase", "nim(heaps=[1, 2])", "--output", "FILE"],
    ["tree", "tree", "--output", "FILE"],
])  # fmt: skip
def test_a_file_that_exists_is_not_replaced(run, tmp_path, arguments):
    """It is told before the work begins, and --force replaces it (which takes long for some)."""
    words = [word.replace("RUN", str(run)).replace("FILE", str(tmp_path / "mine")) for word in arguments]
    mine = Path(words[-1])
    mine.write_text("my own")
    result = call(*words)
    assert result.exit_code == 2 and f"{mine} exists already; to replace it: --force" in " ".join(result.stderr.split())
    assert mine.read_text() == "my own" and [*tmp_path.iterdir()] == [mine]
    if arguments[0] not in ("grade", "report", "tree"):
        assert call(*words, "--force").exit_code == 0 and mine.read_bytes() != b"my own"


@pytest.mark.slow
def test_figures_beside_a_report_are_not_replaced(run, tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "ratings.svg").write_text("my own")
    result = call("report", run, "--output", tmp_path / "page.html")
    assert result.exit_code == 2 and "ratings.svg exists already" in result.stderr
    assert not (tmp_path / "page.html").exists() and (tmp_path / "figures" / "ratings.svg").read_text() == "my own"
    (run / "report.html").write_text("our own")
    assert call("report", run).exit_code == 0 and (run / "report.html").read_text() != "our own"


def test_devices_and_pipes_are_written_to(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        assert call("table", run, "--format", "csv", "--output", tmp_path / "pipe").exit_code == 0
        assert reader.communicate(timeout=30)[0].startswith(b"rank,")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("arguments, message", [
    (["run", "x.toml", "--workers", 4097], "4097 is out of range: it can be 1 to 4096"),
    (["scaling", "--game", "nim", "--sizes", "1,5000"], "searches can have 1 to 4096 workers"),
    (["scaling", "--game", "nim", "--workers", 10**9], "it can be 1 to 4096"),
    (["elo", "--wdl", 1, 1, 1, "--bootstrap", 10**7], "it can be 0 to 100000"),
])  # fmt: skip
def test_limits_are_told(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())


def test_configurations_and_openings_that_do_not_end(tmp_path):
    for name in ("huge.toml", "book.txt"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(1 << 40)
    assert "huge.toml: cannot be read: it has more than 16 MiB" in call("run", tmp_path / "huge.toml").stderr
    agents = "".join(f'[[agents]]\nagent = "{agent}"\n' for agent in ("random", "flat(playouts=2)"))
    (tmp_path / "small.toml").write_text(f'game = "nim"\nopenings = "book.txt"\n{agents}')
    assert "book.txt cannot be read: it has more than 16 MiB" in call("run", tmp_path / "small.toml").stderr


# -- Rules that list moves which cannot be -------------------------------------------------------------------------

UNRULY = """
from dataclasses import dataclass
from arena.games.clobber import Clobber

@dataclass(frozen=True)
class Many(Clobber):
    name = "many"
    def legal_moves(self, state, moves):
        for i in range(100_000):
            moves[i] = 0
        return 100_000

@dataclass(frozen=True)
class Negative(Clobber):
    name = "negative"
    def legal_moves(self, state, moves):
        return -3
"""


def test_numbers_of_moves_that_cannot_be():
    scope = {"__name__": __name__}
    exec(UNRULY, scope)
    for name, message in (
        ("Many", "writes beyond max_moves = "),
        ("Negative", "returns -3; it can be 0 to max_moves = "),
    ):
        game = scope[name]()
        for look in (lambda game=game: game.moves(game.initial()), lambda game=game: game.after(game.initial(), 0)):
            with pytest.raises(games.core.game.BrokenRules, match=message):
                look()
        games.core.game.registry._classes.pop(game.name)  # which was there for this test alone


def test_a_careful_kernel_corrupts_no_memory(tmp_path):
    """Without NUMBA_BOUNDSCHECK, which `arena run --careful` sets, the same search ends its process."""
    (tmp_path / "unruly.py").write_text(UNRULY)
    script = "import unruly; from arena import games; game = games.make('many')\n"
    script += "try:\n    games.perft(game, 2)\n"
    script += "except IndexError as error:\n    print(error)"
    environment = os.environ | {"ARENA_CACHE_DIR": str(tmp_path), "NUMBA_BOUNDSCHECK": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *(path or os.getcwd() for path in sys.path)])
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "index is out of bounds\n"), done.stderr
