"""Any bytes in any file that is read: right ones that were changed, cut or mixed, and others.  Each ends in a line.

Imports, tablebases and books have theirs in `test_fuzz`, stores in `test_store_faults`.
"""

import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
import tempfile
import zipfile
from dataclasses import asdict
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from arena import games
from arena.agents.core.learned import load_policy
from arena.commands.import_ import _read_whole
from arena.config.loading import load
from arena.config.openings import BadOpenings, lines_of
from arena.games.core.checks import certificate
from arena.games.core.evaluations.network import make_orbits, new_network
from arena.games.core.evaluations.network_file import network_bytes
from arena.report import archive
from arena.results.database.store import FILE_NAME
from arena.results.files.sources import sources
from arena.runner import notice
from arena.runner.study_kinds import SCHEMES, TUNING
from arena.study import cells, schemes, throughput, tuning_run
from arena.study.positions import read_positions
from arena.study.proof_study import ProofStudy
from arena.study.schemes import SchemesStudy
from arena.study.solving import SolvingStudy
from arena.study.tuning import Tuning
from tests.faults.test_fuzz import CONFIG, SGF, Fuzz, mutated, share
from tests.faults.test_values import LONGEST, REFUSALS

BYTES = [bytes([byte]) for byte in (0, 9, 10, 13, 31, 34, 92, 127, 128, 255)]
PGN = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. 2b 3c 1-0\n'
TABLE = "first,second,outcome\na,b,1\nb,a,0.5\n"
ROW = {"solver": "ppn2", "position": 0, "moves": "", "workers": 1, "value": 1, "timing": "virtual", "time": 1.0}
ROW |= {"nodes": 9, "bytes": 9, "unsolved": ""}
# e4 e5 and d4, by the keys that the format's own pages give
BOOK = b"".join(
    struct.pack(">QHHI", key, code, 1, 0)
    for key, code in ((0x463B96181691FC9C, 0x31C), (0x463B96181691FC9C, 0x2DB), (0x823C9B50FD114196, 0xD24))
)
SPEEDS = "game,scheme,threads,playouts_per_second,undisturbed,speed_up,over_serial\ntictactoe,root,1,9.5,1.0,1.0,1.0\n"


def shaken(rng, data: bytes) -> bytes:
    """Bytes with some turned, cut, doubled or put in; or any bytes; or, of JSON, a value of another kind."""
    if rng.random() < 0.1:
        return rng.randbytes(rng.choice((0, 1, 20, 3000)))
    if rng.random() < 0.3 and data[:1] == b"{":
        return with_another_value(rng, data)
    found = bytearray(mutated(rng, data))
    for _ in range(rng.choice((0, 1, 4)) if found else 0):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def with_another_value(rng, data: bytes) -> bytes:
    """JSON, of its first line where there are several, in which one value is another."""
    head, _, rest = data.partition(b"\n") if data[:2] != b"{\n" else (data, b"", b"")
    made = json.loads(head)
    strange = rng.choice(
        [None, -1, 0, 10**30, 1.5, "", "x" * 999, "\n\x1b", [], {}, [[]], {"a": [1]}, True, float("inf")]
    )
    place = made
    while (keys := list(place if isinstance(place, dict) else range(len(place)))) and (
        key := rng.choice(keys)
    ) is not None:
        if not isinstance(place[key], dict | list) or rng.random() < 0.4:
            place[key] = strange
            break
        place = place[key]
    return json.dumps(made).encode() + b"\n" + rest


def packed(kind: str, name: str, data: bytes) -> bytes:
    """An archive of one file."""
    file = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(name, data)
    else:
        with tarfile.open(fileobj=file, mode=f"w:{kind}") as made:
            about = tarfile.TarInfo(name)
            about.size = len(data)
            made.addfile(about, io.BytesIO(data))
    return file.getvalue()


def imported(path):
    for source in sources([path]):
        _read_whole(source, None, [], [], {}, {})


def opened(spec, **keys):
    return lambda path: lines_of({"file": str(path)} | keys, games.make(spec))


def in_folder(read):
    """Of a file that a program finds by its name."""
    return lambda path: read(path.parent)


def study_archive() -> bytes:
    """An archive whose metadata are right, of a file that is no store."""
    about = {"@id": FILE_NAME, "@type": "File", "contentSize": "1", "sha256": hashlib.sha256(b"x").hexdigest()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(archive.METADATA, json.dumps({"@graph": [about]}))
        made.writestr(FILE_NAME, b"x")
    return file.getvalue()


def unpacked(path):
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        archive.unpack(path, Path(place))


def plan_of(kind):
    return in_folder(lambda folder: kind.read(folder).check())


def proof(path):
    certificate.read(path)


def policy(path):
    load_policy(str(path), games.make("tictactoe"))


def files() -> dict[str, tuple]:
    """By name: right contents, and what reads them."""
    text, game = PGN.encode(), games.make("tictactoe")
    network = network_bytes(game, new_network(game, make_orbits(game, "2x2"), 1), "learned policy")
    held = certificate.Certificate("tictactoe", "", 0, 3, np.arange(3, dtype=np.int32)).packed()
    tuning = Tuning("uct(playouts=9)", {"exploration": [0.1, 2.0]}, {"game": "tictactoe"}, sampler="sobol")
    study, solving = SchemesStudy(("tictactoe",), ("root",), (2,)), SolvingStudy("tictactoe", ("ppn2",))
    step = {"kind": "search", "agents": [["t1", "uct(playouts=9)"]], "trials": [["t1", {"exploration": 0.5}]]}
    step["matches"] = [["t1", "start", 0, 4]]
    return {
        "c.toml": (CONFIG.encode(), load),
        "a.pgn": (text, imported),
        "a.csv": (TABLE.encode(), imported),
        "a.sgf": (SGF.encode(), imported),
        "a.txt": (text, imported),
        "a.zip": (packed("zip", "a.pgn", text), imported),
        "study.zip": (study_archive(), unpacked),
        "a.tar": (packed("", "a.csv", TABLE.encode()), imported),
        "a.tgz": (packed("gz", "a.csv", TABLE.encode()), imported),
        "a.tar.xz": (packed("xz", "a.csv", TABLE.encode()), imported),
        "a.csv.gz": (gzip.compress(TABLE.encode()), imported),
        "o.txt": (b"1a 2b\n# x\n2b 3c\n", opened("tictactoe")),
        "o.pgn": (text, opened("tictactoe", plies=1)),
        "o.sgf": (b"(;GM[11]SZ[5];B[a3];W[c3])", opened("hex(size=5)")),
        "o.epd": (b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n", opened("chess")),
        "o.bin": (BOOK, opened("chess", plies=3, count=2)),
        "known.txt": (b"44455554221 2\n7 -1\n", read_positions),
        "proof": (held, proof),
        "policy": (network, policy),
        SCHEMES.file: (json.dumps(asdict(study), indent=1).encode(), plan_of(SchemesStudy)),
        TUNING.file: (json.dumps(asdict(tuning)).encode(), plan_of(Tuning)),
        SolvingStudy.FILE: (json.dumps(asdict(solving)).encode(), plan_of(SolvingStudy)),
        ProofStudy.FILE: (json.dumps(asdict(ProofStudy(("tictactoe",), ("pns",)))).encode(), plan_of(ProofStudy)),
        SolvingStudy.FOUND: (2 * (json.dumps(ROW).encode() + b"\n"), in_folder(SolvingStudy.load)),
        tuning_run.STEPS: (
            json.dumps(step).encode() + b"\n",
            lambda path: list(map(tuning_run._step, cells.rows(path, tuning_run.TYPES))),
        ),
        schemes.TIMES: (b'{"root x2": 1.5, "tree x2": null}', in_folder(schemes._stored_times)),
        throughput.FILE: (SPEEDS.encode(), in_folder(throughput.stored)),
        notice.PLAYING: (b'{"token": "a", "stored": 1, "total": 2, "before": 0, "begun": 1.5}', in_folder(notice.now)),
    }


NAMES = list(files())


def tried(read, path) -> bool:
    """Whether a file is taken; a refusal is of lines that can be read."""
    try:
        read(path)
    except (*REFUSALS, BadOpenings, OSError) as error:
        lines = getattr(error, "problems", None) or str(error).split("\n")
        assert lines and all(0 < len(line) <= LONGEST for line in lines), str(error)[:2000]
        return False
    return True


@pytest.mark.parametrize("name", NAMES)
@share(2 * len(NAMES))
def test_any_bytes_of_any_file(tmp_path, monkeypatch, name, times):
    right, read = files()[name]
    monkeypatch.setattr(notice, "busy", lambda folder: True)
    path, stamps = tmp_path / name, count()
    if name.endswith(".bin"):
        pytest.importorskip("chess.polyglot")
    path.write_bytes(right)
    read(path)

    def attempt(rng):
        path.write_bytes(shaken(rng, right))
        os.utime(path, ns=(at := next(stamps), at))
        return tried(read, path)

    Fuzz(times, NAMES.index(name), (), least=0).run(attempt)
