"""Malformed configurations, imports, prepared files and command lines: each ends in a line, and none in a traceback.

Each is made by mutating a right one, from a seed.  The short form is of some hundreds; `pytest -m slow` does as many
as ARENA_FUZZ says (50,000).  They run in this process, below the test's folder.
"""

import faulthandler
import json
import os
import random
import re
import struct
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from arena import games
from arena.agents.knowledge import book, tablebase
from arena.cli import app
from arena.config.config import ConfigError
from arena.config.loading import load
from arena.games.core.shared.prepared_file import PreparedFileError
from arena.results.database.store import Store
from arena.results.files.csv_reader import from_csv
from arena.results.files.decoding import declared
from arena.results.files.exchange import ExchangeError, from_jsonl, to_jsonl
from arena.results.files.extras import tags_of
from arena.results.files.legality import Wanted, judge_of, replayed
from arena.results.files.pgn import to_pgn
from arena.results.files.pgn_reader import from_pgn
from arena.results.files.sgf import from_sgf, to_sgf
from arena.results.files.thor import from_thor
from tests.arena.stored import store_run

LONG = int(os.environ.get("ARENA_FUZZ", "50000"))
SLOW = 20.0  # seconds of processor time that no input of this size may take
HANG = 300.0  # seconds of the wall that are none on any machine
# words that break readers: numbers beyond bounds, nesting, escapes, separators
WORDS = [
    *("0", "-1", "1e999", "nan", "inf", "9" * 30, "9" * 5000, "1.5", "0x7", "true", "''", '""', "None", "[]", "{}"),
    *(
        "[" * 500,
        "(" * 500,
        "{" * 500,
        '"' * 99,
        "\\" * 9,
        "\x1b[31m",
        "\x00",
        "\u2028",
        "\x85",
        "\ud7ff",
        "\u202e",
        "\r",
    ),
    *(
        "\n",
        "\t",
        ",",
        ";",
        "=",
        "%",
        "#",
        "../..",
        "a" * 300,
        "é",
        "\U0001f600",
        "1..2",
        "1..999999",
        "-",
        "--",
        "'=1+1",
    ),
]


def mutated(rng, data, words=WORDS):
    """Text or bytes with a few cuts, repetitions, exchanges and words put in."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in "ab")
        to = min(to, at + rng.choice((1, 4, 20, 400)))
        word = rng.choice(words)
        word = word if isinstance(data, str) else word.encode("utf-8", "surrogatepass")
        part = (data[:0], word, data[at:to] * 2, data[at:to][::-1], rng.choice((data, word))[:50])[rng.randrange(5)]
        data = data[:at] + part + data[to:]
    return data


class Fuzz:
    """Counts what was tried; a refusal is of the kinds given, and any other exception is a traceback."""

    def __init__(self, times, seed, expected, least=0.1):
        self.times, self.rng, self.expected = times, random.Random(seed), expected
        self.refused = self.taken = 0
        self.least = least  # share that is refused

    def run(self, attempt):
        for _ in range(self.times):
            try:
                self.within(attempt)
                self.taken += 1
            except self.expected as error:
                assert str(error)
                self.refused += 1
        print(f"{self.times} tried: {self.refused} refused, {self.taken} taken")
        assert self.refused >= self.times * self.least

    def within(self, attempt):
        """One attempt: no hang, told by where it is, and not slow."""
        faulthandler.dump_traceback_later(HANG, exit=True)
        begin = time.process_time()
        try:
            return attempt(self.rng)
        finally:
            faulthandler.cancel_dump_traceback_later()
            assert time.process_time() - begin < SLOW


def share(parts):
    """The short form, and one of `parts` parts of the long one."""
    return pytest.mark.parametrize("times", [60, pytest.param(LONG // parts, marks=pytest.mark.slow)])


CONFIG = """game = "tictactoe"
games = 10
seed = 1
opening_plies = 1
budget = { playouts = 100, seconds = 1.5 }
format = "gauntlet"
base = "one"
[[agents]]
agent = "random"
name = "one"
[[agents]]
agent = "uct(exploration=0.4, playouts=10)"
[[agents]]
agent = "flat"
"""
STUDY = """instances = ["nim(heaps=[1, 2])", "tictactoe"]
budgets = [{ playouts = 10 }, { playouts = 20 }]
openings = ["1a", "2b 1a"]
pairings = [["a", "b"]]
time_margin = 0.5
[[agents]]
agent = "random"
name = "a"
[[agents]]
agent = "alphabeta(depth=2)"
name = "b"
"""
KEYS = (
    "games",
    "seed",
    "rounds",
    "sprt",
    "openings",
    "instances",
    "budgets",
    "pairings",
    "base",
    "format",
    "plugin_path",
)


@share(4)
def test_configurations(tmp_path, times):
    path = tmp_path / "c.toml"
    words = [
        *WORDS,
        *(f"\n{key} = {value}\n" for key in KEYS for value in ("[]", "{}", "-1", '"x"', "[[[1]]]", "1e300")),
    ]

    def attempt(rng):
        text = mutated(rng, rng.choice((CONFIG, STUDY)), words)
        path.write_bytes(re.sub(r"plugins|file", "seed", text).encode("utf-8", "surrogatepass"))
        load(path)

    Fuzz(times, 1, ConfigError).run(attempt)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return store_run(tmp_path_factory.mktemp("fuzz") / "run", void=("1v2-0001",))


@share(4)
def test_imports(run, times):
    """What is taken can be stored, and what was written is read back."""
    with Store.open(run) as store:
        records = list(store.records())[:4]
    table = "first,second,outcome,opening,moves\n" + "".join(f"{r.first},{r.second},0.5,x,{r.moves}\n" for r in records)
    sources = [
        (from_jsonl, "".join(map(to_jsonl, records))),
        (
            from_pgn,
            "".join(to_pgn(record, "x") for record in records).replace("1. ", "1. (1. x {y} 2. z (z)) {c} ; d\n"),
        ),
        (from_csv, table),
    ]

    def attempt(rng):
        read, text = rng.choice(sources)
        found = read(mutated(rng, text))
        assert read is not from_jsonl or from_jsonl("".join(map(to_jsonl, found))) == found
        for record in found:
            assert (record.first + (record.second or "") + record.moves).isprintable() and abs(record.number) < 1 << 63

    Fuzz(times, 2, ExchangeError).run(attempt)


SGF = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[5.5]HA[2]PB[a]PW[b \\] c]RE[B+3.5]AB[cg][gc];W[ee]C[x];B[ec](;W[];B[tt])(;W[aa]))\n"
    "(;GM[11]SZ[5]PB[c]PW[d]RE[W+R]GC[hex(size=5, swap=True)];B[a3];W[swap-pieces];B[c3];W[d2])\n"
    "(;GM[2]PB[e]PW[f]RE[0]AB[ed][de]AW[dd][ee];B[cd];W[cc]) (;GM[4]SZ[15]PB[g]PW[h]RE[B];B[hh];W[hi])"
)
PDN = '[Black "a"]\n[White "b"]\n[Result "2-0"]\n\n1. 11-15 22-17 2. 15-19 24x15 3. 10x19 23x16 4. 12x19 2-0\n'
THOR = bytes(4) + struct.pack("<IHHBBBx", 2, 0, 2001, 8, 0, 24) + 2 * struct.pack("<HHHBB60s", 0, 0, 1, 40, 40, b"8.-?")


@share(8)
def test_records_with_rules(times):
    """What is taken is a game by the rules: written as SGF, it is read back as it is."""
    judges = {spec: judge_of(Wanted.by_spec(spec)) for spec in ("checkers", "othello")}

    def attempt(rng):
        conditions = {}
        which = rng.randrange(4)
        if which < 2:
            text = mutated(rng, SGF) if which else mutated(rng, SGF.encode())
            found = from_sgf(text if which else declared(text), conditions=conditions)
        elif which == 2:
            found = from_pgn(mutated(rng, PDN), judges["checkers"], conditions=conditions, first="Black")
        else:
            found = from_thor(mutated(rng, THOR), judges["othello"], conditions=conditions)
        for record in found:
            game = games.make(list(conditions)[record.condition])
            if game.sgf_number is None:
                assert replayed(game, record.moves.split())[0] == record.moves.split()
                continue
            (again,) = from_sgf(to_sgf(game, record))
            assert again == replace(record, id=again.id, number=0, condition=0, opening=0, detail=again.detail)
            assert tags_of(again.detail) == tags_of(record.detail) or "Round" in again.detail + record.detail

    Fuzz(times, 6, ExchangeError).run(attempt)


@share(4)
def test_prepared_files(tmp_path, times):
    """Mutated within, and sealed with the right checksum."""
    import hashlib

    game = games.make("nim(heaps=[1, 2])")
    opening = {1: {2: (3, 1.0)}, 5: {1: (2, 2.0), 2: (1, 0.0)}}
    files = [
        (tablebase, tablebase.to_bytes(game, tablebase.build(game, game.initial()), "all")),
        (book, book.to_bytes(game, opening, "two")),
    ]
    state, number = game.initial(), iter(range(10**9))

    def attempt(rng):
        module, data = rng.choice(files)
        head, _, body = data.partition(b"\n")
        header = json.loads(head)
        if rng.random() < 0.7:
            body = mutated(rng, body)
            header["sha256"] = hashlib.sha256(body).hexdigest()
            if rng.random() < 0.5:
                header["places"] = len(body) // 10
        else:
            header[rng.choice(list(header))] = rng.choice([None, -1, 10**30, 0, 1.5, "x", [], {}, True, float("inf")])
        data = json.dumps(header).encode() + b"\n" + body
        path = tmp_path / "f"
        path.write_bytes(mutated(rng, data) if rng.random() < 0.3 else data)
        os.utime(path, ns=(at := next(number), at))
        found = module.load(path, game)
        module.best_move(game, found, state)  # which ends, and has a legal move

    Fuzz(times, 3, PreparedFileError).run(attempt)


LINES = [
    ["table", "RUN", "--kind", "pairs", "--format", "markdown"], ["table", "RUN", "--kind", "games", "--format", "csv"],
    ["elo", "--wdl", "136", "111", "96"], ["elo", "--pairs", "43", "61", "144", "55", "37", "--json"],
    ["elo", "RUN", "--anchor", "uct=1500", "--bootstrap", "2"], ["export", "RUN", "--format", "pgn"],
    ["sprt", "--pairs", "3", "16", "36", "16", "3", "--elo0", "0", "--elo1", "2", "--model", "normalized"],
    ["show", "RUN", "1v2-0000", "--ply", "3"], ["status", "RUN", "--json"], ["import", "FILE", "--out", "OUT"],
    ["run", "--game", "nope(rows=3)", "--agent", "random", "--budget", "playouts=10", "--games", "4"],
    ["list", "games"], ["run", "FILE.toml", "--workers", "2", "--resume"], ["scaling", "--workers", "1,2", "--resume"],
]  # fmt: skip
BAD = [word for word in WORDS if "\x00" not in word]


@share(4)
def test_command_lines(run, tmp_path, monkeypatch, times):
    """Options left out, doubled, exchanged, and given what they cannot have; nothing is played or measured."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()

    def attempt(rng):
        words = [word.replace("RUN", str(run)) for word in rng.choice(LINES)]
        for _ in range(rng.choice((1, 1, 2, 4))):
            at = rng.randrange(1, len(words) + 1)
            kind = rng.randrange(4)
            if kind == 0:
                words[at:at] = [rng.choice(BAD)]
            elif kind == 1:
                words[at : at + 1] = [rng.choice(BAD)]
            elif kind == 2:
                del words[at : at + 1]
            else:
                words[at:at] = [mutated(rng, rng.choice(rng.choice(LINES)), BAD)]
        result = runner.invoke(app, words)
        told = result.output
        assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exc_info)
        assert result.exit_code in (0, 1, 2) and "Traceback" not in told, words
        assert not {"\x1b", "\x9b"} & set(result.stderr), words
        if result.exit_code:
            raise ValueError(told or "exit")

    Fuzz(times, 4, ValueError).run(attempt)
